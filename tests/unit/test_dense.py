"""Vectors: kept, resumed, never mixed."""

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ego_cli.catalog import dense
from ego_cli.catalog.dense import DenseIndex, VectorFile, Vectors, embed_products
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import memory_catalogue
from ego_cli.errors import CatalogueError, MisuseError, ServiceAwayError
from ego_cli.ranking import rank
from ego_cli.ranking.request import Request


class Words:
    """An encoder without weights: a text is the sum of a fixed random vector for each of its words."""

    def __init__(self, size: int = 24, identity: str = "words") -> None:
        self.size, self.identity = size, identity
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        out = np.zeros((len(texts), self.size), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(".", " ").split():
                out[row] += np.random.default_rng(zlib.crc32(word.encode())).standard_normal(self.size)
            out[row] /= max(float(np.linalg.norm(out[row])), 1e-9)
        return out


def goods(*titles: str) -> list[Product]:
    return [Product(f"p{n}", title) for n, title in enumerate(titles)]


def test_the_nearest_text_is_found(tmp_path: Path) -> None:
    products = goods("red dress", "blue kettle", "green lamp")
    embed_products(tmp_path / "shop.db", products, encoder=Words())
    index = DenseIndex.open(tmp_path / "shop.db", products, Words())
    assert index is not None
    rows, scores = index.search("kettle blue", 2)
    assert rows[0] == 1 and scores[0] == pytest.approx(1.0, abs=1e-3)


def test_only_what_changed_is_embedded_again(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    embed_products(path, goods("red dress", "blue kettle"), encoder=Words())
    again = Words()
    done = embed_products(path, goods("red dress", "steel kettle", "lamp"), encoder=again)
    assert sorted(again.seen) == ["lamp", "steel kettle"]
    assert (done.embedded, done.kept) == (2, 1)


def test_rows_may_change_places(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    products = goods("red dress", "blue kettle")
    embed_products(path, products, encoder=Words())
    index = DenseIndex.open(path, products[::-1], Words())
    assert index is not None
    assert index.search("red dress", 1)[0][0] == 1


def test_a_run_that_was_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "COMMIT_EVERY", 2)
    path, products = tmp_path / "shop.db", goods("a b", "c d", "e f", "g h", "i j")

    class Killed(Words):
        def encode(self, texts: Sequence[str]) -> Vectors:
            if self.seen:
                raise KeyboardInterrupt
            return super().encode(texts)

    with pytest.raises(KeyboardInterrupt):
        embed_products(path, products, encoder=Killed())
    rest = Words()
    embed_products(path, products, encoder=rest)
    assert len(rest.seen) == 3
    index = DenseIndex.open(path, products, Words())
    assert index is not None and index.coverage == 1.0
    assert all(index.search(p.title, 1)[0][0] == n for n, p in enumerate(products))


def test_half_written_vectors_do_no_harm(tmp_path: Path) -> None:
    path, products = tmp_path / "shop.db", goods("red dress", "blue kettle")
    embed_products(path, products[:1], encoder=Words())
    (matrix,) = tmp_path.glob("*.f16")
    with matrix.open("ab") as handle:
        handle.write(b"\x01" * 17)  # a kill in the middle of a write
    embed_products(path, products, encoder=Words())
    index = DenseIndex.open(path, products, Words())
    assert index is not None
    assert index.search("blue kettle", 1)[0][0] == 1


def test_vectors_of_two_models_are_never_mixed(tmp_path: Path) -> None:
    path, products = tmp_path / "shop.db", goods("red dress")
    embed_products(path, products, encoder=Words(identity="one"))
    other = Words(size=8, identity="two")
    assert DenseIndex.open(path, products, other) is None
    with pytest.raises(CatalogueError, match="--again"):
        embed_products(path, products, encoder=other)
    embed_products(path, products, encoder=other, again=True)
    assert VectorFile(path).model() == ("two", 8)
    assert DenseIndex.open(path, products, Words(identity="one")) is None


def test_vectors_of_goods_that_are_gone_are_thrown_away(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    embed_products(path, goods("a", "b", "c", "d"), encoder=Words())
    kept = goods("d", "e")
    assert embed_products(path, kept, encoder=Words()).removed == 3
    index = DenseIndex.open(path, kept, Words())
    assert index is not None
    assert index.search("d", 1)[0][0] == 0 and index.search("e", 1)[0][0] == 1
    assert len(list(tmp_path.glob("*.f16"))) == 1


def test_a_mask_is_kept_to_and_ties_go_by_row() -> None:
    index = DenseIndex.of_texts(Words(), ["lamp", "lamp", "lamp"])
    assert index.search("lamp", 3)[0].tolist() == [0, 1, 2]
    assert index.search("lamp", 3, np.array([False, False, True]))[0].tolist() == [2]
    assert len(index.search("", 3)[0]) == 0


def test_words_that_no_product_says_are_answered_by_vectors() -> None:
    shop = memory_catalogue(goods("kettle steel", "lamp green", "dress red"))

    class Near(Words):
        def encode(self, texts: Sequence[str]) -> Vectors:
            return super().encode([text.replace("thing to boil water", "kettle steel") for text in texts])

    vectors = DenseIndex.of_texts(Near(), [p.title for p in shop])
    wish = Request(words="thing to boil water")
    best = rank(shop, wish, dense=lambda: vectors).items[0]
    assert best.product.id == "p0" and best.legs["dense"] == 1 and best.terms["dense"] > 0


def test_vectors_are_not_asked_where_words_answer() -> None:
    shop = memory_catalogue(goods("kettle steel", "lamp green"))
    encoder = Words()
    vectors = DenseIndex.of_texts(encoder, [p.title for p in shop])
    encoder.seen.clear()
    rank(shop, Request(words="green lamp"), dense=lambda: vectors)
    assert encoder.seen == []


def test_the_bundled_model_knows_a_gown_from_a_power_bank() -> None:
    encoder = dense.load_encoder()
    vectors = encoder.encode(["a red dress", "scarlet gown", "20000mAh power bank", ""])
    assert vectors.shape == (4, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_other_weights_than_the_pinned_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "MINILM_SHA256", "0" * 64)
    with pytest.raises(ServiceAwayError, match="not the pinned"):
        dense.MiniLm()


def test_an_encoder_of_the_extra_is_asked_for_in_one_line_when_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(MisuseError, match=r"\[sentence-transformers\]"):
        dense.SentenceTransformer("some/model")


def test_the_background_embeds_and_never_makes_a_question_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "load_encoder", lambda name=dense.DEFAULT_ENCODER: Words())
    shop = memory_catalogue(goods("red dress", "blue kettle"))
    source = dense.DenseSource(shop)
    source.start()
    source()  # whatever there is yet
    for _ in range(200):
        if (index := source()) is not None and index.coverage == 1.0:
            break
        source._thread.join(0.05)  # type: ignore[union-attr]
    assert index is not None and index.search("blue kettle", 1)[0].tolist() == [1]
    source.close()


def test_without_vectors_a_question_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        dense, "load_encoder", lambda name=dense.DEFAULT_ENCODER: pytest.fail("must not load")
    )
    source = dense.DenseSource(memory_catalogue(goods("red dress")))
    assert source() is None


def test_vectors_of_another_model_are_left_aside_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    shop = memory_catalogue(goods("red dress"))
    embed_products(shop.path, shop, encoder=Words(identity="other"))
    monkeypatch.setattr(dense, "load_encoder", lambda name=dense.DEFAULT_ENCODER: Words(identity="mine"))
    source = dense.DenseSource(shop)
    source.start()
    source._thread.join(5)  # type: ignore[union-attr]
    assert source() is None
    assert source.error is not None and "--again" in str(source.error)
