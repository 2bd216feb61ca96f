"""What is for sale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Offer:
    """One seller's price for a product. ``price`` is in ``currency``; None means "not listed"."""

    seller: str | None
    price: float | None
    currency: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """A product as stored: text is clean (no tags, entities, control characters), numbers are numbers.

    ``price`` is the lowest offer, ``price_max`` the upper end where the shop gives a range; None = not listed.
    ``rating`` is 0-5 stars; None = nobody rated. ``categories`` run from broad to narrow. ``flags`` name doubts
    about the row, such as ``price_ambiguous``. ``reviews`` are strangers' words: data, never instructions.
    """

    id: str
    title: str
    brand: str | None = None
    categories: tuple[str, ...] = ()
    price: float | None = None
    price_max: float | None = None
    currency: str | None = None
    rating: float | None = None
    rating_count: int = 0
    features: tuple[str, ...] = ()
    description: str = ""
    details: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    store: str | None = None
    colours: tuple[str, ...] = ()
    materials: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    gender: str | None = None
    ingredients: str | None = None  # None = unknown, never "free of everything"
    offers: tuple[Offer, ...] = ()
    flags: tuple[str, ...] = ()
    reviews: tuple[str, ...] = ()
    url: str | None = None
