"""Making a catalogue: products in, a new generation of the file and its arrays out, in one atomic step.

    products -> products table (by id) -> for each row: terms -> full text + impacts, columns -> rename
            `> on another core: facets and the ranking index (``index.py``) ------------------^

The rename of the new file over the old one is the whole commit, so an interrupt or a kill at any moment leaves the previous
catalogue as it was; what a broken load left behind is swept by the next one. Memory hardly grows with the rows.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.facets import FacetBuilder
from ego_cli.catalog.impacts import ImpactBuilder
from ego_cli.catalog.index import IndexMaker, rarely_collected
from ego_cli.catalog.lexical import FIELDS
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import (
    GENERATION,
    MIGRATIONS,
    LoadReport,
    Progress,
    field_weights,
    read_about,
)
from ego_cli.catalog.stored import decode_product, encode_product, search_fields
from ego_cli.errors import CatalogueError
from ego_cli.settings import private_folder

BUSY_MS = 60_000  # how long a load waits for another load of the same catalogue
_BATCH = 512  # products an insert
_FULLTEXT_BYTES = 2**24  # that FTS5 gathers before it writes a part of its index; its own 1 MB makes many


# --- columns --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """A number per product, kept as an array of ``dtype``: ``build(product)`` gives the value of one row."""

    name: str
    dtype: str
    build: Callable[[Product], Any]


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def columns() -> tuple[Column, ...]:
    """What is kept of every product as an array, in ``Catalogue.columns``."""
    return (
        Column("price", "float64", lambda product: _or_nan(product.price)),
        Column("price_max", "float64", lambda product: _or_nan(product.price_max)),
        Column("price_ambiguous", "bool", lambda product: "price_ambiguous" in product.flags),
        Column("rating", "float32", lambda product: _or_nan(product.rating)),
        Column("rating_count", "int32", lambda product: min(product.rating_count, 2**31 - 1)),
    )


# --- one load -------------------------------------------------------------------------------------------------------


@contextmanager
def only_loader(path: Path) -> Iterator[None]:
    """Hold the load lock of a catalogue. It is an SQLite lock, so it works on every system and ends with its process."""
    with closing(
        sqlite3.connect(path.with_suffix(".lock"), timeout=BUSY_MS / 1000, isolation_level=None)
    ) as lock:
        try:
            lock.execute(
                "PRAGMA journal_mode = OFF"
            )  # nothing is ever written: it must work on a full disk, to remove
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise CatalogueError(f"cannot lock {path}: {error}") from error
            raise CatalogueError(
                f"{path.stem} is being loaded by another process", hint="try again when it has ended"
            ) from error
        yield


def sweep(path: Path) -> None:
    """Remove what broken loads and past generations left behind. Only under the load lock."""
    try:
        keep = read_about(path)["generation"] if path.is_file() else ""
    except CatalogueError:
        return  # nobody can say what belongs to a file that cannot be read; the load that replaces it comes back here
    for leftover in path.parent.glob(f"{path.stem}.*"):
        name = leftover.name.removeprefix(f"{path.stem}.")
        if GENERATION.fullmatch(name) and name != keep and leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        elif GENERATION.fullmatch(name.removesuffix(".new")) and name.endswith(".new"):
            leftover.unlink(missing_ok=True)


def build(
    path: Path,
    name: str,
    products: Iterable[Product],
    *,
    currency: str | None,
    source: str,
    fingerprint: str = "",
    previous: Path | None = None,
    progress: Progress | None = None,
    durable: bool = True,
    ranking: bool = True,
) -> LoadReport:
    """Write a new generation from ``previous`` and ``products``, and put it in the place of ``path``.

    ``durable`` waits for the disk, so that a power cut cannot undo the commit; it also demands at least one product.
    ``ranking`` makes the ranking index too; without it the first question does. Raises ``CatalogueError`` when there is no
    product.
    """
    began = time.monotonic()
    tell = progress or _silent
    generation = secrets.token_hex(8)
    new = path.with_name(f"{path.stem}.{generation}.new")
    folder = private_folder(path.with_name(f"{path.stem}.{generation}"))
    try:
        with (
            rarely_collected(),
            closing(_create(new)) as database,
            IndexMaker(folder) if ranking else nullcontext() as maker,
        ):
            arrivals = _Arrivals(database, maker)
            kept, skipped = _take_in(arrivals, products, previous, tell)
            size = database.execute("SELECT count(*) FROM products").fetchone()[0]
            if durable and size == 0:
                raise CatalogueError(f"no product to load from {source}")
            _read_rows(database, folder, size, tell)
            tell("ranking", size, size)
            if maker is None or not maker.finish(
                arrivals.order()
            ):  # without a ranking index the first question makes it
                _make_facets(database, folder)
            about = {
                "name": name,
                "currency": currency or _usual_currency(database, previous) or "",
                "source": source,
                "fingerprint": fingerprint,
                "generation": generation,
                "size": str(size),
            }
            database.execute("BEGIN IMMEDIATE")
            database.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            database.execute("COMMIT")
            database.execute("PRAGMA journal_mode = WAL")
        tell("saving", size, size)
        if durable:
            _flush_to_disk([new, *folder.rglob("*"), folder])
        new.replace(path)
        if durable:
            _flush_to_disk([path.parent])
    except BaseException:
        if new.exists():  # else it was renamed before an interrupt came: the load is done and its arrays stay
            new.unlink()
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return LoadReport(kept, skipped, arrivals.merged, time.monotonic() - began)


def _silent(stage: str, done: int, total: int | None) -> None:
    return None


def _create(new: Path) -> sqlite3.Connection:
    """An empty file with our tables. It is nobody's yet: it needs neither journal nor locks until it is whole."""
    database = sqlite3.connect(f"{new.absolute().as_uri()}?mode=rwc", uri=True, isolation_level=None)
    new.chmod(0o600)
    for pragma in (
        "journal_mode = OFF",
        "synchronous = OFF",
        "locking_mode = EXCLUSIVE",
        "cache_size = -65536",
        "temp_store = MEMORY",
    ):
        database.execute(f"PRAGMA {pragma}")
    database.execute("BEGIN IMMEDIATE")
    database.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied TEXT NOT NULL)")
    for name, schema in MIGRATIONS.items():
        for statement in filter(str.strip, schema.split(";")):
            database.execute(statement)
        database.execute(
            "INSERT INTO migrations VALUES (?, ?)", (name, datetime.now(UTC).isoformat(timespec="seconds"))
        )
    weights = ", ".join(str(weight) for weight in field_weights().values())
    for option, value in (("rank", f"bm25({weights})"), ("hashsize", _FULLTEXT_BYTES)):
        database.execute("INSERT INTO fulltext (fulltext, rank) VALUES (?, ?)", (option, value))
    database.execute("COMMIT")
    return database


_UPSERT = """
INSERT INTO products (id, title, brand, category, price, currency, rating, rating_count, product)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET title = excluded.title, brand = excluded.brand, category = excluded.category,
  price = excluded.price, currency = excluded.currency, rating = excluded.rating,
  rating_count = excluded.rating_count, product = excluded.product
"""


def _record(product: Product) -> tuple[Any, ...]:
    category = product.categories[-1] if product.categories else None
    return (
        product.id,
        product.title,
        product.brand,
        category,
        product.price,
        product.currency,
        product.rating,
        product.rating_count,
        encode_product(product),
    )


class _Arrivals:
    """Fills the products table, and tells the maker of the ranking index of each product that comes in: a product with a known
    id takes the place of the earlier one. ``merged`` counts these."""

    def __init__(self, database: sqlite3.Connection, maker: IndexMaker | None) -> None:
        self.database = database
        self._maker = maker
        self._number = 0
        self._last_of_row = array("i")  # number of the last product that came in for each row
        self.merged = 0

    def order(self) -> NDArray[np.int32] | None:
        """The number of each row's product among all that came in; None when each is a row of its own."""
        return np.array(self._last_of_row, dtype=np.int32) if self.merged else None

    def take_over(self, previous: Path) -> None:
        """All rows of an earlier generation, in their order."""
        self.database.execute("ATTACH ? AS old", (f"{previous.absolute().as_uri()}?mode=ro&immutable=1",))
        self.database.execute("INSERT INTO products SELECT * FROM old.products ORDER BY row")
        self.database.execute("DETACH old")
        rows = self.database.execute("SELECT product FROM products ORDER BY row")
        while lines := [line for (line,) in rows.fetchmany(_BATCH)]:
            self._last_of_row.extend(range(self._number, self._number + len(lines)))
            self._number += len(lines)
            if self._maker is not None:
                self._maker.add(lines)

    def add(self, products: Sequence[Product]) -> None:
        """Some more products."""
        known = self._rows_of([product.id for product in products])
        for product in products:
            row = known.setdefault(product.id, len(self._last_of_row))
            if row < len(self._last_of_row):
                self._last_of_row[row] = self._number
                self.merged += 1
            else:
                self._last_of_row.append(self._number)
            self._number += 1
        records = list(map(_record, products))
        self.database.executemany(_UPSERT, records)
        if self._maker is not None:
            self._maker.add([record[-1] for record in records], products)

    def _rows_of(self, ids: Sequence[str]) -> dict[str, int]:
        """The ids that are rows already."""
        query = f"SELECT id, row - 1 FROM products WHERE id IN ({', '.join('?' * len(ids))})"
        return dict(self.database.execute(query, ids).fetchall())


def _take_in(
    arrivals: _Arrivals, products: Iterable[Product], previous: Path | None, tell: Progress
) -> tuple[int, int]:
    """Fill the products table: previous rows in their order, then new ids; returns (taken, skipped)."""
    if previous is not None:
        arrivals.take_over(previous)
    taken = skipped = 0
    source = iter(products)
    arrivals.database.execute("BEGIN IMMEDIATE")
    while batch := list(islice(source, _BATCH)):
        usable = [product for product in batch if product.id.strip() and product.title.strip()]
        arrivals.add(usable)
        taken += len(usable)
        skipped += len(batch) - len(usable)
        tell("reading", taken, None)
    arrivals.database.execute("COMMIT")
    return taken, skipped


def _read_rows(database: sqlite3.Connection, folder: Path, size: int, tell: Progress) -> None:
    """Full text, impacts and columns of every row."""
    impacts = ImpactBuilder(folder, field_weights())
    kinds = columns()
    kept = {column.name: np.zeros(size, dtype=column.dtype) for column in kinds}
    insert = (
        f"INSERT INTO fulltext (rowid, {', '.join(FIELDS)}) VALUES ({', '.join('?' * (len(FIELDS) + 1))})"
    )
    database.execute("BEGIN IMMEDIATE")
    for start in range(0, size, _BATCH):
        lines = database.execute(
            "SELECT product FROM products WHERE row > ? AND row <= ? ORDER BY row", (start, start + _BATCH)
        ).fetchall()
        products = [decode_product(line) for (line,) in lines]
        documents = []
        for row, product in enumerate(products, start):
            documents.append((row + 1, *impacts.add_lines(search_fields(product))))
        for column in kinds:
            kept[column.name][start : start + len(products)] = [column.build(p) for p in products]
        database.executemany(insert, documents)
        tell("indexing", start + len(lines), size)
    database.execute("INSERT INTO fulltext (fulltext) VALUES ('optimize')")
    database.execute("COMMIT")
    impacts.finish()
    for name, values in kept.items():
        np.save(folder / f"column.{name}.npy", values)


def _make_facets(database: sqlite3.Connection, folder: Path) -> None:
    facets = FacetBuilder(folder)
    for (line,) in database.execute("SELECT product FROM products ORDER BY row"):
        facets.add(decode_product(line))
    facets.finish()


def _usual_currency(database: sqlite3.Connection, previous: Path | None) -> str | None:
    """The previous catalogue's currency, else the one that most products have."""
    if previous is not None and (known := read_about(previous)["currency"]):
        return known
    query = "SELECT currency FROM products WHERE currency IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
    found = database.execute(query).fetchone()
    return str(found[0]) if found else None


def _flush_to_disk(paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            handle = os.open(path, os.O_RDONLY)
        except OSError:  # a folder cannot be opened on Windows, and need not be
            continue
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
