"""A turn under way: what its stages have found so far, and what becomes part of the state when it is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ego_cli.conversation.asking import PriceBounds
from ego_cli.conversation.events import Decision, MemoryUse, Question, Relaxation, Reply
from ego_cli.conversation.references import Resolved
from ego_cli.conversation.state import Change, Pending, ShownList, State, Want, apply
from ego_cli.conversation.understand.acts import Understanding
from ego_cli.conversation.words import stems
from ego_cli.ranking import laps
from ego_cli.ranking.request import Request
from ego_cli.ranking.scored import Ranked


@dataclass(frozen=True, slots=True)
class Answered:
    """The words for all acts that are no search; ``heard``: memory has taken the sentence in already; ``forgotten``: the
    words of what it has forgotten, "all" for everything."""

    text: str = ""
    question: Question | None = None
    ids: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    heard: bool = False
    forgotten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Searched:
    """One want with the list that was found for it."""

    want: Want | None
    request: Request
    ranked: Ranked
    bounds: PriceBounds
    relaxations: tuple[Relaxation, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """One way through the stages, up to ranked lists: before anything is decided."""

    understanding: Understanding
    resolved: tuple[Resolved, ...]
    state: State
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    uses: tuple[MemoryUse, ...]
    searches: tuple[Searched, ...]
    said: Answered


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a course came to: the decision, its words, and the state with what was shown."""

    course: Course
    decision: Decision
    reply: Reply
    state: State
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class AfterDecision:
    state: State
    changes: tuple[Change, ...]


def wants_to_show(state: State, changes: Sequence[Change]) -> list[Want]:
    """The wants that this sentence touched; all of them when it touched none in particular."""
    touched = {change.want for change in changes if change.want is not None and change.kind != "dropped"}
    mine = [want for want in state.wants if want.id in touched]
    return mine or list(state.wants)


def wish(want: Want | None) -> str:
    """A want in words: "white cotton dress"."""
    if want is None:
        return "product"
    adjectives = [
        slot.text for slot in want.slots if slot.values and slot.attribute in ("colour", "material", "brand")
    ]
    return " ".join([*adjectives, want.category]).strip() or "that"


def after_decision(
    state: State, decision: Decision, searches: Sequence[Searched], turn: int
) -> AfterDecision:
    """What was shown, asked and singled out becomes part of the state."""
    changes: list[Change] = []

    def emit(kind: str, after: object = None, attribute: str | None = None) -> None:
        nonlocal state
        change = Change(kind=kind, turn=turn, after=after, attribute=attribute)
        state = apply(state, change)
        changes.append(change)

    if decision.shown:
        ids = tuple(scored.product.id for scored in decision.shown)
        wants = tuple(group.want for group in decision.groups for _ in group.items)
        emit("shown", ShownList(turn, ids, wants))
        emit("focused", singled_out(decision, searches))
    elif decision.referred:
        emit("focused", decision.referred)
    if decision.question is not None and searches:
        emit("asked", attribute=decision.question.attribute)
    if decision.question is not None and decision.question.attribute == "forget_all":
        emit("pending", Pending("forget_all"))
    return AfterDecision(state, tuple(changes))


def singled_out(decision: Decision, searches: Sequence[Searched]) -> tuple[str, ...]:
    """The one shown product that "it" can only mean: the only one, or the only one whose title has all that was named."""
    shown = decision.shown
    if len(shown) == 1:
        return (shown[0].product.id,)
    if len(searches) != 1 or searches[0].want is None:
        return ()
    want = searches[0].want
    named = {stem for slot in want.slots for value in slot.values for stem in stems(value)}
    if not named:
        return ()
    named |= set(stems(want.category))
    fitting = [scored.product.id for scored in shown if named <= set(stems(scored.product.title))]
    return tuple(fitting) if len(fitting) == 1 else ()


class Stopwatch:
    """Milliseconds by stage."""

    def __init__(self) -> None:
        self._start = self._last = laps.now()
        self._laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """Book the time since the last lap on a stage."""
        now = laps.now()
        self._laps[stage] = self._laps.get(stage, 0.0) + (now - self._last) * 1000
        self._last = now

    def restart(self) -> None:
        """Leave out the time since the last lap: it was booked part by part."""
        self._last = laps.now()

    def add(self, parts: Mapping[str, float]) -> None:
        """Book what a stage measured inside itself, under its own names."""
        for name, ms in parts.items():
            self._laps[name] = self._laps.get(name, 0.0) + ms

    def timings(self) -> dict[str, float]:
        """All laps and the total, in ms."""
        rounded = {name: round(ms, 3) for name, ms in self._laps.items()}
        return {**rounded, "total": round((laps.now() - self._start) * 1000, 3)}
