"""What the cells of one column look like: how many are filled, how long, and of which kinds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ego_cli.catalog.reading.cleaning import is_null, parse_literal
from ego_cli.catalog.reading.prices import currency_mark, parse_price

LOOKED_AT = 400  # cells of a column that are looked at, spread over the sample

_URL = re.compile(r"(?:https?:)?//(?!schema\.org/\w+$)\S+|www\.\S+", re.I)
_IMAGE = re.compile(r"\S+\.(?:jpe?g|png|gif|webp|svg|avif|bmp)(?:[?#&]\S*)?", re.I)
_KEY_VALUE = re.compile(
    r"\s*([^\W\d_][^:=\n]{1,40}?)\s*:\s+?(\S.*)|\s*([^\W\d_][^:=\n]{1,40}?)\s*:()\s*", re.S
)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|\d{1,2}/\d{1,2}/\d{2,4} \d{1,2}:\d\d.*|1[0-9]{12}")
_CODE = re.compile(
    r"(?:[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[A-Za-z0-9+/]{40,}={0,2})", re.I
)
_RATED = re.compile(r"\d(?:[.,]\d+)?\s*(?:out of|/)\s*(?:5|10)\b|[★⭐]", re.I)
_COUNTED = re.compile(r"\(\s*\d[\d.,]*k?\s*\)|\d[\d.,]*k?\+?\s*(?:global )?(?:ratings?|reviews?)", re.I)
_BARE_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")


@dataclass(slots=True)
class Profile:
    """What the cells of one column look like: shares (0-1) of the filled ones, unless said otherwise."""

    rows: int = 0
    filled: int = 0
    distinct: int = 0
    cells: list[Any] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    words: float = 0.0  # mean words of a text cell
    length: float = 0.0  # mean characters
    share: dict[str, float] = field(default_factory=dict)

    def __getitem__(self, kind: str) -> float:
        return self.share.get(kind, 0.0)

    @property
    def variety(self) -> float:
        """Distinct cells for each filled one."""
        return self.distinct / self.filled if self.filled else 0.0


def profile(cells: Sequence[Any]) -> Profile:
    """Look at the cells of a column (raw values, None for missing)."""
    step = max(1, len(cells) // LOOKED_AT)
    seen = Profile(rows=len(cells[::step]))
    counts: dict[str, int] = {}
    kinds: set[Any] = set()
    for cell in cells[::step]:
        if is_null(cell):
            continue
        seen.filled += 1
        seen.cells.append(cell)
        text = cell if isinstance(cell, str) else str(cell)
        kinds.add(text)
        seen.length += len(text)
        seen.words += text.count(" ") + 1
        for kind in _kinds_of(cell, text.strip()):
            counts[kind] = counts.get(kind, 0) + 1
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            seen.numbers.append(float(cell))
        elif isinstance(cell, str) and _BARE_NUMBER.fullmatch(cell.strip()):
            seen.numbers.append(float(cell.strip().replace(",", ".")))
    seen.distinct = len(kinds)
    if seen.filled:
        seen.length /= seen.filled
        seen.words /= seen.filled
        seen.share = {kind: count / seen.filled for kind, count in counts.items()}
        seen.share["number"] = len(seen.numbers) / seen.filled
    return seen


def _kinds_of(cell: Any, text: str) -> list[str]:
    if isinstance(cell, bool):
        return ["zero_one"]
    if isinstance(cell, dict):
        return ["mapping"]
    if isinstance(cell, list):
        if cell and all(isinstance(item, dict) for item in cell):
            return ["list", "objects"]
        if cell and all(isinstance(item, str) and _URL.fullmatch(item) for item in cell):
            return ["list", "link", "image"]
        return ["list"]
    if isinstance(cell, int | float):
        return ["zero_one"] if cell in (0, 1) else []
    kinds = []
    if _URL.match(text) and " " not in text.split("|")[0].split(",")[0]:
        kinds.append("link")
        if _IMAGE.fullmatch(text.split(",")[0].split("|")[0].strip()):
            kinds.append("image")
        return kinds
    if text in ("0", "1") or text.casefold() in ("true", "false", "yes", "no"):
        kinds.append("zero_one")
    if text[:1] in "[{" and (literal := parse_literal(text)) is not None:
        kinds.append("mapping" if isinstance(literal, dict) else "list")
    has_digit = any(ch.isdigit() for ch in text[:80])
    if not has_digit:
        if not any(ch.isalpha() for ch in text):
            return [*kinds, "rated"] if _RATED.search(text) else kinds
        kinds.append("words")
    elif len(text) <= 60:
        if _RATED.search(text):
            kinds.append("rated")
        elif _COUNTED.fullmatch(text):
            kinds.append("counted")
        elif currency_mark(text) and parse_price(text).amount is not None:
            kinds.append("priced")
        if _TIME.fullmatch(text):
            kinds.append("time")
        if text.endswith("%") and len(text) < 8:
            kinds.append("percent")
        if any(ch.isalpha() for ch in text) and " " in text:
            kinds.append("words")
    else:
        kinds.append("words")
    if _CODE.fullmatch(text):
        kinds.append("code")
    if _KEY_VALUE.fullmatch(text):
        kinds.append("key_value")
    return kinds


def is_sequence(numbers: list[float], rows: int) -> bool:
    """0, 1, 2 … as exports number their rows."""
    if len(numbers) < 3 or len(numbers) < rows or any(n != int(n) for n in numbers[:5]):
        return False
    step = numbers[1] - numbers[0]
    return step > 0 and numbers[0] in (0, 1) and all(b - a == step for a, b in itertools.pairwise(numbers))
