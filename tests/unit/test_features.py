"""The feature cache: what is known of a product apart from any question."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.catalog.enrich import signal_kinds, signal_of, signals_of
from ego_cli.catalog.features import price_percentiles, shrunk_ratings
from ego_cli.catalog.index import index_of
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import memory_catalogue
from ego_cli.catalog.taxonomy import brand_tier

stars = st.floats(1, 5, width=32)


def shrunk(*rated: tuple[float, int]) -> list[float]:
    rating = np.array([r for r, _ in rated], dtype=np.float32)
    count = np.array([n for _, n in rated], dtype=np.int32)
    return shrunk_ratings(rating, count, np.zeros(len(rated), dtype=np.int16)).tolist()


def test_five_stars_from_one_person_do_not_beat_many_good_ratings() -> None:
    one, many = shrunk((5.0, 1), (4.8, 2_300))
    assert one < many


def test_nobodys_rating_is_its_kinds() -> None:
    unrated, *_ = shrunk((float("nan"), 0), (4.5, 100), (4.5, 100))
    assert 4.0 < unrated < 4.5


@given(st.lists(st.tuples(stars, st.integers(1, 10**6)), min_size=1, max_size=8))
def test_a_shrunk_rating_lies_between_what_was_said_and_what_is_usual(rated: list[tuple[float, int]]) -> None:
    low, high = min(4.0, *(r for r, _ in rated)), max(4.0, *(r for r, _ in rated))
    assert all(low - 1e-3 <= value <= high + 1e-3 for value in shrunk(*rated))


@given(stars, st.integers(1, 10**5))
def test_more_votes_bring_it_nearer_to_what_was_said(said: float, votes: int) -> None:
    few = abs(shrunk((said, votes), (3.0, 50))[0] - said)
    many = abs(shrunk((said, votes * 10), (3.0, 50))[0] - said)
    assert many <= few + 1e-3


def test_a_price_stands_among_those_of_its_kind() -> None:
    price = np.array([10.0, 20.0, 20.0, 40.0, 5.0, np.nan])
    place = price_percentiles(price, np.array([1, 1, 1, 1, 2, 1], dtype=np.int16))
    assert place[:5].tolist() == [0.125, 0.5, 0.5, 0.875, 0.5]
    assert np.isnan(place[5])


def test_a_listed_brand_has_its_tier_and_another_that_of_its_prices() -> None:
    assert brand_tier("La Mer", "beauty", 0.1) == 1
    assert [brand_tier("Nobody", "beauty", p) for p in (0.95, 0.7, 0.4, 0.1)] == [1, 2, 3, 4]
    assert brand_tier(None, "beauty", None) == 3


def test_a_products_features_have_the_podium_names() -> None:
    products = [
        Product("a", "Vegan face cream", features=("for oily skin", "hydrating"), price=10.0),
        Product("b", "Face cream", price=30.0),
    ]
    index = index_of(memory_catalogue(products))
    first, second = index.features.of(0), index.features.of(1)
    assert {"quality", "brand_tier", "price_percentile", "enrichment_depth"} <= first.keys()
    assert first["enrichment_depth"] > second["enrichment_depth"]
    assert first["price_percentile"] < second["price_percentile"]


@pytest.mark.parametrize(
    ("text", "type_", "name"),
    [
        ("For oily skin", "skin_type", "oily"),
        ("Fragrance-free", "claim", "fragrance-free"),
        ("Non-greasy, fast absorbing", "texture", "non-greasy"),
        ("hyaluronic acid for moisture", "concern", "hydration"),
        ("Great for the office", "occasion", "work"),
        ("5000mAh battery", "power", "keeps going"),
        ("Data saver mode", "data", "saves data"),
        ("fleece lined", "tag", "warmth"),
    ],
)
def test_a_signal_is_typed_and_names_its_field(text: str, type_: str, name: str) -> None:
    signal = signal_of(Product("a", "Thing", features=("plain", text)), type_, name)
    assert signal is not None
    assert (signal.field, signal.value) == ("features[1]", text)


def test_a_denied_word_is_no_signal() -> None:
    assert signal_of(Product("a", "Thing", features=("not waterproof",)), "claim", "waterproof") is None


def test_the_matrix_and_the_single_product_agree() -> None:
    products = [
        Product("a", "Vegan cream for oily skin", features=("non-greasy", "1.5 l tank")),
        Product("b", "Rechargeable fan 12000mAh", features=("works 8 hours", "same day delivery")),
        Product("c", "Ladies' wool coat", gender="women", description="Warm. For work and travel."),
    ]
    index = index_of(memory_catalogue(products))
    for row, product in enumerate(products):
        one_by_one = {(s.type, s.name) for s in signals_of(product)}
        for column, kind in enumerate(signal_kinds()):
            assert index.signals[row, column] == ((kind.type, kind.name) in one_by_one), (kind, row)
