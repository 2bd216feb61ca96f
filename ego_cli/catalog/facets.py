"""What the products of a catalogue can be told apart by: brand, category, colour, material, size, gender, details.

A facet value is an (attribute, value) pair. They are found at load, from columns where a shop has them and from titles and
short bullets where it has not, and kept as arrays in both directions: the values of a row, and the rows of a value.
Word lists: ``data/colours.toml``, ``data/materials.toml``, ``data/names.toml`` (whom things are for).
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ego_cli.catalog.denials import told
from ego_cli.catalog.lexical import Rows, mapped
from ego_cli.catalog.product import Product
from ego_cli.catalog.text import tokens
from ego_cli.settings import load_toml

SINGLE = ("brand", "leaf", "path")  # attributes of which a row has at most one value
LONGEST_VALUE = 40  # characters; a longer detail is a sentence, not a value
SHORT_BULLET = 8  # words; a longer bullet is prose and names materials in passing
DETAIL_SHARE = 200  # a detail key is a facet when at least 1 in 200 products has it
_FREE_TEXT_AFTER = 2_000  # rows with a key before we judge whether its values are free text
_FREE_TEXT_SHARE = 0.5  # distinct values a row above which they are
_ROWS_AT_ONCE = 50_000  # when the arrays are made

PATH_JOINER = " > "


@lru_cache(maxsize=65_536)
def fold(value: str) -> str:
    """The key under which a value is looked up: case, accents, signs do not matter."""
    return " ".join(tokens(value))


# --- phrases in texts -----------------------------------------------------------------------------------------------


class _Phrases:
    """Finds known phrases in a list of tokens, the longest first."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names: dict[tuple[str, ...], str] = {}
        self._longest: dict[str, int] = {}
        for phrase, meaning in names.items():
            words = tuple(tokens(phrase))
            self._names[words] = meaning
            self._longest[words[0]] = max(len(words), self._longest.get(words[0], 0))

    def __call__(
        self, words: Sequence[str], *, not_before: frozenset[str] = frozenset()
    ) -> list[tuple[str, str]]:
        """(phrase, meaning) of each match, in order; a match right before a word of ``not_before`` does not count."""
        if self._longest.keys().isdisjoint(words):
            return []
        found = []
        here = 0
        while here < len(words):
            for length in range(min(self._longest.get(words[here], 0), len(words) - here), 0, -1):
                phrase = tuple(words[here : here + length])
                if phrase in self._names:
                    if here + length == len(words) or words[here + length] not in not_before:
                        found.append((" ".join(phrase), self._names[phrase]))
                    here += length - 1
                    break
            here += 1
        return found


@cache
def _colour_phrases(risky: bool) -> _Phrases:
    names: dict[str, str] = {}
    for family, members in load_toml("colours.toml")["families"].items():
        for name in (family, *members["plain"], *(members.get("risky", ()) if risky else ())):
            if risky or name not in members.get("risky", ()):
                names[name] = family
    return _Phrases(names)


@cache
def _material_phrases(risky: bool) -> _Phrases:
    table = load_toml("materials.toml")
    sources = (table["materials"], table["risky"]) if risky else (table["materials"],)
    return _Phrases(
        {name: material for source in sources for material, names in source.items() for name in names}
    )


@cache
def _gender_words() -> Mapping[str, str]:
    return {
        word: gender
        for gender, words in load_toml("names.toml")["gender"].items()
        for word in (gender, *words)
    }


@cache
def _keys(table: str) -> frozenset[str]:
    return frozenset(load_toml(table)["reading"]["keys"])


@cache
def _told_otherwise() -> frozenset[str]:
    """Detail keys that are attributes of their own already."""
    return _keys("colours.toml") | {
        "material",
        "materials",
        "size",
        "sizes",
        "brand",
        "gender",
        "department",
        "category",
    }


@cache
def _unlike() -> frozenset[str]:
    return frozenset(load_toml("materials.toml")["reading"]["unlike"])


def colour_family(name: str) -> str | None:
    """The family of a colour name: "navy blue" -> "blue"; None for a name that is no colour we know."""
    found = _colour_phrases(True)(tokens(name))
    return found[-1][1] if found else None


def is_material(name: str) -> bool:
    """Whether the whole of ``name`` is what a thing may be made of, whatever else it means: "gold", "iron"."""
    words = tokens(name)
    found = _material_phrases(True)(words)
    return len(found) == 1 and len(found[0][0].split()) == len(words)


def colour_members(family: str) -> tuple[str, ...]:
    """The colour names that a wish for ``family`` accepts ("blue": navy, royal blue ...); empty for what is no family."""
    members = load_toml("colours.toml")["families"].get(fold(family), {})
    return (*members.get("plain", ()), *members.get("risky", ()))


@lru_cache(maxsize=16_384)
def _stated_colours(cell: str) -> tuple[str, ...]:
    """Values for a cell that is known to hold colours: the names found and their families; unknown names as they are."""
    found = _colour_phrases(True)(tokens(cell))
    if not found:
        name = fold(cell)
        return (name,) if 0 < len(name) <= LONGEST_VALUE else ()
    return tuple(dict.fromkeys(value for pair in found for value in pair))


_TAIL = re.compile(r"(?:\s[-–|]\s?|\s?[-–]\s|[,(\[])([^-–|,()\[\]]{2,40})[)\]]?\s*$")


def _title_colours(title: str, brand: str | None) -> Iterable[str]:
    words = tokens(title)
    if brand and (named := tokens(brand)) and words[: len(named)] == named:
        words = words[len(named) :]
    found = _colour_phrases(False)(words)
    if tail := _TAIL.search(title):
        found += _colour_phrases(True)(tokens(tail[1]))
    return dict.fromkeys(value for pair in found for value in pair)


def _materials_in(text: str, stated: bool) -> tuple[str, ...]:
    """Materials that ``text`` says the product has. ``stated``: it comes from a place that is about materials."""
    phrases = _material_phrases(stated or "%" in text)
    if not phrases(tokens(text)):  # most texts name none, and reading denials costs more
        return ()
    found = phrases(tokens(told(text).affirmed), not_before=_unlike())
    return tuple(dict.fromkeys(material for _, material in found))


_materials_read_before = lru_cache(maxsize=32_768)(_materials_in)


# --- what a product is ----------------------------------------------------------------------------------------------


def facts(product: Product) -> Iterable[tuple[str, str]]:
    """The (attribute, value) pairs of one product, details left out. Values are as a person would read them."""
    if product.brand:
        yield "brand", product.brand
    if product.store:
        yield "store", product.store
    for level in product.categories:
        yield "category", level
    if product.categories:
        yield "leaf", product.categories[-1]
        yield "path", PATH_JOINER.join(product.categories)
    details = {fold(key): value for key, value in product.details.items()}
    yield from (("colour", value) for value in _colours(product, details))
    yield from (("material", value) for value in _materials(product, details))
    for size in product.sizes:
        if len(size) <= LONGEST_VALUE:
            yield "size", size
    yield from (("gender", value) for value in _genders(product, details))


def _colours(product: Product, details: Mapping[str, str]) -> Iterable[str]:
    stated = [*product.colours, *[details[key] for key in _keys("colours.toml") if key in details]]
    if stated:
        return dict.fromkeys(value for cell in stated for value in _stated_colours(cell))
    return _title_colours(product.title, product.brand)


def _materials(product: Product, details: Mapping[str, str]) -> Iterable[str]:
    stated = [*product.materials, *[details[key] for key in _keys("materials.toml") if key in details]]
    found = [value for cell in stated for value in _materials_read_before(cell, True)]
    found += _materials_in(product.title, False)  # hardly two products have the same
    for bullet in product.features:
        if bullet.count(" ") < SHORT_BULLET or "%" in bullet:
            found += _materials_read_before(bullet, False)
    return dict.fromkeys(found)


def _genders(product: Product, details: Mapping[str, str]) -> Iterable[str]:
    for source in (product.gender, details.get("department"), " ".join(product.categories)):
        if source and (found := _genders_read_before(source)):
            return found
    return _genders_in(product.title)


def _genders_in(text: str) -> tuple[str, ...]:
    words = _gender_words()
    named = tokens(text.replace("'", "").replace("’", ""))
    return tuple(dict.fromkeys(words[word] for word in named if word in words))


_genders_read_before = lru_cache(maxsize=16_384)(_genders_in)


# --- building -------------------------------------------------------------------------------------------------------


class FacetBuilder:
    """Collects facet values row by row and writes the arrays."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers: dict[tuple[str, str], int] = {}  # (attribute, folded value) -> number
        self._attributes: list[str] = []  # of each number
        self._spellings: dict[str, dict[str, int]] = defaultdict(
            dict
        )  # attribute -> value as written -> spelling
        self._values: list[str] = []  # of each spelling
        self._number_of_spelling = array("i")
        self._said = array("i")  # spellings, row by row
        self._said_in_row = array("i")  # how many
        self._detail_rows: Counter[str] = Counter()
        self._detail_values: dict[str, set[int]] = defaultdict(set)
        self._left_out = set(_told_otherwise())  # and keys that turn out to hold free text

    def add(self, product: Product) -> None:
        """The facts and details of the next row."""
        said = [self._spelling(attribute, value) for attribute, value in facts(product)]
        for key, value in product.details.items():
            attribute = fold(key)
            if not attribute or attribute in self._left_out or not 0 < len(value) <= LONGEST_VALUE:
                continue
            spelling = self._spelling(f"details.{attribute}", value)
            said.append(spelling)
            self._detail_rows[attribute] += 1
            if self._detail_rows[attribute] > _FREE_TEXT_AFTER:
                continue
            known = self._detail_values[attribute]
            known.add(self._number_of_spelling[spelling] if spelling >= 0 else -1)
            if (
                self._detail_rows[attribute] == _FREE_TEXT_AFTER
                and len(known) > _FREE_TEXT_SHARE * _FREE_TEXT_AFTER
            ):
                self._left_out.add(attribute)
        self._said.extend(said)
        self._said_in_row.append(len(said))

    def _spelling(self, attribute: str, value: str) -> int:
        """The number of a value as it is written; -1 for one without a letter or digit."""
        known = self._spellings[attribute]
        spelling = known.get(value)
        if spelling is None:
            key = (attribute, fold(value))
            if not key[1]:
                return known.setdefault(value, -1)
            spelling = known[value] = len(self._values)
            number = self._numbers.setdefault(key, len(self._attributes))
            if number == len(self._attributes):
                self._attributes.append(attribute)
            self._values.append(value)
            self._number_of_spelling.append(number)
        return spelling

    def finish(self, order: Rows | None = None) -> None:
        """Write ``facets.*`` into the folder. Details that few products share are left out. With ``order`` of those rows only
        (numbers of ``add`` calls)."""
        owner, codes, times = self._codes(order)
        rows = len(self._said_in_row if order is None else order)
        enough = max(2, rows // DETAIL_SHARE)
        kept_details = {
            f"details.{key}"
            for key, n in self._detail_rows.items()
            if n >= enough and key not in self._left_out
        }
        counts = np.bincount(codes, minlength=len(self._attributes))
        kept = [
            number
            for number, attribute in enumerate(self._attributes)
            if counts[number] > attribute.startswith("details.")
            and (attribute in kept_details or not attribute.startswith("details."))
        ]
        renumber = np.full(len(self._attributes) + 1, -1, dtype=np.int32)
        kept.sort(key=lambda number: (self._attributes[number], -int(counts[number]), number))
        renumber[kept] = np.arange(len(kept), dtype=np.int32)
        usual = self._usual_spellings(times)
        names: dict[str, list[str]] = {}
        for number in kept:
            names.setdefault(self._attributes[number], []).append(usual[number])
        (self._folder / "facets.json").write_text(json.dumps(names, ensure_ascii=False), encoding="utf-8")
        self._save("counts", counts[kept].astype(np.int32))

        new = renumber[codes]
        owner, new = owner[new >= 0], new[new >= 0]
        by_value = np.argsort(new, kind="stable")
        self._save("row_codes", new)
        self._save("row_indptr", np.searchsorted(owner, np.arange(rows + 1)).astype(np.int64))
        self._save("value_rows", owner[by_value])
        self._save("value_indptr", np.searchsorted(new[by_value], np.arange(len(kept) + 1)).astype(np.int64))
        first = 0
        for attribute, values in names.items():
            if attribute in SINGLE:
                single = np.full(rows, -1, dtype=np.int32)
                mine = (new >= first) & (new < first + len(values))
                single[owner[mine]] = new[mine] - first
                self._save(attribute, single)
            first += len(values)
        for attribute in set(SINGLE) - names.keys():
            self._save(attribute, np.full(rows, -1, dtype=np.int32))

    def _codes(self, order: Rows | None) -> tuple[Rows, Rows, npt.NDArray[np.int64]]:
        """(row, number of a value that it has) pairs in order, each once; and how often each spelling was used."""
        ends = np.concatenate(([0], np.cumsum(self._said_in_row, dtype=np.int64)))
        said = np.asarray(self._said)
        number_of = np.asarray(self._number_of_spelling).astype(np.int64)
        places = np.arange(len(self._said_in_row)) if order is None else order
        times = np.zeros(len(self._values), dtype=np.int64)
        found = []
        for first in range(0, len(places), _ROWS_AT_ONCE):
            some = places[first : first + _ROWS_AT_ONCE]
            lengths = ends[some + 1] - ends[some]
            here = np.arange(int(lengths.sum())) + np.repeat(
                ends[some] - np.cumsum(lengths) + lengths, lengths
            )
            rows, spelling = np.repeat(np.arange(first, first + len(some)), lengths), said[here]
            rows, spelling = rows[spelling >= 0], spelling[spelling >= 0]
            times += np.bincount(spelling, minlength=len(self._values))
            _, once = np.unique(rows << 32 | number_of[spelling], return_index=True)
            once.sort()
            found.append((rows[once].astype(np.int32), number_of[spelling[once]].astype(np.int32)))
        nothing = np.zeros(0, dtype=np.int32)
        return (
            np.concatenate([nothing, *(rows for rows, _ in found)]),
            np.concatenate([nothing, *(codes for _, codes in found)]),
            times,
        )

    def _usual_spellings(self, times: npt.NDArray[np.int64]) -> dict[int, str]:
        """Number -> the value as most products write it; of equals the first."""
        most: dict[int, int] = {}
        usual: dict[int, str] = {}
        for number, value, used in zip(self._number_of_spelling, self._values, times.tolist(), strict=True):
            if used > most.get(number, 0):
                most[number], usual[number] = used, value
        return usual

    def _save(self, name: str, values: npt.NDArray[Any]) -> None:
        np.save(self._folder / f"facets.{name}.npy", values)


# --- reading --------------------------------------------------------------------------------------------------------


class Facets:
    """Facet values of one catalogue generation, read from its folder.

    Attributes: brand, store, category (every level), leaf (the last level), path (levels joined by `` > ``), colour (the
    shop's name and its family), material, size, gender, and ``details.<key>`` (key folded).
    """

    def __init__(self, folder: Path) -> None:
        self._names: dict[str, list[str]] = json.loads((folder / "facets.json").read_text(encoding="utf-8"))
        self._counts = mapped(folder / "facets.counts.npy")
        self._first: dict[
            str, int
        ] = {}  # a value's number is its attribute's first plus its place among the attribute's
        total = 0
        for attribute, values in self._names.items():
            self._first[attribute] = total
            total += len(values)
        self._starts = list(self._first.values())
        self._lookup: dict[str, dict[str, int]] = {}
        self._values: dict[str, Mapping[str, int]] = {}
        self._row_codes = mapped(folder / "facets.row_codes.npy")
        self._row_indptr = mapped(folder / "facets.row_indptr.npy")
        self._value_rows = mapped(folder / "facets.value_rows.npy")
        self._value_indptr = mapped(folder / "facets.value_indptr.npy")
        self._single = {attribute: mapped(folder / f"facets.{attribute}.npy") for attribute in SINGLE}

    def _pair(self, number: int) -> tuple[str, str]:
        attribute = list(self._names)[bisect_right(self._starts, number) - 1]
        return attribute, self._names[attribute][number - self._first[attribute]]

    @property
    def attributes(self) -> Sequence[str]:
        """Every attribute that some product has."""
        return tuple(self._names)

    @property
    def detail_keys(self) -> Sequence[str]:
        """Keys of details that many products share, folded."""
        return tuple(name.removeprefix("details.") for name in self._names if name.startswith("details."))

    @property
    def category_paths(self) -> Mapping[tuple[str, ...], int]:
        """Category path, broad to narrow -> number of products."""
        return {tuple(path.split(PATH_JOINER)): count for path, count in self.values("path").items()}

    def values(self, attribute: str) -> Mapping[str, int]:
        """Value as most products spell it -> number of products, most frequent first; empty for an unknown attribute."""
        if attribute not in self._values:
            names, first = self._names.get(attribute, []), self._first.get(attribute, 0)
            counts = self._counts[first : first + len(names)].tolist()
            self._values[attribute] = MappingProxyType(dict(zip(names, counts, strict=True)))
        return self._values[attribute]

    def _number(self, attribute: str, value: str) -> int | None:
        if attribute not in self._lookup:
            first = self._first.get(attribute, 0)
            self._lookup[attribute] = {
                fold(name): first + place for place, name in enumerate(self._names.get(attribute, []))
            }
        return self._lookup[attribute].get(fold(value))

    def rows(self, attribute: str, value: str) -> Rows:
        """Rows that have ``value`` (any case, accents ignored), ascending; empty when none has."""
        number = self._number(attribute, value)
        if number is None:
            return np.zeros(0, dtype=np.int32)
        return self._value_rows[int(self._value_indptr[number]) : int(self._value_indptr[number + 1])]

    def of_row(self, row: int) -> list[tuple[str, str]]:
        """The (attribute, value) pairs of one row."""
        codes = self._row_codes[int(self._row_indptr[row]) : int(self._row_indptr[row + 1])]
        return [self._pair(int(code)) for code in codes]

    def codes(self, attribute: str) -> npt.NDArray[np.int32]:
        """int32[rows] for brand, leaf or path: the place of the row's value in ``values(attribute)``, -1 for none."""
        return self._single[attribute]

    def count(self, rows: npt.NDArray[Any], attributes: Sequence[str] = ()) -> dict[str, dict[str, int]]:
        """Attribute -> value -> how many of ``rows`` have it, most frequent first; ``attributes`` empty: all."""
        starts = self._row_indptr[rows]
        lengths = self._row_indptr[np.asarray(rows) + 1] - starts
        inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        counts = np.bincount(
            self._row_codes[np.repeat(starts, lengths) + inside], minlength=self._counts.size
        )
        found: dict[str, dict[str, int]] = {}
        present = np.flatnonzero(counts)
        for number in present[np.argsort(-counts[present], kind="stable")]:
            attribute, value = self._pair(int(number))
            if not attributes or attribute in attributes:
                found.setdefault(attribute, {})[value] = int(counts[number])
        return found
