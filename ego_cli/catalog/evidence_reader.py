"""Evidence in the making: products are read row by row, and their statements become the arrays of ``evidence``."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.denials import told
from ego_cli.catalog.evidence import NOT, Arrays, Evidence, Field, Rows, quantities, spread, statements
from ego_cli.catalog.product import Product
from ego_cli.catalog.text import REPEATED, cached_terms, stem, terms

_STATEMENTS_KEPT = 150_000  # statements whose stems are remembered while products are read


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
        units, _ = spread(unit_of_row[order], unit_of_row[order + 1])
        tokens, _ = spread(token_of_unit[units], token_of_unit[units + 1])
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
