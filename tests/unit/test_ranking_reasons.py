"""Reasons: each names the stored field that proves it, and goes when the field goes."""

from dataclasses import replace
from typing import Any

import pytest

from ego_cli.catalog.product import Product
from ego_cli.catalog.store import memory_catalogue
from ego_cli.ranking import rank
from ego_cli.ranking.reasons import compound
from ego_cli.ranking.request import Exclusion, Personal, Request, Requirement
from ego_cli.ranking.scored import Reason, Scored

SERUM = Product(
    "serum",
    "Halo niacinamide serum",
    brand="Halo",
    categories=("Skin care", "Serums"),
    price=15_000,
    currency="NGN",
    rating=4.7,
    rating_count=900,
    features=("For oily skin", "Hydrating", "fragrance-free", "Data saver lid"),
    details={"Volume": "30 ml"},
)
PHONE = Product(
    "phone",
    "Zuri phone",
    categories=("Phones",),
    price=90_000,
    currency="NGN",
    colours=("red",),
    sizes=("one size",),
    features=("5000mAh battery", "Data saver mode", "same day delivery"),
    details={"RAM": "8 GB"},
)
COAT = Product("coat", "Wool coat", brand="Zed", categories=("Coats",), price=50.0, currency="USD", features=("fleece lined", "machine wash"), sizes=("M", "L"), colours=("navy blue",))  # fmt: skip


def top(product: Product, currency: str | None = None, **wish: Any) -> Scored:
    others = [Product(f"o{n}", "Other thing", categories=("Things",)) for n in range(3)]
    return next(
        item
        for item in rank(memory_catalogue([product, *others], currency=currency), Request(**wish)).items
        if item.product.id == product.id
    )


def reason_named(item: Scored, tag: str) -> Reason | None:
    return next((reason for reason in item.reasons if reason.tag == tag), None)


CASES: list[tuple[str, Product, dict[str, Any], str, str, dict[str, Any]]] = [
    ("For oily skin", SERUM, {"personal": Personal(attributes={"skin_type": "oily"})}, "features[0]", "For oily skin", {"features": SERUM.features[1:]}),
    ("Hydration", SERUM, {"personal": Personal(concerns=("my skin is flaky, dry skin",))}, "features[1]", "Hydrating", {"features": SERUM.features[:1] + SERUM.features[2:]}),
    ("Free of fragrance", SERUM, {"exclusions": (Exclusion("fragrance"),)}, "features[2]", "fragrance-free", {"features": SERUM.features[:2] + SERUM.features[3:]}),
    ("Matches your taste", SERUM, {"personal": Personal(brand_affinity={"halo": 0.9})}, "brand", "Halo", {"brand": None}),
    ("In your usual price range", SERUM, {"personal": Personal(price_range=(10_000, 20_000))}, "price", "15000", {"price": None}),
    ("4.7 from 900 people", SERUM, {}, "rating", "4.7", {"rating": None, "rating_count": 0}),
    ("Keeps going through outages", PHONE, {}, "features[0]", "5000mAh battery", {"features": PHONE.features[1:]}),
    ("Saves data", PHONE, {}, "features[1]", "Data saver mode", {"features": PHONE.features[:1] + PHONE.features[2:]}),
    ("8 GB", PHONE, {"requirements": (Requirement("ram", "min", number=8, unit="gb"),)}, "details.RAM", "RAM: 8 GB", {"details": {}}),
    ("Red", PHONE, {"requirements": (Requirement("colour", values=("red",)),)}, "colours[0]", "red", {"colours": ()}),
    ("Machine wash", COAT, {"requirements": (Requirement("feature", values=("machine wash",)),)}, "features[1]", "machine wash", {"features": COAT.features[:1]}),
    ("Warmth", COAT, {"personal": Personal(tags=("warmth",))}, "title", "Wool coat", {"title": "Long coat", "features": COAT.features[1:]}),
    ("Size M", COAT, {"requirements": (Requirement("size", values=("M",)),)}, "sizes", "M, L", {"sizes": ()}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tag", "product", "wish", "field", "value", "without"), CASES, ids=[case[0] for case in CASES]
)
def test_a_tag_comes_from_a_stored_field_and_goes_with_it(
    tag: str, product: Product, wish: dict[str, Any], field: str, value: str, without: dict[str, Any]
) -> None:
    currency = product.currency
    item = top(product, currency, **wish)
    reason = reason_named(item, tag)
    assert reason is not None, item.reasons
    assert (reason.field, reason.value) == (field, value)
    bare = top(replace(product, **without), currency, **wish)
    assert reason_named(bare, tag) is None
    assert bare.total < item.total


def test_a_budget_is_a_reason_only_with_a_price() -> None:
    item = top(SERUM, "NGN", category="serum", price_max=20_000.0)
    assert reason_named(item, "Under your ₦20,000 budget") == Reason(
        "Under your ₦20,000 budget", "price", "15000"
    )


def test_every_reason_of_a_busy_request_stands_in_the_product() -> None:
    personal = Personal(
        attributes={"skin_type": "oily"},
        concerns=("dryness",),
        brand_affinity={"halo": 1.0},
        tags=("quality",),
    )
    item = top(
        SERUM,
        "NGN",
        category="serum",
        price_max=20_000.0,
        personal=personal,
        exclusions=(Exclusion("fragrance"),),
    )
    stored = {f"features[{n}]": text for n, text in enumerate(SERUM.features)} | {
        "price": "15000",
        "brand": "Halo",
        "rating": "4.7",
        "title": SERUM.title,
    }
    assert item.reasons
    for reason in item.reasons:
        assert stored[reason.field] == reason.value


def test_several_reasons_make_one_line() -> None:
    found = (Reason("For oily skin", "features[0]", "x"), Reason("Hydration", "features[1]", "y"))
    assert compound(found) == "For oily skin · Hydration"


def test_a_product_without_anything_to_say_for_it_has_no_reasons() -> None:
    assert top(Product("bare", "Thing")).reasons == ()
