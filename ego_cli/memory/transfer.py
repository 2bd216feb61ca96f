"""Memories out and in: exports, imports and snapshots."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ego_cli.errors import MemoryStoreError, MisuseError
from ego_cli.memory.entry import DECLARED, HIGH, ME, Entry, Fact, read_stamp, stamp
from ego_cli.memory.extract import read_row
from ego_cli.memory.forget import keep_copy
from ego_cli.memory.forgetting import first_stability, is_protected
from ego_cli.memory.schema import from_podium, to_podium
from ego_cli.memory.store import COLUMNS, TIMES

if TYPE_CHECKING:
    from datetime import datetime

    from ego_cli.memory.memory import Memory

_CARRIED = (
    "last_conversation",
    "turns",
    "podium_last",
    "podium_price_range",
)  # what is kept beside the rows and travels


def export(memory: Memory, format_: str) -> str:
    """Everything as text; see ``Memory.export``."""
    if format_ == "podium":
        return to_podium(memory).model_dump_json(indent=2) + "\n"
    if format_ != "jsonl":
        raise MisuseError(f"no export format is called {format_!r}", hint="jsonl or podium")
    beside = {name: value for name in _CARRIED if (value := memory.store.meta(name))}
    lines = [json.dumps({"ego_memory": 1, "beside": beside}, ensure_ascii=False)]
    for row in memory.store.raw_rows():
        row["data"] = json.loads(row["data"])
        row.pop("rev", None)
        lines.append(json.dumps(row, ensure_ascii=False))
    return "\n".join(lines) + "\n"


def import_text(memory: Memory, text: str) -> int:
    """Read an export of either format; ``MemoryStoreError`` names the first line that is none."""
    if '"schemaVersion"' in text and text.lstrip().startswith("{"):
        return from_podium(memory, text)
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise MemoryStoreError(f"line {number} is not JSON: {error.msg}") from error
        if not isinstance(row, dict):
            raise MemoryStoreError(f"line {number} is not an object")
        rows.append(row)
    beside = rows.pop(0).get("beside") if rows and "ego_memory" in rows[0] else None
    count = import_rows(memory, rows)
    if isinstance(beside, dict):
        with memory.store.writing() as db:
            for name in _CARRIED:
                if name in beside:
                    memory.store.set_meta(db, name, str(beside[name]))
    return count


def import_rows(memory: Memory, rows: Iterable[Mapping[str, Any]]) -> int:
    """Put raw rows in; see ``Memory.import_rows``. Returns how many are new."""
    count = 0
    with memory.store.writing() as db:
        for row in rows:
            text = str(row.get("text") or row.get("object") or "").strip()
            if not text:
                continue
            entry = _entry_from(row, read_row(text), memory.now())
            until = stamp(entry.valid_to) if entry.valid_to else ""
            twin = db.execute(
                "SELECT 1 FROM entry WHERE slot=? AND key=? AND valid_from=? AND coalesce(valid_to,'')=?",
                (entry.slot, entry.key, stamp(entry.valid_from), until),
            ).fetchone()
            if twin:
                continue
            if entry.live:
                standing = "SELECT id FROM entry WHERE slot=? AND valid_to IS NULL"
                for (other,) in db.execute(standing, (entry.slot,)).fetchall():
                    memory.store.end(db, other, stamp(entry.valid_from), "imported")
            memory.store.insert_row(db, entry)
            count += 1
    return count


def snapshot(memory: Memory, *, keep: bool = False) -> dict[str, Any]:
    """Rows with their retention, the summary and the AgentMemory view."""
    now = memory.now()
    value = {
        "user": memory.user,
        "at": stamp(now),
        "policy": memory.policy.name,
        "summary": memory.summary(),
        "memories": [
            {
                "id": row.id,
                "kind": row.kind,
                "subject": row.subject,
                "text": row.text,
                "since": stamp(row.valid_from),
                "mentions": row.mentions,
                "uses": row.uses,
                "pinned": row.pinned,
                "protected": is_protected(row),
                "retention": round(memory.policy.retention(row, now), 4),
            }
            for row in memory.facts()
        ],
        "agentMemory": to_podium(memory).model_dump(),
    }
    if keep:
        keep_copy(memory.store.folder, f"{stamp(now)}.json", json.dumps(value, ensure_ascii=False))
    return value


def _entry_from(row: Mapping[str, Any], fact: Fact, now: datetime) -> Entry:
    """A whole row from one that lacks fields or has unknown ones (an older or newer version's, or a stranger's)."""
    known = {key: row[key] for key in COLUMNS if key in row and row[key] is not None}
    extra = {key: value for key, value in row.items() if key not in COLUMNS and key != "rev"}
    data = known.pop("data", {})
    data = json.loads(data) if isinstance(data, str) else dict(data)
    entry = Entry(
        id=0, tier=fact.tier, kind=fact.kind, subject=fact.subject or ME, predicate=fact.predicate, object=fact.object,
        text=fact.text, polarity=fact.polarity, words=fact.words, turn=None, session="", source=DECLARED,
        confidence=HIGH, importance=0.5, stability=first_stability(fact.kind, fact.tier, DECLARED), created=now,
        confirmed=now, used=None, valid_from=now, valid_to=None, scope=fact.scope, key=fact.key, slot=fact.slot,
        data={**fact.data, **data, **extra},
    )  # fmt: skip
    known.pop("id", None)
    for name in TIMES:
        if isinstance(known.get(name), str):
            try:
                known[name] = read_stamp(known[name])
            except ValueError:
                known.pop(name)
    for name in ("pinned", "archived"):
        if name in known:
            known[name] = bool(known[name])
    return replace(entry, **known)
