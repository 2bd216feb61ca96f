"""Identical products -> one product with several offers."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from ego_cli.catalog.product import Offer, Product
from ego_cli.catalog.reading.categories import without_repeats
from ego_cli.catalog.reading.details import DETAIL_LIMIT
from ego_cli.catalog.reading.names import normal_name
from ego_cli.places import load_toml

AMBIGUOUS = "price_ambiguous"  # the flag of a price that can be read in two ways
MOST_REVIEWS = 50  # reviews kept with one product
WINDOW = 20_000  # products that collapse keeps whole, waiting for their equals

_PUNCTUATION = re.compile(r"[\W_]+")


@cache
def _volatile() -> frozenset[str]:
    return frozenset(normal_name(name) for name in load_toml("columns.toml")["volatile"]["details"])


@lru_cache(maxsize=8192)
def _is_volatile(key: str) -> bool:
    return normal_name(key) in _volatile()


def _plain(text: str) -> str:
    return _PUNCTUATION.sub(" ", text.casefold()).strip()


def identity(product: Product) -> int:
    """A 64-bit mark of what a thing is, whoever sells it: title, brand and everything that tells variants apart
    (colour, material, size, gender, words, ingredients, details that do not change from offer to offer)."""
    details = [f"{key}={value}" for key, value in product.details.items() if not _is_volatile(key)]
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
    """One product out of two listings of it: all offers, the lowest price, the rating that more people gave.

    A listing under the same seller and link replaces the earlier one; under the same id the two may be variants, so sizes,
    colours and the range of prices add up.
    """
    offers: dict[tuple[str | None, str | None, float | None], Offer] = {}
    for offer in (*first.offers, *again.offers):
        place = None if offer.seller or offer.url else offer.price
        offers[offer.seller, offer.url, place] = offer
    same_id = first.id == again.id
    low, high, source = _prices(first, again, tuple(offers.values()), same_id)
    rated = [p for p in (first, again) if p.rating is not None]
    better = max(rated, key=lambda p: p.rating_count, default=first)
    details = {**again.details, **first.details}
    if same_id:
        for key, value in again.details.items():
            told = first.details.get(key, value)
            if value not in told.split(", "):
                details[key] = f"{told}, {value}"[:DETAIL_LIMIT]
    return replace(
        first,
        brand=first.brand or again.brand,
        categories=first.categories or again.categories,
        price=low,
        price_max=high,
        currency=source.currency or first.currency,
        flags=source.flags,
        rating=better.rating,
        rating_count=better.rating_count,
        features=first.features or again.features,
        description=first.description or again.description,
        details=details,
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


def _prices(
    first: Product, again: Product, offers: tuple[Offer, ...], same_id: bool
) -> tuple[float | None, float | None, Product]:
    """(price, upper end, the product that they come from). An ambiguous price never beats a sure one, and amounts of
    different currencies are not compared: the first one's stands."""
    priced = [p for p in (first, again) if p.price is not None]
    sure = [p for p in priced if AMBIGUOUS not in p.flags] or priced
    if not sure:
        return None, None, first
    if len(sure) == 1 or sure[0].currency != sure[1].currency:
        return sure[0].price, sure[0].price_max, sure[0]
    cheapest = min(sure, key=lambda p: p.price or 0.0)
    amounts = [p.price for p in sure if p.price is not None]
    if again.offers:  # the offers that are left: one that was replaced no longer counts
        listed = [o.price for o in offers if o.price is not None and o.currency == cheapest.currency]
        amounts = listed or amounts
    low = min(amounts)
    if not same_id:
        return low, cheapest.price_max, cheapest
    high = max(*amounts, *(p.price_max or 0.0 for p in sure))
    return low, high if high > low else None, cheapest


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
        self._places: dict[int, str] = {}  # identity -> id under which it was seen first
        self._owners: dict[str, int] = {}  # id -> number of the source that gave it
        self._recent: OrderedDict[str, Product] = OrderedDict()
        self.merged = 0

    def __iter__(self) -> Iterator[Product]:
        for number, source in enumerate(self._sources):
            apart = getattr(source, "worldwide_ids", False)
            for product in source:
                if len(self._sources) > 1:
                    product = self._own_id(product, number)
                yield self._with_equals(product, apart)

    def _own_id(self, product: Product, number: int) -> Product:
        """Two shops may both have a product "1": the second one's gets the number of its source before its id."""
        if self._owners.setdefault(product.id, number) == number:
            return product
        known = self._recent.get(product.id)
        if known is not None and _plain(known.title) == _plain(product.title):
            return product
        return replace(product, id=f"{number + 1}-{product.id}")

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
