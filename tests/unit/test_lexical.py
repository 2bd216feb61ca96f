"""Ranks and scores are FTS5's own; forms of a word find each other, and the form asked for comes first."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ego_cli.catalog import lexical, text
from ego_cli.catalog.impacts import ImpactBuilder
from ego_cli.catalog.lexical import LexicalIndex
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import Catalogue, connect, memory_catalogue
from ego_cli.evaluation import bench_search


def shop(*titles: str) -> Catalogue:
    return memory_catalogue(Product(id=title, title=title) for title in titles)


def ids(catalogue: Catalogue, words: str, k: int = 10) -> list[str]:
    return [catalogue.id_of(row) for row in catalogue.search(words, k=k)[0]]


def by_fts5(
    catalogue: Catalogue, terms: Sequence[str], mask: np.ndarray | None = None
) -> list[tuple[int, float]]:
    """Every match by FTS5's bm25() with explicit weights, best first, ties by row."""
    weights = ", ".join(str(weight) for weight in catalogue.lexical.weights.values())  # type: ignore[attr-defined]
    query = f"SELECT rowid - 1, -bm25(fulltext, {weights}) AS s FROM fulltext WHERE fulltext MATCH ? ORDER BY s DESC, rowid"
    with closing(connect(catalogue.path)) as database:
        found = database.execute(query, (text.full_text_query(terms).match,)).fetchall()
    return [(row, score) for row, score in found if mask is None or mask[row]]


@pytest.fixture(scope="module")
def corpus() -> Catalogue:
    return memory_catalogue(bench_search.products(6_000))


def test_the_top_of_every_search_is_that_of_fts5(corpus: Catalogue) -> None:
    luck = random.Random(5)
    words = list(corpus.lexical.vocabulary)
    for _ in range(150):
        asked = {
            luck.choice(words) if luck.random() < 0.5 else f"w{int(luck.paretovariate(0.6))}"
            for _ in range(luck.randint(1, 7))
        }
        terms = sorted(asked)
        k = luck.choice([1, 3, 10, 100, 6_000])
        mask = np.random.default_rng(luck.randrange(999)).random(6_000) < luck.choice([1.0, 0.5, 0.01])
        rows, scores = corpus.lexical.search(terms, k=k, mask=mask)
        assert list(zip(rows.tolist(), scores.tolist(), strict=True)) == by_fts5(corpus, terms, mask)[:k]


def test_terms_in_more_than_half_of_the_rows_have_the_floor_of_fts5(corpus: Catalogue) -> None:
    common = max(corpus.lexical.vocabulary, key=corpus.lexical.df)
    assert corpus.lexical.df(common) > 3_000
    rows, scores = corpus.lexical.search([common], k=5)
    assert list(zip(rows.tolist(), scores.tolist(), strict=True)) == by_fts5(corpus, [common])[:5]


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.lists(st.sampled_from(["red", "blue", "shoe", "hat", "cap", "6p5inch", "crème"]), max_size=6),
        min_size=1,
        max_size=9,
    ),
    asked=st.lists(
        st.sampled_from(["red", "blue", "shoe", "hat", "cap", "6p5inch", "creme", "none"]),
        min_size=1,
        max_size=5,
        unique=True,
    ),
    weights=st.lists(st.sampled_from([0.1, 0.5, 1.0, 3.7, 12.0]), min_size=6, max_size=6),
)
def test_any_catalogue_with_any_weights_scores_as_fts5(
    rows: list[list[str]], asked: list[str], weights: list[float], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("impacts")
    builder = ImpactBuilder(folder, dict(zip(lexical.FIELDS, weights, strict=True)))
    database = sqlite3.connect(":memory:")
    database.execute(
        f"CREATE VIRTUAL TABLE t USING fts5({', '.join(lexical.FIELDS)}, tokenize='{text.TOKENIZER}')"
    )
    for words in rows:
        fields = [text.terms(" ".join(words[place::6])) for place in range(6)]
        builder.add(fields)
        database.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", [" ".join(field) for field in fields])
    builder.finish()
    index = LexicalIndex(folder)
    found, scores = index.search(asked, k=99)
    listed = ", ".join(map(str, weights))
    query = f"SELECT rowid - 1, -bm25(t, {listed}) AS s FROM t WHERE t MATCH ? ORDER BY s DESC, rowid"
    expected = database.execute(query, (text.full_text_query(asked).match,)).fetchall()
    assert scores.tolist() == pytest.approx([score for _, score in expected], rel=1e-12)
    assert sorted(found.tolist()) == sorted(row for row, _ in expected)


def test_fts5_itself_gives_the_same_answers_when_the_cache_cannot_be_used(corpus: Catalogue) -> None:
    slow = lexical_fallback(corpus)
    words = list(corpus.lexical.vocabulary)
    for asked in (words[100:103], {words[7]: 1.0, words[900]: 0.4}):
        fast_rows, fast_scores = corpus.lexical.search(asked, k=50)
        slow_rows, slow_scores = slow.search(asked, k=50)
        assert fast_scores.tolist() == pytest.approx(slow_scores.tolist(), rel=1e-12)
        assert set(fast_rows[:-1].tolist()) <= set(slow_rows.tolist()) | set(fast_rows[-1:].tolist())
    assert slow.df(words[3]) == corpus.lexical.df(words[3])
    assert (
        slow.postings(words[3], fields=("title",)).tolist()
        == corpus.lexical.postings(words[3], fields=("title",)).tolist()
    )


def lexical_fallback(catalogue: Catalogue) -> lexical.Lexical:
    import threading

    from ego_cli.catalog.fulltext import FullTextFallback

    return FullTextFallback(
        connect(catalogue.path), threading.Lock(), catalogue.size, catalogue.lexical.weights
    )  # type: ignore[attr-defined]


def test_scores_of_chosen_rows_are_those_of_the_search(corpus: Catalogue) -> None:
    terms = {"w5": 1.0, "w200": 0.5, "w3000": 2.0}
    rows, scores = corpus.lexical.search(terms, k=40)
    ascending = np.sort(rows)
    again = dict(zip(ascending.tolist(), corpus.lexical.scores_of(terms, ascending).tolist(), strict=True))
    assert [again[row] for row in rows.tolist()] == scores.tolist()
    assert corpus.lexical.scores(terms)[rows] == pytest.approx(scores, rel=1e-5)


def test_postings_can_be_asked_for_a_field_and_for_all_forms() -> None:
    catalogue = memory_catalogue(
        [
            Product(id="a", title="Red dress"),
            Product(id="b", title="Belt", features=("goes with a dress",)),
            Product(id="c", title="Dresses on a rail", categories=("Dresses",)),
        ]
    )
    index = catalogue.lexical
    assert index.postings("dress").tolist() == [0, 1]
    assert index.postings("dress", stems=True).tolist() == [0, 1, 2]
    assert index.postings("dress", stems=True, fields=("title", "category")).tolist() == [0, 2]
    assert index.postings("unheard").size == 0


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        ("dress", "Red dress", "Red dresses"),
        ("dresses", "Red dresses", "Red dress"),
        ("scarf", "Silk scarf", "Silk scarves"),
        ("scarves", "Silk scarves", "Silk scarf"),
    ],
)
def test_a_word_finds_its_other_form_after_itself(words: str, first: str, second: str) -> None:
    assert ids(shop(second, first, "Clay pot"), words) == [first, second]


def test_a_rare_form_does_not_overtake_the_form_that_was_asked_for() -> None:
    crowd = [f"Plain dress number{n}" for n in range(200)]
    assert "Odd dresses" not in ids(shop(*crowd, "Odd dresses"), "dress", k=200)[:200]


def test_a_rare_plural_in_prose_does_not_hide_the_singular_in_titles() -> None:
    crowd = [Product(id=f"d{n}", title=f"Plain dress number{n}") for n in range(50)]
    rail = Product(
        id="rail", title="Rail for the wardrobe", description="hang up your coats, shirts and dresses"
    )
    found = memory_catalogue([rail, *crowd]).search("dresses", k=51)[0]
    assert found.tolist()[-1] == 0


def test_an_exact_word_in_prose_does_not_overtake_another_form_in_a_title() -> None:
    catalogue = memory_catalogue(
        [
            Product(
                id="rail",
                title="Rail",
                description="a rail for hanging up dresses, coats and other long clothes",
            ),
            Product(id="dress", title="Linen dress"),
        ]
    )
    assert ids(catalogue, "dresses")[0] == "dress"


@pytest.mark.parametrize(
    ("words", "wanted", "unwanted"),
    [
        ("shorts", "Denim shorts", "Short sleeve top"),
        ("skirts", "Pleated skirt", "Skirting board"),
        ("glasses", "Reading glasses", "Tall glass vase"),
        ("organic", "Organic oats", "Mouth organ"),
    ],
)
def test_look_alike_words_are_not_found(words: str, wanted: str, unwanted: str) -> None:
    assert ids(shop(unwanted, wanted), words) == [wanted]


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("powerbank 10000 mah", "Voltgo 10,000mAh Power bank"),
        ("20000", "Voltgo 20,000mAh brick"),
        ('6.5" phone', "Phone 6.5 inch"),
        ("50 ml serum", "Serum 1.7 oz"),
        ("levis", "Levi's 501"),
        ("tshirt", "Cotton T-Shirt"),
        ("bluetoothspeaker", "Bluetooth speaker"),
        ("base ball glove", "Baseball glove"),
    ],
)
def test_other_spellings_find_the_thing(words: str, title: str) -> None:
    assert ids(shop("Clay pot", title, "Wooden spoon"), words)[0] == title


def test_an_empty_catalogue_and_unknown_words_find_nothing() -> None:
    assert ids(memory_catalogue([]), "red dress") == []
    assert ids(shop("Clay pot"), "zzz qqq") == []
