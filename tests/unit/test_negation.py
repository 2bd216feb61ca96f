"""Negation: what is avoided is avoided, and its scope ends where people mean it to end."""

from __future__ import annotations

import pytest

from ego_cli.conversation.understand import Context, Lexicon, understand
from ego_cli.conversation.understand.acts import Kind

LEXICON = Lexicon.build(())


def avoided(text: str) -> set[str]:
    return {
        a.value or ""
        for a in understand(text, LEXICON, Context()).acts
        if a.kind is Kind.CONSTRAIN and a.polarity < 0
    }


def wanted(text: str) -> set[str]:
    found = understand(text, LEXICON, Context()).acts
    return {a.value or "" for a in found if a.kind in (Kind.NEED, Kind.CONSTRAIN) and a.polarity > 0}


@pytest.mark.parametrize(
    "cue",
    [
        "no leather", "not leather", "without leather", "anything but leather", "except leather", "I hate leather", "I can't stand leather",
        "I don't want leather", "I'm allergic to leather", "avoid leather", "I no want leather", "wey no be leather", "make e no be leather",
        "nothing made of leather", "steer clear of leather", "-leather", "actually no leather",
    ],
)  # fmt: skip
def test_each_way_to_say_no(cue: str) -> None:
    assert "leather" in avoided(f"boots, {cue}" if cue != "-leather" else "boots -leather")


@pytest.mark.parametrize(
    ("sentence", "out", "kept"),
    [
        ("no heels, red dress with pockets", {"heel"}, {"red", "dress", "pockets"}),
        ("shoes, no leather or suede", {"leather", "suede"}, {"shoe"}),
        ("shoes in neither leather nor suede", {"leather", "suede"}, {"shoe"}),
        ("no trainers but black boots", {"trainer"}, {"black", "boot"}),
        ("no leather, suede or velvet on the shoes", {"leather", "suede", "velvet"}, {"shoe"}),
        ("I don't want black, show me a blue skirt", {"black"}, {"blue", "skirt"}),
        ("a dress in any colour except black", {"black"}, {"dress"}),
        ("no be black o, na red dress I want", {"black"}, {"red", "dress"}),
        ("not too tight trousers", {"tight"}, {"trousers"}),
        ("everything but yellow umbrellas", {"yellow"}, {"umbrella"}),
    ],
)
def test_scope_ends_where_it_should(sentence: str, out: set[str], kept: set[str]) -> None:
    assert out <= avoided(sentence)
    assert kept <= wanted(sentence)
    assert not kept & avoided(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "no problem, show me the red dress", "not only black dresses", "sneakers, and I don't mind leather", "no-show socks", "a non-stick pan",
        "non slip shoes", "sugar-free biscuits", "wireless mouse", "no doubt, the blue gown", "no wahala, bring the red dress",
        "I do not dislike blue", "it is not that I hate leather", "anti-glare screen protector", "a no-frost freezer", "why not show me belts",
        "I wouldn't say no to a red one", "seamless bra",
    ],
)  # fmt: skip
def test_false_cues_exclude_nothing(sentence: str) -> None:
    assert avoided(sentence) == set()


@pytest.mark.parametrize(
    ("sentence", "attribute"),
    [
        ("the brand doesn't matter", "brand"), ("forget the colour", "colour"), ("ignore the budget", "price"), ("regardless of weight", "weight"),
        ("any colour is fine", "colour"), ("I don't care about the material", "material"), ("price no matter", "price"),
    ],
)  # fmt: skip
def test_what_is_no_longer_required_is_not_avoided(sentence: str, attribute: str) -> None:
    found = understand(sentence, LEXICON, Context(categories=("shoes",))).acts
    assert any(a.kind is Kind.RELAX and a.attribute == attribute and a.polarity > 0 for a in found)
    assert all(a.polarity > 0 for a in found)


def test_an_exclusion_is_lifted_by_welcoming_the_thing() -> None:
    for sentence in ("black is fine too", "I don't mind black", "you can include black"):
        found = understand(sentence, LEXICON, Context(categories=("dress",))).acts
        assert any(a.kind is Kind.RELAX and a.value == "black" and a.polarity < 0 for a in found), sentence
