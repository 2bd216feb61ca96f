"""References: which of the shown items words point at."""

from __future__ import annotations

import pytest

from ego_cli.conversation.understand import Act, Context, Lexicon, understand
from ego_cli.conversation.understand.acts import Kind

LEXICON = Lexicon.build(())
SHOWN = Context(
    shown=("Acer Aspire laptop, silver", "HP Pavilion laptop, black", "Dell Vostro laptop, grey"),
    categories=("laptop",),
)


def pointing(text: str, context: Context = SHOWN) -> Act:
    return next(a for a in understand(text, LEXICON, context).acts if a.target is not None)


@pytest.mark.parametrize(
    ("sentence", "positions"),
    [
        ("the second one", (2,)), ("compare 1 and 3", (1, 3)), ("compare the first and the last", (1, -1)), ("the last two", (-2, -1)),
        ("add numbers two and three", (2, 3)), ("why number 2?", (2,)), ("how much is #3", (3,)), ("more like the first", (1,)),
        ("I'll take the third", (3,)), ("add the 2nd one", (2,)), ("the first three", (1, 2, 3)), ("the last one na how much?", (-1,)),
        ("the second to last one", (-2,)), ("1 vs 2", (1, 2)),
    ],
)  # fmt: skip
def test_positions(sentence: str, positions: tuple[int, ...]) -> None:
    target = pointing(sentence).target
    assert target is not None
    assert (target.how, target.positions) == ("ordinal", positions)


@pytest.mark.parametrize(
    ("sentence", "how", "words"),
    [
        ("add the black one", "attribute", "black"), ("how much is that one", "last", ""), ("add it to my cart", "last", ""),
        ("add am for my cart", "last", ""), ("compare all of them", "all", ""), ("I'll take the cheapest", "extreme", "price"),
        ("tell me about the HP", "name", "hp"), ("add both", "all", ""),
    ],
)  # fmt: skip
def test_words_that_point(sentence: str, how: str, words: str) -> None:
    target = pointing(sentence).target
    assert target is not None
    assert target.how == how
    assert words in target.words


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("which has the longest battery?", Kind.ASK), ("how much e be?", Kind.ASK), ("is it waterproof?", Kind.ASK), ("why this one?", Kind.WHY),
        ("show more", Kind.SHOW_MORE), ("go back", Kind.GO_BACK), ("not that one", Kind.REJECT), ("none of these", Kind.NONE_OF_THESE),
        ("that one but in blue", Kind.REFER), ("something similar", Kind.MORE_LIKE), ("add the second in a 42", Kind.BASKET_ADD),
    ],
)  # fmt: skip
def test_what_is_done_with_them(sentence: str, kind: Kind) -> None:
    assert kind in {a.kind for a in understand(sentence, LEXICON, SHOWN).acts}


def test_with_nothing_on_the_screen_the_black_one_is_a_wish() -> None:
    acts = understand("the black one", LEXICON, Context(categories=("dress",))).acts
    assert [(a.attribute, a.value) for a in acts] == [("colour", "black")]


def test_options_go_with_the_thing_that_is_added() -> None:
    act = pointing("add two of the second in a 42")
    assert (act.kind, act.number, act.values) == (Kind.BASKET_ADD, 2.0, ("size=42",))


@pytest.mark.parametrize(
    ("sentence", "attribute", "sign"),
    [
        ("lighter", "weight", -1), ("something cheaper", "price", -1), ("too heavy", "weight", -1), ("the battery is rubbish", "battery", 1),
        ("e too cost", "price", -1), ("more supportive", "supportive", 1), ("with a longer cable", "cable", 1), ("not light enough", "weight", -1),
        ("less pricey", "price", -1), ("the zip feels flimsy", "zip", 1), ("easier to clean", "clean", 1),
    ],
)  # fmt: skip
def test_wishes_against_what_was_shown(sentence: str, attribute: str, sign: int) -> None:
    wishes = [a for a in understand(sentence, LEXICON, SHOWN).acts if a.kind is Kind.RELATIVE]
    assert [(a.attribute, a.number) for a in wishes] == [(attribute, float(sign))]
