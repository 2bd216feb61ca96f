"""The whole of ranking: a request and a catalogue in, an explained list out.

allowed (hard rules) -> legs -> fusion -> score terms -> order -> spread near-duplicates -> reasons
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.index import index_of
from ego_cli.catalog.kinds import WEAK
from ego_cli.errors import MisuseError
from ego_cli.ranking.duplicates import spread_out
from ego_cli.ranking.reasons import reasons
from ego_cli.ranking.request import Request
from ego_cli.ranking.retrieve import Leg, allowed, retrieve
from ego_cli.ranking.score import PROFILES, Scene, order, score
from ego_cli.ranking.scored import Ranked, Scored

if TYPE_CHECKING:
    from ego_cli.catalog.dense import DenseIndex
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
FACET_ROWS = 150  # best candidates over which facets are counted
REASONED = 20  # products at the head of the list that get reasons; none is shown beyond


def rank(
    catalogue: Catalogue,
    request: Request,
    *,
    profile: str = "default",
    signals: ShopSignals | None = None,
    dense: DenseIndex | None = None,
    more_legs: Mapping[str, Leg] | None = None,
) -> Ranked:
    """The best products for ``request``, best first, at least ``request.limit`` where that many qualify.

    ``signals``: what shoppers of this shop did; ``dense``: vectors to consult; ``more_legs``: further ways to
    retrieve, by name. Raises ``MisuseError`` for an unknown profile.
    """
    if profile not in PROFILES:
        raise MisuseError(f"no ranking profile {profile!r}", hint=f"there are {', '.join(PROFILES)}")
    began = time.perf_counter()
    index = index_of(catalogue)
    found = retrieve(catalogue, index, request, more_legs=more_legs)
    retrieved = time.perf_counter()
    scene = Scene(catalogue, index, request, found.rows, PROFILES[profile], signals)
    total, terms = score(scene)
    places = order(scene, total)
    places = spread_out(index, found.rows, places, request.limit)
    head = places[: max(request.limit, REASONED)]
    products = catalogue.products(found.rows[head].tolist())
    items: list[Scored] = []
    for place, product in zip(head.tolist(), products, strict=True):
        row = int(found.rows[place])
        items.append(
            Scored(
                product=product,
                total=float(total[place]),
                terms={name: float(column[place]) for name, column in terms.items() if column[place]},
                legs={leg: ranks[row] for leg, ranks in found.ranks.items() if row in ranks},
                reasons=reasons(scene, place, product) if len(items) < request.limit else (),
                met=tuple(_VERDICT[int(v)] for v in scene.facts[place]),
            )
        )
    rules = found.allowed
    counted = found.rows[places[:FACET_ROWS]]
    done = time.perf_counter()
    return Ranked(
        items=tuple(items),
        candidates=len(found.rows),
        matched=int(np.count_nonzero(rules.mask)),
        filtered=dict(rules.filtered),
        type_known=rules.match.known,
        cheapest=_cheapest(catalogue, rules.but_price),
        rating_stood_in=rules.rating_stood_in,
        facets=_facets(index.facets.count(counted)) if len(counted) else {},
        timings_ms={"retrieve": (retrieved - began) * 1e3, "rank": (done - retrieved) * 1e3},
        notes=_notes(rules.match.missing),
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
