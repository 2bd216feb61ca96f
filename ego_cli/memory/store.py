"""One SQLite file per shopper: rows, jobs, and forgetting for good.

Several processes and threads may write at once: every write is one ``BEGIN IMMEDIATE`` transaction, and what must be
unique is unique by an index, never by a read before a write. A write is acknowledged after its commit (WAL with
``synchronous=NORMAL``: a killed process loses nothing that was acknowledged).
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ego_cli.errors import DamagedMemoryError, MemoryStoreError, MisuseError
from ego_cli.memory.entry import (
    DECLARED,
    HIGH,
    Entry,
    Fact,
    read_stamp,
    stamp,
)
from ego_cli.memory.forgetting import first_stability
from ego_cli.memory.layout import BUSY_TIMEOUT_S, MIGRATIONS, checked_user, memory_folder, user_folder
from ego_cli.settings import load_toml, private_folder

try:
    import fcntl
except ImportError:  # Windows: SQLite's own waiting does
    fcntl = None  # type: ignore[assignment]

NO_ROOM = 64 * 1024  # bytes; what opening the file takes beside it
LEASE_S = 120.0  # a job that a killed process had taken is free again after this long

COLUMNS = (
    "id", "tier", "kind", "subject", "predicate", "object", "text", "polarity", "words", "turn", "session", "source",
    "confidence", "importance", "stability", "created", "confirmed", "used", "valid_from", "valid_to", "mentions",
    "uses", "pinned", "expires", "archived", "scope", "key", "slot", "ended_by", "data",
)  # fmt: skip
_SELECT = f"SELECT {', '.join(COLUMNS)} FROM entry"
TIMES = ("created", "confirmed", "used", "valid_from", "valid_to", "expires")

# One lock a file in this process: threads queue here in order instead of polling the file.
_locks: dict[Path, threading.RLock] = {}
_locks_guard = threading.Lock()


class Store:
    """The file of one shopper. Safe to use from any thread; each thread has its own connection."""

    def __init__(self, user: str, *, root: Path | None = None) -> None:
        self.user = checked_user(user)
        self.folder = user_folder(self.user, root)
        self.path = self.folder / "memory.db"
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._pid = os.getpid()
        self._queue: int | None = None  # descriptor of the file at which processes queue
        private_folder(memory_folder(root))
        private_folder(self.folder)
        with suppress(OSError):
            self.folder.chmod(0o700)
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise MemoryStoreError(f"cannot open the memory file {self.path}: {error.strerror}") from error
        with _locks_guard:
            self._lock = _locks.setdefault(self.path, threading.RLock())
        try:
            self._migrate()
        except sqlite3.DatabaseError as error:
            self.close()
            raise self._in_words(error) from error
        except MemoryStoreError:
            self.close()
            raise

    # -- connections and transactions

    def connection(self) -> sqlite3.Connection:
        """This thread's connection."""
        if os.getpid() != self._pid:  # after a fork: neither connections nor locks may be carried over
            self._local, self._open, self._pid, self._queue = threading.local(), [], os.getpid(), None
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            try:
                db = self._connect(str(self.path))
            except sqlite3.OperationalError:
                # No room for what SQLite keeps beside the file (a full disk, a folder that may only be read). With nothing
                # waiting in its log the file can be read as it is: what she avoids is known, and a write says what is wrong.
                log = self.path.with_name("memory.db-wal")
                if (log.exists() and log.stat().st_size) or not self.path.stat().st_size:
                    raise
                db = self._connect(f"{self.path.as_uri()}?mode=ro&immutable=1")
            self._local.db = db
            self._open.append(db)
        return db

    @staticmethod
    def _connect(where: str) -> sqlite3.Connection:
        db = sqlite3.connect(
            where,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=where.startswith("file:"),
        )
        for pragma in ("synchronous=NORMAL", "secure_delete=ON", "temp_store=MEMORY", "foreign_keys=ON"):
            db.execute(f"PRAGMA {pragma}")
        db.execute("SELECT 1 FROM sqlite_master").fetchone()  # opens the file; a pragma alone may not
        return db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; what is inside is there as a whole or not at all."""
        with self._in_one_line(), self._lock, self._turn_of_this_process():
            db = self.connection()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # a full disk has ended it already
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _in_one_line(self) -> Iterator[None]:
        """A full disk, a folder that may only be read, a damaged page: one line that a person can act on."""
        try:
            yield
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise
        except sqlite3.DatabaseError as error:
            raise self._in_words(error) from error
        except UnicodeEncodeError as error:
            raise MisuseError("the text holds half a character, which cannot be kept") from error
        except OSError as error:
            raise MemoryStoreError(f"cannot write in {self.folder}: {error.strerror}") from error

    def _in_words(self, error: sqlite3.DatabaseError) -> MemoryStoreError:
        if getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return DamagedMemoryError(
                f"the memory file {self.path} is damaged: {error}", hint="move it away to start afresh"
            )
        full = shutil.disk_usage(self.folder).free < NO_ROOM  # SQLite says "disk I/O error" of some of it
        return MemoryStoreError(
            f"the memory file {self.path} cannot be used: {'the disk is full' if full else error}"
        )

    @contextmanager
    def _turn_of_this_process(self) -> Iterator[None]:
        """Queue with other processes at a lock file. Correctness does not hang on it (SQLite's own lock stands behind it),
        but the kernel wakes the next writer at once, where SQLite would sleep and look again: about twice the writes."""
        if fcntl is None:
            yield
            return
        if self._queue is None:
            self._queue = os.open(self.folder / "memory.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._queue, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._queue, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close every connection; the store can be used again afterwards."""
        for db in self._open:
            with suppress(sqlite3.Error):
                db.close()
        if self._queue is not None and os.getpid() == self._pid:
            os.close(self._queue)
        self._local, self._open, self._queue = threading.local(), [], None

    def _migrate(self) -> None:
        db = self.connection()
        with self._lock:
            self._use_wal(db)
            done = self._applied(db)
            if len(done) >= len(MIGRATIONS) and all(m.__name__ in done for m in MIGRATIONS):
                return
            if done:
                self._copy_aside(db, next(m.__name__ for m in MIGRATIONS if m.__name__ not in done))
            with self.writing():
                db.execute(
                    "CREATE TABLE IF NOT EXISTS migration(name TEXT PRIMARY KEY, applied TEXT NOT NULL)"
                )
                done = self._applied(db)
                for step in MIGRATIONS:
                    if step.__name__ not in done:
                        step(db)
                        db.execute(
                            "INSERT INTO migration VALUES(?, strftime('%Y-%m-%dT%H:%M:%SZ'))",
                            (step.__name__,),
                        )
                db.execute("INSERT OR IGNORE INTO meta VALUES('user', ?)", (self.user,))

    def _use_wal(self, db: sqlite3.Connection) -> None:
        if db.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            return
        deadline = time.monotonic() + BUSY_TIMEOUT_S
        while True:  # the switch does not wait for the busy timeout while another process switches as well
            try:
                db.execute("PRAGMA journal_mode=WAL").fetchone()
                return
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    @staticmethod
    def _applied(db: sqlite3.Connection) -> set[str]:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name='migration'").fetchone():
            return set()
        return {row[0] for row in db.execute("SELECT name FROM migration")}

    def _copy_aside(self, db: sqlite3.Connection, name: str) -> None:
        path = self.folder / f"memory.before{name}.db"
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        copy = sqlite3.connect(path)
        try:
            db.backup(copy)
        finally:
            copy.close()

    # -- reading

    def read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query of our own making. ``DamagedMemoryError`` when a page cannot be read."""
        with self._in_one_line():
            return self.connection().execute(query, values).fetchall()

    def rows(self, where: str = "1", values: Sequence[Any] = ()) -> list[Entry]:
        """Rows that a condition of our own making holds for, oldest first."""
        return [_entry(row) for row in self.read(f"{_SELECT} WHERE {where} ORDER BY id", values)]

    def get(self, id_: int) -> Entry | None:
        """The row of that id."""
        found = self.rows("id=?", (id_,))
        return found[0] if found else None

    def version(self) -> tuple[int, int, int]:
        """Changes when anything was written by anyone: (data version, own changes, times something was forgotten)."""
        written = self.read("PRAGMA data_version")[0][0]
        return written, self.connection().total_changes, int(self.meta("epoch", "0"))

    def meta(self, name: str, default: str = "") -> str:
        """A value kept beside the rows."""
        found = self.read("SELECT value FROM meta WHERE name=?", (name,))
        return str(found[0][0]) if found else default

    def raw_rows(self) -> list[dict[str, Any]]:
        """Every row with every column, also those that a newer version added."""
        names = [column[1] for column in self.read("PRAGMA table_info(entry)")]
        return [dict(zip(names, row, strict=True)) for row in self.read("SELECT * FROM entry ORDER BY id")]

    # -- writing (inside a transaction of the caller's)

    @staticmethod
    def set_meta(db: sqlite3.Connection, name: str, value: str) -> None:
        """Keep a value beside the rows."""
        db.execute(
            "INSERT INTO meta VALUES(?,?) ON CONFLICT(name) DO UPDATE SET value=excluded.value", (name, value)
        )

    def put(
        self,
        db: sqlite3.Connection,
        fact: Fact,
        *,
        at: datetime,
        turn: int | None = None,
        session: str = "",
        source: str = DECLARED,
        confidence: str = HIGH,
        importance: float = 0.5,
        expires: datetime | None = None,
    ) -> int | None:
        """Write what a clause says and return the id of its row (None when it only ended something).

        The same fact again confirms its row; a fact that contradicts what stands in its slot ends that row's interval;
        one that was true before what stands now is filed as history.
        """
        moment = stamp(at)
        live = db.execute(
            "SELECT id, key, valid_from, kind, session, turn FROM entry WHERE slot=? AND valid_to IS NULL",
            (fact.slot,),
        ).fetchone()
        if fact.retracts:
            if live and moment >= live[2]:
                self.end(db, live[0], moment, fact.words)
            return None
        until: str | None = None
        if live and live[1] == fact.key and not self._otherwise_since(db, fact.slot, moment):
            self._confirm(db, live, fact, moment, confidence, importance)
            return int(live[0])
        if live and moment < live[2]:
            then = self._standing_then(db, fact.slot, moment)
            if then and then[1] == fact.key:
                self._confirm(db, then, fact, moment, confidence, importance)
                return int(then[0])
            if then:
                self.end(db, then[0], moment, fact.words)
            until = self._next_begins(db, fact.slot, moment)
        elif live:
            self.end(db, live[0], moment, fact.words)
        if fact.polarity < 0:
            self._end_favourites(db, fact, moment)
        return self._insert(
            db,
            fact,
            moment,
            until,
            turn,
            session,
            source,
            confidence,
            importance,
            stamp(expires) if expires else None,
        )

    @staticmethod
    def _standing_then(db: sqlite3.Connection, slot: str, moment: str) -> tuple[Any, ...] | None:
        """The row of a slot that was true at a moment of the past."""
        row: tuple[Any, ...] | None = db.execute(
            "SELECT id, key, valid_from, kind, session, turn FROM entry WHERE slot=? AND valid_from<=? AND valid_to>?"
            " ORDER BY valid_from DESC LIMIT 1",
            (slot, moment, moment),
        ).fetchone()
        return row

    @staticmethod
    def _otherwise_since(db: sqlite3.Connection, slot: str, moment: str) -> bool:
        """Whether something else stood in a slot after a moment, so that what stands now is no proof of then."""
        ended = "SELECT 1 FROM entry WHERE slot=? AND valid_to>?"
        return db.execute(ended, (slot, moment)).fetchone() is not None

    @staticmethod
    def _next_begins(db: sqlite3.Connection, slot: str, moment: str) -> str:
        begins = "SELECT min(valid_from) FROM entry WHERE slot=? AND valid_from>?"
        return str(db.execute(begins, (slot, moment)).fetchone()[0])

    def _insert(
        self,
        db: sqlite3.Connection,
        fact: Fact,
        moment: str,
        until: str | None,
        turn: int | None,
        session: str,
        source: str,
        confidence: str,
        importance: float,
        expires: str | None,
    ) -> int:
        stability = first_stability(fact.kind, fact.tier, source)
        cursor = db.execute(
            f"INSERT INTO entry({', '.join(COLUMNS[1:])}, rev) VALUES({','.join('?' * (len(COLUMNS) - 1))}, "
            "(SELECT coalesce(max(rev),0)+1 FROM entry))",
            (
                fact.tier, fact.kind, fact.subject, fact.predicate, fact.object, fact.text, fact.polarity, fact.words,
                turn, session, source, confidence, importance, stability, moment, moment, None, moment, until, 1, 0, 0,
                expires, 0, fact.scope, fact.key, fact.slot, "", json.dumps(dict(fact.data), ensure_ascii=False),
            ),
        )  # fmt: skip
        return int(cursor.lastrowid or 0)

    @staticmethod
    def _confirm(
        db: sqlite3.Connection,
        live: tuple[Any, ...],
        fact: Fact,
        moment: str,
        confidence: str,
        importance: float,
    ) -> None:
        strength = load_toml("memory.toml")["kinds"]["strength"]
        kind, text = live[3], None
        if kind in strength and fact.kind in strength and strength.index(fact.kind) > strength.index(kind):
            kind, text = fact.kind, fact.text
        db.execute(
            """UPDATE entry SET mentions=mentions+1, confirmed=max(confirmed, ?), kind=?, text=coalesce(?, text),
               valid_from=min(valid_from, ?), importance=max(importance, ?), archived=0,
               confidence=CASE WHEN ?='high' THEN 'high' WHEN confidence='low' THEN ? ELSE confidence END,
               rev=(SELECT max(rev)+1 FROM entry) WHERE id=?""",
            (moment, kind, text, moment, importance, confidence, confidence, live[0]),
        )

    @staticmethod
    def end(db: sqlite3.Connection, id_: int, moment: str, words: str) -> None:
        """Close a row's interval at ``moment``; ``words`` say by what."""
        db.execute(
            "UPDATE entry SET valid_to=?, ended_by=?, rev=(SELECT max(rev)+1 FROM entry) WHERE id=?",
            (moment, words, id_),
        )

    def _end_favourites(self, db: sqlite3.Connection, fact: Fact, moment: str) -> None:
        """Who no longer likes a thing cannot have it as a favourite."""
        canonical = fact.key.rsplit("|", 1)[-1]
        for id_, key in db.execute(
            "SELECT id, key FROM entry WHERE valid_to IS NULL AND slot LIKE ? ESCAPE '\\' AND valid_from<=?",
            (_like_prefix(f"{fact.subject}|favourite|"), moment),
        ).fetchall():
            if key.rsplit("|", 1)[-1] == canonical:
                self.end(db, id_, moment, fact.words)

    def save(self, db: sqlite3.Connection, entry: Entry) -> None:
        """Write back a row that was changed as a value (pinned, edited, reinforced, archived)."""
        db.execute(
            f"UPDATE entry SET {', '.join(f'{c}=?' for c in COLUMNS[1:])}, rev=(SELECT max(rev)+1 FROM entry) WHERE id=?",
            (*_values(entry)[1:], entry.id),
        )

    def insert_row(self, db: sqlite3.Connection, entry: Entry) -> int:
        """Insert a row as it is; its id is given anew. A live row in the same slot must have been ended before."""
        cursor = db.execute(
            f"INSERT INTO entry({', '.join(COLUMNS[1:])}, rev) VALUES({','.join('?' * (len(COLUMNS) - 1))}, "
            "(SELECT coalesce(max(rev),0)+1 FROM entry))",
            _values(entry)[1:],
        )
        return int(cursor.lastrowid or 0)

    # -- jobs: at least once, effects idempotent

    @staticmethod
    def add_job(db: sqlite3.Connection, kind: str, at: datetime) -> None:
        """Ask for a job; one that waits already is enough."""
        db.execute("INSERT OR IGNORE INTO job(kind, created) VALUES(?,?)", (kind, stamp(at)))

    def take_job(self, now: datetime) -> tuple[int, str] | None:
        """The id and kind of a job that nobody works on, now leased to the caller."""
        with self.writing() as db:
            row = db.execute(
                "SELECT id, kind FROM job WHERE lease_until IS NULL OR lease_until<? ORDER BY id LIMIT 1",
                (stamp(now),),
            ).fetchone()
            if row is None:
                return None
            until = stamp(now + timedelta(seconds=LEASE_S))
            db.execute("UPDATE job SET lease_until=?, attempts=attempts+1 WHERE id=?", (until, row[0]))
            return int(row[0]), str(row[1])

    @staticmethod
    def finish_job(db: sqlite3.Connection, id_: int) -> None:
        """A job's effects and its end belong in one transaction."""
        db.execute("DELETE FROM job WHERE id=?", (id_,))

    def jobs(self) -> list[dict[str, Any]]:
        """What waits or runs."""
        names = ("id", "kind", "created", "lease_until", "attempts", "error")
        rows = self.read(f"SELECT {', '.join(names)} FROM job ORDER BY id")
        return [dict(zip(names, row, strict=True)) for row in rows]

    # -- forgetting for good

    def delete(self, db: sqlite3.Connection, ids: Iterable[int]) -> int:
        """Delete rows and what was made from them; the number of rows that were there."""
        count = 0
        for id_ in ids:
            for table in ("vector", "turn_change"):
                db.execute(f"DELETE FROM {table} WHERE entry=?", (id_,))
            count += db.execute("DELETE FROM entry WHERE id=?", (id_,)).rowcount
        return count

    def new_epoch(self, db: sqlite3.Connection) -> None:
        """Mark that something was forgotten: work begun before it must not write, caches must be made anew."""
        row = db.execute("SELECT value FROM meta WHERE name='epoch'").fetchone()
        self.set_meta(db, "epoch", str(int(row[0]) + 1 if row else 1))
        self.set_meta(db, "scrub", "1")

    def scrub(self) -> None:
        """Take what was deleted out of the file's free space, its log, and copies of older layouts."""
        for copy in self.folder.glob("memory.before*.db*"):
            copy.unlink(missing_ok=True)
        db = self.connection()
        with self._in_one_line(), self._lock:
            db.execute("VACUUM")
            deadline = time.monotonic() + BUSY_TIMEOUT_S
            while db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[
                0
            ]:  # another reader is on an old page
                if time.monotonic() > deadline:
                    raise MemoryStoreError(
                        "forgotten rows are deleted, but another process still holds the log of the memory file",
                        hint="close other ego processes and run `ego memory forget` again",
                    )
                time.sleep(0.02)
            with self.writing():
                db.execute("DELETE FROM meta WHERE name='scrub'")

    def integrity(self) -> str:
        """SQLite's own check: "ok" when the file is sound."""
        return str(self.read("PRAGMA integrity_check")[0][0])


def _like_prefix(prefix: str) -> str:
    return prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"


def _entry(row: Sequence[Any]) -> Entry:
    part = dict(zip(COLUMNS, row, strict=True))
    for name in TIMES:
        part[name] = read_stamp(part[name])
    part["pinned"], part["archived"] = bool(part["pinned"]), bool(part["archived"])
    part["data"] = json.loads(part["data"]) if part["data"] != "{}" else {}
    return Entry(**part)


def to_text(entry: Entry) -> str:
    """A row as text that ``from_text`` reads."""
    return json.dumps(_values(entry), ensure_ascii=False)


def from_text(text: str) -> Entry:
    """The row that ``to_text`` wrote."""
    return _entry(json.loads(text))


def _values(entry: Entry) -> tuple[Any, ...]:
    values = []
    for name in COLUMNS:
        value = getattr(entry, name)
        if name in TIMES:
            value = stamp(value) if value is not None else None
        elif name == "data":
            value = json.dumps(dict(value), ensure_ascii=False)
        elif isinstance(value, bool):
            value = int(value)
        values.append(value)
    return tuple(values)
