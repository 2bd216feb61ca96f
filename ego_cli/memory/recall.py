"""Finding the memories that a question is about, and packing them into a budget of tokens.

Lexical evidence is BM25 over a row's own words; the turns beside it count too, at a lower rate and never twice. A name in
the question points at who spoke, a date at when. With an embedder, sentence vectors join by a weighted sum.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from ego_cli.memory.entry import EPISODIC, Entry
from ego_cli.memory.tokens import query_terms, terms, words_of
from ego_cli.memory.times import Window, windows

# Tuned on conversations of our own making (evaluation/recall.py says how they are scored); none is sensitive to ±30 %.
K1 = 1.2
B = 0.5
NEIGHBOUR = 0.35  # rate at which the words of the turn before and after count
SPEAKER = 0.35  # added for a turn by the person that the question names, in units of a full match
WHEN = 0.25  # added for a turn in the time that the question names
WHEN_FADE_DAYS = 7.0  # people tell of things some days later
DATED = 0.08  # added for a turn that tells a time when the question asks "when"
ASKING = 0.9  # a turn that only asks is seldom the answer
DENSE_SHARE = 0.5
DENSE_NEIGHBOUR = 0.2
DENSE_FLOOR = 0.25  # cosine below which a sentence vector alone is no evidence


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that came back: its rank value, why it came, its cost in tokens and its retention (0-1)."""

    entry: Entry
    score: float
    why: str
    tokens: int
    retention: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A row found by the index: relevance 0-1 or a little more, share of query words in it, and the words that met."""

    entry: Entry
    relevance: float
    overlap: float
    matched: tuple[str, ...]
    reasons: tuple[str, ...] = ()


@dataclass(slots=True)
class _Doc:
    entry: Entry
    counts: Counter[str]
    length: int
    speaker: frozenset[str]
    told: tuple[Window, ...]
    asks: bool
    before: int = -1  # position of the turn before in the same conversation
    after: int = -1


class Index:
    """Rows of one shopper, ready to be searched. Rows are added in the order in which they happened."""

    def __init__(self, local: tzinfo) -> None:
        self._local = local
        self._docs: list[_Doc] = []
        self._at: dict[int, int] = {}  # row id -> position
        self._postings: dict[str, dict[int, int]] = {}
        self._speakers: dict[str, set[int]] = {}
        self._length = 0
        self._last_said = -1
        self._gone: set[int] = set()
        self._vectors: Any = None  # float32 [rows, size], in the order of _docs
        self._vector_model = ""

    def __len__(self) -> int:
        return len(self._docs) - len(self._gone)

    def add(self, entry: Entry) -> None:
        """Add a row, or put its newer version in place."""
        self.remove(entry.id)
        spoken = str(entry.data.get("speaker", ""))
        text = entry.text if entry.words in ("", entry.text) else f"{entry.text} {entry.words}"
        found = terms(text)
        doc = _Doc(
            entry,
            Counter(found),
            len(found),
            frozenset(words_of(spoken)),
            tuple(windows(entry.words or entry.text, entry.valid_from, self._local)),
            entry.text.rstrip().endswith("?"),
        )
        position = len(self._docs)
        self._docs.append(doc)
        self._at[entry.id] = position
        for term, count in doc.counts.items():
            self._postings.setdefault(term, {})[position] = count
        for word in doc.speaker:
            self._speakers.setdefault(word, set()).add(position)
        self._length += doc.length
        if entry.kind == "said":
            if self._last_said >= 0 and self._docs[self._last_said].entry.session == entry.session:
                doc.before = self._last_said
                self._docs[self._last_said].after = position
            self._last_said = position
        self._vectors = None

    def remove(self, id_: int) -> None:
        """Take a row out."""
        position = self._at.pop(id_, None)
        if position is None:
            return
        doc = self._docs[position]
        for term in doc.counts:
            postings = self._postings[term]
            postings.pop(position, None)
            if not postings:
                del self._postings[term]
        for word in doc.speaker:
            self._speakers[word].discard(position)
        self._length -= doc.length
        self._gone.add(position)
        self._vectors = None

    def entries(self) -> Iterable[Entry]:
        """All rows in it."""
        return (doc.entry for i, doc in enumerate(self._docs) if i not in self._gone)

    def search(
        self,
        query: str,
        now: datetime,
        *,
        vector: Any = None,
        vectors: Callable[[Sequence[int]], Any] | None = None,
        limit: int = 50,
    ) -> list[Hit]:
        """The rows that a query is about, best first.

        ``vector`` is the query's unit vector and ``vectors`` gives those of rows by id (rows without one are zero).
        """
        wanted = query_terms(query)
        named = self._named(query)
        wanted = [
            term for term in wanted if not (term in named and len(self._speakers.get(term, ())) > 0)
        ] or wanted
        lexical, matched = self._lexical(wanted)
        ideal = sum(self._weight(term) for term in wanted) or 1.0
        scores = {position: value / ideal for position, value in lexical.items()}
        if vector is not None and vectors is not None and self._docs:
            scores = self._fused(scores, self._dense(vector, vectors))
        asked = windows(query, now, self._local)
        when = (
            query.lower()
            .lstrip()
            .startswith(("when", "what date", "what day", "what year", "what month", "how long ago"))
        )
        speakers = set().union(*(self._speakers[word] for word in named)) if named else set()
        hits = []
        for position, relevance in scores.items():
            if relevance <= 0 or position in self._gone:
                continue
            doc = self._docs[position]
            reasons = []
            if position in speakers:
                relevance += SPEAKER
                reasons.append("said by " + str(doc.entry.data.get("speaker")))
            if asked and (near := self._nearness(doc, asked)) > 0.3:
                relevance += WHEN * near
                reasons.append("of the time asked for")
            if when and doc.told:
                relevance += DATED
            if doc.asks:
                relevance *= ASKING
            met = matched.get(position, ())
            overlap = len(met) / len(wanted) if wanted else 0.0
            hits.append(Hit(doc.entry, relevance, overlap, tuple(met), tuple(reasons)))
        hits.sort(key=lambda hit: (-hit.relevance, -hit.entry.id))
        return hits[:limit]

    def _named(self, query: str) -> list[str]:
        return [word for word in dict.fromkeys(words_of(query)) if word in self._speakers]

    def _weight(self, term: str) -> float:
        """Inverse document frequency, never below zero (Lucene's form)."""
        n = len(self._postings.get(term, ()))
        return math.log(1 + (len(self) - n + 0.5) / (n + 0.5))

    def _lexical(self, wanted: Sequence[str]) -> tuple[dict[int, float], dict[int, list[str]]]:
        mean = self._length / max(1, len(self))
        totals: dict[int, float] = {}
        matched: dict[int, list[str]] = {}
        for term in wanted:
            weight = self._weight(term)
            parts: dict[int, float] = {}
            for position, count in self._postings.get(term, {}).items():
                doc = self._docs[position]
                value = weight * count * (K1 + 1) / (count + K1 * (1 - B + B * doc.length / mean)) / (K1 + 1)
                value *= K1 + 1
                matched.setdefault(position, []).append(term)
                parts[position] = max(parts.get(position, 0.0), value)
                for beside in (doc.before, doc.after):
                    if beside >= 0 and beside not in self._gone:
                        parts[beside] = max(parts.get(beside, 0.0), NEIGHBOUR * value)
            for position, value in parts.items():
                totals[position] = totals.get(position, 0.0) + value
        return totals, matched

    def _dense(self, vector: Any, vectors: Callable[[Sequence[int]], Any]) -> Any:
        import numpy as np

        if self._vectors is None or len(self._vectors) != len(self._docs):
            self._vectors = vectors([doc.entry.id for doc in self._docs])
        own = self._vectors @ vector
        around = np.zeros_like(own)
        before = np.array([doc.before for doc in self._docs])
        after = np.array([doc.after for doc in self._docs])
        for beside in (before, after):
            there = beside >= 0
            around[there] += own[beside[there]]
        return own + DENSE_NEIGHBOUR * around

    def _fused(self, lexical: Mapping[int, float], dense: Any) -> dict[int, float]:
        import numpy as np

        middle, top = float(np.median(dense)), float(dense.max())
        spread = max(1e-6, top - middle)
        best = max(lexical.values(), default=0.0) or 1.0
        scores = {}
        for position in range(len(self._docs)):
            near = max(0.0, (float(dense[position]) - middle) / spread)
            scores[position] = (1 - DENSE_SHARE) * lexical.get(position, 0.0) / best + DENSE_SHARE * near
        return scores

    def _nearness(self, doc: _Doc, asked: Sequence[Window]) -> float:
        """1 when a row happened in, or tells of, a time that was asked for; fading with the days between."""
        best = 0.0
        for window in asked:
            gap = window.days_from(doc.entry.valid_from)
            for told in doc.told:
                if told.start < window.end and window.start < told.end:
                    gap = 0.0
            best = max(best, math.exp(-gap / WHEN_FADE_DAYS))
        return best


def pack(ranked: Iterable[Recalled], max_tokens: int | None, max_results: int | None) -> list[Recalled]:
    """Take rows in order as long as they fit; one that does not fit is skipped, and the next one may fit."""
    taken: list[Recalled] = []
    left = max_tokens if max_tokens is not None else None
    for item in ranked:
        if max_results is not None and len(taken) >= max_results:
            break
        if left is not None and item.tokens > left:
            continue
        taken.append(item)
        if left is not None:
            left -= item.tokens
    return taken


def happened_in(entry: Entry, asked: Sequence[Window]) -> bool:
    """Whether an event lies in one of the times asked for; facts that are no events always pass."""
    return entry.tier != EPISODIC or any(window.holds(entry.valid_from) for window in asked)
