"""From acts to changes: what a sentence does to the state.

``update`` reads acts in the order in which they were said and emits typed changes (``state.KINDS``); it never edits a state
by hand, so whatever it does can be undone, explained and replayed from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ego_cli.conversation import basket, minds, reactions, wishes
from ego_cli.conversation.draft import Draft, Fits
from ego_cli.conversation.references import Resolved, Shelf
from ego_cli.conversation.state import Change, State
from ego_cli.conversation.understand.acts import Kind

# Acts after which a new list is looked for.
SEARCHING = frozenset(
    {
        Kind.NEED, Kind.CONSTRAIN, Kind.RELAX, Kind.OVERRIDE, Kind.RESTORE, Kind.UNDO, Kind.START_OVER, Kind.DROP_WANT,
        Kind.RELATIVE, Kind.SORT, Kind.SHOW_MORE, Kind.MORE_LIKE, Kind.REJECT, Kind.NONE_OF_THESE, Kind.NO_PREFERENCE,
        Kind.UNCLEAR,
    }
)  # fmt: skip


# What clears the ground comes first, then the nouns that adjectives bind to; the rest in the order in which it was said.
_FIRST = {kind: place for place, kind in enumerate((Kind.UNDO, Kind.START_OVER, Kind.OVERRIDE, Kind.NEED))}


def update(
    state: State, resolved: Sequence[Resolved], *, turn: int, shelf: Shelf, fits: Fits
) -> tuple[State, tuple[Change, ...], tuple[str, ...]]:
    """Fold one sentence into the state: the new state, the changes made, and remarks for the reply.

    ``fits(slot, category)`` says whether the shop has products of that type to which the slot can apply; it decides
    what survives a change of topic.
    """
    draft = Draft(state=state, turn=turn, shelf=shelf, fits=fits, reference=state.focus or state.last_shown)
    draft.emit("turn")
    resolved = basket.answer_pending(draft, resolved)
    draft.wishes = [
        item.act for item in resolved if item.act.kind is Kind.CONSTRAIN and item.act.polarity > 0
    ]
    draft.new_wish = any(item.act.kind in (Kind.NEED, Kind.CONSTRAIN, Kind.OVERRIDE) for item in resolved)
    searching = [item for item in resolved if item.act.kind in SEARCHING]
    if searching:
        _leave_last_list(draft, searching)
    first_need = True
    for item in sorted(resolved, key=lambda item: _FIRST.get(item.act.kind, len(_FIRST))):
        act = item.act
        if act.kind is Kind.NEED:
            wishes.need(draft, act, first=first_need)
            first_need = False
        elif handler := _HANDLERS.get(act.kind):
            handler(draft, item)
    wishes.topic_note(draft)
    return draft.state, tuple(draft.changes), tuple(draft.notes)


def _leave_last_list(draft: Draft, searching: Sequence[Resolved]) -> None:
    """A new list is asked for: what the last one showed and nobody took counts against showing it first again."""
    kinds = {item.act.kind for item in searching}
    if kinds <= {Kind.UNDO, Kind.RESTORE, Kind.SORT}:
        draft.emit("more", after=())
        return
    taken = {line.product_id for line in draft.state.basket} | set(draft.state.focus)
    left = tuple(pid for pid in draft.state.last_shown if pid not in taken)
    if left:
        draft.emit("passed-over", after=left)
    draft.emit("more", after=tuple(sorted(draft.state.seen)) if Kind.SHOW_MORE in kinds else ())
    if draft.state.like and Kind.MORE_LIKE not in kinds and Kind.SHOW_MORE not in kinds:
        draft.emit("liked", after=())
    if draft.state.focus and kinds & {Kind.NEED, Kind.START_OVER}:
        draft.emit("focused", after=())


_HANDLERS: dict[Kind, Callable[[Draft, Resolved], None]] = {
    Kind.CONSTRAIN: wishes.constrain,
    Kind.RELAX: minds.relax,
    Kind.OVERRIDE: minds.override,
    Kind.RESTORE: minds.restore,
    Kind.UNDO: minds.undo,
    Kind.START_OVER: minds.start_over,
    Kind.DROP_WANT: wishes.drop_want,
    Kind.RELATIVE: reactions.relative,
    Kind.SORT: reactions.sort,
    Kind.MORE_LIKE: reactions.more_like,
    Kind.REJECT: reactions.reject,
    Kind.NONE_OF_THESE: reactions.reject,
    Kind.NO_PREFERENCE: reactions.no_preference,
    Kind.REFER: reactions.focus,
    Kind.ASK: reactions.focus,
    Kind.WHY: reactions.focus,
    Kind.FEEDBACK: reactions.feedback,
    Kind.RATE: reactions.focus,
    Kind.BASKET_ADD: basket.add,
    Kind.BASKET_REMOVE: basket.remove,
    Kind.BASKET_QUANTITY: basket.set_quantity,
    Kind.BASKET_CLEAR: basket.clear,
}
