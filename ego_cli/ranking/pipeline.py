"""The whole of ranking: a request and a catalogue in, an explained list out.

allowed (hard rules) -> legs -> fusion -> score terms -> order -> spread near-duplicates -> reasons
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.index import index_of
from ego_cli.catalog.kinds import WEAK
from ego_cli.errors import MisuseError
from ego_cli.ranking import laps
from ego_cli.ranking.duplicates import spread_out
from ego_cli.ranking.fusion import DEFAULT_PLAN, Plan
from ego_cli.ranking.profiles import PROFILES
from ego_cli.ranking.reasons import reasons
from ego_cli.ranking.request import Request
from ego_cli.ranking.rerank import LOOKED_AT, Judge, judged
from ego_cli.ranking.retrieve import DEPTH, Candidates, Leg, allowed, retrieve, said, with_leg
from ego_cli.ranking.scene import Scene
from ego_cli.ranking.score import order, score
from ego_cli.ranking.scored import Ranked, Scored

if TYPE_CHECKING:
    from ego_cli.catalog.collaborative import Neighbours
    from ego_cli.catalog.dense import DenseIndex
    from ego_cli.catalog.product import Product
    from ego_cli.catalog.signals import ShopSignals
    from ego_cli.catalog.store import Catalogue


FACETS = (
    "brand",
    "leaf",
    "colour",
    "material",
    "size",
    "gender",
)  # counted for the question policy, besides details
FACET_ROWS = 100  # best candidates over which facets are counted
LISTED = 20  # products that are handed on at least: a list can be continued without ranking again


def rank(
    catalogue: Catalogue,
    request: Request,
    *,
    profile: str = "default",
    signals: ShopSignals | None = None,
    dense: Callable[[], DenseIndex | None] | None = None,
    popularity: bool = True,
    judge: Judge | None = None,
    plan: Plan = DEFAULT_PLAN,
) -> Ranked:
    """The best products for ``request``, best first, at least ``request.limit`` where that many qualify.

    ``signals``: what shoppers of this shop did; ``dense`` gives the catalogue's vectors. They are asked only where words do not
    answer: on words that products use they add nothing but their cost. ``judge``: a cross-encoder for a second look at the
    best; a late one is left out. ``popularity``: whether review counts weigh. ``plan``: which legs, for ablations. Raises ``MisuseError`` for an unknown profile.
    """
    if profile not in PROFILES:
        raise MisuseError(f"no ranking profile {profile!r}", hint=f"there are {', '.join(PROFILES)}")
    began = laps.now()
    index = index_of(catalogue)
    near = _near(catalogue, request, index.neighbours)
    legs: dict[str, Leg] = {}
    if near:
        liked = np.array(list(near), dtype=np.int32)
        legs["collaborative"] = lambda mask: liked[mask[liked]]
    weights = PROFILES[profile] if popularity else replace(PROFILES[profile], popularity=0.0)
    found = retrieve(catalogue, index, request, popularity=weights.popularity, more_legs=legs, plan=plan)
    scene = Scene(catalogue, index, request, found.rows, weights, signals, None, near)
    text = said(request)
    if (
        dense is not None
        and text
        and plan.asks("dense")
        and scene.answered < plan.answered
        and (vectors := dense()) is not None
    ):
        found = with_leg(
            found, "dense", lambda mask: vectors.search(text, DEPTH, mask)[0].astype(np.int32), plan=plan
        )
        similarity = vectors.similarity(text, found.rows)
        scene = Scene(catalogue, index, request, found.rows, weights, signals, similarity, near)
    retrieved = laps.now()
    clock = laps.Laps(found.ms)
    total, terms = score(scene) if plan.scored else (found.fused, {"fused": found.fused})
    places = order(scene, total)
    clock.lap("score")
    if judge is not None and request.sort is None:
        total, terms = _second_look(scene, total, terms, places[:LOOKED_AT], judge)
        places = order(scene, total)
    places = spread_out(index, found.rows, places, request.limit)
    head = places[: max(request.limit, LISTED)].tolist()
    products = catalogue.products(found.rows[head].tolist())
    items = tuple(
        _scored(scene, place, product, float(total[place]), terms, found, reasoned=rank_ < request.limit)
        for rank_, (place, product) in enumerate(zip(head, products, strict=True))
    )
    rules = found.allowed
    counted = found.rows[places[:FACET_ROWS]]
    facets = _facets(index.facets.count(counted)) if len(counted) else {}
    clock.lap("explain")
    return Ranked(
        items=items,
        candidates=len(found.rows),
        matched=int(np.count_nonzero(rules.mask)),
        filtered=dict(rules.filtered),
        type_known=rules.match.known,
        cheapest=_cheapest(catalogue, rules.but_price),
        rating_stood_in=rules.rating_stood_in,
        facets=facets,
        parts_ms=clock.ms,
        timings_ms={"retrieve": (retrieved - began) * 1e3, "rank": (laps.now() - retrieved) * 1e3},
        notes=_notes(rules.match.missing),
    )


def _second_look(
    scene: Scene,
    total: NDArray[np.float64],
    terms: Mapping[str, NDArray[np.float64]],
    head: NDArray[np.int64],
    judge: Judge,
) -> tuple[NDArray[np.float64], Mapping[str, NDArray[np.float64]]]:
    """What the cross-encoder thinks of the best candidates, as one more term."""
    products = scene.catalogue.products(scene.rows[head].tolist())
    added = judged(said(scene.request), products, judge)
    if added is None:
        return total, terms
    column = np.zeros(len(total))
    column[head] = added - added.min()  # what was not read must not pass what was
    return total + column, {**terms, "cross_encoder": column}


def _near(catalogue: Catalogue, request: Request, neighbours: Neighbours | None) -> dict[int, float]:
    """Rows near to what she pointed at or liked before, nearest first -> how near."""
    if neighbours is None:
        return {}
    liked = {key: sentiment for key, sentiment in request.personal.tried.items() if sentiment > 0}
    liked |= dict.fromkeys(request.like, 1.0)
    seeds = {row: weight for key, weight in liked.items() if (row := catalogue.row_of(key)) is not None}
    rows, nearness = neighbours.near(seeds)
    return dict(zip(rows[:DEPTH].tolist(), nearness[:DEPTH].tolist(), strict=True))


def _scored(
    scene: Scene,
    place: int,
    product: Product,
    total: float,
    terms: Mapping[str, NDArray[np.float64]],
    found: Candidates,
    *,
    reasoned: bool,
) -> Scored:
    row = int(scene.rows[place])
    return Scored(
        product=product,
        total=total,
        terms={name: float(column[place]) for name, column in terms.items() if column[place]},
        legs={leg: ranks[row] for leg, ranks in found.ranks.items() if row in ranks},
        reasons=reasons(scene, place, product) if reasoned else (),
        met=tuple(_VERDICT[int(verdict)] for verdict in scene.facts[place]),
    )


_VERDICT: Mapping[int, bool | None] = {1: True, -1: False, 0: None}


def _facets(counts: Mapping[str, Mapping[str, int]]) -> Mapping[str, Mapping[str, int]]:
    return {name: values for name, values in counts.items() if name in FACETS or name.startswith("details.")}


def _cheapest(catalogue: Catalogue, mask: NDArray[np.bool_]) -> float | None:
    price = catalogue.columns["price"]
    prices = price[mask & np.isfinite(price) & ~catalogue.columns["price_ambiguous"]]
    return float(prices.min()) if len(prices) else None


def _notes(missing: tuple[str, ...]) -> tuple[str, ...]:
    return (f"nothing here says {' '.join(missing)}",) if missing else ()


def count(catalogue: Catalogue, request: Request) -> int:
    """How many products keep every hard rule of ``request``: for proposals of what to relax."""
    return int(np.count_nonzero(allowed(catalogue, index_of(catalogue), request).mask))


def carries(catalogue: Catalogue, text: str) -> bool:
    """Whether the shop has goods of the type that ``text`` names."""
    match = index_of(catalogue).types.match(text)
    return bool(match.known and (match.score >= WEAK).any())
