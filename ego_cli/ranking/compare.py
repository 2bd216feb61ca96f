"""Two or more products side by side: the fields in which they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ego_cli.catalog.money import format_money
from ego_cli.catalog.product import Product
from ego_cli.catalog.taxonomy import classify
from ego_cli.errors import MisuseError

LONGEST_CELL = 60  # characters of a cell
MOST_FEATURES = 3  # bullets that only one product has, named in its cell
NOT_SAID = "not stated"


def compare(products: Sequence[Product]) -> tuple[tuple[str, ...], ...]:
    """Rows of a table, header first: a field's name, then its value for each product; only fields that differ.

    Raises ``MisuseError`` when there is nothing to compare: one product, the same product twice, or goods of another kind.
    """
    if len(products) < 2:
        raise MisuseError("it takes two products to compare", hint="name another one")
    if len({product.id for product in products}) < len(products):
        raise MisuseError("that is the same product: it cannot differ from itself", hint="name another one")
    if not _alike(products):
        kinds = " and ".join(dict.fromkeys(_kind(product) for product in products))
        raise MisuseError(
            f"these are different kinds of things ({kinds}), so their fields cannot be set side by side"
        )
    table = [("", *(product.title for product in products))]
    for name, value in _FIELDS.items():
        cells = [value(product) for product in products]
        if len(set(cells)) > 1:
            table.append((name, *(cell or NOT_SAID for cell in cells)))
    keys = dict.fromkeys(key for product in products for key in product.details)
    for key in keys:
        cells = [product.details.get(key, "") for product in products]
        if len({cell.lower() for cell in cells}) > 1:
            table.append((key, *(_short(cell) or NOT_SAID for cell in cells)))
    only = [_only(product, products) for product in products]
    if any(only):
        table.append(("only here", *(cell or "–" for cell in only)))
    return tuple(table)


def _alike(products: Sequence[Product]) -> bool:
    """Same narrowest category, or same kind of the taxonomy; with neither known, give it the benefit of the doubt."""
    leaves = {product.categories[-1].lower() if product.categories else "" for product in products}
    if len(leaves) == 1:
        return True
    return len({classify(product) for product in products}) == 1


def _kind(product: Product) -> str:
    return product.categories[-1] if product.categories else str(classify(product)) or product.title


def _price(product: Product) -> str:
    return "" if product.price is None else format_money(product.price, product.currency)


def _rating(product: Product) -> str:
    return "" if product.rating is None else f"{product.rating:g} from {product.rating_count:,} people"


_FIELDS: dict[str, Callable[[Product], str]] = {
    "price": _price,
    "rating": _rating,
    "brand": lambda product: product.brand or "",
    "category": lambda product: product.categories[-1] if product.categories else "",
    "colour": lambda product: ", ".join(product.colours),
    "material": lambda product: ", ".join(product.materials),
    "sizes": lambda product: ", ".join(product.sizes),
    "seller": lambda product: product.store or "",
}


def _only(product: Product, products: Sequence[Product]) -> str:
    """Feature bullets that none of the others has."""
    others = {text.lower() for other in products if other is not product for text in other.features}
    return "; ".join(_short(text) for text in product.features if text.lower() not in others)[
        : MOST_FEATURES * LONGEST_CELL
    ]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1].rstrip() + "…"
