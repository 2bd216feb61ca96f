"""The inspector's one value: everything it shows, frozen, and how each event of a turn moves it on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ego_cli.conversation.events import (
    Card,
    Decided,
    Decision,
    Event,
    MemoryUse,
    ModelCall,
    ModelCalled,
    Notice,
    RankedEvent,
    Recalled,
    ReplyDelta,
    StateChanged,
    TurnDone,
    TurnStarted,
    Understood,
)
from ego_cli.conversation.state import Change, State
from ego_cli.ranking.scored import Ranked, Scored
from ego_cli.tui.engine import MemoryPage

TURNS_IN_SPARKLINE = 30


@dataclass(frozen=True, slots=True)
class Spending:
    """What language models have cost in this session."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    fallbacks: int = 0
    cached: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def plus(self, call: ModelCall) -> Spending:
        """With one more call; what the cache answered cost nothing."""
        if call.cached:
            return replace(self, calls=self.calls + 1, cached=self.cached + 1)
        return Spending(
            self.calls + 1,
            self.prompt_tokens + call.prompt_tokens,
            self.completion_tokens + call.completion_tokens,
            self.cost_usd + call.cost_usd,
            self.fallbacks + call.fallback,
            self.cached,
        )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the inspector shows. ``stage`` names what the engine is at while ``busy``. ``listed`` is the newest list
    that had products, which "number 2" still means; ``lengths`` says how many of each of ``ranked`` were shown; ``selected`` is a 0-based position in it. ``timings`` holds the last turns' milliseconds by stage, newest last."""

    turn: int = 0
    busy: bool = False
    stage: str = ""
    state: State = field(default_factory=State)
    changes: tuple[Change, ...] = ()
    decision: Decision = field(default_factory=Decision)
    listed: tuple[Scored, ...] = ()
    lengths: tuple[int, ...] = ()
    ranked: tuple[Ranked, ...] = ()
    cards: tuple[Card, ...] = ()
    selected: int = 0
    uses: tuple[MemoryUse, ...] = ()
    memory: MemoryPage = field(default_factory=MemoryPage)
    calls: tuple[ModelCall, ...] = ()
    spending: Spending = field(default_factory=Spending)
    model: str = ""
    token_budget: int = 0
    timings: tuple[Mapping[str, float], ...] = ()
    nudges: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def chosen(self) -> Scored | None:
        """The product whose score is taken apart."""
        return self.listed[min(self.selected, len(self.listed) - 1)] if self.listed else None


def fold(snapshot: Snapshot, event: Event) -> Snapshot:
    """The snapshot after ``event``."""
    match event:
        case TurnStarted(turn=turn):
            return replace(
                snapshot, turn=turn, busy=True, stage="reading", changes=(), uses=(), calls=(), notices=()
            )
        case Understood():
            return replace(snapshot, stage="updating")
        case StateChanged(state=state, changes=changes):
            return replace(snapshot, state=state, changes=changes, stage="searching")
        case Recalled(uses=uses):
            return replace(snapshot, uses=uses)
        case RankedEvent(ranked=ranked):
            earlier = snapshot.ranked if snapshot.stage == "deciding" else ()
            return replace(snapshot, ranked=(*earlier, ranked), stage="deciding")
        case Decided(decision=decision):
            return replace(
                snapshot,
                decision=decision,
                listed=decision.shown or snapshot.listed,
                lengths=_lengths(decision) or snapshot.lengths,
                selected=0 if decision.shown else snapshot.selected,
                stage="replying",
            )
        case ModelCalled(call=call):
            return replace(snapshot, calls=(*snapshot.calls, call), spending=snapshot.spending.plus(call))
        case Notice():
            return replace(snapshot, notices=(*snapshot.notices, event))
        case ReplyDelta():
            return snapshot
        case TurnDone():
            return _done(snapshot, event)


def _lengths(decision: Decision) -> tuple[int, ...]:
    return tuple(len(group.items) for group in decision.groups)


def _done(snapshot: Snapshot, done: TurnDone) -> Snapshot:
    spending = snapshot.spending
    for call in done.calls[len(snapshot.calls) :]:
        spending = spending.plus(call)
    return replace(
        snapshot,
        turn=done.turn,
        busy=False,
        stage="",
        state=done.state,
        changes=done.changes,
        decision=done.decision,
        listed=done.decision.shown or snapshot.listed,
        lengths=_lengths(done.decision) or snapshot.lengths,
        ranked=done.ranked or snapshot.ranked,
        cards=done.reply.cards or snapshot.cards,
        uses=done.memory,
        calls=done.calls,
        spending=spending,
        timings=(*snapshot.timings, done.timings_ms)[-TURNS_IN_SPARKLINE:],
        notices=done.notices,
    )
