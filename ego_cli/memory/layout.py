"""Where a shopper's file lies, whose there are, and the layout of its tables."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import suppress
from pathlib import Path

from ego_cli.errors import MisuseError
from ego_cli.settings import user_data_folder

BUSY_TIMEOUT_S = 30.0
LONGEST_USER_NAME = 128  # characters


# --- where files live --------------------------------------------------------------------------------------------------


def memory_folder(root: Path | None = None) -> Path:
    """The folder that holds one folder per shopper."""
    return root if root is not None else user_data_folder() / "memory"


def checked_user(user: str) -> str:
    """The name of a shopper, trimmed. ``MisuseError`` for one that nobody can have."""
    name = user.strip()
    if not name or len(name) > LONGEST_USER_NAME or not name.isprintable():
        raise MisuseError(
            f"{user[:40]!r} cannot be a shopper's name", hint=f"1 to {LONGEST_USER_NAME} printable characters"
        )
    return name


def user_folder(user: str, root: Path | None = None) -> Path:
    """Where one shopper's files live: named by a digest, so that no name can be a piece of a path."""
    digest = hashlib.sha256(checked_user(user).encode()).hexdigest()[:24]
    return memory_folder(root) / digest


def known_users(root: Path | None = None) -> list[str]:
    """Names of all shoppers with a memory file, sorted."""
    names = []
    for path in sorted(memory_folder(root).glob("*/memory.db")):
        with suppress(sqlite3.Error):
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_S)
            try:
                row = db.execute("SELECT value FROM meta WHERE name='user'").fetchone()
            finally:
                db.close()
            if row:
                names.append(str(row[0]))
    return sorted(names)


# --- migrations: each is applied once, in order, and recorded by name ------------------------------------------------------


def _m001_entries(db: sqlite3.Connection) -> None:
    db.execute(
        """CREATE TABLE entry(
            id INTEGER PRIMARY KEY AUTOINCREMENT, tier TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL,
            predicate TEXT NOT NULL DEFAULT '', object TEXT NOT NULL DEFAULT '', text TEXT NOT NULL,
            polarity INTEGER NOT NULL DEFAULT 0, words TEXT NOT NULL DEFAULT '', turn INTEGER,
            session TEXT NOT NULL DEFAULT '', source TEXT NOT NULL, confidence TEXT NOT NULL,
            importance REAL NOT NULL, stability REAL NOT NULL, created TEXT NOT NULL, confirmed TEXT NOT NULL, used TEXT,
            valid_from TEXT NOT NULL, valid_to TEXT, mentions INTEGER NOT NULL DEFAULT 1,
            uses INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0, expires TEXT,
            archived INTEGER NOT NULL DEFAULT 0, scope TEXT NOT NULL DEFAULT '', key TEXT NOT NULL,
            slot TEXT NOT NULL, ended_by TEXT NOT NULL DEFAULT '', data TEXT NOT NULL DEFAULT '{}',
            rev INTEGER NOT NULL DEFAULT 0)"""
    )
    # What can hold only once at a time: one row for one fact, one live value for one slot.
    db.execute("CREATE UNIQUE INDEX entry_live ON entry(slot) WHERE valid_to IS NULL")
    db.execute("CREATE INDEX entry_rev ON entry(rev)")


def _m002_turns_and_jobs(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    db.execute("CREATE TABLE heard(session TEXT, turn INTEGER, PRIMARY KEY(session, turn)) WITHOUT ROWID")
    db.execute(
        "CREATE TABLE pending(id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT, turn INTEGER, at TEXT, text TEXT)"
    )
    db.execute(
        """CREATE TABLE job(id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL UNIQUE, created TEXT NOT NULL,
            lease_until TEXT, attempts INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '')"""
    )
    db.execute(
        "CREATE TABLE vector(entry INTEGER, model TEXT, size INTEGER, value BLOB, PRIMARY KEY(entry, model)) WITHOUT ROWID"
    )


def _m003_turn_changes(db: sqlite3.Connection) -> None:
    db.execute("CREATE INDEX entry_slot ON entry(slot)")
    # What each turn did to rows, for taking it back: pictures of a row before (NULL: it was not there) and after.
    db.execute(
        """CREATE TABLE turn_change(id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, turn INTEGER NOT NULL,
            entry INTEGER NOT NULL, before TEXT, after TEXT NOT NULL)"""
    )


MIGRATIONS = (_m001_entries, _m002_turns_and_jobs, _m003_turn_changes)
