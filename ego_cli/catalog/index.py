"""All that ranking reads of a catalogue besides its search index: statements, kinds, signals, features.

Built once a generation (by the load, or by the first question) into ``<generation folder>/ranking`` and memory-mapped
afterwards.
"""

from __future__ import annotations

import gc
import hashlib
import io
import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.avoidances import avoidances, listed_states
from ego_cli.catalog.collaborative import Neighbours, neighbours_of
from ego_cli.catalog.enrich import signal_matrix
from ego_cli.catalog.evidence import Evidence
from ego_cli.catalog.evidence_reader import EvidenceReader
from ego_cli.catalog.facets import FacetBuilder, Facets
from ego_cli.catalog.features import FeatureReader, Features
from ego_cli.catalog.kinds import TypeIndex, TypeReader, colour_stems
from ego_cli.catalog.product import Product
from ego_cli.catalog.stored import decode_product
from ego_cli.errors import CatalogueError
from ego_cli.settings import data_file

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue

ASIDE_FROM = 2_000  # products from which a process of its own pays for its start
FOLDER = "ranking"  # below the folder of a catalogue's generation
LISTS = ("taxonomy.toml", "claims.toml", "colours.toml", "stems.toml", "units.toml")  # read while building
FORMAT = 5  # of this folder; another number means: build anew


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class RankingIndex:
    """Arrays have one entry a row. ``signals`` columns are ``enrich.signal_kinds()``; ``listed`` columns are
    ``avoidances.avoidances()`` with values of ``avoidances.Listed``."""

    evidence: Evidence
    types: TypeIndex
    signals: NDArray[np.bool_]
    listed: NDArray[np.int8]
    features: Features
    fingerprint: NDArray[np.int64]  # equal for products that say the same in every word
    family: NDArray[np.int64]  # equal for products whose titles differ in nothing but colours and amounts
    facets: Facets
    neighbours: Neighbours | None = None  # None: nobody's tastes are known


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Look for garbage in cycles only now and then: a load makes hardly any, and looking costs it a tenth of its time."""
    usual = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


class IndexReader:
    """Reads products row by row and writes what ranking needs, and ``facets`` if they are wanted; memory holds numbers and
    titles, not products."""

    def __init__(self, facets: FacetBuilder | None = None) -> None:
        self._facets = facets
        self._evidence = EvidenceReader()
        self._types = TypeReader()
        self._features = FeatureReader()
        self._listed = bytearray()

    def add(self, product: Product) -> None:
        """The next row (about 0.15 ms)."""
        if self._facets is not None:
            self._facets.add(product)
        self._evidence.add(product)
        self._types.add(product)
        self._features.add(product)
        self._listed.extend(listed_states(product))

    def write(self, folder: Path, order: NDArray[np.int32] | None = None) -> None:
        """Write the index of all rows that were added; with ``order`` of those only, in that order (numbers of ``add`` calls).
        ``folder`` appears whole or not at all."""
        if self._facets is not None:
            self._facets.finish(order)
        new = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.new")
        new.mkdir(parents=True)
        evidence = self._evidence.finish(order)
        types = self._types.finish(evidence, order)
        signals = signal_matrix(evidence)
        whole, family = fingerprints(evidence)
        listed = np.frombuffer(bytes(self._listed), dtype=np.int8).reshape(-1, len(avoidances()))
        evidence.save(new / "evidence")
        types.save(new / "types")
        arrays: dict[str, NDArray[Any]] = {
            "signals": signals,
            "listed": listed if order is None else listed[order],
            "fingerprint": whole,
            "family": family,
        }
        found = self._features.finish(types.tag_of_row, signals, order)
        arrays |= {f"feature.{name}": getattr(found, name) for name in Features.__slots__}
        for name, values in arrays.items():
            np.save(new / f"{name}.npy", values)
        (new / "about.json").write_text(json.dumps(_made_by()))
        try:
            new.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(new, ignore_errors=True)


class IndexMaker:
    """Makes the index and the facets while a load takes products in. For many products a process of its own reads them, on
    another core; if that process fails, ``finish`` says so: the caller makes the facets, the first question makes the index.

    The products go through a file, and the process is told how far that is written: neither waits for the other.

    >>> with IndexMaker(folder) as maker:
    ...     maker.add(lines)  # products as stored, in the order in which they come
    ...     maker.finish(order)  # which of them are the rows of the catalogue
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._spool = folder / "products.spool"
        self._waiting: list[tuple[str, Product | None]] = []
        self._written: BinaryIO | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: IndexReader | None = None  # reads here

    def __enter__(self) -> IndexMaker:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._written is not None:
            self._written.close()
        self._spool.unlink(missing_ok=True)

    def add(self, lines: Sequence[str], products: Sequence[Product] = ()) -> None:
        """The next products: as stored lines and, where the caller has them decoded, as products."""
        if self._process is None:
            self._waiting += zip_longest(lines, products)
            if len(self._waiting) >= ASIDE_FROM and self._reader is None:
                lines = [line for line, _ in self._waiting]
                self._start()
            if self._reader is not None:
                self._read_waiting(self._reader)
        if self._process is not None and self._written is not None:
            self._written.write("".join(f"{line}\n" for line in lines).encode())
            self._written.flush()
            self._tell(f"{self._written.tell()}\n".encode())

    def _start(self) -> None:
        command = [sys.executable, "-m", "ego_cli.catalog.index", str(self._folder), str(self._spool)]
        self._written = self._spool.open("wb")
        try:
            if not sys.executable:
                raise OSError("no interpreter is known")
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        except OSError:  # no second process to be had: read here
            self._reader = IndexReader(FacetBuilder(self._folder))
        else:
            self._waiting.clear()

    def _read_waiting(self, reader: IndexReader) -> None:
        for line, product in self._waiting:
            reader.add(decode_product(line) if product is None else product)
        self._waiting.clear()

    def _tell(self, said: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            try:
                self._process.stdin.write(said)
                self._process.stdin.flush()
            except OSError:  # it ended early: finish() tells
                self._process.stdin = None

    def finish(self, order: NDArray[np.int32] | None = None) -> bool:
        """Wait until all is written; whether it is. ``order``: as of ``IndexReader.write``."""
        if self._process is not None:
            self._tell(b"\n" + (b"" if order is None else order.astype("<i4").tobytes()))
            self._process.communicate()
            return self._process.returncode == 0
        reader = self._reader or IndexReader(FacetBuilder(self._folder))
        self._read_waiting(reader)
        reader.write(self._folder / FOLDER, order)
        return True


def fingerprints(evidence: Evidence) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per row: a number made of all its stems, and one of its title's stems without colours and amounts.

    Sums of fixed random numbers, so the order of words does not matter.
    """
    arrays = evidence.arrays
    code = np.random.default_rng(0).integers(-(2**62), 2**62, size=len(evidence.id_of) + 1)
    colours = colour_stems()
    plain = np.array([word not in colours for word in evidence.id_of], dtype=bool) & ~evidence.is_amount
    total = np.concatenate(([0], np.cumsum(code[arrays.token])))
    titles = np.concatenate(([0], np.cumsum(code[arrays.token] * plain[arrays.token])))
    begin, end = arrays.unit_of_row[:-1], arrays.unit_of_row[1:]
    whole = total[arrays.token_of_unit[end]] - total[arrays.token_of_unit[begin]]
    family = titles[arrays.token_of_unit[begin + 1]] - titles[arrays.token_of_unit[begin]]
    return whole, family


def load(folder: Path, catalogue: Catalogue) -> RankingIndex | None:
    """Map what ``save`` wrote; None when it is missing or was made for other word lists."""
    try:
        if json.loads((folder / "about.json").read_text()) != _made_by():
            return None
        evidence = Evidence.load(folder / "evidence")
        if evidence is None:
            return None
        types = TypeIndex.load(folder / "types", evidence)
        found = Features(**{name: _mapped(folder / f"feature.{name}.npy") for name in Features.__slots__})
        signals, listed = _mapped(folder / "signals.npy"), _mapped(folder / "listed.npy")
        whole, family = _mapped(folder / "fingerprint.npy"), _mapped(folder / "family.npy")
        neighbours = neighbours_of(catalogue)
        return RankingIndex(
            evidence, types, signals, listed, found, whole, family, catalogue.facets, neighbours
        )
    except (OSError, ValueError, KeyError):
        return None


@cache
def _made_by() -> dict[str, Any]:
    """What an index depends on besides the products: its format and the word lists."""
    lists = hashlib.blake2b(digest_size=16)
    for name in LISTS:
        lists.update(data_file(name).read_bytes())
    return {"format": FORMAT, "lists": lists.hexdigest()}


def _mapped(path: Path) -> NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r"))


_open: WeakKeyDictionary[Catalogue, RankingIndex] = WeakKeyDictionary()
_lock = threading.Lock()


def index_of(catalogue: Catalogue) -> RankingIndex:
    """The ranking index of an open catalogue: from memory, from its folder, or built now (0.3 ms a product)."""
    found = _open.get(catalogue)
    if found is not None:
        return found
    with _lock:
        found = _open.get(catalogue)
        if found is None:
            folder = catalogue.folder / FOLDER
            found = load(folder, catalogue)
            if found is None:
                reader = IndexReader()
                for product in catalogue:
                    reader.add(product)
                shutil.rmtree(folder, ignore_errors=True)
                reader.write(folder)
                found = load(folder, catalogue)
            if found is None:
                raise CatalogueError(f"cannot write below {catalogue.folder}")
            _open[catalogue] = found
    return found


def _make(folder: Path, spool: Path) -> None:
    """The process of ``IndexMaker``: on standard input how many bytes of ``spool`` are written, again and again, an empty
    line, and the order of the rows (32-bit numbers; none: as they came). Writes into ``folder`` only after that."""
    told: SimpleQueue[int | bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(told,), daemon=True).start()
    reader = IndexReader(FacetBuilder(folder))
    with rarely_collected(), spool.open("rb") as lines:
        while isinstance(said := told.get(), int):
            while lines.tell() < said:
                reader.add(decode_product(lines.readline().decode()))
        order = np.frombuffer(said, dtype="<i4").astype(np.int32)
        reader.write(folder / FOLDER, order if len(order) else None)


def _listen(told: SimpleQueue[int | bytes]) -> None:
    """Hand on what is said; when the load has died, end at once."""
    # Unbuffered: this thread may still wait here when the process ends, and must then hold no lock.
    stream = io.FileIO(0, closefd=False)
    for said in stream:
        if not said.strip():
            told.put(stream.read())
            return
        told.put(int(said))
    os._exit(1)


if __name__ == "__main__":
    _make(Path(sys.argv[1]), Path(sys.argv[2]))
