"""What ego is compared with: three plain ways to search, each an agent of the protocol.

They put together all that the customer said, search with it, show ten products and ask openly ("other").
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.product import Product
from ego_cli.catalog.text import TOKENIZER, full_text_query, terms
from ego_cli.evaluation.suites import read_products
from ego_cli.settings import SearchSettings


class _Searcher:
    """Keeps what was said; a search ranks the whole catalogue by it."""

    def __init__(self, catalog_path: str | Path) -> None:
        products = read_products(catalog_path)
        self._ids = [p.id for p in products]
        self._said: dict[str, list[str]] = {}
        self._index(products)

    def _index(self, products: Sequence[Product]) -> None:
        raise NotImplementedError

    def _search(self, said: Sequence[str], count: int) -> list[int]:
        """Rows, best first; only rows that the search found at all."""
        raise NotImplementedError

    def reset(self, session_id: str, user_profile: Mapping[str, Any]) -> None:
        """Begin a session."""
        self._said[session_id] = []

    def respond(self, session_id: str, user_message: str, turn: int, top_k: int) -> dict[str, Any]:
        """The protocol's answer to one message."""
        said = self._said.setdefault(session_id, [])
        said.append(user_message)
        return {
            "message": "Here is what I found. What matters most to you?",
            "ask_attribute": "other",
            "recommendations": [{"parent_asin": self._ids[row]} for row in self._search(said, top_k)],
            "usage": {"prompt_tokens": 0, "completion_tokens": 0},
        }

    def diagnose(self, session_id: str, product_id: str) -> dict[str, str]:
        """Why a product was not shown: never retrieved, or outranked and by how many."""
        found = [self._ids[row] for row in self._search(self._said.get(session_id, []), len(self._ids))]
        if product_id not in found:
            return {"kind": "never retrieved", "why": "it shares no word with what was said"}
        return {
            "kind": "outranked",
            "why": f"it stands in place {found.index(product_id) + 1:,} of {len(found):,}",
        }


def _fields(product: Product) -> tuple[str, str, str, str, str, str]:
    """Title, categories, features, details, store, description: the columns of the seed's index."""
    details = " ".join(f"{key} {value}" for key, value in product.details.items())
    store = product.store or product.brand or ""
    texts = (
        product.title,
        " ".join(product.categories),
        " ".join(product.features),
        details,
        store,
        product.description,
    )
    title, categories, features, facts, seller, description = (" ".join(terms(text)) for text in texts)
    return title, categories, features, facts, seller, description


class RankBm25(_Searcher):
    """Okapi BM25 of the rank-bm25 package over one field of all text.

    Scores are the package's, taken from its own counts through an inverted index: it walks every document for every word,
    which would take hours for a table of suites.
    """

    def _index(self, products: Sequence[Product]) -> None:
        from rank_bm25 import BM25Okapi

        model = BM25Okapi([" ".join(_fields(p)).split() for p in products])
        rows: dict[str, list[int]] = defaultdict(list)
        counts: dict[str, list[int]] = defaultdict(list)
        for row, frequencies in enumerate(model.doc_freqs):
            for word, count in frequencies.items():
                rows[word].append(row)
                counts[word].append(count)
        lengths = np.asarray(model.doc_len, dtype=np.float64)
        self._norm: NDArray[np.float64] = model.k1 * (1 - model.b + model.b * lengths / model.avgdl)
        self._k1: float = model.k1
        self._idf: dict[str, float] = model.idf
        self._rows = {word: np.asarray(found, dtype=np.int32) for word, found in rows.items()}
        self._counts = {word: np.asarray(found, dtype=np.float64) for word, found in counts.items()}

    def scores(self, words: Sequence[str]) -> NDArray[np.float64]:
        """BM25 of every row for a question's words, repeated ones counted as often as they stand there."""
        total = np.zeros(len(self._ids))
        for word in words:
            if word in self._rows:
                rows, counts = self._rows[word], self._counts[word]
                total[rows] += self._idf[word] * counts * (self._k1 + 1) / (counts + self._norm[rows])
        return total

    def _search(self, said: Sequence[str], count: int) -> list[int]:
        scores = self.scores(terms(" ".join(said)))
        best = np.argsort(-scores, kind="stable")[:count]
        return [int(row) for row in best if scores[row] > 0]


class Fts5Or(_Searcher):
    """SQLite FTS5: any word, BM25 with the seed's field weights."""

    def _index(self, products: Sequence[Product]) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE rows USING fts5(title, category, features, details, store, description,"
            f" tokenize='{TOKENIZER}')"
        )
        self._db.executemany(
            "INSERT INTO rows(rowid, title, category, features, details, store, description) VALUES (?,?,?,?,?,?,?)",
            ((row, *_fields(p)) for row, p in enumerate(products)),
        )
        weights = SearchSettings()
        columns = (
            weights.title,
            weights.category,
            weights.features,
            weights.details,
            weights.store,
            weights.description,
        )
        self._order = "bm25(rows, " + ", ".join(str(w) for w in columns) + "), rowid"

    def _search(self, said: Sequence[str], count: int) -> list[int]:
        query = full_text_query(" ".join(said)).match
        if not query:
            return []
        found = self._db.execute(
            f"SELECT rowid FROM rows WHERE rows MATCH ? ORDER BY {self._order} LIMIT ?", (query, count)
        )
        return [row for (row,) in found]


class PopularityInCategory(_Searcher):
    """The most reviewed products of the shelf whose name was said; ten further ones each turn."""

    def _index(self, products: Sequence[Product]) -> None:
        shelves: dict[tuple[str, ...], list[int]] = defaultdict(list)
        popularity = [p.rating_count for p in products]
        for row, product in enumerate(products):
            shelves[product.categories[-2:]].append(row)
        for rows in shelves.values():
            rows.sort(key=lambda row: (-popularity[row], row))
        self._shelves = [(frozenset(terms(" ".join(names))), rows) for names, rows in shelves.items()]
        self._everything = sorted(range(len(products)), key=lambda row: (-popularity[row], row))

    def _search(self, said: Sequence[str], count: int) -> list[int]:
        heard = set(terms(said[0])) if said else set()
        named = [(len(words), len(rows), rows) for words, rows in self._shelves if words and words <= heard]
        rows = max(named, key=lambda shelf: shelf[:2])[2] if named else self._everything
        start = (len(said) - 1) * count if count < len(rows) else 0
        return rows[start : start + count]
