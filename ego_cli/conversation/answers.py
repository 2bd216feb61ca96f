"""Questions about shown products, answered from their stored fields, with the field named; what is not there is "not stated".

"Which has the longest battery?", "how much e be?", "is the second one waterproof?". Attribute knowledge stands in
``data/attributes.toml``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ego_cli.catalog.money import format_money
from ego_cli.catalog.product import Product
from ego_cli.catalog.text import in_base, measures, unit_named
from ego_cli.conversation.words import stems
from ego_cli.settings import load_toml


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that a product states: 20000 ``mah`` in ``field`` ("details.Capacity"), as ``text``."""

    name: str
    number: float
    unit: str
    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """What a product states about something asked, and in which field."""

    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Words that answer a question, and the products that it is about (the winner of a "which has more …")."""

    text: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Attribute:
    name: str
    label: str
    say: frozenset[str]  # stems
    keys: tuple[frozenset[str], ...]  # stems of each key
    units: frozenset[str]  # canonical base units


@cache
def _attributes() -> tuple[_Attribute, ...]:
    return tuple(_attribute(row) for row in load_toml("attributes.toml")["attribute"])


def _attribute(row: Mapping[str, Any]) -> _Attribute:
    known = [unit for spelling in row.get("units", ()) if (unit := unit_named(spelling))]
    return _Attribute(
        name=row["name"],
        label=row["label"],
        say=frozenset(stem for word in row["say"] for stem in stems(word)),
        keys=tuple(frozenset(stems(key)) for key in row.get("keys", ())),
        units=frozenset(unit.base or unit.name for unit in known),
    )


def _attributes_of(words: str) -> list[_Attribute]:
    """The attributes that the words of a question mean, the best match first."""
    asked = set(stems(words))
    scored = [(len(asked & attribute.say), attribute) for attribute in _attributes()]
    exact = [attribute for _, attribute in scored if attribute.name in (words, *asked)]
    others = [a for score, a in sorted(scored, key=lambda pair: -pair[0]) if score and a not in exact]
    return [*exact, *others]


def label_of(words: str) -> str:
    """How an answer names what was asked."""
    found = _attributes_of(words)
    return found[0].label if found else words


def _stated(product: Product) -> Iterator[tuple[str, str, str]]:
    """Every stated field as (field name, key, text), the most exact first."""
    for key, value in product.details.items():
        yield f"details.{key}", key, value
    yield "title", "", product.title
    for index, feature in enumerate(product.features):
        yield f"features[{index}]", "", feature
    if product.description:
        yield "description", "", product.description


def measure(product: Product, words: str) -> Measure | None:
    """The number that a product states for what the words mean, in the unit's base, or None."""
    for attribute in _attributes_of(words):
        ranked: list[tuple[int, Measure]] = []
        for field, key, text in _stated(product):
            key_stems = frozenset(stems(key))
            exact = any(known <= key_stems for known in attribute.keys)
            if key_stems and not exact:
                continue
            for found in measures(text):
                number, unit = in_base(found.value, found.unit)
                if unit in attribute.units:
                    words_there = text[found.start : found.end].strip()
                    ranked.append(
                        (0 if exact else 1, Measure(attribute.name, number, unit, field, words_there))
                    )
        if ranked:
            return min(ranked, key=lambda pair: pair[0])[1]
    return None


def fact(product: Product, words: str, currency: str | None) -> Fact | None:
    """What the product's fields say about what was asked, or None when they say nothing."""
    for attribute in _attributes_of(words):
        if found := _own_field(product, attribute.name, currency):
            return found
        for field, key, text in _stated(product):
            key_stems = frozenset(stems(key))
            if key_stems and any(known <= key_stems for known in attribute.keys):
                return Fact(field, text)
        if found_measure := measure(product, attribute.name):
            return Fact(found_measure.field, found_measure.text)
    asked = set(stems(words))
    if not asked:
        return None
    for field, key, text in _stated(product):
        if asked <= set(stems(f"{key} {text}")):
            return Fact(field, f"{key}: {text}" if key else text)
    return None


def _own_field(product: Product, name: str, currency: str | None) -> Fact | None:
    match name:
        case "price" if product.price is not None:
            return Fact("price", format_money(product.price, product.currency or currency))
        case "price":
            return Fact("price", "price not listed")
        case "rating" if product.rating is not None:
            return Fact("rating", f"{product.rating:.1f} from {product.rating_count:,} people")
        case "reviews" if product.rating_count:
            return Fact("rating_count", f"{product.rating_count:,} reviews")
        case "colour" if product.colours:
            return Fact("colours", ", ".join(product.colours))
        case "size" if product.sizes:
            return Fact("sizes", ", ".join(product.sizes))
        case "material" if product.materials:
            return Fact("materials", ", ".join(product.materials))
        case "brand" if product.brand:
            return Fact("brand", product.brand)
        case "ingredients" if product.ingredients:
            return Fact("ingredients", product.ingredients)
    return None


def answer_superlative(products: Sequence[Product], words: str, sign: int, currency: str | None) -> Answer:
    """ "Which has the longest battery?": the product whose stated number is largest (sign +1) or smallest (−1)."""
    label = label_of(words)
    if label == "price":
        priced = [(product.price, product) for product in products if product.price is not None]
        return _winner(
            [(n, p, format_money(n, p.currency or currency), "price") for n, p in priced],
            products,
            label,
            sign,
        )
    if label in ("rating", "reviews"):
        rows = [
            (p.rating if label == "rating" else float(p.rating_count), p, f.text, f.field)
            for p in products
            if (f := _own_field(p, label, currency))
        ]
        return _winner([(n, p, t, f) for n, p, t, f in rows if n is not None], products, label, sign)
    measured = [
        (m.number, product, m.text, m.field) for product in products if (m := measure(product, words))
    ]
    if not measured:
        # Without numbers a stated word may still tell the items apart ("which one is waterproof?").
        return answer_fact(products, words, currency)
    return _winner(measured, products, label, sign)


def _winner(
    rows: Sequence[tuple[float, Product, str, str]], products: Sequence[Product], label: str, sign: int
) -> Answer:
    if not rows:
        return Answer(f"The {label} is not stated for {_those(products)}.", tuple(p.id for p in products))
    number, product, text, field = max(rows, key=lambda row: sign * row[0])
    tied = [row[1] for row in rows if row[0] == number]
    silent = len(products) - len(rows)
    rest = f" ({silent} of them do not state it.)" if silent else ""
    if len(tied) > 1:
        names = " and ".join(item.title for item in tied)
        return Answer(
            f"{names} are equal there: {label} {text} ({field}).{rest}", tuple(item.id for item in tied)
        )
    return Answer(f"{product.title}: {label} {text} ({field}).{rest}", (product.id,))


def answer_fact(products: Sequence[Product], words: str, currency: str | None) -> Answer:
    """ "Is it waterproof?", "how much is it?": what each product states, or that it is not stated."""
    label = label_of(words)
    found = [(product, stated) for product in products if (stated := fact(product, words, currency))]
    if not found:
        return Answer(
            f"{label[:1].upper()}{label[1:]} is not stated for {_those(products)}.",
            tuple(p.id for p in products),
        )
    lines = [f"{product.title}: {stated.text} ({stated.field})." for product, stated in found]
    missing = [product.title for product in products if all(product is not known for known, _ in found)]
    if missing:
        lines.append(f"Not stated for {', '.join(missing)}.")
    return Answer("\n".join(lines), tuple(product.id for product, _ in found))


def _those(products: Sequence[Product]) -> str:
    return products[0].title if len(products) == 1 else "any of these"
