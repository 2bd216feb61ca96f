"""Simulated customers keep to the protocol in what they say and when, in every way of speaking."""

from __future__ import annotations

import dataclasses
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.catalog.product import Product
from ego_cli.errors import NotFoundError
from ego_cli.evaluation.cards import Constraint, Facts, Session, attribute_of, category_of, make_card
from ego_cli.evaluation.customers import Customer
from ego_cli.evaluation.speech import PARTS, WAYS, Speech, gist
from ego_cli.settings import load_toml

SHIRT = Product(
    "p1",
    "Acme Women's Summer Shirt",
    categories=("Clothing, Shoes & Jewelry", "Women", "Clothing", "Blouses & Button-Down Shirts"),
    price=23.4,
    currency="USD",
    features=("Machine Wash", "Button closure", "Breathable fabric keeps you cool", "Imported"),
    details={"Department": "womens", "Fabric": "100% Cotton", "Color": "Sky Blue"},
)


def session(scenario: str = "buying", product: Product = SHIRT, **more: Any) -> Session:
    return Session("s-1", scenario, product.id, make_card(product), **more)


def talk(of: Session, way: str = "wire", part: str = "test") -> Customer:
    return Customer(of, Speech(way, part, "1"))


def test_a_card_leads_with_material_and_colour_and_holds_four_constraints():
    assert [c.text for c in make_card(SHIRT).constraints] == [
        "cotton",
        "color: Sky Blue".lower(),
        "Machine Wash",
        "Button closure",
    ]


def test_the_budget_comes_last_and_only_where_there_is_room():
    thin = Product(
        "p", "Mug", categories=("Home", "Mugs"), price=7.5, currency="USD", features=("Holds 300 ml",)
    )
    assert make_card(thin).constraints[-1] == Constraint("budget around $7.50", "budget")
    assert all(c.attribute != "budget" for c in make_card(SHIRT).constraints)


def test_long_bullets_are_cut():
    product = dataclasses.replace(SHIRT, features=("word " * 100,))
    assert max(len(c.text) for c in make_card(product).constraints) <= 180


def test_the_category_is_the_last_two_names_without_the_root():
    assert category_of(SHIRT) == ("Clothing", "Blouses & Button-Down Shirts")
    assert category_of(Product("p", "x", categories=("Root", "Mugs"))) == ("", "Mugs")
    assert category_of(Product("p", "Roadster Women Blue Skinny Fit Jeans")) == ("", "fit jeans")


def test_a_row_with_a_title_only_still_gives_something_to_say():
    phone = Product(
        "p",
        "XIAOMI Redmi 15C 6.9'' 4GB RAM/128GB ROM Android 15 - Midnight Black",
        categories=("phones-tablets",),
    )
    assert len(make_card(phone).constraints) >= 3


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("color: black", "color"),
        ("cotton", "material"),
        ("100% Cotton", "material"),
        ("budget around $20", "budget"),
        ('Heel measures approximately 3"', "size"),
        ("Brand: Acme", "brand"),
        ("Machine Wash", "feature"),
    ],
)
def test_constraints_know_their_attribute(text, attribute):
    assert attribute_of(text) == attribute


def test_wire_buying_session_word_for_word():
    customer = talk(session("buying"))
    assert customer.opening() == (
        "I'm looking for Clothing Blouses & Button-Down Shirts. A key requirement is: cotton."
    )
    assert customer.answer(2, "other", []) == "For that, what matters is: color: sky blue; Machine Wash."
    assert customer.answer(3, "brand", []) == "I don't have an additional preference for brand."
    assert customer.answer(4, None, []).startswith("Those options are not quite right yet.")
    assert customer.answer(5, "other", []) == "For that, what matters is: Button closure."
    assert customer.answer(6, "other", []) == "I don't have an additional preference for other."


def test_only_constraints_of_the_asked_attribute_are_told():
    customer = talk(session("browsing"))
    customer.opening()
    assert customer.answer(2, "material", []) == "For that, what matters is: cotton."


def test_a_boundary_customer_has_no_preference_once():
    customer = talk(session("boundary"))
    assert customer.opening().endswith("but I'm still exploring.")
    assert customer.answer(2, "color", []) == "I don't have a preference for color; please use your judgment."
    assert "cotton" in customer.answer(3, "other", [])


def test_an_override_brings_the_first_hard_constraint_and_hits_count_from_then_on():
    customer = talk(session("override", old=Constraint("polyester", "material"), change_turn=3))
    assert customer.opening().endswith("Shirts. polyester")
    assert "cotton" not in customer.answer(2, "other", [])
    assert not customer.counts(2)
    assert customer.answer(3, "other", []) == (
        "Actually, ignore my earlier preference. What I need is: cotton."
    )
    assert customer.counts(3)


def test_reworded_customers_say_constraints_word_for_word_and_plain_ones_do_not():
    for seed in range(20):
        of = session(product=dataclasses.replace(SHIRT, features=("Machine Wash", "Imported"), details={}))
        of = dataclasses.replace(
            of, card=dataclasses.replace(of.card, constraints=(Constraint("Machine Wash", "feature"),))
        )
        assert "Machine Wash" in Customer(of, Speech("reworded", "test", str(seed))).opening()
        assert "Machine Wash" not in Customer(of, Speech("plain", "test", str(seed))).opening()


def test_people_repeat_the_gist_without_the_advertising():
    said = gist(
        '★PREMIUM QUALITY★ Our amazing ankle boots are designed with a 2.5" heel, and much much more text follows here'
    )
    assert "premium" not in said and "amazing" not in said
    assert "2.5 inch heel" in said
    assert len(said.split()) <= 14


@given(st.text(min_size=1, max_size=200), st.sampled_from(WAYS), st.sampled_from(PARTS))
def test_any_constraint_can_be_said(text, way, part):
    assert isinstance(Speech(way, part, "x").need(Constraint(text, attribute_of(text))), str)


def test_the_same_seed_says_the_same_and_another_says_it_otherwise():
    openings = {Customer(session(), Speech("plain", "test", str(n))).opening() for n in range(12)}
    assert len(openings) > 4
    assert talk(session(), "plain").opening() == talk(session(), "plain").opening()


def test_typing_slips_touch_long_words_only_and_few_of_them():
    before = "I need comfortable shoes with 6.5 inch platform"
    after = Speech("plain", "test", "3").slip(before)
    changed = [(a, b) for a, b in zip(before.split(), after.split(), strict=True) if a != b]
    assert 1 <= len(changed) <= 2
    assert all(len(a) >= 5 for a, _ in changed)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("part", PARTS)
def test_every_wording_can_be_filled_in(way, part):
    slots = dict.fromkeys(
        ("category", "need", "old", "a", "b", "attribute", "other", "amount", "thing", "ordinal", "number"),
        "X",
    )
    for act, entry in load_toml("customers", f"{way}.toml")["acts"].items():
        for form in entry.get("forms") or entry[part]:
            names = {name for _, name, _, _ in string.Formatter().parse(form) if name}
            assert names <= set(slots), f"{way} {act}: {form}"
            assert form.format(**slots)


@pytest.mark.parametrize("way", [w for w in WAYS if w != "wire"])
def test_tuning_and_test_wordings_have_nothing_in_common(way):
    for act, entry in load_toml("customers", f"{way}.toml")["acts"].items():
        assert not set(entry["tuning"]) & set(entry["test"]), act


def test_every_way_of_speaking_knows_every_act():
    acts = [set(load_toml("customers", f"{way}.toml")["acts"]) for way in WAYS]
    assert all(a == acts[0] for a in acts)


def test_unknown_ways_and_parts_are_named():
    with pytest.raises(NotFoundError, match="klingon"):
        Speech("klingon", "test", "")
    with pytest.raises(NotFoundError, match="secret"):
        Speech("plain", "secret", "")


def test_a_remark_about_the_list_is_true():
    cheap = session(
        "reference", facts=Facts(price=10.0), rivals={"a": Facts(price=50.0), "b": Facts(price=40.0)}
    )
    dear = dataclasses.replace(cheap, facts=Facts(price=90.0))
    assert (
        talk(cheap).answer(2, "other", ["a", "b"])
        == "Those options are too expensive. I need something cheaper."
    )
    assert "more expensive" in talk(dear).answer(2, "other", ["a", "b"])


def test_a_product_that_shares_something_is_pointed_at_by_its_place():
    of = session(
        "reference", facts=Facts(brand="Acme"), rivals={"a": Facts(brand="Other"), "b": Facts(brand="Acme")}
    )
    assert talk(of).answer(2, "other", ["a", "b"]).startswith("Option 2 is close")


def test_a_stated_limit_leaves_room_for_the_target():
    for price in (3.0, 23.4, 199.0, 15_630.0):
        said = talk(session("budget", facts=Facts(price=price))).answer(2, "other", [])
        limit = float(said.split("at most $")[1].split(". ")[0].rstrip(".").replace(",", ""))
        assert price < limit < 2.5 * price


def test_a_changed_mind_after_a_fresh_start_tells_everything_again():
    customer = talk(
        session("mind_change", old=Constraint("wool", "material"), change_turn=3, change="restart")
    )
    customer.opening()
    told = customer.answer(2, "other", [])
    customer.answer(3, "other", [])
    assert customer.answer(4, "other", []) == told
