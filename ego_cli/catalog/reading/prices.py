"""Prices and currencies as shops write them.

What can be read in two ways says so (``ambiguous``); nothing raises on bad input.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ego_cli.catalog.reading.cleaning import clean_text, is_null
from ego_cli.places import load_toml

HIGHEST_PRICE = 1e10  # a larger number is a barcode or a telephone number, not a price
_FEWEST_FOR_TYPICAL = 3  # unambiguous prices needed before their median says anything about the others
_DECISIVE = math.log(
    8
)  # how much nearer to the typical price one reading must be than the other, in log units
_WIDEST_RANGE = (
    10  # how many times its lower end the upper end of a range may be where nothing else says it is one
)


class Money(NamedTuple):
    """A price as read: ``amount`` (the lower end) and ``upper`` (the upper end of a range) in units of ``currency``
    (ISO 4217, None if the cell does not say). ``ambiguous``: it can be read in two ways and nothing decides."""

    amount: float | None
    upper: float | None = None
    currency: str | None = None
    ambiguous: bool = False


NO_PRICE = Money(None)


@dataclass(frozen=True, slots=True)
class Convention:
    """How a column writes its prices. ``decimal`` is "." or "," once some value shows it; ``typical`` is the median of
    the values that can be read in one way only; ``three_decimals``: every value has exactly three decimals."""

    decimal: str | None = None
    typical: float | None = None
    three_decimals: bool = False


ANY_CONVENTION = Convention()


@dataclass(frozen=True, slots=True)
class _Currencies:
    marks: re.Pattern[str]
    code_of: Mapping[str, str]
    weak: frozenset[str]
    dot_groups: frozenset[str]
    three_decimals: frozenset[str]


@cache
def _currencies() -> _Currencies:
    table = load_toml("columns.toml")["currency"]
    code_of: dict[str, str] = {}
    for code, marks in table["marks"].items():
        for mark in (code, *marks):
            code_of[mark.casefold()] = code
    for mark, code in table["weak"].items():
        code_of[mark.casefold()] = code
    alternatives = []
    for mark in sorted(code_of, key=len, reverse=True):
        start = r"(?<![^\W\d_])" if mark[0].isalpha() else ""
        end = r"(?![^\W\d_])" if mark[-1].isalpha() else ""
        alternatives.append(start + re.escape(mark) + end)
    # One letter counts as a mark only straight before its number: "N12,500", "R 1 299".
    for letter, code in table["letters"].items():
        code_of[letter.casefold()] = code
        alternatives.append(rf"(?<![^\W_]){letter}(?-i:)(?=\s?\d)")
    return _Currencies(
        marks=re.compile("|".join(alternatives), re.I),
        code_of=code_of,
        weak=frozenset(mark.casefold() for mark in table["weak"]),
        dot_groups=frozenset(table["dot_groups"]),
        three_decimals=frozenset(table["three_decimals"]),
    )


def currency_mark(text: str, declared: str | None = None) -> str | None:
    """The currency that a text names, ISO 4217. A mark that several share (``$``, ``kr``) gives way to ``declared``
    where that is one of theirs."""
    known = _currencies()
    found = known.marks.search(text)
    if found is None:
        return None
    mark = found.group().casefold()
    if mark in known.weak and declared:
        sharing = load_toml("columns.toml")["currency"]["sharing"].get(mark, ())
        if declared in sharing:
            return declared
    return known.code_of[mark]


def currency_code(text: object) -> str | None:
    """A cell of a currency column (``NGN``, ``naira``, ``₦``) as its ISO code."""
    if not isinstance(text, str) or is_null(text):
        return None
    word = text.strip()
    known = _currencies().code_of.get(word.casefold())
    if known:
        return known
    return word.upper() if re.fullmatch(r"[A-Za-z]{3}", word) else None


_PLAIN_PRICE = re.compile(r"\d{1,9}(?:\.\d{1,2})?")
# "₦ 25,000", "$1,234.56", "NGN 4500": most cells of most files.
_COMMON_PRICE = re.compile(r"([^\W\d_]{3}|[₦$£€₹])?[ \u00a0]?(\d{1,3}(?:,\d{3})+|\d{1,9})(\.\d{1,2})?")
ODD_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000\t\r\n]+")
_EURO_INSIDE = re.compile(r"(?<=\d)(€)(\d{2})(?!\d|\s?€)")
_NUMBER = re.compile(
    r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?|(?<![\d.,])\.\d{1,2}(?!\d)|\d[\d.,'’]*"
)
_MULTIPLE = re.compile(r"\s?(k|m|mn|mln|million|thousand|bn)(?![^\W_])", re.I)
_MULTIPLES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mln": 1e6, "million": 1e6, "bn": 1e9}
_SCIENTIFIC = re.compile(r"\d(?:\.\d+)?[eE]\+?\d{1,2}")


@cache
def _price_words() -> dict[str, re.Pattern[str]]:
    words = load_toml("columns.toml")["price_words"]
    return {
        "counted": re.compile(rf"\s*(?:{'|'.join(words['counted'])})(?![^\W_])", re.I),
        "former": re.compile(rf"(?:{'|'.join(words['former'])})\W*$", re.I),
        "range": re.compile(rf"\s*(?:[-–—~]|{'|'.join(words['range'])})\s*", re.I),
        "filler": re.compile("|".join(words["filler"]), re.I),
    }


def parse_price(
    value: object, *, currency: str | None = None, convention: Convention = ANY_CONVENTION
) -> Money:
    """Read a price cell as a shop writes it: ``₦ 25,000``, ``₦ 1,200 - ₦ 3,400``, ``1.234,56 €``, ``5 499 kr``,
    ``2 pairs from $349``, ``N12.500``. Nothing, zero and "call us" are ``NO_PRICE``.

    ``currency`` is what the file or the person declares; a plain mark in the cell wins over it.
    """
    if isinstance(value, bool) or value is None:
        return NO_PRICE
    if isinstance(value, int | float):
        return _money(float(value), None, None, False)
    if not isinstance(value, str):
        return NO_PRICE
    text = value.strip()
    if _PLAIN_PRICE.fullmatch(text):
        return _money(float(text), None, None, False)
    if (common := _COMMON_PRICE.fullmatch(text)) and convention.decimal != ",":
        mark, units, cents = common.groups()
        code = _currencies().code_of.get(mark.casefold()) if mark else None
        if code and mark.casefold() in _currencies().weak:
            code = currency_mark(mark, currency)
        if bool(mark) == bool(code) and (code or currency) not in _currencies().three_decimals:
            return _money(float(units.replace(",", "") + (cents or "")), None, code, False)
    if len(text) > 200 or not any(ch.isdigit() for ch in text):
        return NO_PRICE
    if _SCIENTIFIC.fullmatch(text):
        return _money(float(text), None, None, False)
    return _read_price(text, currency, convention)


def _money(amount: float, upper: float | None, currency: str | None, ambiguous: bool) -> Money:
    if not 0 < amount <= HIGHEST_PRICE:
        return NO_PRICE
    if upper is not None and not amount < upper <= HIGHEST_PRICE:
        upper = None
    return Money(amount, upper, currency, ambiguous)


@dataclass(slots=True)
class _Figure:
    """One number in a price cell."""

    start: int
    end: int
    amount: float
    ambiguous: bool
    marked: bool
    former: bool
    digits: str


def _read_price(text: str, declared: str | None, convention: Convention) -> Money:
    if not text.isascii():
        text = unicodedata.normalize("NFKC", clean_text(text))
        text = "".join(str(unicodedata.digit(ch)) if ch.isdigit() and not ch.isascii() else ch for ch in text)
    text = ODD_SPACE.sub(" ", text)
    text = _EURO_INSIDE.sub(r".\2 \1", text)
    currency = currency_mark(text, declared)
    figures = _figures(text, currency or declared, convention)
    if not figures:
        return NO_PRICE
    pick = [f for f in figures if not f.former] or figures
    marked = [f for f in pick if f.marked]
    first = _range_opener(text, pick, (marked or pick)[0])
    partner = _range_partner(text, first, pick)
    if partner is not None:
        low, high = sorted((first, partner), key=lambda f: f.amount)
        return _money(low.amount, high.amount, currency, low.ambiguous or high.ambiguous)
    chosen = marked or pick
    if len(chosen) == 1:
        return _split_if_two(chosen[0], currency, convention)
    low, high = min(chosen, key=lambda f: f.amount), max(chosen, key=lambda f: f.amount)
    return _money(low.amount, high.amount, currency, low.ambiguous)


def _figures(text: str, currency: str | None, convention: Convention) -> list[_Figure]:
    """The numbers of a price cell that can be prices: no percentages, counts, negatives or parts of names."""
    words = _price_words()
    marks = [found.span() for found in _currencies().marks.finditer(text)]
    numbers = [(found.start(), found.group().rstrip(".,'’")) for found in _NUMBER.finditer(text)]
    numbers = [(start, digits) for start, digits in numbers if any(ch.isdigit() for ch in digits)]
    marked = _marked(text, marks, [(start, start + len(digits)) for start, digits in numbers])
    figures: list[_Figure] = []
    for place, (start, digits) in enumerate(numbers):
        end = start + len(digits)
        lead = text[: min([start, *(a for a, b in marks if b <= start and not text[b:start].strip())])]
        before, after = lead.rstrip(" "), text[end:]
        if after.lstrip().startswith("%") or words["counted"].match(after):
            continue
        if before.endswith(("-", "−")) and not any(ch.isdigit() for ch in before):
            continue
        if start and text[start - 1].isalpha() and not any(b == start for _, b in marks):
            continue
        if after.startswith((",-", ",–", ",—")):  # "5.499,-": the comma ends the whole units
            digits += ",00"
        amount, ambiguous = read_number(digits, currency, convention)
        if times := _MULTIPLE.match(after):
            amount, ambiguous = amount * _MULTIPLES[times.group(1).casefold()], False
        former = words["former"].search(lead) is not None
        figures.append(_Figure(start, end, amount, ambiguous, place in marked, former, digits))
    return figures


def _marked(text: str, marks: list[tuple[int, int]], numbers: list[tuple[int, int]]) -> set[int]:
    """Places of the numbers that a currency mark stands beside: the nearer one; where both are as near, the one on the
    side on which this cell writes its marks."""
    if not marks or not numbers:
        return set()
    in_front = marks[0][0] < numbers[0][0]
    found: set[int] = set()
    for start, end in marks:
        gaps = []
        for place, (a, b) in enumerate(numbers):
            between = text[end:a] if a >= end else text[b:start]
            if not between.strip(" .,-"):
                gaps.append((len(between), -place if in_front else place, place))
        if gaps:
            found.add(min(gaps)[2])
    return found


def _range_opener(text: str, figures: list[_Figure], marked: _Figure) -> _Figure:
    """The figure that a price begins at: ``marked``, or the one that opens the cell where ``marked`` only closes its range
    ("12 000 - 15 000 kr"). "2 - 349 kr" is no range: its ends are too far apart."""
    opener = figures[0]
    alone = not _price_words()["filler"].sub("", text[: opener.start]).strip(" (~")
    if opener is marked or not alone or _range_partner(text, opener, figures) is not marked:
        return marked
    return opener if opener.amount < marked.amount <= _WIDEST_RANGE * opener.amount else marked


def _range_partner(text: str, first: _Figure, figures: list[_Figure]) -> _Figure | None:
    """The figure that closes a range opened by ``first``: only a dash or "to", and marks, stand between them."""
    later = [f for f in figures if f.start > first.start]
    if not later:
        return None
    between = _currencies().marks.sub("", text[first.end : later[0].start])
    between = _price_words()["filler"].sub("", _MULTIPLE.sub("", between))
    if not _price_words()["range"].fullmatch(between):
        return None
    times = _MULTIPLE.match(text[later[0].end :])
    if times and first.amount < 1000 and not _MULTIPLE.match(text[first.end :]):  # "15-20k"
        first.amount *= _MULTIPLES[times.group(1).casefold()]
    return later[0]


def _split_if_two(figure: _Figure, currency: str | None, convention: Convention) -> Money:
    """``100 000 120 000`` is two prices, not a hundred thousand million: split where the column says so."""
    groups = figure.digits.split(" ")
    half = len(groups) // 2
    if (
        len(groups) > 1
        and len(groups) % 2 == 0
        and convention.typical
        and figure.amount > 100 * convention.typical
    ):
        low, high = float("".join(groups[:half])), float("".join(groups[half:]))
        if low < high <= _WIDEST_RANGE * low:  # "5 499" among cheap things is no 5 to 499
            return _money(low, high, currency, False)
    return _money(figure.amount, None, currency, figure.ambiguous)


def read_number(
    digits: str, currency: str | None, convention: Convention = ANY_CONVENTION
) -> tuple[float, bool]:
    """A written number and whether it can be read in two ways (``3.350``: 3.35 or 3350)."""
    spaced = any(ch in digits for ch in " '’")
    digits = digits.replace(" ", "").replace("'", "").replace("’", "")
    dots, commas = digits.count("."), digits.count(",")
    if not dots and not commas:
        return float(digits), False
    if dots and commas:
        decimal = "." if digits.rfind(".") > digits.rfind(",") else ","
        if digits.count(decimal) > 1:  # 1,234.567.890: only groups
            return float(digits.replace(".", "").replace(",", "")), False
        return _as_float(digits, decimal), False
    mark = "." if dots else ","
    tail = len(digits) - digits.rfind(mark) - 1
    if spaced:
        return _as_float(digits, mark), False
    if dots + commas > 1:
        if tail in (1, 2):  # 12.500.00
            head, _, cents = digits.rpartition(mark)
            return float(head.replace(mark, "") + "." + cents), False
        return float(digits.replace(mark, "")), False
    head = digits[: -tail - 1]
    if tail != 3 or len(head) > 3 or head.startswith("0") or not head:
        return _as_float(digits, mark), False
    return _thousands_or_decimals(digits, mark, currency, convention)


def _as_float(digits: str, decimal: str) -> float:
    grouping = "," if decimal == "." else "."
    return float(digits.replace(grouping, "").replace(decimal, ".") or 0)


def _thousands_or_decimals(
    digits: str, mark: str, currency: str | None, convention: Convention
) -> tuple[float, bool]:
    """One mark with three digits after it. A comma groups in most of the world's shops; a dot is told by the
    currency, by how the column writes its other prices, or by how dear they are."""
    grouped, fraction = float(digits.replace(mark, "")), float(digits.replace(mark, "."))
    known = _currencies()
    if currency in known.three_decimals or (convention.three_decimals and mark == convention.decimal):
        return fraction, False
    if convention.decimal and convention.decimal != mark:
        return grouped, False
    if mark == "," and convention.decimal is None:
        return grouped, False
    if mark == "." and currency in known.dot_groups and convention.decimal is None:
        return grouped, False
    if convention.typical:
        nearer = abs(math.log(grouped / convention.typical)) - abs(math.log(fraction / convention.typical))
        if nearer <= -_DECISIVE:
            return grouped, False
        if nearer >= _DECISIVE:
            return fraction, False
    return grouped, mark == "." or convention.decimal == mark


def price_convention(cells: Iterable[object], currency: str | None) -> Convention:
    """What the cells of a price column say together about how to read each of them."""
    decimals: set[str] = set()
    sure: list[float] = []
    three_decimals = True
    texts = [cell for cell in cells if isinstance(cell, str) and not is_null(cell)]
    for cell in texts:
        for found in _NUMBER.finditer(ODD_SPACE.sub(" ", cell)):
            digits = found.group().rstrip(".,'’")
            last = max(digits.rfind("."), digits.rfind(","))
            tail = len(digits) - last - 1 if last >= 0 else 0
            three_decimals = three_decimals and tail == 3 and digits.count(".") + digits.count(",") == 1
            if (last >= 0 and tail in (1, 2)) or ("." in digits and "," in digits):
                decimals.add(digits[last])
            amount, ambiguous = read_number(digits, currency)
            if not ambiguous and amount > 0:
                sure.append(amount)
    # Three decimals throughout are real only where some value cannot be a grouped thousand: 0.350, 1250.500.
    proof = any(re.search(r"(?<!\d)(?:0|\d{4,})[.,]\d{3}(?!\d)", cell) for cell in texts)
    if three_decimals and proof and texts:
        mark = "." if "." in texts[0] else ","
        return Convention(mark, None, True)
    sure += [
        float(cell)
        for cell in cells
        if isinstance(cell, int | float) and not isinstance(cell, bool) and cell > 0
    ]
    typical = sorted(sure)[len(sure) // 2] if len(sure) >= _FEWEST_FOR_TYPICAL else None
    return Convention(decimals.pop() if len(decimals) == 1 else None, typical)
