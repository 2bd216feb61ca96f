"""What a model proposes for an odd sentence counts only where the shop knows it and the shopper said it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shops import assistant

from ego_cli.conversation.reading import Proposal, checked, guesses, merged, worth_asking
from ego_cli.conversation.turn import Assistant
from ego_cli.conversation.understand import understand
from ego_cli.conversation.understand.acts import Act, Kind, Operator, Understanding

SAID = "gizmo for my tea habit, not in blue, at most 12k abeg"


@pytest.fixture(scope="module")
def shop() -> Assistant:
    return assistant(None)


def acts(shop: Assistant, proposal: Proposal, said: str = SAID) -> list[Act]:
    bare = Understanding(said, (Act(Kind.UNCLEAR),))
    return list(checked(proposal, bare, shop.lexicon, shop.catalogue))


def test_a_category_of_the_shop_with_a_quote_becomes_a_need(shop: Assistant) -> None:
    (need,) = acts(shop, Proposal(category="kettle", quotes={"category": "gizmo for my tea habit"}))
    assert need.kind is Kind.NEED and need.value and need.value.startswith("kettle")
    assert (need.words, need.source) == ("gizmo for my tea habit", "model")


@pytest.mark.parametrize(
    "proposal",
    [
        Proposal(category="kettle"),  # no words of hers
        Proposal(category="kettle", quotes={"category": "she wants a kettle"}),  # not her words
        Proposal(category="helicopter", quotes={"category": "gizmo"}),  # not in the shop
        Proposal(brand="Philips", quotes={"brand": "gizmo"}),
        Proposal(colour="mauve", quotes={"colour": "blue"}),
        Proposal(price_max=11_000),  # not her number
        Proposal(price_min=9_000),
        Proposal(exclude=("steel",), quotes={"exclude": "not in blue"}),  # she did not name it
        Proposal(features=("levitates",), quotes={"features": "gizmo"}),  # no product speaks of it
    ],
)
def test_what_the_shop_or_the_shopper_does_not_bear_out_is_dropped(
    shop: Assistant, proposal: Proposal
) -> None:
    assert acts(shop, proposal) == []


def test_a_bound_is_taken_only_from_a_number_of_the_message(shop: Assistant) -> None:
    (bound,) = acts(shop, Proposal(price_max=12_000))
    assert (bound.attribute, bound.operator, bound.number) == ("price", Operator.MAX, 12_000)


def test_an_exclusion_needs_a_negation_in_her_words(shop: Assistant) -> None:
    (away,) = acts(shop, Proposal(exclude=("blue",), quotes={"exclude": "not in blue"}))
    assert (away.polarity, away.value) == (-1, "blue")
    assert acts(shop, Proposal(exclude=("blue",)), "something blue") == []


@given(
    st.builds(Proposal, category=st.text(max_size=8), colour=st.text(max_size=8), price_max=st.floats(1, 1e6))
)
def test_no_invented_proposal_changes_what_she_said(shop: Assistant, proposal: Proposal) -> None:
    assert acts(shop, proposal, "zzyzx qwv") == []


def test_a_model_adds_to_what_was_read_and_replaces_only_guesses(shop: Assistant) -> None:
    read = understand("a red kettle under 12k", shop.lexicon)
    proposal = Proposal(
        category="power banks",
        colour="blue",
        price_max=12_000,
        quotes={"category": "kettle", "colour": "red"},
    )
    assert checked(proposal, read, shop.lexicon, shop.catalogue) == ()
    odd = understand("zoomfanglers for the kitchen", shop.lexicon)
    assert guesses(odd, shop.lexicon)
    found = checked(
        Proposal(category="kettles", quotes={"category": "zoomfanglers"}), odd, shop.lexicon, shop.catalogue
    )
    after = merged(odd, found, shop.lexicon)
    assert [act.value for act in after if act.kind is Kind.NEED] == [found[0].value]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("kettles under 16k", False),
        ("show me power banks", False),
        ("thanks, bye", False),
        ("add the first one", False),
        ("what do you know about me?", False),
        ("zoomfanglers and wobblewumps please", True),
        ("that was everything i had", False),
    ],
)
def test_a_model_is_asked_only_about_what_the_shop_has_no_word_for(
    shop: Assistant, said: str, asked: bool
) -> None:
    assert worth_asking(understand(said, shop.lexicon), shop.lexicon) is asked
