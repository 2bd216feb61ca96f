"""All model calls of all sessions, for ``ego usage``: numbers, names of models and purposes, no words of anybody."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from ego_cli.errors import MisuseError
from ego_cli.llm.files import opened, writing
from ego_cli.llm.telemetry import ModelCall
from ego_cli.places import user_data_folder

_CALL = tuple(field.name for field in fields(ModelCall))
_MIGRATIONS = {
    "calls": f"""CREATE TABLE call(id INTEGER PRIMARY KEY, at TEXT NOT NULL, session TEXT NOT NULL,
        turn INTEGER NOT NULL, {", ".join(f"{name} NOT NULL" for name in _CALL)})"""
}
_TOTALS = {
    "calls": "count(*)",
    "prompt_tokens": "sum(prompt_tokens)",
    "completion_tokens": "sum(completion_tokens)",
    "estimated": "sum(estimated)",
    "cost_usd": "sum(cost_usd)",
    "mean_ms": "coalesce(avg(CASE WHEN cached THEN NULL ELSE latency_ms END), 0.0)",
    "retries": "sum(retries)",
    "fallbacks": "sum(fallback)",
    "failed": "sum(error <> '')",
    "cached": "sum(cached)",
    "saved_tokens": "sum(saved_tokens)",
    "saved_usd": "sum(saved_usd)",
}
GROUPS = {
    "purpose": "purpose",
    "model": "provider || ' ' || model",
    "session": "session",
    "turn": "session || ' turn ' || turn",
    "day": "substr(at, 1, 10)",
}


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals over calls. ``name``: the purpose, model, session, turn or day that they share, or "all"."""

    name: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0  # calls whose tokens were counted here, not by their server
    cost_usd: float = 0.0
    mean_ms: float = 0.0  # of calls that went out
    retries: int = 0
    fallbacks: int = 0
    failed: int = 0
    cached: int = 0
    saved_tokens: int = 0
    saved_usd: float = 0.0


class Ledger:
    """One file of calls. ``session`` names the conversation that this object writes for."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_data_folder() / "usage.db"
        self.session = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {uuid.uuid4().hex[:6]}"

    def add(self, calls: Iterable[ModelCall], *, turn: int) -> None:
        """Keep the calls of one turn (0: outside a conversation)."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        rows = [(at, self.session, turn, *(getattr(call, name) for name in _CALL)) for call in calls]
        if not rows:
            return
        columns = ("at", "session", "turn", *_CALL)
        statement = f"INSERT INTO call({','.join(columns)}) VALUES({','.join('?' * len(columns))})"
        with opened(self.path, _MIGRATIONS) as db, writing(db):
            db.executemany(statement, rows)

    def totals(self, by: str | None = None, *, last: int | None = None) -> list[Usage]:
        """Totals over all calls, or by a name of ``GROUPS``: the ``last`` groups, latest first.

        Raises ``MisuseError`` for an unknown group.
        """
        if by is not None and by not in GROUPS:
            raise MisuseError(f"usage cannot be grouped by {by!r}", hint="use " + ", ".join(GROUPS))
        if not self.path.exists():
            return []
        key = GROUPS[by] if by else "'all'"
        columns = ", ".join(f"{total} AS {name}" for name, total in _TOTALS.items())
        query = f"SELECT {key} AS name, {columns} FROM call GROUP BY 1 ORDER BY max(id) DESC LIMIT ?"
        with opened(self.path, _MIGRATIONS) as db:
            return [Usage(*row) for row in db.execute(query, (-1 if last is None else last,))]
