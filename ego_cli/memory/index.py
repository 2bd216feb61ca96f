"""Finding the rows that a question is about.

Lexical evidence is BM25 over a row's own words; the turns beside it count too, at a lower rate and never twice. A name in
the question points at who spoke, a date at when (also a date that a turn tells: "yesterday", said on the 8th, is the
7th). With an embedder, sentence vectors join by a weighted sum.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from ego_cli.memory.entry import Entry
from ego_cli.memory.times import Window, windows
from ego_cli.memory.tokens import query_terms, stem, terms, words_of

# Tuned on conversations of our own making; half or double of each costs less than 0.02 of recall@5 there.
K1 = 1.2
B = 0.5
FROM_BEFORE, FROM_AFTER = 0.4, 0.2  # rates at which words of the turn before and after a turn count for it
COMMON = 0.25  # words in more than this share of the rows do not reach the neighbours
SPEAKER = 0.35  # added for a turn by the person that the question names, in units of the best match
FIRST_PERSON = 0.05  # added when that person speaks of herself
WHEN = 0.25  # added for a turn in the time that the question names
WHEN_FADE_DAYS = 7.0  # people tell of things some days later
DATED = 0.15  # added for a turn that tells a time when the question asks "when"
ASKING = 0.5  # taken off a turn that only asks
BRIEF, BRIEF_TERMS = 0.7, 4.0  # taken off a turn of no words, fading with its length
REPLYING = 0.5  # a turn by an assistant is seldom what someone wants to be reminded of
DENSE_SHARE = 0.5
DENSE_BEFORE, DENSE_AFTER = 0.15, 0.05
FEW_ROWS = 8  # among fewer rows the middle one says nothing about chance
DENSE_FLOOR = 0.2  # cosine below which a sentence vector alone is no evidence for a fact

NAMED = 1.2  # relevance of a row that the question calls by name: above the best match of words
SLIP_LETTERS = 4  # a shorter word is never read as a slip for a name

ASSISTANTS = frozenset({"assistant", "agent", "bot", "system", "ai", "model"})
_FIRST_PERSON = re.compile(r"(?i)\b(?:i|i'm|i've|i'd|i'll|my|me|we|our|mine|us)\b")
_ASKS_WHEN = re.compile(r"(?i)^\W*(?:when|what (?:date|day|year|month|time)|how long ago|since when)\b")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Hit:
    """A row found by the index: relevance (about 0-2), share of query words in it, and the words that met."""

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
    prior: float
    personal: bool
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
        self._kinds: dict[str, dict[int, Entry]] = {}
        self._names: dict[tuple[str, ...], set[int]] = {}  # stems of a name -> rows
        self._single_names: dict[str, set[int]] = {}  # names of one word as they are, for slips
        self._length = 0
        self._last_said = -1
        self._vectors: Any = None  # float32 [rows, size], in the order of _docs

    def __len__(self) -> int:
        return len(self._at)

    def add(self, entry: Entry) -> None:
        """Add a row, or put its newer version in place."""
        position = self._at.get(entry.id)
        if position is not None and _same_words(self._docs[position].entry, entry):
            self._kinds[self._docs[position].entry.kind].pop(entry.id)
            self._docs[position].entry = entry
            self._kinds.setdefault(entry.kind, {})[entry.id] = entry
            return
        self.remove(entry.id)
        said = entry.kind == "said"
        spoken = str(entry.data.get("speaker") or "")
        text = entry.text if entry.words in ("", entry.text) else f"{entry.text} {entry.words}"
        names = _names_of(entry)
        found = [] if names else terms(text)  # what has names is found by them, not by what is told of it
        for name in names:
            self._names.setdefault(_stems(name), set()).add(len(self._docs))
            if len(name) == 1:
                self._single_names.setdefault(name[0], set()).add(len(self._docs))
        speaker = frozenset(words_of(spoken))
        doc = _Doc(
            entry,
            Counter(found),
            len(found),
            speaker,
            tuple(windows(entry.text, entry.valid_from, self._local)) if said else (),
            _prior(entry.text, len(found), speaker) if said else 1.0,
            bool(_FIRST_PERSON.search(entry.text)),
        )
        position = len(self._docs)
        self._docs.append(doc)
        self._at[entry.id] = position
        self._kinds.setdefault(entry.kind, {})[entry.id] = entry
        for term, count in doc.counts.items():
            self._postings.setdefault(term, {})[position] = count
        for word in doc.speaker:
            self._speakers.setdefault(word, set()).add(position)
        self._length += doc.length
        if said:
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
        del self._kinds[doc.entry.kind][id_]
        for term in doc.counts:
            postings = self._postings[term]
            postings.pop(position, None)
            if not postings:
                del self._postings[term]
        for word in doc.speaker:
            self._speakers[word].discard(position)
        for name in _names_of(doc.entry):
            self._names.get(_stems(name), set()).discard(position)
            if len(name) == 1:
                self._single_names.get(name[0], set()).discard(position)
        self._length -= doc.length
        for beside in (doc.before, doc.after):
            if beside >= 0:
                other = self._docs[beside]
                other.before, other.after = (
                    -1 if other.before == position else other.before,
                    -1 if other.after == position else other.after,
                )
        self._vectors = None

    def entries(self, kinds: Iterable[str] | None = None) -> list[Entry]:
        """All rows in it, or those of some kinds, oldest first."""
        if kinds is not None:
            found = [entry for kind in kinds for entry in self._kinds.get(kind, {}).values()]
            return sorted(found, key=lambda entry: entry.id)
        return [self._docs[position].entry for position in self._at.values()]

    def search(
        self,
        query: str,
        now: datetime,
        *,
        encode: Callable[[list[str]], Any] | None = None,
        vectors: Callable[[Sequence[int]], Any] | None = None,
        limit: int = 50,
    ) -> list[Hit]:
        """The rows that a query is about, best first.

        ``encode`` turns texts into unit vectors and ``vectors`` gives those of rows by id (zeros where there is none).
        """
        named = [word for word in dict.fromkeys(words_of(query)) if self._speakers.get(word)]
        names = {stem(word) for word in named}
        wanted = query_terms(query)
        wanted = [term for term in wanted if term not in names] or wanted
        lexical, matched = self._lexical(wanted)
        best = max(lexical.values(), default=0.0) or 1.0
        scores = {position: value / best for position, value in lexical.items()}
        if encode is not None and vectors is not None and self._at:
            scores = self._fused(scores, matched, self._dense(encode(_phrasings(query, named)), vectors))
        called = self._called(query)
        scores |= {position: NAMED for position in called}
        if encode is None and named:
            for word in named:
                for position in self._speakers[word]:
                    scores.setdefault(position, 0.0)
        asked = windows(query, now, self._local)
        by_named = set().union(*(self._speakers[word] for word in named)) if named else set()
        asks_when = bool(_ASKS_WHEN.search(query))
        ranked = []
        for position, relevance in scores.items():
            doc = self._docs[position]
            if position in by_named:
                relevance += SPEAKER + (FIRST_PERSON if doc.personal else 0.0)
            if asked and (near := _nearness(doc, asked)) > 0.3:
                relevance += WHEN * near
            if asks_when and doc.told:
                relevance += DATED
            relevance *= doc.prior
            if relevance > 0:
                ranked.append((relevance, -position))
        hits = []
        for relevance, negative in heapq.nlargest(limit, ranked):
            position = -negative
            doc = self._docs[position]
            met = tuple(matched.get(position, ()))
            if position in called:
                met = (called[position],)
            reasons = [f"said by {doc.entry.data.get('speaker')}"] if position in by_named else []
            if asked and _nearness(doc, asked) > 0.3:
                reasons.append("of the time asked for")
            hits.append(
                Hit(doc.entry, relevance, len(met) / len(wanted) if wanted else 0.0, met, tuple(reasons))
            )
        return hits

    def _called(self, query: str) -> dict[int, str]:
        """Rows one of whose names stands in the query as a whole phrase, with the name; a single word may have one slip."""
        if not self._names:
            return {}
        said = words_of(query)
        stems = [stem(word) for word in said]
        longest = max(map(len, self._names))
        found: dict[int, str] = {}
        for start in range(len(stems)):
            for size in range(1, longest + 1):
                phrase = tuple(stems[start : start + size])
                for position in self._names.get(phrase, ()):
                    found.setdefault(position, " ".join(said[start : start + size]))
        for word in {word for word in said if len(word) >= SLIP_LETTERS and (stem(word),) not in self._names}:
            for name, positions in self._single_names.items():
                if one_slip(word, name):
                    for position in positions:
                        found.setdefault(position, word)
        return found

    def _lexical(self, wanted: Sequence[str]) -> tuple[dict[int, float], dict[int, list[str]]]:
        """BM25 with the words of neighbouring turns, each word counted once for a row: at its best rate."""
        n = len(self)
        flat, slope = K1 * (1 - B), K1 * B * n / max(1, self._length)
        totals: dict[int, float] = {}
        matched: dict[int, list[str]] = {}
        docs = self._docs
        for term in wanted:
            postings = self._postings.get(term)
            if not postings:
                continue
            weight = math.log(1 + (n - len(postings) + 0.5) / (len(postings) + 0.5)) * (K1 + 1)
            parts: dict[int, float] = {}
            alone = len(postings) > COMMON * n
            for position, count in postings.items():
                doc = docs[position]
                value = weight * count / (count + flat + slope * doc.length)
                matched.setdefault(position, []).append(term)
                if value > parts.get(position, 0.0):
                    parts[position] = value
                if alone:
                    continue
                if doc.after >= 0 and FROM_BEFORE * value > parts.get(doc.after, 0.0):
                    parts[doc.after] = FROM_BEFORE * value
                if doc.before >= 0 and FROM_AFTER * value > parts.get(doc.before, 0.0):
                    parts[doc.before] = FROM_AFTER * value
            for position, value in parts.items():
                totals[position] = totals.get(position, 0.0) + value
        return totals, matched

    def _dense(self, phrasings: Any, vectors: Callable[[Sequence[int]], Any]) -> Any:
        """Cosine of each row with the query, a little of its neighbours' added."""
        import numpy as np

        if self._vectors is None:
            self._vectors = vectors([doc.entry.id for doc in self._docs])
            self._before = np.array([doc.before for doc in self._docs])
            self._after = np.array([doc.after for doc in self._docs])
        vector = phrasings.mean(axis=0)
        own = self._vectors @ (vector / max(1e-9, float(np.linalg.norm(vector))))
        around = np.where(self._before >= 0, DENSE_BEFORE * own[self._before], 0.0)
        return own, own + around + np.where(self._after >= 0, DENSE_AFTER * own[self._after], 0.0)

    def _fused(
        self, lexical: Mapping[int, float], matched: Mapping[int, list[str]], dense: tuple[Any, Any]
    ) -> dict[int, float]:
        """Weighted sum of both, each scaled to the best row's 1; the middle row's cosine counts as nothing."""
        import numpy as np

        own, scaled = dense
        top = float(scaled.max())
        middle = float(np.median(scaled)) if len(scaled) >= FEW_ROWS else 0.0
        near = np.maximum(0.0, (scaled - middle) / max(1e-6, top - middle)).tolist()
        alone = own.tolist()
        scores = {}
        for position in self._at.values():
            if _names_of(self._docs[position].entry):
                continue
            score = (1 - DENSE_SHARE) * lexical.get(position, 0.0)
            if (
                self._docs[position].entry.kind == "said"
                or position in matched
                or alone[position] >= DENSE_FLOOR
            ):
                score += DENSE_SHARE * near[position]
            if score > 0:
                scores[position] = score
        return scores


def _names_of(entry: Entry) -> list[tuple[str, ...]]:
    """The names by which a row is to be found (its ``names``, if it came with any), as folded words."""
    names = entry.data.get("names")
    if not isinstance(names, list):
        return []
    return [name for name in (tuple(words_of(str(name))) for name in names) if name]


def _stems(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(stem(word) for word in words)


def one_slip(a: str, b: str) -> bool:
    """Whether two words differ by one letter (more, less, other, or two swapped) behind their first two."""
    if a[:2] != b[:2] or abs(len(a) - len(b)) > 1 or min(len(a), len(b)) < SLIP_LETTERS:
        return False
    i = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    swapped = (
        a[i + 1 : i + 2] == b[i : i + 1] and a[i : i + 1] == b[i + 1 : i + 2] and a[i + 2 :] == b[i + 2 :]
    )
    return a[i:] == b[i + 1 :] or a[i + 1 :] == b[i:] or a[i + 1 :] == b[i + 1 :] or swapped


def _same_words(a: Entry, b: Entry) -> bool:
    return (a.text, a.words, a.kind, a.valid_from, a.data) == (b.text, b.words, b.kind, b.valid_from, b.data)


def _prior(text: str, length: int, speaker: frozenset[str]) -> float:
    """How likely a turn is to tell anything, before any question: brief ones, mere questions and an assistant's less."""
    parts = _SENTENCE.split(text)
    asking = sum(len(terms(part)) for part in parts if part.rstrip().endswith("?")) / max(1, length)
    prior = (1 - ASKING * min(1.0, asking)) * (1 - BRIEF * math.exp(-length / BRIEF_TERMS))
    return prior * REPLYING if speaker & ASSISTANTS else prior


def _phrasings(query: str, named: Sequence[str]) -> list[str]:
    """A question about a person, and the same as that person would put it: answers are told in the first person."""
    if not named:
        return [query]
    own = query
    for name in named:
        own = re.sub(rf"(?i)\b{re.escape(name)}['’]s\b", "my", own)
        own = re.sub(rf"(?i)\b{re.escape(name)}\b", "I", own)
    return [query, own]


def _nearness(doc: _Doc, asked: Sequence[Window]) -> float:
    """1 when a row happened in, or tells of, a time that was asked for; fading with the days between."""
    best = 0.0
    for window in asked:
        gap = window.days_from(doc.entry.valid_from)
        if any(told.start < window.end and window.start < told.end for told in doc.told):
            gap = 0.0
        best = max(best, math.exp(-gap / WHEN_FADE_DAYS))
    return best
