"""Money: what people type for a price is read as that price, and what is no price is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.conversation.understand import Act, Context, Lexicon, understand

LEXICON = Lexicon.build(())
NAIRA = Context(currency="NGN")
PRICE_ASKED = Context(currency="NGN", asked="price")


def prices(text: str, context: Context = NAIRA) -> dict[str, tuple[float, str | None]]:
    """operator -> (amount, currency) of the price acts of a sentence."""
    acts: list[Act] = [
        a for a in understand(text, LEXICON, context).acts if a.attribute == "price" and a.number is not None
    ]
    return {str(a.operator): (a.number or 0.0, a.unit) for a in acts}


amounts = st.integers(min_value=1, max_value=50_000_000)


@given(
    amounts,
    st.sampled_from(["₦{:,}", "N{:,}", "NGN {:,}", "{:,} naira", "₦{}", "NGN {}", "{} naira", "₦ {:,}.00"]),
)
def test_an_amount_in_naira_comes_back_as_it_was_written(amount: int, form: str) -> None:
    assert prices(f"shoes under {form.format(amount)}") == {"max": (float(amount), "NGN")}


@given(amounts, st.sampled_from(["${:,}", "USD {:,}", "{:,} dollars", "{} usd", "US${:,}", "{:,} bucks"]))
def test_an_amount_in_dollars_comes_back_as_it_was_written(amount: int, form: str) -> None:
    assert prices(f"shoes under {form.format(amount)}") == {"max": (float(amount), "USD")}


@given(st.integers(1, 999), st.sampled_from(["k", "K", " thousand", " grand"]))
def test_thousands_by_suffix(amount: int, suffix: str) -> None:
    assert prices(f"laptop below {amount}{suffix}") == {"max": (amount * 1000.0, None)}


@given(st.integers(1, 99), st.integers(0, 9), st.sampled_from(["m", "M", " million"]))
def test_millions_by_suffix(whole: int, tenth: int, suffix: str) -> None:
    assert prices(f"generator below {whole}.{tenth}{suffix}") == {
        "max": (pytest.approx((whole + tenth / 10) * 1e6), None)
    }


_UNITS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_words(number: int) -> str:
    """1..999 in English words."""
    if number < 20:
        return _UNITS[number - 1]
    if number < 100:
        rest = f" {_UNITS[number % 10 - 1]}" if number % 10 else ""
        return _TENS[number // 10 - 2] + rest
    rest = f" and {in_words(number % 100)}" if number % 100 else ""
    return f"{_UNITS[number // 100 - 1]} hundred{rest}"


@given(st.integers(1, 999))
def test_thousands_in_words(number: int) -> None:
    assert prices(f"a bag for at most {in_words(number)} thousand naira") == {"max": (number * 1000.0, "NGN")}


@given(
    amounts,
    amounts,
    st.sampled_from(
        ["between ₦{} and ₦{}", "₦{}-₦{}", "from ₦{} to ₦{}", "₦{} – ₦{}", "anywhere from ₦{} down to ₦{}"]
    ),
)
def test_a_range_has_its_lower_bound_first_however_it_is_said(one: int, other: int, form: str) -> None:
    low, high = sorted((float(one), float(other)))
    assert prices("sandals " + form.format(one, other)) == {"min": (low, "NGN"), "max": (high, "NGN")}


@given(st.integers(2, 98))
def test_a_suffix_is_shared_by_both_ends(low: int) -> None:
    assert prices(f"sneakers {low}-{low + 1}k") == {
        "min": (low * 1000.0, None),
        "max": ((low + 1) * 1000.0, None),
    }


@pytest.mark.parametrize(
    ("words", "operator"),
    [
        ("under 20k", "max"), ("not more than 20k", "max"), ("no pass 20k", "max"), ("wey no go pass 20k", "max"), ("up to 20k", "max"),
        ("20k or less", "max"), ("20k max", "max"), ("nothing over 20k", "max"), ("I fit spend 20k", "max"), ("for 20k", "max"),
        ("over 20k", "min"), ("at least 20k", "min"), ("20k and above", "min"), ("from 20k", "min"), ("nothing below 20k", "min"),
        ("around 20k", "about"), ("20k or so", "about"), ("say 20k", "about"), ("like 20k", "about"),
    ],
)  # fmt: skip
def test_bounding_words(words: str, operator: str) -> None:
    assert prices(f"a handbag {words}") == {operator: (20_000.0, None)}


@pytest.mark.parametrize(
    "sentence",
    [
        "4k tv", "a 10000mAh power bank", "size 9.5 sneakers", "3 mugs", "iPhone 13 case", "a tent for 6 people", "a 43 inch tv",
        "phones with at least 500 reviews", "rated 4.5 stars and above", "a 2 litre bottle", "AT-500 drill", "a 5 drawer dresser",
    ],
)  # fmt: skip
def test_counts_sizes_and_measures_are_no_prices(sentence: str) -> None:
    assert prices(sentence) == {}


@pytest.mark.parametrize(
    ("words", "per"),
    [
        ("under 30k each", "each"),
        ("30k for everything", "all"),
        ("30k apiece max", "each"),
        ("all together 30k", "all"),
    ],
)
def test_per_item_or_all_together(words: str, per: str) -> None:
    acts = [
        a for a in understand(f"a dress and shoes, {words}", LEXICON, NAIRA).acts if a.attribute == "price"
    ]
    assert [(a.number, a.operator, a.per) for a in acts] == [(30_000.0, "max", per)]


@pytest.mark.parametrize("answer", ["15k", "15,000", "about fifteen thousand", "₦15,000", "15000"])
def test_a_bare_number_answers_the_question_for_a_budget(answer: str) -> None:
    assert [value for value, _ in prices(answer, PRICE_ASKED).values()] == [15_000.0]


def test_a_naira_price_with_a_point_is_in_thousands() -> None:
    assert prices("kettle under ₦18.500") == {"max": (18_500.0, "NGN")}


@pytest.mark.parametrize(
    ("sentence", "band"),
    [
        ("a cheap kettle", "lower_half"), ("not too expensive blender", "lower_half"), ("blender wey no too cost", "lower_half"),
        ("nothing too pricey, a watch", "lower_half"), ("mid-range phone", "middle"), ("a premium watch", "upper_half"),
    ],
)  # fmt: skip
def test_price_words_without_a_number(sentence: str, band: str) -> None:
    assert band in [str(a.operator) for a in understand(sentence, LEXICON, NAIRA).acts]
