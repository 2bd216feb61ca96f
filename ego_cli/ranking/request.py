"""What retrieval and ranking are asked for: one want of a shopper, as plain values.

The conversation makes a Request from its state; nothing in here knows about talk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_NONE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing a product should be, have or do.

    ``attribute`` is "brand", "colour", "material", "size", "gender", "feature" (free words), "rating", or any key of
    product details. ``operator`` is one of is, any_of, all_of, min, max, about (values of acts.Operator). ``number`` is
    in ``unit`` (canonical: "mah", "gb", "inch", "ml"...). ``hard`` means that a product known not to have it must not
    be shown; otherwise it only weighs. ``words`` are the shopper's, for evidence and reasons.
    """

    attribute: str
    operator: str = "is"
    values: tuple[str, ...] = ()
    number: float | None = None
    unit: str | None = None
    hard: bool = False
    weight: float = 1.0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A promise: no product that carries ``value`` is ever shown ("X-free" does not carry X)."""

    value: str
    attribute: str | None = None  # None: wherever it stands
    words: str = ""
    source: str = "said"  # or "memory"


@dataclass(frozen=True, slots=True)
class Personal:
    """What memory contributes. All optional; explicit words of the session were already given precedence."""

    brand_affinity: Mapping[str, float] = field(default_factory=lambda: _NONE)  # lower-case brand -> -1..1
    price_range: tuple[float, float] | None = None  # for this category, catalogue currency
    tried: Mapping[str, float] = field(default_factory=lambda: _NONE)  # product id -> sentiment -1..1
    attributes: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )  # "skin_type" -> "oily"
    concerns: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # a profile's preference tags: comfort, durability, style...


@dataclass(frozen=True, slots=True)
class Request:
    """One ranked list to be made. Prices are in the catalogue's currency."""

    category: str = ""  # the product type in the shopper's (or the catalogue's) words
    words: str = ""  # other search words, conversation taken out
    requirements: tuple[Requirement, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    price_min: float | None = None
    price_max: float | None = None
    price_band: str | None = None  # "lower_half" | "upper_half" | "middle" of the active candidates
    route: str = "BROWSING"  # or "BUYING"
    sort: tuple[str, int] | None = None  # ("price", +1) cheapest first, ("rating", -1) best first...
    like: tuple[str, ...] = ()  # product ids: more like these
    passed_over: Mapping[str, float] = field(
        default_factory=lambda: _NONE
    )  # product id -> times shown, not taken
    hidden: frozenset[str] = frozenset()  # product ids rejected outright: not shown
    erased: tuple[str, ...] = ()  # values given up and contradicted: the seed's omega
    personal: Personal = field(default_factory=Personal)
    strict: bool = (
        True  # False: the type and stated facts weigh but rule nothing out (exclusions and bounds still do)
    )
    limit: int = 10  # how many the caller will want at most
