"""Text cells made clean, lists found inside cells, and cells that say nothing.

Nothing raises on bad input.
"""

from __future__ import annotations

import ast
import html
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from ego_cli.places import load_toml

TEXT_LIMIT = 20_000  # characters kept of one text cell
_LONGEST_NULL = 60  # characters; a longer cell says something
REPEATED = 120  # characters up to which a cell is likely to stand in many rows
_MOST_ROUNDS = 8  # how deep markup may hide in markup before it is taken apart by force

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
# "…easy to cleanMade of wood": sentences glued together by a scraper.
_CAPITAL_AFTER_SMALL = re.compile("[a-z][A-Z]")
_GLUED = re.compile(r"(?<![^\W_])([A-Za-z][a-z]+)([A-Z][a-z]*)(?=[a-z' :]|[A-Z][a-z])")
_BULLET = re.compile(r"\s*(?:\r?\n|[·]|(?<=\S);)\s+|\s*[•●▪■◆✓✔★►➤|]\s*|\s*\r?\n\s*")


def without_escapes(text: str) -> str:
    """A text without a terminal's commands (colours, titles, the marks around a paste); all else stays."""
    return _TERMINAL.sub("", text)


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


def _is_tidy(text: str) -> bool:
    """Whether nothing can need work: no markup, controls, anything beyond ASCII, runs of white space. Most cells are so."""
    return (
        text.isascii()
        and text.isprintable()
        and "<" not in text
        and "&" not in text
        and "  " not in text
        and not text.startswith(" ")
        and not text.endswith(" ")
    )


def clean_text(value: object) -> str:
    """One line of plain text: no entities (however often encoded), tags, control characters or terminal escapes; NFC.

    Words are kept as they are: hostile sentences stay data.
    """
    text = value if isinstance(value, str) else str(value)
    if _is_tidy(text):
        return text[:TEXT_LIMIT]
    text = text[: 2 * TEXT_LIMIT]
    text = _MOJIBAKE.sub(_undo_mojibake, text)
    return _SPACE.sub(" ", _settle(text, " ")).strip()[:TEXT_LIMIT].rstrip()


@dataclass(frozen=True, slots=True)
class Words:
    """What a file's own texts say about its words: ``common`` stand alone several times, ``names`` are written with a
    capital inside in titles (PowerBank)."""

    common: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


NO_WORDS = Words()
_ALONE = re.compile(r"(?<![^\W_])[A-Za-z][a-z]*(?![^\W_])")
_CAPITAL_INSIDE = re.compile(r"[A-Za-z]*[a-z][A-Z][A-Za-z]*")


def words_of(titles: Iterable[str], texts: Iterable[str]) -> Words:
    """Learn a file's words from a sample of its titles and running texts."""
    counts = Counter(word.casefold() for text in texts for word in _ALONE.findall(text[:5000]))
    names = {name.casefold() for title in titles for name in _CAPITAL_INSIDE.findall(title)}
    return Words(frozenset(word for word, count in counts.items() if count > 1), frozenset(names))


def unglue(text: str, words: Words, joint: str = ". ") -> str:
    """Set sentences apart that were glued together: ``detailMesh upper`` -> ``detail. Mesh upper``.

    A capital inside a word that starts small is such a joint; after a capitalised word (``PocketPadded``) it is one only
    where both parts are words of this file and the whole is no name of its titles.
    """

    if not _CAPITAL_AFTER_SMALL.search(text):
        return text

    def apart(found: re.Match[str]) -> str:
        left, right = found[1], found[2]
        rest = text[found.end() : found.end() + 30]
        right_word = right + (re.match(r"[a-z]*", rest) or found)[0]
        if f"{left}{right_word}".casefold() in words.names:
            return found[0]
        if left[0].islower():
            return f"{left}{joint}{right}"
        if left.casefold() in words.common and right_word.casefold() in words.common:
            return f"{left} {right}"
        return found[0]

    return _GLUED.sub(apart, text)


def clean_prose(value: object, words: Words = NO_WORDS) -> str:
    """``clean_text`` for running text: paragraphs of markup end as sentences do, glued sentences are set apart."""
    text = value if isinstance(value, str) else str(value)
    if "<" in text or "&lt;" in text:
        lines = clean_lines(text, words)
        ended = [line if line[-1] in ".!?:;," else f"{line}." for line in lines[:-1]]
        return " ".join([*ended, *lines[-1:]])[:TEXT_LIMIT]
    return unglue(clean_text(text), words)


_LIST_ITEM = re.compile(r"<li\b[^>]*>(.*?)(?=</li|<li\b|</ul|</ol|\Z)", re.I | re.S)


def listed_items(text: str) -> list[str]:
    """The items of lists in a text with markup, cleaned: the bullets that a shop wrote into its description."""
    return [item for found in _LIST_ITEM.findall(text[: 2 * TEXT_LIMIT]) if (item := clean_text(found))]


def clean_lines(value: object, words: Words = NO_WORDS) -> list[str]:
    """A block of text as its bullets or lines, each cleaned; glued sentences become lines of their own."""
    text = value if isinstance(value, str) else str(value)
    lines = _BULLET.split(_settle(text[: 2 * TEXT_LIMIT], "\n"))
    return [
        part for line in lines for part in unglue(clean_text(line), words, "\n").split("\n") if part.strip()
    ]


@cache
def _null_words() -> tuple[frozenset[str], re.Pattern[str]]:
    null = load_toml("columns.toml")["null"]
    return frozenset(null["words"]), re.compile("|".join(null["patterns"]), re.I)


@lru_cache(maxsize=65536)
def _says_nothing(text: str) -> bool:
    words, pattern = _null_words()
    text = text.strip().casefold()
    return not text or text in words or pattern.fullmatch(text) is not None


def is_null(value: object) -> bool:
    """Whether a cell says nothing: empty, ``N/A``, ``Unknown``, ``No Info``, ``#NAME?``, NaN, an empty list."""
    if isinstance(value, str):
        return len(value) <= _LONGEST_NULL and _says_nothing(value)
    if value is None:
        return True
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, list | tuple | dict | set) and not value


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


def parse_list(value: object, separators: str = "", words: Words = NO_WORDS) -> list[str]:
    """The items of a cell that holds several: a list, a list written as text, lines or bullets, or split at
    any of ``separators``. Items are clean, in order, without repeats and without null words."""
    if isinstance(value, str):
        literal = parse_literal(value) if value[:1] in "[({" else None
        if isinstance(literal, list | tuple):
            value = literal
    if isinstance(value, dict):
        value = [v for v in value.values() if not isinstance(v, dict | list)]
    if isinstance(value, list | tuple):
        items: Iterable[str] = (_item_text(item) for item in value)
    elif separators:
        items = _separated(separators).split(str(value))
    else:
        items = clean_lines(value, words)
    edges = "\"'*-• " if separators else " *•"
    seen: dict[str, str] = {}
    for item in items:
        text, key = _item_and_key(item, edges) if len(item) <= REPEATED else _clean_item(item, edges)
        if text:
            seen.setdefault(key, text)
    return list(seen.values())


@cache
def _separated(separators: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(separators)}\n]")


def _clean_item(item: str, edges: str) -> tuple[str, str]:
    """An item of a list, clean, and the key under which it is the same as another; "" when it says nothing."""
    text = clean_text(item).strip(edges)
    return ("", "") if not text or is_null(text) else (text, text.casefold())


_item_and_key = lru_cache(maxsize=65536)(_clean_item)


def _item_text(item: object) -> str:
    """What an element of a list is called: itself, or the telling member of a nested object."""
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        for key in ("name", "title", "value", "label", "text", "body", "content", "comment"):
            if isinstance(item.get(key), str | int | float):
                return str(item[key])
        return ""
    if isinstance(item, list | tuple):
        return " > ".join(str(part) for part in item)
    return "" if item is None else str(item)
