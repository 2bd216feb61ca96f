"""Bags of named statements about a product: into the field that a name means, or among its details."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from ego_cli.catalog.reading.cleaning import (
    REPEATED,
    clean_lines,
    clean_prose,
    clean_text,
    is_null,
    parse_list,
    parse_literal,
)
from ego_cli.catalog.reading.names import field_of_detail, gender_of, label_of, normal_name
from ego_cli.catalog.reading.prices import Money

DETAIL_LIMIT = 500  # characters of one detail's value
MOST_DETAILS = 80
_CHOICES = 40  # characters of one colour, material or size; a longer one is a sentence


class Variant(NamedTuple):
    """One member of a nested list of variants or offers."""

    money: Money
    seller: str | None
    url: str | None


@dataclass(slots=True)
class Draft:
    """The parts of a product that several columns may add to."""

    details: dict[str, str] = field(default_factory=dict)
    colours: list[str] = field(default_factory=list)
    materials: list[str] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    brand: str | None = None
    store: str | None = None
    gender: str | None = None
    ingredients: str | None = None
    variants: list[Variant] = field(default_factory=list)


_PERCENT = re.compile(r"\b\d{1,3}(?:[.,]\d+)?\s?%\s*")


def add_choices(draft: Draft, role: str, cell: Any) -> bool:
    """Add the colours, materials or sizes of a cell; False when it holds a sentence or shares (``95% cotton``) that are
    worth keeping as a detail as well."""
    if cell is None or cell == "":
        return True
    repeated = isinstance(cell, str) and len(cell) <= REPEATED
    found = _choices_read_before(role, cell) if repeated else _choices(role, cell)
    if found is None:
        return False
    into = {"colour": draft.colours, "material": draft.materials, "size": draft.sizes}[role]
    known = {item.casefold() for item in into}
    for plain in found.items:
        if plain.casefold() not in known:
            known.add(plain.casefold())
            into.append(plain)
    return not found.shares


class _Choices(NamedTuple):
    """The colours, materials or sizes of a cell; ``shares``: it said how much of each (``95% cotton``)."""

    items: tuple[str, ...]
    shares: bool


def _choices(role: str, cell: Any) -> _Choices | None:
    """None when the cell holds a sentence."""
    if is_null(cell):
        return _Choices((), False)
    if isinstance(cell, dict):
        cell = [key for key, there in cell.items() if there not in (False, None, 0)]
    commas = role == "size" and isinstance(cell, str) and "," in cell
    items = parse_list(cell, "," if commas else ",;|/")
    if any(len(item) > _CHOICES for item in items):
        return None
    if role != "material":
        return _Choices(tuple(filter(None, items)), False)
    plain = (_PERCENT.sub("", item).strip() for item in items)
    return _Choices(tuple(filter(None, plain)), any("%" in item for item in items))


_choices_read_before = lru_cache(maxsize=16_384)(_choices)


_VOCABULARY = re.compile(
    r"\s*https?://schema\.org/(?=\w+\s*$)"
)  # "https://schema.org/InStock" is a word, not a link


def add_detail(draft: Draft, key: str, cell: Any) -> None:
    """One named statement about the product, into the field that its name means or among the details."""
    if cell is None or cell == "" or len(draft.details) >= MOST_DETAILS:
        return
    meaning = field_of_detail(key)
    if meaning == "drop":
        return
    if isinstance(cell, dict):
        for inner, value in cell.items():
            add_detail(
                draft, f"{key} {inner}" if normal_name(str(inner)) in ("value", "unit") else str(inner), value
            )
        return
    if meaning in ("colour", "material", "size"):
        add_choices(draft, meaning, cell)
    repeated = isinstance(cell, str) and len(cell) <= REPEATED
    text = _text_read_before(cell) if repeated else _text_of(cell)
    if not text:
        return
    if meaning == "gender":
        draft.gender = draft.gender or gender_of(text)
    elif meaning == "brand":
        draft.brand = draft.brand or text
    elif meaning == "ingredients":
        draft.ingredients = draft.ingredients or text
        return
    elif meaning == "store":
        draft.store = draft.store or text
        return
    label = label_of(key)
    if label and text.casefold() != "default title":
        draft.details.setdefault(label, text)


def _text_of(cell: Any) -> str:
    """What a detail's cell says; "" for nothing and for links."""
    if is_null(cell):
        return ""
    if isinstance(cell, bool):
        text = "Yes" if cell else "No"
    elif isinstance(cell, str):
        text = clean_text(_VOCABULARY.sub("", cell))
    else:
        text = ", ".join(parse_list(cell)) if isinstance(cell, list | tuple) else str(cell)
    if len(text) > DETAIL_LIMIT:
        text = text[:DETAIL_LIMIT].rstrip()
    if (text is not cell and is_null(text)) or text.startswith(("http://", "https://")):
        return ""
    return text


_text_read_before = lru_cache(maxsize=65_536)(_text_of)


def add_bag(draft: Draft, cell: Any) -> None:
    """Details under many names: a mapping, a list of name-value objects, or ``Key: value`` lines."""
    if cell is None or is_null(cell):
        return
    if isinstance(cell, str):
        literal = parse_literal(cell) if cell[:1] in "[{" else None
        if literal is None:
            for line in re.split(r"[\n;|]", cell) if "<" not in cell else clean_lines(cell):
                if not add_statement(draft, line) and (text := clean_prose(line)):
                    draft.features.append(text)
            return
        cell = literal
    if isinstance(cell, dict):
        for key, value in cell.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                add_bag(draft, value)
            else:
                add_detail(draft, str(key), value)
        return
    for item in cell[:MOST_DETAILS] if isinstance(cell, list | tuple) else ():
        if isinstance(item, dict):
            name, value = _first_of(item, _NAME_KEYS), _first_of(item, _VALUE_KEYS)
            if isinstance(name, str) and value is not None:
                add_detail(draft, name, value)
        elif isinstance(item, str) and not add_statement(draft, item) and (text := clean_prose(item)):
            draft.features.append(text)


_NAME_KEYS = ("name", "key", "label", "attribute", "title")
_VALUE_KEYS = ("value", "values", "val", "text", "options")


def _first_of(item: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((item[key] for key in keys if item.get(key) not in (None, "")), None)


_STATEMENT = re.compile(r"\s*([^\W\d_][^:=\n]{0,50}?)\s*[:=]\s*(\S.*?)\s*", re.S)


def add_statement(draft: Draft, cell: Any) -> bool:
    """A cell or line ``Key: value``; False when it is none."""
    if not isinstance(cell, str) or not (found := _STATEMENT.fullmatch(cell)):
        return False
    add_detail(draft, found[1], found[2])
    return True
