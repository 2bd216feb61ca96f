"""What a simulated customer knows: a card made from the product that she has in mind.

The card follows the session protocol: feature bullets, then details as "key: value"; a material word found anywhere goes
first, "color: x" second, a budget last; the first two are hard constraints, the next two soft ones. Files that have no
bullets (a title and a price, say) give cards from their descriptions and titles.

Only customers may use this module: an engine that replayed it over its catalogue would be reading the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from ego_cli.catalog.product import Product
from ego_cli.settings import load_toml

LONGEST_CONSTRAINT = 180  # characters, the protocol's
CONSTRAINTS = 4  # two hard, two soft
ENOUGH = 2  # with fewer bullets and details than this, description and title are read too
SIGNS = {"NGN": "₦", "USD": "$", "GBP": "£", "EUR": "€", "INR": "₹"}

_NOTHING: Mapping[str, Facts] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Constraint:
    """One thing the customer cares about, in the product page's words. ``attribute`` is the protocol's name for it."""

    text: str
    attribute: str


@dataclass(frozen=True, slots=True)
class Card:
    """All that the customer can tell. ``parent`` and ``leaf`` are the last two names of the category path."""

    parent: str
    leaf: str
    constraints: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a customer can see of a product in a list."""

    price: float | None = None
    brand: str | None = None
    material: str | None = None
    colour: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One simulated session: plain values, so that it can be sent to a worker or written to a file.

    ``target`` is the product id to be found; ``old`` a preference that the customer will give up; ``change_turn`` the turn
    on which she does, before which a hit does not count; ``other`` a second thing that she wants; ``unwanted`` a thing
    that she excludes; ``rivals`` what she can see of other products of the shelf, by id.
    """

    id: str
    scenario: str
    target: str
    card: Card
    facts: Facts = Facts()
    currency: str = "USD"
    profile: Mapping[str, object] = field(default_factory=dict)
    old: Constraint | None = None
    change_turn: int = 0
    change: str = ""
    other: tuple[str, str] | None = None
    unwanted: str | None = None
    rivals: Mapping[str, Facts] = field(default_factory=lambda: _NOTHING)
    seed: int = 0


def category_of(product: Product) -> tuple[str, str]:
    """Parent and leaf: the last two names of the path with its root left out; a title's last words where there is none."""
    path = [name for name in product.categories if name]
    path = path[1:] if len(path) > 1 else path
    if len(path) >= 2:
        return path[-2], path[-1]
    if path:
        return "", path[0]
    head = re.split(r"\s[-–|(]|,| with | for ", product.title, maxsplit=1)[0]
    words = re.findall(r"[^\W\d_][\w'’-]*", head)
    return "", " ".join(words[-2:]).lower()


def make_card(product: Product) -> Card:
    """The card of a product."""
    parent, leaf = category_of(product)
    text = searchable_text(product)
    candidates = [_one_line(bullet) for bullet in product.features]
    candidates += [f"{key}: {value}" for key, value in product.details.items()]
    colour = colour_of(product, text)
    material = first_of(_words("materials"), text)
    if len(candidates) < ENOUGH:
        candidates += thin_constraints(product, known={parent, leaf})
    if colour:
        candidates.insert(0, f"color: {colour}")
    if material:
        candidates.insert(0, material)
    if product.price is not None:
        candidates.append(f"budget around {money(product.price, product.currency)}")
    return Card(parent, leaf, tuple(_distinct(candidates))[:CONSTRAINTS])


def _distinct(texts: Iterable[str]) -> Iterator[Constraint]:
    seen: set[str] = set()
    for text in texts:
        cut = text.strip()[:LONGEST_CONSTRAINT].strip()
        if cut and cut.casefold() not in seen:
            seen.add(cut.casefold())
            yield Constraint(cut, attribute_of(cut))


def searchable_text(product: Product) -> str:
    """Title, bullets, details and description in one string."""
    details = (f"{key}: {value}" for key, value in product.details.items())
    return " . ".join([product.title, *product.features, *details, product.description])


def thin_constraints(product: Product, known: set[str]) -> list[str]:
    """What can be said of a product without bullets: the clauses of its description, then the pieces of its title."""
    clauses = [_one_line(part) for part in re.split(r"[.;•\n]|, (?=\w+ \w+)", product.description)]
    shelf = {word for name in known for word in re.findall(r"\w+", name.casefold())}
    pieces = re.split(r"\s[-–|/]\s?|[,;()\[\]|]|\s(?:with|for)\s", product.title)
    words = [[w for w in piece.split() if w.casefold() not in shelf] for piece in pieces]
    chunks = [" ".join(piece[start : start + 3]) for piece in words for start in range(0, len(piece), 3)]
    return [text for text in [*clauses, *chunks] if len(text) > 2]


def colour_of(product: Product, text: str) -> str | None:
    """The stated colour, else a colour word in the text."""
    if product.colours:
        return product.colours[0].lower()
    for key, value in product.details.items():
        if key.casefold() in {"color", "colour"}:
            return value.lower()
    return first_of(_words("colours"), text)


def facts_of(product: Product) -> Facts:
    """What stands on a product's line in a list."""
    text = searchable_text(product)
    brand = product.brand or product.store
    return Facts(product.price, brand, first_of(_words("materials"), text), colour_of(product, text))


def money(amount: float, currency: str | None) -> str:
    """An amount as a customer writes it: no decimals above ten."""
    sign = SIGNS.get(currency or "USD", f"{currency} ")
    return f"{sign}{amount:,.2f}" if amount < 10 else f"{sign}{amount:,.0f}"


def attribute_of(constraint: str) -> str:
    """Which of the protocol's attributes a constraint belongs to."""
    if first_of(_words("materials"), constraint) and len(constraint.split()) <= 2:
        return "material"
    for name, pattern in _attribute_patterns():
        if pattern.search(constraint):
            return name
    return "material" if first_of(_words("materials"), constraint) else "feature"


@cache
def _words(name: str) -> tuple[str, ...]:
    return tuple(load_toml("customers", "card.toml")[name])


@cache
def _attribute_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (entry["name"], _any_of(tuple(entry["cues"])))
        for entry in load_toml("customers", "card.toml")["attributes"]
    )


@cache
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)", re.IGNORECASE)


def first_of(words: tuple[str, ...], text: str) -> str | None:
    """The one of ``words`` that stands first in ``text``, in lower case."""
    found = _any_of(words).search(text)
    return found.group(0).lower() if found else None


def material_words(text: str) -> set[str]:
    """Every material named in ``text``."""
    return {found.lower() for found in _any_of(_words("materials")).findall(text)}


def is_material(text: str) -> bool:
    """Whether ``text`` is nothing but the name of a material."""
    return text.lower() in _words("materials")


def tag_words() -> dict[str, re.Pattern[str]]:
    """Preference tags of a profile, with the words of a product that make its buyer likelier to carry them."""
    return {tag: _any_of(tuple(words)) for tag, words in load_toml("customers", "card.toml")["tags"].items()}


def profile_values(name: str) -> list[str]:
    """The values that a field of the user profile can take."""
    return list(load_toml("customers", "card.toml")["profiles"][name])


def _one_line(text: str) -> str:
    return " ".join(text.split())
