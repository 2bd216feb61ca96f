"""Typed requirements held against stored facts: has it (1), is known not to (-1), does not say (0)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.evidence import NOT, Field, tokens_of
from ego_cli.catalog.facets import SINGLE, is_material
from ego_cli.catalog.index import RankingIndex
from ego_cli.catalog.kinds import same_words
from ego_cli.catalog.text import in_base, stem, unit_named
from ego_cli.ranking.request import Requirement
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue

Verdicts = NDArray[np.int8]
YES, NO, UNKNOWN = 1, -1, 0

NEARLY = 0.02  # two amounts are the same within this share: 6.5 and 6.53 inch
ABOUT = 0.12  # "about 20000 mAh"

_STATED_BY: dict[str, tuple[Field, ...]] = {
    "brand": (Field.BRAND, Field.TITLE),
    "colour": (Field.COLOUR, Field.TITLE),
    "material": (Field.MATERIAL, Field.TITLE, Field.CATEGORY, Field.FEATURE, Field.DETAIL, Field.DESCRIPTION),
    "gender": (Field.GENDER, Field.TITLE, Field.CATEGORY),
}
_SIZE_LABEL = re.compile(r"^(?:size|eu|us|uk|eur|int|w)\.?\s*[:#]?\s*(?=\w)|\s*(?:eu|us|uk)$", re.I)
_ANY_SIZE = frozenset({"one size", "free size", "onesize", "os", "adjustable"})


_kept: WeakKeyDictionary[RankingIndex, dict[tuple[object, ...], Verdicts]] = WeakKeyDictionary()
_KEPT = 64  # verdicts a catalogue: a requirement holds for many turns


def holds(catalogue: Catalogue, index: RankingIndex, wanted: Requirement) -> Verdicts:
    """Per row of the catalogue, whether it meets ``wanted``."""
    kept = _kept.setdefault(index, {})
    key = (wanted.attribute, wanted.operator, wanted.values, wanted.number, wanted.unit)
    found = kept.get(key)
    if found is None:
        if len(kept) >= _KEPT:
            kept.pop(next(iter(kept)), None)
        found = kept[key] = _holds(catalogue, index, wanted)
    return found


def _holds(catalogue: Catalogue, index: RankingIndex, wanted: Requirement) -> Verdicts:
    if wanted.attribute == "rating":
        return _bound(catalogue.columns["rating"].astype(np.float64), wanted)
    if wanted.attribute in ("reviews", "rating_count", "popularity"):
        return _bound(catalogue.columns["rating_count"].astype(np.float64), wanted)
    if wanted.number is not None and wanted.unit and unit_named(wanted.unit):
        return _amounts(index, wanted)
    if wanted.attribute == "size":
        return _sizes(index, wanted)
    verdicts = [_value(index, wanted.attribute, value) for value in wanted.values]
    if not verdicts:
        return np.zeros(index.evidence.rows, dtype=np.int8)
    combined = np.minimum if wanted.operator == "all_of" else np.maximum
    return np.asarray(combined.reduce(verdicts))


def _bound(values: NDArray[np.float64], wanted: Requirement) -> Verdicts:
    number = wanted.number if wanted.number is not None else 0.0
    fits = values <= number if wanted.operator == "max" else values >= number
    return np.where(np.isnan(values), UNKNOWN, np.where(fits, YES, NO)).astype(np.int8)


def _value(index: RankingIndex, attribute: str, value: str) -> Verdicts:
    """One value in words. Free words ("feature") are only known to be missed here: that a product says them is read from
    its statements, and for candidates only."""
    out = np.zeros(index.evidence.rows, dtype=np.int8)
    tokens = tokens_of(value)
    if attribute == "feature":
        if tokens and all(token.startswith(NOT) for token in tokens):  # "fragrance-free"
            for token in tokens:
                out[index.evidence.postings(token.removeprefix(NOT))] = NO
        return out
    facet = attribute if attribute in index.facets.attributes else f"details.{attribute.lower()}"
    fields = _STATED_BY.get(attribute)
    stated = facet in index.facets.attributes
    if stated:
        out[_states(index, facet)] = NO
    if attribute == "colour":  # "Metal: yellow gold": not known to be yellow, nor known not to be
        fields_of_both = _STATED_BY["material"] if is_material(value) else (Field.DETAIL, Field.MATERIAL)
        out[index.evidence.stating(tokens, fields_of_both)] = UNKNOWN
    for phrase in _same(tokens):
        out[index.evidence.stating(phrase, fields)] = YES
    if stated:
        out[index.facets.rows(facet, value)] = YES
    if attribute == "gender":
        out[index.facets.rows("gender", "unisex")] = YES
    return out


def _same(tokens: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    yield tokens
    yield from same_words(tokens)


_stated: WeakKeyDictionary[RankingIndex, dict[str, NDArray[np.bool_]]] = WeakKeyDictionary()


def _states(index: RankingIndex, facet: str) -> NDArray[np.bool_]:
    """Which rows state any value of a facet; found once a catalogue."""
    kept = _stated.setdefault(index, {})
    if facet not in kept:
        mask = np.zeros(index.evidence.rows, dtype=bool)
        if facet in SINGLE:
            mask |= index.facets.codes(facet) >= 0
        else:
            for value in index.facets.values(facet):
                mask[index.facets.rows(facet, value)] = True
        kept[facet] = mask
    return kept[facet]


# --- sizes -----------------------------------------------------------------------------------------------------------


@cache
def _plain_size(text: str) -> str:
    """ "EU 42" -> "42", "9.50" -> "9.5", "Medium" -> "m"."""
    bare = _SIZE_LABEL.sub("", text.strip().lower()).strip()
    words = {
        "small": "s",
        "medium": "m",
        "large": "l",
        "extra large": "xl",
        "x-large": "xl",
        "xx-large": "xxl",
        "2xl": "xxl",
        "extra small": "xs",
        "x-small": "xs",
    }
    bare = words.get(bare, bare)
    try:
        return f"{float(bare.replace('½', '.5')):g}"
    except ValueError:
        return bare


def _label(text: str) -> str:
    found = re.match(r"(eu|us|uk)\b", text.strip(), re.I)
    return found[1].lower() if found else ""


def _sizes(index: RankingIndex, wanted: Requirement) -> Verdicts:
    out = np.zeros(index.evidence.rows, dtype=np.int8)
    asked = [(_plain_size(v), _label(v)) for v in wanted.values]
    if not asked and wanted.number is not None:
        asked = [(f"{wanted.number:g}", (wanted.unit or "").lower())]
    sizes = index.facets.values("size")
    for value in sizes:
        out[index.facets.rows("size", value)] = NO
    for value in sizes:
        plain, label = _plain_size(value), _label(value)
        if plain in _ANY_SIZE:
            rows = index.facets.rows("size", value)
            out[rows] = np.maximum(out[rows], UNKNOWN)
        if any(
            plain == want and (not label or not want_label or label == want_label)
            for want, want_label in asked
        ):
            out[index.facets.rows("size", value)] = YES
    for want, _ in asked:  # a title may say "size 42"
        rows = index.evidence.stating(("size", want), (Field.TITLE, Field.FEATURE, Field.DETAIL))
        out[rows] = YES
    return out


# --- amounts ---------------------------------------------------------------------------------------------------------


@cache
def _names_of(attribute: str) -> tuple[str, ...]:
    """Words that may stand beside an amount of this attribute, by ``data/attributes.toml``: ram -> ram, memory."""
    for entry in load_toml("attributes.toml")["attribute"]:
        if attribute in (entry["name"], *entry.get("say", ()), *entry.get("keys", ())):
            return tuple(
                dict.fromkeys(stem(w) for w in (entry["name"], *entry["say"], *entry["keys"]) if " " not in w)
            )
    return (stem(attribute),)


_RAM_WORDS = ("ram", "memory")


def _units_of(attribute: str) -> tuple[str, ...]:
    """Base units in which an attribute is measured, by ``data/attributes.toml``."""
    for entry in load_toml("attributes.toml")["attribute"]:
        if attribute in (entry["name"], *entry.get("say", ()), *entry.get("keys", ())):
            units = [unit_named(u) for u in entry.get("units", ())]
            return tuple(dict.fromkeys(in_base(1.0, unit.name)[1] for unit in units if unit))
    return ()


def amounts(
    index: RankingIndex, attribute: str, unit: str | None = None
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Rows and amounts that state an attribute: those named for it ("8GB RAM"), and for rows that name none, all of its unit.

    ``unit``: the base unit; None = those that the attribute is measured in.
    """
    names = _names_of(attribute)
    for base in [unit] if unit else _units_of(attribute):
        rows, values = index.evidence.quantity(base)
        named = [index.evidence.quantity(base, name) for name in names]
        if base == "gb" and not set(names) & set(_RAM_WORDS):  # "8GB RAM" is no storage
            other = [index.evidence.quantity(base, word) for word in _RAM_WORDS]
            rows, values = _without(rows, values, other)
        found_rows = np.concatenate([np.empty(0, dtype=np.int32), *(r for r, _ in named)])
        found_values = np.concatenate([np.empty(0, dtype=np.float32), *(v for _, v in named)])
        rest = ~np.isin(rows, found_rows)
        rows, values = np.concatenate([found_rows, rows[rest]]), np.concatenate([found_values, values[rest]])
        if len(rows):
            return rows, values
    return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)


def _without(
    rows: NDArray[np.int32],
    values: NDArray[np.float32],
    others: list[tuple[NDArray[np.int32], NDArray[np.float32]]],
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    taken = {pair for r, v in others for pair in zip(r.tolist(), v.tolist(), strict=True)}
    if not taken:
        return rows, values
    keep = np.array(
        [pair not in taken for pair in zip(rows.tolist(), values.tolist(), strict=True)], dtype=bool
    )
    return rows[keep], values[keep]


def _amounts(index: RankingIndex, wanted: Requirement) -> Verdicts:
    """An amount with a unit against the stored amounts."""
    unit = unit_named(wanted.unit or "")
    out = np.zeros(index.evidence.rows, dtype=np.int8)
    if unit is not None and wanted.number is not None:
        number, base = in_base(wanted.number, unit.name)
        rows, values = amounts(index, wanted.attribute, base)
        _judge(out, rows, values, number, wanted.operator)
    return out


def _judge(
    out: Verdicts, rows: NDArray[np.int32], values: NDArray[np.float32], number: float, operator: str
) -> None:
    tolerance = ABOUT if operator == "about" else NEARLY
    low, high = number * (1 - tolerance), number * (1 + tolerance)
    if operator == "min":
        fits = values >= low
    elif operator == "max":
        fits = values <= high
    else:
        fits = (values >= low) & (values <= high)
    bad = rows[~fits]
    out[bad] = np.where(out[bad] == UNKNOWN, NO, out[bad])
    out[rows[fits]] = YES
