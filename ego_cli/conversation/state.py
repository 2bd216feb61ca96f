"""The state of a conversation: a log of typed changes, and the value that folding the log gives.

``apply(state, change)`` is the only way a state comes about, so undo, "why", the erased list, saving and replay all read
the same log and have nothing of their own to keep in step. Which changes a sentence makes is decided in ``update.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from types import MappingProxyType

from ego_cli.catalog.text import quantity

_EMPTY: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Slot:
    """One constraint that is in force. ``operator``, ``unit``, ``hardness`` as in ``understand.acts``.

    ``source``: "said", "memory", "profile", "model", or "shown" (measured against what was shown). ``values`` holds words, ``number`` a quantity.
    """

    attribute: str
    operator: str = "is"
    values: tuple[str, ...] = ()
    number: float | None = None
    unit: str | None = None
    hardness: str = "must"
    source: str = "said"
    turn: int = 0
    words: str = ""

    @property
    def text(self) -> str:
        """The value in words, as the inspector prints it."""
        if self.values:
            return " or ".join(self.values) if self.operator == "any_of" else ", ".join(self.values)
        if self.number is None:
            return ""
        sign = {"min": "≥ ", "max": "≤ ", "about": "≈ "}.get(self.operator, "")
        return f"{sign}{quantity(self.number, self.unit)}"


@dataclass(frozen=True, slots=True)
class Budget:
    """Price bounds as the shopper said them, in ``currency`` (ISO; None = the catalogue's). ``per``: "each" or "all"."""

    minimum: float | None = None
    maximum: float | None = None
    currency: str | None = None
    about: float | None = None
    band: str | None = None  # "lower_half" | "upper_half" | "middle"
    per: str = "each"
    source: str = "said"
    turn: int = 0
    words: str = ""

    @property
    def attribute(self) -> str:
        """A budget is the slot of the price."""
        return "price"

    @property
    def text(self) -> str:
        """The bounds in words, without the currency's symbol."""
        parts = []
        if self.minimum is not None:
            parts.append(f"≥ {self.minimum:,.10g}")
        if self.maximum is not None:
            parts.append(f"≤ {self.maximum:,.10g}")
        if self.about is not None:
            parts.append(f"≈ {self.about:,.10g}")
        if self.band:
            parts.append(self.band.replace("_", " "))
        return " and ".join(parts) + (f" {self.currency}" if self.currency and parts else "")


@dataclass(frozen=True, slots=True)
class Want:
    """One thing that is looked for."""

    id: int
    category: str = ""  # product type, in the catalogue's spelling where it knows it
    slots: tuple[Slot, ...] = ()
    budget: Budget | None = None  # None: the conversation's common budget holds
    quantity: int | None = None
    subject: str | None = None  # whom it is for; None = the shopper
    turn: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Excluded:
    """A thing never to be shown. ``want`` None: holds for all wants."""

    value: str
    attribute: str | None = None
    want: int | None = None
    subject: str | None = None
    source: str = "said"
    turn: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Erased:
    """A constraint that a change of mind took out. ``by``: the words that did it."""

    slot: Slot | Budget
    want: int | None
    turn: int
    by: str


@dataclass(frozen=True, slots=True)
class ShownList:
    """One list that was on the screen: product ids in order of position, with the want each stood for."""

    turn: int
    ids: tuple[str, ...]
    wants: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BasketLine:
    """A chosen product with its options ("size" -> "42")."""

    product_id: str
    title: str
    quantity: int = 1
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Pending:
    """What the last question was about, so that a bare answer can be read.

    ``kind``: "option" (a size for a basket line), "which" (several items matched), "forget_all" (sure?).
    ``product_ids``, ``attribute`` and ``quantity`` say for what.
    """

    kind: str
    attribute: str | None = None
    product_ids: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    quantity: int = 1


@dataclass(frozen=True, slots=True)
class Change:
    """One typed change: what happened to what, on which turn, by which words, and why.

    ``kind`` is one of KINDS; ``before`` and ``after`` hold the values of this module that it took out and put in.
    """

    kind: str
    turn: int
    attribute: str | None = None
    before: object = None
    after: object = None
    want: int | None = None  # the want's id
    words: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """Everything that the conversation holds. One value; its ``log`` can rebuild it."""

    wants: tuple[Want, ...] = ()
    active: int = 0  # index into wants
    budget: Budget | None = None
    exclusions: tuple[Excluded, ...] = ()
    lifted: frozenset[str] = frozenset()  # avoidances from memory that she waived in this conversation
    erased: tuple[Erased, ...] = ()
    shown: tuple[ShownList, ...] = ()  # oldest first
    passed_over: Mapping[str, float] = field(default_factory=lambda: _EMPTY)  # product id -> times
    rejected: frozenset[str] = frozenset()
    asked: tuple[str, ...] = ()  # attributes already asked about
    refused: frozenset[str] = frozenset()  # attributes that she has no preference about
    basket: tuple[BasketLine, ...] = ()
    focus: tuple[str, ...] = ()  # product ids last talked about ("it")
    like: tuple[str, ...] = ()  # product ids: "more like these"
    seen: frozenset[str] = frozenset()  # ids already shown for the present request ("show more")
    sort: tuple[str, int] | None = None
    pending: Pending | None = None
    turn: int = 0
    log: tuple[Change, ...] = ()

    @property
    def want(self) -> Want | None:
        """The want that is talked about."""
        return self.wants[self.active] if self.wants else None

    @property
    def last_shown(self) -> tuple[str, ...]:
        """Product ids of the latest list."""
        return self.shown[-1].ids if self.shown else ()


CHANGED_MIND = "she changed her mind"  # the reason that puts a replaced value on the erased list

# What a change does to the state. A kind that is not here cannot be applied.
KINDS = (
    "turn",  # a new turn began
    "wanted",  # after: Want, added and made active
    "dropped",  # before: Want
    "refined",  # before/after: Want; its type, quantity or subject changed
    "activated",  # want
    "set", "narrowed", "replaced",  # after: Slot; before: the Slot it replaces
    "erased",  # before: Slot, kept on the erased list
    "cleared",  # before: Slot, gone without a contradiction ("the brand no longer matters")
    "restored",  # after: Slot, taken back from the erased list
    "budget",  # before/after: Budget or None; want None = the common one
    "excluded", "readmitted",  # after / before: Excluded
    "no-preference",  # attribute
    "sorted",  # after: (attribute, direction) or None
    "shown",  # after: ShownList
    "passed-over",  # after: product ids
    "reconsidered",  # what was passed over under wishes that were taken back counts no more
    "rejected",  # after: product ids
    "focused",  # after: product ids
    "liked",  # after: product ids to find more of
    "more",  # the present request goes on behind what was shown
    "asked",  # attribute
    "pending",  # after: Pending or None
    "basket",  # after: all lines
    "restarted",  # all but the basket is gone
    "remembered",  # memory holds something that this turn said; after: the session under which it does
    "undone",  # after: the number of the turn that is taken back
)  # fmt: skip


def apply(state: State, change: Change) -> State:
    """The state after one change. Pure; raises KeyError for an unknown kind."""
    if change.kind == "undone":
        log = (*state.log, change)
        return replace(_replay(log), log=log, turn=max(state.turn, change.turn))
    return replace(_EFFECTS[change.kind](state, change), log=(*state.log, change))


def fold(state: State, changes: Iterable[Change]) -> State:
    """The state after all changes, in order."""
    return reduce(apply, changes, state)


def rebuild(log: Iterable[Change]) -> State:
    """The state that a whole log gives, from nothing."""
    return fold(State(), log)


def undoable_turn(state: State, before: int) -> int | None:
    """The latest turn earlier than ``before`` whose changes of substance are still in force, or None.

    What was carried over from before a forgetting has turn 0 and cannot be undone.
    """
    undone = {change.after for change in state.log if change.kind == "undone"}
    for change in reversed(state.log):
        if change.kind in _SUBSTANCE and 0 < change.turn < before and change.turn not in undone:
            return change.turn
    return None


# Changes that a person would call a change; the others are bookkeeping of a turn.
_SUBSTANCE = frozenset(KINDS) - {
    "turn",
    "shown",
    "passed-over",
    "reconsidered",
    "focused",
    "asked",
    "pending",
    "more",
    "undone",
    "activated",
}


def _replay(log: tuple[Change, ...]) -> State:
    undone = {change.after for change in log if change.kind == "undone"}
    kept = (change for change in log if change.kind != "undone" and change.turn not in undone)
    return reduce(lambda state, change: _EFFECTS[change.kind](state, change), kept, State())


# --- the effect of each kind -----------------------------------------------------------------------------------------


def _turn(state: State, change: Change) -> State:
    return replace(state, turn=change.turn)


def _wanted(state: State, change: Change) -> State:
    want = change.after
    assert isinstance(want, Want)
    return replace(state, wants=(*state.wants, want), active=len(state.wants))


def _dropped(state: State, change: Change) -> State:
    wants = tuple(want for want in state.wants if want.id != change.want)
    exclusions = tuple(ex for ex in state.exclusions if ex.want is None or ex.want != change.want)
    return replace(
        state, wants=wants, exclusions=exclusions, active=max(0, min(state.active, len(wants) - 1))
    )


def _on_want(state: State, want_id: int | None, edit: Callable[[Want], Want]) -> State:
    wants = tuple(edit(want) if want.id == want_id else want for want in state.wants)
    return replace(state, wants=wants)


def _refined(state: State, change: Change) -> State:
    after = change.after
    assert isinstance(after, Want)
    return _on_want(state, change.want, lambda want: replace(after, slots=want.slots, budget=want.budget))


def _activated(state: State, change: Change) -> State:
    index = next((i for i, want in enumerate(state.wants) if want.id == change.want), state.active)
    return replace(state, active=index)


def _slot_in(state: State, change: Change) -> State:
    before, after = change.before, change.after
    assert isinstance(after, Slot)

    def put(want: Want) -> Want:
        kept = tuple(slot for slot in want.slots if slot != before and slot != after)
        return replace(want, slots=(*kept, after))

    state = _on_want(state, change.want, put)
    if change.kind == "replaced" and isinstance(before, Slot):
        return _remember_erased(state, before, change)
    return state


def _remember_erased(state: State, slot: Slot | Budget, change: Change) -> State:
    erased = Erased(slot=slot, want=change.want, turn=change.turn, by=change.words)
    return replace(state, erased=(*state.erased, erased))


def _slot_out(state: State, change: Change) -> State:
    slot = change.before
    assert isinstance(slot, Slot)
    state = _on_want(
        state, change.want, lambda want: replace(want, slots=tuple(s for s in want.slots if s != slot))
    )
    return _remember_erased(state, slot, change) if change.kind == "erased" else state


def _restored(state: State, change: Change) -> State:
    back = change.after
    state = (_budget if isinstance(back, Budget) else _slot_in)(
        state, replace(change, kind="set", before=None)
    )
    return replace(state, erased=tuple(item for item in state.erased if item.slot != back))


def _budget(state: State, change: Change) -> State:
    after = change.after
    assert after is None or isinstance(after, Budget)
    if isinstance(change.before, Budget) and change.reason == CHANGED_MIND:
        state = _remember_erased(state, change.before, change)
    if change.want is None:
        return replace(state, budget=after)
    return _on_want(state, change.want, lambda want: replace(want, budget=after))


def _excluded(state: State, change: Change) -> State:
    after = change.after
    assert isinstance(after, Excluded)
    if any((ex.value, ex.want) == (after.value, after.want) for ex in state.exclusions):
        return state
    return replace(state, exclusions=(*state.exclusions, after))


def _readmitted(state: State, change: Change) -> State:
    before = change.before
    assert isinstance(before, Excluded)
    kept = tuple(excluded for excluded in state.exclusions if excluded != before)
    lifted = state.lifted | {before.value} if before.source == "memory" else state.lifted
    return replace(state, exclusions=kept, lifted=lifted)


def _no_preference(state: State, change: Change) -> State:
    return replace(state, refused=state.refused | {change.attribute or "other"})


def _sorted(state: State, change: Change) -> State:
    after = change.after
    assert after is None or isinstance(after, tuple)
    return replace(state, sort=after)


def _shown(state: State, change: Change) -> State:
    after = change.after
    assert isinstance(after, ShownList)
    return replace(state, shown=(*state.shown, after), seen=state.seen | frozenset(after.ids))


def _ids(change: Change) -> tuple[str, ...]:
    assert isinstance(change.after, tuple)
    return change.after


def _passed_over(state: State, change: Change) -> State:
    counts = dict(state.passed_over)
    for product_id in _ids(change):
        counts[product_id] = counts.get(product_id, 0.0) + 1.0
    return replace(state, passed_over=MappingProxyType(counts))


def _reconsidered(state: State, change: Change) -> State:
    return replace(state, passed_over=_EMPTY)


def _rejected(state: State, change: Change) -> State:
    return replace(state, rejected=state.rejected | frozenset(_ids(change)))


def _focused(state: State, change: Change) -> State:
    return replace(state, focus=_ids(change))


def _liked(state: State, change: Change) -> State:
    return replace(state, like=_ids(change))


def _more(state: State, change: Change) -> State:
    """Begin or go on with a list: ``after`` is the set of ids that the next list leaves out."""
    return replace(state, seen=frozenset(_ids(change)))


def _asked(state: State, change: Change) -> State:
    return replace(state, asked=(*state.asked, change.attribute or "other"))


def _pending(state: State, change: Change) -> State:
    after = change.after
    assert after is None or isinstance(after, Pending)
    return replace(state, pending=after)


def _basket(state: State, change: Change) -> State:
    lines = change.after
    assert isinstance(lines, tuple)
    return replace(state, basket=lines)


def _remembered(state: State, change: Change) -> State:
    return state  # only the log knows


def _restarted(state: State, change: Change) -> State:
    """Start over: the wishes go; the basket and what was turned down for good stay."""
    return State(basket=state.basket, shown=state.shown, turn=state.turn)


_EFFECTS = {
    "turn": _turn,
    "wanted": _wanted,
    "dropped": _dropped,
    "refined": _refined,
    "activated": _activated,
    "set": _slot_in,
    "narrowed": _slot_in,
    "replaced": _slot_in,
    "erased": _slot_out,
    "cleared": _slot_out,
    "restored": _restored,
    "budget": _budget,
    "excluded": _excluded,
    "readmitted": _readmitted,
    "no-preference": _no_preference,
    "sorted": _sorted,
    "shown": _shown,
    "passed-over": _passed_over,
    "reconsidered": _reconsidered,
    "rejected": _rejected,
    "focused": _focused,
    "liked": _liked,
    "more": _more,
    "asked": _asked,
    "pending": _pending,
    "basket": _basket,
    "remembered": _remembered,
    "restarted": _restarted,
}
