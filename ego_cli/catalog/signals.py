"""What shoppers of a catalogue saw and did: impressions and interactions, and the popularity that they add up to.

A small SQLite file of its own beside the catalogue (a catalogue file is never written after its load). It holds product
ids, positions and kinds of action; whose session it was is a random name, never a user's.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from ego_cli.catalog.sidecar import open_sidecar

HALF_LIFE_HOURS = 720.0  # after which an interaction counts half

# Share of shoppers who look at a position (1-based): 1 / position^η. Joachims et al. 2017 fit η near 1 for clicks in a
# ranked list; a short list in a chat is read further down.
EXAMINED_ETA = 0.7
LARGEST_WEIGHT = 8.0  # inverse propensities are clipped here: a sale from place 40 is luck, not forty sales


class Interaction(StrEnum):
    """What a shopper did with a product; weights as in the Podium seed."""

    PURCHASED = "PURCHASED"
    PURCHASE_INTENT = "PURCHASE_INTENT"
    AFFILIATE_CLICK = "AFFILIATE_CLICK"
    RANK_UP = "RANK_UP"
    NUDGE_OPENED = "NUDGE_OPENED"
    RANK_DOWN = "RANK_DOWN"
    SKIP = "SKIP"


WEIGHTS: Mapping[Interaction, float] = {
    Interaction.PURCHASED: 10,
    Interaction.PURCHASE_INTENT: 5,
    Interaction.AFFILIATE_CLICK: 3,
    Interaction.RANK_UP: 2,
    Interaction.NUDGE_OPENED: 1,
    Interaction.RANK_DOWN: -2,
    Interaction.SKIP: -1,
}
CONVERSIONS = (Interaction.PURCHASED, Interaction.PURCHASE_INTENT)


@dataclass(frozen=True, slots=True)
class Impression:
    """One product on a screen. ``position`` is 1-based; ``query`` the search words, conversation taken out."""

    product_id: str
    position: int
    session: str
    query: str = ""
    route: str = ""


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class ShopSignals:
    """What ranking reads of a shop's history, as values: product id -> decayed popularity."""

    popularity: Mapping[str, float] = field(default_factory=dict)


def popularity(events: Iterable[tuple[Interaction, datetime]], now: datetime) -> float:
    """Σ weight · 0.5^(age / 720 h) / √n over one product's interactions; an event of the future counts as new."""
    total, n = 0.0, 0
    for kind, at in events:
        hours = max(0.0, (_aware(now) - _aware(at)).total_seconds() / 3600)
        total += WEIGHTS[kind] * 0.5 ** (hours / HALF_LIFE_HOURS)
        n += 1
    return float(total / n**0.5) if n else 0.0


def examined(position: int) -> float:
    """How probable it is that a shopper looked at ``position`` (1-based) of a list."""
    return float(max(position, 1) ** -EXAMINED_ETA)


def conversion(shown_at: Sequence[int], converted_at: Sequence[int]) -> float:
    """Conversion corrected for position bias: Σ clipped 1/examined over the conversions, by the impressions.

    Self-normalised inverse propensity: each impression counts by how probable it was that it was looked at.
    """
    looked = sum(examined(position) for position in shown_at)
    if not looked:
        return 0.0
    credit = sum(
        min(1.0 / examined(position), LARGEST_WEIGHT) * examined(position) for position in converted_at
    )
    return min(credit / looked, 1.0)


def _aware(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


_MIGRATIONS = {
    "0001 impressions and interactions": """
        CREATE TABLE impression (
          product_id TEXT NOT NULL, position INTEGER NOT NULL, session TEXT NOT NULL, query TEXT NOT NULL,
          route TEXT NOT NULL, at TEXT NOT NULL);
        CREATE INDEX impression_product ON impression(product_id);
        CREATE TABLE interaction (
          product_id TEXT NOT NULL, kind TEXT NOT NULL, session TEXT NOT NULL, position INTEGER, at TEXT NOT NULL);
        CREATE INDEX interaction_product ON interaction(product_id);
    """,
}


class SignalStore:
    """The signals file of one catalogue: ``<catalogue>.signals.db``. Safe for several processes; every write is one
    ``BEGIN IMMEDIATE``. Raises ``CatalogueError`` when the file cannot be used."""

    def __init__(self, catalogue_path: Path) -> None:
        self.path = catalogue_path.with_suffix(".signals.db")

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return open_sidecar(self.path, _MIGRATIONS)

    def log_impressions(self, shown: Iterable[Impression], at: datetime) -> None:
        """Record what was put on the screen."""
        rows = [
            (i.product_id, i.position, i.session, i.query, i.route, _aware(at).isoformat()) for i in shown
        ]
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT INTO impression VALUES (?, ?, ?, ?, ?, ?)", rows)
            db.execute("COMMIT")

    def log_interactions(
        self,
        done: Iterable[tuple[str, Interaction]],
        at: datetime,
        *,
        session: str = "",
        position: int | None = None,
    ) -> None:
        """Record what a shopper did: (product id, kind)."""
        rows = [
            (product_id, str(kind), session, position, _aware(at).isoformat()) for product_id, kind in done
        ]
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT INTO interaction VALUES (?, ?, ?, ?, ?)", rows)
            db.execute("COMMIT")

    def snapshot(self, now: datetime) -> ShopSignals:
        """Popularity of every product with interactions, decayed to ``now``; empty when nothing was logged."""
        if not self.path.exists():
            return ShopSignals()
        events: dict[str, list[tuple[Interaction, datetime]]] = defaultdict(list)
        with self._open() as db:
            for product_id, kind, at in db.execute("SELECT product_id, kind, at FROM interaction"):
                events[product_id].append((Interaction(kind), datetime.fromisoformat(at)))
        return ShopSignals({product_id: popularity(found, now) for product_id, found in events.items()})

    def interactions(self) -> list[tuple[str, str, Interaction]]:
        """(session, product id, kind) of everything that was done, oldest first; without sessions it tells nothing of taste."""
        if not self.path.exists():
            return []
        with self._open() as db:
            rows = db.execute(
                "SELECT session, product_id, kind FROM interaction WHERE session != ''"
            ).fetchall()
        return [(session, product_id, Interaction(kind)) for session, product_id, kind in rows]

    def conversions(self) -> Mapping[str, float]:
        """Product id -> conversion corrected for position bias (see ``conversion``), for products that were shown."""
        if not self.path.exists():
            return {}
        shown: dict[str, list[int]] = defaultdict(list)
        place: dict[tuple[str, str], int] = {}
        converted: dict[str, list[int]] = defaultdict(list)
        with self._open() as db:
            for product_id, position, session in db.execute(
                "SELECT product_id, position, session FROM impression"
            ):
                shown[product_id].append(position)
                place[product_id, session] = position
            marks = ", ".join("?" * len(CONVERSIONS))
            query = f"SELECT DISTINCT product_id, session, position FROM interaction WHERE kind IN ({marks})"
            for product_id, session, position in db.execute(query, [str(kind) for kind in CONVERSIONS]):
                converted[product_id].append(position or place.get((product_id, session), 1))
        return {
            product_id: conversion(found, converted.get(product_id, ()))
            for product_id, found in shown.items()
        }

    def forget_session(self, session: str) -> None:
        """Remove all that one session left."""
        if not self.path.exists():
            return
        with self._open() as db:
            db.execute("PRAGMA secure_delete = ON")
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM impression WHERE session = ?", (session,))
            db.execute("DELETE FROM interaction WHERE session = ?", (session,))
            db.execute("COMMIT")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
