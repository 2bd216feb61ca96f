"""The same request is answered once: replies that proved useful, by provider, model, prompt version and input.

One small file a shopper, so that forgetting is deleting it. The request itself is kept as a digest only.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ego_cli.llm.files import opened, writing
from ego_cli.llm.prompts import Prompt
from ego_cli.places import user_cache_folder
from ego_cli.settings import Provider

DAY_S = 86_400.0
MEGABYTE = 1_000_000
ROW_BYTES = 150  # what a row takes beside its text, about

_MIGRATIONS = {
    "answers": """CREATE TABLE answer(key TEXT PRIMARY KEY, text TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
        completion_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL, made REAL NOT NULL, used REAL NOT NULL)"""
}


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer from the cache, and what it once took."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float


class Cache:
    """Answers of one shopper; older than ``days`` they count as gone, above ``megabytes`` the longest unused go first."""

    def __init__(
        self,
        user: str,
        *,
        days: float = 14.0,
        megabytes: float = 20.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path = cache_file(user)
        self._life_s = days * DAY_S
        self._most_bytes = megabytes * MEGABYTE
        self._clock = clock

    def get(self, provider: Provider, prompt: Prompt) -> Kept | None:
        """The answer to the same request, or None."""
        if not self.path.exists():
            return None
        key, now = _key(provider, prompt), self._clock()
        with opened(self.path, _MIGRATIONS) as db:
            row = db.execute(
                "SELECT text, prompt_tokens, completion_tokens, cost_usd FROM answer WHERE key=? AND made>?",
                (key, now - self._life_s),
            ).fetchone()
            if row is None:
                return None
            with writing(db):
                db.execute("UPDATE answer SET used=? WHERE key=?", (now, key))
        return Kept(*row)

    def put(self, provider: Provider, prompt: Prompt, kept: Kept) -> None:
        """Keep an answer, and let go of what is too old or too much."""
        now = self._clock()
        row = (
            _key(provider, prompt),
            kept.text,
            kept.prompt_tokens,
            kept.completion_tokens,
            kept.cost_usd,
            now,
            now,
        )
        with opened(self.path, _MIGRATIONS) as db, writing(db):
            db.execute("DELETE FROM answer WHERE made<=?", (now - self._life_s,))
            db.execute("INSERT OR REPLACE INTO answer VALUES(?,?,?,?,?,?,?)", row)
            db.execute(
                """DELETE FROM answer WHERE key IN (SELECT key FROM (SELECT key, sum(length(text) + ?)
                    OVER (ORDER BY used DESC, made DESC, key) AS bytes FROM answer) WHERE bytes > ?)""",
                (ROW_BYTES, self._most_bytes),
            )


def cache_file(user: str) -> Path:
    """Where one shopper's answers lie: named by a digest, so that no name can be a piece of a path."""
    digest = hashlib.sha256(user.strip().encode()).hexdigest()[:24]
    return user_cache_folder() / "llm" / f"{digest}.db"


def clear_cache(user: str) -> bool:
    """Delete everything that models ever said to this shopper; whether there was anything."""
    path = cache_file(user)
    found = path.exists()
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)
    return found


def _key(provider: Provider, prompt: Prompt) -> str:
    parts = [
        provider.name, provider.base_url, provider.model, prompt.purpose, prompt.version, prompt.messages,
        prompt.max_tokens, prompt.temperature,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
