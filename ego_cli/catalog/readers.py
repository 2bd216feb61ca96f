"""Strangers' product files -> Product, one row at a time.

    records (bytes to rows)  ->  columns (what each holds)  ->  here: rows to products  ->  collapse (one product, its offers)

The first rows are read to understand the columns; then every row is built on its own, so a file of any length takes the same
memory.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from ego_cli.catalog import brands, values
from ego_cli.catalog.columns import Column, field_of_detail, flatten, gender_of, normal_name, understand
from ego_cli.catalog.product import Offer, Product
from ego_cli.catalog.records import Record, Skip, Source, open_source
from ego_cli.errors import CatalogueError
from ego_cli.settings import load_toml

SAMPLE_ROWS = 4_000  # rows looked at before the first product is built
SKIPS_KEPT = 100  # bad rows remembered one by one; all are counted
TITLE_LIMIT = 500  # characters
DETAIL_LIMIT = 500  # characters of one detail's value
MOST_DETAILS = 80
MOST_REVIEWS = 50
WINDOW = 20_000  # products that collapse keeps whole, waiting for their equals
_BRANDLIKE_STORE = 0.1  # share of titles that open with the store's name, above which the store is the brand
_CHOICES = 40  # characters of one colour, material or size; a longer one is a sentence

# ------------------------------------------------------------------------------------------------------------- reading


@dataclass(slots=True)
class Reading:
    """A product file being read. Iterating yields its products; the other fields say how it was understood.

    ``currency_origin`` tells where ``currency`` (ISO 4217 or None) comes from, for a person. ``skipped`` holds the first
    bad rows, ``skipped_count`` counts them all; both grow while products are taken. ``rows`` counts data rows so far,
    ``position`` gives the bytes of the file read so far.
    """

    path: Path
    format: str
    encoding: str
    columns: tuple[Column, ...]
    currency: str | None
    currency_origin: str
    products: Iterator[Product]
    skipped: list[Skip] = field(default_factory=list)
    skipped_count: int = 0
    rows: int = 0
    position: Callable[[], int] = lambda: 0
    worldwide_ids: bool = False  # ids that the whole trade shares: two of them are two products

    def __iter__(self) -> Iterator[Product]:
        return self.products

    def skip(self, row: Skip) -> None:
        """Count a bad row."""
        self.skipped_count += 1
        if len(self.skipped) < SKIPS_KEPT:
            self.skipped.append(row)


def read_products(
    path: Path, *, mapping: Mapping[str, str] | None = None, currency: str | None = None
) -> Reading:
    """Open a product file in any known form and understand its columns; products come out as they are asked for.

    ``mapping`` is role -> column name and ``currency`` an ISO code, both as typed by a person. Raises ``MisuseError`` for a
    missing file, a folder or a wrong mapping, ``CatalogueError`` for a file without products: one line each.
    """
    reading = Reading(Path(path), "", "", (), None, "", iter(()))
    source = open_source(Path(path), reading.skip)
    records = ((line, flatten(record)) for line, record in source.records)
    sample = list(itertools.islice(records, SAMPLE_ROWS))
    if not sample:
        reason = f": line {reading.skipped[0].line}: {reading.skipped[0].reason}" if reading.skipped else ""
        raise CatalogueError(f"{path} holds no products{reason}")
    columns = understand([record for _, record in sample], mapping, source.headed)
    if not any(column.role == "title" for column in columns):
        names = ", ".join(column.name for column in columns[:20])
        raise CatalogueError(
            f"{path} has no column that looks like product titles",
            hint=f"name it with --map title=COLUMN; columns: {names}",
        )
    reading.format, reading.encoding, reading.position = source.format, source.encoding, source.position
    reading.columns = tuple(columns)
    sample_records = [record for _, record in sample]
    reading.currency, reading.currency_origin = _currency_of(sample_records, columns, currency, source)
    builder = Builder(columns, sample_records, reading.currency, source.context)
    reading.worldwide_ids = builder.worldwide_ids
    reading.products = _products(builder, itertools.chain(sample, records), reading)
    return reading


def _products(builder: Builder, records: Iterable[tuple[int, Record]], reading: Reading) -> Iterator[Product]:
    """Build every row; rows that only carry a further variant of the product above them are folded into it."""
    pending: Product | None = None
    for line, record in records:
        reading.rows += 1
        if pending is not None and builder.continues(record, pending):
            variant = builder.build(record, pending.title)
            if isinstance(variant, Product):
                pending = merge(pending, replace(variant, id=pending.id))
            continue
        product = builder.build(record)
        if isinstance(product, str):
            reading.skip(Skip(line, product))
            continue
        if pending is not None:
            yield pending
        pending = product
    if pending is not None:
        yield pending


def product_from_mapping(row: Mapping[str, Any], *, currency: str | None = None) -> Product:
    """One product from one mapping in the words of any known file (``title``, ``price`` or ``price_text``, ``colour``,
    ``sizes``, ``rating_count``, ``reviews``…). Raises ``CatalogueError`` when it has no title."""
    flat = flatten(row)
    columns = understand([flat])
    product = Builder(columns, [flat], currency, {}).build(flat)
    if isinstance(product, str):
        raise CatalogueError(f"not a product: {product}")
    return product


# ------------------------------------------------------------------------------------------------------------ currency


def _currency_of(
    records: Sequence[Record], columns: Sequence[Column], declared: str | None, source: Source
) -> tuple[str | None, str]:
    """The file's currency and where that is known from: a person, the column's name, marks in cells, other hints."""
    if declared:
        return declared.upper(), "as given"
    prices = [c for c in columns if c.role in ("price", "price_max", "price_list")]
    for column in prices:
        if column.currency:
            return column.currency, f"the column's name, “{column.name}”"
    for column in columns:
        if column.role == "currency":
            codes = Counter(
                code for record in records if (code := values.currency_code(record.get(column.name)))
            )
            if codes:
                return codes.most_common(1)[0][0], f"the column “{column.name}”"
    marks: Counter[str] = Counter()
    for column in prices:
        for record in records[:: max(1, len(records) // 500)]:
            cell = record.get(column.name)
            if isinstance(cell, str) and (code := values.currency_mark(cell)):
                marks[code] += 1
    if marks:
        return marks.most_common(1)[0][0], "marks beside the prices"
    table = load_toml("columns.toml")
    names = {normal_name(column.name) for column in columns}
    for shape in table["currency_shapes"]:
        if names.issuperset(shape["columns"]):
            return shape["currency"], f"the file's shape: {shape['what']}"
    if found := _currency_of_links(records, table["currency_hosts"]):
        return found
    for word in re.split(r"[^a-z0-9]+", source.path.name.casefold()):
        if word in table["currency_file_words"]:
            return table["currency_file_words"][word], f"the file's name, “{word}”"
    return None, "nothing says"


def _currency_of_links(records: Sequence[Record], hosts: Mapping[str, str]) -> tuple[str, str] | None:
    """The currency of the country that the links in the file point to."""
    found: Counter[tuple[str, str]] = Counter()
    for record in records[:: max(1, len(records) // 100)]:
        for cell in record.values():
            if isinstance(cell, str) and cell.startswith(("http://", "https://")):
                host = _host_of(cell)
                match = max((end for end in hosts if f".{host}".endswith(end)), key=len, default=None)
                if match:
                    found[hosts[match], host] += 1
    if not found:
        return None
    (code, host), _ = found.most_common(1)[0]
    return code, f"the links' host, {host}"


def _host_of(link: str) -> str:
    try:
        return urlsplit(link[:300]).hostname or ""
    except ValueError:
        return ""


# ------------------------------------------------------------------------------------------------------------ building

_NO_DETAILS: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class _Draft:
    """The parts of a product that several columns may add to."""

    details: dict[str, str] = field(default_factory=dict)
    colours: list[str] = field(default_factory=list)
    materials: list[str] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    features: list[str] = field(default_factory=list)
    brand: str | None = None
    store: str | None = None
    gender: str | None = None
    ingredients: str | None = None
    prices: list[tuple[values.Money, str | None]] = field(
        default_factory=list
    )  # of variants, with their seller


class Builder:
    """Turns the records of one file into products, by what its columns were understood to hold."""

    def __init__(
        self,
        columns: Sequence[Column],
        sample: Sequence[Record],
        currency: str | None,
        context: Mapping[str, str],
    ) -> None:
        self.currency = currency
        by_role: dict[str, list[Column]] = {}
        for column in sorted(columns, key=lambda c: c.rank):
            by_role.setdefault(column.role, []).append(column)
        self._of = by_role
        self._by_name = {role: tuple(c.name for c in found) for role, found in by_role.items()}
        self._prices = [*by_role.get("price", ()), *by_role.get("price_list", ())]
        self._conventions = {
            c.name: values.price_convention([r.get(c.name) for r in sample], c.currency or currency)
            for c in (*self._prices, *by_role.get("price_max", ()))
        }
        self._slugs = self._slug_columns(sample)
        self._around = _categories_around(context)
        self._pair_names: dict[str, str] = {}
        titles = [values.clean_text(cell) for r in sample if (cell := self._first(r, "title")) is not None]
        self._title_brands = brands.learn_brands(titles) if len(titles) >= 20 else brands.KNOWN_ONLY
        self._store_is_brand = self._stores_open_titles(sample)
        worldwide = load_toml("columns.toml")["worldwide"]["codes"]
        self.worldwide_ids = any(normal_name(c.name) in worldwide for c in by_role.get("id", ()))

    def _slug_columns(self, sample: Sequence[Record]) -> frozenset[str]:
        """Category columns that hold nothing but web addresses' words: ``phones-tablets``."""
        found = set()
        for column in self._of.get("category", ()):
            cells = {c for r in sample if isinstance(c := r.get(column.name), str) and c}
            if (
                cells
                and all(re.fullmatch(r"[a-z0-9&]+(?:[-/_][a-z0-9&]+)*", c) for c in cells)
                and any("-" in c for c in cells)
            ):
                found.add(column.name)
        return frozenset(found)

    def _stores_open_titles(self, sample: Sequence[Record]) -> bool:
        if "brand" in self._of or "store" not in self._of:
            return False
        pairs = [(self._first(r, "store"), self._first(r, "title")) for r in sample]
        both = [(str(store).casefold(), str(title).casefold()) for store, title in pairs if store and title]
        return bool(both) and sum(title.startswith(store) for store, title in both) >= _BRANDLIKE_STORE * len(
            both
        )

    def _first(self, record: Record, role: str) -> Any:
        for name in self._by_name.get(role, ()):
            cell = record.get(name)
            if cell is not None and cell != "" and not values.is_null(cell):
                return cell
        return None

    def continues(self, record: Record, above: Product) -> bool:
        """Whether a row only adds a variant to the product above it: same handle without a title, or its child."""
        key = self._first(record, "group")
        if key is not None and _id_of_cell(key).removeprefix("id:") == above.id:
            return True
        if "id" not in self._of or self._first(record, "title") is not None:
            return False
        own = self._first(record, "id")
        return own is not None and _id_of_cell(own) == above.id

    def build(self, record: Record, title: str | None = None) -> Product | str:
        """The product of a row, or the reason why it is none. ``title`` stands in for a variant's missing one."""
        if title is None:
            self._pair_names.clear()
            cell = self._first(record, "title")
            title = values.clean_text(_joined(cell, " "))[:TITLE_LIMIT].rstrip() if cell is not None else ""
            if not title or values.is_null(title):
                return "no title"
            if not any(ch.isalnum() for ch in title):
                return "the title has no letter or digit"
        draft = _Draft()
        self._fill(draft, record)
        price, price_max, currency, flags = self._price(record, draft)
        rating, count = self._rating(record)
        store = self._text(record, "store") or draft.store
        url = _link_of(self._first(record, "url"))
        brand = self._brand(record, title, draft, store)
        description = self._description(record, title)
        product = Product(
            id="",
            title=title,
            brand=brand,
            categories=self._categories(record),
            price=price,
            price_max=price_max,
            currency=currency,
            rating=rating,
            rating_count=count,
            features=tuple(draft.features),
            description=description,
            details=draft.details or _NO_DETAILS,
            store=store,
            colours=tuple(draft.colours),
            materials=tuple(draft.materials),
            sizes=tuple(draft.sizes),
            gender=draft.gender,
            ingredients=draft.ingredients,
            offers=self._offers(draft, store, price, currency, url),
            flags=flags,
            reviews=self._reviews(record),
            url=url,
        )
        own = self._first(record, "id")
        return replace(product, id=_id_of_cell(own) if own is not None else _made_id(product))

    # -- one field each

    def _text(self, record: Record, role: str) -> str | None:
        cell = self._first(record, role)
        if cell is None:
            return None
        text = values.clean_text(_joined(cell, ", "))
        return text if text and not values.is_null(text) else None

    def _brand(self, record: Record, title: str, draft: _Draft, store: str | None) -> str | None:
        stated = self._text(record, "brand") or draft.brand
        if stated and not brands.is_no_brand(stated):
            return brands.written(stated)
        if (
            store
            and "brand" not in self._of
            and (self._store_is_brand or title.casefold().startswith(f"{store.casefold()} "))
        ):
            return brands.written(store)
        return self._title_brands.find(title)

    def _price(
        self, record: Record, draft: _Draft
    ) -> tuple[float | None, float | None, str | None, tuple[str, ...]]:
        stated = values.currency_code(self._first(record, "currency")) if "currency" in self._of else None
        money, fallback = values.NO_PRICE, stated or self.currency
        for column in self._prices:
            cell = record.get(column.name)
            if cell is None or cell == "":
                continue
            money = values.parse_price(
                cell,
                currency=column.currency or stated or self.currency,
                convention=self._conventions[column.name],
            )
            if money.amount is not None:
                fallback = stated or column.currency or self.currency
                if column.minor:
                    money = money._replace(amount=money.amount / 100, upper=money.upper and money.upper / 100)
                break
        amount, upper = money.amount, money.upper
        if amount is None and draft.prices:
            offered = [m for m, _ in draft.prices if m.amount is not None]
            if offered:
                low = min(offered, key=lambda m: m.amount or 0.0)
                dearest = max(m.amount or 0.0 for m in offered)
                money, amount = low, low.amount
                upper = dearest if amount is not None and dearest > amount else None
        if upper is None and amount is not None:
            for column in self._of.get("price_max", ()):
                top = values.parse_price(
                    record.get(column.name), currency=fallback, convention=self._conventions[column.name]
                )
                if top.amount is not None and top.amount > amount:
                    upper = top.amount
        currency = (money.currency or fallback) if amount is not None else fallback
        return amount, upper, currency, ("price_ambiguous",) if money.ambiguous else ()

    def _rating(self, record: Record) -> tuple[float | None, int]:
        stars: float | None = None
        count: int | None = None
        for column in (*self._of.get("rating", ()), *self._of.get("rating_and_count", ())):
            cell = record.get(column.name)
            if cell is None or values.is_null(cell):
                continue
            read, beside = values.parse_rating(cell, column.scale)
            if column.role == "rating_and_count" and isinstance(cell, str) and cell.strip().isdigit():
                read, beside = None, values.parse_count(cell)
            stars = read if stars is None else stars
            count = beside if count is None else count
        for column in self._of.get("rating_count", ()):
            cell = record.get(column.name)
            if cell is not None and (read_count := values.parse_count(cell)) is not None:
                count = read_count
                break
        return stars, count or 0

    def _categories(self, record: Record) -> tuple[str, ...]:
        columns = self._of.get("category")
        if not columns:
            return self._around
        paths: list[tuple[float, tuple[str, ...]]] = []
        for column in columns:
            cell = record.get(column.name)
            if cell is None or cell == "" or values.is_null(cell):
                continue
            path = _category_path(cell) if isinstance(cell, str) else _category_path(_frozen(cell))
            if column.name in self._slugs:
                path = tuple(_from_slug(part) for part in path)
            if path:
                paths.append((column.level, path))
        if not paths:
            return self._around
        deep = [path for _, path in paths if len(path) > 1]
        if deep and len(paths) > 1:
            return max(deep, key=len)
        return _without_repeats(part for _, path in sorted(paths, key=lambda p: p[0]) for part in path)

    def _description(self, record: Record, title: str) -> str:
        texts: list[str] = []
        for name in self._by_name.get("description", ()):
            cell = record.get(name)
            if cell is None or cell == "" or cell == [] or values.is_null(cell):
                continue
            text = values.clean_prose(_joined(cell, " "))
            if text and text != title and not any(text in other for other in texts):
                texts = [other for other in texts if other not in text]
                texts.append(text)
        return " ".join(texts)[: values.TEXT_LIMIT]

    def _reviews(self, record: Record) -> tuple[str, ...]:
        names = self._by_name.get("reviews")
        if not names:
            return ()
        found: list[str] = []
        for name in names:
            cell = record.get(name)
            if cell is None or values.is_null(cell):
                continue
            if isinstance(cell, str) and cell[:1] not in "[{":
                found.append(values.clean_text(cell))
            else:
                found += values.parse_list(cell)
        return tuple(text for text in found if text)[:MOST_REVIEWS]

    def _offers(
        self, draft: _Draft, store: str | None, price: float | None, currency: str | None, url: str | None
    ) -> tuple[Offer, ...]:
        sellers = [(money, seller) for money, seller in draft.prices if seller and money.amount is not None]
        if sellers:
            return tuple(
                Offer(seller, money.amount, money.currency or currency, url) for money, seller in sellers
            )
        if price is None and store is None and url is None:
            return ()
        return (Offer(store, price, currency, url),)

    # -- columns that several fields grow from

    def _fill(self, draft: _Draft, record: Record) -> None:
        of = self._of
        for name in self._by_name.get("colour", ()):
            _add_choices(draft, "colour", record.get(name), name)
        for name in self._by_name.get("material", ()):
            _add_choices(draft, "material", record.get(name), name)
        for name in self._by_name.get("size", ()):
            _add_choices(draft, "size", record.get(name), name)
        for name in self._by_name.get("gender", ()):
            draft.gender = draft.gender or gender_of(record.get(name))
        for name in self._by_name.get("ingredients", ()):
            draft.ingredients = draft.ingredients or _ingredients(record.get(name))
        for name in self._by_name.get("features", ()):
            cell = record.get(name)
            if cell is not None and not values.is_null(cell):
                draft.features += [line for line in values.parse_list(cell) if line not in draft.features]
        for name in self._by_name.get("details", ()):
            _add_bag(draft, record.get(name))
        for name in self._by_name.get("key_value", ()):
            _add_statement(draft, record.get(name))
        for column in of.get("pair", ()):
            stated = record.get(column.name)
            if stated is not None and not values.is_null(stated):
                self._pair_names[column.name] = str(stated)
            if key := self._pair_names.get(column.name):
                _add_detail(draft, key, record.get(column.partner))
        for column in of.get("detail", ()):
            _add_detail(draft, column.label, record.get(column.name))
        for name in self._by_name.get("tags", ()):
            _add_detail(draft, "Tags", record.get(name))
        for column in of.get("objects", ()):
            _add_bag(draft, record.get(column.name))
        for name in self._by_name.get("options", ()):
            _add_bag(draft, record.get(name))
        for name in self._by_name.get("variants", ()):
            self._add_variants(draft, record.get(name))
        flags: dict[str, list[str]] = {}
        for column in of.get("flag", ()):
            if column.partner and _is_one(record.get(column.name)):
                flags.setdefault(column.label, []).append(column.partner)
            elif not column.partner and (cell := record.get(column.name)) is not None and cell != "":
                draft.details.setdefault(column.label, "Yes" if _is_one(cell) else "No")
        for label, ones in flags.items():
            draft.details[label] = ", ".join(ones)

    def _add_variants(self, draft: _Draft, cell: Any) -> None:
        """Sizes, colours and prices of ``[{"price": …, "size": …}]``; a seller beside a price makes it an offer."""
        if isinstance(cell, str):
            cell = values.parse_literal(cell)
        if isinstance(cell, Mapping):
            cell = [cell]
        for item in cell[:200] if isinstance(cell, list) else ():
            if not isinstance(item, Mapping):
                continue
            flat = flatten(item)
            seller: str | None = None
            money = values.NO_PRICE
            for key, value in flat.items():
                word = normal_name(key)
                if word in _offer_words("price") and money.amount is None:
                    money = values.parse_price(value, currency=self.currency)
                elif word in _offer_words("currency"):
                    money = money._replace(currency=values.currency_code(value))
                elif word in _offer_words("store") and isinstance(value, str):
                    seller = values.clean_text(value)
                elif field_of_detail(key) in ("colour", "material", "size"):
                    _add_detail(draft, key, value)
            draft.prices.append((money, seller))


@cache
def _offer_words(role: str) -> frozenset[str]:
    return frozenset(normal_name(name) for name in load_toml("columns.toml")["roles"][role])


def _is_one(cell: object) -> bool:
    return cell in (1, "1", True) or (
        isinstance(cell, str) and cell.strip().casefold() in ("yes", "true", "y")
    )


def _joined(cell: Any, between: str) -> str:
    if isinstance(cell, str):
        if cell[:1] in "[(" and isinstance(literal := values.parse_literal(cell), list | tuple):
            return between.join(values.parse_list(list(literal)))
        return cell
    if isinstance(cell, list | tuple):
        return between.join(values.parse_list(cell))
    if isinstance(cell, Mapping):
        return values.parse_list([cell])[0] if values.parse_list([cell]) else ""
    return str(cell)


def _ingredients(cell: Any) -> str | None:
    """The list of ingredients as one line; anything that is no list of them is unknown."""
    if cell is None or values.is_null(cell):
        return None
    text = values.clean_text(_joined(cell, ", "))
    return text if any(ch.isalpha() for ch in text) and not values.is_null(text) else None


_PERCENT = re.compile(r"\b\d{1,3}(?:[.,]\d+)?\s?%\s*")


def _add_choices(draft: _Draft, role: str, cell: Any, label: str) -> None:
    """Colours, materials or sizes of a cell; a sentence in their place is kept as a detail."""
    if cell is None or cell == "" or values.is_null(cell):
        return
    into = {"colour": draft.colours, "material": draft.materials, "size": draft.sizes}[role]
    if isinstance(cell, Mapping):
        cell = [key for key, there in cell.items() if there not in (False, None, 0)]
    items = values.parse_list(
        cell, "," if role == "size" and isinstance(cell, str) and "," in cell else ",;|/"
    )
    if role == "material" and any("%" in item for item in items):
        draft.details.setdefault("Composition", ", ".join(items)[:DETAIL_LIMIT])
        items = [_PERCENT.sub("", item).strip() for item in items]
    if any(len(item) > _CHOICES for item in items):
        draft.details.setdefault(label[:60], ", ".join(items)[:DETAIL_LIMIT])
        return
    for item in items:
        if item and item.casefold() not in (known.casefold() for known in into):
            into.append(item)


def _add_detail(draft: _Draft, key: str, cell: Any) -> None:
    """One named statement about the product, into the field that its name means or among the details."""
    if cell is None or cell == "" or len(draft.details) >= MOST_DETAILS:
        return
    if isinstance(cell, Mapping):
        for inner, value in cell.items():
            _add_detail(
                draft, f"{key} {inner}" if normal_name(str(inner)) in ("value", "unit") else str(inner), value
            )
        return
    if values.is_null(cell):
        return
    meaning = field_of_detail(key)
    if meaning == "drop":
        return
    if meaning in ("colour", "material", "size"):
        _add_choices(draft, meaning, cell, key)
        return
    if isinstance(cell, bool):
        text = "Yes" if cell else "No"
    elif isinstance(cell, str):
        text = values.clean_text(cell)
    else:
        text = ", ".join(values.parse_list(cell)) if isinstance(cell, list | tuple) else str(cell)
    text = text[:DETAIL_LIMIT].rstrip()
    if not text or values.is_null(text) or text.startswith(("http://", "https://")):
        return
    if meaning == "gender":
        draft.gender = draft.gender or gender_of(text)
    elif meaning == "brand":
        draft.brand = draft.brand or text
    elif meaning == "ingredients":
        draft.ingredients = draft.ingredients or text
        return
    elif meaning == "store":
        draft.store = draft.store or text
        return
    label = _detail_label(key)
    if label and text.casefold() != "default title":
        draft.details.setdefault(label, text)


@lru_cache(maxsize=8192)
def _detail_label(key: str) -> str:
    return values.clean_text(key).strip(" :")[:60]


def _add_bag(draft: _Draft, cell: Any) -> None:
    """Details under many names: a mapping, a list of name-value objects, or ``Key: value`` lines."""
    if cell is None or values.is_null(cell):
        return
    if isinstance(cell, str):
        literal = values.parse_literal(cell) if cell[:1] in "[{" else None
        if literal is None:
            for line in re.split(r"[\n;|]", cell) if "<" not in cell else values.clean_lines(cell):
                if not _add_statement(draft, line) and (text := values.clean_prose(line)):
                    draft.features.append(text)
            return
        cell = literal
    if isinstance(cell, Mapping):
        for key, value in cell.items():
            if isinstance(value, list) and value and isinstance(value[0], Mapping):
                _add_bag(draft, value)
            else:
                _add_detail(draft, str(key), value)
        return
    for item in cell[:MOST_DETAILS] if isinstance(cell, list | tuple) else ():
        if isinstance(item, Mapping):
            name = next(
                (
                    item[k]
                    for k in ("name", "key", "label", "attribute", "title")
                    if isinstance(item.get(k), str)
                ),
                None,
            )
            value = next(
                (item[k] for k in ("value", "values", "text", "options") if item.get(k) not in (None, "")),
                None,
            )
            if name is not None and value is not None:
                _add_detail(draft, name, value)
        elif isinstance(item, str) and not _add_statement(draft, item) and (text := values.clean_prose(item)):
            draft.features.append(text)


_STATEMENT = re.compile(r"\s*([^\W\d_][^:=\n]{0,50}?)\s*[:=]\s*(\S.*?)\s*", re.S)


def _add_statement(draft: _Draft, cell: Any) -> bool:
    """A cell or line ``Key: value``; False when it is none."""
    if not isinstance(cell, str) or not (found := _STATEMENT.fullmatch(cell)):
        return False
    _add_detail(draft, found[1], found[2])
    return True


# ---------------------------------------------------------------------------------------------------------- categories

_STEP = re.compile(r"\s*(?:>>?|»|›|→|\||::|\\|\s/\s)\s*")


@cache
def _roots() -> frozenset[str]:
    return frozenset(load_toml("columns.toml")["category_roots"]["words"])


def _frozen(cell: Any) -> Any:
    return (
        tuple(_frozen(item) for item in cell)
        if isinstance(cell, list | tuple)
        else str(values.parse_list([cell])[:1] or "")
        if isinstance(cell, Mapping)
        else cell
    )


@lru_cache(maxsize=16384)
def _category_path(cell: Any) -> tuple[str, ...]:
    """The names of a category cell from broad to narrow: a path as text, a list, a list of paths (the deepest)."""
    if isinstance(cell, str):
        if cell[:1] == "[" and isinstance(literal := values.parse_literal(cell), list):
            return _category_path(_frozen(literal))
        text = values.clean_text(cell.replace("&gt;", ">"))
        if ">" in text and "," in text:  # WooCommerce: several paths in one cell
            text = max(text.split(","), key=lambda path: path.count(">"))
        if text.startswith("/") or re.fullmatch(r"[a-z0-9-]+(?:/[a-z0-9-]+)+", text):
            return _tidy_path(text.split("/"))
        return _tidy_path(_STEP.split(text))
    if isinstance(cell, tuple):
        parts = [part for part in cell if part]
        if any(isinstance(part, tuple) for part in parts):
            return max((_category_path(part) for part in parts), key=len, default=())
        if any(">" in str(part) for part in parts):
            return max((_category_path(str(part)) for part in parts), key=len, default=())
        return _tidy_path(str(part) for part in parts)
    return _tidy_path([str(cell)])


def _tidy_path(parts: Iterable[str]) -> tuple[str, ...]:
    names = [
        text for part in parts if (text := values.clean_text(part).strip(" /,-")) and not values.is_null(text)
    ]
    while len(names) > 1 and names[0].casefold() in _roots():
        names.pop(0)
    return _without_repeats(name for name in names if not name.isdigit())[:10]


def _without_repeats(names: Iterable[str]) -> tuple[str, ...]:
    return tuple({name.casefold(): name for name in reversed(list(names))}.values())[::-1]


def _from_slug(name: str) -> str:
    words = re.sub(r"[-_]+", " ", name).strip()
    return words[:1].upper() + words[1:]


def _categories_around(context: Mapping[str, str]) -> tuple[str, ...]:
    """The category that a JSON document states beside its list of products."""
    for key in (
        "categoryPath",
        "category_path",
        "categoryId",
        "category_id",
        "category",
        "categoryName",
    ):
        text = context.get(key)
        if text and not text.isdigit():
            return tuple(_from_slug(part) for part in _category_path(text))
    return ()


# ------------------------------------------------------------------------------------------------------------ identity

_ID_PREFIX = re.compile(
    r"(?i)\s*(?:sku|id|asin|item|code|ref|product id|model)\s*(?:no\.?|#)?\s*[:=]\s*(?=\S)"
)


def _id_of_cell(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = values.clean_text(_joined(cell, "-"))
    text = _ID_PREFIX.sub("", text, count=1) if not text.casefold().startswith("id:") else text
    return re.sub(r"(?<=\d)\.0$", "", text)[:200]


def _link_of(cell: Any) -> str | None:
    if cell is None:
        return None
    text = values.clean_text(_joined(cell, " ")).split(" ")[0]
    if text.startswith("//"):
        text = f"https:{text}"
    elif text.startswith("www."):
        text = f"https://{text}"
    return text[:2000] if re.match(r"https?://[^\s<>\"]+$", text) else None


def _made_id(product: Product) -> str:
    """An id for a row that has none: the same row gets the same one at the next load."""
    key = product.url or f"{identity(product):x}"
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=6).hexdigest()


_PUNCTUATION = re.compile(r"[\W_]+")


@cache
def _volatile() -> frozenset[str]:
    return frozenset(normal_name(name) for name in load_toml("columns.toml")["volatile"]["details"])


def _plain(text: str) -> str:
    return _PUNCTUATION.sub(" ", text.casefold()).strip()


def identity(product: Product) -> int:
    """A 64-bit mark of what a thing is, whoever sells it: title, brand and everything that tells variants apart
    (colour, material, size, gender, words, ingredients, details that do not change from offer to offer)."""
    details = [
        f"{key}={value}" for key, value in product.details.items() if normal_name(key) not in _volatile()
    ]
    what = "\x1f".join(
        (
            _plain(product.title),
            _plain(product.brand or ""),
            "\x1e".join(product.colours),
            "\x1e".join(product.materials),
            "\x1e".join(product.sizes),
            product.gender or "",
            "\x1e".join(product.features),
            "\x1e".join(details),
            product.description,
            product.ingredients or "",
        )
    )
    return int.from_bytes(
        hashlib.blake2b(what.casefold().encode("utf-8", "replace"), digest_size=8).digest(), "big"
    )


def merge(first: Product, again: Product) -> Product:
    """One product out of two listings of it: all offers, the lowest price, the rating that more people gave."""
    offers: dict[tuple[str | None, str | None, float | None], Offer] = {}
    for offer in (*first.offers, *again.offers):
        offers[
            offer.seller, offer.url, offer.price if offer.seller is None and offer.url is None else None
        ] = offer
    sure = [p for p in (first, again) if p.price is not None and "price_ambiguous" not in p.flags]
    priced = sure or [p for p in (first, again) if p.price is not None]
    if priced and all(p.currency == priced[0].currency for p in priced):
        cheapest = min(priced, key=lambda p: p.price or 0.0)
    else:
        cheapest = priced[0] if priced else first
    better = (
        again if (again.rating_count, again.rating or 0) > (first.rating_count, first.rating or 0) else first
    )
    if better.rating is None:
        better = first if first.rating is not None else again
    top = (
        max((p.price_max or p.price or 0.0 for p in priced), default=0.0)
        if first.id == again.id
        else cheapest.price_max
    )
    return replace(
        first,
        brand=first.brand or again.brand,
        categories=first.categories or again.categories,
        price=cheapest.price,
        price_max=top if top and cheapest.price is not None and top > cheapest.price else None,
        currency=cheapest.currency or first.currency,
        flags=cheapest.flags,
        rating=better.rating,
        rating_count=better.rating_count,
        features=first.features or again.features,
        description=first.description or again.description,
        details={**again.details, **first.details},
        colours=_without_repeats((*first.colours, *again.colours)),
        materials=_without_repeats((*first.materials, *again.materials)),
        sizes=_without_repeats((*first.sizes, *again.sizes)),
        gender=first.gender or again.gender,
        ingredients=first.ingredients or again.ingredients,
        offers=tuple(offers.values()),
        reviews=tuple(dict.fromkeys((*first.reviews, *again.reviews)))[:MOST_REVIEWS],
        url=first.url or again.url,
        store=first.store or again.store,
    )


class Collapse:
    """Products with identical ones made one. Iterating yields each product once, and again under the same id, complete,
    when a further listing of it turned up: a reader that keeps the last product of each id has them all.

    Memory is a mark and an id for each product and ``WINDOW`` whole products; ``earlier`` (id -> product, from a store that
    has taken the yielded ones) lets older ones grow too. ``merged`` counts the rows that went into another.
    """

    def __init__(
        self, sources: Sequence[Iterable[Product]], earlier: Callable[[str], Product | None] | None = None
    ) -> None:
        self._sources = sources
        self._earlier = earlier
        self._places: dict[int, str] = {}
        self._recent: OrderedDict[str, Product] = OrderedDict()
        self.merged = 0

    def __iter__(self) -> Iterator[Product]:
        for source in self._sources:
            apart = isinstance(source, Reading) and source.worldwide_ids
            for product in source:
                yield self._with_equals(product, apart)

    def _with_equals(self, product: Product, apart: bool) -> Product:
        known = product.id
        if not apart and known not in self._recent:
            known = self._places.setdefault(identity(product), known)
        first = self._recent.get(known)
        if first is None and known != product.id and self._earlier is not None:
            first = self._earlier(known)
        if first is not None:
            self.merged += 1
            if known != product.id or _plain(first.title) == _plain(product.title):
                product = merge(first, product)
            # else: the same id with another title: the later row replaces the earlier
        self._recent[product.id] = product
        self._recent.move_to_end(product.id)
        if len(self._recent) > WINDOW:
            self._recent.popitem(last=False)
        return product


def collapse(*sources: Iterable[Product], earlier: Callable[[str], Product | None] | None = None) -> Collapse:
    """Make identical products of one or several sources one, with several offers; see ``Collapse``."""
    return Collapse(sources, earlier)


def collapsed(products: Iterable[Product]) -> list[Product]:
    """``collapse`` for what fits in memory: each product once, complete, in the order of first sight."""
    return list({product.id: product for product in collapse(products)}.values())
