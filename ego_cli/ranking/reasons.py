"""Why a product is shown: short tags, each taken from a stored field that proves it.

A tag is made only from what stands in the product; take the field away and the tag is gone. ``compound`` joins them as
the Podium seed does: "For oily skin · Hydration".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ego_cli.catalog.enrich import signal_of
from ego_cli.catalog.evidence import Field, quantities, statements
from ego_cli.catalog.money import format_money
from ego_cli.catalog.product import Product
from ego_cli.catalog.text import in_base, unit_named, written
from ego_cli.ranking.polarity import POLAR, Polarity, free_of, standing
from ego_cli.ranking.scene import COVERED, Scene
from ego_cli.ranking.score import concerns_named
from ego_cli.ranking.scored import Reason
from ego_cli.ranking.wishes import text_of

if TYPE_CHECKING:
    from ego_cli.ranking.request import Requirement

JOINER = " · "
MOST = 5  # reasons of one product
WELL_RATED = 4.3  # stars, after shrinking, from which a rating is a reason
ENOUGH_VOTES = 10
LONGEST_TAG = 60  # characters
LOCAL_FROM = 0.8  # weight of a local signal in the domain from which it is a reason


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
    yield from _suits(scene, place, product)
    yield from _wishes(scene, place, product)
    yield from _free(scene, place, product)
    yield from _money(scene, product)
    yield from _taste(scene, place, product)
    yield from _local(scene, place, product)
    yield from _well_rated(scene, place, product)


def _signal(scene: Scene, place: int, product: Product, type_: str, name: str, tag: str) -> Iterator[Reason]:
    """A tag for a signal, if the product has it."""
    if scene.signal(type_, name)[place]:
        found = signal_of(product, type_, name)
        if found:
            yield Reason(tag, found.field, found.value)


def _suits(scene: Scene, place: int, product: Product) -> Iterator[Reason]:
    """Skin and hair ("For oily skin"), then concerns and goals ("Hydration")."""
    personal = scene.request.personal
    for attribute, noun in (("skin_type", "skin"), ("hair_type", "hair")):
        for word in personal.attributes.get(attribute, "").lower().replace(",", " ").split():
            yield from _signal(scene, place, product, attribute, word, f"For {word} {noun}")
    for name in concerns_named((*personal.concerns, *personal.goals)):
        yield from _signal(scene, place, product, "concern", name, name.capitalize())


def _wishes(scene: Scene, place: int, product: Product) -> Iterator[Reason]:
    """What she asked for and where the product says it."""
    request = scene.request
    spoken = list(statements(product))
    best = [spoken[n] if n >= 0 else None for n in scene.coverage.statement[place].tolist()]
    for column, wanted in enumerate(request.requirements):
        if scene.facts[place, column] == 1:
            yield from _met(wanted, product, best[column])
    words = len(request.requirements)  # the wish after the requirements
    if request.words and scene.coverage.best[place, words] >= COVERED and (said := best[words]):
        yield Reason(_as_tag(request.words), said[1], said[2])


def _met(wanted: Requirement, product: Product, said: tuple[Field, str, str] | None) -> Iterator[Reason]:
    """The stored field that meets a requirement; ``said``: the statement that covers its words best."""
    text = text_of(wanted)
    if wanted.attribute == "rating" and product.rating is not None:
        yield Reason(f"{product.rating:g} stars", "rating", f"{product.rating:g}")
    elif wanted.attribute in ("reviews", "rating_count", "popularity"):
        yield Reason(f"{product.rating_count:,} reviews", "rating_count", f"{product.rating_count}")
    elif wanted.number is not None and wanted.unit:
        yield from _amount(wanted, product)
    elif wanted.attribute == "size" and product.sizes:
        yield Reason(f"Size {text}", "sizes", ", ".join(product.sizes))
    elif said is not None:
        yield Reason(_as_tag(text), said[1], said[2])


def _as_tag(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if len(text) <= LONGEST_TAG else text[: LONGEST_TAG - 1].rstrip() + "…"


def _free(scene: Scene, place: int, product: Product) -> Iterator[Reason]:
    """Free of something she avoids, as a claim or an ingredient list says; never from silence."""
    for exclusion in scene.request.exclusions:
        if exclusion.attribute in POLAR and free_of(scene.index, exclusion.value)[scene.rows[place]]:
            found = standing(product, exclusion.value)
            if found.polarity is Polarity.FREE:
                yield Reason(f"Free of {exclusion.value}", found.field, found.words)


def _money(scene: Scene, product: Product) -> Iterator[Reason]:
    """Her budget, or what she usually pays."""
    if product.price is None:
        return
    most, usual = scene.request.price_max, scene.request.personal.price_range
    if most is not None and product.price <= most:
        limit = format_money(most, product.currency or scene.catalogue.currency)
        yield Reason(f"Under your {limit} budget", "price", f"{product.price:g}")
    elif most is None and usual and usual[0] <= product.price <= usual[1]:
        yield Reason("In your usual price range", "price", f"{product.price:g}")


def _taste(scene: Scene, place: int, product: Product) -> Iterator[Reason]:
    """A brand she likes, and her profile's preference tags."""
    personal = scene.request.personal
    if product.brand and personal.brand_affinity.get(product.brand.lower(), 0.0) > 0:
        yield Reason("Matches your taste", "brand", product.brand)
    for name in personal.tags:
        yield from _signal(scene, place, product, "tag", name.lower(), name.capitalize())


_LOCAL_TAGS = (
    ("power", "keeps going", "Keeps going through outages"),
    ("data", "saves data", "Saves data"),
    ("delivery", "fast delivery", "Quick delivery"),
)


def _local(scene: Scene, place: int, product: Product) -> Iterator[Reason]:
    """Signals of life in Nigeria, where the domain gives them weight."""
    if scene.catalogue.currency != "NGN":
        return
    for type_, name, tag in _LOCAL_TAGS:
        if scene.domain_weight(type_)[place] >= LOCAL_FROM:
            yield from _signal(scene, place, product, type_, name, tag)


def _well_rated(scene: Scene, place: int, product: Product) -> Iterator[Reason]:
    """Many people liked it: the shrunk rating decides, the stored one is said."""
    shrunk = float(scene.index.features.shrunk_rating[scene.rows[place]])
    if product.rating is not None and product.rating_count >= ENOUGH_VOTES and shrunk >= WELL_RATED:
        tag = f"{product.rating:g} from {product.rating_count:,} people"
        yield Reason(tag, "rating", f"{product.rating:g}")


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
                yield Reason(
                    f"{value / unit.factor if unit.base else value:,.6g} {written(unit.name)}", name, text
                )
                return
