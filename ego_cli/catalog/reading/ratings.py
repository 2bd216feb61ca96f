"""Ratings and their counts as shops write them. Nothing raises on bad input."""

from __future__ import annotations

import math
import re

from ego_cli.catalog.reading.prices import ODD_SPACE

STARS = 5.0  # ratings are stored on this scale

_OUT_OF = re.compile(r"(\d+(?:[.,]\d+)?)\s*(?:out of|of|/|von|sur|de|su|van|av|из)\s*(\d{1,3})\b", re.I)
_DECIMAL = re.compile(r"\d+(?:[.,]\d+)?")
_COUNT = re.compile(r"(\d[\d.,' ]*)\s?(k|m|mil|tsd)?(?![^\W_])", re.I)
_STAR_ROW = re.compile(r"[★⭐✩☆](?:\ufe0f?[★⭐✩☆]){0,4}\ufe0f?")  # emoji stars have a selector behind them
_BEFORE_STARS = re.compile(r"(\d(?:[.,]\d+)?)\s*$")  # "3.7★", "4.5 ★★★★★"
_AFTER_STARS = re.compile(r"\s*(\d[.,]\d)(?![\d%k])")  # "★ 4.5", "⭐4.2 (120)"
_HALF = re.compile(r"(?<=\d)\s?½")


def parse_rating(value: object, scale: float = STARS) -> tuple[float | None, int | None]:
    """A rating cell as (stars 0-5, number of ratings if the cell holds that too). Zero means that nobody rated.

    Reads ``4.1 out of 5``, ``8/10``, ``82%``, ``4,5``, ``★★★★☆``, ``3.7★ (120)``, ``4.1 out of 5\\n49``, ``4.5 (1,427)``.
    ``scale`` is the top of the column's scale for bare numbers.
    """
    if isinstance(value, bool) or value is None:
        return None, None
    if isinstance(value, int | float):
        return _stars(float(value), scale), None
    if not isinstance(value, str):
        return None, None
    text = _HALF.sub(".5", value.strip())
    if found := _OUT_OF.search(text):
        stars = _stars(float(found[1].replace(",", ".")), float(found[2]))
        return stars, parse_count(text[found.end() :])
    if found := _STAR_ROW.search(text):
        if before := _BEFORE_STARS.search(text[: found.start()]):
            return _stars(float(before[1].replace(",", ".")), STARS), parse_count(text[found.end() :])
        if after := _AFTER_STARS.match(text, found.end()):
            return _stars(float(after[1].replace(",", ".")), STARS), parse_count(text[after.end() :])
        return _stars(float(sum(ch in "★⭐" for ch in found[0])), STARS), parse_count(text[found.end() :])
    if not (found := _DECIMAL.search(text)):
        return None, None
    if text[: found.start()].rstrip().endswith(("-", "−")):
        return None, None
    rest = text[found.end() :]
    if rest.lstrip().startswith("%"):
        return _stars(float(found[0].replace(",", ".")), 100.0), None
    number = float(found[0].replace(",", "."))
    return _stars(number, scale), parse_count(rest)


def _stars(number: float, scale: float) -> float | None:
    if not 0 < number <= scale or not math.isfinite(number):
        return None
    return round(number * STARS / scale, 2) or None


def parse_count(value: object) -> int | None:
    """How many: ``1427``, ``(1,427)``, ``1.2k``, ``427 ratings``, ``1 427``, ``10k+``; None if there is no number."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return int(value) if math.isfinite(value) and 0 <= value < 1e12 else None
    if not isinstance(value, str):
        return None
    text = ODD_SPACE.sub(" ", value)
    found = _COUNT.search(text)
    if not found or text[: found.start()].rstrip().endswith(("-", "−")):
        return None
    digits = found[1].strip(" .,'")
    if found[2]:
        number = float(re.sub(r"[^\d.]", "", digits.replace(",", ".")) or 0) if digits.count(".") < 2 else 0.0
        return round(number * (1e6 if found[2].casefold() == "m" else 1e3))
    if re.fullmatch(r"\d{1,3}(?:[., ']\d{3})+", digits):
        return int(re.sub(r"\D", "", digits))
    if re.fullmatch(r"\d+[.,]\d+", digits):
        return int(float(digits.replace(",", ".")))
    first = re.match(r"\d+(?: \d{3})*", digits)
    return int(first[0].replace(" ", "")) if first and len(first[0]) <= 12 else None
