"""Avoidances, with three answers: a product contains the thing, is free of it, or does not say.

Someone who avoids fragrance is glad of "fragrance-free", must not see "rose fragrance", and is told nothing where a
product has no ingredient list: silence is never sold as absence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.avoidances import FOOD_DOMAINS, Avoidance, Listed, avoidance_named, listed_states
from ego_cli.catalog.evidence import NOT, Field, statements, tokens_of
from ego_cli.catalog.index import RankingIndex
from ego_cli.catalog.kinds import WEAK
from ego_cli.catalog.product import Product
from ego_cli.catalog.taxonomy import classify, taxonomy
from ego_cli.ranking.request import Exclusion

Mask = NDArray[np.bool_]


class Polarity(StrEnum):
    """What a product has to do with something avoided."""

    CONTAINS = "contains"
    FREE = "free"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Standing:
    """One product against one avoidance, with the stored field and words that say so ("" for unknown)."""

    polarity: Polarity
    field: str = ""
    words: str = ""


# Where an exclusion of an attribute looks. A bag that "goes with black shoes" is not black.
_FIELDS_OF: dict[str, tuple[Field, ...]] = {
    "brand": (Field.TITLE, Field.BRAND),
    "colour": (Field.TITLE, Field.COLOUR),
    "size": (Field.SIZE,),
    "gender": (Field.TITLE, Field.GENDER, Field.CATEGORY),
}
# Attributes of an exclusion for which a product can be said to be free of it.
POLAR = frozenset({None, "feature", "ingredient", "ingredients", "material"})
_TYPES = frozenset(
    {None, "category", "type", "feature"}
)  # exclusions that may name a kind of goods ("no boots")

_cache: WeakKeyDictionary[RankingIndex, dict[tuple[str, str | None], Mask]] = WeakKeyDictionary()
_CACHED = 128  # masks kept a catalogue
FREE_KEY = "\0free"  # where the mask of rows free of a value is kept, beside that of rows carrying it


def carrying(index: RankingIndex, exclusion: Exclusion) -> Mask:
    """Rows that carry what is excluded. Masks are kept: a promise holds for a whole conversation."""
    kept = _cache.setdefault(index, {})
    key = (exclusion.value.lower(), exclusion.attribute)
    found = kept.get(key)
    if found is None:
        if len(kept) >= _CACHED:
            kept.pop(next(iter(kept)), None)
        found = kept[key] = _carrying(index, *key)
    return found


def _carrying(index: RankingIndex, value: str, attribute: str | None) -> Mask:
    mask = np.zeros(index.evidence.rows, dtype=bool)
    fields = _FIELDS_OF.get(attribute or "")
    if fields is not None:
        mask[index.facets.rows(attribute or "", value)] = True  # a colour's family counts too: navy is blue
        mask[index.evidence.stating(tokens_of(value), fields)] = True
        return mask
    avoidance = avoidance_named(value)
    for phrase in _phrases(value, avoidance):
        mask[index.evidence.stating(phrase)] = True
    if avoidance is not None:
        mask |= index.listed[:, avoidance.number] == Listed.PRESENT
        if avoidance.food_words:
            food = np.isin(index.types.tag_of_row, _food_tags())
            for phrase in avoidance.food_words:
                rows = index.evidence.stating(phrase)
                mask[rows[food[rows]]] = True
    else:
        mask[_listing_all(index, tokens_of(value))] = True
    if attribute in _TYPES:
        match = index.types.match(value)
        if match.known and not match.missing:
            mask |= match.score >= WEAK
    return mask


def _phrases(value: str, avoidance: Avoidance | None) -> Iterable[tuple[str, ...]]:
    yield tokens_of(value)
    if avoidance is not None:
        yield from avoidance.words


def _food_tags() -> list[int]:
    return [n for n, tag in enumerate(taxonomy().tags) if tag.domain in FOOD_DOMAINS]


def _listing_all(index: RankingIndex, tokens: Sequence[str]) -> NDArray[np.int32]:
    """Rows whose ingredient list holds every one of ``tokens``."""
    rows = index.evidence.listing(tokens[0]) if tokens else np.empty(0, dtype=np.int32)
    for token in tokens[1:]:
        rows = np.intersect1d(rows, index.evidence.listing(token), assume_unique=True)
    return rows


def free_of(index: RankingIndex, value: str) -> Mask:
    """Rows that are known to be free of ``value`` and do not carry it: by a claim, or by an ingredient list without it."""
    kept = _cache.setdefault(index, {})
    key = (value.lower(), FREE_KEY)
    found = kept.get(key)
    if found is None:
        if len(kept) >= _CACHED:
            kept.pop(next(iter(kept)), None)
        found = kept[key] = _free_of(index, value)
    return found


def _free_of(index: RankingIndex, value: str) -> Mask:
    avoidance = avoidance_named(value)
    mask = np.zeros(index.evidence.rows, dtype=bool)
    denials = avoidance.denials if avoidance else (tuple(NOT + token for token in tokens_of(value)),)
    for phrase in denials:
        mask[index.evidence.stating(phrase)] = True
    if avoidance is not None and avoidance.ingredients:
        mask |= index.listed[:, avoidance.number] == Listed.ABSENT
    return np.asarray(mask & ~carrying(index, Exclusion(value)))


def standing(product: Product, value: str) -> Standing:
    """One product against ``value``, read from its text: for reasons, product pages and tests."""
    avoidance = avoidance_named(value)
    wanted = list(_phrases(value, avoidance))
    if avoidance is not None and classify(product).domain in FOOD_DOMAINS:
        wanted += avoidance.food_words
    denials = avoidance.denials if avoidance else (tuple(NOT + token for token in tokens_of(value)),)
    free: Standing | None = None
    for field, name, text in statements(product):
        if field is Field.INGREDIENTS:
            continue
        tokens = set(tokens_of(text))
        if any(tokens.issuperset(phrase) for phrase in wanted):
            return Standing(Polarity.CONTAINS, name, text)
        if free is None and any(tokens.issuperset(phrase) for phrase in denials):
            free = Standing(Polarity.FREE, name, text)
    if product.ingredients:
        listed = listed_states(product)[avoidance.number] if avoidance else _listed_plainly(product, value)
        if listed is Listed.PRESENT:
            return Standing(Polarity.CONTAINS, "ingredients", product.ingredients)
        if listed is Listed.ABSENT and free is None:
            free = Standing(Polarity.FREE, "ingredients", "not in its ingredient list")
    return free or Standing(Polarity.UNKNOWN)


def _listed_plainly(product: Product, value: str) -> Listed:
    there = set(tokens_of(product.ingredients or ""))
    return Listed.PRESENT if there.issuperset(tokens_of(value)) else Listed.ABSENT
