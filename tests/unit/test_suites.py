"""Suites are reproducible, mixed as promised, and fair in what they keep apart."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ego_cli.catalog.product import Product
from ego_cli.errors import CatalogueError, NotFoundError
from ego_cli.evaluation.cards import searchable_text
from ego_cli.evaluation.suites import SUITES, make_suite, part_of

MATERIALS = ("cotton", "wool", "leather", "silk", "linen")


def shop(size: int = 900) -> list[Product]:
    dice = random.Random(7)
    return [
        Product(
            f"p{i}",
            f"Brand{i % 9} thing number {i}",
            brand=f"Brand{i % 9}",
            categories=("Root", f"Parent{i % 5}", f"Leaf{i % 25}"),
            price=float(5 + i % 90),
            currency="USD",
            rating_count=int(dice.paretovariate(0.8)),
            features=(f"Made of {MATERIALS[i % 5]}", f"Feature {i % 31} inside", f"Holds {i} things"),
            details={"Color": ("red", "blue", "green")[i % 3]},
        )
        for i in range(size)
    ]


@pytest.mark.parametrize("name", list(SUITES))
def test_a_suite_is_reproducible_whatever_the_order_of_the_file(name):
    rows = shop()
    assert make_suite(name, rows, seed=3) == make_suite(name, rows[::-1], seed=3)
    assert make_suite(name, rows, seed=3) != make_suite(name, rows, seed=4)


def test_the_standard_suite_is_the_protocols_mix():
    mix = Counter(s.scenario for s in make_suite("standard", shop()))
    assert mix == {"buying": 80, "browsing": 80, "override": 30, "boundary": 10}


@pytest.mark.parametrize("sessions", [1, 7, 33])
def test_a_smaller_suite_keeps_its_size(sessions):
    assert len(make_suite("standard", shop(), sessions=sessions)) == sessions


def test_tuning_and_test_sessions_look_for_different_products():
    rows = shop()
    tuning = {s.target for s in make_suite("standard", rows, part="tuning")}
    test = {s.target for s in make_suite("standard", rows, part="test")}
    assert not tuning & test
    assert {part_of(t) for t in test} == {"test"}


def test_popular_suites_draw_by_review_count_and_the_long_tail_does_not():
    rows = shop()
    counts = {p.id: p.rating_count for p in rows}

    def median(name: str) -> float:
        drawn = sorted(counts[s.target] for s in make_suite(name, rows))
        return drawn[len(drawn) // 2]

    assert median("standard") > 2 * median("long-tail")


def test_what_a_customer_gives_up_is_not_true_of_what_she_wants():
    rows = {p.id: p for p in shop()}
    for session in make_suite("override-heavy", list(rows.values())):
        if session.old:
            assert session.old.text.partition(": ")[2].lower() not in searchable_text(
                rows[session.target]
            ).lower() or (": " not in session.old.text)
            assert session.change_turn in (3, 4)


def test_what_a_customer_excludes_is_not_in_what_she_wants():
    rows = {p.id: p for p in shop()}
    excluding = [
        s for s in make_suite("lively", list(rows.values())) if s.scenario == "exclusion" and s.unwanted
    ]
    assert excluding
    for session in excluding:
        assert session.unwanted.lower() not in searchable_text(rows[session.target]).lower()


def test_a_small_catalogue_repeats_targets_rather_than_failing():
    assert len(make_suite("standard", shop(12))) == 200


def test_a_catalogue_without_review_counts_is_drawn_evenly():
    rows = [Product(f"p{i}", f"Shirt {i} in red", features=("Soft", f"No {i}")) for i in range(500)]
    assert len({s.target for s in make_suite("standard", rows)}) == 200


def test_unknown_suites_and_empty_catalogues_are_said_so():
    with pytest.raises(NotFoundError, match="standart"):
        make_suite("standart", shop(20))
    with pytest.raises(CatalogueError):
        make_suite("standard", [])
