"""Weighted reciprocal rank fusion."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.ranking.fusion import fuse

lists = st.lists(st.integers(0, 40), unique=True, max_size=20)


def test_scores_are_those_worked_out_by_hand() -> None:
    rows, scores = fuse({"lexical": [7, 3], "dense": [3]}, weights={"lexical": 0.6, "dense": 0.4}, k=10)
    assert rows.tolist() == [3, 7]
    assert np.allclose(scores, [0.6 / 12 + 0.4 / 11, 0.6 / 11])


def test_equal_scores_go_by_row() -> None:
    rows, _ = fuse({"a": [9], "b": [4]}, weights={"a": 1, "b": 1}, k=10)
    assert rows.tolist() == [4, 9]


def test_nothing_fuses_to_nothing() -> None:
    rows, scores = fuse({"lexical": [], "dense": []})
    assert len(rows) == len(scores) == 0


@given(lists, lists)
def test_every_row_comes_out_once_and_best_first(one: list[int], other: list[int]) -> None:
    rows, scores = fuse({"lexical": one, "dense": other})
    assert sorted(rows.tolist()) == sorted(set(one) | set(other))
    assert (np.diff(scores) <= 1e-12).all()


@given(lists.filter(bool))
def test_one_leg_keeps_its_order(leg: list[int]) -> None:
    assert fuse({"lexical": leg})[0].tolist() == leg


@given(lists.filter(lambda rows: len(rows) > 1), lists)
def test_moving_up_in_a_leg_never_lowers_a_score(leg: list[int], other: list[int]) -> None:
    row = leg[-1]
    before = dict(zip(*map(np.ndarray.tolist, fuse({"lexical": leg, "dense": other})), strict=True))
    after = dict(
        zip(*map(np.ndarray.tolist, fuse({"lexical": [row, *leg[:-1]], "dense": other})), strict=True)
    )
    assert after[row] >= before[row]
