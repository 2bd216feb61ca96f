"""Vectors: kept, resumed, never mixed."""

import threading
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ego_cli.catalog import dense, embedding, encoders
from ego_cli.catalog.dense import DenseIndex, VectorFile, embed_products, only_embedder
from ego_cli.catalog.encoders import Vectors
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import memory_catalogue
from ego_cli.errors import CatalogueError, MisuseError, ServiceAwayError
from ego_cli.ranking import rank
from ego_cli.ranking.fusion import Plan
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


def test_a_catalogue_that_is_removed_meanwhile_does_not_come_back_as_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "COMMIT_EVERY", 1)

    class Removing(Words):
        def encode(self, texts: Sequence[str]) -> Vectors:
            for file in tmp_path.glob("shop.*"):
                file.unlink()
            return super().encode(texts)

    with pytest.raises(CatalogueError, match="removed"):
        embed_products(tmp_path / "shop.db", goods("a", "b"), encoder=Removing())
    assert not list(tmp_path.glob("*.f16")) and not (tmp_path / "shop.vectors.db").exists()


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
    encoder = encoders.load_encoder()
    vectors = encoder.encode(["a red dress", "scarlet gown", "20000mAh power bank", ""])
    assert vectors.shape == (4, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2


def test_other_weights_than_the_pinned_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "MINILM_SHA256", "0" * 64)
    with pytest.raises(ServiceAwayError, match="not the pinned"):
        encoders.MiniLm()


def test_an_encoder_of_the_extra_is_asked_for_in_one_line_when_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(MisuseError, match=r"\[sentence-transformers\]"):
        encoders.SentenceTransformer("some/model")


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder of this process is ``Words``."""
    for module in (dense, embedding):
        monkeypatch.setattr(module, "load_encoder", lambda name="words", threads=1: Words())


def test_without_vectors_a_question_gets_none_and_loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "load_encoder", lambda *_, **__: pytest.fail("must not load"))
    source = embedding.DenseSource(memory_catalogue(goods("red dress")))
    assert source() is None


@pytest.mark.usefixtures("words")
def test_a_question_never_waits_for_a_source_that_was_started() -> None:
    shop = memory_catalogue(goods("red dress", "blue kettle"))
    embed_products(shop.path, shop, encoder=Words())
    source = embedding.DenseSource(shop)
    source.start(embed=False)
    source()  # whatever there is yet
    source.close()
    index = source()
    assert index is not None and index.search("blue kettle", 1)[0].tolist() == [1]


@pytest.mark.usefixtures("words")
def test_few_vectors_are_not_asked_and_nearly_all_are() -> None:
    shop = memory_catalogue(goods(*(f"lamp number {n}" for n in range(20))))
    embed_products(shop.path, list(shop)[:17], encoder=Words())
    assert embedding.DenseSource(shop)() is None
    embed_products(shop.path, list(shop)[:18], encoder=Words())
    assert embedding.DenseSource(shop)() is not None


@pytest.mark.usefixtures("words")
def test_vectors_of_another_model_are_left_aside_and_embedding_anew_is_offered() -> None:
    shop = memory_catalogue(goods("red dress"))
    embed_products(shop.path, shop, encoder=Words(identity="other"))
    source = embedding.DenseSource(shop)
    assert source() is None
    told = source.trouble()
    assert "other" in told and "`ego catalog embed --again`" in told
    assert source.trouble() == ""  # once


def test_no_vector_speaks_neither_for_a_product_nor_against_it() -> None:
    index = DenseIndex(Words(), Words().encode(["red dress", "lamp"]), np.array([0, 1, -1], dtype=np.int32))
    told = index.similarity("red dress", np.arange(3))
    assert told[2] == pytest.approx((told[0] + told[1]) / 2)


def test_of_two_that_embed_at_once_the_second_waits_and_finds_it_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "WAIT_S", 0.01)
    path, products, second = tmp_path / "shop.db", goods("a", "b", "c"), Words()
    told: list[tuple[int, int]] = []
    with only_embedder(path, lambda: pytest.fail("nobody else holds it")):
        VectorFile(path).begin(Words(), again=False)
        other = threading.Thread(
            target=embed_products,
            args=(path, products, lambda *done: told.append(done)),
            kwargs={"encoder": second},
        )
        other.start()
        VectorFile(path).append(Words(), dense.text_keys(products), Words().encode(["a", "b", "c"]))
        while (3, 3) not in told:
            assert other.is_alive()
    other.join()
    assert second.seen == []


SMALL = st.integers(min_value=0, max_value=2**31)


@settings(max_examples=25, deadline=None)
@given(seed=SMALL, k=st.integers(1, 60), share=st.floats(0.05, 1.0), copies=st.integers(1, 4))
def test_ruling_out_by_codes_gives_what_comparing_all_gives(
    seed: int, k: int, share: float, copies: int
) -> None:
    luck = np.random.default_rng(seed)
    few, rows = 3000 // copies, 3000
    matrix = luck.standard_normal((few, 32)) * luck.random((few, 1)) ** 2
    matrix = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float16)
    row_of = luck.integers(-1, few, rows).astype(np.int32)  # copies of texts, and rows without a vector
    mask = luck.random(rows) < share
    question = luck.standard_normal(32).astype(np.float32)

    class One(Words):
        def encode(self, texts: Sequence[str]) -> Vectors:
            return (question / np.linalg.norm(question))[None]

    index = DenseIndex(One(size=32), matrix, row_of)
    found, scores = index.search("anything", k, mask)
    allowed = np.flatnonzero(mask & (row_of >= 0))
    plain = np.vecdot(matrix[row_of[allowed]].astype(np.float32), One().encode([""])[0])
    order = np.lexsort((allowed, -plain))[:k]
    assert found.tolist() == allowed[order].tolist()
    assert scores.tolist() == plain[order].tolist()


def test_a_plan_says_which_legs_search_and_when_vectors_are_asked() -> None:
    shop = memory_catalogue(goods("kettle steel", "lamp green", "steel lamp"))
    vectors = DenseIndex.of_texts(Words(), [p.title for p in shop])
    wish = Request(words="steel lamp")
    always = rank(shop, wish, dense=lambda: vectors, plan=Plan(answered=1.1))
    assert always.items[0].legs == {"lexical": 1, "dense": 1} and "dense" in always.parts_ms
    never = rank(shop, wish, dense=lambda: pytest.fail("must not be asked"), plan=Plan(answered=0.0))
    assert never.items[0].legs == {"lexical": 1}
    alone = Plan(weights={"dense": 1.0, "lexical": 0.0, "kind": 0.0}, answered=1.1, scored=False)
    only = rank(shop, wish, dense=lambda: vectors, plan=alone)
    assert [item.legs for item in only.items] == [{"dense": n} for n in (1, 2, 3)]
    assert only.items[0].terms == {"fused": pytest.approx(1 / 11)}
