"""The language files, compiled once a process: cue phrases, number words, units, currencies, general names.

Everything a reader of sentences needs to know about words stands in ``data/language.toml``, ``pidgin.toml``,
``units.toml`` and ``names.toml``; this module only arranges it for look-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from ego_cli.settings import data_file, load_toml

# A tree of words: each node maps the next word to a node; the key None holds what the path so far means.
Tree = dict[Any, Any]


def plant(tree: Tree, words: Sequence[str], meaning: Any) -> None:
    """Add a phrase to a tree. A phrase may mean several things: the first one planted comes first."""
    node = tree
    for word in words:
        node = node.setdefault(word, {})
    node.setdefault(None, []).append(meaning)


def longest(tree: Tree, words: Sequence[str], start: int) -> tuple[int, list[Any]] | None:
    """The longest phrase of ``tree`` that begins at ``words[start]``: its end and meanings."""
    node: Tree | None = tree
    found: tuple[int, list[Any]] | None = None
    index = start
    size = len(words)
    while index < size:
        node = node.get(words[index]) if node is not None else None
        if node is None:
            break
        index += 1
        if None in node:
            found = (index, node[None])
    return found


@dataclass(frozen=True)
class Unit:
    """A unit of measure. ``factor`` turns the typed unit into the canonical one."""

    canonical: str
    attribute: str
    factor: float
    near: Mapping[str, str]
    little: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Language:
    """All word knowledge that does not come from a catalogue."""

    contractions: Mapping[str, str]
    contractions_apostrophe: Mapping[str, str]
    irregular: Mapping[str, str]
    cues: Tree  # words -> cue classes
    number_words: Mapping[str, int]
    magnitudes: Mapping[str, float]
    counts: Tree
    ordinals: Mapping[str, int]
    filler: frozenset[str]
    inner: frozenset[str]
    graded: frozenset[str]
    pidgin_marks: frozenset[str]
    pidgin_words: Mapping[str, str]
    units: Mapping[str, Unit]
    glued_units: Mapping[str, Unit]
    currency_symbols: Mapping[str, str]
    currency_prefixes: Mapping[str, str]
    currency_names: Mapping[str, str]
    weak_currency_names: Mapping[str, str]
    names: Mapping[str, Any]
    units_file: Mapping[str, Any]
    negative_prefix: frozenset[str]
    free_suffix: frozenset[str]
    possessive_kept: frozenset[str]
    grammar: Mapping[str, frozenset[str]]
    non_words: frozenset[str]
    scopes: Mapping[str, frozenset[str]]

    @cached_property
    def english(self) -> frozenset[str]:
        """Common English words: never taken for a typing mistake. (The vocabulary of the bundled tokenizer.)"""
        words = data_file("minilm", "vocab.txt").read_text(encoding="utf-8").split()
        return frozenset(word for word in words if len(word) > 2 and word.isalpha())

    @cached_property
    def kinds(self) -> Mapping[tuple[str, ...], frozenset[tuple[str, ...]]]:
        """A broad product word -> the narrower ones that answer to it, as stems."""
        from ego_cli.conversation.understand.lexicon import stems_of

        return {
            stems_of(entry["of"]): frozenset(stems_of(word) for word in entry["are"])
            for entry in self.names["kinds"]
        }

    @cached_property
    def _own_words(self) -> frozenset[str]:
        own = (
            set(self.filler)
            | set(self.number_words)
            | set(self.magnitudes)
            | set(self.ordinals)
            | set(self.irregular)
        )
        for table in (
            self.units,
            self.currency_names,
            self.weak_currency_names,
            self.pidgin_words,
            self.counts,
        ):
            own.update(word for phrase in table if phrase for word in str(phrase).split())
        for opened in self.contractions.values():
            own.update(opened.split())
        _collect(self.cues, own)
        for group in self.names["products"].values():
            own.update(word for phrase in group for word in phrase.split())
        return frozenset(own)

    def is_word(self, word: str) -> bool:
        """Whether these files know ``word``."""
        return word in self._own_words or word in self.contractions


def _collect(tree: Tree, into: set[str]) -> None:
    for word, node in tree.items():
        if word is not None:
            into.add(word)
            _collect(node, into)


def _words(phrase: str) -> list[str]:
    return phrase.replace("-", " ").split()


def _cue_tree(files: Iterable[Mapping[str, Any]]) -> Tree:
    tree: Tree = {}
    for file in files:
        for name, phrases in file.get("false_cues", {}).items():
            for phrase in phrases:
                plant(tree, _words(phrase), "skip" if name == "filler" else name)
    for file in files:
        for name, phrases in file["cues"].items():
            for phrase in phrases:
                plant(tree, _words(phrase), name)
    return tree


@lru_cache(maxsize=1)
def language() -> Language:
    """The compiled language files."""
    english, pidgin = load_toml("language.toml"), load_toml("pidgin.toml")
    units_file, names = load_toml("quantities.toml"), load_toml("names.toml")
    units: dict[str, Unit] = {}
    glued: dict[str, Unit] = {}
    for entry in units_file["unit"]:
        near = entry.get("near", {})
        for name in entry["names"]:
            units[name] = Unit(entry["canonical"], entry["attribute"], 1.0, near, entry.get("little", {}))
        for name, factor in entry.get("scaled", {}).items():
            units[name] = Unit(entry["canonical"], entry["attribute"], float(factor), near)
        for name in entry.get("glued", ()):
            glued[name] = Unit(entry["canonical"], entry["attribute"], 1.0, near)
    symbols: dict[str, str] = {}
    prefixes: dict[str, str] = {}
    money_names: dict[str, str] = {}
    weak: dict[str, str] = {}
    for entry in units_file["currency"]:
        code = entry["code"]
        symbols.update(dict.fromkeys(entry["symbols"], code))
        prefixes.update(dict.fromkeys(entry["prefix"], code))
        money_names.update(dict.fromkeys(entry["names"], code))
        weak.update(dict.fromkeys(entry.get("weak", ()), code))
    counts: Tree = {}
    for phrase, number in english["counts"].items():
        plant(counts, phrase.split(), number)
    return Language(
        contractions={**english["contractions"], **pidgin["contractions"]},
        contractions_apostrophe=english["contractions_apostrophe"],
        irregular=english["irregular"],
        cues=_cue_tree((english, pidgin)),
        number_words=english["numbers"],
        magnitudes=english["magnitudes"],
        counts=counts,
        ordinals=english["ordinals"],
        filler=frozenset(english["filler"]["words"]) | frozenset(pidgin["filler"]["words"]),
        inner=frozenset(english["filler"]["inner"]),
        graded=frozenset(english["filler"]["graded"]),
        pidgin_marks=frozenset(pidgin["marks"]["words"]),
        pidgin_words=pidgin["words"],
        units=units,
        glued_units={**units, **glued},
        currency_symbols=symbols,
        currency_prefixes=prefixes,
        currency_names=money_names,
        weak_currency_names=weak,
        names=names,
        units_file=units_file,
        negative_prefix=frozenset(english["compounds"]["negative_prefix"]),
        free_suffix=frozenset(english["compounds"]["free_suffix"]),
        grammar={name: frozenset(words) for name, words in english["grammar"].items()},
        scopes={name: frozenset(words) for name, words in english["scopes"].items()},
        non_words=frozenset(english["compounds"]["non_words"]),
        possessive_kept=frozenset({"men", "women", "kid", "boy", "girl", "lady"}),
    )
