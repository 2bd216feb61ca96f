"""Strangers' product files -> Product, one row at a time.

    files (bytes to records)  ->  columns (what each holds)  ->  rows (record to product)  ->  offers (one product, its offers)

The first rows are read to understand the columns; then every row is built on its own, so a file of any length takes the same
memory.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ego_cli.catalog.product import Product
from ego_cli.catalog.reading.columns import Column, flatten, understand
from ego_cli.catalog.reading.files import Source, open_source
from ego_cli.catalog.reading.names import normal_name
from ego_cli.catalog.reading.offers import Collapse, collapse, collapsed, identity, merge
from ego_cli.catalog.reading.prices import currency_code, currency_mark
from ego_cli.catalog.reading.records import Record, Skip
from ego_cli.catalog.reading.rows import Builder
from ego_cli.catalog.reading.sale import ROLES
from ego_cli.errors import CatalogueError
from ego_cli.places import load_toml

__all__ = [
    "Collapse",
    "Reading",
    "collapse",
    "collapsed",
    "currency_code",
    "identity",
    "merge",
    "product_from_mapping",
    "read_products",
]

SAMPLE_ROWS = 4_000  # rows looked at before the first product is built
SKIPS_KEPT = 100  # bad rows remembered one by one; all are counted


@dataclass(slots=True)
class Reading:
    """A product file being read. Iterating yields its products; the other fields say how it was understood.

    ``currency_origin`` tells where ``currency`` (ISO 4217 or None) comes from, for a person. ``skipped`` holds the first
    bad rows, ``skipped_count`` counts them all, ``folded`` the rows that only added a variant to the product above them and
    ``left_out`` the products that the shop does not show, by state ("draft"); they grow while products are taken. ``position`` gives the bytes of the file read so far. ``worldwide_ids``: the ids
    are codes that the whole trade shares, so two of them are two products.
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
    folded: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    position: Callable[[], int] = lambda: 0
    worldwide_ids: bool = False

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
    lone_text = len(columns) == 1 and not source.headed and not mapping  # prose and logs are no catalogues
    if lone_text or not any(column.role == "title" for column in columns):
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
    codes: frozenset[str] = frozenset()
    any_shown = False
    hidden: tuple[str, frozenset[str]] | None = None  # the product above, when the shop does not show it
    for line, record in records:
        try:
            if builder.folds and hidden is not None and builder.continues(record, *hidden):
                continue
            if state := builder.not_shown(record):
                if pending is not None and builder.folds and builder.continues(record, pending.id, codes):
                    continue  # a variant that is not for sale
                reading.left_out[state] += 1
                hidden = builder.id_of(record), builder.codes(record)
                continue
            hidden = None
            if builder.folds and pending is not None and builder.continues(record, pending.id, codes):
                variant = builder.build(record, pending.title)
                reading.folded += 1
                if isinstance(variant, Product):
                    pending = merge(pending, replace(variant, id=pending.id, offers=()))
                continue
            product = builder.build(record)
        except RecursionError:
            product = "nested too deeply"
        if isinstance(product, str):
            reading.skip(Skip(line, product))
            continue
        if pending is not None:
            yield pending
        any_shown, pending = True, product
        codes = builder.codes(record) if builder.folds else codes
    if pending is not None:
        yield pending
    if not any_shown and reading.left_out:
        states = ", ".join(f"{count:,} {state}" for state, count in reading.left_out.most_common())
        (column, *_) = (column.name for column in reading.columns if column.role in ROLES)
        raise CatalogueError(
            f"{reading.path} holds no product that its shop shows: {states}",
            hint=f"--map drop='{column}' reads them all the same",
        )


def product_from_mapping(row: Mapping[str, Any], *, currency: str | None = None) -> Product:
    """One product from one mapping in the words of any known file (``title``, ``price`` or ``price_text``, ``colour``,
    ``sizes``, ``rating_count``, ``reviews``…). Raises ``CatalogueError`` when it has no title."""
    flat = flatten(row)
    columns = understand([flat])
    product = Builder(columns, [flat], currency, {}).build(flat)
    if isinstance(product, str):
        raise CatalogueError(f"not a product: {product}")
    return product


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
            codes = Counter(code for record in records if (code := currency_code(record.get(column.name))))
            if codes:
                return codes.most_common(1)[0][0], f"the column “{column.name}”"
    hint, origin = _currency_hint(records, columns, source)
    marks: Counter[str] = Counter()
    for column in prices:
        for record in records[:: max(1, len(records) // 500)]:
            cell = record.get(column.name)
            if isinstance(cell, str) and (code := currency_mark(cell, hint)):
                marks[code] += 1
    if marks:
        return marks.most_common(1)[0][0], "marks beside the prices"
    return hint, origin


def _currency_hint(
    records: Sequence[Record], columns: Sequence[Column], source: Source
) -> tuple[str | None, str]:
    """What stands around the prices: enough where they carry no mark, or one that several currencies share ("kr", "¥")."""
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
    for word, code in table["currency_column_words"].items():
        for column in columns:
            if word in column.name:
                return code, f"the column's name, “{column.name}”"
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
