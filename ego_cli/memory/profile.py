"""What of all that is known bears on one request: the part of memory that ranking reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ego_cli.memory.entry import ME, Entry
from ego_cli.memory.forgetting import Policy
from ego_cli.memory.tokens import terms
from ego_cli.settings import load_toml

_NOTHING: Mapping[str, Any] = MappingProxyType({})
LONGEST_BRAND_WORDS = 3


@dataclass(frozen=True, slots=True)
class Avoidance:
    """A thing that must stay away (``hard``) or is not liked. ``value`` is what a product must not carry."""

    value: str
    hard: bool
    words: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Tried:
    """A product that was tried, and how it went. ``sentiment`` is -1..1, ``product_id`` "" when only a name is known."""

    name: str
    product_id: str
    sentiment: float
    outcome: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Profile:
    """What bears on a request. ``price_range`` is (min, max, currency or None); ``budgets`` has all of them by category
    ("" is the overall one). ``brand_affinity`` maps every liked or disliked short name to -1..1, weighed by retention:
    names that are no brands meet no brand. ``entries`` are all rows that were used."""

    subject: str = ME
    avoidances: tuple[Avoidance, ...] = ()
    requirements: tuple[str, ...] = ()
    sizes: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    price_range: tuple[float, float, str | None] | None = None
    budgets: Mapping[str, tuple[float, float, str | None]] = field(default_factory=lambda: _NOTHING)
    brand_affinity: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    tried: tuple[Tried, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    concerns: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    likes: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


@lru_cache(maxsize=1)
def _domains() -> tuple[dict[str, frozenset[str]], frozenset[str], frozenset[str]]:
    table = dict(load_toml("memory.toml")["domains"])
    whole = frozenset(terms(table.pop("whole")))
    by_word: dict[str, set[str]] = {}
    for domain, words in table.items():
        for term in terms(words.replace("-", " ")):
            by_word.setdefault(term, set()).add(domain)
    return {term: frozenset(found) for term, found in by_word.items()}, frozenset(table), whole


@lru_cache(maxsize=16_384)
def domains_of(text: str) -> frozenset[str]:
    """Which kinds of shop goods a text speaks of ("a red dress" -> fashion); empty when it names none that we know."""
    by_word, _, _ = _domains()
    found: frozenset[str] = frozenset()
    for term in terms(text):
        found |= by_word.get(term, frozenset())
    return found


# "fragrance in my skincare": what is meant, and the kind of goods that it is said of.
_WITHIN = re.compile(r"(.+?) (?:in|inside|on|from) (?:my |the |any |all )?(.+)", re.IGNORECASE)


def split_thing(value: str) -> tuple[str, str]:
    """ "velvet sofas" -> ("velvet", "sofas"): what is meant, and the product type that it is said of; "" for none."""
    by_word, _, whole = _domains()
    within = _WITHIN.fullmatch(value)
    if within and domains_of(within[2]):
        return within[1], within[2]
    words = value.split()
    if len(words) < 2:
        return value, ""
    last = terms(words[-1])
    if (
        last
        and (last[0] in by_word or last[0] in whole)
        and not any(t in by_word for t in terms(" ".join(words[:-1])))
    ):
        return " ".join(words[:-1]), words[-1]
    return value, ""


def bears_on(entry: Entry, category: str | None) -> bool:
    """Whether a limited fact ("never wears black", "dislikes velvet sofas") holds for a request for ``category``."""
    if not category:
        return True
    asked = domains_of(category)
    _, thing = split_thing(entry.object)
    if not asked:
        return True
    if thing and not set(terms(thing)) & _domains()[2]:
        return bool(set(terms(thing)) & set(terms(category)))
    own = frozenset({entry.scope}) if entry.scope in _domains()[1] else domains_of(entry.object)
    return not own or bool(own & asked)


def shares_domain(entry: Entry, asked: str) -> bool:
    """Whether a row speaks of the kind of goods that is asked for, or of goods of any kind ("natural products")."""
    own = domains_of(f"{entry.object} {entry.words}") | (
        frozenset({entry.scope}) if entry.scope else frozenset()
    )
    if not own:
        return bool(domains_of(asked)) and not _domains()[2].isdisjoint(terms(entry.object))
    return bool(own & domains_of(asked))


def profile_of(
    entries: Iterable[Entry], category: str | None, subject: str, policy: Policy, now: datetime
) -> Profile:
    """Fold the live rows of one person into what bears on a request for ``category`` (None: everything)."""
    table = load_toml("memory.toml")["kinds"]
    avoidances: list[Avoidance] = []
    requirements: list[str] = []
    sizes: dict[str, str] = {}
    budgets: dict[str, tuple[float, float, str | None]] = {}
    affinity: dict[str, float] = {}
    tried: list[Tried] = []
    attributes: dict[str, str] = {}
    concerns: list[tuple[float, str]] = []
    goals: list[tuple[float, str]] = []
    likes: list[str] = []
    used: list[Entry] = []
    for entry in entries:
        if entry.subject != subject or not entry.live:
            continue
        retention = policy.retention(entry, now)
        weight = retention * signal_weight(entry)
        if entry.kind in table["exclusions"]:
            if bears_on(entry, category):
                value, _ = split_thing(entry.object)
                avoidances.append(Avoidance(value, entry.kind != "dislike", entry.words or entry.text, entry))
            affinity[entry.object.lower()] = -weight
        elif entry.kind == "requirement":
            if bears_on(entry, category):
                requirements.append(entry.object)
        elif entry.kind in ("size", "measure"):
            sizes[entry.predicate.partition(" ")[2]] = entry.object
        elif entry.kind == "budget":
            budgets[str(entry.data.get("category", ""))] = (
                float(entry.data.get("min", 0.0)),
                float(entry.data.get("max", 0.0)),
                entry.data.get("currency"),
            )
        elif entry.kind == "tried":
            tried.append(
                Tried(
                    str(entry.data.get("name") or entry.object),
                    str(entry.data.get("productId") or ""),
                    float(entry.polarity),
                    str(entry.data.get("outcome") or ""),
                    entry,
                )
            )
            if brand := str(entry.data.get("brand") or ""):
                affinity.setdefault(brand.lower(), entry.polarity * weight / 2)
        elif entry.kind == "attribute":
            attributes[str(entry.data.get("name") or entry.predicate.partition(" ")[2])] = entry.object
        elif entry.kind == "concern":
            concerns.append((weight, entry.object))
        elif entry.kind == "goal":
            goals.append((weight, entry.object))
        elif entry.kind in ("like", "habit"):
            likes.append(entry.object)
            name = entry.object.lower().removeprefix("brand ").removesuffix(" brand")
            if len(name.split()) <= LONGEST_BRAND_WORDS:
                affinity[name] = weight
        else:
            continue
        used.append(entry)
    return Profile(
        subject=subject,
        avoidances=tuple(avoidances),
        requirements=tuple(requirements),
        sizes=MappingProxyType(sizes),
        price_range=_price_range(budgets, category),
        budgets=MappingProxyType(budgets),
        brand_affinity=MappingProxyType(affinity),
        tried=tuple(tried),
        attributes=MappingProxyType(attributes),
        concerns=tuple(text for _, text in sorted(concerns, reverse=True)),
        goals=tuple(text for _, text in sorted(goals, reverse=True)),
        likes=tuple(likes),
        entries=tuple(used),
    )


def signal_weight(entry: Entry) -> float:
    """0-1: what was said firmly and often weighs more. One firm mention 0.7, three 0.85, inferred half of it."""
    sure = {"high": 1.0, "medium": 0.7, "low": 0.4}.get(entry.confidence, 0.4)
    return sure * (1.0 - 0.3 / (1 + 0.5 * (entry.mentions - 1)))


def _price_range(
    budgets: Mapping[str, tuple[float, float, str | None]], category: str | None
) -> tuple[float, float, str | None] | None:
    """The most specific range: of the category itself, else the overall one."""
    wanted = set(terms(category or ""))
    best: tuple[int, tuple[float, float, str | None]] | None = None
    for name, bounds in budgets.items():
        words = set(terms(name))
        if name and words and words <= wanted and (best is None or len(words) > best[0]):
            best = (len(words), bounds)
    if best is not None:
        return best[1]
    return budgets.get("")
