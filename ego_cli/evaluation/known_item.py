"""`ego eval known-item`: does a search for one known product find it, leg by leg and fused.

Queries are sentences with the product that they were written for. Every leg ranks all products; the figures are recall at
1, 10 and 100 and the mean reciprocal rank, each with a bootstrap interval, and the difference of each row to plain BM25.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ego_cli.catalog import readers
from ego_cli.catalog.build import build
from ego_cli.catalog.dense import DenseIndex, embed, open_index
from ego_cli.catalog.encoders import DEFAULT_ENCODER
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import Catalogue
from ego_cli.catalog.text import query_terms
from ego_cli.errors import CatalogueError, MisuseError, ServiceAwayError
from ego_cli.evaluation.metrics import bootstrap_interval, paired_difference
from ego_cli.ranking import rank
from ego_cli.ranking.fusion import WEIGHTS, K, fuse
from ego_cli.ranking.request import Request
from ego_cli.settings import private_folder, user_cache_folder

DEPTH = 1000  # ranks looked at; a target further down counts as missed
LISTED = 100  # ranks looked at of the whole ranking, which explains what it lists
BASELINE = "bm25"
MEASURES = ("r1", "r10", "r100", "mrr")

Ranking = Callable[[str], Sequence[int]]  # query -> rows, best first
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Query:
    """A sentence and the ids of the products that answer it."""

    text: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """One leg or fusion over all queries: measure -> (mean, low, high), and its difference in R@10 to the baseline."""

    name: str
    figures: Mapping[str, tuple[float, float, float]]
    r10_gain: tuple[float, float, float] | None = None

    def as_row(self) -> dict[str, Any]:
        """For `--json`."""
        row: dict[str, Any] = {"leg": self.name} | {
            measure: round(self.figures[measure][0], 4) for measure in MEASURES
        }
        row["intervals"] = {m: [round(v, 4) for v in self.figures[m][1:]] for m in MEASURES}
        if self.r10_gain is not None:
            row["r10_gain"] = [round(v, 4) for v in self.r10_gain]
        return row


def read_queries(path: Path, known: Iterable[str]) -> list[Query]:
    """Queries of a JSON-lines file (``q`` or ``query``; ``target``, ``targets`` or ``products``) whose products are known.

    Raises ``MisuseError`` when the file cannot be read or nothing in it can be asked.
    """
    there = set(known)
    queries = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise MisuseError(f"cannot read {path}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text = row.get("q") or row.get("query") or ""
            named = row.get("target") or row.get("targets") or row.get("products") or ()
        except (ValueError, AttributeError) as error:
            raise MisuseError(f"{path}, line {number} is not a query: {error}") from error
        targets = tuple(t for t in ([named] if isinstance(named, str) else named) if t in there)
        if text and targets:
            queries.append(Query(text, targets))
    if not queries:
        raise MisuseError(f"no query of {path} names a product of the catalogue")
    return queries


def open_haystack(products: Path, among: Sequence[Path]) -> Catalogue:
    """The products of a file with the titles of other files among them, indexed once into the cache folder."""
    stamp = hashlib.sha256()
    for path in (products, *among):
        try:
            status = path.stat()
        except OSError as error:
            raise MisuseError(f"cannot read {path}: {error.strerror}") from error
        stamp.update(f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}\n".encode())
    folder = private_folder(user_cache_folder() / "known-item")
    path = folder / f"{stamp.hexdigest()[:16]}.db"
    if not path.is_file():
        build(path, path.stem, _haystack(products, among), currency=None, source=str(products))
    return Catalogue(path)


def _haystack(products: Path, among: Sequence[Path]) -> Iterator[Product]:
    yield from readers.collapsed(readers.read_products(products))
    for path in among:
        if path.resolve() == products.resolve():
            continue
        try:
            for product in readers.collapsed(readers.read_products(path)):
                yield Product(id=f"{path.name}:{product.id}", title=product.title)
        except CatalogueError:
            continue  # a note or a licence that stands in the same folder


def run(
    catalogue: Catalogue,
    queries: Sequence[Query],
    *,
    encoder: str = DEFAULT_ENCODER,
    progress: Progress | None = None,
) -> list[Result]:
    """Every leg and fusion over the queries; ``default`` is what a shopper gets."""
    vectors = _vectors(catalogue, encoder, progress)
    rankings = legs(catalogue, vectors)
    reciprocal: dict[str, list[float]] = {name: [] for name in rankings}
    for query in queries:
        rows = {row for target in query.targets if (row := catalogue.row_of(target)) is not None}
        for name, ranking in rankings.items():
            found = (place for place, row in enumerate(ranking(query.text), 1) if row in rows)
            reciprocal[name].append(1.0 / next(found, float("inf")))
    base = [float(value >= 1 / 10) for value in reciprocal[BASELINE]]
    results = []
    for name, values in reciprocal.items():
        figures = {m: _with_interval(column) for m, column in _measures(values).items()}
        gain = None
        if name != BASELINE:
            paired = paired_difference(base, [float(value >= 1 / 10) for value in values])
            gain = (paired.difference, *paired.interval)
        results.append(Result(name, figures, gain))
    return results


def legs(catalogue: Catalogue, vectors: DenseIndex | None) -> dict[str, Ranking]:
    """Name -> ranking. Without vectors, the rows that need them are left out. Nobody reviewed these products, so the
    collaborative leg has nothing to say here."""

    def plain(text: str) -> Sequence[int]:
        return _rows(catalogue.lexical.search(query_terms(text), k=DEPTH)[0])

    def lexical(text: str) -> Sequence[int]:
        return _rows(catalogue.search(text, k=DEPTH)[0])

    def default(text: str) -> Sequence[int]:
        ranked = rank(catalogue, Request(words=text, limit=LISTED), dense=lambda: vectors)
        return [row for item in ranked.items if (row := catalogue.row_of(item.product.id)) is not None]

    def words_only(text: str) -> Sequence[int]:
        ranked = rank(catalogue, Request(words=text, limit=LISTED))
        return [row for item in ranked.items if (row := catalogue.row_of(item.product.id)) is not None]

    found: dict[str, Ranking] = {BASELINE: plain, "lexical": lexical}
    if vectors is not None:
        held = vectors

        def dense(text: str) -> Sequence[int]:
            return _rows(held.search(text, DEPTH)[0])

        def fused(weights: Mapping[str, float], k: float) -> Ranking:
            def ranking(text: str) -> Sequence[int]:
                return _rows(fuse({"lexical": lexical(text), "dense": dense(text)}, weights=weights, k=k)[0])

            return ranking

        found["dense"] = dense
        found["fused, equal weights, k = 60"] = fused({"lexical": 1.0, "dense": 1.0}, 60)
        for share in (0.5, 0.6, 0.7, 0.8):
            found[f"fused, lexical {share:g}, k = {K}"] = fused({"lexical": share, "dense": 1 - share}, K)
        found[f"fused as configured, k = {K}"] = fused(WEIGHTS, K)
    found["ranking, words only"] = words_only
    if vectors is not None:
        found["default"] = default
    return found


def _vectors(catalogue: Catalogue, encoder: str, progress: Progress | None) -> DenseIndex | None:
    try:
        embed(catalogue, progress, encoder=encoder)
        return open_index(catalogue, encoder)
    except ServiceAwayError:
        return None


def _rows(rows: Any) -> list[int]:
    return [int(row) for row in rows]


def _measures(reciprocal: Sequence[float]) -> dict[str, list[float]]:
    at = {f"r{n}": [float(value >= 1 / n) for value in reciprocal] for n in (1, 10, 100)}
    return at | {"mrr": list(reciprocal)}


def _with_interval(values: Sequence[float]) -> tuple[float, float, float]:
    return float(np.mean(values)), *bootstrap_interval(values)


def summary(results: Sequence[Result], queries: int, products: int) -> dict[str, Any]:
    """The last line of `--json`: the figures of what a shopper gets."""
    best = results[-1].as_row()
    return {measure: best[measure] for measure in MEASURES} | {
        "intervals": best["intervals"],
        "r10_gain_over_bm25": best.get("r10_gain"),
        "queries": queries,
        "products": products,
        "legs": [result.as_row() for result in results],
    }


def printed(result: Result) -> dict[str, str]:
    """A row of the table: figures with intervals, and the gain in R@10 over plain BM25."""
    cells = {"leg": result.name}
    for measure in MEASURES:
        mean, low, high = result.figures[measure]
        cells[measure] = f"{mean:.3f} [{low:.3f}, {high:.3f}]"
    gain = result.r10_gain
    cells["r10 − bm25"] = "" if gain is None else f"{gain[0]:+.3f} [{gain[1]:+.3f}, {gain[2]:+.3f}]"
    return cells
