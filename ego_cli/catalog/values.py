"""Strangers' cells -> clean values: text, lists, prices, ratings, counts.

Everything here is a pure function of one cell and what its column is known to hold. Nothing raises on bad input:
what cannot be read is ``None``, and what can be read in two ways says so.
"""

from __future__ import annotations

import ast
import html
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from ego_cli.settings import load_toml

TEXT_LIMIT = 20_000  # characters kept of one text cell
STARS = 5.0  # ratings are stored on this scale
_MOST_ROUNDS = 8  # how deep markup may hide in markup before it is taken apart by force
HIGHEST_PRICE = 1e10  # a larger number is a barcode or a telephone number, not a price
_FEWEST_FOR_TYPICAL = 3  # unambiguous prices needed before their median says anything about the others
_DECISIVE = math.log(
    8
)  # how much nearer to the typical price one reading must be than the other, in log units

# --------------------------------------------------------------------------------------------------------------- text

# What may need work: markup, controls, anything beyond ASCII, runs of white space. Most cells have none of these.
_UNTIDY = re.compile(r"[^\x20-\x7e]|[<&]|  |^ | $")
_ENTITY = re.compile(r"&(?:amp;)*(?:#\d{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[A-Za-z][A-Za-z0-9]{1,30};)")
_DOUBLE = re.compile(r"&(?:amp;)+(?=[#\w])")
_TERMINAL = re.compile(
    "\x1b\\][^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"  # OSC: titles, links, clipboard
    "|\x1b[PX^_][^\x1b\x9c]*(?:\x1b\\\\|\x9c)?"  # DCS, SOS, PM, APC
    "|\x1b\\[[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor
    "|\x9b[0-?]*[ -/]*[@-~]?|\x9d[^\x07\x9c]*(?:\x07|\x9c)?"
    "|\x1b[ -/]*[0-~]?"
)
_HIDDEN_BLOCK = re.compile(r"<(script|style|template)\b[^>]*>.*?</\1\s*>|<!--.*?-->", re.I | re.S)
_BREAK_TAG = re.compile(
    r"</?(?:br|p|div|li|ul|ol|tr|td|th|table|h[1-6]|hr|section|article|dd|dt)\b[^<>]*>", re.I
)
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>")
_OPEN_TAG_AT_END = re.compile(
    r"</?(?:a|b|i|p|br|div|span|img|script|style|iframe|svg|ul|li|table|td|font)\b[^<>]*$", re.I
)
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
    "|(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])|^[\u200c\u200d]|[\u200c\u200d]$"
)
_LOST = re.compile(
    r"(?<=\w)\ufffd+(?=\w)"
)  # a letter lost inside a word: closing the gap reads better than a hole
_SPACE = re.compile(r"\s+")
# UTF-8 read as Windows-1252 once: "CrÃ¨me", "â‚¦ 500". Only the lead bytes that real text hardly ever pairs so.
_MOJIBAKE = re.compile(
    "[\u00c2\u00c3][\u0080-\u00bf\u0152-\u2122]"
    "|[\u00e1\u00e2\u00ef][\u0080-\u00bf\u0152-\u2122]{2}"
    "|\u00f0[\u0080-\u00bf\u0152-\u2122]{3}"
)
# "…easy to cleanMade of wood": sentences glued together by a scraper. A capitalised left part (MacBook) is a name.
_GLUED = re.compile(r"\b([a-z]{2,})(?=[A-Z][a-z' ])")
_BULLET = re.compile(r"\s*(?:\r?\n|[•●▪■◆✓✔★►➤·|]|(?<=\S);)\s+|\s*[•●▪■◆✓✔►➤]\s*")


def _unescape(found: re.Match[str]) -> str:
    return html.unescape(_DOUBLE.sub("&", found.group()))


def _undo_mojibake(found: re.Match[str]) -> str:
    try:
        return b"".join(
            bytes((ord(ch),)) if ord(ch) < 256 else ch.encode("cp1252") for ch in found.group()
        ).decode()
    except (UnicodeEncodeError, UnicodeDecodeError):
        return found.group()


def _tidy(text: str, newline: str) -> str:
    text = _ENTITY.sub(_unescape, text)
    text = _TERMINAL.sub("", text)
    if "<" in text:
        text = _HIDDEN_BLOCK.sub(" ", text)
        text = _BREAK_TAG.sub(newline, text)
        text = _TAG.sub("", text)
        text = _OPEN_TAG_AT_END.sub("", text)
    if not text.isascii():
        text = _LOST.sub("", text).replace("\ufffd", " ")
        text = unicodedata.normalize("NFC", text)
    return _INVISIBLE.sub("", text)


def _settle(text: str, newline: str) -> str:
    """Entities, tags and escapes may hide in one another: repeat until nothing changes."""
    for _ in range(_MOST_ROUNDS):
        tidier = _tidy(text, newline)
        if tidier == text:
            return text
        text = tidier
    return _INVISIBLE.sub(
        "", text.replace("<", "").replace("&", "")
    )  # nested so deep that it was meant to harm


def clean_text(value: object) -> str:
    """One line of plain text: no entities (however often encoded), tags, control characters or terminal escapes; NFC.

    Words are kept as they are: hostile sentences stay data.
    """
    text = value if isinstance(value, str) else str(value)
    if not _UNTIDY.search(text):
        return text[:TEXT_LIMIT]
    text = text[: 2 * TEXT_LIMIT]
    text = _MOJIBAKE.sub(_undo_mojibake, text)
    return _SPACE.sub(" ", _settle(text, " ")).strip()[:TEXT_LIMIT].rstrip()


def clean_prose(value: object) -> str:
    """``clean_text`` for descriptions: sentences that were glued together (``detailMesh upper``) are set apart."""
    return _GLUED.sub(r"\1. ", clean_text(value))


def clean_lines(value: object) -> list[str]:
    """A block of text as its bullets or lines, each cleaned; glued sentences become lines of their own."""
    text = value if isinstance(value, str) else str(value)
    lines = _BULLET.split(_settle(text[: 2 * TEXT_LIMIT], "\n"))
    return [
        part for line in lines for part in _GLUED.sub("\\1\n", clean_text(line)).split("\n") if part.strip()
    ]


# -------------------------------------------------------------------------------------------------------------- nothing


@cache
def _null_words() -> tuple[frozenset[str], re.Pattern[str]]:
    null = load_toml("columns.toml")["null"]
    return frozenset(null["words"]), re.compile("|".join(null["patterns"]), re.I)


def is_null(value: object) -> bool:
    """Whether a cell says nothing: empty, ``N/A``, ``Unknown``, ``No Info``, ``#NAME?``, NaN, an empty list."""
    if value is None or value == "":
        return True
    if isinstance(value, str):
        if len(value) > 60:
            return False
        words, pattern = _null_words()
        text = value.strip().casefold()
        return text in words or pattern.fullmatch(text) is not None
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, list | tuple | dict | set) and not value


# --------------------------------------------------------------------------------------------------------------- lists

_RUBY_HASH = re.compile(r'"\s*=>\s*')


def parse_literal(text: str) -> Any:
    """A list or mapping written inside a cell (JSON, Python's repr, Ruby's hash), or None if it is not one."""
    text = text.strip()
    if len(text) < 2 or (text[0], text[-1]) not in (("[", "]"), ("{", "}"), ("(", ")")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text[0] == "{" and "=>" in text:
        try:
            return json.loads(_RUBY_HASH.sub('": ', text).replace(": nil", ": null"))
        except (ValueError, RecursionError):
            return None
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if isinstance(found, set):
        return sorted(found, key=str)
    return found if isinstance(found, list | tuple | dict) else None


def parse_list(value: object, separators: str = "") -> list[str]:
    """The items of a cell that holds several: a list, a list written as text, lines or bullets, or split at
    any of ``separators``. Items are clean, in order, without repeats and without null words."""
    if isinstance(value, str):
        literal = parse_literal(value) if value[:1] in "[({" else None
        if isinstance(literal, list | tuple):
            value = literal
    if isinstance(value, Mapping):
        value = [v for v in value.values() if not isinstance(v, Mapping | list)]
    if isinstance(value, list | tuple):
        items: Iterable[str] = (_item_text(item) for item in value)
    elif separators:
        items = re.split(f"[{re.escape(separators)}\n]", str(value))
    else:
        items = clean_lines(value)
    seen: dict[str, str] = {}
    for item in items:
        text = clean_text(item).strip("\"'*-• " if separators else " *•")
        if text and not is_null(text):
            seen.setdefault(text.casefold(), text)
    return list(seen.values())


def _item_text(item: object) -> str:
    """What an element of a list is called: itself, or the telling member of a nested object."""
    if isinstance(item, Mapping):
        for key in ("name", "title", "value", "label", "text", "body", "content", "comment"):
            if isinstance(item.get(key), str | int | float):
                return str(item[key])
        return ""
    if isinstance(item, list | tuple):
        return " > ".join(str(part) for part in item)
    return "" if item is None else str(item)


# --------------------------------------------------------------------------------------------------------------- prices


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
_ODD_SPACE = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000\t\r\n]+")
_EURO_INSIDE = re.compile(r"(?<=\d)\s?(€)\s?(\d{2})(?!\d)")
_NUMBER = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?|\d[\d.,'’]*")
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
    text = _ODD_SPACE.sub(" ", text)
    text = _EURO_INSIDE.sub(r".\2 \1", text)
    currency = currency_mark(text, declared)
    figures = _figures(text, currency or declared, convention)
    if not figures:
        return NO_PRICE
    pick = [f for f in figures if not f.former] or figures
    marked = [f for f in pick if f.marked]
    first = (marked or pick)[0]
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
    words = _price_words()
    marks = [found.span() for found in _currencies().marks.finditer(text)]
    figures: list[_Figure] = []
    for found in _NUMBER.finditer(text):
        digits = found.group().rstrip(".,'’")
        start, end = found.start(), found.start() + len(digits)
        after = text[end:]
        if after.lstrip().startswith("%") or words["counted"].match(after):
            continue
        before = text[:start].rstrip(" ")
        if before.endswith(("-", "−")) and not any(ch.isdigit() for ch in before):
            continue  # a negative number is no price
        amount, ambiguous = read_number(digits, currency, convention)
        if times := _MULTIPLE.match(after):
            amount, ambiguous = amount * _MULTIPLES[times.group(1).casefold()], False
        if start and text[start - 1].isalpha() and not any(b == start for _, b in marks):
            continue  # part of a word or a model number
        marked = any(b <= start and not text[b:start].strip(" .") for _, b in marks) or any(
            a >= end and not text[end:a].strip(" .,-") for a, _ in marks
        )
        lead = text[:start]
        for a, b in marks:
            if b <= start and not text[b:start].strip():
                lead = text[:a]
        figures.append(
            _Figure(start, end, amount, ambiguous, marked, bool(words["former"].search(lead)), digits)
        )
    return figures


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
        if low < high:
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
        for found in _NUMBER.finditer(_ODD_SPACE.sub(" ", cell)):
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


# --------------------------------------------------------------------------------------------------- ratings and counts

_OUT_OF = re.compile(r"(\d+(?:[.,]\d+)?)\s*(?:out of|of|/|von|sur|de|su|van|av|из)\s*(\d{1,3})\b", re.I)
_DECIMAL = re.compile(r"\d+(?:[.,]\d+)?")
_COUNT = re.compile(r"(\d[\d.,' ]*)\s?(k|m|mil|tsd)?(?![^\W_])", re.I)
_STAR_ROW = re.compile(r"[★⭐✩☆]{1,5}")


def parse_rating(value: object, scale: float = STARS) -> tuple[float | None, int | None]:
    """A rating cell as (stars 0-5, number of ratings if the cell holds that too). Zero means that nobody rated.

    Reads ``4.1 out of 5``, ``8/10``, ``82%``, ``4,5``, ``★★★★☆``, ``4.1 out of 5\\n49``, ``4.5 (1,427)``.
    ``scale`` is the top of the column's scale for bare numbers.
    """
    if isinstance(value, bool) or value is None:
        return None, None
    if isinstance(value, int | float):
        return _stars(float(value), scale), None
    if not isinstance(value, str):
        return None, None
    text = value.strip()
    if found := _OUT_OF.search(text):
        stars = _stars(float(found[1].replace(",", ".")), float(found[2]))
        return stars, parse_count(text[found.end() :])
    if found := _STAR_ROW.search(text):
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
    return round(number * STARS / scale, 2)


def parse_count(value: object) -> int | None:
    """How many: ``1427``, ``(1,427)``, ``1.2k``, ``427 ratings``, ``1 427``, ``10k+``; None if there is no number."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return int(value) if math.isfinite(value) and 0 <= value < 1e12 else None
    if not isinstance(value, str):
        return None
    text = _ODD_SPACE.sub(" ", value)
    found = _COUNT.search(text)
    if not found or text[: found.start()].rstrip().endswith(("-", "−")):
        return None
    digits = found[1].strip(" .,'")
    if found[2]:
        number = float(re.sub(r"[^\d.]", "", digits.replace(",", ".")) or 0) if digits.count(".") < 2 else 0.0
        return int(round(number * (1e6 if found[2].casefold() == "m" else 1e3)))
    if re.fullmatch(r"\d{1,3}(?:[., ']\d{3})+", digits):
        return int(re.sub(r"\D", "", digits))
    if re.fullmatch(r"\d+[.,]\d+", digits):
        return int(float(digits.replace(",", ".")))
    first = re.match(r"\d+(?: \d{3})*", digits)
    return int(first[0].replace(" ", "")) if first and len(first[0]) <= 12 else None
