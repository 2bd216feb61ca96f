"""What products claim and whom they suit, as typed signals with the stored field each comes from.

Signals are words of ``data/claims.toml`` that stand in a statement of a product and are not denied there. At load every
signal becomes one column of a matrix (which products have it); for one product ``signals_of`` also tells where.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.evidence import Evidence, Field, quantities, statements, tokens_of
from ego_cli.catalog.product import Product
from ego_cli.catalog.text import measures
from ego_cli.settings import load_toml


@dataclass(frozen=True, slots=True)
class SignalKind:
    """One signal that a product can have: "claim vegan", "skin_type oily". Any of ``phrases`` shows it, and any amount in
    one of ``units`` (base units)."""

    type: str  # claim, texture, skin_type, hair_type, audience, occasion, concern, tag, power, data, delivery, bad
    name: str
    phrases: tuple[tuple[str, ...], ...]
    units: tuple[str, ...] = ()

    def in_text(self, text: str) -> bool:
        """Whether a statement shows it."""
        tokens = set(tokens_of(text))
        if any(tokens.issuperset(phrase) for phrase in self.phrases):
            return True
        return bool(self.units) and any(unit in self.units for unit, _, _ in quantities(text))


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal that one product has, the stored field that shows it, and the words there."""

    type: str
    name: str
    field: str
    value: str


# Which weight of a domain a signal type falls under, where it has not one of its own name.
WEIGHT_OF_TYPE = {
    "skin_type": "suitability",
    "hair_type": "suitability",
    "concern": "suitability",
    "occasion": "use",
    "tag": "style",
}
# What only a title, a category, a feature or a detail can show; a description's "for work or party" is talk.
_STRICT_TYPES = frozenset({"audience"})
_STRICT_FIELDS = (Field.TITLE, Field.CATEGORY, Field.GENDER, Field.FEATURE, Field.DETAIL)


@cache
def signal_kinds() -> tuple[SignalKind, ...]:
    """Every signal of ``data/claims.toml``, in the order of the file: the columns of the signal matrix."""
    file = load_toml("claims.toml")
    textures = set(file["texture"]["words"])
    found = [
        SignalKind("texture" if n in textures else "claim", n, _phrases(words))
        for n, words in file["claim"].items()
    ]
    for type_, names in file["suits"].items():
        found += [SignalKind(type_, name, _phrases(words)) for name, words in names.items()]
    found += [
        SignalKind("concern", name, _phrases(entry["words"])) for name, entry in file["concern"].items()
    ]
    found += [SignalKind("tag", name, _phrases(words)) for name, words in file["tag"].items()]
    naija = file["naija"]
    found.append(SignalKind("power", "keeps going", _phrases(naija["power"]), tuple(naija["power_units"])))
    found.append(SignalKind("data", "saves data", _phrases(naija["data"])))
    found.append(SignalKind("delivery", "fast delivery", _phrases(naija["delivery_fast"])))
    found += [SignalKind("bad", word, _phrases([word])) for word in file["bad"]["words"]]
    return tuple(found)


def _phrases(words: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(tokens for word in words if (tokens := tokens_of(word))))


@cache
def columns_of(type_: str) -> dict[str, int]:
    """Name -> column of all signals of a type."""
    return {kind.name: n for n, kind in enumerate(signal_kinds()) if kind.type == type_}


def signal_matrix(evidence: Evidence) -> NDArray[np.bool_]:
    """products x signals: which product has which signal."""
    matrix = np.zeros((evidence.rows, len(signal_kinds())), dtype=bool)
    for column, kind in enumerate(signal_kinds()):
        for phrase in kind.phrases:
            matrix[
                evidence.stating(phrase, _STRICT_FIELDS if kind.type in _STRICT_TYPES else None), column
            ] = True
        for unit in kind.units:
            matrix[evidence.quantity(unit)[0], column] = True
    return matrix


def signals_of(product: Product) -> tuple[Signal, ...]:
    """All signals of one product, each once, with the field that shows it: for the product page and for reasons."""
    found = (signal_of(product, kind.type, kind.name) for kind in signal_kinds())
    return tuple(signal for signal in found if signal) + tuple(_facts(product))


def _facts(product: Product) -> Iterator[Signal]:
    for n, material in enumerate(product.materials):
        yield Signal("material", material, f"materials[{n}]", material)
    if product.gender:
        yield Signal("audience", product.gender, "gender", product.gender)
    for _, name, text in statements(product):
        for measure in measures(text):
            yield Signal("unit", f"{measure.value:g} {measure.unit}", name, text)


def signal_of(product: Product, type_: str, name: str) -> Signal | None:
    """One signal of a product with the field that shows it; None if the product has it not."""
    column = columns_of(type_).get(name)
    if column is None:
        return None
    kind = signal_kinds()[column]
    for field, stored, text in statements(product):
        if field is Field.INGREDIENTS or (type_ in _STRICT_TYPES and field not in _STRICT_FIELDS):
            continue
        if kind.in_text(text):
            return Signal(type_, name, stored, text)
    return None
