"""Search terms: one spelling for what people write in many, and full-text queries that nobody can break."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ego_cli.catalog.text import (
    TOKENIZER,
    full_text_query,
    measures,
    query_terms,
    stem,
    terms,
    tokens,
)

ANYTHING = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=60)


def sqlite_tokens(text: str) -> list[str]:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE t USING fts5(x, tokenize='{TOKENIZER}')")
    database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    database.execute("INSERT INTO t VALUES (?)", (text,))
    return [term for (term,) in database.execute('SELECT term FROM v ORDER BY "offset"')]


@settings(max_examples=300, deadline=None)
@given(ANYTHING)
@example("Crème brûlée, ọ̀ja, ẹ̀wà àgbàdo ǖ")
@example("a\u0301b \u0301c ßtraße İstanbul ﬁn ½ ² ١٢ ไทย 日本語 😀x")
def test_tokens_are_those_of_unicode61(text: str) -> None:
    assert tokens(text) == sqlite_tokens(text)


def test_every_letter_of_the_basic_plane_is_cut_as_unicode61_cuts_it() -> None:
    letters = [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code <= 0xDFFF]
    for start in range(0, len(letters), 4096):
        text = " ".join(f"a{letter}b" for letter in letters[start : start + 4096])
        assert tokens(text) == sqlite_tokens(text)


@settings(max_examples=300, deadline=None)
@given(ANYTHING)
def test_terms_mean_the_same_to_fts5(text: str) -> None:
    """What we put into the full-text index comes out as the terms that the impacts are counted by."""
    found = terms(text)
    assert sqlite_tokens(" ".join(found)) == found


@pytest.mark.parametrize(
    "spellings",
    [
        ["10000mAh", "10000 mah", "10,000mAh", "10,000 mAh", "10.000 mAh", "10000-mAh"],
        ['6.5"', "6.5 inch", "6.5inches", "6.5''", "6.5”", "6.50 inches"],
        ["16gb", "16 GB", "16 gig", "16GB"],
        ["powerbank", "Power bank", "power-bank"],
        ["3m", "3 metres", "3 meter", "3 m"],
        ["t-shirt", "T shirt", "tshirt"],
        ["levi's", "Levi’s", "levis"],
        ["H&M", "h & m"],
        ["95% cotton", "95 % cotton", "95 percent cotton"],
        ["SPF 50", "spf-50", "SPF50"],
        ["pack of 3", "3 pack", "3-pack"],
        ["size 9.5", "size 9½"],
        ["1.5kw", "1.5 kW", "1.5 kilowatts"],
        ["Crème", "creme"],
    ],
)
def test_spellings_of_one_thing_are_one_term(spellings: list[str]) -> None:
    assert {tuple(terms(spelling)) for spelling in spellings} == {tuple(terms(spellings[0]))}


@pytest.mark.parametrize(
    ("asked", "sold"),
    [
        ("1.7 oz", "50 ml"),
        ("1.5kw", "1500 W"),
        ("1 TB", "1000GB"),
        ("10 ft", "3 m"),
        ("81 cm", "32 inch"),
        ("75cl", "750ml"),
        ("1 kg", "1000 g"),
    ],
)
def test_amounts_meet_across_units(asked: str, sold: str) -> None:
    assert set(terms(asked)) & set(terms(sold))


def test_shops_glue_words_to_units() -> None:
    assert terms("4GBRAM/128GBGB ROM") == ["4gb", "ram", "128gb", "rom"]


def test_numbers_without_a_unit_stay_numbers() -> None:
    assert terms('5 in 1, 4K, "AT-500"') == ["5", "in", "1", "4k", "at", "500"]


def test_measures_tell_value_unit_and_place() -> None:
    text = 'A 6.5" phone with 5,000 mAh'
    assert [(m.value, m.unit, text[m.start : m.end]) for m in measures(text)] == [
        (6.5, "inch", '6.5"'),
        (5000.0, "mah", "5,000 mAh"),
    ]


@pytest.mark.parametrize(
    ("word", "single"),
    [("dresses", "dress"), ("scarves", "scarf"), ("watches", "watch"), ("skirts", "skirt"), ("blouses", "blouse"), ("sizes", "size"),
     ("accessories", "accessory"), ("hoodies", "hoodie"), ("gloves", "glove"), ("women", "woman"), ("womens", "woman"), ("colors", "colour"), ("tomatoes", "tomato"),
     ("boxes", "box"), ("purses", "purse")],
)  # fmt: skip
def test_plurals_share_the_stem_of_their_singular(word: str, single: str) -> None:
    assert stem(word) == stem(single) == single


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("shorts", "short"),
        ("glasses", "glass"),
        ("organic", "organ"),
        ("skirts", "skirting"),
        ("briefs", "brief"),
        ("tights", "tight"),
        ("lens", "len"),
        ("bus", "bu"),
    ],
)
def test_look_alikes_do_not_share_a_stem(word: str, other: str) -> None:
    assert stem(word) != stem(other)


NASTY = ["levi's", "t-shirt", "H&M", '7.3"', "AND", "NOT leather", "black*", "title:black", "(red", "a NEAR b", "{title} : x", "^red", "red)", '"', "+-|", "OR", "x\0y", "\ud800 red", "😀", "", "   "]  # fmt: skip


def searched(text: str) -> list[str]:
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE t USING fts5(title, other, tokenize='{TOKENIZER}')")
    rows = [
        "levis tshirt",
        "hm 7p3inch",
        "and not leather",
        "black blackberry",
        "title red",
        "a near b",
        "or x y",
    ]
    database.executemany("INSERT INTO t (title) VALUES (?)", [(row,) for row in rows])
    query = full_text_query(text)
    if not query.match:
        return []
    return [
        title
        for (title,) in database.execute("SELECT title FROM t WHERE t MATCH ? ORDER BY rowid", (query.match,))
    ]


@pytest.mark.parametrize("text", NASTY)
def test_signs_and_operators_never_break_a_query(text: str) -> None:
    searched(text)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.sampled_from([*NASTY, "red", "title:", "*", "NEAR(", "(", ")", '"', "-"]) | ANYTHING, max_size=8
    )
)
def test_no_text_is_an_operator(parts: list[str]) -> None:
    """A query finds exactly the rows that share a term with the text: nothing more, nothing less."""
    text = " ".join(parts)
    found = searched(text)
    asked = set(query_terms(text))
    for row in ["levis tshirt", "and not leather", "black blackberry", "title red", "or x y"]:
        assert (row in found) == bool(asked & set(row.split()))


@pytest.mark.parametrize(("text", "row"), [("levi's", "levis tshirt"), ("t-shirt", "levis tshirt"), ("H&M", "hm 7p3inch"), ('7.3"', "hm 7p3inch"), ("AND", "and not leather"), ("NOT leather", "and not leather"), ("black*", "black blackberry"), ("title:black", "black blackberry"), ("(red", "title red")])  # fmt: skip
def test_odd_words_find_what_they_name(text: str, row: str) -> None:
    assert row in searched(text)


def test_a_star_is_not_a_prefix_search() -> None:
    assert "black blackberry" not in searched("blackb*")


def test_a_text_with_nothing_to_search_for_says_so() -> None:
    assert full_text_query("😀 !!").match == ""


def test_head_and_tail_of_an_endless_text_are_read() -> None:
    query = full_text_query("first " + "lorem ipsum dolor " * 12_000 + "last")
    assert {"first", "last"} <= set(query.terms)
    many = full_text_query(" ".join(f"w{n}" for n in range(2_000)))
    assert len(many.terms) <= 128 and many.unread > 0
    assert searched("red " + "x" * 200_000) == ["title red"]
