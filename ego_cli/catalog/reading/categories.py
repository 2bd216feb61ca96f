"""Category cells -> names from broad to narrow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from ego_cli.catalog.reading.cleaning import clean_text, is_null, parse_list, parse_literal
from ego_cli.places import load_toml

_STEP = re.compile(r"\s*(?:>>?|»|›|→|\||::|\\|\s/\s)\s*")


@cache
def _roots() -> frozenset[str]:
    return frozenset(load_toml("columns.toml")["category_roots"]["words"])


def category_path(cell: Any) -> tuple[str, ...]:
    """The names of a category cell from broad to narrow: a path as text, a list, a list of paths (the deepest)."""
    return _path(cell if isinstance(cell, str) else _frozen(cell))


def _frozen(cell: Any) -> Any:
    if isinstance(cell, list | tuple):
        return tuple([item if isinstance(item, str) else _frozen(item) for item in cell])
    if isinstance(cell, dict):
        return next(iter(parse_list([cell])), "")
    return cell


@lru_cache(maxsize=16384)
def _path(cell: Any) -> tuple[str, ...]:
    if isinstance(cell, str):
        if cell[:1] == "[" and isinstance(literal := parse_literal(cell), list):
            return _path(_frozen(literal))
        text = clean_text(cell.replace("&gt;", ">"))
        if ">" in text and "," in text:  # WooCommerce: several paths in one cell
            text = max(text.split(","), key=lambda path: path.count(">"))
        if text.startswith("/") or re.fullmatch(r"[a-z0-9-]+(?:/[a-z0-9-]+)+", text):
            return _tidy_path(text.split("/"))
        return _tidy_path(_STEP.split(text))
    if isinstance(cell, tuple):
        parts = [part for part in cell if part]
        if any(isinstance(part, tuple) for part in parts):
            return max((_path(part) for part in parts), key=len, default=())
        if any(">" in str(part) for part in parts):
            return max((_path(str(part)) for part in parts), key=len, default=())
        return _tidy_path(str(part) for part in parts)
    return _tidy_path([str(cell)])


def _tidy_path(parts: Iterable[str]) -> tuple[str, ...]:
    names = [text for part in parts if (text := clean_text(part).strip(" /,-")) and not is_null(text)]
    while len(names) > 1 and names[0].casefold() in _roots():
        names.pop(0)
    return without_repeats(name for name in names if not name.isdigit())[:10]


def without_repeats(names: Iterable[str]) -> tuple[str, ...]:
    return tuple({name.casefold(): name for name in reversed(list(names))}.values())[::-1]


def from_slug(name: str) -> str:
    words = re.sub(r"[-_]+", " ", name).strip()
    return words[:1].upper() + words[1:]


def categories_around(context: Mapping[str, str]) -> tuple[str, ...]:
    """The category that a JSON document states beside its list of products."""
    for key in (
        "categoryPath",
        "category_path",
        "categoryId",
        "category_id",
        "category",
        "categoryName",
    ):
        text = context.get(key)
        if text and not text.isdigit():
            return tuple(from_slug(part) for part in category_path(text))
    return ()
