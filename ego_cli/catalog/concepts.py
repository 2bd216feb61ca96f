"""Everyday wordings of product properties: "no sweat staying on you", "wey water no fit enter", "string you pull tight".

``data/concepts.toml`` lists properties by the words of product pages, each with patterns of what people say. A pattern's
words stand in order, compared by their roots, with up to ``GAP`` others between neighbours; ``a|b`` is any of these, ``~`` a
negation that belongs to the property itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ego_cli.catalog.text import terms
from ego_cli.settings import load_toml

GAP = 3
"""Other words that may stand between two neighbours of a pattern."""
NEGATION = "~"
BREAKS = frozenset([".", "!", "?", ";", "\n", ":", ",", "/", "(", ")"])
"""Marks that no pattern reaches across."""
_SHORTEST_ROOT = 3  # letters


class Concept(NamedTuple):
    """``name``: the property as pages print it; ``phrases``: the words of every page phrase for it."""

    name: str
    phrases: tuple[tuple[str, ...], ...]


class Said(NamedTuple):
    """A concept and the places of the words that say it; ``denies``: a negation is among them."""

    concept: Concept
    places: tuple[int, ...]
    denies: bool


class _Saying(NamedTuple):
    places: tuple[frozenset[str], ...]  # the roots that may stand there
    concept: Concept


@cache
def concepts() -> tuple[Concept, ...]:
    """All properties."""
    return tuple(
        Concept(entry["name"], tuple(tuple(terms(page)) for page in (entry["name"], *entry["means"])))
        for entry in load_toml("concepts.toml")["concept"]
    )


@cache
def _sayings() -> Mapping[str, Sequence[_Saying]]:
    """Patterns by the roots that may begin them, the longest first."""
    found: dict[str, list[_Saying]] = {}
    for concept, entry in zip(concepts(), load_toml("concepts.toml")["concept"], strict=True):
        for pattern in entry["says"]:
            saying = _Saying(tuple(_place(place) for place in pattern.split()), concept)
            for begin in saying.places[0]:
                found.setdefault(begin, []).append(saying)
    return {begin: sorted(sayings, key=lambda s: -len(s.places)) for begin, sayings in found.items()}


def _place(text: str) -> frozenset[str]:
    return frozenset(word if word == NEGATION else root(word) for word in text.split("|"))


@cache
def negations() -> frozenset[str]:
    """Words that deny what follows."""
    return frozenset(load_toml("concepts.toml")["negations"])


@lru_cache(maxsize=20_000)
def root(word: str) -> str:
    """A word without its inflection, the same for all forms of a regular verb or noun: "drying", "dries", "dried" -> "dri".

    It is compared only with other roots, so it need not be a word.
    """
    for ending in ("ing", "ied", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_ROOT and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending in ("ied", "ies") else "")
            break
    if len(word) > _SHORTEST_ROOT and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    if len(word) > _SHORTEST_ROOT and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) >= _SHORTEST_ROOT and word.endswith("y") else word


def said_at(words: Sequence[str], index: int) -> Said | None:
    """The property that the words from ``index`` on say, by the longest pattern. ``words``: lower case, marks apart."""
    negated = words[index] in negations()
    for saying in _sayings().get(NEGATION if negated else root(words[index]), ()):
        places = _match(saying, words, index)
        if places is not None:
            return Said(saying.concept, places, any(NEGATION in place for place in saying.places))
    return None


def said_in(words: Sequence[str]) -> list[Said]:
    """All properties that ``words`` say, from left to right, none overlapping."""
    found: list[Said] = []
    index = 0
    while index < len(words):
        said = said_at(words, index)
        if said is not None:
            found.append(said)
        index = said.places[-1] + 1 if said else index + 1
    return found


def _match(saying: _Saying, words: Sequence[str], index: int) -> tuple[int, ...] | None:
    places = [index]
    for wanted in saying.places[1:]:
        for place in range(places[-1] + 1, min(len(words), places[-1] + GAP + 2)):
            if words[place] in BREAKS:
                return None
            negated = words[place] in negations()
            if (negated and NEGATION in wanted) or root(words[place]) in wanted:
                places.append(place)
                break
            if negated:
                return None
        else:
            return None
    return tuple(places)
