"""The feature cache: what is known about each product apart from any question, computed once at load.

quality (0-1), brand tier (1-4), popularity (from interactions), price percentile within its kind (0-1), enrichment depth
(number of typed signals), and the rating shrunk towards what its kind gets.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.enrich import signal_kinds
from ego_cli.catalog.product import Product
from ego_cli.catalog.taxonomy import brand_tier, taxonomy

Floats = NDArray[np.float32]

PRIOR_VOTES = 20.0  # reviews that a kind's mean counts as, when a rating is shrunk towards it
USUAL_RATING = 4.0  # stars that shops get in the mean; speaks where few people rated anything
FEW = 10.0  # log-votes that it counts as
DEEP = 12.0  # signals at which enrichment says all it can about quality
SELLER_SCORE_KEYS = frozenset({"seller score", "sellers score", "seller rating"})
_NOT_STATED = float("nan")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
QUALITY = {"rating": 0.6, "evidence": 0.2, "depth": 0.2}  # shares of the quality score


@dataclass(frozen=True, slots=True)
class Features:
    """Columns of numbers, one a row of the catalogue."""

    quality: Floats  # 0..1
    brand_tier: NDArray[np.int8]  # 1 prestige .. 4 mass market
    price_percentile: Floats  # 0..1 within the kind; NaN = no price
    enrichment_depth: NDArray[np.int16]
    shrunk_rating: Floats  # stars
    seller_score: Floats  # percent of good orders; NaN = not stated
    log_reviews: Floats  # ln(1 + reviews)

    def of(self, row: int) -> Mapping[str, float]:
        """One product's features by name, for the product page."""
        return {name: float(getattr(self, name)[row]) for name in self.__slots__}


class FeatureReader:
    """Collects what features are computed from, row by row."""

    def __init__(self) -> None:
        self._price = array("d")
        self._rating = array("f")
        self._count = array("i")
        self._stated = array("h")
        self._seller = array("f")
        self._brands: list[str] = []

    def add(self, product: Product) -> None:
        """The next row."""
        self._price.append(_NOT_STATED if product.price is None else product.price)
        self._rating.append(_NOT_STATED if product.rating is None else product.rating)
        self._count.append(min(product.rating_count, 2**31 - 1))
        self._stated.append(len(product.details) + len(product.materials) + bool(product.ingredients))
        self._seller.append(_seller_score(product))
        self._brands.append(sys.intern((product.brand or "").lower()))

    def finish(
        self,
        tag_of_row: NDArray[np.int16],
        signals: NDArray[np.bool_],
        order: NDArray[np.int32] | None = None,
    ) -> Features:
        """All feature columns; with ``order`` of those rows only (numbers of ``add`` calls)."""
        rows = slice(None) if order is None else order
        count = np.array(self._count, dtype=np.int32)[rows]
        shrunk = shrunk_ratings(np.array(self._rating, dtype=np.float32)[rows], count, tag_of_row)
        percentile = price_percentiles(np.array(self._price, dtype=np.float64)[rows], tag_of_row)
        good = np.array([kind.type != "bad" for kind in signal_kinds()], dtype=bool)
        depth = signals[:, good].sum(axis=1, dtype=np.int16) + np.array(self._stated, dtype=np.int16)[rows]
        votes = np.log1p(count) / np.log1p(1000.0)
        quality = (
            QUALITY["rating"] * np.clip((shrunk - 3.0) / 2.0, 0, 1)
            + QUALITY["evidence"] * np.clip(votes, 0, 1)
            + QUALITY["depth"] * np.clip(depth / DEEP, 0, 1)
        )
        brands = self._brands if order is None else [self._brands[n] for n in order]
        return Features(
            quality=quality.astype(np.float32),
            brand_tier=brand_tiers(brands, tag_of_row, percentile),
            price_percentile=percentile,
            enrichment_depth=depth,
            shrunk_rating=shrunk,
            seller_score=np.array(self._seller, dtype=np.float32)[rows],
            log_reviews=np.log1p(count).astype(np.float32),
        )


def _seller_score(product: Product) -> float:
    for key, value in product.details.items():
        if key.lower().replace("_", " ").replace("'", "") in SELLER_SCORE_KEYS and (
            found := _NUMBER.search(value)
        ):
            return float(found[0])
    return _NOT_STATED


def shrunk_ratings(rating: Floats, count: NDArray[np.int32], group: NDArray[np.int16]) -> Floats:
    """(n·R + m·R̄) / (n + m): R̄ is the kind's mean (weighted by votes), m = ``PRIOR_VOTES``; nobody rated: R̄."""
    votes = np.where(np.isfinite(rating), np.maximum(count, 1), 0).astype(np.float64)
    stars = np.where(np.isfinite(rating), rating, 0.0)
    heard = np.log1p(votes)  # one product with 90,000 votes is not the whole kind
    overall = float(((stars * heard).sum() + USUAL_RATING * FEW) / (heard.sum() + FEW))
    groups = int(group.max(initial=0)) + 1
    weight = np.bincount(group, heard, groups)
    mean = (np.bincount(group, stars * heard, groups) + overall * 3.0) / (weight + 3.0)
    prior = mean[group]
    shrunk = (votes * stars + PRIOR_VOTES * prior) / (votes + PRIOR_VOTES)
    return np.asarray(shrunk, dtype=np.float32)


def price_percentiles(price: NDArray[np.float64], group: NDArray[np.int16]) -> Floats:
    """Where each price stands among those of its kind: 0 cheapest .. 1 dearest, ties in the middle; NaN = no price."""
    out = np.full(len(price), np.nan, dtype=np.float32)
    priced = np.flatnonzero(np.isfinite(price))
    order = priced[np.lexsort((price[priced], group[priced]))]
    for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        low = np.searchsorted(price[rows], price[rows], side="left")
        high = np.searchsorted(price[rows], price[rows], side="right")
        out[rows] = (low + high) / 2 / max(len(rows), 1)
    return out


def brand_tiers(brands: Sequence[str], tag_of_row: NDArray[np.int16], percentile: Floats) -> NDArray[np.int8]:
    """Each product's brand tier: as listed for its domain, else by where the brand's prices stand."""
    places: dict[tuple[str, str], list[float]] = {}
    keys = []
    tags = taxonomy().tags
    for name, tag, place in zip(brands, tag_of_row.tolist(), percentile.tolist(), strict=True):
        key = (tags[tag].domain, name)
        keys.append(key)
        if place == place:  # not NaN: it has a price
            places.setdefault(key, []).append(place)
    tier = {}
    for domain, brand in dict.fromkeys(keys):
        known = places.get((domain, brand))
        tier[domain, brand] = brand_tier(brand, domain, float(np.median(known)) if known and brand else None)
    return np.array([tier[key] for key in keys], dtype=np.int8)
