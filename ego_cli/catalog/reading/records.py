"""What the readers of every form hand on: records, and rows that could not be taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]  # column name -> cell

HEAD = 256 * 1024  # bytes of a file that are looked at to tell encoding and form


@dataclass(frozen=True, slots=True)
class Skip:
    """A row that was not taken, and why. ``line`` is 1-based; 0 where no line can be named."""

    line: int
    reason: str


def distinct_names(names: list[str]) -> list[str]:
    """Column names, each once: the empty ones are numbered, repeated ones are counted."""
    seen: Counter[str] = Counter()
    distinct = []
    for number, name in enumerate(names, 1):
        name = " ".join(name.split()) or f"column {number}"
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct
