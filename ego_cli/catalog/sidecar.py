"""Small SQLite files beside a catalogue, written by several processes: made whole, in WAL mode, readable by their owner only."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ego_cli.errors import CatalogueError

BUSY_MS = 10_000  # how long a writer waits for another


@contextmanager
def open_sidecar(path: Path, migrations: Mapping[str, str]) -> Iterator[sqlite3.Connection]:
    """A connection with the tables of ``migrations`` (name -> script) in place; closed afterwards.

    All of it can be done without, so a damaged file is set aside (``….damaged``) and begun anew. Raises ``CatalogueError``
    when the file cannot be used now.
    """
    try:
        try:
            db = _ready(path, migrations)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            _set_aside(path)
            db = _ready(path, migrations)
        with closing(db):
            yield db
    except sqlite3.OperationalError as error:
        raise CatalogueError(f"{path} cannot be used now: {error}") from error
    except sqlite3.DatabaseError as error:
        _set_aside(path)
        raise CatalogueError(f"{path} was damaged ({error})", hint="it is begun anew") from error
    except OSError as error:
        raise CatalogueError(f"{path} cannot be used now: {error.strerror or error}") from error


def _ready(path: Path, migrations: Mapping[str, str]) -> sqlite3.Connection:
    if not path.exists():
        _create(path, migrations)
    db = _connect(path)
    try:
        _migrate(db, migrations)
    except BaseException:
        db.close()
        raise
    return db


def _set_aside(path: Path) -> None:
    for tail in ("-wal", "-shm"):
        path.with_name(path.name + tail).unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        path.replace(path.with_name(f"{path.name}.damaged"))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None)


def _create(path: Path, migrations: Mapping[str, str]) -> None:
    """Make the file under another name and link it: two processes that begin together get one whole file."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        with closing(_connect(new)) as db:
            new.chmod(0o600)
            db.execute("PRAGMA journal_mode = WAL")
            _migrate(db, migrations)
        os.link(new, path)
    except FileExistsError:
        pass  # another process was first
    finally:
        new.unlink(missing_ok=True)


def _migrate(db: sqlite3.Connection, migrations: Mapping[str, str]) -> None:
    db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
    if _applied(db) >= migrations.keys():
        return
    db.execute("BEGIN IMMEDIATE")
    for name, script in migrations.items():
        if name not in _applied(db):
            for statement in filter(str.strip, script.split(";")):
                db.execute(statement)
            db.execute("INSERT INTO migrations VALUES (?)", (name,))
    db.execute("COMMIT")


def _applied(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute("SELECT name FROM migrations")}
