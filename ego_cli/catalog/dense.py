"""Sentence vectors of a catalogue: what a product is about, as a point, so that near in meaning is near in space.

They stand beside the catalogue, as a float16 matrix that only grows, and a small SQLite file that says which text stands in
which row of it and which model made it. A vector belongs to the *text* of a product, so an unchanged product keeps its
vector over a reload, and a run that was killed goes on where it stopped. ``encoders`` makes them, ``embedding`` makes them
while somebody chats.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.encoders import DEFAULT_ENCODER, Encoder, Vectors, load_encoder
from ego_cli.catalog.product import Product
from ego_cli.catalog.sidecar import open_sidecar
from ego_cli.errors import CatalogueError

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue

COMMIT_EVERY = 256  # texts between two commits: what a kill can cost
MAX_STALE = 0.5  # share of vectors of products that are gone, above which the file is written anew
KEY_SIZE = 16  # bytes
KEYS_FILE = "text-keys.bin"  # in the folder of a catalogue's generation: the text key of each row
WAIT_S = 1.0  # between two looks at whether another process has done embedding
MOST_THREADS = 4  # of an embedding run; more do not speed up this small a model
# Searching: up to FEW rows are compared exactly at once. Of more, all are compared by 8-bit codes first; what the codes'
# error bound cannot rule out is compared exactly. The answer is that of comparing all exactly.
FEW = 1_000
BLOCK = 1_024  # rows that are compared at a time: they fit into the processor's cache
LET_GO = 8 * BLOCK  # rows of a mapped matrix that are read before their memory is given back
ROUNDING = 1e-5  # what float32 sums of unit vectors may be off by


def product_text(product: Product) -> str:
    """What stands for a product in the space: its title, where it belongs, and its first feature lines."""
    parts = [product.title, " ".join(product.categories[-2:]), *product.features[:4]]
    return ". ".join(part for part in parts if part)[:600]


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=KEY_SIZE).digest()


def text_keys(products: Iterable[Product]) -> list[bytes]:
    """The key of each product's text, in order."""
    return [_key(product_text(product)) for product in products]


def keys_of(catalogue: Catalogue) -> list[bytes]:
    """``text_keys`` of a stored catalogue, kept beside its arrays: reading all products takes a second for 50,000."""
    path = catalogue.folder / KEYS_FILE
    try:
        kept = path.read_bytes()
    except OSError:
        kept = b""
    if len(kept) != len(catalogue) * KEY_SIZE:
        kept = b"".join(text_keys(catalogue))
        new = path.with_suffix(f".{secrets.token_hex(4)}.bin")
        try:
            new.write_bytes(kept)
            new.replace(path)
        except OSError:  # a full disk or a folder that is not ours to write: they are made again next time
            new.unlink(missing_ok=True)
    return [kept[start : start + KEY_SIZE] for start in range(0, len(kept), KEY_SIZE)]


@dataclass(frozen=True, slots=True)
class Embedded:
    """What an ``embed`` run did: texts embedded now, products whose vector stood already, vectors thrown away."""

    embedded: int
    kept: int
    removed: int
    seconds: float


_MIGRATIONS = {
    "0001 vectors": """
        CREATE TABLE model(identity TEXT NOT NULL, size INTEGER NOT NULL, generation INTEGER NOT NULL);
        CREATE TABLE vector(key BLOB PRIMARY KEY, row INTEGER NOT NULL) WITHOUT ROWID;
    """,
}


def other_model(there: str, mine: str) -> CatalogueError:
    """What is said when vectors stand there that another model made: they are never mixed."""
    return CatalogueError(
        f"this catalogue was embedded by {there}, not by {mine}",
        hint="run `ego catalog embed --again` to embed it anew",
    )


class VectorFile:
    """The vectors of one catalogue on disk: ``<stem>.vectors.db`` (model, text key -> row) and ``<stem>.<n>.f16``.

    Every write is inside ``BEGIN IMMEDIATE`` and puts the matrix rows on disk before the keys that name them, so
    a kill loses at most one commit and two processes never write the same row.
    """

    def __init__(self, catalogue_path: Path) -> None:
        self._stem = catalogue_path.with_suffix("")
        self._db = catalogue_path.with_suffix(".vectors.db")

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return open_sidecar(self._db, _MIGRATIONS)

    def _matrix_path(self, generation: int) -> Path:
        return self._stem.with_name(f"{self._stem.name}.{generation}.f16")

    def model(self) -> tuple[str, int] | None:
        """Identity and dimensions of the vectors that are there; None when there are none."""
        if not self._db.exists():
            return None
        with self._open() as db:
            row = db.execute("SELECT identity, size FROM model").fetchone()
        return (str(row[0]), int(row[1])) if row else None

    def load(self, identity: str) -> tuple[NDArray[np.float16], dict[bytes, int]] | None:
        """The memory-mapped matrix and where each text's vector stands; None unless ``identity`` made them."""
        if not self._db.exists():
            return None
        with self._open() as db:
            db.execute("BEGIN")
            head = db.execute("SELECT identity, size, generation FROM model").fetchone()
            if head is None or head[0] != identity:
                return None
            keys = {bytes(key): int(row) for key, row in db.execute("SELECT key, row FROM vector")}
        path = self._matrix_path(head[2])
        if not keys:
            return None
        if not path.exists() or path.stat().st_size < (max(keys.values()) + 1) * head[1] * 2:
            return None  # half a copy of a catalogue: as good as not embedded
        rows = path.stat().st_size // (head[1] * 2)
        return np.memmap(path, dtype=np.float16, mode="r", shape=(rows, head[1])), keys

    def begin(self, encoder: Encoder, *, again: bool) -> None:
        """Make the file ready for ``encoder``. Raises ``CatalogueError`` when another model's vectors stand there,
        unless ``again``: then they are thrown away."""
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            head = db.execute("SELECT identity, size, generation FROM model").fetchone()
            if head and head[0] == encoder.identity and head[1] == encoder.size and not again:
                db.execute("COMMIT")
                return
            if head and head[0] != encoder.identity and not again:
                db.execute("ROLLBACK")
                raise other_model(head[0], encoder.identity)
            generation = head[2] + 1 if head else 1
            db.execute("DELETE FROM model")
            db.execute("DELETE FROM vector")
            db.execute("INSERT INTO model VALUES (?, ?, ?)", (encoder.identity, encoder.size, generation))
            db.execute("COMMIT")
            if head:
                self._matrix_path(head[2]).unlink(missing_ok=True)

    def keys(self) -> set[bytes]:
        """Text keys that have a vector; none when there is no file."""
        if not self._db.exists():
            return set()
        with self._open() as db:
            return {bytes(key) for (key,) in db.execute("SELECT key FROM vector")}

    def append(self, encoder: Encoder, keys: Sequence[bytes], vectors: Vectors) -> int:
        """Add vectors of texts that have none yet; returns how many were new (another process may have been first).

        Raises ``CatalogueError`` when the file has gone with its catalogue, or is another model's by now.
        """
        if not self._db.exists():
            raise CatalogueError(f"the catalogue {self._stem.name} was removed")
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            identity, size, generation = db.execute("SELECT identity, size, generation FROM model").fetchone()
            if identity != encoder.identity or size != vectors.shape[1]:
                db.execute("ROLLBACK")
                raise CatalogueError(
                    "another model began to embed this catalogue", hint="run the command again"
                )
            count = db.execute("SELECT COALESCE(MAX(row) + 1, 0) FROM vector").fetchone()[0]
            there = {
                bytes(key)
                for key in keys
                if db.execute("SELECT 1 FROM vector WHERE key = ?", (key,)).fetchone()
            }
            new = [i for i, key in enumerate(keys) if key not in there]
            path = self._matrix_path(generation)
            with path.open("r+b" if path.exists() else "w+b") as handle:
                handle.seek(count * size * 2)
                handle.write(vectors[new].astype(np.float16).tobytes())
                handle.truncate()
                handle.flush()
                os.fsync(handle.fileno())
            db.executemany(
                "INSERT INTO vector VALUES (?, ?)", [(keys[i], count + n) for n, i in enumerate(new)]
            )
            db.execute("COMMIT")
            return len(new)

    def drop_stale(self, wanted: set[bytes]) -> int:
        """Write the file anew without vectors of texts that no product has, if they are many; returns how many went."""
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            _, size, generation = db.execute("SELECT identity, size, generation FROM model").fetchone()
            rows = [
                (bytes(key), int(row)) for key, row in db.execute("SELECT key, row FROM vector ORDER BY row")
            ]
            keep = [(key, row) for key, row in rows if key in wanted]
            if len(rows) - len(keep) <= MAX_STALE * len(rows):
                db.execute("ROLLBACK")
                return 0
            old = self._matrix_path(generation)
            shape = (old.stat().st_size // (size * 2), size)
            matrix = np.memmap(old, dtype=np.float16, mode="r", shape=shape)
            kept = np.asarray(matrix[[row for _, row in keep]])
            with self._matrix_path(generation + 1).open("wb") as handle:
                handle.write(kept.tobytes())
                handle.flush()
                os.fsync(handle.fileno())
            db.execute("DELETE FROM vector")
            db.executemany("INSERT INTO vector VALUES (?, ?)", [(key, n) for n, (key, _) in enumerate(keep)])
            db.execute("UPDATE model SET generation = ?", (generation + 1,))
            db.execute("COMMIT")
            del matrix
            old.unlink(missing_ok=True)
            return len(rows) - len(keep)


@contextmanager
def only_embedder(path: Path, meanwhile: Callable[[], None]) -> Iterator[None]:
    """Hold the embedding lock of a catalogue; while another process holds it, ``meanwhile`` is called once a second.

    It is an SQLite lock, so it works on every system and ends with its process.
    """
    beside = path.with_name(f"{path.stem}.vectors.db.lock")
    with closing(sqlite3.connect(beside, timeout=0, isolation_level=None)) as lock:
        while True:
            try:
                lock.execute("PRAGMA journal_mode = OFF")  # nothing is ever written
                lock.execute("BEGIN EXCLUSIVE")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise CatalogueError(f"cannot lock {beside}: {error}") from error
            meanwhile()
            time.sleep(WAIT_S)
        yield


def embed_products(
    path: Path,
    products: Sequence[Product],
    progress: Callable[[int, int], None] | None = None,
    *,
    encoder: Encoder | None = None,
    keys: Sequence[bytes] | None = None,
    again: bool = False,
) -> Embedded:
    """Give every product of the catalogue at ``path`` a vector; only texts that have none are embedded.

    ``progress(done, total)`` in products is called at the start and after each commit; ``keys`` are the products' text keys,
    where they are known. Safe to kill at any moment. One process embeds at a time: another waits, telling the other's
    progress. Raises ``CatalogueError`` when another model's vectors are there and not ``again``.
    """
    started = time.perf_counter()
    encoder = encoder or load_encoder()
    file = VectorFile(path)
    known = list(text_keys(products) if keys is None else keys)

    rows_of = Counter(known)  # products of one text share its vector

    def tell_of_another() -> None:
        there = file.keys()
        tell(sum(count for key, count in rows_of.items() if key in there))

    def tell(done: int) -> None:
        if progress:
            progress(done, len(known))

    with only_embedder(path, tell_of_another):
        file.begin(encoder, again=again)
        there = file.keys()
        todo: dict[bytes, int] = {}
        for row, key in enumerate(known):
            if key not in there:
                todo.setdefault(key, row)
        kept = done = sum(count for key, count in rows_of.items() if key in there)
        removed = file.drop_stale(set(known)) if there else 0
        embedded = 0
        pending = list(todo.items())
        tell(done)
        for start in range(0, len(pending), COMMIT_EVERY):
            some = pending[start : start + COMMIT_EVERY]
            vectors = encoder.encode([product_text(products[row]) for _, row in some])
            embedded += file.append(encoder, [key for key, _ in some], vectors)
            done += sum(rows_of[key] for key, _ in some)
            tell(done)
    return Embedded(embedded, kept, removed, time.perf_counter() - started)


def embed(
    catalogue: Catalogue,
    progress: Callable[[int, int], None] | None = None,
    *,
    encoder: str = DEFAULT_ENCODER,
    again: bool = False,
    threads: int = 0,
) -> Embedded:
    """``embed_products`` for a stored catalogue. ``threads``: of the bundled model; 0 = as many as make sense here."""
    model = load_encoder(encoder, threads=threads or min(MOST_THREADS, os.cpu_count() or 1))
    return embed_products(
        catalogue.path, catalogue, progress, encoder=model, keys=keys_of(catalogue), again=again
    )


def coverage(catalogue: Catalogue) -> tuple[int, str]:
    """How many products have a vector, and which model made it ("" when there is none)."""
    model = VectorFile(catalogue.path).model()
    if model is None:
        return 0, ""
    there = VectorFile(catalogue.path).keys()
    return sum(key in there for key in keys_of(catalogue)), model[0]


def open_index(catalogue: Catalogue, encoder: str = DEFAULT_ENCODER) -> DenseIndex | None:
    """The vectors of a catalogue, ready to search; None when ``encoder`` has made none. Takes half a second for 50,000
    products, and what loading the encoder takes: not in a turn."""
    if VectorFile(catalogue.path).model() is None:
        return None
    return DenseIndex.of_keys(catalogue.path, keys_of(catalogue), load_encoder(encoder))


class DenseIndex:
    """Exact search over the vectors of a catalogue. Rows are the catalogue's rows.

    ``matrix`` (any rows x dimensions, float16 memory-mapped as a rule) is read where exact numbers are needed; 8-bit codes of
    it (0.4 kB a product) stand in memory and rule out most rows before.
    """

    def __init__(
        self, encoder: Encoder, matrix: NDArray[np.floating[Any]], row_of: NDArray[np.int32]
    ) -> None:
        self.encoder = encoder
        self._rows = _reader(matrix)
        self._row_of = row_of  # catalogue row -> matrix row, -1 = none
        self._has = row_of >= 0
        self.coverage = float(self._has.mean()) if len(row_of) else 0.0
        self._codes, self._step, self._error = _quantised(matrix, row_of)
        self._cached = lru_cache(maxsize=256)(lambda text: encoder.encode([text])[0])

    @classmethod
    def of_keys(cls, path: Path, keys: Sequence[bytes], encoder: Encoder) -> DenseIndex | None:
        """The index of the catalogue at ``path`` whose rows have these text keys; None when ``encoder`` made none of it."""
        loaded = VectorFile(path).load(encoder.identity)
        if loaded is None:
            return None
        matrix, place = loaded
        return cls(encoder, matrix, np.array([place.get(key, -1) for key in keys], dtype=np.int32))

    @classmethod
    def open(cls, path: Path, products: Iterable[Product], encoder: Encoder) -> DenseIndex | None:
        """``of_keys`` for products in the order of their rows."""
        return cls.of_keys(path, text_keys(products), encoder)

    @classmethod
    def of_texts(cls, encoder: Encoder, texts: Sequence[str]) -> DenseIndex:
        """An index in memory only, for small catalogues and tests."""
        return cls(encoder, encoder.encode(texts), np.arange(len(texts), dtype=np.int32))

    def vector(self, text: str) -> Vectors:
        """The text's unit vector; the last 256 are kept."""
        vector: Vectors = self._cached(text)
        return vector

    def forget_questions(self) -> None:
        """Drop the vectors of questions that are kept: for benchmarks that ask the same twice."""
        self._cached.cache_clear()

    def similarity(self, text: str, rows: NDArray[np.integer[Any]]) -> Vectors:
        """Cosine of the text with each of ``rows``. A row without a vector gets the mean of those that have one: not having
        been embedded yet speaks neither for a product nor against it."""
        out = np.zeros(len(rows), dtype=np.float32)
        found = self._has[rows]
        if found.any():
            out[found] = self._exact(self.vector(text), rows[found])
            out[~found] = out[found].mean()
        return out

    def search(
        self, text: str, k: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.intp], Vectors]:
        """The ``k`` nearest rows inside ``mask``, nearest first, with their cosines; ties by row."""
        rows = np.flatnonzero(self._has if mask is None else self._has & mask)
        if not len(rows) or not text.strip():
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
        vector = self.vector(text)
        if len(rows) > max(FEW, k):
            rows = self._promising(vector, rows, k)
        scores = self._exact(vector, rows)
        order = np.lexsort((rows, -scores))[:k]
        return rows[order], scores[order]

    def _exact(self, vector: Vectors, rows: NDArray[np.integer[Any]]) -> Vectors:
        """Cosines row by row, so that they do not depend on what else is compared."""
        out = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), BLOCK):
            some = self._rows(self._row_of[rows[start : start + BLOCK]])
            np.vecdot(some.astype(np.float32, copy=False), vector, out=out[start : start + BLOCK])
        return out

    def _promising(self, vector: Vectors, rows: NDArray[np.intp], k: int) -> NDArray[np.intp]:
        """Those of ``rows`` that may be among the ``k`` nearest: no other can be.

        A code is at most ``error`` away from its vector, so by Cauchy and Schwarz no cosine is off by more than that.
        """
        near = np.empty(len(rows), dtype=np.float32)
        whole = len(rows) == len(self._codes)
        block = np.empty((BLOCK, self._codes.shape[1]), dtype=np.float32)
        for start in range(0, len(rows), BLOCK):
            some = slice(start, min(start + BLOCK, len(rows)))
            codes = self._codes[some] if whole else self._codes[rows[some]]
            np.copyto(block[: len(codes)], codes)
            np.vecdot(block[: len(codes)], vector, out=near[some])
        near *= self._step if whole else self._step[rows]
        error = (self._error if whole else self._error[rows]) + np.float32(ROUNDING)
        least = near - error
        reached = np.partition(least, len(least) - k)[len(least) - k]  # k rows are surely as near as this
        promising: NDArray[np.intp] = rows[near + error >= reached]
        return promising


def _quantised(
    matrix: NDArray[np.floating[Any]], row_of: NDArray[np.int32]
) -> tuple[NDArray[np.int8], Vectors, Vectors]:
    """For each catalogue row its vector as 8-bit codes, what one step of them is, and how far step · codes is off (2-norm)."""
    codes = np.zeros((len(row_of), matrix.shape[1]), dtype=np.int8)
    step = np.zeros(len(row_of), dtype=np.float32)
    error = np.zeros(len(row_of), dtype=np.float32)
    filled = np.flatnonzero(row_of >= 0)
    for start in range(0, len(filled), BLOCK):
        rows = filled[start : start + BLOCK]
        vectors = matrix[row_of[rows]].astype(np.float32, copy=False)
        width = np.maximum(np.abs(vectors).max(axis=1), np.float32(1e-9)) / np.float32(127)
        rounded = np.rint(vectors / width[:, None])
        codes[rows], step[rows] = rounded, width
        error[rows] = np.linalg.norm(vectors - rounded * width[:, None], axis=1)
        if start % LET_GO == 0:
            _let_go(matrix)
    _let_go(matrix)
    return codes, step, error


def _reader(matrix: NDArray[np.floating[Any]]) -> Callable[[NDArray[np.int32]], NDArray[np.floating[Any]]]:
    """A way to read some rows. Those of a mapped file are read from the file, where the system can: looking at a few hundred
    rows through the map would bring nearly all of it into the process's memory, page by page."""
    name = getattr(matrix, "filename", None)
    if name is None or not hasattr(os, "pread"):
        return lambda rows: np.asarray(matrix[rows])
    try:
        file = Path(name).open("rb", buffering=0)  # noqa: SIM115 - open as long as the index is
    except OSError:  # thrown away since it was mapped: the map still holds it
        return lambda rows: np.asarray(matrix[rows])
    size = matrix.shape[1] * matrix.dtype.itemsize

    def read(rows: NDArray[np.int32]) -> NDArray[np.floating[Any]]:
        number = file.fileno()
        found = b"".join([os.pread(number, size, row * size) for row in rows.tolist()])
        return np.frombuffer(found, dtype=matrix.dtype).reshape(len(rows), -1)

    return read


def _let_go(matrix: NDArray[np.floating[Any]]) -> None:
    """Unmap the pages of a mapped file that were read; they come back when they are asked for."""
    mapped: mmap.mmap | None = getattr(matrix, "_mmap", None)
    if mapped is not None and hasattr(mapped, "madvise"):
        mapped.madvise(mmap.MADV_DONTNEED)
