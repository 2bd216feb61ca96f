"""What people who liked this liked too: item-item similarity from reviews and interactions.

It stands beside the catalogue because it is about goods, not about one shopper. Built with scipy's sparse matrices in one
product; served from plain arrays, so that a turn imports nothing.
"""

from __future__ import annotations

import importlib.util
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.signals import WEIGHTS, Interaction, SignalStore
from ego_cli.errors import MisuseError
from ego_cli.settings import demo_catalogue_file

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue

FILE = "neighbours.npz"  # in the folder of a catalogue's generation
DEMOS = ("naija", "boutique")  # catalogues that come with reviews
KEPT = 30  # neighbours of an item
SHRINKAGE = 3.0  # common likers that a similarity is shrunk by: one shared fan proves little
LIKED_FROM = 4.0  # stars
BUSY = 200.0  # items from which a liker of everything tells less about any of them


@dataclass(frozen=True, slots=True)
class Opinion:
    """One person's liking of one product: ``weight`` above 0, 1 for a five-star review or a purchase."""

    person: str
    product_id: str
    weight: float


def opinion_of_stars(person: str, product_id: str, stars: float) -> Opinion | None:
    """A review as an opinion; None below four stars, because what one did not like says nothing of what goes together."""
    return Opinion(person, product_id, (stars - 3.0) / 2.0) if stars >= LIKED_FROM else None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """For each catalogue row (CSR): rows that the same people liked, nearest first, and how near (0..1)."""

    start: NDArray[np.int64]
    row: NDArray[np.int32]
    similarity: NDArray[np.float32]

    def near(self, seeds: Mapping[int, float]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Rows near ``seeds`` (row -> weight), best first, seeds left out; ties by row."""
        score: dict[int, float] = {}
        for seed, weight in seeds.items():
            here = slice(int(self.start[seed]), int(self.start[seed + 1]))
            for row, similarity in zip(self.row[here].tolist(), self.similarity[here].tolist(), strict=True):
                if row not in seeds:
                    score[row] = score.get(row, 0.0) + weight * similarity
        rows = np.array(list(score), dtype=np.int32)
        scores = np.array(list(score.values()), dtype=np.float32)
        order = np.lexsort((rows, -scores))
        return rows[order], scores[order]


def build(opinions: Iterable[Opinion], ids: Sequence[str]) -> Neighbours:
    """Shrunk cosine similarity of the columns of the people x products matrix; ``ids`` are the products by row.

    sim(a, b) = cos(a, b) · n / (n + ``SHRINKAGE``), n = people who liked both. People who liked very many things count less.
    """
    try:
        from scipy import sparse
    except ImportError as error:
        raise MisuseError("similar tastes need scipy", hint="pip install scipy") from error
    row_of = {product_id: row for row, product_id in enumerate(ids)}
    people: dict[str, int] = {}
    entries: dict[tuple[int, int], float] = {}
    for opinion in opinions:
        row = row_of.get(opinion.product_id)
        if row is not None and opinion.weight > 0:
            key = (row, people.setdefault(opinion.person, len(people)))
            entries[key] = max(entries.get(key, 0.0), opinion.weight)
    if not entries:
        return Neighbours(
            np.zeros(len(ids) + 1, dtype=np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
        )
    places = np.array(list(entries), dtype=np.int32)
    weights = np.array(list(entries.values()), dtype=np.float32)
    busy = np.bincount(places[:, 1], minlength=len(people))
    weights /= np.sqrt(1.0 + busy[places[:, 1]] / BUSY)
    liked = sparse.csr_matrix((weights, (places[:, 0], places[:, 1])), shape=(len(ids), len(people)))
    length = np.sqrt(np.asarray(liked.multiply(liked).sum(axis=1)).ravel())
    dots = (liked @ liked.T).tocsr()
    seen = liked.astype(bool).astype(np.float32)
    common = (seen @ seen.T).tocsr()
    dots.sort_indices()
    common.sort_indices()  # the same pattern: a product of two is non-zero where both are
    owner = np.repeat(np.arange(len(ids)), np.diff(dots.indptr))
    similarity = dots.data / (length[owner] * length[dots.indices])
    similarity *= common.data / (common.data + SHRINKAGE)
    return _nearest(owner, dots.indices, similarity, len(ids))


def _nearest(
    owner: NDArray[np.int64], other: NDArray[np.int32], similarity: NDArray[np.float32], rows: int
) -> Neighbours:
    apart = owner != other
    owner, other, similarity = owner[apart], other[apart], similarity[apart]
    order = np.lexsort((other, -similarity, owner))
    owner, other, similarity = owner[order], other[order], similarity[order]
    first = np.searchsorted(owner, np.arange(rows))
    kept = np.arange(len(owner)) - first[owner] < KEPT
    owner, other, similarity = owner[kept], other[kept], similarity[kept]
    start = np.searchsorted(owner, np.arange(rows + 1)).astype(np.int64)
    return Neighbours(start, other.astype(np.int32), similarity.astype(np.float32))


def neighbours_of(catalogue: Catalogue) -> Neighbours | None:
    """The neighbours of this generation: as kept, else made now (0.4 s for a demo) from what is known; None = nothing is."""
    found = _load(catalogue)
    if found is None and importlib.util.find_spec("scipy") is not None:
        found = refresh(catalogue)
    return found


def refresh(catalogue: Catalogue) -> Neighbours | None:
    """Make the neighbours anew from a demo's reviews and from what shoppers did; None when nobody liked anything."""
    opinions = [*_demo_opinions(catalogue), *_interactions(catalogue)]
    if not opinions:
        return None
    found = build(opinions, [product.id for product in catalogue])
    path = catalogue.folder / FILE
    new = path.with_suffix(f".{secrets.token_hex(4)}.npz")
    np.savez(new, start=found.start, row=found.row, similarity=found.similarity)
    new.replace(path)
    return found


def _load(catalogue: Catalogue) -> Neighbours | None:
    try:
        with np.load(catalogue.folder / FILE) as kept:
            found = Neighbours(kept["start"], kept["row"], kept["similarity"])
    except (OSError, ValueError, KeyError):
        return None
    return found if len(found.start) == len(catalogue) + 1 else None


def _demo_opinions(catalogue: Catalogue) -> Iterable[Opinion]:
    """The invented reviews that come with a demo catalogue; a user's catalogue of the same name has none of their ids."""
    return opinions_in(demo_catalogue_file("reviews.jsonl")) if catalogue.name in DEMOS else ()


def _interactions(catalogue: Catalogue) -> Iterable[Opinion]:
    """What sessions bought or asked to buy, or moved up."""
    for session, product_id, kind in SignalStore(catalogue.path).interactions():
        weight = WEIGHTS[kind] / WEIGHTS[Interaction.PURCHASED]
        if weight > 0:
            yield Opinion(session, product_id, weight)


def opinions_in(path: Path) -> Iterable[Opinion]:
    """Opinions in a file of reviews (JSON lines with user, product_id, stars), such as the demo's."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            review = json.loads(line)
            found = opinion_of_stars(review["user"], review["product_id"], float(review["stars"]))
            if found:
                yield found
