"""A catalogue on disk: one SQLite file, and beside it a folder of arrays made from it.

    <data>/catalogs/<name>.db                 products (as JSON), full-text index, what it was made from
    <data>/catalogs/<name>.<generation>/      impacts, facets, columns: memory-mapped, made anew by every load

A catalogue file is never written after the load that made it (``build.py``), so it is opened as immutable: readers take no
locks and keep their generation while another process loads the next one. The row of a product is its place, 0..n-1; in
SQLite the ``rowid`` of products and of the full-text index is row + 1.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import sqlite3
import tempfile
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy.typing as npt

from ego_cli.catalog import text
from ego_cli.catalog.facets import SINGLE, Facets
from ego_cli.catalog.fulltext import FullTextFallback
from ego_cli.catalog.lexical import FIELDS, Lexical, LexicalIndex, Mask, Rows, Scores, mapped
from ego_cli.catalog.product import Product
from ego_cli.catalog.stored import decode_product
from ego_cli.errors import CatalogueError, MisuseError, NotFoundError
from ego_cli.settings import (
    demo_catalogue_file,
    load_settings,
    private_folder,
    user_cache_folder,
    user_data_folder,
)

DEMOS = ("naija", "boutique")
PRODUCTS_KEPT = 4096  # decoded products held in memory per catalogue
REBUILD_HINT = "load it again"
GENERATION = re.compile(r"[0-9a-f]{16}")
_BATCH = 512  # products decoded at a time when all are read
_NAME = re.compile(r"[\w][\w.-]{0,63}")
BESIDE = ("signals", "vectors")  # <name>.<one of these>.db belongs to the catalogue <name> and is none itself

# Stage ("reading", "indexing", "ranking" or "saving"), products done, products in all or None.
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did. ``loaded`` products came in, ``merged`` of them replaced one with the same id; ``skipped`` had no
    title or no id. ``seconds`` is wall time."""

    loaded: int
    skipped: int
    merged: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check. ``severity`` is "ok", "warning" (works, but slower or poorer) or "error"."""

    severity: str
    message: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A catalogue in a list; ``products`` and ``currency`` are None while they are not known."""

    name: str
    products: int | None
    currency: str | None
    source: str
    path: Path


# --- the tables -----------------------------------------------------------------------------------------------------

_SCHEMA = f"""
CREATE TABLE products (
  row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, brand TEXT, category TEXT,
  price REAL, currency TEXT, rating REAL, rating_count INTEGER NOT NULL, product TEXT NOT NULL);
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE VIRTUAL TABLE fulltext USING fts5({", ".join(FIELDS)}, content='', tokenize='{text.TOKENIZER}');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(fulltext, 'row');
"""
# A catalogue of an older form is made anew from its products, so one name says all about a file's form.
MIGRATIONS: Mapping[str, str] = {"0001 products, about, full text": _SCHEMA}


# --- opening --------------------------------------------------------------------------------------------------------


class Catalogue(Sequence[Product]):
    """One generation of a catalogue, open for reading; safe to use from several threads. A sequence of its products.

    ``columns`` maps names to arrays with a value a row: price and price_max (float64, NaN = not listed), price_ambiguous
    (bool), rating (float32, NaN = nobody rated), rating_count (int32), brand, leaf and path (int32 codes: places in
    ``facets.values("brand" | "leaf" | "path")``, -1 = none), and what other modules add at load.
    ``lexical`` is the search index: precomputed impacts, or FTS5 itself when these cannot be used (``stale``).
    """

    def __init__(self, path: Path, folder: Path | None = None) -> None:
        about = read_about(path)
        self.path = path
        self.name: str = about["name"]
        self.currency: str | None = about["currency"] or None
        self.source: str = about["source"]
        self.generation: str = about["generation"]
        self.size = int(about["size"])
        self.folder = folder or path.with_name(f"{path.stem}.{self.generation}")
        self._database = connect(path)
        self._lock = threading.Lock()
        self._products: OrderedDict[int, Product] = OrderedDict()
        try:
            self.facets = Facets(self.folder)
            columns = {
                file.name[len("column.") : -len(".npy")]: mapped(file)
                for file in self.folder.glob("column.*.npy")
            }
        except (OSError, ValueError) as error:
            raise CatalogueError(
                f"the arrays of catalogue {self.name!r} are gone or damaged", hint=REBUILD_HINT
            ) from error
        self.columns: dict[str, npt.NDArray[Any]] = columns | {
            name: self.facets.codes(name) for name in SINGLE
        }
        self.stale = stale_because(self.folder, self.size)
        self.lexical: Lexical
        if self.stale is None:
            self.lexical = LexicalIndex(self.folder)
        else:
            self.lexical = FullTextFallback(self._database, self._lock, self.size, field_weights())

    def __len__(self) -> int:
        return self.size

    def product(self, row: int) -> Product:
        """The product at ``row``. Raises ``IndexError`` outside 0..size-1."""
        return self.products((row,))[0]

    def products(self, rows: Iterable[int]) -> list[Product]:
        """The products at ``rows``, in that order."""
        wanted = [int(row) for row in rows]
        with self._lock, self._readable():
            kept = self._products
            found = []
            for row in wanted:
                product = kept.get(row)
                if product is None:
                    product = kept[row] = decode_product(
                        self._one("SELECT product FROM products WHERE row = ?", row)
                    )
                else:
                    kept.move_to_end(row)
                found.append(product)
            while len(kept) > PRODUCTS_KEPT:
                kept.popitem(last=False)
        return found

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """A file that was damaged while it is open is one clear line, not a defect of ours."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise CatalogueError(
                f"catalogue {self.name!r} can no longer be read: {error}", hint=REBUILD_HINT
            ) from error

    def _one(self, query: str, row: int) -> str:
        found = self._database.execute(query, (row + 1,)).fetchone()
        if found is None:
            raise IndexError(f"row {row} of {self.size}")
        return str(found[0])

    @overload
    def __getitem__(self, row: int) -> Product: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Product]: ...
    def __getitem__(self, row: int | slice) -> Product | Sequence[Product]:
        if isinstance(row, slice):
            return self.products(range(self.size)[row])
        return self.product(range(self.size)[row])

    def __iter__(self) -> Iterator[Product]:
        """Every product in row order; none is kept in memory."""
        for start in range(0, self.size, _BATCH):
            with self._lock, self._readable():
                batch = self._database.execute(
                    "SELECT product FROM products WHERE row > ? AND row <= ? ORDER BY row",
                    (start, start + _BATCH),
                ).fetchall()
            yield from (decode_product(line) for (line,) in batch)

    def row_of(self, product_id: str) -> int | None:
        """The row of a product id, or None."""
        with self._lock, self._readable():
            found = self._database.execute("SELECT row FROM products WHERE id = ?", (product_id,)).fetchone()
        return None if found is None else int(found[0]) - 1

    def id_of(self, row: int) -> str:
        """The id of the product at ``row``. Raises ``IndexError`` outside 0..size-1."""
        with self._lock, self._readable():
            return self._one("SELECT id FROM products WHERE row = ?", int(row))

    def search(self, words: str, *, k: int = 10, mask: Mask | None = None) -> tuple[Rows, Scores]:
        """Best rows for plain words: terms, their other forms, compounds. See ``LexicalIndex.search``."""
        return self.lexical.search(self.lexical.expand(text.query_terms(words)), k=k, mask=mask)

    def close(self) -> None:
        """Give the file back; the object is of no use afterwards. Arrays that were handed out stay valid."""
        with _open_lock:
            for path in [path for path, (_, catalogue) in _open.items() if catalogue is self]:
                del _open[path]  # whoever opens it next needs another
        self._database.close()


def field_weights() -> dict[str, float]:
    """The configured weight of each searched field. Raises ``MisuseError`` for one that weighs nothing a sum can hold."""
    search = load_settings().search
    weights = {field: float(getattr(search, field)) for field in FIELDS}
    for field, weight in weights.items():
        if not 0 <= weight < math.inf:
            raise MisuseError(f"search.{field} is {weight}", hint="a weight is a number from 0 upwards")
    return weights


def stale_because(folder: Path, size: int) -> str | None:
    """Why the precomputed impacts in ``folder`` cannot be used; None when they can."""
    try:
        about = json.loads((folder / "lexical.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "the search cache is missing"
    if about.get("rows") != size:
        return f"the search cache has {about.get('rows')} rows, the catalogue {size}"
    if about.get("weights") != field_weights():
        return "the search cache was made with other field weights"
    if missing := [name for name in LexicalIndex.FILES if not (folder / name).is_file()]:
        return f"the search cache lacks {missing[0]}"
    return None


def connect(path: Path) -> sqlite3.Connection:
    """A reader of a finished catalogue file."""
    if not path.is_file():
        raise NotFoundError(f"no catalogue at {path}")
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)


def read_about(path: Path) -> dict[str, str]:
    """Name, currency, source, fingerprint, generation and size of a catalogue file, without opening its arrays.

    Raises ``CatalogueError`` for a file that is no catalogue or one made by a newer ego.
    """
    database = connect(path)
    try:
        about = dict(database.execute("SELECT key, value FROM about").fetchall())
        applied = [row[0] for row in database.execute("SELECT name FROM migrations")]
    except sqlite3.DatabaseError as error:
        raise CatalogueError(
            f"{path} is not a catalogue of ego: {error}", hint="remove it and load it again"
        ) from error
    finally:
        database.close()
    if newer := [name for name in applied if name not in MIGRATIONS]:
        raise CatalogueError(
            f"{path} was made by a newer ego ({newer[0]})", hint="upgrade ego, or load it again"
        )
    return about


# --- catalogues of this user ----------------------------------------------------------------------------------------


def catalogues_folder() -> Path:
    """Where the catalogues of this user stand."""
    return user_data_folder() / "catalogs"


def path_of(name: str) -> Path:
    """The file of the catalogue ``name``, which need not exist. Raises ``MisuseError`` for what cannot be a name."""
    if not _NAME.fullmatch(name):
        raise MisuseError(
            f"{name!r} cannot name a catalogue", hint="use letters, digits, dots and dashes, at most 64"
        )
    if _stands_beside(name):
        raise MisuseError(
            f"{name!r} cannot name a catalogue", hint=f"choose one without the ending {name[-8:]!r}"
        )
    return catalogues_folder() / f"{name}.db"


def _stands_beside(name: str) -> bool:
    return name.rpartition(".")[2] in BESIDE and "." in name


_open: dict[Path, tuple[tuple[int, int], Catalogue]] = {}
_open_lock = threading.Lock()


def _opened(path: Path) -> Catalogue:
    """The catalogue at ``path``, opened once for each generation."""
    with _open_lock:
        for attempt in (1, 2):
            try:
                status = path.stat()
            except OSError as error:
                raise NotFoundError(f"no catalogue at {path}") from error
            stamp = (status.st_ino, status.st_mtime_ns)
            known = _open.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            try:
                catalogue = Catalogue(path)
            except CatalogueError:
                if attempt == 2:
                    raise
                continue  # another process may have put a new generation in its place meanwhile
            _open[path] = (stamp, catalogue)
            return catalogue
    raise AssertionError("unreachable")


def open_catalogue(name_or_path: str | Path) -> Catalogue:
    """Open a catalogue by name, by its ``.db`` file, or straight from a product file; a bare name is first a catalogue's,
    then that of a file in the current folder.

    An embedded demo and a product file are indexed at first use (the latter into the cache folder), and again when the file
    has changed. Raises ``NotFoundError`` for an unknown name, ``CatalogueError`` for a file that cannot be used.
    """
    given = str(name_or_path)
    is_path = isinstance(name_or_path, Path) or "/" in given or os.sep in given
    if is_path or (not _is_stored(given) and Path(given).is_file()):
        file = Path(given).expanduser()
        return _opened(file if file.suffix == ".db" else _index_of(file))
    path = path_of(given)
    if given in DEMOS and not _is_users_own(path):
        refresh(path, demo_catalogue_file(f"{given}.jsonl"), given)
    if not path.is_file():
        known = ", ".join(entry.name for entry in list_catalogues())
        neither = " and no such file in this folder" if Path(given).suffix else ""
        raise NotFoundError(
            f"no catalogue named {given!r}{neither}",
            hint=f"there are: {known}" if known else "`ego catalog add FILE` adds one",
        )
    return _opened(path)


def _is_stored(name: str) -> bool:
    """Whether a catalogue of that name stands in the catalogue folder, or comes with ego."""
    return name in DEMOS or (
        _NAME.fullmatch(name) is not None and not _stands_beside(name) and path_of(name).is_file()
    )


def _is_users_own(path: Path) -> bool:
    """Whether a catalogue under a demo's name was loaded by the user, who then keeps it."""
    try:
        return path.is_file() and not read_about(path)["fingerprint"]
    except CatalogueError:
        return False


def _index_of(file: Path) -> Path:
    """The index of a product file, in the cache folder, made or made anew if need be."""
    if not file.exists():
        raise NotFoundError(f"no such file: {file}")
    key = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:10]
    stem = re.sub(r"[^\w-]+", "-", file.stem)[:40] or "file"
    path = private_folder(user_cache_folder() / "catalogs") / f"{stem}-{key}.db"
    refresh(path, file, stem)
    return path


def refresh(path: Path, file: Path, name: str) -> None:
    """Load the product file ``file`` into ``path`` unless that was done already: compared by size and time, then content."""
    try:
        status = file.stat()
    except OSError as error:
        raise CatalogueError(f"cannot read {file}: {error.strerror}") from error
    stamp = f"{status.st_size}:{status.st_mtime_ns}"
    noted = path.with_suffix(".stamp")
    if path.is_file() and _usable(path):
        if noted.is_file() and noted.read_text() == stamp:
            return
        if read_about(path)["fingerprint"] == _fingerprint(file):
            noted.write_text(stamp)
            return
    from ego_cli.catalog.readers import collapse, read_products

    reading = read_products(file)
    _load(
        path,
        name,
        collapse(reading),
        currency=reading.currency,
        source=str(file),
        fingerprint=_fingerprint(file),
        update=False,
    )
    noted.write_text(stamp)


def _usable(path: Path) -> bool:
    try:
        about = read_about(path)
    except CatalogueError:
        return False
    return stale_because(path.with_name(f"{path.stem}.{about['generation']}"), int(about["size"])) is None


def _fingerprint(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def list_catalogues() -> list[Entry]:
    """The user's catalogues and the demos, by name. A demo that was never opened has no products yet (None)."""
    found: dict[str, Entry] = {}
    for name in DEMOS:
        if demo_catalogue_file(f"{name}.jsonl").is_file():
            found[name] = Entry(name, None, None, str(demo_catalogue_file(f"{name}.jsonl")), path_of(name))
    for path in sorted(catalogues_folder().glob("*.db")):
        if _stands_beside(path.stem):
            continue
        try:
            about = read_about(path)
        except CatalogueError:
            found[path.stem] = Entry(path.stem, None, None, "cannot be read", path)
            continue
        found[path.stem] = Entry(
            path.stem, int(about["size"]), about["currency"] or None, about["source"], path
        )
    return [found[name] for name in sorted(found)]


def memory_catalogue(
    products: Iterable[Product], currency: str | None = None, name: str = "memory"
) -> Catalogue:
    """A catalogue that lasts as long as the object: same code, in a temporary folder. It may be empty."""
    from ego_cli.catalog.build import build

    folder = Path(tempfile.mkdtemp(prefix="ego-catalogue-"))
    try:
        build(
            folder / "memory.db",
            name,
            products,
            currency=currency,
            source="memory",
            durable=False,
            ranking=False,
        )
        catalogue = Catalogue(folder / "memory.db")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(catalogue, shutil.rmtree, folder, ignore_errors=True)
    return catalogue


def load_catalogue(
    name: str,
    products: Iterable[Product],
    *,
    currency: str | None,
    source: str,
    progress: Progress | None = None,
    update: bool = True,
) -> LoadReport:
    """Load ``products`` into the catalogue ``name``; with ``update``, products already there stay and equal ids are replaced.

    ``currency`` None: the previous one, else what most products have. Atomic: whatever happens before the end, the previous
    catalogue stays whole. Raises ``CatalogueError`` when there is no product to load or another process is loading it.
    """
    return _load(
        path_of(name),
        name,
        products,
        currency=currency,
        source=source,
        fingerprint="",
        update=update,
        progress=progress,
    )


def _load(
    path: Path,
    name: str,
    products: Iterable[Product],
    *,
    currency: str | None,
    source: str,
    fingerprint: str,
    update: bool,
    progress: Progress | None = None,
) -> LoadReport:
    from ego_cli.catalog.build import build, only_loader, sweep

    try:
        private_folder(path.parent)
        with only_loader(path):
            if update and path.is_file():
                read_about(path)  # what cannot be read cannot be added to
            sweep(path)
            report = build(
                path,
                name,
                products,
                currency=currency,
                source=source,
                fingerprint=fingerprint,
                previous=path if update and path.is_file() else None,
                progress=progress,
            )
            sweep(path)
    except (OSError, sqlite3.OperationalError) as error:  # a full disk, a folder that may not be written
        reason = getattr(error, "strerror", None) or error
        raise CatalogueError(f"cannot write the catalogue {name!r} in {path.parent}: {reason}") from error
    return report


def rebuild_catalogue(name: str, *, progress: Progress | None = None) -> LoadReport:
    """Make the index and the arrays of a catalogue anew from its stored products, such as after a change of field weights."""
    path = path_of(name)
    about = read_about(path)
    return _load(
        path,
        name,
        (),
        currency=about["currency"] or None,
        source=about["source"],
        fingerprint=about["fingerprint"],
        update=True,
        progress=progress,
    )


def remove_catalogue(name: str) -> None:
    """Delete a catalogue. Raises ``NotFoundError`` when there is none of that name."""
    from ego_cli.catalog.build import only_loader

    path = path_of(name)
    if not path.is_file():
        raise NotFoundError(f"no catalogue named {name!r}")
    with only_loader(path):
        path.unlink()
        for leftover in path.parent.glob(f"{path.stem}.*"):
            if leftover.is_dir() and GENERATION.fullmatch(leftover.name.removeprefix(f"{path.stem}.")):
                shutil.rmtree(leftover, ignore_errors=True)
        for pattern in ("stamp", *(f"{beside}.db*" for beside in BESIDE), "[0-9]*.f16"):
            for leftover in path.parent.glob(f"{path.stem}.{pattern}"):
                leftover.unlink(missing_ok=True)
    with _open_lock:
        _open.pop(path, None)


def check_catalogue(name: str) -> list[Finding]:
    """What is right and what is wrong with the catalogue ``name``. Raises ``NotFoundError`` when there is none."""
    from ego_cli.catalog.check import check_file

    path = path_of(name)
    if not path.is_file():
        raise NotFoundError(f"no catalogue named {name!r}")
    return list(check_file(path))
