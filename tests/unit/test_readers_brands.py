"""Brands: real ones are known whatever their spelling, a shop's own are learned from its titles."""

from __future__ import annotations

import pytest

from ego_cli.catalog.brands import KNOWN_ONLY, brand_tier, is_no_brand, learn_brands, written


@pytest.mark.parametrize(
    ("name", "tier"),
    [("oraimo", 4), ("LA MER", 1), ("loreal paris", 3), ("Haier-Thermocool", 3), ("Nobody Knows", None)],
)
def test_a_known_brand_has_its_place_in_the_market(name: str, tier: int | None) -> None:
    assert brand_tier(name) == tier


def test_a_brand_is_written_one_way() -> None:
    assert {written(name) for name in ("XIAOMI", "xiaomi", "Xiaomi")} == {"Xiaomi"}
    assert written("Zuvora") == "Zuvora"


@pytest.mark.parametrize("name", ["Generic", "no brand", "15KG", "20000mAh"])
def test_some_words_in_a_brand_column_are_no_brand(name: str) -> None:
    assert is_no_brand(name)


def test_everyday_words_are_brands_only_where_they_stand_as_names() -> None:
    assert KNOWN_ONLY.find("Royal 1.5HP air conditioner") == "Royal"
    assert KNOWN_ONLY.find("Simple storage box") is None
    assert KNOWN_ONLY.find("Infinix Hot 40i 128GB") == "Infinix"
    assert KNOWN_ONLY.find("Haier Thermocool chest freezer") == "Haier Thermocool"


def test_names_of_two_words_are_learned_whole_and_common_words_never() -> None:
    titles = [f"{name} item {n}" for n in range(6) for name in ("Spice Supreme", "The Ordinary", "Leather")]
    titles += [f"Bag of leather {n}" for n in range(6)]
    found = learn_brands(titles)
    assert found.find("Spice Supreme thyme") == "Spice Supreme"
    assert found.find("the ordinary serum") == "The Ordinary"
    assert found.find("Leather bag") is None
