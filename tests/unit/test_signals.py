"""What shoppers saw and did, and the popularity that it adds up to."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.catalog.signals import (
    WEIGHTS,
    Impression,
    Interaction,
    SignalStore,
    conversion,
    examined,
    popularity,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MONTH = timedelta(hours=720)
kinds = st.sampled_from(list(Interaction))


def test_weights_are_the_seeds() -> None:
    assert {kind.value: weight for kind, weight in WEIGHTS.items()} == {
        "PURCHASED": 10,
        "PURCHASE_INTENT": 5,
        "AFFILIATE_CLICK": 3,
        "RANK_UP": 2,
        "NUDGE_OPENED": 1,
        "RANK_DOWN": -2,
        "SKIP": -1,
    }


def test_popularity_is_the_sum_worked_out_by_hand() -> None:
    events = [
        (Interaction.PURCHASED, NOW),
        (Interaction.SKIP, NOW),
        (Interaction.AFFILIATE_CLICK, NOW - MONTH),
    ]
    assert popularity(events, NOW) == pytest.approx((10 - 1 + 1.5) / 3**0.5)


def test_a_month_halves_it() -> None:
    bought = [(Interaction.PURCHASED, NOW)]
    assert popularity(bought, NOW + MONTH) == pytest.approx(popularity(bought, NOW) / 2)


def test_few_strong_signals_beat_many_weak_ones() -> None:
    strong = [(Interaction.PURCHASED, NOW)] * 2
    weak = [(Interaction.NUDGE_OPENED, NOW)] * 20
    assert popularity(strong, NOW) > popularity(weak, NOW)


@given(st.lists(st.tuples(kinds, st.integers(-100, 20_000)), max_size=10), st.integers(0, 5_000))
def test_time_never_makes_it_larger_in_size(events: list[tuple[Interaction, int]], later: int) -> None:
    dated = [(kind, NOW - timedelta(hours=max(age, 0))) for kind, age in events if WEIGHTS[kind] > 0]
    assert popularity(dated, NOW + timedelta(hours=later)) <= popularity(dated, NOW) + 1e-9


def test_an_event_of_the_future_and_a_time_without_zone_are_read() -> None:
    assert popularity([(Interaction.PURCHASED, datetime(2030, 1, 1))], NOW) == 10


def test_conversion_at_a_place_that_few_look_at_counts_for_more() -> None:
    assert conversion([8] * 10, [8]) > conversion([1] * 10, [1])


def test_nothing_shown_nothing_converted() -> None:
    assert conversion([], []) == 0.0


@given(st.integers(1, 50))
def test_a_lower_place_is_looked_at_less(position: int) -> None:
    assert 0 < examined(position + 1) < examined(position) <= 1


def test_what_is_logged_comes_back(tmp_path: Path) -> None:
    store = SignalStore(tmp_path / "shop.db")
    store.log_impressions([Impression("a", 1, "s1", "red dress", "BUYING"), Impression("b", 2, "s1")], NOW)
    store.log_interactions([("b", Interaction.PURCHASED)], NOW, session="s1")
    assert store.snapshot(NOW).popularity == {"b": 10.0}
    assert store.conversions()["a"] == 0.0
    assert store.conversions()["b"] > 0.9


def test_reading_a_shop_without_history_makes_no_file(tmp_path: Path) -> None:
    store = SignalStore(tmp_path / "shop.db")
    assert store.snapshot(NOW).popularity == {}
    assert not store.path.exists()


def test_a_session_can_be_forgotten(tmp_path: Path) -> None:
    store = SignalStore(tmp_path / "shop.db")
    store.log_impressions([Impression("a", 1, "mine", "secretquery")], NOW)
    store.log_interactions([("a", Interaction.SKIP)], NOW, session="mine")
    store.log_interactions([("b", Interaction.RANK_UP)], NOW, session="other")
    store.forget_session("mine")
    assert store.snapshot(NOW).popularity == {"b": 2.0}
    assert b"secretquery" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    store = SignalStore(tmp_path / "shop.db")

    def write(name: int) -> None:
        for n in range(20):
            store.log_interactions([(f"p{name}-{n}", Interaction.SKIP)], NOW)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.snapshot(NOW).popularity) == 80


def test_the_file_is_private(tmp_path: Path) -> None:
    store = SignalStore(tmp_path / "shop.db")
    store.log_interactions([("a", Interaction.SKIP)], NOW)
    assert store.path.stat().st_mode & 0o077 == 0
