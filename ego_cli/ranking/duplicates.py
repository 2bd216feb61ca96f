"""Near-duplicates: the same thing from another seller is shown once, its colours and sizes do not fill the list."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.evidence import Field
from ego_cli.catalog.index import RankingIndex

SAME_TITLE_FIELDS = (Field.COLOUR, Field.SIZE)
MOST_OF_ONE = 2  # siblings (title equal but for colour, size or amount) before the others are moved back


def spread_out(
    index: RankingIndex, rows: NDArray[np.int32], places: NDArray[np.int64], limit: int
) -> NDArray[np.int64]:
    """``places`` (of ``rows``, best first) without repeats of identical products; of siblings more than ``MOST_OF_ONE``
    among the first go behind everything else that fits on a page."""
    kept: list[int] = []
    back: list[int] = []
    seen: set[bytes] = set()
    family: dict[bytes, int] = {}
    look = 4 * max(limit, 10)
    for place in places[:look].tolist():
        row = int(rows[place])
        whole, title = _fingerprint(index, row)
        if whole in seen:
            continue
        seen.add(whole)
        family[title] = family.get(title, 0) + 1
        (back if family[title] > MOST_OF_ONE else kept).append(place)
    if len(kept) < len(places[:look]):
        head = kept[:limit]
        return np.array(
            head + sorted(kept[limit:] + back, key=places.tolist().index) + places[look:].tolist(),
            dtype=np.int64,
        )
    return places


def _fingerprint(index: RankingIndex, row: int) -> tuple[bytes, bytes]:
    """All that a product says (its statements' stems), and its title without amounts and colours."""
    arrays = index.evidence.arrays
    first, last = arrays.unit_of_row[row : row + 2]
    start, end = arrays.token_of_unit[first], arrays.token_of_unit[last]
    title_end = arrays.token_of_unit[first + 1]
    tokens = arrays.token[start:end]
    title = tokens[: title_end - start]
    colours = tokens[_of_fields(index, int(first), int(last), SAME_TITLE_FIELDS)]
    plain = title[~np.isin(title, colours) & ~index.evidence.is_amount[title]]
    return tokens.tobytes(), np.sort(plain).tobytes()


def _of_fields(index: RankingIndex, first: int, last: int, fields: tuple[Field, ...]) -> NDArray[np.int64]:
    """Offsets, from the row's first token, of the tokens in units of ``fields``."""
    arrays = index.evidence.arrays
    base = arrays.token_of_unit[first]
    found = [
        np.arange(arrays.token_of_unit[u] - base, arrays.token_of_unit[u + 1] - base)
        for u in range(first, last)
        if arrays.field[u] in fields
    ]
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)
