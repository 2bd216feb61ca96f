"""Two levels of kinds of goods (domain : kind), read from ``data/taxonomy.toml``, and the tag that a product gets.

A product's tag is the kind whose words speak loudest: in the narrowest category most, then where the title says what
the thing *is* (the head of its name), then elsewhere in title and path. Longer words weigh more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from ego_cli.catalog.product import Product
from ego_cli.catalog.text import cached_terms, stem
from ego_cli.settings import load_toml

_PARTS = re.compile(r"\s*(?:&|,|/|-|\band\b)\s*", re.I)

# How loudly a word speaks, by where it stands.
LEAF_HEAD = 6.0  # "Smart watches" in the narrowest category, at its end
LEAF = 3.0
PARENT = 1.6  # per level further up, divided by the distance
TITLE_HEAD = 3.2  # what the title's first phrase ends with
TITLE = 1.2
FEATURE = 0.15
LONGER = 0.6  # added weight of each further word of a phrase
NAME = 0.9  # a kind's own name says less than one of its things: "phone" stands in "phone case", too
DOMAIN_HINT = 1.6  # factor on votes for the domain that the category path's root names
FEATURES_READ = 3


@dataclass(frozen=True, slots=True)
class Domain:
    """One of the upper level: how its goods are judged. ``weights``: signal type -> weight (1 = usual)."""

    name: str
    label: str
    persona: str
    focus: tuple[str, ...]
    criteria: str
    weights: Mapping[str, float]
    brands: Mapping[str, int]  # lower-case brand -> tier 1 (prestige) .. 4 (mass market)


@dataclass(frozen=True, slots=True)
class Tag:
    """Where a product belongs. ``str(tag)`` is "beauty:serum"; the empty tag means that no rule spoke."""

    domain: str = ""
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.domain}:{self.kind}" if self.domain else ""


UNTAGGED = Tag()


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """The file, arranged for look-up. Phrases are tuples of stems."""

    domains: Mapping[str, Domain]
    tags: tuple[Tag, ...]  # UNTAGGED first
    by_phrase: Mapping[tuple[str, ...], tuple[tuple[int, float], ...]]  # phrase -> (tag number, weight)
    by_name: Mapping[tuple[str, ...], tuple[int, ...]]  # what the whole kind is called -> tag numbers
    longest: int
    accessories: frozenset[str]
    ends: frozenset[str]
    tiers: tuple[float, float, float]


_ANY_EXTRA = ("accessory",)  # every domain has some: alone it says nothing


def phrase(text: str) -> tuple[str, ...]:
    """The stems of a short text, in order."""
    return tuple(map(stem, cached_terms(text)))


@cache
def taxonomy() -> Taxonomy:
    """``data/taxonomy.toml``, read once a process."""
    file = load_toml("taxonomy.toml")
    domains: dict[str, Domain] = {}
    tags = [UNTAGGED]
    by_phrase: dict[tuple[str, ...], dict[int, float]] = defaultdict(dict)
    by_name: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for name, entry in file["domains"].items():
        tiers = {"prestige": 1, "premium": 2, "mainstream": 3, "mass": 4}
        brands = {b.lower(): tiers[tier] for tier, listed in entry.get("brands", {}).items() for b in listed}
        domains[name] = Domain(
            name,
            entry["label"],
            entry["persona"],
            tuple(entry["focus"]),
            entry["criteria"],
            entry["weights"],
            brands,
        )
        for kind, words in entry["kinds"].items():
            number = len(tags)
            tags.append(Tag(name, kind))
            for text in (kind, *words["names"]):
                by_name[phrase(text)].append(number)
                if phrase(text) != _ANY_EXTRA:
                    by_phrase[phrase(text)].setdefault(number, NAME)
            for text in words["words"]:
                by_phrase[phrase(text)][number] = 1.0
    # A phrase that several kinds share says half as much about each.
    shared = {
        p: tuple((n, w / len(found) ** 0.5) for n, w in found.items()) for p, found in by_phrase.items()
    }
    return Taxonomy(
        domains,
        tuple(tags),
        shared,
        {p: tuple(dict.fromkeys(numbers)) for p, numbers in by_name.items()},
        max(map(len, by_phrase)),
        frozenset(stem(w) for w in file["head"]["accessories"]),
        frozenset(file["head"]["ends"]),
        (file["tiers"]["prestige"], file["tiers"]["premium"], file["tiers"]["mainstream"]),
    )


def heading(title: str) -> tuple[str, ...]:
    """The stems of a title's first phrase: up to a comma, dash, bracket, "for", "with" or an amount."""
    return tuple(_heading(title))


def _heading(title: str) -> Iterable[str]:
    ends = taxonomy().ends
    started = False
    for piece in (
        title.replace("(", ",")
        .replace("[", ",")
        .replace("|", ",")
        .replace(" - ", ", ")
        .replace(" – ", ", ")
        .split(",")
    ):
        for term in cached_terms(piece):
            if term in ends and started:
                return
            yield stem(term)
            started = True
        if started:
            return


def classify(product: Product) -> Tag:
    """The tag of one product; ``UNTAGGED`` when nothing in it is known."""
    return taxonomy().tags[classify_number(product)]


def classify_number(
    product: Product, first: Sequence[str] | None = None, title: Sequence[str] | None = None
) -> int:
    """As ``classify``, but the number of the tag in ``taxonomy().tags``. ``first`` and ``title`` are the stems of the title's
    first phrase and of all of it, where the caller has them."""
    known = taxonomy()
    votes = dict(_path_votes(product.categories))
    first = list(heading(product.title) if first is None else first)
    title = phrase(product.title) if title is None else title
    rest = title[len(first) :]
    heads = known_heads()
    while first and (first[-1][0].isdigit() or (first[-1] not in heads and len(first) > 1)):
        first.pop()  # "…phone 64GB", "…loafers brown": the name of the thing stands before
    _vote(votes, first, TITLE, TITLE_HEAD)
    _vote(votes, rest, TITLE * 0.5, TITLE * 0.5)
    if not votes:
        for text in product.features[:FEATURES_READ]:
            _vote(votes, phrase(text), FEATURE, FEATURE)
    if not votes:
        return 0
    roots = set(phrase(product.categories[0])) if product.categories else set()
    if roots:
        for number in votes:
            if roots & _domain_words(known.tags[number].domain):
                votes[number] *= DOMAIN_HINT
    return max(votes, key=lambda n: (votes[n], -n))


@lru_cache(maxsize=20_000)
def _path_votes(categories: tuple[str, ...]) -> Mapping[int, float]:
    votes: dict[int, float] = {}
    path = [phrase(name) for name in categories]
    for distance, stems in enumerate(reversed(path)):
        if distance == 0 and not (len(path) == 1 and _is_department(categories[0])):
            _vote(votes, stems, LEAF, LEAF_HEAD)
        else:
            _vote(votes, stems, PARENT / max(distance, 1), PARENT / max(distance, 1))
    if len(path) > 1:
        _vote_across(votes, path[-2], path[-1])
    return votes


@cache
def known_heads() -> frozenset[str]:
    """Last stems of all names and words of the taxonomy: what a thing's name can end with."""
    return frozenset(p[-1] for p in taxonomy().by_phrase if p)


@cache
def _domain_words(domain: str) -> frozenset[str]:
    label = taxonomy().domains[domain].label
    return frozenset(phrase(f"{domain} {label}"))


def _vote(votes: dict[int, float], stems: Sequence[str], weight: float, at_end: float) -> None:
    """Give every phrase of the taxonomy found in ``stems`` its vote; the longest at each place, once."""
    by_phrase, starts = taxonomy().by_phrase, _starts()
    place, end = 0, len(stems)
    while place < end:
        longest = starts.get(stems[place], 0)
        for length in range(min(longest, end - place), 0, -1):
            found = by_phrase.get(tuple(stems[place : place + length]))
            if found:
                loudness = (at_end if place + length == end else weight) * (1 + LONGER * (length - 1))
                for number, share in found:
                    votes[number] = votes.get(number, 0.0) + share * loudness
                place += length - 1
                break
        place += 1


@cache
def _starts() -> Mapping[str, int]:
    """First stem of a phrase -> length of the longest phrase that it begins."""
    found: dict[str, int] = {}
    for known in taxonomy().by_phrase:
        found[known[0]] = max(len(known), found.get(known[0], 0))
    return found


def _is_department(name: str) -> bool:
    """A single category such as "phones-tablets" or "Health & Beauty": a department, which names no thing."""
    parts = [phrase(part) for part in _PARTS.split(name)]
    return sum(bool(part) for part in parts) > 1


def _vote_across(votes: dict[int, float], parent: Sequence[str], leaf: Sequence[str]) -> None:
    """A phrase that the two narrowest names make together, such as "Hair care > Treatments"."""
    known = taxonomy()
    joined = (*parent, *leaf)
    for length in range(min(known.longest, len(joined)), len(leaf), -1):
        if found := known.by_phrase.get(joined[-length:]):
            for number, share in found:
                votes[number] = votes.get(number, 0.0) + share * LEAF_HEAD * (1 + LONGER * (length - 1))
            return


def brand_tier(brand: str | None, domain: str, percentile: float | None) -> int:
    """1 (prestige) to 4 (mass market): as listed for the domain, else by ``percentile``, the median place (0-1) of the
    brand's prices within their kinds; 3 when nothing is known."""
    known = taxonomy()
    if brand and domain and (listed := known.domains[domain].brands.get(brand.lower())):
        return listed
    if percentile is None:
        return 3
    prestige, premium, mainstream = known.tiers
    return (
        1 if percentile >= prestige else 2 if percentile >= premium else 3 if percentile >= mainstream else 4
    )
