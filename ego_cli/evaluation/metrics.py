"""Numbers for simulated sessions: the protocol's metrics, intervals, and tests of one run against another.

Formulas are those of the shopping-copilot session protocol (TechJam 2026, track 4); ``technical_score`` is
0.5 HitRate@10 + 0.3 MRR + 0.2 efficiency.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_TURNS = 10  # turns in which the hidden product has to be found
MISSED_TURN = MAX_TURNS + 1  # the turn that a miss counts as in MTTC
LIST_LENGTH = 10  # products of a list that count

HIT_WEIGHT = 0.5
RANK_WEIGHT = 0.3
SPEED_WEIGHT = 0.2

RESAMPLES = 2_000  # bootstrap and sign-flip draws; the standard error of a 95 % bound is below 0.5 %


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one session went. ``hit_turn`` and ``rank`` are 1-based; None = the product was never shown.

    ``ms`` holds the seconds of each response in milliseconds, tokens are the agent's own report.
    """

    session: str
    scenario: str
    hit_turn: int | None
    rank: int | None
    ms: tuple[float, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    errors: int = 0

    @property
    def score(self) -> float:
        """This session's share of the technical score, 0 to 1; the mean over sessions is the suite's score."""
        if self.hit_turn is None or self.rank is None:
            return 0.0
        return HIT_WEIGHT + RANK_WEIGHT / self.rank + SPEED_WEIGHT * efficiency(self.hit_turn)


def efficiency(mean_turn: float) -> float:
    """1 for a hit on the first turn, 0 for a miss."""
    return min(1.0, max(0.0, (MISSED_TURN - mean_turn) / MAX_TURNS))


def quality(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Hit rate, MRR, MTTC, efficiency and technical score of some sessions; zeros where there are none."""
    if not outcomes:
        return {
            "sessions": 0,
            "hit_rate_at_10": 0.0,
            "mrr": 0.0,
            "mttc": 0.0,
            "efficiency": 0.0,
            "technical_score": 0.0,
        }
    count = len(outcomes)
    hit_rate = sum(o.hit_turn is not None for o in outcomes) / count
    mrr = sum(1 / o.rank for o in outcomes if o.rank) / count
    mttc = sum(o.hit_turn or MISSED_TURN for o in outcomes) / count
    speed = efficiency(mttc)
    return {
        "sessions": count,
        "hit_rate_at_10": hit_rate,
        "mrr": mrr,
        "mttc": mttc,
        "efficiency": speed,
        "technical_score": HIT_WEIGHT * hit_rate + RANK_WEIGHT * mrr + SPEED_WEIGHT * speed,
    }


def summarise(outcomes: Sequence[Outcome], *, seed: int = 0) -> dict[str, Any]:
    """Everything that a run's summary says about quality, tokens and response times (not start-up and memory)."""
    times = [ms for outcome in outcomes for ms in outcome.ms]
    summary: dict[str, Any] = dict(quality(outcomes))
    summary["technical_score_ci"] = bootstrap_interval([o.score for o in outcomes], seed=seed)
    summary["hit_rate_at_10_ci"] = bootstrap_interval(
        [float(o.hit_turn is not None) for o in outcomes], seed=seed
    )
    summary["scenarios"] = {
        name: quality([o for o in outcomes if o.scenario == name])
        for name in _in_order(o.scenario for o in outcomes)
    }
    summary["total_tokens"] = sum(o.prompt_tokens + o.completion_tokens for o in outcomes)
    summary["errors"] = sum(o.errors for o in outcomes)
    for percent in (50, 95, 99):
        summary[f"p{percent}_ms"] = percentile(times, percent)
    return summary


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def percentile(values: Sequence[float], percent: float) -> float:
    """Linear between the two nearest values; 0 where there are none."""
    return float(np.percentile(values, percent)) if len(values) else 0.0


def bootstrap_interval(values: Sequence[float], *, seed: int = 0, level: float = 0.95) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean. One value, or none, gives an interval without width."""
    if len(values) < 2:
        only = float(values[0]) if values else 0.0
        return only, only
    sample = np.asarray(values, dtype=np.float64)
    picks = np.random.default_rng(seed).integers(0, len(sample), size=(RESAMPLES, len(sample)))
    means = sample[picks].mean(axis=1)
    tail = (1 - level) / 2 * 100
    low, high = np.percentile(means, [tail, 100 - tail])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class Paired:
    """Second minus first, over the same sessions. ``p`` is two-sided."""

    pairs: int
    difference: float
    interval: tuple[float, float]
    p: float


def paired_difference(first: Sequence[float], second: Sequence[float], *, seed: int = 0) -> Paired:
    """Mean difference with its bootstrap interval, and the p-value of a sign-flip permutation test.

    Raises ``ValueError`` when the two have different lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values cannot be paired with {len(second)}")
    gaps = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    if not len(gaps):
        return Paired(0, 0.0, (0.0, 0.0), 1.0)
    observed = abs(gaps.mean())
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(RESAMPLES, len(gaps)))
    as_large = int((abs((signs * gaps).mean(axis=1)) >= observed - 1e-12).sum())
    p = (as_large + 1) / (RESAMPLES + 1)  # the observed signs are one of the draws: never 0
    return Paired(len(gaps), float(gaps.mean()), bootstrap_interval(gaps.tolist(), seed=seed), p)


def mcnemar(only_first: int, only_second: int) -> float:
    """Exact two-sided p-value for hits that only one of two runs made (binomial with 1/2)."""
    count = only_first + only_second
    if count == 0:
        return 1.0
    tail = sum(math.comb(count, k) for k in range(min(only_first, only_second) + 1)) * 0.5**count
    return min(1.0, 2 * tail)


def mean_of(summaries: Sequence[Mapping[str, float]], name: str) -> float:
    """Plain mean of one figure over several summaries (a macro average: every suite weighs the same)."""
    return sum(float(s[name]) for s in summaries) / len(summaries) if summaries else 0.0
