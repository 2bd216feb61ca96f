"""Drawings keep to their width whatever they draw."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ego_cli.tui.drawing import amount, bar, curve, cut, fit, sparkline, spread, table, text, wrap

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=60)
WIDTHS = st.integers(5, 80)


@given(st.floats(-1, 2, allow_nan=False), st.integers(1, 60))
def test_a_bar_fills_exactly_its_width(share: float, width: int) -> None:
    assert bar(share, width).cell_length == width


@given(st.floats(0, 1), st.floats(0, 1), st.integers(2, 40))
def test_a_longer_bar_means_more(one: float, other: float, width: int) -> None:
    def filled(share: float) -> int:
        return sum(2 if sign == "━" else 1 for sign in bar(share, width).plain if sign in "━╸")

    assert one > other or filled(one) <= filled(other)


@given(WORDS, WORDS, WIDTHS)
def test_ends_meet_both_edges_and_nothing_runs_over(left: str, right: str, width: int) -> None:
    assert spread(text(left), text(right), width).cell_length <= width
    assert cut(text(left), width).cell_length <= width
    assert fit(text(left), width).cell_length == width


@given(WORDS, st.integers(8, 60), st.integers(0, 6))
def test_wrapped_lines_keep_to_the_width_and_lose_no_letter(words: str, width: int, indent: int) -> None:
    lines = wrap(text(words), width, indent)
    assert lines
    assert all(line.cell_length <= width for line in lines)
    assert "".join("".join(line.plain for line in lines).split()) == "".join(words.split())


@given(st.lists(st.floats(0, 1e6), max_size=50), st.integers(1, 30))
def test_a_sparkline_shows_the_last_values_on_one_scale(values: list[float], width: int) -> None:
    drawn = sparkline(values, width)
    assert len(drawn) == min(len(values), width)
    if any(values[-width:]):
        assert "█" in drawn


@given(st.lists(st.floats(0, 1), max_size=200), st.integers(1, 60), st.integers(1, 12))
def test_a_curve_fills_its_box(series: list[float], width: int, height: int) -> None:
    lines = curve(series, width, height)
    assert len(lines) == height and all(len(line) == width for line in lines)


def test_a_curve_that_falls_goes_from_the_top_left_to_the_bottom_right() -> None:
    lines = curve([1.0, 0.0], 4, 2)
    assert lines[0][0] != "⠀" and lines[0][-1] == "⠀"
    assert lines[1][0] == "⠀" and lines[1][-1] != "⠀"


@given(st.lists(st.lists(WORDS, min_size=2, max_size=4), min_size=1, max_size=4), st.integers(40, 100))
def test_a_table_has_a_line_a_row(rows: list[list[str]], width: int) -> None:
    assert len(table(rows, width)) == len(rows)


def test_amounts_are_written_as_on_a_card() -> None:
    assert amount(18_500, "NGN") == "₦18,500"
    assert amount(12.5, "USD") == "$12.50"
    assert amount(5_499, "SEK") == "5,499 SEK"
    assert amount(None, "NGN") == "price not listed"
