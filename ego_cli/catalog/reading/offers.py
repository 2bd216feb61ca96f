"""Identical products -> one product with several offers."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from ego_cli.catalog.product import Offer, Product
from ego_cli.catalog.reading.categories import without_repeats
from ego_cli.catalog.reading.names import normal_name
from ego_cli.settings import load_toml

MOST_REVIEWS = 50  # reviews kept with one product
WINDOW = 20_000  # products that collapse keeps whole, waiting for their equals

_PUNCTUATION = re.compile(r"[\W_]+")


@cache
def _volatile() -> frozenset[str]:
    return frozenset(normal_name(name) for name in load_toml("columns.toml")["volatile"]["details"])


def _plain(text: str) -> str:
    return _PUNCTUATION.sub(" ", text.casefold()).strip()


def identity(product: Product) -> int:
    """A 64-bit mark of what a thing is, whoever sells it: title, brand and everything that tells variants apart
    (colour, material, size, gender, words, ingredients, details that do not change from offer to offer)."""
    details = [
        f"{key}={value}" for key, value in product.details.items() if normal_name(key) not in _volatile()
    ]
    what = "\x1f".join(
        (
            _plain(product.title),
            _plain(product.brand or ""),
            "\x1e".join(product.colours),
            "\x1e".join(product.materials),
            "\x1e".join(product.sizes),
            product.gender or "",
            "\x1e".join(product.features),
            "\x1e".join(details),
            product.description,
            product.ingredients or "",
        )
    )
    return int.from_bytes(
        hashlib.blake2b(what.casefold().encode("utf-8", "replace"), digest_size=8).digest(), "big"
    )


def merge(first: Product, again: Product) -> Product:
    """One product out of two listings of it: all offers, the lowest price, the rating that more people gave."""
    offers: dict[tuple[str | None, str | None, float | None], Offer] = {}
    for offer in (*first.offers, *again.offers):
        offers[
            offer.seller, offer.url, offer.price if offer.seller is None and offer.url is None else None
        ] = offer
    sure = [p for p in (first, again) if p.price is not None and "price_ambiguous" not in p.flags]
    priced = sure or [p for p in (first, again) if p.price is not None]
    if priced and all(p.currency == priced[0].currency for p in priced):
        cheapest = min(priced, key=lambda p: p.price or 0.0)
    else:
        cheapest = priced[0] if priced else first
    better = (
        again if (again.rating_count, again.rating or 0) > (first.rating_count, first.rating or 0) else first
    )
    if better.rating is None:
        better = first if first.rating is not None else again
    top = (
        max((p.price_max or p.price or 0.0 for p in priced), default=0.0)
        if first.id == again.id
        else cheapest.price_max
    )
    return replace(
        first,
        brand=first.brand or again.brand,
        categories=first.categories or again.categories,
        price=cheapest.price,
        price_max=top if top and cheapest.price is not None and top > cheapest.price else None,
        currency=cheapest.currency or first.currency,
        flags=cheapest.flags,
        rating=better.rating,
        rating_count=better.rating_count,
        features=first.features or again.features,
        description=first.description or again.description,
        details={**again.details, **first.details},
        colours=without_repeats((*first.colours, *again.colours)),
        materials=without_repeats((*first.materials, *again.materials)),
        sizes=without_repeats((*first.sizes, *again.sizes)),
        gender=first.gender or again.gender,
        ingredients=first.ingredients or again.ingredients,
        offers=tuple(offers.values()),
        reviews=tuple(dict.fromkeys((*first.reviews, *again.reviews)))[:MOST_REVIEWS],
        url=first.url or again.url,
        store=first.store or again.store,
    )


class Collapse:
    """Products with identical ones made one. Iterating yields each product once, and again under the same id, complete,
    when a further listing of it turned up: a reader that keeps the last product of each id has them all.

    Memory is a mark and an id for each product and ``WINDOW`` whole products; ``earlier`` (id -> product, from a store that
    has taken the yielded ones) lets older ones grow too. ``merged`` counts the rows that went into another.
    """

    def __init__(
        self, sources: Sequence[Iterable[Product]], earlier: Callable[[str], Product | None] | None = None
    ) -> None:
        self._sources = sources
        self._earlier = earlier
        self._places: dict[int, str] = {}
        self._recent: OrderedDict[str, Product] = OrderedDict()
        self.merged = 0

    def __iter__(self) -> Iterator[Product]:
        for source in self._sources:
            apart = getattr(source, "worldwide_ids", False)
            for product in source:
                yield self._with_equals(product, apart)

    def _with_equals(self, product: Product, apart: bool) -> Product:
        known = product.id
        if not apart and known not in self._recent:
            known = self._places.setdefault(identity(product), known)
        first = self._recent.get(known)
        if first is None and known != product.id and self._earlier is not None:
            first = self._earlier(known)
        if first is not None:
            self.merged += 1
            if known != product.id or _plain(first.title) == _plain(product.title):
                product = merge(first, product)
            # else: the same id with another title: the later row replaces the earlier
        self._recent[product.id] = product
        self._recent.move_to_end(product.id)
        if len(self._recent) > WINDOW:
            self._recent.popitem(last=False)
        return product


def collapse(*sources: Iterable[Product], earlier: Callable[[str], Product | None] | None = None) -> Collapse:
    """Make identical products of one or several sources one, with several offers; see ``Collapse``."""
    return Collapse(sources, earlier)


def collapsed(products: Iterable[Product]) -> list[Product]:
    """``collapse`` for what fits in memory: each product once, complete, in the order of first sight."""
    return list({product.id: product for product in collapse(products)}.values())
