"""A product as it is stored (JSON) and as it is searched (one text a field)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from ego_cli.catalog.product import Offer, Product

_FIELDS = tuple(field.name for field in fields(Product))
_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_TUPLES = ("categories", "features", "colours", "materials", "sizes", "flags", "reviews")


def encode_product(product: Product) -> str:
    """A product as JSON, empty fields left out."""
    record: dict[str, Any] = {}
    for name in _FIELDS:
        value = getattr(product, name)
        if value or (isinstance(value, int | float) and name != "rating_count"):  # a price of zero was stated
            record[name] = value
    if product.details:
        record["details"] = dict(product.details)
    if product.offers:
        record["offers"] = [
            [offer.seller, offer.price, offer.currency, offer.url] for offer in product.offers
        ]
    return _as_json(record)


def decode_product(line: str) -> Product:
    """The product that ``encode_product`` wrote."""
    record = json.loads(line)
    for name in _TUPLES:
        if name in record:
            record[name] = tuple(record[name])
    if "offers" in record:
        record["offers"] = tuple(Offer(*offer) for offer in record["offers"])
    return Product(**record)


def search_fields(product: Product) -> tuple[Sequence[str], ...]:
    """The texts that are searched, in the order of ``lexical.FIELDS``; each field in lines that stand on their own."""
    details = [f"{key} {value}" for key, value in product.details.items()]
    details += [*product.colours, *product.materials, *product.sizes]
    if product.gender:
        details.append(product.gender)
    sellers = [name for name in (product.brand, product.store) if name]
    prose = [text for text in (product.description, product.ingredients) if text]
    return (
        (product.title,),
        product.categories,
        product.features,
        details,
        tuple(dict.fromkeys(sellers)),
        prose,
    )
