"""Small private SQLite files: made on first use, migrated by name, opened for one piece of work and closed again."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from ego_cli.errors import ServiceAwayError
from ego_cli.places import private_folder

BUSY_TIMEOUT_S = 5.0


@contextmanager
def opened(path: Path, migrations: Mapping[str, str]) -> Iterator[sqlite3.Connection]:
    """A connection in autocommit mode to ``path`` (0600, WAL); ``migrations`` maps a name to the SQL that it runs once.

    Raises ``ServiceAwayError`` when the file cannot be used: neither a cache nor a ledger is worth a turn.
    """
    try:
        if not path.exists():
            private_folder(path.parent)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)) as db:
            _migrate(db, migrations)
            yield db
    except (sqlite3.Error, OSError) as error:
        raise ServiceAwayError(f"the file {path} cannot be used: {error}") from error


def _migrate(db: sqlite3.Connection, migrations: Mapping[str, str]) -> None:
    if db.execute("SELECT count(*) FROM sqlite_master WHERE name='migration'").fetchone()[0]:
        applied = {name for (name,) in db.execute("SELECT name FROM migration")}
        if applied >= migrations.keys():
            return
    db.execute("PRAGMA journal_mode=WAL")
    with writing(db):
        db.execute("CREATE TABLE IF NOT EXISTS migration(name TEXT PRIMARY KEY)")
        applied = {name for (name,) in db.execute("SELECT name FROM migration")}
        for name, statement in migrations.items():
            if name not in applied:
                db.execute(statement)
                db.execute("INSERT INTO migration VALUES(?)", (name,))


@contextmanager
def writing(db: sqlite3.Connection) -> Iterator[None]:
    """One transaction that holds the write lock from its beginning."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
