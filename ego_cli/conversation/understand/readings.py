"""Which reading of an ambiguous name is meant: Orange the brand or the colour, cream the lotion or the shade, a rubber sole."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.items import Item
from ego_cli.conversation.understand.lexicon import Name, stems_of
from ego_cli.conversation.understand.scopes import Scoped


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run of items stands. ``alone``: no want is named or held yet; ``colours_before``: a colour came just before; ``short``: the message is
    a few words; ``self_told``: it says "I am …"."""

    run: Scoped
    context: Context
    alone: bool
    colours_before: bool
    short: bool = True
    self_told: bool = False


def reading(items: Sequence[Item], k: int, place: Place) -> Name | None:
    """The meaning of item ``k`` of a run; None when it is a plain word there."""
    item = items[k]
    if item.kind != "name":
        return None
    kinds = {name.kind: name for name in item.names}
    if place.context.asked in kinds:
        return kinds[place.context.asked]
    brand = _brand(items, k, kinds, place)
    if brand is not None:
        return brand
    if "idiom" in kinds:
        return kinds["idiom"]
    if "gender" in kinds and not _of_whom(items, k, place):
        return kinds.get("person")
    if "gender" in kinds:
        person = kinds.get("person")
        return person if person is not None and place.run.lead == "for my" else kinds["gender"]
    if "colour" in kinds or "material" in kinds:
        return _quality(items, k, kinds, place)
    if "product" in kinds:
        if "part" in kinds and place.run.lead == "with":
            return None
        if "person" in kinds and place.run.lead in ("for my", "for"):
            return kinds["person"]
        return kinds["product"]
    return kinds.get("person")


def _brand(items: Sequence[Item], k: int, kinds: Mapping[str, Name], place: Place) -> Name | None:
    """An ordinary word is a brand only beside a product, behind "by" or "from", or where brands are spoken of."""
    brand = kinds.get("brand")
    if brand is None:
        return None
    run = place.run
    named = run.lead in ("by", "brand") or (run.lead == "from" and k == len(items) - 1)
    others = kinds.keys() - {"brand"}
    if not brand.weak or named or (run.mode == "avoid" and len(items) == 1 and not others):
        return brand
    if any(i.kind == "attribute" and i.value == "brand" for i in items):
        return brand
    if others & {"colour", "material", "product"}:
        return None
    return brand if _beside_product(items, k) else None


def _of_whom(items: Sequence[Item], k: int, place: Place) -> bool:
    """Whether "men", "girl", "guy" says for whom a thing is, and is not just somebody in a story."""
    run = place.run
    if run.lead in ("for", "for my", "with", "by") or place.context.categories or place.short:
        return True
    if any(i.amount is not None and i.amount.attribute == "age" for i in items):
        return True  # "a 6 year old girl"
    return any(_is_product(i) for i in items) or place.self_told


def _quality(items: Sequence[Item], k: int, kinds: Mapping[str, Name], place: Place) -> Name | None:
    """A colour or a material, unless the word is the product itself, a part, or an ordinary word."""
    run = place.run
    rest = list(itertools.takewhile(lambda i: i.kind != "filler", items[k + 1 :]))
    product_later = any(_is_product(i) for i in rest)
    colour, material = kinds.get("colour"), kinds.get("material")
    name = (
        material
        if material is not None and (colour is None or (colour.weak and not material.weak))
        else colour
    )
    assert name is not None
    if "product" in kinds and not product_later and not any(i.kind == "name" for i in items[:k]):
        product = kinds["product"]
        if run.mode == "avoid" and k and _held_noun(product, place.context):
            return product  # "no bleaching cream" where creams are looked for
        if run.lead in ("in", "with") or run.mode != "want":
            return name
        if name.kind == "colour" and not name.weak and not place.alone and not run.sought:
            return name  # "no, green": not a new search for greens
        if name.kind == "material":
            return product if product.known and not name.known else name
        return product if product.known or (name.weak and (run.sought or place.alone)) else name
    if "part" in kinds and not product_later and k and items[k - 1].kind in ("name", "word"):
        return None
    if name.weak and not _colour_meant(items, k, place, product_later):
        return None
    if rest and _is_part(rest[0]) and not any(_is_product(i) and not _is_part(i) for i in rest):
        return None  # "rubber sole": about the part
    return name


def _held_noun(product: Name, context: Context) -> bool:
    stems = stems_of(product.value)
    return bool(stems) and any(stems_of(category)[-1:] == stems[-1:] for category in context.categories)


def _colour_meant(items: Sequence[Item], k: int, place: Place, product_later: bool) -> bool:
    run = place.run
    if product_later or run.lead in ("in", "with") or any(_is_product(i) for i in items[:k]):
        return True
    if any(i.kind == "attribute" and i.value == "colour" for i in items[max(0, k - 1) : k + 2]):
        return True
    if len(items) == 1 and place.context.categories and run.mode == "want":
        return True  # "the bag should be gold", "gold"
    return len(items) == 1 and (run.mode != "want" or (run.joined in ("or", "and") and place.colours_before))


def _beside_product(items: Sequence[Item], k: int) -> bool:
    """Whether only names and content words stand between item ``k`` and a product noun of its run."""
    for step in (1, -1):
        index = k + step
        while 0 <= index < len(items) and items[index].kind in ("name", "word", "amount"):
            if _is_product(items[index]):
                return True
            index += step
    return False


def _is_product(item: Item) -> bool:
    return item.kind == "name" and any(name.kind == "product" for name in item.names)


def _is_part(item: Item) -> bool:
    if item.kind != "name":
        return False
    kinds = {name.kind for name in item.names}
    return "part" in kinds and not kinds & {"colour", "material", "product"}
