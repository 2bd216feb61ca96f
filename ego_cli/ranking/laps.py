"""Milliseconds by part."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

# Seconds; what the stages of a turn are timed by. A benchmark on a busy machine sets the processor's clock here.
now: Callable[[], float] = time.perf_counter


class Laps:
    """Milliseconds by part, added up in ``ms``."""

    def __init__(self, before: Mapping[str, float] | None = None) -> None:
        self.ms: dict[str, float] = dict(before or {})
        self._last = now()

    def lap(self, part: str) -> None:
        """Book the time since the last lap on a part."""
        there = now()
        self.ms[part] = self.ms.get(part, 0.0) + (there - self._last) * 1000
        self._last = there
