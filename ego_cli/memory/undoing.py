"""Taking a turn back out of memory: what it alone stored goes, what it ended stands again, what it strengthened fades as before.

Each turn's changes of rows are kept as pictures from before and after. Taking back is one transaction that also deletes
the pictures, so that it happens as a whole or not at all, and once. Only fields that the turn changed are put back, and
only where nothing has changed them since.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ego_cli.memory.entry import NARRATIVE, Entry, Fact, stamp
from ego_cli.memory.store import COLUMNS, from_text, to_text

if TYPE_CHECKING:
    from ego_cli.memory.memory import Memory
    from ego_cli.memory.store import Store

KEPT = 500  # changes of rows that can be taken back: those of the last hundred turns or more
_COUNTERS = ("mentions", "uses")  # others may have counted on since
_INTERVAL = ("valid_to", "ended_by")  # put back last, when it is clear what stands in a slot


@contextmanager
def noting(
    store: Store, db: sqlite3.Connection, session: str, turn: int | None, facts: Iterable[Fact]
) -> Iterator[None]:
    """Keep what writing these facts does to rows as a turn's doing, inside a transaction of the caller's."""
    if turn is None or not session:  # nobody could name the turn later
        yield
        return
    before = {row.id: row for row in _within_reach(store, list(facts))}
    revision = db.execute("SELECT coalesce(max(rev), 0) FROM entry").fetchone()[0]
    yield
    for row in store.rows("rev>?", (revision,)):
        note_change(db, session, turn, before.get(row.id), row)
    db.execute("DELETE FROM turn_change WHERE id<=(SELECT max(id) FROM turn_change)-?", (KEPT,))


def note_change(db: sqlite3.Connection, session: str, turn: int, before: Entry | None, after: Entry) -> None:
    """Keep that a turn made a row (``before`` is None) or changed it."""
    db.execute(
        "INSERT INTO turn_change(session, turn, entry, before, after) VALUES(?,?,?,?,?)",
        (session, turn, after.id, to_text(before) if before else None, to_text(after)),
    )


def _within_reach(store: Store, facts: list[Fact]) -> Iterator[Entry]:
    """The rows that writing these facts can change: those in their slots, and favourites that a dislike ends."""
    for slot in {fact.slot for fact in facts}:
        yield from store.rows("slot=?", (slot,))
    if any(fact.polarity < 0 for fact in facts):
        yield from store.rows("valid_to IS NULL AND slot LIKE '%|favourite|%'")


def take_back(memory: Memory, session: str, turn: int) -> int:
    """Undo what a turn of a session did to rows; returns how many it had changed. The second time changes nothing."""
    store = memory.store
    with store.writing() as db:
        changes = db.execute(
            "SELECT entry, before, after FROM turn_change WHERE session=? AND turn=? ORDER BY id DESC",
            (session, turn),
        ).fetchall()
        ended, gone = [], False
        for id_, before, after in changes:
            row = store.get(id_)
            if row is None:
                continue
            then = from_text(after)
            was = from_text(before) if before else replace(then, mentions=0)
            back = _as_before(row, was, then)
            if back.mentions <= 0 and not row.pinned:
                _leave_merged(store, db, row)
                store.delete(db, [id_])
                gone = True
                continue
            store.save(db, replace(back, mentions=max(1, back.mentions)))
            if was.live and not then.live and row.valid_to == then.valid_to:
                ended.append(id_)
        for id_ in ended:
            _stand_again(store, db, id_)
        for table in ("turn_change", "heard", "pending"):
            db.execute(f"DELETE FROM {table} WHERE session=? AND turn=?", (session, turn))
        if gone:
            db.execute("DELETE FROM entry WHERE tier=?", (NARRATIVE,))
            store.new_epoch(db)
    if gone:
        from ego_cli.memory.consolidate import write_summary

        store.scrub()
        write_summary(memory)
    return len({id_ for id_, _, _ in changes})


def _as_before(row: Entry, was: Entry, then: Entry) -> Entry:
    """A row of now without what changed it from ``was`` to ``then``, except for its interval."""
    back = {}
    for name in COLUMNS:
        old, new, now = getattr(was, name), getattr(then, name), getattr(row, name)
        if old == new or name in _INTERVAL:
            continue
        if name in _COUNTERS:
            back[name] = now - (new - old)
        elif now == new:
            back[name] = old
    return replace(row, **back)


def _stand_again(store: Store, db: sqlite3.Connection, id_: int) -> None:
    """A row that the turn ended holds again: to this day, or until what took its place since."""
    row = store.get(id_)
    if row is None:
        return
    follower = db.execute(
        "SELECT max(valid_from, ?), words FROM entry WHERE slot=? AND id<>? AND (valid_from>=? OR valid_to IS NULL)"
        " ORDER BY valid_from LIMIT 1",
        (stamp(row.valid_from), row.slot, id_, stamp(row.valid_from)),
    ).fetchone()
    until, words = follower or (None, "")
    db.execute(
        "UPDATE entry SET valid_to=?, ended_by=?, rev=(SELECT max(rev)+1 FROM entry) WHERE id=?",
        (until, words, id_),
    )


def _leave_merged(store: Store, db: sqlite3.Connection, row: Entry) -> None:
    """A row that was merged into another since no longer counts there."""
    merged = re.fullmatch(r"merged into (\d+)", row.ended_by)
    other = store.get(int(merged[1])) if merged else None
    if other is not None:
        store.save(db, replace(other, mentions=max(1, other.mentions - row.mentions)))
