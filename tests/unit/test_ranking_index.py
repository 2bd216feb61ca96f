"""The ranking index: the same however it was made, and made anew when it must."""

import json
from pathlib import Path

import numpy as np
import pytest

from ego_cli.catalog import index as indexing
from ego_cli.catalog.evidence import Evidence, quantities, tokens_of
from ego_cli.catalog.index import IndexMaker, index_of
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import memory_catalogue
from ego_cli.catalog.stored import encode_product
from ego_cli.ranking import rank
from ego_cli.ranking.request import Request

GOODS = [
    Product("a", "Torva sneakers, red", categories=("Shoes", "Sneakers"), price=10, features=("non-slip sole",), colours=("red",)),
    Product("b", "Halo lotion 50 ml", categories=("Body care",), price=5, ingredients="Water, Parfum", rating=4.0, rating_count=3),
]  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_another_process_makes_the_same_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [encode_product(product) for product in GOODS]
    for name, aside in (("here", 10), ("aside", 1)):
        monkeypatch.setattr(indexing, "ASIDE_FROM", aside)
        (tmp_path / name).mkdir()
        with IndexMaker(tmp_path / name, len(GOODS)) as maker:
            maker.add(lines, GOODS)
            assert maker.finish()
    assert files(tmp_path / "here") == files(tmp_path / "aside")


def test_a_process_that_dies_leaves_nothing_half_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "ASIDE_FROM", 1)
    with IndexMaker(tmp_path, 1) as maker:
        maker.add(["this is no product"])
        assert not maker.finish()
    assert not (tmp_path / indexing.FOLDER).exists()


def test_a_lost_index_is_made_by_the_first_question() -> None:
    shop = memory_catalogue(GOODS)
    assert rank(shop, Request(category="sneakers")).items[0].product.id == "a"
    assert (shop.folder / indexing.FOLDER / "about.json").is_file()


def test_an_index_of_other_word_lists_is_made_anew() -> None:
    shop = memory_catalogue(GOODS)
    index_of(shop)
    about = shop.folder / indexing.FOLDER / "about.json"
    about.write_text(json.dumps({"format": 0, "lists": "old"}))
    assert indexing.load(about.parent, shop) is None


def test_statements_survive_disk(tmp_path: Path) -> None:
    made = Evidence.build(GOODS)
    made.save(tmp_path)
    kept = Evidence.load(tmp_path)
    assert kept is not None
    for word in ("sneaker", "¬slip", "sole", "water"):
        assert np.array_equal(kept.postings(word), made.postings(word))
    assert kept.quantity("ml")[1].tolist() == [50.0]


def test_a_damaged_index_is_no_index(tmp_path: Path) -> None:
    Evidence.build(GOODS).save(tmp_path)
    (tmp_path / "token.npy").write_bytes(b"rubbish")
    assert Evidence.load(tmp_path) is None


def test_a_denied_word_is_another_token() -> None:
    assert tokens_of("Fragrance-free lotion") == ("lotion", "¬fragrance")


def test_amounts_are_read_with_what_they_are_amounts_of() -> None:
    assert quantities("8GB RAM 512GB SSD") == [("gb", 8.0, "ram"), ("gb", 512.0, "ssd")]
    assert quantities("Capacity: 20 Ah")[0][:2] == ("mah", 20_000.0)
    assert quantities("no numbers here") == []


def test_statements_hold_phrases_only_whole() -> None:
    evidence = Evidence.build([Product("x", "Bag", features=("pearl buttons", "snap pocket"))])
    assert evidence.stating(("pearl", "button")).tolist() == [0]
    assert evidence.stating(("pearl", "snap")).tolist() == []
