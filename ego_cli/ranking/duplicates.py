"""Near-duplicates: the same thing listed twice is shown once, and its colours and sizes do not fill the list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.index import RankingIndex

MOST_OF_ONE = 2  # siblings (titles equal but for colours and amounts) before the others are moved back
LOOKED_AT = 4  # pages from the top in which repeats are looked for


def spread_out(
    index: RankingIndex, rows: NDArray[np.int32], places: NDArray[np.int64], limit: int
) -> NDArray[np.int64]:
    """``places`` (of ``rows``, best first) without repeats of products that say the same in every word; of siblings, those
    after the first ``MOST_OF_ONE`` go behind the rest of the first page."""
    look = LOOKED_AT * max(limit, 10)
    head = places[:look]
    kept: list[int] = []
    back: list[int] = []
    seen: set[int] = set()
    family: dict[int, int] = {}
    for place, whole, sibling in zip(
        head.tolist(), index.fingerprint[rows[head]].tolist(), index.family[rows[head]].tolist(), strict=True
    ):
        if whole in seen:
            continue
        seen.add(whole)
        family[sibling] = family.get(sibling, 0) + 1
        (back if family[sibling] > MOST_OF_ONE else kept).append(place)
    if len(kept) == len(head):
        return places
    first, rest = kept[:limit], set(kept[limit:] + back)
    return np.array(
        first + [place for place in head.tolist() if place in rest] + places[look:].tolist(), dtype=np.int64
    )
