"""The names that a catalogue offers: product types, brands, colours, materials, people's words for them.

Built once a catalogue from its facets (never from its texts, so that a product cannot teach the reader anything), and
searched by longest match over word stems.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ego_cli.catalog.product import Product
from ego_cli.conversation.understand.language import Tree, language, longest, plant
from ego_cli.conversation.understand.tokens import Token, fold, stem
from ego_cli.settings import load_toml

_WORDS = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_TITLE_END = re.compile(r"[,(|/;:]| - | – | with | for | in | by |\s\d")
_LEVEL_PARTS = re.compile(r"\s*(?:&|,|/|>|\band\b)\s*")
HEADS_SAMPLE = 600
"""Titles looked at for head nouns ("canvas sneakers" -> "sneakers")."""


class Name(NamedTuple):
    """What a phrase names. ``kind``: "product", "brand", "colour", "material", "gender", "person", "part".

    ``weak``: an ordinary word too, so that the sentence has to show that the name is meant. ``known``: the catalogue has it.
    """

    kind: str
    value: str
    weak: bool = False
    known: bool = True


class NameSpan(NamedTuple):
    """Tokens [start, end) that name something, with every reading of them."""

    start: int
    end: int
    names: tuple[Name, ...]


@lru_cache(maxsize=100_000)
def stems_of(phrase: str) -> tuple[str, ...]:
    """The stems of a catalogue phrase, as the tokeniser would give them."""
    return tuple(stem(word) for word in _WORDS.findall(fold(phrase).replace("'", "")))


_SOUNDS = (("ph", "f"), ("ck", "k"), ("qu", "k"), ("x", "ks"), ("c", "k"), ("z", "s"))


def skeleton(word: str) -> str:
    """How a word sounds by its consonants: what stays when only vowels, doublings and spellings of one sound are mistaken."""
    first, rest = word[:1], word[1:]
    for spelled, sound in _SOUNDS:
        rest = rest.replace(spelled, sound)
    out = first
    for letter in rest:
        if letter in "aeiouyh" or letter == out[-1]:
            continue
        out += letter
    return out


class Shelf(NamedTuple):
    """The last two names of a category path, and their stems."""

    name: str
    parent: frozenset[str]
    leaf: frozenset[str]


@dataclass(frozen=True)
class Lexicon:
    """Names by stems, and the words that the catalogue knows (for typing mistakes)."""

    tree: Tree
    vocabulary: Mapping[str, int]
    detail_keys: Mapping[str, str] = field(default_factory=dict)  # stems joined by a space -> key as spelled
    sizes: frozenset[str] = frozenset()
    shelves: tuple[Shelf, ...] = ()

    def find(self, tokens: Sequence[Token]) -> tuple[NameSpan, ...]:
        """All names in ``tokens``, longest match first from left to right, none overlapping."""
        stems = [token.stem for token in tokens]
        spans: list[NameSpan] = []
        index = 0
        size = len(tokens)
        while index < size:
            match = longest(self.tree, stems, index) if tokens[index].kind != "mark" else None
            if match is None:
                index += 1
                continue
            end, names = match
            spans.append(NameSpan(index, end, _as_typed_names(names, tokens[end - 1].word)))
            index = end
        return tuple(spans)

    def shelf_in(self, stems: Sequence[str]) -> Shelf | None:
        """The shelf whose parent and leaf are both named, word by word, by ``stems`` ("shirts, work shirts"; but "power
        banks" names only a leaf of "Power"): the one of most words, then the first by name."""
        said = Counter(stems)
        near = {shelf.name: shelf for stem_ in said for shelf in self._shelves_by_stem.get(stem_, ())}
        found = [
            shelf
            for shelf in near.values()
            if all(said[s] >= (s in shelf.parent) + (s in shelf.leaf) for s in shelf.parent | shelf.leaf)
        ]
        return min(found, key=lambda shelf: (-len(shelf.parent | shelf.leaf), shelf.name), default=None)

    @cached_property
    def _shelves_by_stem(self) -> Mapping[str, list[Shelf]]:
        """Shelves under one word of their leaf."""
        found: dict[str, list[Shelf]] = {}
        for shelf in self.shelves:
            found.setdefault(min(shelf.leaf, default=""), []).append(shelf)
        return found

    def knows(self, word: str) -> bool:
        """Whether the catalogue's texts contain ``word`` (or its singular)."""
        return word in self.vocabulary or stem(word) in self.vocabulary

    @cached_property
    def name_words(self) -> frozenset[str]:
        """Single words of names, the first choice when a typing mistake is put right."""
        found: set[str] = set()
        _collect_words(self.tree, found)
        return frozenset(found)

    @cached_property
    def by_skeleton(self) -> Mapping[str, tuple[str, ...]]:
        """Words of names by their consonants."""
        found: dict[str, list[str]] = {}
        for word in sorted(self.name_words):
            if len(word) > 4:
                found.setdefault(skeleton(word), []).append(word)
        return {key: tuple(words) for key, words in found.items()}

    @classmethod
    def build(cls, products: Iterable[Product]) -> Lexicon:
        """From products themselves: for small catalogues and tests."""
        rows = list(products)
        paths: Counter[tuple[str, ...]] = Counter()
        counts: dict[str, Counter[str]] = {k: Counter() for k in ("brand", "colour", "material", "size")}
        vocabulary: Counter[str] = Counter()
        keys: set[str] = set()
        for row in rows:
            paths[row.categories] += 1
            if row.brand:
                counts["brand"][row.brand] += 1
            counts["colour"].update(row.colours)
            counts["material"].update(row.materials)
            counts["size"].update(row.sizes)
            keys.update(row.details)
            texts = (
                row.title,
                row.brand or "",
                row.description,
                *row.categories,
                *row.features,
                *row.details.values(),
            )
            vocabulary.update(
                {word for text in texts for word in _WORDS.findall(fold(text)) if len(word) > 2}
            )
        return _assemble(paths, counts, vocabulary, keys, [row.title for row in rows])

    @classmethod
    def from_catalogue(cls, catalogue: Any) -> Lexicon:
        """From a stored catalogue's facets and a sample of its titles."""
        facets = catalogue.facets
        paths = facets.category_paths
        if not isinstance(paths, Mapping):
            paths = dict.fromkeys(paths, 1)
        counts = {name: facets.values(name) for name in ("brand", "colour", "material", "size")}
        return _assemble(
            paths, counts, catalogue.lexical.vocabulary, facets.detail_keys, _sample_titles(catalogue)
        )


def _sample_titles(catalogue: Any) -> list[str]:
    size = len(catalogue)
    step = max(1, size // HEADS_SAMPLE)
    return [product.title for product in catalogue.products(range(0, size, step))]


def _as_typed_names(names: Sequence[Name], word: str) -> tuple[Name, ...]:
    """ "No laces" is about a part of a shoe, though its stem is that of the fabric."""
    if not any(name.kind == "part" and name.value == word for name in names):
        return tuple(names)
    return tuple(name for name in names if name.kind != "material" or f"{name.value.lower()}s" != word)


def _collect_words(tree: Tree, into: set[str]) -> None:
    for word, node in tree.items():
        if word is not None:
            into.add(word)
            _collect_words(node, into)


def _assemble(
    paths: Mapping[tuple[str, ...], int],
    counts: Mapping[str, Mapping[str, int]],
    vocabulary: Mapping[str, int],
    keys: Iterable[str],
    titles: Sequence[str],
) -> Lexicon:
    builder = _Builder(vocabulary)
    builder.add_products(paths, titles)
    builder.add_general("colour", language().names["colours"]["names"], counts["colour"])
    builder.add_general("material", language().names["materials"]["names"], counts["material"])
    builder.add_catalogue_values("colour", counts["colour"])
    builder.add_catalogue_values("material", counts["material"])
    builder.add_brands(counts["brand"])
    builder.add_people()
    builder.add_spoken()
    return Lexicon(
        tree=builder.tree,
        vocabulary=vocabulary,
        detail_keys={" ".join(stems_of(key)): key for key in keys if key},
        sizes=frozenset(size.lower() for size in counts["size"]),
        shelves=tuple(
            Shelf(f"{parent} {leaf}", frozenset(stems_of(parent)), frozenset(stems_of(leaf)))
            for parent, leaf in sorted({path[-2:] for path in paths if len(path) >= 2})
        ),
    )


@lru_cache(maxsize=1)
def _general_products() -> Mapping[tuple[str, ...], str]:
    groups = language().names["products"].values()
    return {stems_of(phrase): phrase for group in groups for phrase in group}


@lru_cache(maxsize=4_000)
def shelves_of(phrase: str) -> frozenset[str]:
    """The groups of ``names.toml`` that list a product word or its head noun."""
    stems = stems_of(phrase)
    return frozenset(
        name for name, listed in _shelves().items() if stems in listed or (stems and stems[-1:] in listed)
    )


@lru_cache(maxsize=1)
def _shelves() -> Mapping[str, frozenset[tuple[str, ...]]]:
    groups = language().names["products"]
    return {name: frozenset(stems_of(phrase) for phrase in phrases) for name, phrases in groups.items()}


@lru_cache(maxsize=1)
def _idioms() -> tuple[str, ...]:
    """Phrases of ``synonyms.toml`` that name one quality though they are made of cues and padding."""
    barred = ("no", "not", "without", "nothing", "for", "when", "the")
    known = language().filler
    return tuple(
        phrase
        for entry in load_toml("synonyms.toml")["synonym"]
        if entry["domain"] != "type"
        for phrase in entry["say"]
        if " " in phrase
        and phrase.split()[0] not in barred
        and any(word in known or word in ("not", "dey", "no") for word in phrase.split())
    )


def _as_typed(name: str) -> tuple[tuple[str, ...], ...]:
    """The stems of a name with its "&" left out, kept, and as "and"."""
    bare = stems_of(name)
    marks = re.findall(r"[&,]|[^&,]+", name)
    if len(marks) == 1:
        return (bare,)
    kept = tuple(word for part in marks for word in ((part,) if part in "&," else stems_of(part)))
    return bare, kept, tuple("and" if word == "&" else word for word in kept)


LONGEST_NAME = 9
"""Words of a name at most: "handbags and wallets fashion backpacks" has five."""


class _Builder:
    """Plants names into one tree, each phrase and kind once."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self.tree: Tree = {}
        self.vocabulary = vocabulary
        self._seen: set[tuple[tuple[str, ...], str]] = set()

    def add(self, stems: tuple[str, ...], name: Name) -> None:
        if not stems or len(stems) > LONGEST_NAME or (stems, name.kind) in self._seen:
            return
        self._seen.add((stems, name.kind))
        plant(self.tree, stems, name)

    def add_products(self, paths: Mapping[tuple[str, ...], int], titles: Sequence[str]) -> None:
        general = _general_products()
        barred = {stems_of(word) for word in language().names["not_products"]["words"]}
        people = {(stem(w),) for words in language().names["gender"].values() for w in words}
        category_stems: set[str] = set()
        for path in paths:
            for level in path:
                for part in (level, *_LEVEL_PARTS.split(level)):
                    stems = stems_of(part)
                    category_stems.update(stems)
                    if (
                        not stems
                        or len(stems) > 5
                        or (stems in barred and stems not in general)
                        or stems in people
                    ):
                        continue
                    if stems[-1].isdigit():
                        continue
                    for spelled in _as_typed(part):
                        self.add(spelled, Name("product", part))
                    if (stems[-1],) in general and (stems[-1],) not in barred:
                        self.add(stems[-1:], Name("product", part.split()[-1]))
            if len(path) >= 2:
                pair = f"{path[-2]} {path[-1]}"
                for spelled in _as_typed(pair):
                    self.add(spelled, Name("product", pair))
        # "… Smartphone 4GB Black": what a title ends in may be its colour.
        qualities = {
            stems_of(word) for kind in ("colours", "materials") for word in language().names[kind]["names"]
        }
        for head, phrase in _heads(titles, category_stems).items():
            if head not in barred and (head not in qualities or head in general):
                self.add(head, Name("product", phrase))
        for stems, phrase in general.items():
            known = all(
                s in self.vocabulary or phrase_part in self.vocabulary
                for s, phrase_part in zip(stems, phrase.split(), strict=False)
            )
            self.add(stems, Name("product", phrase, known=known))
            if len(stems) == 2:  # "powerbank" for "power bank"
                self.add(("".join(stems),), Name("product", phrase, known=known))

    def add_spoken(self) -> None:
        """Everyday Nigerian words for products ("gen"), and spoken phrases that mean one quality ("does not slip")."""
        general = _general_products()
        for said, meant in language().pidgin_words.items():
            if stems_of(meant) in general:
                self.add(stems_of(said), Name("product", meant))
        for entry in load_toml("synonyms.toml")["synonym"]:
            for phrase in entry["say"] if entry["domain"] == "type" else ():
                stems = stems_of(phrase)
                if len(stems) > 1 and (stems, "product") not in self._seen:  # "sun glasses"
                    self.add(stems, Name("product", phrase, known=False))
        for phrase in _idioms():
            self.add(stems_of(phrase), Name("idiom", phrase))

    def add_general(self, kind: str, phrases: Iterable[str], counts: Mapping[str, int]) -> None:
        weak = {stems_of(w) for w in language().names["weak_colours"]["names"]} if kind == "colour" else set()
        spelled = {stems_of(value): value for value in counts}
        for phrase in phrases:
            stems = stems_of(phrase)
            self.add(
                stems, Name(kind, spelled.get(stems, phrase), weak=stems in weak, known=stems in spelled)
            )

    def add_catalogue_values(self, kind: str, counts: Mapping[str, int]) -> None:
        """The catalogue's own names, as far as they look like names ("Navy Blue", not "Style 1")."""
        group = "colours" if kind == "colour" else "materials"
        known = {s for phrase in language().names[group]["names"] for s in stems_of(phrase)}
        for value in counts:
            for part in _LEVEL_PARTS.split(value):
                stems = stems_of(part)
                if (
                    0 < len(stems) <= 3
                    and any(s in known for s in stems)
                    and not any(s.isdigit() for s in stems)
                ):
                    self.add(stems, Name(kind, part))

    def add_brands(self, counts: Mapping[str, int]) -> None:
        speech = language()
        ordinary = set(speech.names["ordinary_brands"]["words"]) | speech.filler
        for brand, count in counts.items():
            stems = stems_of(brand)
            if not stems or stems == ("unknown",) or stems == ("generic",):
                continue
            word = fold(brand)
            # Said far more often than sold: an ordinary word, unless English does not know it ("Infinix" in titles).
            common = self.vocabulary.get(word, 0) > 3 * count + 5 and word in speech.english
            weak = len(stems) == 1 and (
                word in ordinary
                or common
                or len(word) < 3
                or word in speech.number_words
                or (stems, "product") in self._seen
                or (stems, "colour") in self._seen
                or (stems, "material") in self._seen
            )
            self.add(stems, Name("brand", brand, weak=weak))

    def add_people(self) -> None:
        names = language().names
        for value, words in names["gender"].items():
            for word in words:
                self.add(stems_of(word), Name("gender", value))
                self.add((word,), Name("gender", value))
        for word in names["people"]["names"]:
            self.add(stems_of(word), Name("person", word))
        for word in names["parts"]["names"]:
            self.add(stems_of(word), Name("part", word))


def _heads(titles: Sequence[str], category_stems: set[str]) -> Mapping[tuple[str, ...], str]:
    """Head nouns of titles that recur or that the categories know: the last word before the details begin."""
    seen: Counter[str] = Counter()
    for title in titles:
        cut = _TITLE_END.search(title)
        stems = stems_of(title[: cut.start()] if cut and cut.start() > 3 else title)
        if stems and stems[-1].isalpha() and len(stems[-1]) > 2:
            seen[stems[-1]] += 1
    enough = max(3, len(titles) // 500)
    skip = language().filler
    return {
        (word,): word
        for word, count in seen.items()
        if word not in skip and (word in category_stems or (count >= enough and len(titles) > 100))
    }
