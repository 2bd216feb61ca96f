"""Questions about shown products are answered from their fields, with the field named, or with "not stated"."""

from ego_cli.catalog.product import Product
from ego_cli.conversation.answers import answer_fact, answer_superlative, measure

SMALL = Product(
    id="a",
    title="Volt slim power bank",
    price=9000.0,
    details={"Capacity": "10000 mAh"},
    rating=4.5,
    rating_count=12,
)
LARGE = Product(
    id="b", title="Volt max power bank 20,000mAh", price=15000.0, features=("Two USB ports", "Weighs 0.45 kg")
)
LIGHT = Product(
    id="c", title="Feather bank", details={"Item weight": "210 g"}, features=("Waterproof shell",)
)


def test_the_one_that_holds_more_is_found_in_titles_and_details_alike() -> None:
    answer = answer_superlative([SMALL, LARGE, LIGHT], "charge", 1, "NGN")
    assert answer.ids == ("b",)
    assert "20,000mAh" in answer.text and "title" in answer.text and "1 of them do" in answer.text


def test_units_of_one_quantity_compare() -> None:
    assert answer_superlative([LARGE, LIGHT], "lightest", -1, "NGN").ids == ("c",)
    found = measure(LARGE, "weight")
    assert found is not None and (found.number, found.unit, found.field) == (450.0, "g", "features[1]")


def test_what_no_field_says_is_not_stated() -> None:
    answer = answer_fact([SMALL, LARGE], "waterproof", "NGN")
    assert "not stated" in answer.text.lower()


def test_a_stated_feature_is_quoted_with_its_field_and_the_others_are_named() -> None:
    answer = answer_fact([SMALL, LIGHT], "waterproof", "NGN")
    assert answer.ids == ("c",)
    assert "features[0]" in answer.text and "Not stated for Volt slim power bank" in answer.text


def test_price_and_reviews_come_from_their_own_fields() -> None:
    assert "₦9,000" in answer_fact([SMALL], "price", "NGN").text
    assert "12 reviews" in answer_fact([SMALL], "reviews", "NGN").text
    assert answer_superlative([SMALL, LARGE], "price", -1, "NGN").ids == ("a",)
