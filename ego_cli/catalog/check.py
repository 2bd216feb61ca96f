"""Is a stored catalogue whole? Reads everything, writes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np

from ego_cli.catalog.lexical import LexicalIndex
from ego_cli.catalog.store import (
    REBUILD_HINT,
    Catalogue,
    Finding,
    connect,
    read_about,
    stale_because,
)
from ego_cli.catalog.stored import decode_product
from ego_cli.catalog.text import full_text_query
from ego_cli.errors import CatalogueError

COMPARED_TERMS = 50  # terms whose scores are compared with those of FTS5


def check_file(path: Path) -> Iterator[Finding]:
    """The findings for one catalogue file; stops at the first error that makes the rest meaningless."""
    try:
        about = read_about(path)
        size = int(about["size"])
        with closing(connect(path)) as database:
            yield from _check_database(database, size)
    except (CatalogueError, sqlite3.DatabaseError, KeyError, ValueError) as error:
        yield Finding("error", f"the file is damaged: {error}; {REBUILD_HINT}")
        return
    folder = path.with_name(f"{path.stem}.{about['generation']}")
    if reason := stale_because(folder, size):
        yield Finding("warning", f"{reason}: searches are right but slow; {REBUILD_HINT}")
    try:
        catalogue = Catalogue(path)
    except CatalogueError as error:
        yield Finding("error", str(error))
        return
    with closing(catalogue):
        for column, values in catalogue.columns.items():
            if len(values) != size:
                yield Finding(
                    "error", f"array {column} has {len(values)} values for {size} products; {REBUILD_HINT}"
                )
        if isinstance(catalogue.lexical, LexicalIndex):
            yield from _compare_scores(catalogue.lexical, path)


def _check_database(database: sqlite3.Connection, size: int) -> Iterator[Finding]:
    for (message,) in database.execute("PRAGMA quick_check(5)"):
        if message != "ok":
            yield Finding("error", f"SQLite: {message}; {REBUILD_HINT}")
    found, last = database.execute("SELECT count(*), coalesce(max(row), 0) FROM products").fetchone()
    indexed = database.execute("SELECT count(*) FROM fulltext_docsize").fetchone()[0]
    if not size == found == last == indexed:
        yield Finding("error", f"{size} products noted, {found} stored, {indexed} indexed; {REBUILD_HINT}")
        return
    for (line,) in database.execute("SELECT product FROM products"):
        decode_product(line)
    yield Finding("ok", f"{size:,} products, all readable")


def _compare_scores(lexical: LexicalIndex, path: Path) -> Iterator[Finding]:
    with closing(connect(path)) as database:
        counted = dict(database.execute("SELECT term, doc FROM vocabulary"))
        if counted != dict(lexical.vocabulary):
            yield Finding(
                "error", f"the search cache and the full-text index hold different terms; {REBUILD_HINT}"
            )
            return
        step = max(1, len(counted) // COMPARED_TERMS)
        for term in islice(sorted(counted), 0, None, step):
            query = full_text_query([term]).match
            best = database.execute(
                "SELECT rowid - 1, -rank FROM fulltext WHERE fulltext MATCH ? ORDER BY rank, rowid LIMIT 10",
                (query,),
            )
            expected = best.fetchall()
            rows, scores = lexical.search([term], k=10)
            if rows.tolist() != [row for row, _ in expected] or not np.allclose(
                scores, [s for _, s in expected], rtol=1e-12
            ):
                yield Finding(
                    "error", f"the search cache ranks {term!r} unlike the full-text index; {REBUILD_HINT}"
                )
                return
    yield Finding("ok", f"{len(counted):,} search terms, scores equal to FTS5's")
