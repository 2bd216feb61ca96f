"""Which products *are* what a shopper names: a phone, not a phone stand.

The name of a thing ends with what it is (its *head*): "phone stand" is a stand. A product's heads come from the narrowest
names of its category path and from its title; the head that ends the title's first phrase is the main one, and a
word that another head follows ("phone" in "phone ring stand") is none.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.concepts import concepts
from ego_cli.catalog.evidence import Evidence
from ego_cli.catalog.product import Product
from ego_cli.catalog.taxonomy import classify_number, heading, known_heads, phrase, taxonomy
from ego_cli.catalog.text import cached_terms, stem
from ego_cli.settings import load_toml

Scores = NDArray[np.float32]

# How sure it is that a product is of the named type, by what says so. Only their order and WEAK matter.
LEAF_NAME = 1.0  # the narrowest category ends with it
MAIN_HEAD = 0.95  # the title's first phrase ends with it
WHOLE_KIND = 0.7  # she named a kind of the taxonomy ("shoes") and the product is tagged so
UPPER_NAME = (
    0.65  # a broader category of one thing ends with it, and the branch below is not one of accessories
)
OTHER_HEAD = 0.5  # another phrase of the title ends with it, or it is one of several in a department ("Phones & Tablets")
WEAK = 0.6  # below this a product counts only where nothing is surer
LESS_SAID = 0.62  # it is of the type, but does not say all of the name: "earbuds" for "wireless earbuds"
SYNONYM = 0.98  # what the match of another word for the same thing is worth

_CONJUNCTS = re.compile(r"\s*(?:&|,|/|\band\b|\bor\b)\s*", re.I)
_MIN_ENDINGS = 3  # titles that must end with a word before it counts as the name of a thing


@dataclass(frozen=True, slots=True)
class TypeMatch:
    """``score``: per row 0..1, how surely it is of the type. ``known``: the shop carries the type by its full name.
    ``missing``: words of the name that no product of the type says ("wedding" of "wedding dress")."""

    score: Scores
    known: bool
    missing: tuple[str, ...] = ()


@cache
def _synonyms() -> dict[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Phrase -> phrases that name the same thing, from ``data/synonyms.toml`` (both directions are stated there) and the page
    phrases of ``data/concepts.toml``."""
    table: dict[tuple[str, ...], dict[tuple[str, ...], None]] = defaultdict(dict)
    stated = [(entry["say"], entry["means"]) for entry in load_toml("synonyms.toml")["synonym"]]
    pages = [[" ".join(words) for words in concept.phrases] for concept in concepts()]
    for said_, meant_ in (*stated, *((names, names) for names in pages)):
        for said in said_:
            for meant in meant_:
                if phrase(said) != phrase(meant):
                    table[phrase(said)][phrase(meant)] = None
    return {said: tuple(meant) for said, meant in table.items()}


def same_words(stems: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Other phrases for the whole of ``stems``."""
    return _synonyms().get(stems, ())


@cache
def colour_stems() -> frozenset[str]:
    """The stems of all words in colour names."""
    found: set[str] = set()
    for words in load_toml("colours.toml").values():
        found.update(_leaves(words))
    return frozenset(stem(word) for text in found for word in cached_terms(text))


def _leaves(node: object) -> Iterable[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield key
            yield from _leaves(value)
    elif isinstance(node, Sequence):
        for value in node:
            yield from _leaves(value)


class TypeIndex:
    """Heads, category paths and tags of all rows of a catalogue."""

    def __init__(
        self,
        main: Mapping[str, NDArray[np.int32]],
        other: Mapping[str, NDArray[np.int32]],
        paths: Sequence[tuple[str, ...]],
        path_of_row: NDArray[np.int32],
        tag_of_row: NDArray[np.int16],
        evidence: Evidence,
    ) -> None:
        self.main, self.other = main, other
        self.paths, self.path_of_row = paths, path_of_row
        self.tag_of_row = tag_of_row
        names = ["", *taxonomy().domains]
        self.domain_of_row = np.array([names.index(t.domain) for t in taxonomy().tags], dtype=np.int8)[
            tag_of_row
        ]
        self._evidence = evidence
        self.rows = len(path_of_row)
        accessories = taxonomy().accessories
        # head -> (path, how sure, stems of the name it ends)
        self._ending: dict[str, list[tuple[int, float, frozenset[str]]]] = defaultdict(list)
        self._words_of_path: list[dict[str, float]] = []
        self._paths_with: dict[str, list[int]] = defaultdict(list)
        usage = np.bincount(path_of_row, minlength=len(paths)) if len(paths) else np.zeros(0)
        spread: dict[str, float] = defaultdict(float)
        for number, path in enumerate(paths):
            below_accessories = False
            words: dict[str, float] = {}
            for level, name in enumerate(reversed(path)):
                conjuncts = _conjuncts(name)
                department = len(conjuncts) > 1 and (level > 0 or len(path) == 1)
                sure = OTHER_HEAD if department else UPPER_NAME if level else LEAF_NAME
                for stems in conjuncts:
                    if not (level and below_accessories):
                        self._ending[stems[-1]].append((number, sure, frozenset(stems)))
                    for word in stems:
                        words[word] = max(words.get(word, 0.0), 1.0 / (1 + 0.5 * max(0, level - 1)))
                below_accessories |= any(stems[-1] in accessories for stems in conjuncts)
            self._words_of_path.append(words)
            for word in words:
                spread[word] += float(usage[number])
                self._paths_with[word].append(number)
        total = float(usage.sum())
        self.rarity = {word: float(np.log1p(total / (rows + 0.5))) for word, rows in spread.items()}
        self._rarest = float(np.log1p(2 * total + 1))
        self.match = lru_cache(maxsize=64)(self._match)
        self.category_score = lru_cache(maxsize=64)(self._category_score)

    def save(self, folder: Path) -> None:
        """Write the arrays into ``folder`` (made if missing)."""
        folder.mkdir(parents=True, exist_ok=True)
        words: dict[str, object] = {"paths": self.paths}
        for name, found in (("main", self.main), ("other", self.other)):
            words[name] = list(found)
            words[f"{name}_ends"] = np.cumsum([0, *map(len, found.values())]).tolist()
            np.save(folder / f"{name}.npy", np.concatenate([np.empty(0, np.int32), *found.values()]))
        np.save(folder / "path_of_row.npy", self.path_of_row)
        np.save(folder / "tag_of_row.npy", self.tag_of_row)
        (folder / "types.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, evidence: Evidence) -> TypeIndex:
        """Map what ``save`` wrote. Raises ``OSError``, ``ValueError`` or ``KeyError`` when it is missing or damaged."""
        words = json.loads((folder / "types.json").read_text(encoding="utf-8"))
        postings = {}
        for name in ("main", "other"):
            rows, ends = np.asarray(np.load(folder / f"{name}.npy", mmap_mode=None)), words[f"{name}_ends"]
            postings[name] = {w: rows[ends[n] : ends[n + 1]] for n, w in enumerate(words[name])}
        return cls(
            postings["main"],
            postings["other"],
            [tuple(path) for path in words["paths"]],
            np.asarray(np.load(folder / "path_of_row.npy", mmap_mode="r")),
            np.asarray(np.load(folder / "tag_of_row.npy", mmap_mode="r")),
            evidence,
        )

    # --- the question ---------------------------------------------------------------------------------------------

    def _match(self, text: str) -> TypeMatch:
        """How surely each row is what ``text`` names: "power bank", "bag and boots", "Women Dresses"."""
        score = np.zeros(self.rows, dtype=np.float32)
        known = False
        missing: dict[str, None] = {}
        for name in self._alternatives(text):
            full, found, lacking = self._one_name(name)
            np.maximum(score, full, out=score)
            known |= found
            missing.update(dict.fromkeys(lacking))
        whole = phrase(text)
        named = self._paths_named(whole)
        shelves = [
            n for n in named if len(self.paths[n]) > 1 and phrase(" ".join(self.paths[n][-2:])) == whole
        ]
        if shelves:  # "Rings Toe Rings": the shelf by its whole name, not every ring
            np.minimum(score, OTHER_HEAD, out=score)
        for path in shelves or named:
            score[self.path_of_row == path] = LEAF_NAME
            known = True
        return TypeMatch(score, known, tuple(missing) if known else ())

    def _alternatives(self, text: str) -> Sequence[tuple[str, ...]]:
        """The names in "bag and boots"; one name where the parts are not all names of things."""
        whole = tuple(heading(text)) or phrase(text)
        parts = _conjuncts(text)
        if len(parts) > 1 and all(self._is_head(part[-1]) for part in parts):
            return parts
        return [whole] if whole else []

    def _is_head(self, word: str) -> bool:
        return word in self.main or word in self._ending or word in known_heads()

    def _one_name(self, name: tuple[str, ...]) -> tuple[Scores, bool, tuple[str, ...]]:
        """The rows of one name or of its synonyms; whether the shop has the type; words that none of its products says."""
        score = self._or_synonyms(name)
        if len(name) == 1:
            return score, bool(score.any()), ()
        full = bool(score.any())
        if full and self._is_compound(name):
            return score, True, ()
        # "Wireless earbuds", "wedding dress": those that say so first, then the other earbuds and dresses.
        head = self._or_synonyms(name[-1:])
        np.maximum(score, np.where(head >= WEAK, np.float32(LESS_SAID), head), out=score)
        return score, full or bool(head.any()), () if full else name[:-1]

    def _is_compound(self, name: tuple[str, ...]) -> bool:
        """Whether the whole of ``name`` is a name of its own ("power station"), not a thing and what it is like."""
        if name in taxonomy().by_phrase or same_words(name):
            return True
        return any(
            len(stems) == len(name) and stems.issuperset(name)
            for _, _, stems in self._ending.get(name[-1], ())
        )

    def _or_synonyms(self, name: tuple[str, ...]) -> Scores:
        score = self._named(name)
        for length in range(len(name), 0, -1):  # "blue gown": other words for the end of it, the rest stays
            for meant in same_words(name[-length:]):
                np.maximum(score, self._named(name[:-length] + meant) * np.float32(SYNONYM), out=score)
        return score

    def _named(self, name: tuple[str, ...]) -> Scores:
        """Rows whose name is ``name``: by head, with every other word of it somewhere in the product."""
        score = np.zeros(self.rows, dtype=np.float32)
        head, others = name[-1], name[:-1]
        for rows in (self.other.get(head), self.main.get(head)):
            if rows is not None:
                score[rows] = OTHER_HEAD
        by_path = np.zeros(len(self.paths), dtype=np.float32)
        complete = np.zeros(len(self.paths), dtype=bool)
        for path, sure, stems in self._ending.get(head, ()):
            by_path[path] = max(by_path[path], sure)
            complete[path] |= stems.issuperset(others)
        named_by_path = by_path[self.path_of_row]
        if head in self.main:
            rows = self.main[head]
            score[rows[self._same_domain(rows, named_by_path)]] = MAIN_HEAD
        np.maximum(score, named_by_path, out=score)
        tags = taxonomy().by_name.get(name)
        tagged = np.zeros(self.rows, dtype=bool)
        if tags:
            wanted = np.zeros(len(taxonomy().tags), dtype=bool)
            wanted[list(tags)] = True
            tagged = wanted[self.tag_of_row] & ~self._extra_to(name)
        score[tagged] = np.maximum(score[tagged], WHOLE_KIND)
        if others:
            score *= self._says(others) | complete[self.path_of_row] | tagged
        return score

    def _says(self, words: Sequence[str]) -> NDArray[np.bool_]:
        """Rows that state every one of ``words``, or another word for it."""
        says = np.ones(self.rows, dtype=bool)
        for word in words:
            here = np.zeros(self.rows, dtype=bool)
            for meant in ((word,), *same_words((word,))):
                here[self._evidence.holding(meant)] = True
            says &= here
        return says

    def _same_domain(self, rows: NDArray[np.int32], named_by_path: Scores) -> NDArray[np.bool_]:
        """Of rows whose title ends with a word, those that lie where the categories of that word lie: with tablets for sale, a
        vitamin tablet is none."""
        sure = self.domain_of_row[named_by_path >= LEAF_NAME]
        domains = np.unique(sure[sure > 0])
        if not len(domains):
            return np.ones(len(rows), dtype=bool)
        own = self.domain_of_row[rows]
        return np.asarray((own == 0) | np.isin(own, domains))

    def _extra_to(self, name: tuple[str, ...]) -> NDArray[np.bool_]:
        """Rows that are an extra to ``name``: "TV accessories" and "TV wall bracket" are no TVs."""
        accessories = taxonomy().accessories - {name[-1]}
        extra = np.zeros(len(self.paths), dtype=bool)
        for word in accessories & self._ending.keys():
            for path, _, stems in self._ending[word]:
                extra[path] |= bool(stems & set(name))
        rows = extra[self.path_of_row]
        says = np.zeros(self.rows, dtype=bool)
        says[self._evidence.postings(name[-1])] = True
        for word in accessories & self.main.keys():
            ends = self.main[word]
            rows[ends[says[ends]]] = True
        return np.asarray(rows)

    def _paths_named(self, stems: tuple[str, ...]) -> list[int]:
        """Paths that ``stems`` spell out: every word stands in the path, and its last name, or a name of several words, is all
        there ("beanies & knit hats" names all that lies below it)."""
        wanted = set(stems)
        if not wanted:
            return []
        rarest = min(wanted, key=lambda w: len(self._paths_with.get(w, ())))
        found = []
        for number in self._paths_with.get(rarest, ()):
            path = self.paths[number]
            if not wanted <= self._words_of_path[number].keys():
                continue
            leaf = set(phrase(path[-1]))
            if (leaf <= wanted and (len(wanted) > 1 or len(leaf) == 1)) or (
                len(wanted) > 1 and any(set(phrase(name)) == wanted for name in path)
            ):
                found.append(number)
        return found

    def _category_score(self, text: str) -> Scores:
        """Per *path*, 0..1: how much of ``text`` its names cover, rare words and last names counting more."""
        wanted = dict.fromkeys(phrase(text))
        score = np.zeros(len(self.paths), dtype=np.float32)
        if not wanted:
            return score
        total = 0.0
        for word in wanted:
            weight = self.rarity.get(word, self._rarest * 0.5)
            total += weight
            forms = {word, *(w for meant in same_words((word,)) for w in meant[-1:])}
            for form in forms:
                for path in self._paths_with.get(form, ()):
                    score[path] += weight * self._words_of_path[path][form] * (1.0 if form == word else 0.9)
        return np.asarray(np.minimum(score / np.float32(total), np.float32(1.0)))


class TypeReader:
    """Collects paths, tags and title stems, row by row."""

    def __init__(self) -> None:
        self._paths: dict[tuple[str, ...], int] = {}
        self._path_of_row = array("i")
        self._tag_of_row = array("h")
        self._titles: list[tuple[tuple[str, ...], tuple[str, ...]]] = []  # stems of the first phrase, of all

    def add(self, product: Product) -> None:
        """The next row (about 0.03 ms)."""
        self._path_of_row.append(self._paths.setdefault(product.categories, len(self._paths)))
        first, stems = heading(product.title), phrase(product.title)
        self._titles.append((first, stems))
        self._tag_of_row.append(classify_number(product, first, stems))

    def finish(self, evidence: Evidence, order: NDArray[np.int32] | None = None) -> TypeIndex:
        """Find out what names things here, then the heads of every title; with ``order`` of those rows only (numbers of
        ``add`` calls)."""
        titles, paths = self._titles, list(self._paths)
        path_of_row = np.array(self._path_of_row, dtype=np.int32)
        tag_of_row = np.array(self._tag_of_row, dtype=np.int16)
        if order is not None:
            titles, tag_of_row = [titles[n] for n in order], tag_of_row[order]
            used, place = np.unique(path_of_row[order], return_inverse=True)
            paths, path_of_row = [paths[n] for n in used], place.astype(np.int32)
        known = set(known_heads())
        for path in paths:
            for name in path[-1:]:
                known.update(stems[-1] for stems in _conjuncts(name))
        endings = Counter(first[-1] for first, _ in titles if first)
        known.update(word for word, n in endings.items() if n >= _MIN_ENDINGS and word.isalpha())
        known -= colour_stems() - known_heads()
        main: dict[str, list[int]] = defaultdict(list)
        other: dict[str, list[int]] = defaultdict(list)
        for row, (first, stems) in enumerate(titles):
            main_head, others = _heads(first, stems, known)
            if main_head:
                main[main_head].append(row)
            for word in others:
                other[word].append(row)
        return TypeIndex(_as_rows(main), _as_rows(other), paths, path_of_row, tag_of_row, evidence)


@lru_cache(maxsize=16_384)
def _conjuncts(name: str) -> tuple[tuple[str, ...], ...]:
    """The names in a category name: "Pots & cookware", "phones-tablets"; but "Flip-Flops" is one."""
    parts = [phrase(part) for part in _CONJUNCTS.split(name)]
    if len(parts) == 1 and name.count("-") == 1 and " " not in name:
        halves = [phrase(half) for half in name.split("-")]
        if all(half and half[-1] in known_heads() for half in halves):
            parts = halves
    return tuple(part for part in parts if part)


def _as_rows(found: Mapping[str, list[int]]) -> dict[str, NDArray[np.int32]]:
    return {word: np.array(rows, dtype=np.int32) for word, rows in found.items()}


def _heads(first: Sequence[str], words: Sequence[str], known: set[str]) -> tuple[str, Iterable[str]]:
    """The main head of a title, given its first phrase and all its stems, and the other words that end a name in it."""
    ends = taxonomy().ends
    end = len(first)
    while end and first[end - 1] not in known:
        end -= 1
    if end > 1 and first[end - 1] in colour_stems() and first[end - 2] in known:
        end -= 1  # "…senator wear cream": a colour that is also a thing
    main = first[end - 1] if end else next((w for w in reversed(first) if w.isalpha()), "")
    others: dict[str, None] = {}
    after_link = False
    for place, word in enumerate(words):
        if word in ends:
            after_link = True
            continue
        if word in known and word != main and not after_link:
            following = words[place + 1] if place + 1 < len(words) else ""
            if following not in known:
                others[word] = None
        if after_link and word not in known and not word.isalpha():
            after_link = False
    return main, others
