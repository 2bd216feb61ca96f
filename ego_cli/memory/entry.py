"""One memory: a fact about a person, or a thing that happened, with where it came from and when it held."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

ME = "me"  # the subject of a shopper's own facts; anyone else is named by relation ("mother") or name

SEMANTIC, EPISODIC, NARRATIVE = "semantic", "episodic", "narrative"
TIERS = (EPISODIC, SEMANTIC, NARRATIVE)

DECLARED, QUIZ, INFERRED = "declared", "quiz", "inferred"
HIGH, MEDIUM, LOW = "high", "medium", "low"

Clock = Callable[[], datetime]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Embedder(Protocol):
    """Turns texts into vectors, one row each; ``size`` is the length of a row, ``identity`` names the weights."""

    identity: str
    size: int

    def encode(self, texts: Sequence[str], /) -> Any:
        """``len(texts)`` x ``size`` float32, rows of length 1."""
        ...


def utc_now() -> datetime:
    """The clock that is used when no other is given."""
    return datetime.now(UTC)


def as_utc(moment: datetime) -> datetime:
    """The same moment in UTC; a moment without a zone is taken to be UTC already."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def stamp(moment: datetime) -> str:
    """A moment as stored: UTC, fixed width, so that text order is time order."""
    return as_utc(moment).isoformat(timespec="microseconds")


def read_stamp(text: str | None) -> datetime | None:
    """The moment of a stored stamp; None stays None."""
    return None if text is None else datetime.fromisoformat(text)


@dataclass(frozen=True, slots=True)
class Fact:
    """What one clause says, before it is a stored row.

    ``slot`` names what can have only one value at a time (``me|size|shoe``); two facts with one slot and different
    keys contradict each other. ``polarity`` is +1 (for it), -1 (against it) or 0 (neither). ``retracts``: the clause
    only ends what stood in the slot ("I stopped being vegan").
    """

    kind: str
    subject: str
    predicate: str
    object: str
    text: str
    key: str
    slot: str
    polarity: int = 0
    words: str = ""
    retracts: bool = False
    scope: str = ""  # a domain ("fashion") or a product type ("sofa") that the fact is limited to
    tier: str = SEMANTIC
    data: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored row. Times are UTC. It is live while ``valid_to`` is None.

    ``words`` are the shopper's own, ``turn`` and ``session`` say where she said them. ``importance`` is 0-1,
    ``stability`` in days, ``mentions`` counts confirmations, ``uses`` counts answers that it took part in.
    ``data`` holds the payload of an event and every key that this version does not know.
    """

    id: int
    tier: str
    kind: str
    subject: str
    predicate: str
    object: str
    text: str
    polarity: int
    words: str
    turn: int | None
    session: str
    source: str
    confidence: str
    importance: float
    stability: float
    created: datetime
    confirmed: datetime
    used: datetime | None
    valid_from: datetime
    valid_to: datetime | None
    mentions: int = 1
    uses: int = 0
    pinned: bool = False
    expires: datetime | None = None
    archived: bool = False
    scope: str = ""
    key: str = ""
    slot: str = ""
    ended_by: str = ""
    data: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    @property
    def live(self) -> bool:
        """Whether it still holds."""
        return self.valid_to is None

    @property
    def clock_start(self) -> datetime:
        """When its present forgetting began: the last use or confirmation."""
        return max(self.confirmed, self.used) if self.used else self.confirmed
