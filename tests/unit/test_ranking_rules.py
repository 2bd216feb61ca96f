"""Hard rules: what is promised is kept, whatever the score."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ego_cli.catalog.product import Product
from ego_cli.catalog.store import Catalogue, memory_catalogue
from ego_cli.ranking import count, rank
from ego_cli.ranking.request import Exclusion, Personal, Request, Requirement

SHOP = [
    Product("sneaker", "Torva canvas sneakers, red", categories=("sneakers",), price=14_500, features=("canvas upper",), colours=("red",), sizes=("40", "41", "42")),
    Product("leather", "Torva leather sneakers, white", categories=("sneakers",), price=18_500, features=("leather upper",), colours=("white",), sizes=("38", "39", "40"), rating=4.9, rating_count=9_000),
    Product("black", "Sade Row wrap dress, black", categories=("dresses",), price=21_000, colours=("black",)),
    Product("red", "Sade Row midi dress with pockets, red", categories=("dresses",), price=19_500, colours=("red",)),
    Product("plain", "Sade Row day dress", categories=("dresses",), price=9_000),
    Product("unpriced", "Sade Row tea dress, red", categories=("dresses",), colours=("red",)),
    Product("doubtful", "Sade Row sun dress, red", categories=("dresses",), price=1_234, colours=("red",), flags=("price_ambiguous",)),
    Product("dresser", "Oak dresser", categories=("furniture",), price=90_000),
    Product("phone", "Zuri A5 phone 64GB", categories=("phones",), price=78_000, features=("5000mAh battery",)),
    Product("stand", "Phone ring stand", categories=("phone stands",), price=900, rating=5.0, rating_count=50_000),
    Product("bank10", "Voltgo 10000mAh power bank", categories=("power banks",), price=11_500, details={"Capacity": "10,000 mAh"}),
    Product("bank20", "Voltgo 20000mAh power bank", categories=("power banks",), price=17_500, details={"Capacity": "20000 mAh"}),
    Product("lotion", "Halo fragrance-free body lotion 400ml", categories=("body care",), price=4_000),
    Product("rose", "Halo rose fragrance body lotion 400ml", categories=("body care",), price=4_000),
    Product("iron", "Swirl steam iron", categories=("irons",), price=9_000),
    Product("pill", "Iron supplement 65mg", categories=("supplements",), price=3_000),
    Product("laptop", "Pexel laptop 8GB RAM 512GB SSD", categories=("laptops",), price=240_000),
]  # fmt: skip


@pytest.fixture(scope="module")
def shop() -> Catalogue:
    return memory_catalogue(SHOP, currency="NGN")


def ids(shop: Catalogue, **wish: Any) -> list[str]:
    return [item.product.id for item in rank(shop, Request(**wish)).items]


def must(attribute: str, *values: str, **more: Any) -> tuple[Requirement, ...]:
    return (Requirement(attribute, values=values, hard=True, **more),)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("phone", ["phone"]),
        ("phones", ["phone"]),
        ("phone stand", ["stand"]),
        ("iron", ["iron"]),
        ("iron supplement", ["pill"]),
        ("dresser", ["dresser"]),
        ("power bank", ["bank10", "bank20"]),
        ("shoes", ["sneaker", "leather"]),
        ("trainers", ["sneaker", "leather"]),
    ],
)
def test_a_type_brings_that_type_only(shop: Catalogue, asked: str, found: list[str]) -> None:
    assert sorted(ids(shop, category=asked)) == sorted(found)


def test_two_types_bring_both(shop: Catalogue) -> None:
    assert set(ids(shop, category="dress and sneakers")) >= {"red", "sneaker"}
    assert "phone" not in ids(shop, category="dress and sneakers")


@pytest.mark.parametrize("asked", ["gown", "frock"])
def test_another_word_for_a_type_is_known(shop: Catalogue, asked: str) -> None:
    assert "red" in ids(shop, category=asked)
    assert rank(shop, Request(category=asked)).type_known


def test_a_type_that_is_not_sold_is_said_to_be_so(shop: Catalogue) -> None:
    assert not rank(shop, Request(category="bicycle")).type_known


def test_an_exclusion_is_never_shown_however_well_liked(shop: Catalogue) -> None:
    personal = Personal(brand_affinity={"torva": 1.0}, tried={"leather": 1.0})
    found = ids(shop, category="sneakers", exclusions=(Exclusion("leather"),), personal=personal)
    assert found == ["sneaker"]


def test_x_free_does_not_carry_x(shop: Catalogue) -> None:
    assert ids(shop, category="body lotion", exclusions=(Exclusion("fragrance"),)) == ["lotion"]


def test_what_was_asked_for_by_a_longer_name_is_not_excluded_by_the_shorter() -> None:
    bags = [Product("real", "Leather bag"), Product("faux", "Faux leather bag")]
    shop = memory_catalogue(bags)
    no_leather = (Exclusion("leather"),)
    assert ids(shop, category="bag", exclusions=no_leather) == []
    assert ids(
        shop, category="bag", exclusions=no_leather, requirements=must("material", "faux leather")
    ) == ["faux"]


def test_an_excluded_colour_is_not_shown(shop: Catalogue) -> None:
    assert "black" not in ids(shop, category="dress", exclusions=(Exclusion("black", "colour"),))


def test_an_excluded_type_is_not_shown(shop: Catalogue) -> None:
    assert "sneaker" not in ids(shop, exclusions=(Exclusion("shoes"),))


def test_a_rejected_product_stays_away(shop: Catalogue) -> None:
    assert "red" not in ids(shop, category="dress", hidden=frozenset({"red"}))


def test_a_price_bound_holds_and_no_price_never_passes_it(shop: Catalogue) -> None:
    found = ids(shop, category="dress", price_max=20_000.0)
    assert sorted(found) == ["plain", "red"]


def test_without_a_bound_an_unpriced_product_is_welcome(shop: Catalogue) -> None:
    assert "unpriced" in ids(shop, category="dress")


def test_the_cheapest_that_fits_but_for_its_price_is_told(shop: Catalogue) -> None:
    ranked = rank(shop, Request(category="dress", price_max=500.0))
    assert ranked.items == () and ranked.cheapest == 9_000


def test_a_stated_colour_decides(shop: Catalogue) -> None:
    found = ids(shop, category="dress", requirements=must("colour", "red"))
    assert "black" not in found
    assert found.index("red") < found.index("plain")  # who does not say comes after who says


def test_a_size_that_is_not_there_is_not_shown(shop: Catalogue) -> None:
    assert ids(shop, category="sneakers", requirements=must("size", "42")) == ["sneaker"]


@pytest.mark.parametrize(
    ("operator", "number", "found"),
    [
        ("min", 15_000, ["bank20"]),
        ("max", 15_000, ["bank10"]),
        ("about", 21_000, ["bank20"]),
        ("is", 10_000, ["bank10"]),
    ],
)
def test_amounts_are_compared_as_numbers(
    shop: Catalogue, operator: str, number: float, found: list[str]
) -> None:
    wanted = must("capacity", operator=operator, number=number, unit="mah")
    assert ids(shop, category="power bank", requirements=wanted) == found


def test_units_of_one_kind_are_compared_in_one_unit(shop: Catalogue) -> None:
    wanted = must("capacity", operator="min", number=15, unit="ah")
    assert ids(shop, category="power bank", requirements=wanted) == ["bank20"]


def test_ram_is_not_storage(shop: Catalogue) -> None:
    storage = must("storage", operator="min", number=256, unit="gb")
    ram = must("ram", operator="min", number=16, unit="gb")
    assert ids(shop, category="laptop", requirements=storage) == ["laptop"]
    assert ids(shop, category="laptop", requirements=ram) == []


def test_cheapest_puts_unpriced_and_doubtful_last(shop: Catalogue) -> None:
    found = ids(shop, category="dress", sort=("price", 1))
    assert found[:3] == ["plain", "red", "black"]


def test_dearest_is_the_dearest(shop: Catalogue) -> None:
    assert ids(shop, sort=("price", -1))[0] == "laptop"


def test_the_lower_half_is_at_or_below_the_median(shop: Catalogue) -> None:
    assert sorted(ids(shop, category="dress", price_band="lower_half")) == [
        "doubtful",
        "plain",
    ] or "black" not in ids(shop, category="dress", price_band="lower_half")


def test_ratings_stand_in_where_no_price_is_known() -> None:
    cups = [
        Product(f"cup{n}", f"Clay cup {name}", categories=("cups",), rating=stars, rating_count=500)
        for n, (name, stars) in enumerate([("one", 3.1), ("two", 4.0), ("three", 4.9)])
    ]
    ranked = rank(memory_catalogue(cups), Request(category="cup", price_band="upper_half"))
    assert ranked.rating_stood_in
    assert [item.product.id for item in ranked.items] == ["cup2"]


def test_count_counts_what_rank_matches(shop: Catalogue) -> None:
    wish = Request(category="dress", exclusions=(Exclusion("black", "colour"),), price_max=20_000.0)
    assert count(shop, wish) == rank(shop, wish).matched == 2


def test_what_each_rule_took_is_counted(shop: Catalogue) -> None:
    ranked = rank(shop, Request(category="sneakers", exclusions=(Exclusion("leather"),), price_max=1_000.0))
    assert ranked.filtered == {"exclusion: leather": 1, "price": 1}


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["", "dress", "shoes", "phone", "bicycle"]),
    st.sampled_from(["leather", "fragrance", "red", "canvas", "pockets", "phones"]),
    st.floats(500, 100_000),
    st.sampled_from(["default", "sivle"]),
)
def test_no_promise_is_broken(category: str, avoided: str, most: float, profile: str) -> None:
    shop = memory_catalogue(SHOP)
    wish = Request(
        category=category, exclusions=(Exclusion(avoided),), price_max=most, words="red leather phone"
    )
    for item in rank(shop, wish, profile=profile).items:
        text = f"{item.product.title} {' '.join(item.product.features)}".lower()
        assert avoided.rstrip("s") not in text.replace(f"{avoided}-free", "")
        assert item.product.price is not None and item.product.price <= most
