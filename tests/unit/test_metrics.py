"""The protocol's metrics against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.evaluation.metrics import (
    Outcome,
    bootstrap_interval,
    efficiency,
    mcnemar,
    paired_difference,
    percentile,
    quality,
    summarise,
)


def hit(turn: int, rank: int, scenario: str = "buying") -> Outcome:
    return Outcome("s", scenario, turn, rank)


MISS = Outcome("s", "browsing", None, None)


def test_two_hits_and_a_miss_by_hand():
    figures = quality([hit(1, 1), hit(3, 2), MISS])
    assert figures["hit_rate_at_10"] == pytest.approx(2 / 3)
    assert figures["mrr"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert figures["mttc"] == pytest.approx((1 + 3 + 11) / 3)
    assert figures["efficiency"] == pytest.approx((11 - 5) / 10)
    assert figures["technical_score"] == pytest.approx(0.5 * 2 / 3 + 0.3 * 0.5 + 0.2 * 0.6)


def test_the_published_row_of_the_seed_agrees_with_the_formula():
    assert 0.5 * 0.98 + 0.3 * 0.7285 + 0.2 * efficiency(2.29) == pytest.approx(0.8828, abs=5e-4)


def test_a_miss_is_worth_nothing_and_a_first_place_at_once_is_worth_everything():
    assert MISS.score == 0
    assert hit(1, 1).score == pytest.approx(1.0)
    assert efficiency(11) == 0


@given(
    st.lists(
        st.one_of(st.just(MISS), st.builds(hit, st.integers(1, 10), st.integers(1, 10))),
        min_size=1,
        max_size=60,
    )
)
def test_the_suite_score_is_the_mean_of_its_sessions(outcomes):
    assert quality(outcomes)["technical_score"] == pytest.approx(
        sum(o.score for o in outcomes) / len(outcomes)
    )


def test_a_summary_splits_by_scenario_and_counts_tokens():
    summary = summarise([hit(1, 1), MISS, Outcome("x", "buying", 2, 1, (10.0, 20.0), 100, 20)])
    assert summary["scenarios"]["buying"]["hit_rate_at_10"] == 1
    assert summary["scenarios"]["browsing"]["technical_score"] == 0
    assert summary["total_tokens"] == 120
    assert summary["p50_ms"] == 15.0


def test_percentiles_are_linear_between_neighbours():
    assert percentile([1, 2, 3, 4], 50) == 2.5
    assert percentile([], 95) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_a_bootstrap_interval_stays_inside_the_data(values):
    low, high = bootstrap_interval(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


def test_more_sessions_narrow_the_interval():
    few, many = bootstrap_interval([0.0, 1.0] * 10), bootstrap_interval([0.0, 1.0] * 500)
    assert many[1] - many[0] < few[1] - few[0]


def test_a_run_does_not_differ_from_itself():
    same = paired_difference([0.1, 0.9, 0.4], [0.1, 0.9, 0.4])
    assert (same.difference, same.p) == (0, 1)


def test_a_gain_on_every_session_is_significant_and_noise_is_not():
    base = [0.1 * (i % 7) for i in range(40)]
    better = paired_difference(base, [v + 0.2 for v in base])
    assert better.difference == pytest.approx(0.2)
    assert better.p < 0.01
    noise = paired_difference(base, [v + (0.2 if i % 2 else -0.2) for i, v in enumerate(base)])
    assert noise.p > 0.5


def test_runs_of_different_length_cannot_be_paired():
    with pytest.raises(ValueError):
        paired_difference([1.0], [1.0, 0.0])


def test_mcnemar_by_hand():
    assert mcnemar(0, 0) == 1
    assert mcnemar(0, 5) == pytest.approx(2 / 32)
    assert mcnemar(5, 0) == mcnemar(0, 5)
    assert mcnemar(1, 4) == pytest.approx(2 * (1 + 5) / 32)
