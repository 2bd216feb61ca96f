"""What is asked for, cut into single wishes, each held against single statements of products.

"Machine wash, 95 % cotton" is two wishes. A wish is met as far as *one* statement of a product covers it, rare words counting
more: a product that says "cotton" here and "wash" there has not said "machine washable cotton".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.concepts import said_in
from ego_cli.catalog.evidence import NOT, Evidence, Field, tokens_of
from ego_cli.catalog.kinds import same_words
from ego_cli.catalog.taxonomy import phrase
from ego_cli.catalog.text import measures, terms
from ego_cli.ranking.request import Request, Requirement
from ego_cli.settings import load_toml

SAME_WORD = 0.93  # what another word for the same thing counts, against the word itself
AS_PRINTED = 0.5  # the same where pages print the word itself
LONGEST_PHRASE = 4  # stems of a phrase for which other words are looked up
HEAVIEST = 1.0  # a wish is covered at most once
# How much a statement counts as evidence, by where it stands.
FIELD_WEIGHT = {
    Field.TITLE: 1.0,
    Field.BRAND: 1.0,
    Field.CATEGORY: 0.9,
    Field.COLOUR: 1.0,
    Field.MATERIAL: 1.0,
    Field.SIZE: 0.9,
    Field.GENDER: 0.9,
    Field.FEATURE: 1.0,
    Field.DETAIL: 1.0,
    Field.DESCRIPTION: 0.85,
    Field.INGREDIENTS: 0.0,
}


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing asked for. ``weights``: stem number -> share of the wish that the stem covers (shares of the words said sum
    to 1; other words for them stand beside). ``mass``: rarity of what was said, in nats: how much it tells."""

    text: str
    weights: dict[int, float]
    mass: float
    weight: float = 1.0


def wishes(request: Request, evidence: Evidence, *, type_known: bool = True) -> tuple[Wish, ...]:
    """The wishes of a request: one a requirement in order, then the free words, then the words for a type that the shop
    does not know as one."""
    found = [_wish(text_of(wanted), evidence, wanted.weight) for wanted in request.requirements]
    if request.words:
        found.append(_wish(request.words, evidence, 1.0))
    if request.category and not type_known:
        found.append(_wish(request.category, evidence, 1.0))
    return tuple(found)


def text_of(wanted: Requirement) -> str:
    """A requirement as words: its values, or its amount."""
    if wanted.values:
        return " ".join(wanted.values)
    if wanted.number is not None:
        return f"{wanted.number:g} {wanted.unit or ''}".strip()
    return wanted.words


@lru_cache(maxsize=1)
def _filler() -> frozenset[str]:
    return frozenset(phrase(" ".join(load_toml("claims.toml")["filler"]["words"])))


_kept: WeakKeyDictionary[Evidence, dict[tuple[str, float], Wish]] = WeakKeyDictionary()
_KEPT = 256  # wishes a catalogue: one holds for many turns


def _wish(text: str, evidence: Evidence, weight: float) -> Wish:
    kept = _kept.setdefault(evidence, {})
    found = kept.get((text, weight))
    if found is None:
        if len(kept) >= _KEPT:
            kept.pop(next(iter(kept)), None)
        found = kept[text, weight] = _weighed(text, evidence, weight)
    return found


def _weighed(text: str, evidence: Evidence, weight: float) -> Wish:
    said = tuple(token for token in tokens_of(text) if token not in _filler()) or tokens_of(text)
    rarity = {token: evidence.rarity(token) for token in said}
    everyday = [(own & set(said), pages) for own, pages in _everyday(text)]
    everyday = [(own, pages) for own, pages in everyday if own]
    # What is said in everyday words tells as much as what pages print for it, however rare her own words are.
    told = dict(rarity)
    for own, pages in everyday:
        printed = [mass for page in pages if (mass := _mass(page, evidence))]
        spoken = sum(rarity[token] for token in own)
        if printed and spoken:
            for token in own:
                told[token] = rarity[token] * min(1.0, min(printed) / spoken)
    mass = sum(told[token] for token in said)
    weights: dict[int, float] = {}

    def offer(tokens: Sequence[str], share: float) -> None:
        """Give the share to the tokens of one phrase, by how much each of them tells."""
        whole = _mass(tokens, evidence)
        for token in tokens:
            number = evidence.id_of.get(token)
            if number is not None and whole:
                weights[number] = max(weights.get(number, 0.0), share * evidence.rarity(token) / whole)

    if mass:
        for token in said:
            offer((token,), told[token] / mass)
        for start in range(len(said)):
            for length in range(1, min(LONGEST_PHRASE, len(said) - start) + 1):
                part = said[start : start + length]
                share = sum(told[token] for token in part) / mass
                for meant in same_words(part):
                    offer(meant, _worth(part, evidence) * share)
        for own, pages in everyday:
            share = sum(told[token] for token in said if token in own) / mass
            for page in pages:
                offer(page, _worth(tuple(own), evidence) * share)
    return Wish(text, weights, mass, weight)


def _mass(tokens: Sequence[str], evidence: Evidence) -> float:
    """The rarity of a phrase, 0 when the catalogue does not know one of its words."""
    if any(token not in evidence.id_of for token in tokens):
        return 0.0
    return float(sum(evidence.rarity(token) for token in tokens))


def _worth(said: tuple[str, ...], evidence: Evidence) -> float:
    """What other words for ``said`` count: less where pages print the very words, which then were meant."""
    return AS_PRINTED if evidence.prints(said) else SAME_WORD


def _everyday(text: str) -> Iterator[tuple[set[str], list[tuple[str, ...]]]]:
    """The tokens that say a property in an everyday way, and its page phrases."""
    words = terms(text)
    for said in said_in(words):
        span = words[said.places[0] : said.places[-1] + 1]
        own = {token for word in span for token in tokens_of(word)}
        yield own, [phrase(" ".join(page)) for page in said.concept.phrases]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Per product and wish (products x wishes): how far its best statement covers the wish (0..1), which statement that is
    (its place among the product's, -1 = none), and how far all of its statements together do."""

    best: NDArray[np.float32]
    statement: NDArray[np.int32]
    spread: NDArray[np.float32]


def coverage(asked: tuple[Wish, ...], evidence: Evidence, rows: NDArray[np.int32]) -> Coverage:
    """Hold every wish against every statement of ``rows``."""
    if not asked or not len(rows):
        empty = np.zeros((len(rows), len(asked)), dtype=np.float32)
        return Coverage(empty, np.full(empty.shape, -1, dtype=np.int32), empty)
    numbers = sorted({number for wish in asked for number in wish.weights})
    place = np.zeros(len(evidence.id_of), dtype=np.int16)  # 0: a token of no wish
    place[numbers] = np.arange(1, len(numbers) + 1)
    shares = np.zeros((len(numbers) + 1, len(asked)), dtype=np.float32)
    for column, wish in enumerate(asked):
        for number, share in wish.weights.items():
            shares[place[number], column] = share
    found = evidence.occurrences(rows, place)
    unit, token, row = found.unit, found.token, found.row
    weight = FIELDS[found.field]
    # Sum over the tokens of a unit, then the best unit of a row.
    best = np.zeros((len(rows), len(asked)), dtype=np.float32)
    statement = np.full((len(rows), len(asked)), -1, dtype=np.int32)
    spread = np.zeros((len(rows), len(asked)), dtype=np.float32)
    if len(unit):
        starts = np.flatnonzero(np.concatenate(([True], unit[1:] != unit[:-1])))
        sums = np.add.reduceat(shares[token] * weight[:, None], starts, axis=0)
        owners = row[starts]
        firsts = np.flatnonzero(np.concatenate(([True], owners[1:] != owners[:-1])))
        best[owners[firsts]] = np.maximum.reduceat(sums, firsts, axis=0)
        which_unit, which_wish = np.nonzero((sums == best[owners]) & (sums > 0))
        # Assigned backwards, so that of equals the first stays.
        statement[owners[which_unit[::-1]], which_wish[::-1]] = found.statement[starts][which_unit[::-1]]
        # All statements together: each token of a row once.
        key = row.astype(np.int64) * (len(numbers) + 1) + token
        distinct = np.unique(key)
        where, which = np.divmod(distinct, len(numbers) + 1)
        begins = np.flatnonzero(np.concatenate(([True], where[1:] != where[:-1])))
        spread[where[begins]] = np.add.reduceat(shares[which], begins, axis=0)
    np.minimum(best, HEAVIEST, out=best)
    np.minimum(spread, HEAVIEST, out=spread)
    return Coverage(best, statement, spread)


FIELDS = np.array([FIELD_WEIGHT[field] for field in Field], dtype=np.float32)


def denies(text: str) -> bool:
    """Whether a wish is for something to be absent: "fragrance-free", "no zips"."""
    tokens = tokens_of(text)
    return bool(tokens) and all(token.startswith(NOT) for token in tokens)


def has_amount(text: str) -> bool:
    """Whether a wish holds a number with a unit."""
    return bool(measures(text))
