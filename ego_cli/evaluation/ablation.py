"""Which leg of the search brings what: the same customers, served by every leg alone, by fusions, and by the whole ranking.

Also what a shopper's preference tags bring: the whole ranking with them and without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ego_cli.catalog.dense import DenseIndex
from ego_cli.catalog.embedding import DenseSource
from ego_cli.conversation.events import TurnDone
from ego_cli.evaluation import metrics, runs
from ego_cli.evaluation.agent import Agent
from ego_cli.evaluation.shop import Setup, play
from ego_cli.ranking.fusion import DEFAULT_PLAN, WEIGHTS, K, Plan

BASELINE = "bm25"
DEFAULT = "default"
WITHOUT_TAGS = "default, preference tags off"
WORDS_ONLY = "ranking, words only"
ALWAYS = 1.1  # no wish is answered by more than all of it: the vectors are asked every time


@dataclass(frozen=True, slots=True)
class Served:
    """How a variant serves: its plan, and whether it has vectors and reads preference tags."""

    plan: Plan = DEFAULT_PLAN
    vectors: bool = True
    tags: bool = True


def _legs(k: float = K, **weights: float) -> Served:
    """Only these legs, in fused order."""
    off = dict.fromkeys((*WEIGHTS, "like", "sort"), 0.0)
    plan = Plan(weights=off | weights, k=k, answered=ALWAYS, scored=False)
    return Served(plan, vectors="dense" in weights)


# Nobody has bought anything in a made catalogue: there the collaborative leg is its cold start, popularity in the category.
VARIANTS: Mapping[str, Served] = {
    BASELINE: _legs(lexical=1.0),
    "dense": _legs(dense=1.0),
    "collaborative": _legs(collaborative=1.0, kind=1.0),
    "fused, equal weights, k = 60": _legs(k=60, lexical=1.0, dense=1.0),
    "fused, lexical 0.6, dense 0.4": _legs(lexical=0.6, dense=0.4),
    "fused, lexical 0.8, dense 0.2": _legs(lexical=0.8, dense=0.2),
    "fused as configured": _legs(**WEIGHTS),
    WORDS_ONLY: Served(vectors=False),
    "ranking, vectors always": Served(Plan(answered=ALWAYS)),
    DEFAULT: Served(),
    WITHOUT_TAGS: Served(tags=False),
}
NEED_VECTORS = tuple(name for name, served in VARIANTS.items() if served.vectors)


class Variant(Agent):
    """The protocol's agent, serving as one of ``VARIANTS``."""

    def __init__(self, catalog_path: str | Path, *, variant: str = DEFAULT) -> None:
        super().__init__(catalog_path)
        served = VARIANTS[variant]
        self._tags = served.tags
        self._fresh.plan = served.plan
        if served.vectors:
            self._fresh.dense = DenseSource(self._catalogue, self._settings.ranking.encoder)
            self._fresh.dense()  # opened now: it would take a second of the first turn that asks

    def reset(self, session_id: str, user_profile: Mapping[str, Any]) -> None:
        super().reset(session_id, user_profile if self._tags else {})

    def last(self, session_id: str) -> TurnDone:
        """The last turn of a session, with all that its stages handed on."""
        return self._last[session_id]

    def vectors(self) -> DenseIndex | None:
        """The vectors that it serves with, opened now if need be."""
        return self._fresh.dense() if self._fresh.dense is not None else None

    def serve_with(self, index: DenseIndex) -> None:
        """Take vectors from elsewhere than the catalogue's."""
        self._fresh.dense = DenseSource.of(self._catalogue, index)


def run(
    catalogue: str,
    *,
    suite: str = "standard",
    customers: Sequence[str] = ("plain", "pidgin"),
    variants: Sequence[str] = tuple(VARIANTS),
    sessions: int = 100,
    seed: int = 0,
    jobs: int = 1,
    advance: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """One row for each variant and way of speaking: figures with 95 % intervals, and paired differences to the baseline.

    ``tags_gain`` and ``vectors_gain`` of the default are its paired differences to itself without them.
    """
    rows: list[dict[str, Any]] = []
    scores: dict[tuple[str, str], list[float]] = {}
    hits: dict[tuple[str, str], list[float]] = {}
    total = len(variants) * len(customers) * sessions
    for number, variant in enumerate(variants):
        setup = Setup(
            catalogue,
            suites=(suite,),
            customers=tuple(customers),
            agent="ego_cli.evaluation.ablation:Variant",
            options={"variant": variant},
            sessions=sessions,
            seed=seed,
            jobs=jobs,
        )
        done_before = number * len(customers) * sessions

        def tell(done: int, _: int, before: int = done_before) -> None:
            if advance:
                advance(before + done, total)

        for finished in play(setup, tell):
            customer = finished.about["customer"]
            outcomes = [runs.outcome_of(record) for record in finished.sessions]
            scores[variant, customer] = [outcome.score for outcome in outcomes]
            hits[variant, customer] = [float(outcome.hit_turn is not None) for outcome in outcomes]
            figures = {
                name: [finished.summary[name], *finished.summary[f"{name}_ci"]]
                for name in ("technical_score", "hit_rate_at_10")
            }
            rows.append({"leg": variant, "customer": customer, "sessions": len(outcomes), **figures})
    for row in rows:
        variant, customer = row["leg"], row["customer"]
        for name, values in (("technical_score_gain", scores), ("hit_rate_gain", hits)):
            if variant != BASELINE and (BASELINE, customer) in values:
                row[name] = _gain(values[BASELINE, customer], values[variant, customer])
        if variant == DEFAULT:
            for name, other in (("tags_gain", WITHOUT_TAGS), ("vectors_gain", WORDS_ONLY)):
                if (other, customer) in scores:
                    row[name] = _gain(scores[other, customer], scores[DEFAULT, customer])
    return rows


def _gain(before: Sequence[float], after: Sequence[float]) -> list[float]:
    paired = metrics.paired_difference(before, after)
    return [paired.difference, *paired.interval]


def printed(row: Mapping[str, Any]) -> dict[str, str]:
    """A row of the table."""

    def cell(name: str, signed: str = "") -> str:
        if name not in row:
            return ""
        mean, low, high = row[name]
        return f"{mean:{signed}.3f} [{low:{signed}.3f}, {high:{signed}.3f}]"

    return {
        "customers": row["customer"],
        "leg": row["leg"],
        "technical score": cell("technical_score"),
        "hit rate@10": cell("hit_rate_at_10"),
        "score − bm25": cell("technical_score_gain", "+"),
    }
