"""Every product has its place."""

import json
from pathlib import Path

import pytest

from ego_cli.catalog.product import Product
from ego_cli.catalog.taxonomy import classify, taxonomy
from ego_cli.settings import demo_catalogue_file

SEED_KINDS = {
    "beauty": "moisturizer serum cleanser sunscreen toner mask exfoliant eye_cream lip makeup hair_care body_care tools fragrance",
    "wellness": "supplements probiotics protein greens vitamins minerals adaptogens nootropics collagen sleep longevity fitness",
    "fashion": "clothing shoes accessories bags jewelry watches",
    "home": "decor kitchen bedding bath storage lighting furniture",
}


def demo(name: str) -> dict[str, Product]:
    with demo_catalogue_file(f"{name}.jsonl").open(encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return {
            row["id"]: Product(
                row["id"],
                row["title"],
                row.get("brand"),
                tuple(row["categories"]),
                features=tuple(row.get("features", ())),
            )
            for row in rows
        }


@pytest.mark.parametrize("domain", SEED_KINDS)
def test_every_kind_of_the_seed_is_there(domain: str) -> None:
    kinds = {tag.kind for tag in taxonomy().tags if tag.domain == domain}
    assert {kind.replace("_", " ") for kind in SEED_KINDS[domain].split()} <= kinds


def test_kinds_agree_with_hand_made_labels() -> None:
    products = demo("naija") | demo("boutique")
    lines = (Path(__file__).parent / "taxonomy_labels.tsv").read_text(encoding="utf-8").splitlines()
    labels = [line.split("\t") for line in lines if not line.startswith("#")]
    there = [
        (products[id_], label)
        for id_, label, title in labels
        if id_ in products and products[id_].title == title
    ]
    assert len(there) >= 150
    right = sum(str(classify(product)) == label for product, label in there)
    assert right / len(there) >= 0.95


def test_almost_no_demo_product_is_without_a_kind() -> None:
    products = [*demo("naija").values(), *demo("boutique").values()]
    assert sum(not classify(product).domain for product in products) / len(products) < 0.01


@pytest.mark.parametrize(
    ("title", "categories", "tag"),
    [
        ("Zuri A5 phone 64GB", ("phones",), "phones:smartphones"),
        ("Phone ring stand", ("Phones & Tablets", "Accessories"), "phones:phone accessories"),
        ("Voltgo 20000mAh power bank", ("phones-tablets",), "power:power banks"),
        ("Iron Supplement 65mg", (), "wellness:supplements"),
        ("Swirl steam iron", (), "electronics:appliances"),
        ("Kembo leather loafers, brown", (), "fashion:shoes"),
        ("Hydrating scalp serum", ("Beauty", "Hair care", "Treatments"), "beauty:hair care"),
    ],
)
def test_a_thing_is_what_its_name_ends_with(title: str, categories: tuple[str, ...], tag: str) -> None:
    assert str(classify(Product("x", title, categories=categories))) == tag


def test_an_unknown_thing_has_no_kind() -> None:
    assert str(classify(Product("x", "Qwxz 9"))) == ""


def test_every_domain_says_who_judges_and_by_what() -> None:
    for domain in taxonomy().domains.values():
        assert domain.persona and domain.focus and domain.criteria and domain.weights and domain.brands
