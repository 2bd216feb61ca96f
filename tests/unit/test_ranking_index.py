"""The ranking index: the same however it was made, and made anew when it must."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from ego_cli.catalog import index as indexing
from ego_cli.catalog.evidence import Evidence, quantities, tokens_of
from ego_cli.catalog.evidence_reader import EvidenceReader
from ego_cli.catalog.index import IndexMaker, index_of
from ego_cli.catalog.kinds import TypeReader
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import memory_catalogue
from ego_cli.catalog.stored import encode_product
from ego_cli.ranking import rank
from ego_cli.ranking.request import Request

GOODS = [
    Product("a", "Torva sneakers, red", categories=("Shoes", "Sneakers"), price=10, features=("non-slip sole",), colours=("red",)),
    Product("b", "Halo lotion 50 ml", categories=("Body care",), price=5, ingredients="Water, Parfum", rating=4.0, rating_count=3),
]  # fmt: skip
AGAIN = [
    Product("c", "Torva sneakers, 8GB RAM", categories=("Odd", "Gadgets"), price=1),
    Product("a", "Torva trainers, blue", categories=("Shoes", "Trainers"), price=12, features=("8GB RAM", "grip sole"), colours=("blue",)),
]  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read(products: Iterable[Product]) -> Evidence:
    reader = EvidenceReader()
    for product in products:
        reader.add(product)
    return reader.finish()


@pytest.mark.parametrize("order", [None, [3, 1], [0, 1, 2]])
def test_another_process_makes_the_same_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: list[int] | None
) -> None:
    goods = [*GOODS, *AGAIN] if order else GOODS
    rows = np.array(order, dtype=np.int32) if order else None
    for name, aside in (("here", 10), ("aside", 3)):
        monkeypatch.setattr(indexing, "ASIDE_FROM", aside)
        (tmp_path / name).mkdir()
        with IndexMaker(tmp_path / name) as maker:
            for product in goods:  # one by one: the process begins when some are known already
                maker.add([encode_product(product)], [product])
            assert maker.finish(rows)
        assert not (tmp_path / name / "products.spool").exists()
    assert files(tmp_path / "here") == files(tmp_path / "aside")


def test_a_product_that_was_replaced_leaves_no_trace(tmp_path: Path) -> None:
    """Reading every listing and keeping the last of each is as reading only those."""
    reader, plain = EvidenceReader(), EvidenceReader()
    types, plain_types = TypeReader(), TypeReader()
    for product in [*GOODS, *AGAIN]:
        reader.add(product)
        types.add(product)
    final = [AGAIN[1], GOODS[1]]
    for product in final:
        plain.add(product)
        plain_types.add(product)
    order = np.array([3, 1], dtype=np.int32)
    made, wanted = reader.finish(order), plain.finish()
    assert set(made.id_of) == set(wanted.id_of)
    for word in wanted.id_of:
        assert made.postings(word).tolist() == wanted.postings(word).tolist()
        assert made.listing(word).tolist() == wanted.listing(word).tolist()
    for unit in ("ml", "gb"):
        assert [part.tolist() for part in made.quantity(unit, "ram" if unit == "gb" else None)] == [
            part.tolist() for part in wanted.quantity(unit, "ram" if unit == "gb" else None)
        ]
    kinds, plain_kinds = types.finish(made, order), plain_types.finish(wanted)
    assert {w: rows.tolist() for w, rows in kinds.main.items()} == {
        w: rows.tolist() for w, rows in plain_kinds.main.items()
    }
    assert [kinds.paths[n] for n in kinds.path_of_row] == [
        plain_kinds.paths[n] for n in plain_kinds.path_of_row
    ]
    assert kinds.tag_of_row.tolist() == plain_kinds.tag_of_row.tolist()


def test_a_load_that_ends_early_writes_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "ASIDE_FROM", 1)
    with IndexMaker(tmp_path) as maker:
        maker.add([encode_product(GOODS[0])])
        process = maker._process
    assert process is not None and process.returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_without_a_second_process_the_index_is_made_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "ASIDE_FROM", 1)
    monkeypatch.setattr("sys.executable", "")
    with IndexMaker(tmp_path) as maker:
        for product in GOODS:
            maker.add([encode_product(product)])
        assert maker.finish()
    assert (tmp_path / indexing.FOLDER).is_dir()


def test_a_process_that_dies_leaves_nothing_half_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "ASIDE_FROM", 1)
    with IndexMaker(tmp_path) as maker:
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
    made = read(GOODS)
    made.save(tmp_path)
    kept = Evidence.load(tmp_path)
    assert kept is not None
    for word in ("sneaker", "¬slip", "sole", "water"):
        assert np.array_equal(kept.postings(word), made.postings(word))
    assert kept.quantity("ml")[1].tolist() == [50.0]


def test_a_damaged_index_is_no_index(tmp_path: Path) -> None:
    read(GOODS).save(tmp_path)
    (tmp_path / "token.npy").write_bytes(b"rubbish")
    assert Evidence.load(tmp_path) is None


def test_a_denied_word_is_another_token() -> None:
    assert tokens_of("Fragrance-free lotion") == ("lotion", "¬fragrance")


def test_amounts_are_read_with_what_they_are_amounts_of() -> None:
    assert quantities("8GB RAM 512GB SSD") == [("gb", 8.0, "ram"), ("gb", 512.0, "ssd")]
    assert quantities("Capacity: 20 Ah")[0][:2] == ("mah", 20_000.0)
    assert quantities("no numbers here") == []


def test_statements_hold_phrases_only_whole() -> None:
    evidence = read([Product("x", "Bag", features=("pearl buttons", "snap pocket"))])
    assert evidence.stating(("pearl", "button")).tolist() == [0]
    assert evidence.stating(("pearl", "snap")).tolist() == []
