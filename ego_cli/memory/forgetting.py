"""How memories fade. Two named policies; both are pure functions of a row and a moment.

``ego-v1`` is the Ego seed's exponential curve, to the bit. ``shop-v2`` is the default: a power-law curve with the
shape of FSRS (R falls to 0.9 after S days), under which nothing that a shopper said is deleted by time alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from ego_cli.errors import MisuseError
from ego_cli.memory.entry import DECLARED, EPISODIC, QUIZ, Entry, as_utc
from ego_cli.settings import load_toml

DAY_S = 86_400.0

# ego-v1, from the Ego seed
EGO_HALF_LIFE_DAYS = 7.0  # the seed's name for it; it is the time constant at no use (R falls to 1/e)
EGO_ACCESS_BOOST = 0.08  # importance gained by a recall
EGO_PRUNE_BELOW = 0.05
EGO_CAP_ROWS = 200
EGO_OVERLAP_WEIGHT = 0.5

# shop-v2. Curve: FSRS-4.5 (R(S) = 0.9). Stabilities: days after which a memory of that kind is 90 % certain to matter.
CURVE_POWER = 0.5
CURVE_FACTOR = 0.9 ** (-1 / CURVE_POWER) - 1  # 19/81
STABILITY_DAYS = {"intent": 2.0, "episode": 14.0, "inferred": 60.0, "declared": 365.0}
STABILITY_CAP_DAYS = 3_650.0
REINFORCE_GAIN = 3.0  # S grows by GAIN·(exp(SPACING·(1 − R)) − 1): about doubled when used after S days
REINFORCE_SPACING = 3.0
DECAY_RERANK_SHARE = 0.1  # decay may take at most this share of a score
ARCHIVE_BELOW = 0.5
QUOTA_ROWS = 20_000  # unprotected rows of one shopper


@dataclass(frozen=True, slots=True)
class Pruning:
    """What a policy would do with rows that stand now: ids to delete and ids to archive."""

    delete: tuple[int, ...] = ()
    archive: tuple[int, ...] = ()


class Policy(Protocol):
    """A way of forgetting."""

    name: str

    def retention(self, entry: Entry, now: datetime) -> float:
        """R in 0..1 at ``now``; never rising with time as long as the row is not used."""
        ...

    def reinforced(self, entry: Entry, now: datetime) -> Entry:
        """The row after it was used in an answer at ``now``: its retention never falls by that, then or later."""
        ...

    def score(self, relevance: float, overlap: float, retention: float) -> float:
        """Rank value of a row: ``relevance`` of a search (any scale), ``overlap`` = share of query words in it."""
        ...

    def pruning(self, entries: Iterable[Entry], now: datetime) -> Pruning:
        """What to delete and what to archive at ``now``."""
        ...


def elapsed_days(entry: Entry, now: datetime) -> float:
    """Days since a row's clock was last reset; a clock in the future counts as now."""
    return max(0.0, (as_utc(now) - as_utc(entry.clock_start)).total_seconds() / DAY_S)


class EgoV1:
    """R(t) = importance·exp(−(t / 7 d) / √(1 + uses)), as the Ego seed gives it.

    By that formula importance 1.0 reaches the threshold 0.05 after 7·ln 20 = 20.97 days and 0.5 after 16.12 days; the
    seed's "about 37 days" does not follow from it.
    """

    name = "ego-v1"

    def retention(self, entry: Entry, now: datetime) -> float:
        t = elapsed_days(entry, now)
        return entry.importance * math.exp(-(t / EGO_HALF_LIFE_DAYS) / math.sqrt(1 + entry.uses))

    def reinforced(self, entry: Entry, now: datetime) -> Entry:
        return replace(
            entry,
            uses=entry.uses + 1,
            importance=max(entry.importance, min(1.0, entry.importance + EGO_ACCESS_BOOST)),
            used=max(as_utc(now), as_utc(entry.clock_start)),
        )

    def score(self, relevance: float, overlap: float, retention: float) -> float:
        return retention * (1.0 + EGO_OVERLAP_WEIGHT * overlap)

    def pruning(self, entries: Iterable[Entry], now: datetime) -> Pruning:
        loose = [entry for entry in entries if not entry.pinned]
        faded = {entry.id for entry in loose if self.retention(entry, now) < EGO_PRUNE_BELOW}
        kept = sorted(
            (e for e in loose if e.id not in faded), key=lambda e: (e.importance, e.clock_start, e.id)
        )
        over = kept[: max(0, len(kept) - EGO_CAP_ROWS)]
        return Pruning(delete=tuple(sorted(faded | {entry.id for entry in over})))


class ShopV2:
    """R(t) = (1 + F·t/S)^−w with S by kind; protected and pinned rows never fade; time archives, it does not delete."""

    name = "shop-v2"

    def retention(self, entry: Entry, now: datetime) -> float:
        if is_protected(entry):
            return 1.0
        return retention_curve(elapsed_days(entry, now), entry.stability)

    def reinforced(self, entry: Entry, now: datetime) -> Entry:
        fresh = retention_curve(elapsed_days(entry, now), entry.stability)
        return replace(
            entry,
            uses=entry.uses + 1,
            stability=grown(entry.stability, fresh),
            used=max(as_utc(now), as_utc(entry.clock_start)),
        )

    def score(self, relevance: float, overlap: float, retention: float) -> float:
        return relevance * (1.0 - DECAY_RERANK_SHARE * (1.0 - retention))

    def pruning(self, entries: Iterable[Entry], now: datetime) -> Pruning:
        moment = as_utc(now)
        rows = list(entries)
        expired = {e.id for e in rows if e.expires is not None and as_utc(e.expires) <= moment}
        loose = sorted(
            (e for e in rows if e.id not in expired and not is_protected(e)),
            key=lambda e: (self.retention(e, now), e.clock_start, e.id),
        )
        over = {entry.id for entry in loose[: max(0, len(loose) - QUOTA_ROWS)]}
        faded = tuple(
            e.id
            for e in loose
            if e.id not in over and not e.archived and self.retention(e, now) < ARCHIVE_BELOW
        )
        return Pruning(delete=tuple(sorted(expired | over)), archive=tuple(sorted(faded)))


def retention_curve(days: float, stability: float) -> float:
    """(1 + F·t/S)^−w: 1 at 0 days, 0.9 at ``stability`` days, about 0.5 at 12.8 times that."""
    return float((1.0 + CURVE_FACTOR * max(0.0, days) / max(stability, 1e-9)) ** -CURVE_POWER)


def grown(stability: float, retention: float) -> float:
    """Stability in days after a use at this retention: much when nearly forgotten, almost nothing when fresh."""
    factor = 1.0 + REINFORCE_GAIN * math.expm1(REINFORCE_SPACING * (1.0 - min(1.0, max(0.0, retention))))
    return max(stability, min(STABILITY_CAP_DAYS, stability * factor))


def first_stability(kind: str, tier: str, source: str) -> float:
    """S in days of a new row."""
    if kind in load_toml("memory.toml")["kinds"]["intent"]:
        return STABILITY_DAYS["intent"]
    if tier == EPISODIC:
        return STABILITY_DAYS["episode"]
    return STABILITY_DAYS["declared" if source in (DECLARED, QUIZ) else "inferred"]


def is_protected(entry: Entry) -> bool:
    """Whether no clock and no quota may touch a row: pinned, or of a kind whose loss would hurt."""
    return entry.pinned or (
        entry.source in (DECLARED, QUIZ) and entry.kind in load_toml("memory.toml")["kinds"]["protected"]
    )


POLICIES: dict[str, Policy] = {policy.name: policy for policy in (EgoV1(), ShopV2())}


def policy_named(name: str) -> Policy:
    """Look up a policy; ``MisuseError`` names those there are."""
    try:
        return POLICIES[name]
    except KeyError:
        raise MisuseError(
            f"no forgetting policy is called {name!r}", hint=f"one of {', '.join(POLICIES)}"
        ) from None
