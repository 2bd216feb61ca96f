"""A second look may settle near-ties. It adds nothing, hides nothing and proves what it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ego_cli.catalog.product import Product
from ego_cli.ranking.persona import NEAR, Order, persona_for, second_look, worth_a_look
from ego_cli.ranking.request import Request
from ego_cli.ranking.scored import Ranked, Scored


def listed(*totals: float) -> Ranked:
    products = [
        Product(str(i), f"Kettle {i}", features=(f"feature {i} of steel",)) for i in range(len(totals))
    ]
    return Ranked(
        tuple(Scored(product, total, {}, {}) for product, total in zip(products, totals, strict=True))
    )


def ids(ranked: Ranked) -> str:
    return "".join(scored.product.id for scored in ranked.items)


def looked(ranked: Ranked, order: str, request: Request | None = None, **reasons: str) -> Ranked:
    given = Order(tuple(order), {key.lstrip("p"): words for key, words in reasons.items()})
    return second_look(ranked, request or Request(), lambda persona, items: given)


def test_near_ties_take_the_experts_order() -> None:
    assert ids(looked(listed(10.0, 9.9, 9.8, 5.0), "2103")) == "2103"


def test_a_clear_lead_is_kept_whatever_the_expert_says() -> None:
    assert ids(looked(listed(10.0, 8.0, 5.0), "210")) == "012"


def test_an_order_that_she_asked_for_is_hers() -> None:
    sorted_by_rating = Request(sort=("rating", -1))
    assert not worth_a_look(listed(10.0, 9.9), sorted_by_rating)
    assert ids(looked(listed(10.0, 9.9), "10", sorted_by_rating)) == "01"


def test_what_the_expert_adds_repeats_or_leaves_out_changes_nothing_else() -> None:
    assert ids(looked(listed(10.0, 9.9, 9.8), "9922")) == "201"


def test_nothing_said_leaves_the_list_as_it_was() -> None:
    before = listed(10.0, 9.9)
    assert second_look(before, Request(), lambda persona, items: None) is before


@given(st.lists(st.floats(0.1, 100), min_size=2, max_size=12), st.text("0123456789x", max_size=15))
def test_no_order_moves_a_product_past_one_that_leads_by_more_than_the_margin(
    totals: list[float], order: str
) -> None:
    before = listed(*sorted(totals, reverse=True))
    after = looked(before, order)
    assert sorted(ids(after)) == sorted(ids(before))
    margin = NEAR * before.items[0].total
    for place, scored in enumerate(after.items):
        assert all(later.total - scored.total <= margin for later in after.items[place:])


def test_a_reason_is_kept_only_where_a_stored_field_says_it() -> None:
    proved = looked(listed(10.0, 9.9), "10", p1="Feature 1 of steel", p0="lasts for ever")
    first, second = proved.items
    assert [(reason.tag, reason.field) for reason in first.reasons] == [("Feature 1 of steel", "features[0]")]
    assert second.reasons == ()


def test_the_expert_is_the_one_of_the_goods() -> None:
    cream = Product("c", "Day cream", categories=("Beauty", "Skincare", "Moisturizers"))
    assert persona_for([cream]) != persona_for([Product("x", "zzz")])
