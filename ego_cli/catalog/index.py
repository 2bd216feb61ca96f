"""All that ranking reads of a catalogue besides its search index: statements, kinds, signals, features.

Built once a generation (by the load, or by the first question) into ``<generation folder>/ranking`` and memory-mapped
afterwards.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog import collaborative
from ego_cli.catalog.avoidances import listed_states
from ego_cli.catalog.collaborative import Neighbours
from ego_cli.catalog.enrich import signal_matrix
from ego_cli.catalog.evidence import Evidence
from ego_cli.catalog.facets import Facets
from ego_cli.catalog.features import Features, features
from ego_cli.catalog.kinds import TypeIndex, colour_stems
from ego_cli.catalog.product import Product
from ego_cli.settings import data_file

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue

FOLDER = "ranking"  # below the folder of a catalogue's generation
LISTS = ("taxonomy.toml", "claims.toml", "colours.toml", "stems.toml", "units.toml")  # read while building
FORMAT = 2  # of this folder; another number means: build anew


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


def build(products: Sequence[Product], catalogue: Catalogue) -> RankingIndex:
    """Read all products once."""
    evidence = Evidence.build(products)
    types = TypeIndex.build(products, evidence)
    signals = signal_matrix(evidence)
    listed = np.array([listed_states(p) for p in products], dtype=np.int8)
    columns = catalogue.columns
    found = features(
        products, types.tag_of_row, signals, columns["price"], columns["rating"], columns["rating_count"]
    )
    whole, family = fingerprints(evidence)
    neighbours = collaborative.load(catalogue)
    return RankingIndex(evidence, types, signals, listed, found, whole, family, catalogue.facets, neighbours)


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


def save(index: RankingIndex, folder: Path) -> None:
    """Write the index; the folder appears whole or not at all."""
    new = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}.new")
    new.mkdir(parents=True)
    index.evidence.save(new / "evidence")
    index.types.save(new / "types")
    np.save(new / "signals.npy", index.signals)
    np.save(new / "listed.npy", index.listed)
    np.save(new / "fingerprint.npy", index.fingerprint)
    np.save(new / "family.npy", index.family)
    for name in Features.__slots__:
        np.save(new / f"feature.{name}.npy", getattr(index.features, name))
    (new / "about.json").write_text(json.dumps(_made_by()))
    try:
        new.rename(folder)
    except OSError:  # another process was first
        shutil.rmtree(new, ignore_errors=True)


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
        neighbours = collaborative.load(catalogue)
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
                found = build(list(catalogue), catalogue)
                shutil.rmtree(folder, ignore_errors=True)
                save(found, folder)
            _open[catalogue] = found
    return found
