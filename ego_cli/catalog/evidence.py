"""What each product says, cut into single statements, so that one wish can be held against one statement.

A *unit* is one statement of a product: its title, one feature bullet, one detail, one sentence of the description. Its
tokens are the stems of its terms; a denied word ("fragrance-free") is the token ``¬fragrance``, so a wish for
"fragrance-free" meets it and a search for "fragrance" does not. Everything stands in flat arrays (CSR), built once after
a load and memory-mapped afterwards: a turn touches numbers, never product text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.denials import told
from ego_cli.catalog.product import Product
from ego_cli.catalog.text import cached_terms, has_digit, in_base, measures, stem, terms

Rows = NDArray[np.int32]
NOT = "¬"
FORMAT = 2  # of the files on disk; another number means: build anew
LONGEST_SENTENCES = 14  # sentences of a description that are read
SHORT = 80  # characters up to which a statement is likely to be shared between products


class Field(IntEnum):
    """Where a statement stands."""

    TITLE = 0
    BRAND = 1
    CATEGORY = 2
    COLOUR = 3
    MATERIAL = 4
    SIZE = 5
    GENDER = 6
    FEATURE = 7
    DETAIL = 8
    DESCRIPTION = 9
    INGREDIENTS = 10


# Where what is said is a statement about the thing itself; an ingredient list is read by its own rules.
SPOKEN = tuple(field for field in Field if field is not Field.INGREDIENTS)

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|\s[•|]\s")


def statements(product: Product) -> Iterator[tuple[Field, str, str]]:
    """The units of a product: (field, name of the stored field, text). Names are those that reasons cite."""
    yield Field.TITLE, "title", product.title
    if product.brand:
        yield Field.BRAND, "brand", product.brand
    for n, name in enumerate(product.categories):
        yield Field.CATEGORY, f"categories[{n}]", name
    for n, value in enumerate(product.colours):
        yield Field.COLOUR, f"colours[{n}]", value
    for n, value in enumerate(product.materials):
        yield Field.MATERIAL, f"materials[{n}]", value
    if product.sizes:
        yield Field.SIZE, "sizes", " , ".join(product.sizes)
    if product.gender:
        yield Field.GENDER, "gender", product.gender
    for n, value in enumerate(product.features):
        yield Field.FEATURE, f"features[{n}]", value
    for key, value in product.details.items():
        yield Field.DETAIL, f"details.{key}", f"{key}: {value}"
    if product.description:
        for sentence in _SENTENCE.split(product.description)[:LONGEST_SENTENCES]:
            if sentence:
                yield Field.DESCRIPTION, "description", sentence
    if product.ingredients:
        yield Field.INGREDIENTS, "ingredients", product.ingredients


def tokens_of(text: str) -> tuple[str, ...]:
    """Distinct stems of a statement or a wish, in order; denied words carry ``¬``."""
    return _tokens_cached(text) if len(text) <= SHORT else _tokens(text)


def _tokens(text: str) -> tuple[str, ...]:
    affirmed, denied = told(text)
    found = dict.fromkeys(map(stem, cached_terms(affirmed) if len(affirmed) <= SHORT else terms(affirmed)))
    if denied:
        found.update(dict.fromkeys(NOT + stem(term) for term in terms(denied)))
    return tuple(found)


_tokens_cached = lru_cache(maxsize=100_000)(_tokens)


@dataclass(frozen=True, slots=True)
class Arrays:
    """The arrays as they stand on disk. N rows, U units, T tokens, V stems, Q quantities."""

    unit_of_row: NDArray[np.int64]  # N + 1: units of row r are [r]..[r + 1]
    field: NDArray[np.uint8]  # U
    token_of_unit: NDArray[np.int64]  # U + 1
    token: NDArray[np.int32]  # T
    row_of_stem: NDArray[np.int64]  # V + 1: postings over all fields but ingredients
    posting: NDArray[np.int32]  # rows, ascending within a stem
    posting_fields: NDArray[np.uint16]  # bit f: the stem stands in field f of the row
    listed_of_stem: NDArray[np.int64]  # V + 1: the same for ingredient lists
    listed: NDArray[np.int32]
    quantity_of_unit: NDArray[np.int64]  # number of quantity kinds + 1
    quantity_row: NDArray[np.int32]
    quantity_value: NDArray[np.float32]  # in the base unit
    quantity_near: NDArray[np.int32]  # stem that names it ("ram" in "8GB RAM"), -1 = none


_LOOKED_AT = 512  # rows: a phrase that pages print is found among as many


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Tokens found: the place of their row and of their unit among those looked at, the unit's place among those of its
    row, its field, and the stem's place."""

    row: NDArray[np.int64]
    unit: NDArray[np.int64]
    statement: NDArray[np.int64]
    field: NDArray[np.uint8]
    token: NDArray[np.int16]


class Evidence:
    """Statements of all products of a catalogue, addressed by row and by stem."""

    def __init__(self, vocabulary: Sequence[str], kinds: Sequence[str], arrays: Arrays) -> None:
        self.id_of = {word: n for n, word in enumerate(vocabulary)}
        self.kind_of = {unit: n for n, unit in enumerate(kinds)}
        self.arrays = arrays
        self.rows = len(arrays.unit_of_row) - 1
        frequency = np.diff(arrays.row_of_stem).astype(np.float32)
        self.idf: NDArray[np.float32] = np.log1p((self.rows - frequency + 0.5) / (frequency + 0.5)).astype(
            np.float32
        )

    @cached_property
    def is_amount(self) -> NDArray[np.bool_]:
        """Per stem: whether it holds a digit."""
        return np.array([any(c.isdigit() for c in word) for word in self.id_of], dtype=bool)

    # --- saving, loading --------------------------------------------------------------------------------

    def save(self, folder: Path) -> None:
        """Write the arrays into ``folder`` (made if missing), one ``.npy`` each, and the words as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in Arrays.__slots__:
            np.save(folder / f"{name}.npy", getattr(self.arrays, name))
        words = {"format": FORMAT, "vocabulary": list(self.id_of), "kinds": list(self.kind_of)}
        (folder / "words.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Evidence | None:
        """Memory-map what ``save`` wrote; None when it is missing, damaged or of another format."""
        try:
            words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
            if words["format"] != FORMAT:
                return None
            arrays = Arrays(
                **{name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in Arrays.__slots__}
            )
        except (OSError, ValueError, KeyError):
            return None
        return cls(words["vocabulary"], words["kinds"], arrays)

    # --- looking up -----------------------------------------------------------------------------------------------

    def postings(self, word: str) -> Rows:
        """Rows that state the stem ``word`` (or deny it, for ``¬word``), ascending."""
        number = self.id_of.get(word)
        return np.empty(0, dtype=np.int32) if number is None else self.posting(number)

    def posting(self, number: int) -> Rows:
        """``postings`` of a stem by its number."""
        start, end = self.arrays.row_of_stem[number : number + 2]
        return self.arrays.posting[start:end]

    def tokens_of_row(self, row: int) -> NDArray[np.int32]:
        """The distinct stems (numbers) that a product states, denied ones as such."""
        first, last = self.arrays.token_of_unit[self.arrays.unit_of_row[row : row + 2]]
        return np.unique(self.arrays.token[first:last])

    def listing(self, word: str) -> Rows:
        """Rows whose ingredient list holds the stem, ascending."""
        number = self.id_of.get(word)
        if number is None:
            return np.empty(0, dtype=np.int32)
        start, end = self.arrays.listed_of_stem[number : number + 2]
        return self.arrays.listed[start:end]

    def frequency(self, word: str) -> int:
        """How many rows state the stem."""
        return len(self.postings(word))

    def rarity(self, word: str) -> float:
        """Inverse document frequency of a stem, in nats; that of a word that nobody says is the highest."""
        number = self.id_of.get(word)
        return float(self.idf[number]) if number is not None else float(np.log1p(2 * self.rows + 1))

    def stating(self, phrase: Sequence[str], fields: Sequence[Field] | None = None) -> Rows:
        """Rows of which one statement (of ``fields``; None = any but ingredients) holds every stem of ``phrase``."""
        rows = self.holding(phrase)
        if fields is not None and len(rows):
            rows = rows[self._in_fields(phrase[-1], rows, fields)]
            if len(phrase) == 1:
                return rows
        if not len(rows) or (len(phrase) == 1 and fields is None):
            return rows
        return rows[
            self.best_statement(rows, {self.id_of[w]: 1.0 for w in phrase}, fields) >= len(phrase) - 0.5
        ]

    def prints(self, phrase: Sequence[str]) -> bool:
        """Whether pages print ``phrase``: one statement of one of the first rows that hold its stems holds them all."""
        rows = self.holding(phrase)[:_LOOKED_AT]
        if len(phrase) < 2 or not len(rows):
            return len(rows) > 0
        weights = {self.id_of[word]: 1.0 for word in phrase}
        return bool((self.best_statement(rows, weights) >= len(weights) - 0.5).any())

    def _in_fields(self, word: str, rows: Rows, fields: Sequence[Field]) -> NDArray[np.bool_]:
        """Which of ``rows``, all of which state ``word``, do so in one of ``fields``."""
        start, end = self.arrays.row_of_stem[(number := self.id_of[word]) : number + 2]
        place = np.searchsorted(self.arrays.posting[start:end], rows)
        wanted = np.uint16(sum(1 << field for field in fields))
        return np.asarray((self.arrays.posting_fields[start:end][place] & wanted) != 0)

    def holding(self, words: Sequence[str]) -> Rows:
        """Rows that state every stem of ``words``, in whichever statements, ascending."""
        if not words:
            return np.empty(0, dtype=np.int32)
        rarest, *others = sorted(words, key=self.frequency)
        rows = self.postings(rarest)
        for word in others:
            rows = rows[_member(rows, self.postings(word))]
        return rows

    def best_statement(
        self, rows: Rows, weights: Mapping[int, float], fields: Sequence[Field] | None = None
    ) -> NDArray[np.float32]:
        """Per row, the highest sum of token weights that one of its statements reaches (stem number -> weight)."""
        per_token = np.zeros(len(self.id_of), dtype=np.float32)
        per_token[list(weights)] = list(weights.values())
        units, offsets = self.units(rows)
        flat, ends = spread(self.arrays.token_of_unit[units], self.arrays.token_of_unit[units + 1])
        sums = _sums(per_token[self.arrays.token[flat]], ends)
        allowed = np.zeros(len(Field), dtype=bool)
        allowed[list(SPOKEN if fields is None else fields)] = True
        sums[~allowed[self.arrays.field[units]]] = 0.0
        return np.maximum.reduceat(sums, offsets[:-1]) if len(sums) else np.zeros(len(rows), dtype=np.float32)

    def occurrences(self, rows: Rows, place: NDArray[np.int16]) -> Occurrences:
        """Where the stems with a non-zero ``place`` (by stem number) stand in ``rows``, in order of row and unit."""
        units, offsets = self.units(rows)
        flat, ends = spread(self.arrays.token_of_unit[units], self.arrays.token_of_unit[units + 1])
        token = place[self.arrays.token[flat]]
        hits = np.flatnonzero(token)
        unit = np.searchsorted(ends, hits, side="right") - 1
        row = np.searchsorted(offsets, unit, side="right") - 1
        return Occurrences(row, unit, unit - offsets[row], self.arrays.field[units[unit]], token[hits])

    def units(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All units of ``rows`` in order, and where each row's begin (``len(rows) + 1`` offsets)."""
        starts, ends = self.arrays.unit_of_row[rows], self.arrays.unit_of_row[rows + 1]
        return spread(starts, ends)

    def quantity(self, unit: str, near: str | None = None) -> tuple[Rows, NDArray[np.float32]]:
        """Rows that state an amount in base ``unit`` (``mah``, ``gb``) and the amounts; with ``near``, only amounts
        that this stem names ("ram" takes the 8 of "8GB RAM 256GB")."""
        kind = self.kind_of.get(unit)
        if kind is None:
            return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
        start, end = self.arrays.quantity_of_unit[kind : kind + 2]
        rows, values = self.arrays.quantity_row[start:end], self.arrays.quantity_value[start:end]
        if near is None:
            return rows, values
        chosen = self.arrays.quantity_near[start:end] == self.id_of.get(near, -2)
        return rows[chosen], values[chosen]


def spread(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Concatenate the ranges [start, end): the numbers, and the offset at which each range begins."""
    lengths = ends - starts
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    flat = np.arange(offsets[-1], dtype=np.int64)
    flat += np.repeat(starts - offsets[:-1], lengths)
    return flat, offsets


def _sums(values: NDArray[np.float32], ends: NDArray[np.int64]) -> NDArray[np.float32]:
    """Sum of ``values`` between each two neighbours of ``ends`` (ranges may be empty)."""
    total = np.zeros(len(values) + 1, dtype=np.float64)
    np.cumsum(values, out=total[1:])
    return (total[ends[1:]] - total[ends[:-1]]).astype(np.float32)


def _member(rows: Rows, others: Rows) -> NDArray[np.bool_]:
    """Which of ``rows`` stand in ``others`` (both ascending)."""
    if not len(others):
        return np.zeros(len(rows), dtype=bool)
    place = np.searchsorted(others, rows)
    place[place == len(others)] = 0
    return np.asarray(others[place] == rows)


# --- amounts ---------------------------------------------------------------------------------------------------------

_AFTER = re.compile(r"[\s,/-]{0,3}(?:of\s+)?([a-z]{2,})")
_BEFORE = re.compile(r"([a-z]{2,})[\s:=-]{0,3}$")


def quantities(text: str) -> list[tuple[str, float, str]]:
    """Amounts in a statement as (base unit, value in it, stem of the word that names it or "")."""
    if not has_digit(text):
        return []
    lower = text.lower()
    found = []
    for measure in measures(text):
        value, unit = in_base(measure.value, measure.unit)
        after = _AFTER.match(lower, measure.end)
        before = _BEFORE.search(lower, max(0, measure.start - 24), measure.start)
        word = after[1] if after else before[1] if before else ""
        found.append((unit, value, stem(word) if word else ""))
    return found
