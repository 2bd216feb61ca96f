"""Changes of mind: what is taken back, given up, brought back or begun anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ego_cli.conversation.draft import Draft
from ego_cli.conversation.references import Resolved
from ego_cli.conversation.state import CHANGED_MIND, Excluded, Slot, Want, undoable_turn
from ego_cli.conversation.understand.acts import Act
from ego_cli.conversation.wishes import SINGLE_VALUED, values_of
from ego_cli.conversation.words import stems


def override(draft: Draft, item: Resolved) -> None:
    """Erase what was named; when nothing was named, what the words point at: the earlier or the latest wish.

    A new value for an attribute that is held replaces it by itself (``_slot``), so a plain "actually, red" has nothing
    to do here.
    """
    act = item.act
    if draft.state.passed_over and (act.attribute or act.value or act.note == "strong"):
        draft.emit("reconsidered", words=act.words)
    if act.attribute or act.value:
        _erase_matching(draft, act, kind="erased")
        return
    if act.note != "strong":
        return
    want = draft.state.want
    before = [slot for slot in want.slots if slot.turn < draft.turn and slot.source == "said"] if want else []
    if not before or want is None:
        return
    replacing = any(
        said.attribute in SINGLE_VALUED and any(slot.attribute == said.attribute for slot in before)
        for said in draft.wishes
    )
    first = min(
        (change.turn for change in draft.state.log if change.kind in _SAYING and change.want == want.id),
        default=want.turn,
    )
    if not replacing and (_points_back(act.words) or first == max(slot.turn for slot in before)):
        for slot in before:
            if slot.turn == first and slot.attribute not in ("size", "gender"):
                draft.take_out(want.id, slot, act.words)
        return
    # What went is replaced by what is said now, or is not said: no earlier wish may rule a product out any more.
    for slot in before:
        if slot.hardness == "must" and slot.attribute not in ("size", "gender", "brand"):
            softer = replace(slot, hardness="prefer")
            draft.emit(
                "narrowed", want=want.id, attribute=slot.attribute, before=slot, after=softer, words=act.words
            )


_NO_LONGER = "no longer required"

# Changes by which she stated a wish.
_SAYING = frozenset({"set", "narrowed", "replaced"})


def _points_back(words: str) -> bool:
    return any(
        cue in words.lower()
        for cue in ("earlier", "first", "before", "initial", "original", "previous", "at the start")
    )


def relax(draft: Draft, item: Resolved) -> None:
    """What is no longer required, by attribute or by value."""
    _erase_matching(draft, item.act, kind="cleared")


def _erase_matching(draft: Draft, act: Act, *, kind: str) -> None:
    """Take out the slots, budget or exclusions that an act names by attribute, by value or by both."""
    if act.attribute == "price" and not act.value:
        _clear_budget(draft, act)
        return
    named = [set(stems(value)) for value in values_of(act)]
    reason = CHANGED_MIND if kind == "erased" else _NO_LONGER
    found = False
    for want in draft.state.wants:
        for slot in want.slots:
            if _named(slot, act.attribute, named):
                found = True
                draft.take_out(want.id, slot, act.words, kind=kind, reason=reason)
    for excluded in draft.state.exclusions:
        if excluded.turn == draft.turn and not named:
            continue  # "any brand except Hydrelis": what was ruled out in the same breath stays so
        by_value = any(value & set(stems(excluded.value)) for value in named)
        if by_value or (not named and act.attribute and excluded.attribute == act.attribute and not found):
            found = True
            draft.emit("readmitted", before=excluded, attribute=excluded.attribute, words=act.words)
    if not found and kind == "cleared":
        for value in values_of(act):
            # Nothing of this conversation: perhaps an avoidance that memory holds ("leather is fine today").
            draft.emit("readmitted", before=Excluded(value, source="memory"), words=act.words)
    if act.attribute and not named:
        draft.emit("no-preference", attribute=act.attribute, words=act.words)
    if not found and act.attribute is None and not named and kind == "cleared":
        active = draft.state.want
        if active and active.slots:
            draft.take_out(active.id, active.slots[-1], act.words, kind="cleared", reason=_NO_LONGER)


def _named(slot: Slot, attribute: str | None, named: Sequence[set[str]]) -> bool:
    own = {stem for value in (*slot.values, slot.words) for stem in stems(value)}
    if named:
        by_value = any(value and value <= own for value in named)
        return by_value or (slot.attribute == attribute and any(value & own for value in named))
    return attribute is not None and slot.attribute == attribute


def _clear_budget(draft: Draft, act: Act) -> None:
    """Let go of every price bound; it stays on the erased list, from which it can come back."""
    holders: list[Want | None] = [None, *draft.state.wants]
    for holder in holders:
        before = holder.budget if holder else draft.state.budget
        if before is not None:
            draft.emit(
                "budget",
                want=holder.id if holder else None,
                attribute="price",
                before=before,
                after=None,
                words=act.words,
                reason=CHANGED_MIND,
            )


def restore(draft: Draft, item: Resolved) -> None:
    """Take back one thing from the erased list; what stands in its way goes, an exclusion of it too."""
    act = item.act
    named = [set(stems(value)) for value in values_of(act)]
    for erased in reversed(draft.state.erased):
        slot = erased.slot
        own = set(stems(slot.text)) | set(stems(slot.words))
        by_value = any(value and value <= own for value in named)
        if not by_value and (named or act.attribute not in (None, slot.attribute)):
            continue
        before: object = draft.state.budget
        if isinstance(slot, Slot):
            before = _in_the_way(draft, erased.want, slot)
            if isinstance(before, Slot):
                draft.emit(
                    "cleared", want=erased.want, attribute=slot.attribute, before=before, words=act.words
                )
            for excluded in draft.state.exclusions:
                if any(set(stems(excluded.value)) == set(stems(value)) for value in slot.values):
                    draft.emit("readmitted", before=excluded, attribute=excluded.attribute, words=act.words)
        draft.emit(
            "restored", want=erased.want, attribute=slot.attribute, before=before, after=slot, words=act.words
        )
        return
    # Not on the erased list: perhaps it is still an exclusion that she lifts.
    _erase_matching(draft, act, kind="cleared")


def _in_the_way(draft: Draft, want_id: int | None, slot: Slot) -> Slot | None:
    """The slot that holds the place of a single-valued one."""
    owner = next((want for want in draft.state.wants if want.id == want_id), draft.state.want)
    if owner is None or slot.attribute not in SINGLE_VALUED:
        return None
    return next((held for held in owner.slots if held.attribute == slot.attribute), None)


def undo(draft: Draft, item: Resolved) -> None:
    """Take back the latest turn that changed anything."""
    turn = undoable_turn(draft.state, before=draft.turn)
    if turn is None:
        draft.notes.append("There is nothing to undo.")
        return
    draft.emit("undone", after=turn, words=item.act.words)
    draft.notes.append("Took back your last change.")


def start_over(draft: Draft, item: Resolved) -> None:
    """Begin anew; the basket stays."""
    draft.emit("restarted", words=item.act.words)
