"""Exact field-weighted BM25: FTS5's own numbers, served from precomputed impacts.

FTS5 scores every matching row of an OR query in its virtual machine. We keep, per term, the rows that hold it and what it
adds to their score (its *impacts*), as arrays mapped from disk, and add them up with numpy. The formula is that of
``fts5_aux.c`` (SQLite), with its idf floor for terms that more than half of the rows hold, its average length over all
fields, and its order of operations, so that ranks and ties are the same:

    idf(t)      = ln((N - n + 0.5) / (n + 0.5)), at least 1e-6
    score(d, t) = idf(t) * f * (k1 + 1) / (f + k1 * (1 - b + b * |d| / avg))      f = sum of field weight x occurrences

A search adds float32 impacts into one accumulator, finds a lower bound of the k-th best sum, and rescores in float64 only the
rows that can reach it. It tries with the rarer terms alone first (MaxScore); if these do not settle it, it adds the terms
that many rows hold too, each a whole column at once. Rounding is bounded, so the result is exact.
"""

from __future__ import annotations

import json
import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ego_cli.catalog import text

Rows = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FIELDS = ("title", "category", "features", "details", "store", "description")
K1, B, IDF_FLOOR = 1.2, 0.75, 1e-6  # constants of fts5_aux.c

STEM_WEIGHT = 0.7  # what another form of a word counts, against the form that was asked for
COMPOUND_WEIGHT = 0.8  # "bluetooth" + "speaker" for an unknown "bluetoothspeaker", or the other way round
UNIT_WEIGHT = 0.8  # "20000mah" for a bare "20000"

_RARE_POSTINGS = 16_384  # up to so many postings together, rare terms are tried alone
_FLOAT32_STEP = 2.0**-23
_FIRST = np.array([True])  # the first of a sorted run is always new


class Lexical(Protocol):
    """What a search needs; met by precomputed impacts and, when these are stale, by FTS5 itself."""

    size: int
    vocabulary: Vocabulary

    def df(self, term: str) -> int: ...
    def postings(self, term: str, *, stems: bool = False, fields: Sequence[str] = ()) -> Rows: ...
    def expand(self, terms: Sequence[str]) -> dict[str, float]: ...
    def search(
        self, terms: Sequence[str] | Mapping[str, float], *, k: int = 10, mask: Mask | None = None
    ) -> tuple[Rows, Scores]: ...
    def scores(self, terms: Sequence[str] | Mapping[str, float]) -> npt.NDArray[np.float32]: ...
    def scores_of(self, terms: Sequence[str] | Mapping[str, float], rows: Rows) -> Scores: ...


def idf(rows_with_term: int, rows: int) -> float:
    """FTS5's inverse document frequency."""
    value = math.log((rows - rows_with_term + 0.5) / (rows_with_term + 0.5))
    return value if value > 0.0 else IDF_FLOOR


def length_norms(lengths: npt.NDArray[np.int32]) -> Scores:
    """k1 * (1 - b + b * |d| / avg) for each row."""
    average = float(lengths.sum(dtype=np.int64)) / lengths.size if lengths.size else 1.0
    return np.asarray(K1 * (1 - B + B * lengths.astype(np.float64) / (average or 1.0)))


def term_scores(idfs: Scores | float, frequency: Scores, norms: Scores) -> Scores:
    return np.asarray(idfs * ((frequency * (K1 + 1.0)) / (frequency + norms)))


# --- vocabulary -----------------------------------------------------------------------------------------------------


class Vocabulary(Mapping[str, int]):
    """Every term of a catalogue in code point order, with the number of rows that hold it."""

    def __init__(self, words: Sequence[str], df: npt.NDArray[np.int32]) -> None:
        self.words = words
        self._df = df
        self._number = {word: number for number, word in enumerate(words)}
        self._by_stem: dict[str, list[str]] | None = None

    def __getitem__(self, term: str) -> int:
        return int(self._df[self._number[term]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, term: object) -> bool:
        return term in self._number

    def number(self, term: str) -> int | None:
        """Position of ``term`` in code point order."""
        return self._number.get(term)

    def with_stem(self, stem: str) -> Sequence[str]:
        """All terms whose singular is ``stem``."""
        if self._by_stem is None:
            groups: dict[str, list[str]] = {}
            for word in self.words:
                groups.setdefault(text.stem(word), []).append(word)
            self._by_stem = {key: words for key, words in groups.items() if len(words) > 1 or words[0] != key}
        found = self._by_stem.get(stem)
        if found is not None:
            return found
        return (stem,) if stem in self._number and text.stem(stem) == stem else ()

    def starting_with(self, prefix: str) -> Iterator[str]:
        """Terms that begin with ``prefix``, in order."""
        for position in range(bisect_left(self.words, prefix), len(self.words)):
            if not self.words[position].startswith(prefix):
                return
            yield self.words[position]


def expansions(
    vocabulary: Vocabulary, rows: int, terms: Sequence[str], share_a_row: Callable[[str, str], bool]
) -> dict[str, float]:
    """Terms of a question with weights: those asked for, other forms of the same words, numbers with a unit, compounds.

    All forms of a word count with the idf of its most frequent form, so that a rare plural neither outranks the singular
    that was asked for nor hides it when the plural was asked for. ``share_a_row(a, b)``: does one row hold both terms?
    """
    weights: dict[str, float] = {}

    def offer(forms: Mapping[str, float]) -> None:
        known = {form: idf(vocabulary[form], rows) for form in forms if form in vocabulary}
        lowest = min(known.values(), default=1.0)
        for form, weight in forms.items():
            weights[form] = max(weights.get(form, 0.0), weight * (lowest / known.get(form, lowest)))

    for here, term in enumerate(terms):
        forms = dict.fromkeys(vocabulary.with_stem(text.stem(term)), STEM_WEIGHT)
        if term.isdigit() and len(term) > 2:
            forms |= {
                f: UNIT_WEIGHT for f in vocabulary.starting_with(term) if text.unit_named(f[len(term) :])
            }
        if term not in vocabulary and not forms:
            for part in _parts(vocabulary, term, share_a_row):
                offer({part: COMPOUND_WEIGHT})
        offer(forms | {term: 1.0})
        if here + 1 < len(terms) and (joined := term + terms[here + 1]) in vocabulary:
            offer({joined: COMPOUND_WEIGHT})
    return weights


def _parts(vocabulary: Vocabulary, term: str, share_a_row: Callable[[str, str], bool]) -> Sequence[str]:
    """Two known words that ``term`` is made of and that some row holds together."""
    for cut in range(2, len(term) - 1):
        left, right = term[:cut], term[cut:]
        if left in vocabulary and right in vocabulary and share_a_row(left, right):
            return left, right
    return ()


# --- searching ------------------------------------------------------------------------------------------------------


def mapped(path: Path) -> npt.NDArray[Any]:
    """An array of a sidecar, mapped from disk; a plain ndarray, because slices of memmap objects are slow."""
    found = np.load(path, mmap_mode=None if path.stat().st_size < 4096 else "r")
    return np.asarray(found)


class LexicalIndex:
    """Impacts of one catalogue generation. Safe to use from several threads."""

    FILES = (
        "lexical.json",
        "terms.txt",
        "lengths.npy",
        "postings.indptr.npy",
        "postings.rows.npy",
        "postings.frequencies.npy",
        "postings.impacts.npy",
        "postings.fields.npy",
        "postings.highest.npy",
        "columns.terms.npy",
        "columns.impacts.npy",
    )

    def __init__(self, folder: Path) -> None:
        about = json.loads((folder / "lexical.json").read_text(encoding="utf-8"))
        self.size: int = about["rows"]
        self.weights: dict[str, float] = about["weights"]
        self._indptr = mapped(folder / "postings.indptr.npy")
        self._rows = mapped(folder / "postings.rows.npy")
        self._frequencies = mapped(folder / "postings.frequencies.npy")
        self._impacts = mapped(folder / "postings.impacts.npy")
        self._fields = mapped(folder / "postings.fields.npy")
        self._highest = mapped(folder / "postings.highest.npy")
        self._norms = length_norms(mapped(folder / "lengths.npy"))
        self._columns = mapped(folder / "columns.impacts.npy")
        self._slot = {int(term): slot for slot, term in enumerate(mapped(folder / "columns.terms.npy"))}
        listed = (folder / "terms.txt").read_text(encoding="utf-8")
        words = listed.split("\n") if listed else []
        self.vocabulary = Vocabulary(words, np.diff(self._indptr).astype(np.int32))
        self._local = threading.local()

    def df(self, term: str) -> int:
        """How many rows hold ``term``."""
        return self.vocabulary.get(term, 0)

    def idf(self, term: str) -> float:
        """FTS5's inverse document frequency of ``term``."""
        return idf(self.df(term), self.size)

    def _slice(self, term: str) -> slice | None:
        number = self.vocabulary.number(term)
        return None if number is None else slice(int(self._indptr[number]), int(self._indptr[number + 1]))

    def postings(self, term: str, *, stems: bool = False, fields: Sequence[str] = ()) -> Rows:
        """Rows that hold ``term`` (or, with ``stems``, any form of it) in one of ``fields`` (none: anywhere), ascending."""
        words = {term, *self.vocabulary.with_stem(text.stem(term))} if stems else {term}
        wanted = sum(1 << FIELDS.index(field) for field in fields)
        found = []
        for word in words:
            if (here := self._slice(word)) is not None:
                rows = self._rows[here]
                found.append(rows[(self._fields[here] & wanted) != 0] if wanted else rows)
        if not found:
            return np.zeros(0, dtype=np.int32)
        return found[0] if len(found) == 1 else np.unique(np.concatenate(found))

    def _share_a_row(self, left: str, right: str) -> bool:
        return np.intersect1d(self.postings(left), self.postings(right), assume_unique=True).size > 0

    def expand(self, terms: Sequence[str]) -> dict[str, float]:
        """Weights for ``search``: the terms, other forms of the same words, compounds, numbers with their unit."""
        return expansions(self.vocabulary, self.size, terms, self._share_a_row)

    def scores(self, terms: Sequence[str] | Mapping[str, float]) -> npt.NDArray[np.float32]:
        """float32[rows]: the weighted sum of BM25 scores of every row, 0 where nothing matches (a fresh array)."""
        total = np.zeros(self.size, dtype=np.float32)
        self._accumulate(self._entries(weighted(terms)), total)
        return total

    def scores_of(self, terms: Sequence[str] | Mapping[str, float], rows: Rows) -> Scores:
        """float64[len(rows)]: the exact scores of ``rows``."""
        return self._exact(self._entries(weighted(terms)), rows)

    def _exact(self, entries: list[_Entry], rows: Rows) -> Scores:
        if not entries or not rows.size:
            return np.zeros(rows.size, dtype=np.float64)
        frequency = np.empty((len(entries), rows.size), dtype=np.float64)
        factors = np.empty((len(entries), 1), dtype=np.float64)
        for place, entry in enumerate(entries):
            holders = self._rows[entry.here]
            nearest = holders[:-1].searchsorted(rows)  # never past the end, so it can be looked up
            np.multiply(
                self._frequencies[entry.here][nearest], holders[nearest] == rows, out=frequency[place]
            )
            factors[place] = entry.weight * idf(holders.size, self.size)
        # Where a row lacks a term its frequency is 0 and so is what the term adds. Rows of the matrix are added in order.
        return np.asarray(term_scores(factors, frequency, self._norms[rows]).sum(axis=0))

    def _accumulate(self, entries: list[_Entry], total: npt.NDArray[np.float32]) -> None:
        for entry in entries:
            if entry.slot is not None:
                column = self._columns[entry.slot]
                np.add(total, column if entry.weight == 1.0 else column * np.float32(entry.weight), out=total)
            else:  # rows of one term are distinct
                total[self._rows[entry.here]] += self._weighted_impacts(entry)

    def _weighted_impacts(self, entry: _Entry) -> npt.NDArray[np.float32]:
        impacts = self._impacts[entry.here]
        return impacts if entry.weight == 1.0 else impacts * np.float32(entry.weight)

    def _entries(self, wanted: Mapping[str, float]) -> list[_Entry]:
        found = []
        for term, weight in wanted.items():
            number = self.vocabulary.number(term)
            if number is not None:
                here = slice(int(self._indptr[number]), int(self._indptr[number + 1]))
                found.append(
                    _Entry(here, weight, self._slot.get(number), weight * float(self._highest[number]))
                )
        return found

    def search(
        self, terms: Sequence[str] | Mapping[str, float], *, k: int = 10, mask: Mask | None = None
    ) -> tuple[Rows, Scores]:
        """The ``k`` best rows that hold any of ``terms`` (of those that ``mask`` allows), best first, ties by row.

        Scores are FTS5's ``-bm25()`` for a plain sequence; a mapping gives each term a weight. Both arrays may be
        shorter than ``k``; rows that match nothing are never returned.
        """
        entries = self._entries(weighted(terms))
        if k < 1 or not entries:
            return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float64)
        slack = (len(entries) + 4) * _FLOAT32_STEP  # relative error of a float32 sum, generously
        near = self._near_by_rare_terms(entries, k, mask, slack)
        if near is None:
            near = self._near_by_all_terms(entries, k, mask, slack)
        exact = self._exact(entries, near)
        best = np.lexsort((near, -exact))[:k]
        return near[best], exact[best]

    def _near_by_all_terms(self, entries: list[_Entry], k: int, mask: Mask | None, slack: float) -> Rows:
        """Rows among which the ``k`` best are, from the sums of all rows."""
        total: npt.NDArray[np.float32] | None = getattr(self._local, "total", None)
        if total is None:
            total = self._local.total = np.empty(self.size, dtype=np.float32)
        total.fill(0.0)
        self._accumulate(entries, total)
        if mask is not None:
            np.multiply(total, mask, out=total)
        floor = _kth_best_at_least(total, k) * (1.0 - slack)
        return np.flatnonzero(total >= np.float32(floor) if floor > 0 else total > 0).astype(np.int32)

    def _near_by_rare_terms(
        self, entries: list[_Entry], k: int, mask: Mask | None, slack: float
    ) -> Rows | None:
        """Rows among which the ``k`` best are, found from the rarer terms alone; None when that does not settle it.

        A row that holds only frequent terms scores at most the sum of their highest impacts. When ``k`` rows already have
        more than that from the rarer terms, it need not be looked at (MaxScore).
        """
        rare = [entry for entry in entries if entry.slot is None]
        if not rare or sum(entry.here.stop - entry.here.start for entry in rare) > _RARE_POSTINGS:
            return None
        at_most = sum(entry.highest for entry in entries if entry.slot is not None) * (1.0 + slack)
        rows = np.concatenate([self._rows[entry.here] for entry in rare])
        impacts = np.concatenate([self._weighted_impacts(entry) for entry in rare])
        if mask is not None:
            allowed = mask[rows]
            rows, impacts = rows[allowed], impacts[allowed]
        if rows.size < k:
            return None
        order = rows.argsort()
        rows = rows[order]
        starts = np.concatenate((_FIRST, rows[1:] != rows[:-1])).nonzero()[0]
        rows, sums = rows[starts], np.add.reduceat(impacts[order], starts)
        if rows.size < k:
            return None
        ordered = sums.copy()
        ordered.partition(rows.size - k)
        floor = float(ordered[rows.size - k]) * (1.0 - slack)
        if floor <= at_most:
            return None
        return np.asarray(rows[sums >= np.float32((floor - at_most) * (1.0 - slack))])


class _Entry(NamedTuple):
    """A term of a search: its place in the postings, its weight, its column if it has one, the most it can add."""

    here: slice
    weight: float
    slot: int | None
    highest: float


def weighted(terms: Sequence[str] | Mapping[str, float]) -> Mapping[str, float]:
    """Terms with weights; a plain sequence weighs 1 each, repeats once."""
    if isinstance(terms, Mapping):
        return {term: weight for term, weight in terms.items() if weight > 0}
    return dict.fromkeys(terms, 1.0)


def _kth_best_at_least(total: npt.NDArray[np.float32], k: int) -> float:
    """A value that at least ``k`` entries of ``total`` reach (0 if there may be fewer), and few others do.

    The maxima of disjoint blocks are different rows, so the k-th best of them is such a value.
    """
    blocks = total.size // 64 if total.size // 64 >= 4 * k else total.size // 8
    if blocks < 2 * k:
        return float(np.partition(total, -k)[-k]) if k <= total.size else 0.0
    height = total.size // blocks
    maxima = total[: height * blocks].reshape(height, blocks).max(axis=0)
    return float(np.partition(maxima, -k)[-k])
