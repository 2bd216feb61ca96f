"""A conversation after something was forgotten: it goes on, without the words that led to it.

What stands is told anew as a short log that quotes nobody and begins before the first turn, so that nothing reaches back
behind it: no undo, no "why", no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ego_cli.conversation.state import Budget, Change, Excluded, State, Want, rebuild
from ego_cli.conversation.words import stems

BEFORE = 0  # the turn of what is told anew; turns of a conversation begin with 1


def wiped(state: State, forgotten: Sequence[str] = (), *, everything: bool = False) -> State:
    """The state without its past and without what ``forgotten`` words name; of ``everything`` the basket and lists stay."""
    words = frozenset(stem for text in forgotten for stem in stems(text.replace(",", "")))
    return rebuild([*_what_stays(state), *(() if everything else _what_was_said(state, words))])


def _what_stays(state: State) -> Iterator[Change]:
    """Products, in the shop's words."""
    yield Change("turn", state.turn)
    for shown in state.shown:
        yield Change("shown", BEFORE, after=shown)
    yield Change("basket", BEFORE, after=state.basket)


def _what_was_said(state: State, forgotten: frozenset[str]) -> Iterator[Change]:
    for want in state.wants:
        yield Change("wanted", BEFORE, after=_clean_want(want, forgotten), want=want.id)
    if state.want is not None:
        yield Change("activated", BEFORE, want=state.want.id)
    if (budget := _clean_budget(state.budget, forgotten)) is not None:
        yield Change("budget", BEFORE, after=budget)
    for excluded in state.exclusions:
        if not _names(f"{excluded.value} {excluded.subject or ''}", forgotten):
            yield Change("excluded", BEFORE, after=replace(excluded, words=""))
    for value in sorted(state.lifted):
        if not _names(value, forgotten):
            yield Change("readmitted", BEFORE, before=Excluded(value, source="memory"))
    for attribute in sorted(state.refused):
        yield Change("no-preference", BEFORE, attribute=attribute)
    for attribute in state.asked:
        yield Change("asked", BEFORE, attribute=attribute)
    left = dict(state.passed_over)
    while left:
        yield Change("passed-over", BEFORE, after=tuple(left))
        left = {product_id: times - 1 for product_id, times in left.items() if times > 1}
    for kind, ids in (("rejected", sorted(state.rejected)), ("liked", state.like), ("focused", state.focus)):
        yield Change(kind, BEFORE, after=tuple(ids))
    yield Change("more", BEFORE, after=tuple(sorted(state.seen)))
    yield Change("sorted", BEFORE, after=state.sort)
    yield Change("pending", BEFORE, after=state.pending)


def _clean_want(want: Want, forgotten: frozenset[str]) -> Want:
    slots = tuple(
        replace(slot, words="") for slot in want.slots if not _names(slot.text.replace(",", ""), forgotten)
    )
    subject = None if want.subject is None or _names(want.subject, forgotten) else want.subject
    return replace(want, slots=slots, budget=_clean_budget(want.budget, forgotten), subject=subject, words="")


def _clean_budget(budget: Budget | None, forgotten: frozenset[str]) -> Budget | None:
    if budget is None or _names(budget.text.replace(",", ""), forgotten):
        return None
    return replace(budget, words="")


def _names(text: str, forgotten: frozenset[str]) -> bool:
    """Whether a value is made of words that were forgotten, one of them at least."""
    return bool(set(stems(text)) & forgotten)
