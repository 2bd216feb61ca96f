"""JSON is read out of whatever a model says, and what was not said completely is not read at all."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.conversation.reading import Proposal
from ego_cli.llm.parsing import UnreadableError, object_in, shaped, without_thinking

ANSWER = {"category": "dresses", "price_max": 25000}
TEXT = json.dumps(ANSWER)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(min_size=1, max_size=6), values, min_size=1, max_size=4)
prose = st.text(st.characters(exclude_characters='{}"'), max_size=20)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}```",
        f"Sure! Here it is:\n```json\n{TEXT}\n```\nAnything else {{like}} this?",
        f"I think {TEXT} is right.",
        f"<think>maybe {{'a': 1}}</think>{TEXT}",
        '{"category": "dresses", "price_max": 25000,}',
    ],
)
def test_an_object_is_found_wherever_it_stands(text: str) -> None:
    assert object_in(text) == ANSWER


def test_a_string_may_hold_fences_and_brackets() -> None:
    tricky = {"note": 'a ```json {"x": 1}``` inside', "more": '} ] \\ " {'}
    assert object_in(f"```json\n{json.dumps(tricky)}\n```") == tricky


@pytest.mark.parametrize("text", ["", "no idea", "[1, 2]", "{not json}", '{"a": NaN}', "{'a': 1}"])
def test_what_holds_no_object_is_said_to_be_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        object_in(text)


def test_an_answer_of_nothing_but_brackets_is_unreadable() -> None:
    with pytest.raises(UnreadableError):
        object_in("{" * 5000)


def test_a_number_that_was_cut_is_not_taken_for_a_smaller_one() -> None:
    assert object_in('{"category": "dresses", "price_max": 250') == {"category": "dresses"}


@given(objects, prose, prose)
def test_any_object_survives_being_wrapped_in_prose(value: dict[str, Any], before: str, after: str) -> None:
    assert object_in(f"{before}{json.dumps(value)}{after}") == value


@given(objects, st.data())
def test_of_a_cut_object_only_members_that_were_complete_are_read(value: dict[str, Any], data: Any) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    with suppress(UnreadableError):  # nothing was complete
        assert _part_of(object_in(text[:cut]), value)


def _part_of(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(k in whole and _part_of(v, whole[k]) for k, v in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and all(map(_part_of, part, whole))
    return bool(part == whole)


def test_errors_of_form_are_put_right() -> None:
    read = shaped(
        '{"category": ["dresses"], "price_max": "25k", "features": "pockets", "size": 12, "x": 1}', Proposal
    )
    assert (read.category, read.price_max, read.features, read.size) == ("dresses", 25000, ("pockets",), "12")


@given(st.dictionaries(st.sampled_from(sorted(Proposal.model_fields)), values))
def test_no_value_of_any_type_makes_a_proposal_unreadable(value: dict[str, Any]) -> None:
    shaped(json.dumps(value), Proposal)


def test_thinking_aloud_is_left_out_even_unfinished() -> None:
    assert without_thinking("<think>hm</think> Hello.") == "Hello."
    assert without_thinking("<think>hm, let me see") == ""
