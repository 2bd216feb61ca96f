"""The same search by FTS5 itself: slower, always right. Serves while the precomputed impacts are missing or stale."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ego_cli.catalog import text
from ego_cli.catalog.lexical import FIELDS, Mask, Rows, Scores, Vocabulary, expansions, weighted


class FullTextFallback:
    """Meets ``lexical.Lexical`` with queries to the catalogue's FTS5 table."""

    def __init__(
        self, database: sqlite3.Connection, lock: threading.Lock, size: int, weights: Mapping[str, float]
    ) -> None:
        self.size = size
        self._database = database
        self._lock = lock
        self._score = f"-bm25(fulltext, {', '.join(str(float(weights[field])) for field in FIELDS)})"
        listed = sorted(database.execute("SELECT term, doc FROM vocabulary").fetchall())
        self.vocabulary = Vocabulary(
            [term for term, _ in listed], np.array([n for _, n in listed], dtype=np.int32)
        )

    def df(self, term: str) -> int:
        """How many rows hold ``term``."""
        return self.vocabulary.get(term, 0)

    def postings(self, term: str, *, stems: bool = False, fields: Sequence[str] = ()) -> Rows:
        """Rows that hold ``term`` (or any form of it) in one of ``fields``, ascending."""
        words = [term, *self.vocabulary.with_stem(text.stem(term))] if stems else [term]
        return np.unique(np.concatenate([self._matching(word, fields)[0] for word in words]))

    def _matching(self, term: str, fields: Sequence[str] = ()) -> tuple[Rows, Scores]:
        query = text.full_text_query([term], fields=fields)
        if not query.match:
            return np.zeros(0, dtype=np.int32), np.zeros(0)
        with self._lock:
            found = self._database.execute(
                f"SELECT rowid - 1, {self._score} FROM fulltext WHERE fulltext MATCH ? ORDER BY rowid",
                (query.match,),
            ).fetchall()
        rows, scores = zip(*found, strict=True) if found else ((), ())
        return np.array(rows, dtype=np.int32), np.array(scores, dtype=np.float64)

    def expand(self, terms: Sequence[str]) -> dict[str, float]:
        """Weights for ``search``; see ``lexical.expansions``."""
        return expansions(self.vocabulary, self.size, terms, self._share_a_row)

    def _share_a_row(self, left: str, right: str) -> bool:
        return np.intersect1d(self.postings(left), self.postings(right), assume_unique=True).size > 0

    def _sums(self, terms: Sequence[str] | Mapping[str, float]) -> Scores:
        total = np.zeros(self.size, dtype=np.float64)
        for term, weight in weighted(terms).items():
            rows, scores = self._matching(term)
            total[rows] += weight * scores
        return total

    def scores(self, terms: Sequence[str] | Mapping[str, float]) -> npt.NDArray[np.float32]:
        """float32[rows]: the weighted sum of BM25 scores of every row, 0 where nothing matches."""
        return self._sums(terms).astype(np.float32)

    def scores_of(self, terms: Sequence[str] | Mapping[str, float], rows: Rows) -> Scores:
        """float64[len(rows)]: the exact scores of ``rows``."""
        return np.asarray(self._sums(terms)[rows])

    def search(
        self, terms: Sequence[str] | Mapping[str, float], *, k: int = 10, mask: Mask | None = None
    ) -> tuple[Rows, Scores]:
        """The ``k`` best rows, best first, ties by row; see ``LexicalIndex.search``."""
        total = self._sums(terms)
        found = np.flatnonzero(total > 0 if mask is None else (total > 0) & mask)
        best = found[np.lexsort((found, -total[found]))[:k]].astype(np.int32)
        return best, total[best]
