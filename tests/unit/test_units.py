"""Measures, sizes, ratings and counts: each number is one thing, and nobody's size is invented."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.conversation.understand import Act, Context, Lexicon, understand
from ego_cli.conversation.understand.acts import Kind

LEXICON = Lexicon.build(())


def acts(text: str, **context: object) -> list[Act]:
    return list(understand(text, LEXICON, Context(currency="NGN", **context)).acts)  # type: ignore[arg-type]


def numbers(text: str) -> dict[str, tuple[str, float, str | None]]:
    """attribute -> (operator, number, unit)."""
    return {
        a.attribute or "": (str(a.operator), a.number or 0.0, a.unit)
        for a in acts(text)
        if a.kind is Kind.CONSTRAIN and a.number is not None
    }


def size(text: str, **context: object) -> str | None:
    return next((a.value for a in acts(text, **context) if a.attribute == "size"), None)


@given(st.integers(1, 200), st.sampled_from(["{}000mAh", "{}000 mAh", "{},000mAh", "{},000 mah"]))
def test_capacity_however_it_is_spaced(thousands: int, form: str) -> None:
    assert numbers(f"power bank {form.format(thousands)}")["capacity"] == ("is", thousands * 1000.0, "mah")


@pytest.mark.parametrize(
    ("sentence", "attribute", "expected"),
    [
        ("power bank, at least 20000mAh", "capacity", ("min", 20000.0, "mah")),
        ("a phone bigger than 6.5 inches", "screen", ("min", 6.5, "inch")),
        ("17 inch or larger laptop", "screen", ("min", 17.0, "inch")),
        ("laptop with 16 GB RAM", "memory", ("is", 16.0, "gb")),
        ("laptop with 1TB of storage", "storage", ("is", 1024.0, "gb")),
        ("5 kVA generator", "power", ("is", 5.0, "kva")),
        ("perfume 50 ml", "volume", ("is", 50.0, "ml")),
        ('lamp 9.5"', "length", ("is", 9.5, "inch")),
        ("3m hdmi cable", "length", ("is", 3.0, "m")),
        ("suitcase under 3kg", "weight", ("max", 3.0, "kg")),
        ("blender rated 4.5 stars or higher", "rating", ("min", 4.5, "star")),
        ("cases with 2,000+ reviews", "reviews", ("min", 2000.0, "review")),
    ],
)
def test_measures_with_their_bounds(sentence: str, attribute: str, expected: tuple[str, float, str]) -> None:
    found = numbers(sentence)
    assert found[attribute] == expected
    assert "price" not in found


def test_a_bound_takes_the_unit_that_was_spoken_of() -> None:
    found = [
        a for a in acts("I ride 30 miles a day, it has to be at the very least 60") if a.attribute == "range"
    ]
    assert [(a.operator, a.number, a.unit) for a in found][-1] == ("min", 60.0, "mile")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("sneakers size 42", "42"), ("boots EU 44", "EU 44"), ("a dress in a 12", "12"), ("jeans 34x32", "34x32"), ("t-shirt XL", "XL"),
        ("my leg na size 43, sandals", "43"), ("my waist na 34, trousers", "34"), ("trainers size 9.5 below $75", "9.5"),
        ("a gown, size medium", "M"), ("size 12 UK skirt", "UK 12"),
    ],
)  # fmt: skip
def test_sizes_as_people_say_them(sentence: str, expected: str) -> None:
    assert size(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "dress for 69.99 dollars",
        "7 tote bags",
        "iPhone XS case",
        "a 2 litre bottle",
        "shoes under 42k",
        "a large bag",
    ],
)
def test_no_size_is_read_out_of_something_else(sentence: str) -> None:
    assert size(sentence) is None


@given(st.integers(30, 50))
def test_a_bare_number_after_a_question_for_the_size_is_the_size(number: int) -> None:
    assert size(str(number), asked="size") == str(number)
    assert all(a.attribute != "price" for a in acts(str(number), asked="size"))


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("3 mugs", 3),
        ("two black bags", 2),
        ("I need 7 tote bags", 7),
        ("iPhone 13 cases", None),
        ("size 8 shoes", None),
        ("5 drawer dresser", None),
    ],
)
def test_pieces_are_counted_before_their_noun_only(sentence: str, count: int | None) -> None:
    need = next(a for a in acts(sentence) if a.kind is Kind.NEED)
    assert need.number == count


@given(st.sampled_from(["1", "2", "3"]))
def test_a_number_chooses_one_of_the_options(number: str) -> None:
    options = ("red", "blue", "green")
    chosen = acts(number, asked="colour", options=options)
    assert [(a.attribute, a.value) for a in chosen] == [("colour", options[int(number) - 1])]
