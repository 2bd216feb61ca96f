"""Things that shoppers avoid, what shows them in a text or in an ingredient list, and what shows their absence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from ego_cli.catalog.evidence import NOT, tokens_of
from ego_cli.catalog.product import Product
from ego_cli.catalog.text import cached_terms, stem
from ego_cli.settings import load_toml

FOOD_DOMAINS = frozenset({"groceries", "wellness"})


class Listed(IntEnum):
    """What an ingredient list says about an avoidance."""

    NO_LIST = 0
    ABSENT = 1
    PRESENT = 2


@dataclass(frozen=True, slots=True)
class Avoidance:
    """One entry of ``data/claims.toml``. Phrases are tuples of stems.

    ``words`` standing in a text mean that the thing is there; ``food_words`` do so only in food. ``listed``: only an
    ingredient list or a claim can show a product to be free of it.
    """

    name: str
    number: int
    words: tuple[tuple[str, ...], ...]
    food_words: tuple[tuple[str, ...], ...]
    claims: tuple[tuple[str, ...], ...]
    ingredients: tuple[tuple[str, ...], ...]
    not_after: frozenset[str]
    listed: bool

    @property
    def denials(self) -> tuple[tuple[str, ...], ...]:
        """Phrases that deny the thing: its words with ``¬``, and its claims."""
        denied = tuple(tuple(NOT + token for token in phrase) for phrase in self.words + self.food_words)
        return denied + self.claims


def _phrases(words: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(tuple(map(stem, cached_terms(word))) for word in words))


@cache
def avoidances() -> tuple[Avoidance, ...]:
    """All that the file knows, in its order."""
    found = []
    for number, (name, entry) in enumerate(load_toml("claims.toml")["avoid"].items()):
        found.append(
            Avoidance(
                name,
                number,
                _phrases(entry.get("words", ())),
                _phrases(entry.get("food_words", ())),
                tuple(tokens_of(claim) for claim in entry.get("claims", ())),
                _phrases(entry.get("ingredients", ())),
                frozenset(stem(w) for w in entry.get("not_after", ())),
                entry.get("listed", False),
            )
        )
    return tuple(found)


@cache
def _by_phrase() -> dict[tuple[str, ...], Avoidance]:
    table: dict[tuple[str, ...], Avoidance] = {}
    for avoidance in reversed(avoidances()):  # earlier entries win
        for phrase in (*avoidance.words, tuple(map(stem, cached_terms(avoidance.name)))):
            table[phrase] = avoidance
    return table


def avoidance_named(value: str) -> Avoidance | None:
    """The avoidance that ``value`` ("fragrances", "perfume", "zips") means; None when the file has none."""
    return _by_phrase().get(tuple(map(stem, cached_terms(value))))


@cache
def _by_ingredient() -> tuple[dict[tuple[str, ...], tuple[Avoidance, ...]], int]:
    table: dict[tuple[str, ...], list[Avoidance]] = {}
    for avoidance in avoidances():
        for phrase in avoidance.ingredients:
            table.setdefault(phrase, []).append(avoidance)
    return {p: tuple(a) for p, a in table.items()}, max(map(len, table))


def listed_states(product: Product) -> list[Listed]:
    """Per avoidance, in order: what the product's ingredient list says about it."""
    if not product.ingredients:
        return [Listed.NO_LIST] * len(avoidances())
    states = [Listed.ABSENT if a.ingredients else Listed.NO_LIST for a in avoidances()]
    table, longest = _by_ingredient()
    for item in product.ingredients.split(","):
        stems = tuple(map(stem, cached_terms(item)))
        for start in range(len(stems)):
            for length in range(1, min(longest, len(stems) - start) + 1):
                for avoidance in table.get(stems[start : start + length], ()):
                    if start == 0 or stems[start - 1] not in avoidance.not_after:
                        states[avoidance.number] = Listed.PRESENT
    return states
