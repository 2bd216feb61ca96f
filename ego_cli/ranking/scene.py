"""Everything that the terms of the score read, for the candidates of one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.enrich import WEIGHT_OF_TYPE, columns_of
from ego_cli.catalog.index import RankingIndex
from ego_cli.catalog.signals import ShopSignals
from ego_cli.catalog.taxonomy import taxonomy
from ego_cli.ranking.facts import Verdicts, holds
from ego_cli.ranking.profiles import Profile
from ego_cli.ranking.request import Request
from ego_cli.ranking.wishes import Coverage, Wish, coverage, wishes

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue

Rows = NDArray[np.int32]
Column = NDArray[np.float64]
COVERED = 0.92  # share of a wish from which it counts as met


@dataclass
class Scene:
    """Everything that terms read, for the candidate ``rows`` of one request. Columns are made once, when first asked for."""

    catalogue: Catalogue
    index: RankingIndex
    request: Request
    rows: Rows
    profile: Profile
    signals: ShopSignals | None = None
    similarity: NDArray[np.float32] | None = (
        None  # cosine with all that was said; None: vectors were not asked
    )
    neighbours: Mapping[int, float] = field(default_factory=dict)  # row -> how near to what she liked

    @cached_property
    def place_of(self) -> Mapping[int, int]:
        """Catalogue row -> its place among the candidates."""
        return {row: place for place, row in enumerate(self.rows.tolist())}

    def place_of_id(self, product_id: str) -> int | None:
        """The place of a product among the candidates; None when it is none of them."""
        row = self.catalogue.row_of(product_id)
        return None if row is None else self.place_of.get(row)

    @cached_property
    def wishes(self) -> tuple[Wish, ...]:
        known = not self.request.category or self.index.types.match(self.request.category).known
        return wishes(self.request, self.index.evidence, type_known=known)

    @cached_property
    def answered(self) -> float:
        """How much of all that was asked for the best candidate says (0..1, rare words counting more); 1 for no wish."""
        mass = np.array([wish.mass for wish in self.wishes])
        if not len(self.rows) or not mass.sum():
            return 1.0 if not self.wishes else 0.0
        return float((self.coverage.spread @ mass).max() / mass.sum())

    @cached_property
    def coverage(self) -> Coverage:
        return coverage(self.wishes, self.index.evidence, self.rows)

    @cached_property
    def facts(self) -> Verdicts:
        """rows x requirements: has it (1), known not to (-1), not stated (0); free words count when wholly covered."""
        out = np.zeros((len(self.rows), len(self.request.requirements)), dtype=np.int8)
        for column, wanted in enumerate(self.request.requirements):
            out[:, column] = holds(self.catalogue, self.index, wanted)[self.rows]
            covered = self.coverage.best[:, column] >= COVERED
            if wanted.number is None:
                out[:, column] = np.where((out[:, column] == 0) & covered, 1, out[:, column])
        return out

    @cached_property
    def domain(self) -> NDArray[np.int8]:
        """Number of each row's domain, 0 for none."""
        return np.asarray(self.index.types.domain_of_row[self.rows])

    def domain_weight(self, type_: str) -> Column:
        """How much a signal type counts for each row, by its domain (1 where the domain says nothing)."""
        key = WEIGHT_OF_TYPE.get(type_, type_)
        weights = [1.0, *(domain.weights.get(key, 1.0) for domain in taxonomy().domains.values())]
        return np.array(weights)[self.domain]

    def signal(self, type_: str, name: str) -> NDArray[np.bool_]:
        """Which rows have a signal; none when there is no such signal."""
        column = columns_of(type_).get(name)
        if column is None:
            return np.zeros(len(self.rows), dtype=bool)
        return np.asarray(self.index.signals[self.rows, column])

    def values(self, column: str) -> Column:
        return np.asarray(self.catalogue.columns[column][self.rows], dtype=np.float64)

    def none(self) -> Column:
        return np.zeros(len(self.rows))
