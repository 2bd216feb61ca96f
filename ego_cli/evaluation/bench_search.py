"""Search speed: precomputed impacts against FTS5's own ``bm25()``, on the same catalogue, query by query in turn.

The corpus has a Zipf vocabulary; queries are OR queries of 2 to 6 terms that match about 40 % of the rows. Both must give
the same ten rows in the same order (ties by row). Ratios are what to read: the times depend on the machine and its load.
"""

from __future__ import annotations

import gc
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ego_cli.catalog import text
from ego_cli.catalog.build import build
from ego_cli.catalog.impacts import ImpactBuilder
from ego_cli.catalog.lexical import LexicalIndex
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import Catalogue, connect, field_weights, read_about
from ego_cli.catalog.stored import search_fields
from ego_cli.settings import private_folder, user_cache_folder

WORDS = 60_000  # distinct words of the corpus
ZIPF_EXPONENT, ZIPF_SHIFT = (
    1.05,
    2.7,
)  # Mandelbrot's form: weight of the r-th word is 1 / (r + shift) ** exponent
QUERIES = 200
SHORTEST, LONGEST = 2, 6  # terms a query
MATCHED = (0.3, 0.5)  # share of rows that a query's terms may match; the middle is what we aim at
ROUNDS, ROUNDS_IF_LARGE, LARGE = (
    7,
    3,
    200_000,
)  # a query's time is its median over so many turns; fewer from LARGE rows on
TOP = 10
SEED = 11


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds a query."""

    p50: float
    p99: float


@dataclass(frozen=True, slots=True)
class SearchBench:
    """One run. ``identical`` of ``queries`` had the same top ten; ``matched`` is the mean share of rows an OR matches."""

    rows: int
    queries: int
    identical: int
    matched: float
    fts5: Timing
    impacts: Timing
    build_s: float
    cache_build_s: float
    open_ms: float
    peak_mb: float

    @property
    def ratios(self) -> dict[str, float]:
        """How many times faster the impacts are."""
        return {"p50": self.fts5.p50 / self.impacts.p50, "p99": self.fts5.p99 / self.impacts.p99}


def products(rows: int, seed: int = SEED) -> Iterator[Product]:
    """A corpus with the lengths of shop pages and words drawn from a Zipf distribution."""
    luck = np.random.default_rng(seed)
    weights = 1.0 / (np.arange(1, WORDS + 1) + ZIPF_SHIFT) ** ZIPF_EXPONENT
    edges = np.cumsum(weights / weights.sum())
    names = [f"w{number}" for number in range(WORDS)]
    for start in range(0, rows, 1000):
        some = min(1000, rows - start)
        drawn = iter(np.minimum(np.searchsorted(edges, luck.random(some * 110)), WORDS - 1).tolist())
        described = (luck.random(some) < 0.52).tolist()

        def words(number: int, drawn: Iterator[int] = drawn) -> str:
            return " ".join(names[next(drawn)] for _ in range(number))

        for place in range(some):
            yield Product(
                id=f"z{start + place}",
                title=words(9),
                categories=(words(2), words(2)),
                features=tuple(words(8) for _ in range(5)),
                details={"a": words(3), "b": words(4)},
                store=words(1),
                description=words(34) if described[place] else "",
            )


def queries(index: LexicalIndex, number: int, seed: int = SEED) -> list[list[str]]:
    """Queries whose terms, joined by OR, match about 40 % of the rows: half common words, half rarer ones."""
    luck = np.random.default_rng(seed)
    listed = list(index.vocabulary.items())
    terms = [term for term, _ in listed]
    df = np.array([count for _, count in listed], dtype=np.float64)
    draw = np.sqrt(df) * (df < 0.5 * index.size)
    draw /= draw.sum()
    found: list[list[str]] = []
    while len(found) < number:
        size = int(luck.integers(SHORTEST, LONGEST + 1))
        picked = [terms[n] for n in luck.choice(len(terms), size=size, replace=False, p=draw)]
        if MATCHED[0] <= _share(index, picked) <= MATCHED[1]:
            found.append(picked)
    return found


def _share(index: LexicalIndex, terms: list[str]) -> float:
    hit = np.zeros(index.size, dtype=bool)
    for term in terms:
        hit[index.postings(term)] = True
    return float(hit.mean())


def run(rows: int, progress: Callable[[int, int | None], None]) -> SearchBench:
    """Build (or reuse) the corpus of ``rows`` products and time both ways of searching it."""
    path = _corpus(rows, progress)
    began = time.perf_counter()
    catalogue = Catalogue(path)
    open_ms = (time.perf_counter() - began) * 1000
    index = catalogue.lexical
    assert isinstance(index, LexicalIndex), catalogue.stale
    asked = queries(index, QUERIES)
    times: dict[str, list[list[float]]] = {"fts5": [], "impacts": []}
    identical = 0
    with closing(connect(path)) as database:
        gc.disable()
        try:
            for place, terms in enumerate(asked):
                match = text.full_text_query(terms).match
                for way in times.values():
                    way.append([])
                for _ in range(ROUNDS if rows < LARGE else ROUNDS_IF_LARGE):
                    began = time.perf_counter()
                    theirs = database.execute(_FTS5, (match, TOP)).fetchall()
                    middle = time.perf_counter()
                    rows_found, scores = index.search(terms, k=TOP)
                    ended = time.perf_counter()
                    times["fts5"][-1].append((middle - began) * 1000)
                    times["impacts"][-1].append((ended - middle) * 1000)
                identical += [row for row, _ in theirs] == rows_found.tolist() and np.allclose(
                    [score for _, score in theirs], scores, rtol=1e-12
                )
                progress(place + 1, len(asked))
        finally:
            gc.enable()
    return SearchBench(
        rows=rows,
        queries=len(asked),
        identical=identical,
        matched=float(np.mean([_share(index, terms) for terms in asked])),
        fts5=_timing(times["fts5"]),
        impacts=_timing(times["impacts"]),
        build_s=float((path.parent / "build_s").read_text()),
        cache_build_s=_cache_build(catalogue),
        open_ms=open_ms,
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


# The table's default rank is bm25() with the configured weights.
_FTS5 = "SELECT rowid - 1, -rank FROM fulltext WHERE fulltext MATCH ? ORDER BY rank, rowid LIMIT ?"


def _timing(by_query: list[list[float]]) -> Timing:
    medians = [float(np.median(turns)) for turns in by_query]
    return Timing(float(np.percentile(medians, 50)), float(np.percentile(medians, 99)))


def _corpus(rows: int, progress: Callable[[int, int | None], None]) -> Path:
    """The corpus as a catalogue in the cache folder, built if it is not there."""
    folder = private_folder(user_cache_folder() / "bench" / f"search-{rows}")
    path = folder / "zipf.db"
    if path.is_file() and Catalogue(path).stale is None and read_about(path)["fingerprint"] == _fingerprint():
        return path
    shutil.rmtree(folder)
    private_folder(folder)
    began = time.perf_counter()
    build(
        path,
        "zipf",
        products(rows),
        currency=None,
        source="bench",
        fingerprint=_fingerprint(),
        ranking=False,
        progress=lambda stage, done, total: progress(done, total),
    )
    (folder / "build_s").write_text(f"{time.perf_counter() - began:.3f}")
    return path


def _fingerprint() -> str:
    return f"{WORDS} {ZIPF_EXPONENT} {ZIPF_SHIFT} {SEED}"


def _cache_build(catalogue: Catalogue) -> float:
    """CPU seconds to make the impacts from the stored products, tokenising them included."""
    folder = Path(tempfile.mkdtemp(prefix="ego-bench-"))
    try:
        builder = ImpactBuilder(folder, field_weights())
        spent = 0.0
        for product in catalogue:
            began = time.process_time()
            builder.add_lines(search_fields(product))
            spent += time.process_time() - began
        began = time.process_time()
        builder.finish()
        return spent + time.process_time() - began
    finally:
        shutil.rmtree(folder, ignore_errors=True)
