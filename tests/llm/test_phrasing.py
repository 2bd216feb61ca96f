"""A model's words reach the shopper only when every fact in them is one of the sheet's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shops import assistant

from ego_cli.conversation.models import firm_names
from ego_cli.conversation.phrasing import (
    AuditError,
    FactSheet,
    Named,
    ProductFacts,
    audited,
    fact_sheet,
    with_words,
)


@pytest.fixture(scope="module")
def sheet() -> FactSheet:
    done = assistant(None).respond("kettles under 16k")
    made = fact_sheet(done.decision, done.reply.cards, said=done.text, language="en")
    assert made is not None
    return made


@pytest.fixture(scope="module")
def named() -> Named:
    lexicon = assistant(None).lexicon
    return lambda text: firm_names(lexicon, text)


@pytest.mark.parametrize(
    "words",
    [
        "The Brewa steel kettle costs ₦12,000 and is rated 4.6 by 220 people.",
        "Zapp is the cheapest at 9,000 naira.",
        "At 12k the Brewa has the highest rating, 4.6/5.",
        "Brewa leads. All of these are under your ₦16,000.",
        "The Homa glass kettle holds 1.7L. It costs ₦15,500.",
        "Brewa's kettle is rated 4.6 out of 5 from 220 people.",
        "With the Brewa you save ₦4,000.",
    ],
)
def test_words_made_of_the_facts_pass(words: str, sheet: FactSheet, named: Named) -> None:
    assert " ".join(audited([words], sheet, named)) == words


def test_a_product_that_shares_every_word_with_its_siblings_is_named_by_its_whole_name() -> None:
    sizes = [("10000mAh", "Black", 6900.0), ("10000mAh", "White", 7100.0), ("20000mAh", "Black", 9900.0)]
    products = tuple(
        ProductFacts(
            f"Chaj bank {size} {colour}", frozenset({"chaj", "bank", size.lower(), colour.lower()}),
            frozenset({price}), frozenset(), price, None,
        )
        for size, colour, price in sizes
    )  # fmt: skip
    words = frozenset().union(*(product.words for product in products), {"costs"})
    sheet = FactSheet(
        "", "en", {}, products, words, frozenset({"10000mah", "20000mah"}), frozenset(), frozenset()
    )
    said = "Chaj bank 10000mAh Black costs ₦6,900."
    assert list(audited([said], sheet, lambda text: ())) == [said]
    with pytest.raises(AuditError):  # the white one does
        list(audited(["Chaj bank 10000mAh Black costs ₦7,100."], sheet, lambda text: ()))


@pytest.mark.parametrize(
    "words",
    [
        "The Zapp kettle has five stars and is the top choice.",
        "The Zapp kettle has 5 stars.",
        "The Zapp kettle is rated 4.6.",  # the Brewa is
        "The Brewa costs ₦9,000.",  # the Zapp does
        "The Brewa is a bargain. It costs ₦9,000.",
        "The Brewa costs NGN 11,999.",
        "The Brewa costs twelve dollars.",
        "The Brewa boils 40% faster.",
        "Consider the Philips kettle.",
        "Philips is good too.",
        "The Brewa Ultra is great.",
        "The Voltgo one is good.",
        "A voltgo one is good.",
        "Zapp is the highest rated.",
        "Homa is the cheapest.",
        "It is the best.",
        "The Zapp kettle is the best.",
        "The Brewa comes with free delivery.",
        "The Brewa has a two-year warranty.",
        "The Brewa holds 3 litres.",
        "The Brewa is model BX200.",
        "The Brewa comes in purple leather.",
        "See https://brewa.example for more.",
        "**Brewa** is good.",
        '{"category": "kettles"}',
        "Kettles \x1b[31m are here.",
        "",
        "not json",
        "I am sorry, that is beyond me.",
        "Brewa " + "kettle " * 90 + ".",
    ],
)
def test_words_with_anything_else_do_not(words: str, sheet: FactSheet, named: Named) -> None:
    with pytest.raises(AuditError):
        list(audited([words], sheet, named))


def test_sentences_are_let_through_one_by_one_until_the_first_that_fails(
    sheet: FactSheet, named: Named
) -> None:
    passed = []
    with pytest.raises(AuditError):
        for sentence in audited(["The Brewa is here. The Brewa co", "sts ₦1. More."], sheet, named):
            passed.append(sentence)
    assert passed == ["The Brewa is here."]


def test_a_sentence_that_was_not_finished_is_left_out(sheet: FactSheet, named: Named) -> None:
    assert list(audited(["The Brewa is here. The Zapp cos"], sheet, named)) == ["The Brewa is here."]


@given(st.integers(1, 10**7))
def test_no_price_but_the_lists_own_passes(sheet: FactSheet, named: Named, price: int) -> None:
    allowed = {9_000, 12_000, 15_500, 16_000, 7_000, 4_000, 500}
    words = f"Brewa, Zapp and Homa cost up to ₦{price:,}."
    if price in allowed:
        assert list(audited([words], sheet, named)) == [words]
    else:
        with pytest.raises(AuditError):
            list(audited([words], sheet, named))


def test_what_the_rules_had_to_say_they_still_say() -> None:
    one = assistant(None)
    done = one.respond("kettles under 5k")
    assert (
        fact_sheet(done.decision, done.reply.cards, said="", language="en") is None
        or done.decision.relaxations
    )
    two = one.respond("a kettle and a power bank").decision
    leads = [group.lead for group in two.groups]
    assert [group.lead for group in with_words(two, "Both are here.").groups] == leads


def test_nothing_hostile_of_a_product_is_in_what_is_sent(sheet: FactSheet) -> None:
    sent = str(sheet.prompt().messages)
    assert "disregard" not in sent and "five stars" not in sent
