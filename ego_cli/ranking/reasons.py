"""Why a product is shown: short tags, each taken from a stored field that proves it.

A tag is made only from what stands in the product; take the field away and the tag is gone. ``compound`` joins them as
the Podium seed does: "For oily skin · Hydration".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ego_cli.catalog.enrich import Signal, columns_of, signals_of
from ego_cli.catalog.evidence import Field, quantities, statements, tokens_of
from ego_cli.catalog.kinds import same_words
from ego_cli.catalog.money import format_money
from ego_cli.catalog.product import Product
from ego_cli.catalog.text import in_base, unit_named
from ego_cli.ranking.polarity import Polarity, standing
from ego_cli.ranking.score import COVERED, Scene, concerns_named
from ego_cli.ranking.scored import Reason
from ego_cli.ranking.wishes import text_of

if TYPE_CHECKING:
    from ego_cli.ranking.request import Requirement

JOINER = " · "
MOST = 5  # reasons of one product
WELL_RATED = 4.3  # stars, after shrinking, from which a rating is a reason
ENOUGH_VOTES = 10
PART = 0.5  # share of a wish that one statement must cover to be named as a partial answer


def compound(found: Sequence[Reason], most: int = 3) -> str:
    """The first tags in one line."""
    return JOINER.join(reason.tag for reason in found[:most])


def reasons(scene: Scene, place: int, product: Product) -> tuple[Reason, ...]:
    """The reasons of the candidate at ``place``, the most telling first, each tag once."""
    found: dict[str, Reason] = {}
    for reason in _all(scene, place, product):
        found.setdefault(reason.tag, reason)
    return tuple(found.values())[:MOST]


def _all(scene: Scene, place: int, product: Product) -> Iterator[Reason]:
    request = scene.request
    signals: tuple[Signal, ...] = signals_of(product) if _needs_signals(scene) else ()
    yield from _skin(scene, signals)
    yield from _concerns(scene, signals)
    for column, wanted in enumerate(request.requirements):
        if scene.facts[place, column] == 1:
            yield from _met(wanted, product)
    for exclusion in request.exclusions:
        told = (
            standing(product, exclusion.value)
            if exclusion.attribute not in ("brand", "colour", "size")
            else None
        )
        if told is not None and told.polarity is Polarity.FREE:
            yield Reason(f"Free of {exclusion.value}", told.field, told.words)
    if request.words and scene.coverage.best[place, -1] >= COVERED:
        yield from _said(request.words, product)
    if product.price is not None and request.price_max is not None and product.price <= request.price_max:
        limit = format_money(request.price_max, product.currency or scene.catalogue.currency)
        yield Reason(f"Under your {limit} budget", "price", f"{product.price:g}")
    if product.brand and request.personal.brand_affinity.get(product.brand.lower(), 0.0) > 0:
        yield Reason("Matches your taste", "brand", product.brand)
    usual = request.personal.price_range
    if (
        usual
        and product.price is not None
        and request.price_max is None
        and usual[0] <= product.price <= usual[1]
    ):
        yield Reason("In your usual price range", "price", f"{product.price:g}")
    yield from _local(scene, place, signals)
    for name in request.personal.tags:
        signal = _of(signals, "tag", name.lower())
        if signal:
            yield Reason(name.capitalize(), signal.field, signal.value)
    shrunk = float(scene.index.features.shrunk_rating[scene.rows[place]])
    if product.rating is not None and product.rating_count >= ENOUGH_VOTES and shrunk >= WELL_RATED:
        yield Reason(
            f"{product.rating:g} from {product.rating_count:,} people", "rating", f"{product.rating:g}"
        )


def _needs_signals(scene: Scene) -> bool:
    personal = scene.request.personal
    return (
        bool(personal.attributes or personal.concerns or personal.goals or personal.tags)
        or scene.catalogue.currency == "NGN"
    )


def _of(signals: Sequence[Signal], type_: str, name: str) -> Signal | None:
    return next((signal for signal in signals if signal.type == type_ and signal.name == name), None)


def _skin(scene: Scene, signals: Sequence[Signal]) -> Iterator[Reason]:
    nouns = {"skin_type": "skin", "hair_type": "hair"}
    for attribute, value in scene.request.personal.attributes.items():
        for word in value.lower().replace(",", " ").split():
            signal = _of(signals, attribute, word)
            if signal and attribute in nouns:
                yield Reason(f"For {word} {nouns[attribute]}", signal.field, signal.value)


def _concerns(scene: Scene, signals: Sequence[Signal]) -> Iterator[Reason]:
    personal = scene.request.personal
    for name in concerns_named((*personal.concerns, *personal.goals)):
        signal = _of(signals, "concern", name)
        if signal:
            yield Reason(name.capitalize(), signal.field, signal.value)


def _met(wanted: Requirement, product: Product) -> Iterator[Reason]:
    """The stored field that meets a requirement."""
    text = text_of(wanted)
    if wanted.attribute == "rating" and product.rating is not None:
        yield Reason(f"{product.rating:g} stars", "rating", f"{product.rating:g}")
        return
    if wanted.attribute in ("reviews", "rating_count", "popularity"):
        yield Reason(f"{product.rating_count:,} reviews", "rating_count", f"{product.rating_count}")
        return
    if wanted.number is not None and wanted.unit:
        yield from _amount(wanted, product)
        return
    if wanted.attribute == "size":
        if product.sizes:
            yield Reason(f"Size {text}", "sizes", ", ".join(product.sizes))
        return
    for value in wanted.values or (text,):
        yield from _said(value, product)


def _as_tag(text: str) -> str:
    return text[:1].upper() + text[1:]


def _said(text: str, product: Product) -> Iterator[Reason]:
    """The statement that covers the most of ``text``, if it covers half."""
    wanted = tokens_of(text)
    if not wanted:
        return
    alternatives = [wanted, *same_words(wanted)]
    best: tuple[float, str, str] = (0.0, "", "")
    for field, name, value in statements(product):
        if field is Field.INGREDIENTS:
            continue
        there = set(tokens_of(value))
        share = max(len(there.intersection(words)) / len(words) for words in alternatives)
        if share > best[0]:
            best = (share, name, value)
    if best[0] >= PART:
        yield Reason(_as_tag(text), best[1], best[2])


def _amount(wanted: Requirement, product: Product) -> Iterator[Reason]:
    """The stored amount that meets a requirement with a number: "20,000 mAh" from the title."""
    unit = unit_named(wanted.unit or "")
    if unit is None or wanted.number is None:
        return
    number, base = in_base(wanted.number, unit.name)
    for _, name, text in statements(product):
        for found, value, _ in quantities(text):
            fits = (
                value >= number * 0.98
                if wanted.operator == "min"
                else value <= number * 1.02
                if wanted.operator == "max"
                else abs(value - number) <= number * 0.12
            )
            if found == base and fits:
                yield Reason(f"{value / unit.factor if unit.base else value:,.6g} {unit.name}", name, text)
                return


_LOCAL_TAGS = {
    ("power", "keeps going"): "Keeps going through outages",
    ("data", "saves data"): "Saves data",
    ("delivery", "fast delivery"): "Quick delivery",
}


def _local(scene: Scene, place: int, signals: Sequence[Signal]) -> Iterator[Reason]:
    if scene.catalogue.currency != "NGN":
        return
    for (type_, name), tag in _LOCAL_TAGS.items():
        if name in columns_of(type_) and scene.domain_weight(type_)[place] >= LOCAL_FROM:
            signal = _of(signals, type_, name)
            if signal:
                yield Reason(tag, signal.field, signal.value)


LOCAL_FROM = 0.8  # weight of a local signal in the domain from which it is a reason
