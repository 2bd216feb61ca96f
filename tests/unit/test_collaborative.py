"""What people who liked this liked too."""

from pathlib import Path

import pytest

from ego_cli.catalog.collaborative import Opinion, build, neighbours_of, opinion_of_stars
from ego_cli.catalog.product import Product
from ego_cli.catalog.signals import Interaction, SignalStore
from ego_cli.catalog.store import memory_catalogue, open_catalogue
from ego_cli.ranking import rank
from ego_cli.ranking.request import Exclusion, Personal, Request

IDS = ["gele", "fila", "drill", "saw"]
FANS = [Opinion(f"fan{n}", item, 1.0) for n in range(5) for item in ("gele", "fila")]
MAKERS = [Opinion(f"maker{n}", item, 1.0) for n in range(4) for item in ("drill", "saw")]


def test_things_liked_by_the_same_people_are_near() -> None:
    rows, nearness = build([*FANS, *MAKERS], IDS).near({0: 1.0})
    assert rows.tolist() == [1]
    assert 0 < nearness[0] < 1


def test_one_shared_fan_proves_less_than_many() -> None:
    few = build([Opinion("a", "gele", 1), Opinion("a", "fila", 1)], IDS).near({0: 1.0})[1]
    assert few[0] < build(FANS, IDS).near({0: 1.0})[1][0]


def test_what_was_not_liked_says_nothing_of_what_goes_together() -> None:
    assert opinion_of_stars("a", "gele", 3) is None
    assert build([], IDS).near({0: 1.0})[0].tolist() == []


def test_opinions_of_goods_that_are_gone_are_left_out() -> None:
    assert build([Opinion("a", "gone", 1), Opinion("a", "gele", 1)], IDS).near({0: 1.0})[0].tolist() == []


def test_sessions_of_this_shop_teach_it_and_lift_what_goes_together() -> None:
    from datetime import UTC, datetime

    shop = memory_catalogue([Product(name, f"Item {name}", categories=("Things",)) for name in IDS])
    store = SignalStore(shop.path)
    for n in range(4):
        done = [("gele", Interaction.PURCHASED), ("fila", Interaction.PURCHASE_INTENT)]
        store.log_interactions(done, datetime.now(UTC), session=f"s{n}")
    liked = Personal(tried={"gele": 1.0})
    best = rank(shop, Request(category="item", personal=liked, hidden=frozenset({"gele"}))).items[0]
    assert best.product.id == "fila"
    assert best.terms["collaborative"] > 0 and best.legs["collaborative"] == 1
    wish = Request(category="item", personal=liked, exclusions=(Exclusion("fila"),))
    assert "fila" not in [item.product.id for item in rank(shop, wish).items]


def test_the_demo_knows_its_reviewers_tastes(ego_home: Path) -> None:
    shop = open_catalogue("naija")
    found = neighbours_of(shop)
    assert found is not None and len(found.row) > len(shop)
    assert neighbours_of(shop).row.tolist() == found.row.tolist()  # type: ignore[union-attr]


def test_without_any_opinion_there_are_no_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert neighbours_of(memory_catalogue([Product("a", "Thing")])) is None
