"""What each product says, cut into single statements, so that one wish can be held against one statement.

A *unit* is one statement of a product: its title, one feature bullet, one detail, one sentence of the description. Its
tokens are the stems of its terms; a denied word ("fragrance-free") is the token ``¬fragrance``, so a wish for
"fragrance-free" meets it and a search for "fragrance" does not. Everything stands in flat arrays (CSR), built once after
a load and memory-mapped afterwards: a turn touches numbers, never product text.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.denials import told
from ego_cli.catalog.product import Product
from ego_cli.catalog.text import REPEATED, cached_terms, has_digit, in_base, measures, stem, terms

Rows = NDArray[np.int32]
NOT = "¬"
FORMAT = 2  # of the files on disk; another number means: build anew
_STATEMENTS_KEPT = 150_000  # statements whose stems are remembered while products are read
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

    # --- building, saving, loading --------------------------------------------------------------------------------

    @classmethod
    def build(cls, products: Iterable[Product]) -> Evidence:
        """Read every product once (about 0.1 ms each)."""
        reader = EvidenceReader()
        for product in products:
            reader.add(product)
        return reader.finish()

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
        flat, ends = _spread(self.arrays.token_of_unit[units], self.arrays.token_of_unit[units + 1])
        sums = _sums(per_token[self.arrays.token[flat]], ends)
        allowed = np.zeros(len(Field), dtype=bool)
        allowed[list(SPOKEN if fields is None else fields)] = True
        sums[~allowed[self.arrays.field[units]]] = 0.0
        return np.maximum.reduceat(sums, offsets[:-1]) if len(sums) else np.zeros(len(rows), dtype=np.float32)

    def occurrences(self, rows: Rows, place: NDArray[np.int16]) -> Occurrences:
        """Where the stems with a non-zero ``place`` (by stem number) stand in ``rows``, in order of row and unit."""
        units, offsets = self.units(rows)
        flat, ends = _spread(self.arrays.token_of_unit[units], self.arrays.token_of_unit[units + 1])
        token = place[self.arrays.token[flat]]
        hits = np.flatnonzero(token)
        unit = np.searchsorted(ends, hits, side="right") - 1
        row = np.searchsorted(offsets, unit, side="right") - 1
        return Occurrences(row, unit, unit - offsets[row], self.arrays.field[units[unit]], token[hits])

    def units(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All units of ``rows`` in order, and where each row's begin (``len(rows) + 1`` offsets)."""
        starts, ends = self.arrays.unit_of_row[rows], self.arrays.unit_of_row[rows + 1]
        return _spread(starts, ends)

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


def _spread(
    starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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


class _Numbering(dict[str, int]):
    """Gives each new word the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _StemNumbers(dict[str, int]):
    """Term -> the number of its stem."""

    def __init__(self, numbers: _Numbering) -> None:
        super().__init__()
        self._numbers = numbers

    def __missing__(self, term: str) -> int:
        number = self[term] = self._numbers[stem(term)]
        return number


class EvidenceReader:
    """Collects the statements of products, row by row."""

    def __init__(self) -> None:
        self.ids = _Numbering()
        self.kinds = _Numbering()
        self._number_of_term = _StemNumbers(self.ids)
        self._units_of_row = array("i")
        self._fields = array("B")
        self._tokens_of_unit = array("i")
        self._tokens = array("i")
        self._quantity_kind = array("i")
        self._quantity_row = array("i")
        self._quantity_value = array("f")
        self._quantity_near = array("i")
        # Shops repeat themselves: "Machine wash" is read once. (text -> its stem numbers, its quantities)
        self._read_before = lru_cache(maxsize=_STATEMENTS_KEPT)(self._read)

    def _read(self, text: str) -> tuple[array[int], list[tuple[int, float, int]]]:
        number = self.ids.__getitem__
        affirmed, denied = told(text)
        # A title is asked for its words again, by what it is called.
        words = terms(affirmed) if denied or len(text) > REPEATED else cached_terms(text)
        found = dict.fromkeys(map(self._number_of_term.__getitem__, words))
        if denied:
            found.update(dict.fromkeys(number(NOT + stem(term)) for term in terms(denied)))
        amounts = [(self.kinds[u], v, number(near) if near else -1) for u, v, near in quantities(text)]
        return array("i", list(found)), amounts

    def add(self, product: Product) -> None:
        """The next row."""
        row, before = len(self._units_of_row), len(self._fields)
        read_before, extend = self._read_before, self._tokens.extend
        end_unit, add_field = self._tokens_of_unit.append, self._fields.append
        for field, _, text in statements(product):
            found, amounts = read_before(text) if len(text) <= REPEATED else self._read(text)
            extend(found)
            end_unit(len(found))
            add_field(field)
            if amounts and field is not Field.INGREDIENTS:
                for kind, value, near in amounts:
                    self._quantity_kind.append(kind)
                    self._quantity_row.append(row)
                    self._quantity_value.append(value)
                    self._quantity_near.append(near)
        self._units_of_row.append(len(self._fields) - before)

    def finish(self, order: Rows | None = None) -> Evidence:
        """All rows that were added; with ``order`` only those, in that order (numbers of ``add`` calls)."""
        said = _Said(
            *map(
                np.asarray,
                (
                    self._units_of_row,
                    self._fields,
                    self._tokens_of_unit,
                    self._tokens,
                    self._quantity_kind,
                    self._quantity_row,
                    self._quantity_value,
                    self._quantity_near,
                ),
            )
        )
        words = list(self.ids)
        if order is not None:
            said, words = _without_unsaid(said.of_rows(order), words)
        return Evidence(words, list(self.kinds), said.arrays(len(words), len(self.kinds)))


@dataclass(frozen=True, slots=True)
class _Said:
    """What was read, row by row: how many units each has, how many tokens each unit; the amounts in order of rows."""

    units_of_row: NDArray[np.int32]
    field: NDArray[np.uint8]
    tokens_of_unit: NDArray[np.int32]
    token: NDArray[np.int32]
    quantity_kind: NDArray[np.int32]
    quantity_row: NDArray[np.int32]
    quantity_value: NDArray[np.float32]
    quantity_near: NDArray[np.int32]

    def of_rows(self, order: Rows) -> _Said:
        """The same of some rows, in ``order``."""
        unit_of_row, token_of_unit = _ends(self.units_of_row), _ends(self.tokens_of_unit)
        units, _ = _spread(unit_of_row[order], unit_of_row[order + 1])
        tokens, _ = _spread(token_of_unit[units], token_of_unit[units + 1])
        place = np.full(len(self.units_of_row), -1, dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        row = place[self.quantity_row]
        kept = np.flatnonzero(row >= 0)
        kept = kept[np.argsort(row[kept], kind="stable")]
        return _Said(
            self.units_of_row[order],
            self.field[units],
            self.tokens_of_unit[units],
            self.token[tokens],
            self.quantity_kind[kept],
            row[kept],
            self.quantity_value[kept],
            self.quantity_near[kept],
        )

    def arrays(self, stems: int, kinds: int) -> Arrays:
        """As they stand on disk."""
        unit_of_row, token_of_unit = _ends(self.units_of_row), _ends(self.tokens_of_unit)
        # One number says stem, row and field of a token, so sorting these numbers makes the postings of every stem.
        places = self.token.astype(np.int64) << _STEM_FROM
        rows = np.repeat(np.arange(len(self.units_of_row), dtype=np.int64), self.units_of_row)
        places |= np.repeat(rows << _ROW_FROM | self.field, self.tokens_of_unit)
        spoken = np.repeat(self.field != Field.INGREDIENTS, self.tokens_of_unit)
        row_of_stem, posting, posting_fields = _inverted(places[spoken], stems)
        listed_of_stem, listed, _ = _inverted(places[~spoken], stems)
        order = np.argsort(self.quantity_kind, kind="stable")
        return Arrays(
            unit_of_row=unit_of_row,
            field=self.field,
            token_of_unit=token_of_unit,
            token=self.token,
            row_of_stem=row_of_stem,
            posting=posting,
            posting_fields=posting_fields,
            listed_of_stem=listed_of_stem,
            listed=listed,
            quantity_of_unit=np.searchsorted(self.quantity_kind[order], np.arange(kinds + 1)).astype(
                np.int64
            ),
            quantity_row=self.quantity_row[order],
            quantity_value=self.quantity_value[order],
            quantity_near=self.quantity_near[order],
        )


def _without_unsaid(said: _Said, words: list[str]) -> tuple[_Said, list[str]]:
    """Numbers without gaps where rows were left out, and the words that are left."""
    used = np.zeros(len(words) + 1, dtype=bool)  # the last place is that of -1, no word
    used[said.token] = used[said.quantity_near] = True
    used[-1] = False
    number = np.where(used, np.cumsum(used, dtype=np.int32) - 1, -1).astype(np.int32)
    left = [words[n] for n in np.flatnonzero(used)]
    return replace(said, token=number[said.token], quantity_near=number[said.quantity_near]), left


_ROW_FROM, _STEM_FROM = 4, 36  # lowest bits of a row and of a stem in a place; a field is below


def _ends(lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def _inverted(
    places: NDArray[np.int64], stems: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16]]:
    """From places (stem, row and field in one number; they are sorted here): where each stem's rows begin, the rows, and
    their fields."""
    if not len(places):
        return np.zeros(stems + 1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint16)
    places.sort()
    bits = np.uint16(1) << (places & (1 << _ROW_FROM) - 1).astype(np.uint16)
    places >>= _ROW_FROM
    starts = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
    fields = np.bitwise_or.reduceat(bits, starts)
    places = places[starts]
    rows = (places & (1 << _STEM_FROM - _ROW_FROM) - 1).astype(np.int32)
    stem_of = places >> _STEM_FROM - _ROW_FROM
    return np.searchsorted(stem_of, np.arange(stems + 1)).astype(np.int64), rows, fields


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
