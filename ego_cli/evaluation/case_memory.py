"""The memories of the shoppers of a case: opened, reopened, killed, written to from many workers at once."""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from ego_cli.memory.memory import Memory, open_memory
from ego_cli.settings import Settings

Clock = Callable[[], datetime]


class StubEmbedder:
    """Random but fixed vectors of a given size: enough to see whether vectors of another size are ever mixed."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.identity = f"stub-{size}"

    def encode(self, texts: Sequence[str], /) -> Any:
        import numpy as np

        rows = [[random.Random(f"{text}{i}").gauss(0, 1) for i in range(self.size)] for text in texts]
        found = np.array(rows, dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


class Shoppers:
    """Every user's memory in one folder."""

    def __init__(
        self, folder: Path, settings: Settings, clock: Clock, embedder_dim: int | None = None
    ) -> None:
        self.folder = folder
        self._settings = settings
        self._clock = clock
        self._dim = embedder_dim
        self._open: dict[str, Memory] = {}
        self._killed: list[Memory] = []
        self._acknowledged: list[tuple[str, str]] = []

    def of(self, user: str) -> Memory:
        """A user's memory, opened when first asked for."""
        if user not in self._open:
            embedder = StubEmbedder(self._dim) if self._dim else None
            self._open[user] = open_memory(
                user, clock=self._clock, settings=self._settings, root=self.folder, embedder=embedder
            )
        return self._open[user]

    def close(self) -> None:
        """Close all files."""
        for memory in self._open.values():
            memory.close()
        self._open.clear()

    def kill(self) -> None:
        """End without closing: nothing is flushed, no lock is given back by us."""
        self._killed += self._open.values()  # kept, so that no finaliser closes them in an orderly way
        self._open = {}

    def reopen(self, embedder_dim: int | None) -> None:
        """Close, and open again with another embedder."""
        self.close()
        self._dim = embedder_dim

    def parallel(self, order: Mapping[str, Any]) -> list[str]:
        """Run turns from many workers at once; returns what went wrong."""
        self.close()
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        processes = [
            context.Process(target=_work, args=(self.folder, self._settings, dict(order), number, results))
            for number in range(order["processes"])
        ]
        for process in processes:
            process.start()
        errors: list[str] = []
        for _ in processes:
            acknowledged, failed = results.get(timeout=120)
            self._acknowledged += acknowledged
            errors += failed
        for process in processes:
            process.join()
        return errors

    def lost_writes(self) -> list[str]:
        """Acknowledged writes of which no row is left."""
        lost = []
        for user in {user for user, _ in self._acknowledged}:
            kept = {row.words for row in self.of(user).history()}
            lost += [text for owner, text in self._acknowledged if owner == user and text not in kept]
        return lost

    def files_holding(self, word: str) -> list[str]:
        """Names of files that contain a word, in UTF-8 or as JSON escapes it."""
        needles = {word.encode(), word.lower().encode(), ascii(word)[1:-1].encode()}
        return [
            path.name
            for path in self.folder.rglob("*")
            if path.is_file() and any(needle in path.read_bytes() for needle in needles)
        ]


def _work(folder: Path, settings: Settings, order: Mapping[str, Any], process: int, results: Any) -> None:
    """One process of `parallel`: its threads share one memory object a user, as one program would."""
    shoppers = Shoppers(folder, settings, partial(datetime.now, tz=UTC))
    acknowledged: list[tuple[str, str]] = []
    failed: list[str] = []
    numbers = count(process, order["processes"])
    guard = threading.Lock()
    ends = time.monotonic() + order.get("seconds", 1e9)
    memories = {turn["user"]: shoppers.of(turn["user"]) for turn in order["turns"]}

    def run() -> None:
        for _ in range(order.get("repeat", 1_000_000_000)):
            if time.monotonic() >= ends:
                return
            with guard:
                i = next(numbers)
            for turn in order["turns"]:
                memory = memories[turn["user"]]
                try:
                    if turn.get("op") == "recall":
                        memory.recall(turn["query"])
                    else:
                        text = turn["text"].replace("{i}", str(i))
                        memory.hear(text)
                        acknowledged.append((turn["user"], text))
                except Exception as error:  # whatever a worker raises is what this case is about
                    failed.append(f"{type(error).__name__}: {error}")
                    return

    threads = [threading.Thread(target=run) for _ in range(order["threads"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shoppers.close()
    results.put((acknowledged, failed))
