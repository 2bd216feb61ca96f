"""Product properties in everyday words are read as the page phrase that they mean, and nothing else is."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.catalog.concepts import BREAKS, NEGATION, concepts, root, said_in
from ego_cli.catalog.product import Product
from ego_cli.conversation.understand import Act, Context, Lexicon, understand
from ego_cli.conversation.understand.acts import Kind
from ego_cli.settings import load_toml

PAGES = (
    "Lightweight",
    "Machine wash",
    "Drawstring closure",
    "Waterproof",
    "Moisture wicking",
    "Wrinkle free",
    "Soft",
    "Quiet motor",
)
WAITING = Context(categories=("trousers",), asked="other", shown=("Grey trousers",))


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    return Lexicon.build(
        Product(id=str(n), title=f"Trousers {n}", features=(page,), categories=("Clothing", "Trousers"))
        for n, page in enumerate(PAGES)
    )


def acts(said: str, context: Context = WAITING) -> tuple[Act, ...]:
    return understand(said, lexicon(), context).acts


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("not too heavy please", "lightweight"),
        ("wey no heavy", "lightweight"),
        ("I don't want it to crease", "wrinkle free"),
        ("nothing harsh on the skin", "soft"),
    ],
)
def test_a_property_said_by_a_negation_is_a_wish_and_no_exclusion(said: str, value: str) -> None:
    wishes = [act for act in acts(said) if act.kind is Kind.CONSTRAIN]
    assert [act.value for act in wishes if act.note == "everyday"] == [value]
    assert all(act.polarity > 0 for act in wishes)


def test_other_everyday_words_stay_her_own_and_whole() -> None:
    said = acts("a cord you pull tight, and pockets")
    assert [act.value for act in said if act.kind is Kind.CONSTRAIN] == ["cord you pull tight", "pockets"]


@pytest.mark.parametrize(
    "said",
    [
        "is it not too heavy?",  # a question about what is shown
        "I don't care if it is not heavy",  # given up
        "tumble dry low",  # as pages print it
        "no leather",
        "nothing else",
    ],
)
def test_what_is_asked_given_up_or_printed_is_left_to_the_other_readings(said: str) -> None:
    assert not [act for act in acts(said) if act.note == "everyday"]


def test_a_thing_that_is_looked_for_is_not_taken_for_a_property() -> None:
    found = acts("I need a washing machine", Context())
    assert [act.kind for act in found] == [Kind.NEED]


def test_a_shop_that_knows_no_such_property_reads_the_words_as_they_are() -> None:
    bare = Lexicon.build([Product(id="1", title="Red lamp")])
    assert not [act for act in understand("not heavy", bare, WAITING).acts if act.note == "everyday"]


@given(st.sampled_from(["wash", "dry", "tie", "carry", "pull", "zip", "crease", "fade", "stretch", "button"]))
def test_all_forms_of_a_regular_verb_have_one_root(verb: str) -> None:
    stem = verb[:-1] if verb.endswith("e") else verb
    doubled = stem + stem[-1] if verb == "zip" else stem
    forms = [
        verb,
        f"{doubled}ing" if verb != "tie" else "tie",
        f"{verb[:-1]}ies" if verb[-1] == "y" else f"{verb}s",
    ]
    assert len({root(form) for form in forms}) == 1


@given(
    st.lists(
        st.sampled_from(["not", "heavy", "wash", "machine", "cord", "pull", "tight", ",", "and", "so"]),
        max_size=14,
    )
)
def test_matches_never_overlap_or_reach_across_a_mark(words: list[str]) -> None:
    last = -1
    for said in said_in(words):
        assert last < said.places[0]
        assert list(said.places) == sorted(set(said.places))
        assert not BREAKS & set(words[said.places[0] : said.places[-1] + 1])
        last = said.places[-1]


def test_every_pattern_holds_a_word_of_its_own() -> None:
    names = [concept.name for concept in concepts()]
    assert len(names) == len(set(names))
    for entry in load_toml("concepts.toml")["concept"]:
        for pattern in entry["says"]:
            places = pattern.split()
            assert len(places) > 1, (entry["name"], pattern)
            assert places[-1] != NEGATION, (entry["name"], pattern)
