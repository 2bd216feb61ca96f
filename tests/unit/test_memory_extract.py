"""What a shopper says becomes facts: in English, in Pidgin, with negation, about herself and others; and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.memory.extract import extract, read_row
from ego_cli.memory.things import canonical_object, read_amount, split_list


def read(text: str) -> list[tuple[str, int]]:
    return [(fact.text, fact.polarity) for fact in extract(text).facts]


LIKES = [
    "I like blue", "I love blue", "I prefer blue", "blue is my preference", "I would rather have blue", "blue is what I prefer",
    "na blue I like", "I'm really into blue", "I am a big fan of blue", "I've always been fond of blue", "I have a soft spot for blue",
    "honestly I adore blue these days", "blue na my favourite", "I too like blue",
]  # fmt: skip
DISLIKES = [
    "I hate velvet", "I am not a fan of velvet", "I don't like velvet", "I no like velvet", "I no dey like velvet again",
    "I can't stand velvet", "I'm sick of velvet", "velvet is not my thing", "velvet no be my style", "I dislike velvet",
    "I no longer like velvet", "I used to love velvet", "I have never liked velvet", "I'm not really into velvet", "no, I hate velvet",
    "I stopped liking velvet", "I do not care for it but I hate velvet",
]  # fmt: skip
AVOIDED = [
    "I avoid wool", "I never wear wool", "I don't wear wool", "I no dey wear wool", "I steer clear of wool", "I refuse to wear wool",
    "I stopped wearing wool", "I have a strong aversion to wool", "wool scratches me", "my skin no dey gree wool", "I tend to avoid wool",
    "I get rashes from wool", "I no fit wear wool", "wool irritates my skin", "I am sensitive to wool",
]  # fmt: skip


@pytest.mark.parametrize("text", LIKES)
def test_one_liking_in_many_wordings_is_one_fact(text: str) -> None:
    facts = extract(text).facts
    assert [(fact.slot, fact.polarity) for fact in facts] == [("me|attitude|blue", 1)]


@pytest.mark.parametrize("text", DISLIKES)
def test_a_negated_liking_is_a_dislike(text: str) -> None:
    facts = extract(text).facts
    assert [(fact.slot, fact.polarity) for fact in facts] == [("me|attitude|velvet", -1)]


@pytest.mark.parametrize("text", AVOIDED)
def test_what_must_stay_away_is_firmer_than_a_dislike(text: str) -> None:
    facts = extract(text).facts
    assert [(fact.slot, fact.polarity) for fact in facts] == [("me|attitude|wool", -1)]
    assert facts[0].kind in ("avoidance", "reaction")


@pytest.mark.parametrize(
    "text",
    ["I am allergic to peanuts", "I have a peanut allergy", "I get allergy for peanuts", "my allergy is peanuts", "I'm peanut intolerant",
     "remember I have a peanut allergy: allergic to peanuts", "I'm severely allergic to peanuts"],
)  # fmt: skip
def test_an_allergy_in_many_wordings_is_one_fact(text: str) -> None:
    assert {fact.key for fact in extract(text).facts} == {"me|allergy|peanut|-1|peanut"}


@pytest.mark.parametrize(
    "text",
    ["my shoe size is 42", "I wear size 42", "my size is 42", "42 is my size", "my size na 42", "I dey wear size 42", "I wear a 42 in shoes",
     "sorry, my shoe size is 42 after all", "I take size 42 in sneakers", "I wear size 42 shoes"],
)  # fmt: skip
def test_a_shoe_size_in_many_wordings_is_one_slot(text: str) -> None:
    facts = extract(text).facts
    assert [(fact.kind, fact.slot, fact.object) for fact in facts] == [("size", "me|size|shoe", "42")]


@pytest.mark.parametrize(
    ("text", "slot", "text_of_row"),
    [
        ("my favourite drink is malt", "me|favourite|drink", "favourite drink is malt"),
        ("I am back to malt as my favourite drink", "me|favourite|drink", "favourite drink is malt"),
        ("malt is my favorite drink these days", "me|favourite|drink", "favourite drink is malt"),
        ("my best drink na malt", "me|favourite|drink", "favourite drink is malt"),
        ("my name is Temisan", "me|name", "name is Temisan"),
        ("call me Temisan", "me|name", "name is Temisan"),
        ("I live at Plot 7 Kolibri Close", "me|address", "lives at Plot 7 Kolibri Close"),
        ("I live in Jos", "me|city", "lives in Jos"),
        ("I just moved to Jos", "me|city", "lives in Jos"),
        ("my skin is oily", "me|attribute|skin_type", "skin is oily"),
        ("I have very dry skin", "me|attribute|skin_type", "skin is dry"),
        ("I only buy unscented soap", "me|only|soap unsc", "only buys unscented soap"),
        ("I am vegan", "me|is|vegan", "is vegan"),
        ("I be nurse", "me|is|nurs", "is nurse"),
        ("I collect cufflinks", "me|attitude|cufflink", "collects cufflinks"),
        ("I suffer from eczema", "me|concern|eczema", "concern: eczema"),
        ("I want to lose weight", "me|goal|lose weight", "goal: lose weight"),
        ("the Glowy serum broke me out", "me|tried|glowi serum", "Glowy serum: broke me out"),
    ],
)
def test_facts_with_one_value_have_one_slot(text: str, slot: str, text_of_row: str) -> None:
    (fact,) = extract(text).facts
    assert fact.text == text_of_row
    assert fact.slot.split("|")[:2] == slot.split("|")[:2]
    assert fact.slot == extract(text_of_row if text_of_row.startswith("I") else text).facts[0].slot


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my mother wears size 10 shoes", [("mother", "mother wears size 10 shoe")]),
        ("my mum is allergic to nuts", [("mother", "mother is allergic to nuts")]),
        (
            "my sister is called Ọmọlará and she likes beads",
            [("sister", "sister's name is Ọmọlará"), ("sister", "sister likes beads")],
        ),
        (
            "my guy name na Chukwuebuka, him like sneakers",
            [("guy", "guy's name is Chukwuebuka"), ("guy", "guy likes sneakers")],
        ),
        ("my wife loves silk but hates wool", [("wife", "wife likes silk"), ("wife", "wife dislikes wool")]),
        ("my husband's shirt size is XL", [("husband", "husband wears size XL top")]),
        ("my younger sister likes pink", [("younger sister", "younger sister likes pink")]),
        ("Tunde likes amala", [("Tunde", "Tunde likes amala")]),
    ],
)
def test_third_persons_facts_belong_to_them(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(fact.subject, fact.text) for fact in extract(text).facts] == expected


def test_a_name_that_is_known_means_its_person_and_he_is_not_she() -> None:
    assert extract("Chukwuebuka likes beads", people={"chukwuebuka": "guy"}).facts[0].subject == "guy"
    assert extract("she likes beads", spoken_of="sister").facts[0].subject == "sister"
    assert extract("she likes beads", spoken_of="brother").facts == ()
    assert extract("she likes beads").facts == ()


@pytest.mark.parametrize(
    "text",
    [
        "show me sneakers", "thanks", "ok", "how much is the first one?", "do I like red?", "what do you know about me?", "hello", "yes please",
        "I want the second one", "I like the red one", "I like this", "I love it", "I'll take it", "I need help", "I want more", "I am just looking",
        "I am fine", "I am looking", "I'm running late", "is it waterproof", "wetin be the price", "abeg show me better one", "I need it by Friday",
        "add the first to my basket", "compare them", "best rated face cream", "the second looks better", "I want to see more", "forget everything",
        "I have a question", "I have no idea", "cheaper ones please", "what would suit my mother?", "can I return it?", "sneakers under 20k", "👍",
        "", "   ", "???", "that one is too expensive",
    ],
)  # fmt: skip
def test_requests_questions_and_small_talk_leave_nothing(text: str) -> None:
    assert extract(text).facts == ()


def test_a_want_is_kept_as_what_she_is_after_now() -> None:
    assert [(f.kind, f.text) for f in extract("I want black shoes").facts] == [("want", "wants black shoes")]
    assert extract("I want black shoes").facts[0].slot != extract("I want white shirts").facts[0].slot


@pytest.mark.parametrize("text", ["I stopped being vegan", "I am no longer vegan", "I'm not vegan any more"])
def test_giving_up_what_one_was_ends_it_without_a_new_fact(text: str) -> None:
    (fact,) = extract(text).facts
    assert fact.retracts
    assert fact.slot == extract("I am vegan").facts[0].slot


def test_a_fact_before_a_question_is_kept_and_the_question_is_not() -> None:
    assert read("I'm allergic to nuts, do you have nut-free snacks?") == [("allergic to nuts", -1)]


def test_two_things_in_one_sentence_are_two_facts_and_one_thing_with_two_colours_is_one() -> None:
    assert read("I like linen and my budget is 30k") == [("likes linen", 1), ("budget is 30k", 0)]
    assert read("I don't like red or green") == [("dislikes red", -1), ("dislikes green", -1)]
    assert read("I like black and white shirts") == [("likes black and white shirts", 1)]


@pytest.mark.parametrize("between", ["   ", "\t", "\u00a0" * 40, " " * 3_000])
def test_space_of_any_width_is_one_space(between: str) -> None:
    assert read(f"I like{between}blue") == [("likes blue", 1)]


def test_a_remembered_sentence_that_no_rule_reads_becomes_a_note() -> None:
    assert read("remember that the gate code changes on Mondays") == [("the gate code changes on Mondays", 0)]


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("30k", (30_000, None)),
        ("₦30,000", (30_000, "NGN")),
        ("1.5m naira", (1_500_000, "NGN")),
        ("$50", (50, "USD")),
        ("none", None),
    ],
)
def test_amounts_of_money(text: str, amount: tuple[float, str | None] | None) -> None:
    assert read_amount(text) == amount


@pytest.mark.parametrize(
    "text",
    ["likes brown belts", "is vegan", "name is Ada", "allergic to peanuts", "avoids wool", "never wears black", "mother wears size 38 shoe",
     "favourite drink is malt", "only buys unscented soap", "concern: acne", "goal: lose weight"],
)  # fmt: skip
def test_a_row_reads_back_as_the_fact_that_wrote_it(text: str) -> None:
    assert read_row(text).text == text
    assert read_row(text).kind != "note"


def test_things_have_one_spelling() -> None:
    assert canonical_object("the colour Blue") == canonical_object("blue") == canonical_object("blue color")
    assert canonical_object("leather shoes, black") == canonical_object("black leather shoe")
    assert canonical_object("style 3-1") != canonical_object("style 1-3")
    assert split_list("red, blue and green") == ["red", "blue", "green"]


@given(st.text(max_size=300))
def test_any_text_can_be_heard(text: str) -> None:
    for fact in extract(text).facts:
        assert fact.key.startswith(fact.slot)
        assert fact.retracts or fact.text


@given(
    st.sampled_from(LIKES),
    st.sampled_from(["", "abeg ", "Actually, ", "so "]),
    st.sampled_from(["", ".", "!", " o", " please"]),
)
def test_fillers_change_nothing(text: str, before: str, behind: str) -> None:
    assert [fact.key for fact in extract(before + text + behind).facts] == [
        fact.key for fact in extract(text).facts
    ]
