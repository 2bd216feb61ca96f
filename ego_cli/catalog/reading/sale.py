"""Rows that are no products for sale: what the shop does not show, and lines of totals in a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ego_cli.catalog.reading.names import currency_words, normal_name
from ego_cli.catalog.reading.records import Record
from ego_cli.places import load_toml

ROLES = ("status", "published", "hidden")  # of columns that tell whether a product is shown
_YES = frozenset(("1", "1.0", "true", "yes", "y", "on", "-1", "-1.0"))
_NO = frozenset(("0", "0.0", "false", "no", "n", "off"))


def is_yes_or_no(cells: Sequence[Any]) -> bool:
    """Whether a column says yes or no and nothing else; WooCommerce writes -1 for a draft."""
    return all(str(cell).strip().casefold() in _YES | _NO for cell in cells)


def not_shown(role: str, cell: Any) -> str | None:
    """Why the shop does not show a product, by the cell of a column of ``ROLES``: "draft", "archived", …, or None."""
    word = str(cell).strip().casefold() if cell is not None else ""
    if role == "status":
        return _statuses().get(normal_name(word))
    if role == "hidden":
        return "hidden" if word in _YES and word[0] != "-" else None
    if word[:1] == "-":
        return "draft"
    return "unpublished" if word in _NO else None


@cache
def _statuses() -> Mapping[str, str]:
    table = load_toml("columns.toml")["status"]
    return {normal_name(word): state for state, words in table.items() for word in words}


_PIECE = re.compile(r"[^\W\d_]+")
_FIRST = re.compile(r"\W*([^\W\d_]+)")


def is_line_of_totals(record: Record, title: str, own: Any) -> bool:
    """Whether a row adds up the others: it opens with a word for that and says nothing of its own.

    ``own`` is the row's id, or None: what has a code of its own is an article, whatever it is called.
    """
    opening = next(iter(record.values()), "")
    if not (_opens(title) or _opens(opening)) or (own is not None and not _opens(own)):
        return False
    known = _openers() | currency_words() | frozenset(load_toml("columns.toml")["totals"]["beside"])
    for cell in record.values():
        for piece in _PIECE.findall(str(cell)) if cell is not None else ():
            if piece.casefold() not in known:
                return False
    return True


def _opens(cell: Any) -> bool:
    first = _FIRST.match(cell) if isinstance(cell, str) else None
    return first is not None and first[1].casefold() in _openers()


@cache
def _openers() -> frozenset[str]:
    return frozenset(load_toml("columns.toml")["totals"]["words"])
