"""From a whole catalogue to some hundred candidates: hard rules as masks, then legs, then their fusion.

A hard rule is a promise: what it takes out can never come back, whatever a leg, a model or a memory says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.evidence import tokens_of
from ego_cli.catalog.index import RankingIndex
from ego_cli.catalog.kinds import WEAK, TypeMatch
from ego_cli.catalog.text import query_terms
from ego_cli.ranking.facts import NO, amounts, holds
from ego_cli.ranking.fusion import DEFAULT_PLAN, Plan, fuse
from ego_cli.ranking.laps import Laps
from ego_cli.ranking.polarity import carrying
from ego_cli.ranking.request import Exclusion, Request, Requirement
from ego_cli.ranking.wishes import text_of

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue

Mask = NDArray[np.bool_]
Rows = NDArray[np.int32]
Leg = Callable[[Mask], Rows]

DEPTH = 250  # rows taken of each leg
KIND = 4.0  # nats that being surely of the type, and of the category, are worth against ln(1 + reviews)
TELLING = 40  # rarest words of a product by which its like are sought
SAME_SHELF = 4.0  # nats that the same category path counts for in likeness
CANDIDATES = 400  # rows that are scored
PRIOR = "prior"  # the leg that is asked where no other finds anything
# "Best rated" sorts by what a rating is at least: the shrunk rating less UNSURE / sqrt(votes + VOTES_OF_DOUBT) stars.
UNSURE = 0.8
VOTES_OF_DOUBT = 10.0
POPULARITY_EXPONENT = 0.46  # log-reviews at half strength: at full strength the long tail is never found


@dataclass(frozen=True, slots=True)
class Allowed:
    """Rows that keep every promise. ``but_price``: rows that keep all but the price bounds. ``filtered``: rule -> rows that it
    took out of the named type."""

    mask: Mask
    but_price: Mask
    filtered: Mapping[str, int]
    match: TypeMatch
    rating_stood_in: bool = False


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows to score, best fused first. ``ranks``: leg -> row -> 1-based rank; ``legs``: leg -> its rows, best first; ``ms``:
    what rules, each leg and fusion took."""

    rows: Rows
    fused: NDArray[np.float64]
    ranks: Mapping[str, Mapping[int, int]]
    allowed: Allowed
    legs: Mapping[str, Rows]
    ms: Mapping[str, float]


def allowed(catalogue: Catalogue, index: RankingIndex, request: Request) -> Allowed:
    """Apply the hard rules: type, exclusions, rejected products, stated facts, price."""
    size = index.evidence.rows
    match = (
        index.types.match(request.category)
        if request.category
        else TypeMatch(np.ones(size, dtype=np.float32), True)
    )
    mask = of_type(match) if request.strict else np.ones(size, dtype=bool)
    filtered: dict[str, int] = {}

    def keep(rule: str, kept: Mask) -> None:
        nonlocal mask
        taken = int(np.count_nonzero(mask & ~kept))
        if taken:
            filtered[rule] = filtered.get(rule, 0) + taken
            mask = mask & kept

    for product_id in request.hidden:
        row = catalogue.row_of(product_id)
        if row is not None and mask[row]:
            mask = mask.copy()
            mask[row] = False
            filtered["rejected"] = filtered.get("rejected", 0) + 1
    for exclusion in request.exclusions:
        keep(
            f"exclusion: {exclusion.value}",
            ~carrying(index, exclusion) | _asked_for(index, request, exclusion),
        )
    for wanted in request.requirements:
        if wanted.hard and request.strict:
            keep(f"{wanted.attribute}: {text_of(wanted)}", holds(catalogue, index, wanted) != NO)
    but_price = mask
    keep("price", price_fits(catalogue, request))
    stood_in = False
    if request.price_band:
        band, stood_in = price_band(catalogue, index, mask, request.price_band)
        keep("price", band)
    return Allowed(mask, but_price, filtered, match, stood_in)


def _asked_for(index: RankingIndex, request: Request, exclusion: Exclusion) -> Mask:
    """Rows that state what she asked for by a longer name than the one she excludes: "no leather", but faux leather."""
    rows = np.zeros(index.evidence.rows, dtype=bool)
    avoided = set(tokens_of(exclusion.value))
    for wanted in request.requirements:
        for value in wanted.values:
            asked = tokens_of(value)
            if avoided < set(asked):
                rows[index.evidence.stating(asked)] = True
    return rows


def of_type(match: TypeMatch) -> Mask:
    """Rows surely of the named type; where nothing is sure, rows that may be; where nothing is near, all."""
    best = float(match.score.max(initial=0.0))
    if best >= WEAK:
        return np.asarray(match.score >= WEAK)
    if best > 0:
        return np.asarray(match.score > 0)
    return np.ones(len(match.score), dtype=bool)


def price_fits(catalogue: Catalogue, request: Request) -> Mask:
    """Rows inside the price bounds. A product without a price, or with a doubtful one, never passes a bound."""
    price = catalogue.columns["price"]
    fits = np.ones(len(price), dtype=bool)
    if request.price_min is None and request.price_max is None:
        return fits
    if request.price_max is not None:
        fits &= price <= request.price_max  # NaN compares false
    if request.price_min is not None:
        fits &= price >= request.price_min
    return np.asarray(fits & ~catalogue.columns["price_ambiguous"])


def price_band(catalogue: Catalogue, index: RankingIndex, mask: Mask, band: str) -> tuple[Mask, bool]:
    """The Ego seed's refinement: the half of the active rows at or below (or above) their median price; "middle" is the
    middle half. Without any price, ratings stand in; the second value says so."""
    price = catalogue.columns["price"]
    active = price[mask & np.isfinite(price)]
    values, stood_in = (
        (price, False) if len(active) else (index.features.shrunk_rating.astype(np.float64), True)
    )
    active = values[mask & np.isfinite(values)]
    if not len(active):
        return np.ones(len(price), dtype=bool), stood_in
    middle = float(np.median(active))
    if band == "lower_half":
        return np.asarray(values <= middle), stood_in
    if band == "upper_half":
        above = np.asarray(values > middle)
        return (above if (above & mask).any() else np.asarray(values >= middle)), stood_in
    low, high = np.quantile(active, (0.25, 0.75))
    return np.asarray((values >= low) & (values <= high)), stood_in


# --- legs ------------------------------------------------------------------------------------------------------------


def said(request: Request) -> str:
    """All that was asked for, as one text."""
    parts = [
        request.category,
        request.words,
        *(text_of(wanted) for wanted in request.requirements if _searchable(wanted)),
    ]
    return " ".join(part for part in parts if part)


def _searchable(wanted: Requirement) -> bool:
    return wanted.attribute not in ("rating", "rating_count", "reviews", "popularity")


def lexical_leg(catalogue: Catalogue, request: Request, mask: Mask, depth: int = DEPTH) -> Rows:
    """Field-weighted BM25 of all that was said."""
    terms = query_terms(said(request))
    if not terms:
        return np.empty(0, dtype=np.int32)
    rows, _ = catalogue.lexical.search(catalogue.lexical.expand(terms), k=depth, mask=mask)
    return rows


def kind_leg(
    index: RankingIndex,
    request: Request,
    match: TypeMatch,
    mask: Mask,
    popularity: float,
    depth: int = DEPTH,
) -> Rows:
    """What is of the type, best known first: for wishes that say little more than the type."""
    if not request.category:
        return np.empty(0, dtype=np.int32)
    rows = np.flatnonzero(mask).astype(np.int32)
    category = index.types.category_score(request.category)
    score = KIND * (match.score[rows] + category[index.types.path_of_row[rows]])
    score += popularity * index.features.log_reviews[rows]
    return _best(rows, score, depth)


def prior_leg(index: RankingIndex, mask: Mask, popularity: float, depth: int = DEPTH) -> Rows:
    """What is best known and liked: for an empty wish."""
    rows = np.flatnonzero(mask).astype(np.int32)
    score = popularity * index.features.log_reviews[rows] + index.features.shrunk_rating[rows]
    return _best(rows, score, depth)


def like_leg(
    catalogue: Catalogue, index: RankingIndex, request: Request, mask: Mask, depth: int = DEPTH
) -> Rows:
    """Rows that say what the products she pointed at say, rare words counting more."""
    score = np.zeros(index.evidence.rows, dtype=np.float32)
    for product_id in request.like:
        row = catalogue.row_of(product_id)
        if row is not None:
            tokens = index.evidence.tokens_of_row(row)
            for token in tokens[np.argsort(-index.evidence.idf[tokens], kind="stable")][:TELLING]:
                score[index.evidence.posting(int(token))] += index.evidence.idf[token]
            score[index.types.path_of_row == index.types.path_of_row[row]] += SAME_SHELF
    rows = np.flatnonzero(mask & (score > 0)).astype(np.int32)
    return _best(rows, score[rows], depth)


def sort_leg(
    catalogue: Catalogue, index: RankingIndex, request: Request, mask: Mask, depth: int = DEPTH
) -> Rows:
    """The rows at the head of the order that was asked for ("cheapest"); rows without the value are left out."""
    if request.sort is None:
        return np.empty(0, dtype=np.int32)
    key = sort_key(catalogue, index, request.sort)
    rows = np.flatnonzero(mask & np.isfinite(key)).astype(np.int32)
    return _best(rows, -key[rows], depth)


def sort_key(catalogue: Catalogue, index: RankingIndex, sort: tuple[str, int]) -> NDArray[np.float64]:
    """Per row, what ascending order sorts by; infinite where the value is missing or doubtful."""
    attribute, direction = sort
    if attribute == "price":
        price = catalogue.columns["price"].astype(np.float64)
        values = np.where(catalogue.columns["price_ambiguous"], np.nan, price)
    elif attribute == "rating":
        rated = np.isfinite(catalogue.columns["rating"])
        votes = catalogue.columns["rating_count"].astype(np.float64)
        sure = index.features.shrunk_rating + direction * UNSURE / np.sqrt(votes + VOTES_OF_DOUBT)
        values = np.where(rated, sure, np.nan)
    elif attribute in ("popularity", "reviews", "rating_count"):
        values = catalogue.columns["rating_count"].astype(np.float64)
    else:
        values = amounts_of(index, attribute, direction)
    return np.where(np.isfinite(values), values * direction, np.inf)


def amounts_of(index: RankingIndex, attribute: str, direction: int) -> NDArray[np.float64]:
    """Per row, the largest (or, ascending, the smallest) stored amount of an attribute such as "battery"; NaN = not stated."""
    out = np.full(index.evidence.rows, np.nan)
    rows, values = amounts(index, attribute)
    if direction < 0:
        np.fmax.at(out, rows, values)
    else:
        np.fmin.at(out, rows, values)
    return out


def _best(rows: Rows, score: NDArray[np.floating], depth: int) -> Rows:
    """The ``depth`` best of ``rows``, best first, ties by row."""
    if depth < len(rows):
        top = np.argpartition(-score, depth - 1)[:depth]
        rows, score = rows[top], score[top]
    return rows[np.lexsort((rows, -score))]


def retrieve(
    catalogue: Catalogue,
    index: RankingIndex,
    request: Request,
    *,
    popularity: float = POPULARITY_EXPONENT,
    more_legs: Mapping[str, Leg] | None = None,
    size: int = CANDIDATES,
    plan: Plan = DEFAULT_PLAN,
) -> Candidates:
    """Masks, legs and fusion. ``popularity`` is what ln(1 + reviews) weighs where little was said; ``more_legs``
    (collaborative) are given the mask of what may be shown."""
    clock = Laps()
    rules = allowed(catalogue, index, request)
    clock.lap("rules")
    mask = rules.mask
    ways: dict[str, Leg] = {
        "lexical": lambda mask: lexical_leg(catalogue, request, mask),
        "kind": lambda mask: kind_leg(index, request, rules.match, mask, popularity),
        "like": lambda mask: like_leg(catalogue, index, request, mask),
        "sort": lambda mask: sort_leg(catalogue, index, request, mask),
        **(more_legs or {}),
    }
    legs: dict[str, Rows] = {}
    for name, leg in ways.items():
        if plan.asks(name):
            legs[name] = leg(mask)
            clock.lap(name)
    if not any(len(rows) for rows in legs.values()) and plan.scored:
        legs[PRIOR] = prior_leg(index, mask, popularity)
        clock.lap(PRIOR)
    rows, fused = fuse(legs, weights=plan.weights, k=plan.k)
    ranks = {name: _ranks(found) for name, found in legs.items() if len(found)}
    clock.lap("fuse")
    return Candidates(rows[:size], fused[:size], ranks, rules, legs, clock.ms)


def with_leg(
    found: Candidates, name: str, leg: Leg, *, size: int = CANDIDATES, plan: Plan = DEFAULT_PLAN
) -> Candidates:
    """The candidates with one more leg, which is given the same mask."""
    clock = Laps(found.ms)
    rows = leg(found.allowed.mask)
    clock.lap(name)
    if not len(rows):
        return replace(found, ms=clock.ms)
    legs = {other: kept for other, kept in found.legs.items() if other != PRIOR} | {name: rows}
    ranks = {other: kept for other, kept in found.ranks.items() if other != PRIOR} | {name: _ranks(rows)}
    rows, fused = fuse(legs, weights=plan.weights, k=plan.k)
    clock.lap("fuse")
    return Candidates(rows[:size], fused[:size], ranks, found.allowed, legs, clock.ms)


def _ranks(rows: Rows) -> dict[int, int]:
    return {row: rank for rank, row in enumerate(rows.tolist(), 1)}
