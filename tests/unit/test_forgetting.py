"""How memories fade: the seed's curve to the digit, and promises that hold for both policies."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.memory.curve import USES, curves
from ego_cli.memory.entry import DECLARED, EPISODIC, HIGH, INFERRED, ME, SEMANTIC, Entry
from ego_cli.memory.forgetting import POLICIES, EgoV1, ShopV2, first_stability, policy_named

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def row(
    importance: float = 0.5,
    *,
    kind: str = "like",
    uses: int = 0,
    source: str = DECLARED,
    id_: int = 1,
    **more: object,
) -> Entry:
    tier = SEMANTIC
    entry = Entry(
        id=id_, tier=tier, kind=kind, subject=ME, predicate="", object="", text="", polarity=0, words="", turn=None,
        session="", source=source, confidence=HIGH, importance=importance, stability=first_stability(kind, tier, source),
        created=THEN, confirmed=THEN, used=None, valid_from=THEN, valid_to=None, uses=uses,
    )  # fmt: skip
    return replace(entry, **more)  # type: ignore[arg-type]


def after(days: float) -> datetime:
    return THEN + timedelta(days=days)


# --- ego-v1, by hand -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("importance", "uses", "days", "by_hand"),
    [
        (1.0, 0, 0.0, 1.0),
        (1.0, 0, 7.0, 0.36787944117144233),  # 1/e
        (0.5, 0, 7.0, 0.18393972058572117),
        (1.0, 3, 14.0, 0.36787944117144233),  # sqrt(1 + 3) = 2: twice as slow
        (0.8, 8, 21.0, 0.29430355293715387),  # 0.8/e
        (0.66, 2, 10.0, 0.66 * math.exp(-(10.0 / 7.0) / math.sqrt(3.0))),
    ],
)
def test_ego_v1_is_the_seed_formula(importance: float, uses: int, days: float, by_hand: float) -> None:
    assert EgoV1().retention(row(importance, uses=uses), after(days)) == by_hand


@pytest.mark.parametrize(("importance", "days"), [(1.0, 20.97), (0.5, 16.12)])
def test_ego_v1_reaches_its_threshold_at_these_days_and_not_after_37(importance: float, days: float) -> None:
    policy = EgoV1()
    assert policy.retention(row(importance), after(days)) == pytest.approx(0.05, abs=5e-5)
    assert not policy.pruning([row(importance)], after(days - 0.05)).delete
    assert policy.pruning([row(importance)], after(days + 0.05)).delete == (1,)
    assert policy.retention(row(importance), after(37.0)) < 0.006


def test_ego_v1_recall_adds_a_use_raises_importance_to_at_most_one_and_resets_the_clock() -> None:
    used = EgoV1().reinforced(row(0.5), after(5))
    assert (used.uses, used.importance, used.used) == (1, 0.58, after(5))
    assert EgoV1().reinforced(row(0.97), after(5)).importance == 1.0


def test_ego_v1_keeps_200_rows_and_drops_the_least_important_first() -> None:
    rows = [row(0.3 + i / 1000, id_=i) for i in range(1, 211)]
    assert EgoV1().pruning(rows, THEN).delete == tuple(range(1, 11))


def test_ego_v1_score_is_retention_times_one_and_a_half_overlap() -> None:
    assert EgoV1().score(9.9, 0.5, 0.4) == 0.4 * 1.25


# --- shop-v2 -------------------------------------------------------------------------------------------------------------


def test_shop_v2_falls_to_nine_tenths_after_its_stability() -> None:
    policy = ShopV2()
    assert policy.retention(row(kind="want"), after(2)) == pytest.approx(0.9)
    assert policy.retention(row(kind="like"), after(365)) == pytest.approx(0.9)
    assert policy.retention(row(kind="like", source=INFERRED), after(60)) == pytest.approx(0.9)
    assert policy.retention(row(kind="shown", tier=EPISODIC, stability=14.0), after(14)) == pytest.approx(0.9)


@pytest.mark.parametrize("kind", ["allergy", "avoidance", "size", "consent"])
def test_what_must_not_be_lost_never_fades_and_is_never_deleted_by_time(kind: str) -> None:
    entry = row(kind=kind)
    assert ShopV2().retention(entry, after(10_000)) == 1.0
    assert ShopV2().pruning([entry], after(10_000)) == ShopV2().pruning([], THEN)


def test_time_archives_and_only_an_expiry_date_deletes() -> None:
    faded, dated = row(kind="want", id_=1), row(kind="want", id_=2, expires=after(3))
    plan = ShopV2().pruning([faded, dated], after(100))
    assert (plan.delete, plan.archive) == ((2,), (1,))


def test_uses_crowded_together_add_almost_nothing_and_spaced_ones_double() -> None:
    policy, crowded, spaced = ShopV2(), row(kind="want"), row(kind="want")
    for i in range(10):
        crowded = policy.reinforced(crowded, after(i / 1440))
    spaced = policy.reinforced(spaced, after(2))
    assert crowded.stability < 2.02
    assert 3.5 < spaced.stability < 4.5


def test_decay_re_ranks_by_at_most_a_tenth() -> None:
    assert ShopV2().score(2.0, 0.0, 0.0) == pytest.approx(1.8)
    assert ShopV2().score(2.0, 0.0, 1.0) == 2.0


def test_using_a_memory_never_changes_its_importance_under_shop_v2() -> None:
    assert ShopV2().reinforced(row(0.4), after(50)).importance == 0.4


# --- both ----------------------------------------------------------------------------------------------------------------

policies = st.sampled_from([EgoV1(), ShopV2()])
entries = st.builds(
    lambda importance, kind, uses, source, pinned: row(
        importance, kind=kind, uses=uses, source=source, pinned=pinned
    ),
    st.floats(0, 1),
    st.sampled_from(["like", "want", "size", "fact"]),
    st.integers(0, 50),
    st.sampled_from([DECLARED, INFERRED]),
    st.booleans(),
)
days = st.floats(-400, 4_000)


@given(policies, entries, days, days)
def test_retention_never_rises_with_time_and_stays_between_0_and_1(
    policy: EgoV1 | ShopV2, entry: Entry, a: float, b: float
) -> None:
    early, late = sorted((a, b))
    assert 0 <= policy.retention(entry, after(late)) <= policy.retention(entry, after(early)) <= 1


@given(policies, entries, st.floats(0, 2_000), st.floats(0, 2_000))
def test_a_use_never_lowers_retention_then_or_later(
    policy: EgoV1 | ShopV2, entry: Entry, at: float, later: float
) -> None:
    used = policy.reinforced(entry, after(at))
    assert policy.retention(used, after(at + later)) >= policy.retention(entry, after(at + later)) - 1e-12


@given(policies, entries, days)
def test_naive_and_other_zones_timestamps_are_read_as_the_same_moment(
    policy: EgoV1 | ShopV2, entry: Entry, at: float
) -> None:
    moment = after(at)
    assert policy.retention(entry, moment.replace(tzinfo=None)) == policy.retention(entry, moment)
    naive = replace(entry, confirmed=entry.confirmed.replace(tzinfo=None))
    assert policy.retention(naive, moment) == policy.retention(entry, moment)


@given(policies, entries)
def test_a_clock_in_the_future_counts_as_now(policy: EgoV1 | ShopV2, entry: Entry) -> None:
    assert policy.retention(entry, after(-30)) == policy.retention(entry, THEN)


def test_every_policy_has_curves_for_every_number_of_uses() -> None:
    found = curves(days=30)
    assert {c.policy for c in found} == set(POLICIES)
    assert {c.uses for c in found} == set(USES)
    assert all(len(c.retention) == 31 for c in found)


def test_an_unknown_policy_names_those_there_are() -> None:
    with pytest.raises(Exception, match="ego-v1, shop-v2"):
        policy_named("gone")
