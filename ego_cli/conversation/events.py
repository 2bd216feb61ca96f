"""What a turn yields, in order. Chat, inspector, ``--json``, demos and evaluations are renderings of these values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ego_cli.llm.telemetry import ModelCall as ModelCall  # a part of events, defined where calls are made
from ego_cli.ranking.scored import Ranked, Reason, Scored

if TYPE_CHECKING:
    from ego_cli.conversation.state import Change, State
    from ego_cli.conversation.understand.acts import Understanding

_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the shopper. ``gain`` is the expected information in bits, ``options`` can be chosen by number."""

    attribute: str  # "other" is the universal probe
    text: str
    options: tuple[str, ...] = ()
    gain: float = 0.0


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A constraint that was given up because nothing met it. ``count``: products that fit without it."""

    attribute: str
    value: str
    count: int
    words: str = ""


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """The products shown for one want, best first. ``want`` is the want's id (0: none); ``lead`` the sentence above them;
    ``price_max`` the bound in force in the catalogue's currency; ``nearest`` what would fit but for its price."""

    want: int
    label: str
    items: tuple[Scored, ...]
    matched: int = 0
    lead: str = ""
    price_max: float | None = None
    nearest: Scored | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with the ranked lists: the route and why, what is shown, what is asked, what was relaxed."""

    route: str = "BROWSING"
    route_reason: str = ""
    groups: tuple[ShownGroup, ...] = ()
    question: Question | None = None
    relaxations: tuple[Relaxation, ...] = ()
    answer: str = ""  # facts that answer a question about shown items, the basket or memory
    referred: tuple[str, ...] = ()  # product ids that the turn was about
    table: tuple[tuple[str, ...], ...] = ()  # rows of a comparison, header first
    notes: tuple[str, ...] = ()  # things to say: "showing results for", the rate used, what was dropped

    @property
    def shown(self) -> tuple[Scored, ...]:
        """All shown products in the order of their positions on the screen."""
        return tuple(item for group in self.groups for item in group.items)


@dataclass(frozen=True, slots=True)
class Card:
    """One shown product, as a front end prints it. ``position`` is 1-based over the whole reply."""

    position: int
    id: str
    title: str
    price: str  # formatted with currency, or "price not listed"
    amount: float | None
    currency: str | None
    rating: str  # "4.6 from 1,204 people", or "not rated yet"
    reasons: tuple[Reason, ...] = ()
    against_budget: str = ""  # "₦1,500 under your budget"
    group: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The words for a decision. ``text`` is all that a shopper reads, product lines included; ``lead`` is the part above
    the cards, ``tail`` the question or note below."""

    text: str
    lead: str = ""
    cards: tuple[Card, ...] = ()
    tail: str = ""
    author: str = "rules"  # or the model's name when the audited text of a model was kept


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """A memory that bore on this turn, and how ("exclusion", "brand affinity", "price range", "context")."""

    entry_id: str
    text: str
    how: str
    retention: float = 1.0


# --- the events themselves -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn: int
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Understood:
    understanding: Understanding


@dataclass(frozen=True, slots=True)
class StateChanged:
    state: State
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Recalled:
    uses: tuple[MemoryUse, ...]


@dataclass(frozen=True, slots=True)
class RankedEvent:
    """One per want that was looked for; ``want`` is the want's id (0: none)."""

    want: int
    ranked: Ranked


@dataclass(frozen=True, slots=True)
class Decided:
    decision: Decision


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """A piece of streamed text. ``restart``: throw away what was streamed so far (a model failed half-way)."""

    text: str
    restart: bool = False


@dataclass(frozen=True, slots=True)
class ModelCalled:
    call: ModelCall


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the person: a fallback, a stage that failed, a catalogue that changed."""

    text: str
    level: str = "info"  # or "warning", "error"


@dataclass(frozen=True, slots=True)
class TurnDone:
    """All of a turn. ``timings_ms`` by stage: understand, state, recall, retrieve, rank, decide, reply, remember, total."""

    turn: int
    text: str
    state: State
    understanding: Understanding
    changes: tuple[Change, ...]
    decision: Decision
    reply: Reply
    ranked: tuple[Ranked, ...] = ()
    memory: tuple[MemoryUse, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    notices: tuple[Notice, ...] = ()
    ended: bool = False  # the shopper said goodbye
    private: bool = False  # she had something forgotten: the words of this turn are not to be kept


Event = (
    TurnStarted
    | Understood
    | StateChanged
    | Recalled
    | RankedEvent
    | Decided
    | ReplyDelta
    | ModelCalled
    | Notice
    | TurnDone
)


def jsonable(value: Any) -> Any:
    """Any of these values as JSON types: dataclasses become objects, datetimes ISO text, sets sorted lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: jsonable(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(jsonable(item) for item in value)
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value
