"""What ranking hands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ego_cli.catalog.product import Product


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a product is shown, in words ("Under your ₦20,000 budget"), and the stored field that proves it."""

    tag: str
    field: str  # "price", "details.Capacity", "features[2]"
    value: str


@dataclass(frozen=True, slots=True)
class Scored:
    """One product with its score taken apart.

    ``terms`` sum to ``total``. ``legs`` gives the 1-based rank in each leg that found it ("lexical", "dense",
    "collaborative"). ``met`` has, per requirement of the request in order, True (has it), False (known not to) or
    None (not stated).
    """

    product: Product
    total: float
    terms: Mapping[str, float]
    legs: Mapping[str, int]
    reasons: tuple[Reason, ...] = ()
    met: tuple[bool | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """The answer to a Request.

    ``items``: best first, at least ``request.limit`` long where that many qualify. ``candidates`` rows were looked at,
    ``matched`` of the catalogue's rows qualify (type, bounds, hard requirements, exclusions); ``filtered`` counts what
    each rule took out ("price", "exclusion: leather", "colour: teal"). ``type_known`` is False when the shop carries no
    such product type. ``cheapest`` is the lowest price among those that fit but for the price bounds.
    ``rating_stood_in``: prices were missing, so ratings split the candidates. ``facets``: attribute -> value -> count
    over the qualifying candidates, for the question policy and the browser. ``notes`` are plain facts for the reply.
    ``timings_ms`` are the two stages, ``parts_ms`` what is in them: rules, each leg, fusion, score, explanation.
    """

    items: tuple[Scored, ...] = ()
    candidates: int = 0
    matched: int = 0
    filtered: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    type_known: bool = True
    cheapest: float | None = None
    rating_stood_in: bool = False
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: MappingProxyType({}))
    timings_ms: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    parts_ms: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
