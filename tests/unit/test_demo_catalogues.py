"""What the demo catalogues promise to whoever shops in them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path

import pytest

CATALOGS = Path(__file__).parents[2] / "catalogs"
SHOPS = {"naija": ("NGN", 1200), "boutique": ("USD", 900)}
DOMAINS = {
    "Beauty": [
        "Moisturizers",
        "Serums",
        "Cleansers",
        "Sunscreens",
        "Toners",
        "Masks",
        "Exfoliants",
        "Eye creams",
        "Lip",
        "Makeup",
        "Hair care",
        "Body care",
        "Tools",
        "Fragrance",
    ],
    "Wellness": [
        "Supplements",
        "Probiotics",
        "Protein",
        "Greens",
        "Vitamins",
        "Minerals",
        "Adaptogens",
        "Nootropics",
        "Collagen",
        "Sleep",
        "Longevity",
        "Fitness",
    ],
    "Fashion": ["Clothing", "Shoes", "Accessories", "Bags", "Jewelry", "Watches"],
    "Home": ["Decor", "Kitchen", "Bedding", "Bath", "Storage", "Lighting", "Furniture"],
}
CLAIM_DENIES = {
    "Fragrance-free": (
        "parfum",
        "fragrance",
        "linalool",
        "limonene",
        "geraniol",
        "citronellol",
        "flower oil",
        "peel oil",
    ),
    "Paraben-free": ("paraben",),
    "Sulfate-free": ("sulfate",),
    "Alcohol-free": ("alcohol denat",),
    "Silicone-free": ("dimethicone", "siloxane", "amodimethicone"),
    "Vegan formula": (
        "cera alba",
        "honey",
        "snail",
        "hydrolyzed collagen",
        "hydrolyzed keratin",
        "milk extract",
    ),
    "Non-comedogenic": ("cocos nucifera", "theobroma cacao", "isopropyl myristate"),
}
# In one line (same brand, model and type) the price must rise as this detail grows.
RISES_WITH = {
    "Power banks": "Capacity",
    "Solar panels": "Power",
    "Inverter batteries": "Energy",
    "Power stations": "Capacity",
    "Generators": "Output",
    "Inverters": "Capacity",
    "Refrigerators": "Capacity",
    "Freezers": "Capacity",
    "Flash drives": "Specification",
    "Memory cards": "Specification",
    "Grains & rice": "Size",
    "Irons": "Power",
}


def read(name: str) -> list[dict]:
    return [
        json.loads(line) for line in (CATALOGS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


@pytest.fixture(scope="module")
def shops() -> dict[str, list[dict]]:
    return {name: read(name) for name in SHOPS}


@pytest.fixture(scope="module")
def reviews() -> list[dict]:
    return read("reviews")


def number(text: str) -> float:
    return float(re.search(r"\d+(?:\.\d+)?", text).group())


def test_each_shop_has_enough_products_with_unique_ids(shops):
    for name, (currency, least) in SHOPS.items():
        assert len(shops[name]) >= least
        assert {row["currency"] for row in shops[name]} == {currency}
    ids = [row["id"] for rows in shops.values() for row in rows]
    assert len(ids) == len(set(ids))


def test_every_row_has_what_a_shopper_reads(shops):
    for rows in shops.values():
        for row in rows:
            assert row["title"] and row["brand"] and row["description"], row["id"]
            assert 3 <= len(row["features"]) <= 6, row["id"]
            assert len(row["categories"]) >= 2
            assert row["delivery"] == row["details"]["Delivery"]
            assert not re.search(r"[{}]|\b(\w{4,}) \1\b", row["title"], re.IGNORECASE), row["title"]


def test_titles_tell_siblings_apart(shops):
    for rows in shops.values():
        titles = Counter(row["title"] for row in rows)
        repeated = sum(n - 1 for n in titles.values())
        assert repeated / len(rows) < 0.05


def test_brands_are_the_invented_ones(shops):
    table = tomllib.loads((CATALOGS / "tables" / "brands.toml").read_text(encoding="utf-8"))
    invented = {b for shop in SHOPS for group in table[shop].values() for b in group}
    assert len(invented) >= 60
    assert {row["brand"] for rows in shops.values() for row in rows} <= invented


def test_prices_ratings_and_gaps_look_like_a_shop(shops):
    for rows in shops.values():
        priced = [r for r in rows if r["price"] is not None]
        assert 0.003 < 1 - len(priced) / len(rows) < 0.03
        assert all(r["price"] > 0 and r.get("list_price", r["price"]) >= r["price"] for r in priced)
        rated = [r["rating"] for r in rows if r["rating"] is not None]
        assert 0.02 < 1 - len(rated) / len(rows) < 0.12
        assert min(rated) >= 3.2 and max(rated) <= 4.9 and 4.0 < sum(rated) / len(rated) < 4.4
        assert all((r["rating"] is None) == (r["rating_count"] == 0) for r in rows)


@pytest.mark.parametrize("category", sorted(RISES_WITH))
def test_price_rises_with_capacity_within_a_line(shops, category):
    lines = defaultdict(list)
    table_models = models()
    for row in shops["naija"]:
        if (
            category in row["categories"]
            and row["price"] is not None
            and RISES_WITH[category] in row["details"]
        ):
            model = next((m for m in table_models[row["brand"]] if m in row["title"]), "")
            shape = tuple(row["details"].get(k) for k in ("Type", "Chemistry"))
            lines[row["brand"], model, shape].append(
                (number(row["details"][RISES_WITH[category]]), row["price"])
            )
    compared = 0
    for pairs in lines.values():
        for size, price in pairs:
            for other, dearer in pairs:
                if other > size * 1.02:
                    compared += 1
                    assert dearer > price, (category, pairs)
    assert compared


def models() -> dict[str, list[str]]:
    """Model names of each brand, longest first, so that "Cool RC" is found before "Cool"."""
    found = defaultdict(set)
    for table in (CATALOGS / "tables").glob("naija_*.toml"):
        for kind in tomllib.loads(table.read_text(encoding="utf-8"))["kind"]:
            for line in kind["lines"].strip().splitlines():
                brand, model = (cell.strip() for cell in line.split("|")[:2])
                found[brand].add(model)
    return {brand: sorted(names, key=len, reverse=True) for brand, names in found.items()}


def test_bigger_televisions_cost_more(shops):
    sets = [
        (number(r["details"]["Screen"]), r["price"])
        for r in shops["naija"]
        if r["categories"][1] == "Televisions" and "Screen" in r["details"] and r["price"]
    ]
    by_size = defaultdict(list)
    for inches, price in sets:
        by_size[inches].append(price)
    assert max(by_size[32]) < min(by_size[55]) and max(by_size[43]) < min(by_size[65])


def test_claims_agree_with_ingredients(shops):
    seen = Counter()
    for rows in shops.values():
        for row in rows:
            if "ingredients" not in row:
                continue
            inci = row["ingredients"].lower()
            for claim, denied in CLAIM_DENIES.items():
                if claim in row["features"]:
                    seen[claim] += 1
                    assert not any(word in inci for word in denied), (row["id"], claim, inci)
    assert set(seen) == set(CLAIM_DENIES)


def test_some_beauty_goods_hide_their_ingredients(shops):
    for rows in shops.values():
        creams = [r for r in rows if "skin_types" in r]
        hidden = sum("ingredients" not in r for r in creams)
        assert 0 < hidden < len(creams) / 3


def test_every_boutique_subcategory_has_a_choice(shops):
    counts = Counter(tuple(row["categories"][:2]) for row in shops["boutique"])
    for domain, subcategories in DOMAINS.items():
        for subcategory in subcategories:
            assert counts[domain, subcategory] >= 6, (domain, subcategory)
    assert {domain for domain, _ in counts} == set(DOMAINS)


def test_reviews_are_of_known_products_by_many_people(shops, reviews):
    known = {name: {row["id"] for row in rows} for name, rows in shops.items()}
    assert len(reviews) >= 4000
    assert len({r["user"] for r in reviews}) >= 300
    for r in reviews:
        assert r["product_id"] in known[r["catalogue"]]
        assert r["stars"] in (1, 2, 3, 4, 5) and r["title"] and r["text"]
        date.fromisoformat(r["date"])
    assert len({(r["user"], r["product_id"]) for r in reviews}) == len(reviews)


def test_shoppers_overlap_enough_for_a_collaborative_filter(reviews):
    baskets = defaultdict(set)
    for r in reviews:
        baskets[r["user"]].add(r["product_id"])
    neighbours = [
        max(len(mine & theirs) for user, theirs in baskets.items() if user != me)
        for me, mine in baskets.items()
    ]
    assert sum(n >= 4 for n in neighbours) > 0.8 * len(baskets)


def test_files_stay_small():
    assert sum((CATALOGS / f"{n}.jsonl").stat().st_size for n in ("naija", "boutique", "reviews")) < 4_000_000


def test_the_generator_reproduces_the_committed_files(tmp_path):
    subprocess.run([sys.executable, str(CATALOGS / "generate.py"), str(tmp_path)], check=True, timeout=60)
    for name in ("naija", "boutique", "reviews"):
        assert (tmp_path / f"{name}.jsonl").read_bytes() == (CATALOGS / f"{name}.jsonl").read_bytes(), name
