"""The score: every number named, and in the order in which shoppers would put them."""

import math
from typing import Any

import pytest

from ego_cli.catalog.product import Product
from ego_cli.catalog.signals import ShopSignals
from ego_cli.catalog.store import Catalogue, memory_catalogue
from ego_cli.errors import MisuseError
from ego_cli.ranking import rank
from ego_cli.ranking.profiles import PROFILES
from ego_cli.ranking.request import Exclusion, Personal, Request, Requirement
from ego_cli.ranking.scored import Scored


def shirt(id_: str, title: str = "Cotton shirt", **more: Any) -> Product:
    return Product(id_, f"{title} {id_}", categories=("Fashion", "Shirts"), **more)


def ranked(products: list[Product], *, profile: str = "default", **wish: Any) -> list[Scored]:
    return list(rank(memory_catalogue(products), Request(**wish), profile=profile).items)


def first(products: list[Product], **wish: Any) -> str:
    return ranked(products, **wish)[0].product.id


def wants(*texts: str) -> tuple[Requirement, ...]:
    return tuple(Requirement("feature", values=(text,)) for text in texts)


@pytest.mark.parametrize("profile", PROFILES)
def test_terms_sum_to_the_total(profile: str) -> None:
    products = [
        shirt("a", rating=4.5, rating_count=80, price=10, features=("machine wash",)),
        shirt("b", rating=3.0, rating_count=9, price=20, features=("scratchy", "button closure")),
    ]
    found = ranked(
        products,
        profile=profile,
        category="shirt",
        requirements=wants("machine wash", "button closure"),
        erased=("scratchy",),
        passed_over={"a": 2.0},
        personal=Personal(tags=("comfort",), price_range=(5, 15)),
    )
    for item in found:
        assert math.isclose(sum(item.terms.values()), item.total, abs_tol=1e-6)


def test_one_statement_that_says_all_beats_two_that_say_half() -> None:
    products = [
        shirt("whole", features=("pearl snap cuffs", "plain hem")),
        shirt("halves", features=("pearl hem", "snap collar and plain cuffs")),
        *(shirt(f"other{n}", features=("plain hem",)) for n in range(6)),
    ]
    assert first(products, category="shirt", requirements=wants("pearl snap cuffs")) == "whole"


def test_a_rare_word_of_a_wish_counts_more_than_a_common_one() -> None:
    common = [shirt(f"common{n}", features=("soft cotton",)) for n in range(8)]
    products = [*common, shirt("rare", features=("herringbone cloth",))]
    assert first(products, category="shirt", requirements=wants("soft herringbone")) == "rare"


def test_popularity_never_beats_a_clear_requirement() -> None:
    products = [
        shirt("famous", rating=4.8, rating_count=20_000),
        shirt("right", rating=4.0, rating_count=3, features=("mandarin collar",)),
    ]
    assert first(products, category="shirt", requirements=wants("mandarin collar")) == "right"


def test_many_good_ratings_beat_one_perfect_one() -> None:
    products = [shirt("one", rating=5.0, rating_count=1), shirt("many", rating=4.8, rating_count=2_300)]
    assert first(products, category="shirt") == "many"
    assert first(products, category="shirt", sort=("rating", -1)) == "many"


def test_another_word_for_the_same_thing_counts() -> None:
    products = [shirt("snap", features=("snap closure",)), shirt("zip", features=("zip closure",))]
    assert first(products, category="shirt", requirements=wants("press studs")) == "snap"


def test_passed_over_is_a_penalty_not_a_ban() -> None:
    products = [shirt("a", rating_count=50, rating=4.2), shirt("b", rating_count=45, rating=4.2)]
    found = ranked(products, category="shirt", passed_over={"a": 1.0})
    assert [item.product.id for item in found] == ["b", "a"]


def test_what_was_given_up_counts_against() -> None:
    products = [shirt("striped", features=("striped",), rating_count=40), shirt("plain", rating_count=30)]
    assert first(products, category="shirt", erased=("striped",)) == "plain"


def test_a_word_that_is_bad_for_everyone_counts_against_unless_denied() -> None:
    products = [shirt("bad", features=("scratchy wool",)), shirt("good", features=("non-scratchy wool",))]
    found = {item.product.id: item.terms for item in ranked(products, category="shirt")}
    assert found["bad"]["bad"] < 0
    assert "bad" not in found["good"]


def test_a_brand_she_likes_comes_first() -> None:
    products = [shirt("x", brand="Okiki"), shirt("y", brand="Zed")]
    found = ranked(products, category="shirt", personal=Personal(brand_affinity={"zed": 0.8}))
    assert found[0].product.id == "y" and found[0].terms["brand"] > 0


def test_preference_tags_lift_what_answers_to_them() -> None:
    products = [shirt("cold"), shirt("warm", features=("fleece lined",))]
    found = ranked(products, category="shirt", personal=Personal(tags=("warmth",)))
    assert found[0].product.id == "warm" and found[0].terms["tag"] > 0


def test_what_shoppers_bought_lately_counts() -> None:
    shop = memory_catalogue([shirt("a"), shirt("b")])
    signals = ShopSignals(popularity={"b": 12.0, "gone": 99.0})
    assert rank(shop, Request(category="shirt"), signals=signals).items[0].product.id == "b"


def test_texture_weighs_more_in_beauty_than_in_wellness() -> None:
    from ego_cli.catalog.taxonomy import taxonomy

    weights = {name: domain.weights["texture"] for name, domain in taxonomy().domains.items()}
    assert weights["beauty"] > weights["wellness"]


def test_signals_of_nigerian_life_are_shown_and_only_where_they_belong() -> None:
    bank = Product("p", "Power bank 20000mAh", categories=("Power banks",), price=9_000)
    (local,) = rank(memory_catalogue([bank], currency="NGN"), Request(category="power bank")).items
    (abroad,) = rank(memory_catalogue([bank], currency="USD"), Request(category="power bank")).items
    assert local.terms["power"] > 0
    assert "power" not in abroad.terms


def test_the_same_thing_twice_is_shown_once() -> None:
    products = [Product("d1", "Ringo AirFind tag", price=15), Product("d2", "Ringo  AirFind Tag", price=14)]
    assert len(ranked(products, category="tag")) == 1


def test_siblings_do_not_fill_the_page() -> None:
    siblings = [
        Product(
            f"s{c}",
            f"Torva sneakers, {c}",
            categories=("sneakers",),
            colours=(c,),
            rating_count=90,
            rating=4.5,
        )
        for c in ("red", "blue", "green", "black")
    ]
    other = Product("other", "Kembo running sneakers", categories=("sneakers",), rating_count=2, rating=4.0)
    found = [item.product.id for item in ranked([*siblings, other], category="sneakers", limit=3)]
    assert "other" in found[:3]


def test_more_like_this_finds_its_kin() -> None:
    products = [
        shirt("this", features=("linen", "mandarin collar")),
        shirt("kin", features=("linen", "mandarin collar", "long sleeves")),
        shirt("far", features=("polyester", "button collar"), rating=4.9, rating_count=200),
    ]
    found = [item.product.id for item in ranked(products, like=("this",), hidden=frozenset({"this"}))]
    assert found[0] == "kin"


def test_an_unknown_profile_is_one_clear_line() -> None:
    with pytest.raises(MisuseError, match="no ranking profile"):
        ranked([shirt("a")], profile="nope")


def test_the_seed_profile_keeps_the_seeds_numbers() -> None:
    seed = PROFILES["sivle"]
    assert (
        seed.category,
        seed.category_browsing,
        seed.constraint,
        seed.in_title,
        seed.complete,
        seed.erased,
    ) == (12, 9, 4.5, 3.0, 5.0, 8.0)


def test_the_seed_formula_gives_the_sum_worked_out_by_hand() -> None:
    products = [shirt("a", features=("machine wash",), rating=5.0, rating_count=1_000_000), shirt("b")]
    wish = Request(category="shirts", requirements=wants("machine wash"), route="BUYING")
    item = rank(memory_catalogue(products), wish, profile="sivle").items[0]
    assert item.product.id == "a"
    assert item.terms["seed_category"] == 12.0
    assert item.terms["constraints"] == 4.5
    assert item.terms["complete"] == 5.0


def test_an_empty_wish_brings_what_is_best_known(tmp_path: object) -> None:
    products = [shirt("unknown"), shirt("known", rating=4.5, rating_count=900)]
    assert first(products) == "known"


def test_exclusions_known_to_be_met_are_good_news() -> None:
    products = [
        Product("silent", "Body lotion", categories=("body care",)),
        Product("free", "Body lotion, fragrance-free", categories=("body care",)),
    ]
    found = ranked(products, category="lotion", exclusions=(Exclusion("fragrance"),))
    assert found[0].product.id == "free" and found[0].terms["free"] > 0


def test_an_empty_shop_is_no_error() -> None:
    shop: Catalogue = memory_catalogue([shirt("a")])
    assert rank(shop, Request(category="shirt", price_max=1.0)).items == ()
