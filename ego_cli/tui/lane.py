"""A background thread that carries out jobs one after another.

Textual's thread workers run on asyncio's executor, whose threads are waited for when the program ends: a turn that
hangs would keep a closed screen's process alive. A lane's thread is a daemon. It also owns what it opened: a SQLite
connection is used by the thread that made it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any


class Lane:
    """Runs jobs in the order in which they were given. A job takes and returns nothing and raises nothing."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, job: Callable[[], Any]) -> None:
        """Do ``job`` when everything before it is done."""
        self._jobs.put(job)

    def stop(self, timeout: float) -> None:
        """Take no more jobs; wait at most ``timeout`` seconds for those given."""
        self._jobs.put(None)
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
