"""Weighted reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) of ranked lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

# Held here and nowhere else. Equal weights with k = 60 are good on sentences written for one product, and fall below BM25
# alone in conversations; a heavy lexical leg with a small k, and the kind beside it, is above BM25 on both (`ego eval known-item`,
# `ego eval ablation`).
K = 10
WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"lexical": 0.6, "kind": 0.3, "dense": 0.4, "collaborative": 0.15}
)

ANSWERED = 0.5  # share of what was asked for that the best candidate must say, or the vectors are asked


@dataclass(frozen=True, slots=True)
class Plan:
    """Which legs search and how their lists are joined. The default is what a shopper gets, others are for ablations.

    A leg of weight 0 does not search. ``answered`` as ``ANSWERED``: 0 never asks the vectors, more than 1 always does.
    Unless ``scored``, the fused order is the answer.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    k: float = K
    answered: float = ANSWERED
    scored: bool = True

    def asks(self, leg: str) -> bool:
        """Whether a leg is to search."""
        return self.weights.get(leg, 1.0) > 0


DEFAULT_PLAN = Plan()


def fuse(
    legs: Mapping[str, Sequence[int] | NDArray[np.int32]],
    *,
    weights: Mapping[str, float] = WEIGHTS,
    k: float = K,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Rows of all ``legs`` (leg name -> rows, best first), best first, with their fused scores.

    score(row) = sum over legs of weight / (k + rank), rank from 1. Ties go to the lower row. A leg without a weight counts 1.
    """
    names = [name for name in legs if len(legs[name])]
    if not names:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float64)
    rows = np.concatenate([np.asarray(legs[name], dtype=np.int32) for name in names])
    parts = np.concatenate(
        [weights.get(name, 1.0) / (k + 1.0 + np.arange(len(legs[name]))) for name in names]
    )
    distinct, place = np.unique(rows, return_inverse=True)
    scores = np.bincount(place, parts, len(distinct)).astype(np.float64)
    order = np.lexsort((distinct, -scores))
    return distinct[order].astype(np.int32), scores[order]
