"""From acts to changes: what a sentence does to the state.

``update`` reads acts in the order in which they were said and emits typed changes (``state.KINDS``); it never edits a state
by hand, so whatever it does can be undone, explained and replayed from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from ego_cli.conversation import basket
from ego_cli.conversation.answers import Measure, measure
from ego_cli.conversation.draft import Draft, Fits
from ego_cli.conversation.references import Resolved, Shelf
from ego_cli.conversation.state import (
    CHANGED_MIND,
    Budget,
    Change,
    Excluded,
    Slot,
    State,
    Want,
    undoable_turn,
)
from ego_cli.conversation.understand.acts import Act, Kind, Operator
from ego_cli.conversation.words import stems

# Said again with another value, these replace what was held; all others add up.
SINGLE_VALUED = frozenset({"colour", "size", "brand", "gender", "material", "condition"})

# Acts after which a new list is looked for.
SEARCHING = frozenset(
    {
        Kind.NEED, Kind.CONSTRAIN, Kind.RELAX, Kind.OVERRIDE, Kind.RESTORE, Kind.UNDO, Kind.START_OVER, Kind.DROP_WANT,
        Kind.RELATIVE, Kind.SORT, Kind.SHOW_MORE, Kind.MORE_LIKE, Kind.REJECT, Kind.NONE_OF_THESE, Kind.NO_PREFERENCE,
        Kind.UNCLEAR,
    }
)  # fmt: skip


NEW_TOPIC = "new topic"

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
            _need(draft, act, first=first_need)
            first_need = False
        elif handler := _HANDLERS.get(act.kind):
            handler(draft, item)
    _topic_note(draft)
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


# --- wants -----------------------------------------------------------------------------------------------------------


def same_type(one: str, other: str) -> bool:
    """Whether two product types are the same or one refines the other ("boots", "chelsea boots")."""
    a, b = set(stems(one)), set(stems(other))
    return bool(a and b) and (a <= b or b <= a)


def _need(draft: Draft, act: Act, *, first: bool) -> None:
    category = act.value or ""
    state = draft.state
    held = next((want for want in reversed(state.wants) if same_type(want.category, category)), None)
    if held is None:
        held = next((want for want in state.wants if not want.category), None)
    quantity = int(act.number) if act.number else None
    if held is not None:
        more_exact = category if len(stems(category)) >= len(stems(held.category)) else held.category
        refined = replace(
            held,
            category=more_exact,
            quantity=quantity or held.quantity,
            subject=act.subject or held.subject,
        )
        if (refined.category, refined.quantity, refined.subject) != (
            held.category,
            held.quantity,
            held.subject,
        ):
            draft.emit("refined", want=held.id, before=held, after=refined, words=act.words)
        draft.emit("activated", want=held.id)
        draft.new_wants[act.group or 0] = held.id
        return
    added = act.note in ("also", "add")
    if first and not added and state.wants:
        carried = _switch_topic(draft, category, act)
    else:
        carried = ()
    want = Want(
        id=draft.next_want_id,
        category=category,
        slots=carried,
        quantity=quantity,
        subject=act.subject,
        turn=draft.turn,
        words=act.words,
    )
    draft.emit("wanted", want=want.id, after=want, words=act.words)
    draft.new_wants[act.group or 0] = want.id


def _switch_topic(draft: Draft, category: str, act: Act) -> tuple[Slot, ...]:
    """Drop the old wants; keep, of the one talked about, the slots that apply to the new type, and note what went."""
    old = draft.state.want
    carried: list[Slot] = []
    for slot in old.slots if old else ():
        # A colour or a wish belonged to the old thing; a size, a brand or whom it is for belongs to the shopper.
        if slot.attribute in ("size", "gender") and draft.fits(slot, category):
            carried.append(slot)
        elif old is not None:
            draft.emit(
                "cleared",
                want=old.id,
                before=slot,
                attribute=slot.attribute,
                words=act.words,
                reason=NEW_TOPIC,
            )
            draft.let_go.append(slot.text)
    for want in draft.state.wants:
        draft.emit("dropped", want=want.id, before=want, words=act.words, reason=NEW_TOPIC)
    budget = draft.state.budget
    if budget is not None and budget.source == "shown":
        # "Cheaper than that one" says nothing about what a new thing may cost.
        draft.emit("budget", attribute="price", before=budget, after=None, words=act.words, reason=NEW_TOPIC)
    draft.carried += [slot.text for slot in carried]
    return tuple(carried)


def _topic_note(draft: Draft) -> None:
    """Say what a change of topic kept and what it let go."""
    switched = any(change.kind == "dropped" and change.reason == NEW_TOPIC for change in draft.changes)
    if not switched:
        return
    kept = list(draft.carried)
    if draft.state.budget is not None and draft.state.budget.turn < draft.turn:
        kept.append("your budget")
    parts = [f"kept {' and '.join(kept)}"] if kept else []
    if draft.let_go:
        parts.append(f"let go of {', '.join(draft.let_go)}")
    if parts:
        wanted = " and ".join(want.category.lower() for want in draft.state.wants)
        draft.notes.append(f"New search for {wanted}: {'; '.join(parts)}.")


def _drop_want(draft: Draft, item: Resolved) -> None:
    for want in draft.state.wants:
        if same_type(want.category, item.act.value or ""):
            draft.emit("dropped", want=want.id, before=want, words=item.act.words)
            return


def _wants_of(draft: Draft, act: Act) -> list[Want]:
    """The wants that a constraint belongs to: the noun beside it, else all wants of this sentence, else the active one."""
    wants = draft.state.wants
    if act.group is not None and act.group in draft.new_wants:
        return [want for want in wants if want.id == draft.new_wants[act.group]]
    if len(draft.new_wants) > 1:
        ids = set(draft.new_wants.values())
        return [want for want in wants if want.id in ids]
    if draft.state.want is not None:
        return [draft.state.want]
    want = Want(id=draft.next_want_id, turn=draft.turn, words=act.words)
    draft.emit("wanted", want=want.id, after=want, words=act.words)
    return [want]


# --- constraints -----------------------------------------------------------------------------------------------------


def _constrain(draft: Draft, item: Resolved) -> None:
    act = item.act
    if act.polarity < 0:
        _exclude(draft, act)
    elif act.attribute == "price":
        _price(draft, act)
    elif act.attribute == "category" and not any(want.category for want in draft.state.wants):
        _need(draft, act, first=True)
    else:
        for want in _wants_of(draft, act):
            _slot(draft, act, want)


def _values(act: Act) -> tuple[str, ...]:
    return act.values or ((act.value,) if act.value else ())


def _slot(draft: Draft, act: Act, want: Want) -> None:
    # A word for the kind of thing, said of a thing that is already looked for, is a wish about it.
    attribute = "feature" if act.attribute in (None, "category") else act.attribute
    new = Slot(
        attribute=attribute,
        operator=str(act.operator or Operator.IS),
        values=_values(act),
        number=act.number,
        unit=act.unit,
        hardness=str(act.hardness),
        source=act.source,
        turn=draft.turn,
        words=act.words,
    )
    for excluded in draft.state.exclusions:
        if any(set(stems(excluded.value)) == set(stems(value)) for value in new.values):
            draft.emit("readmitted", before=excluded, attribute=excluded.attribute, words=act.words)
    rivals = [slot for slot in want.slots if _rival(slot, new)]
    if act.note == "also" and rivals and new.values:
        values = tuple(dict.fromkeys([*rivals[-1].values, *new.values]))
        new = replace(new, operator="any_of", values=values)
        draft.emit("set", want=want.id, attribute=attribute, before=rivals[-1], after=new, words=act.words)
        return
    for rival in rivals:
        if _same_value(rival, new):
            # Said again: nothing changes but how lately it was confirmed.
            draft.emit(
                "narrowed", want=want.id, attribute=attribute, before=rival, after=new, words=act.words
            )
            return
    if not rivals:
        draft.emit("set", want=want.id, attribute=attribute, after=new, words=act.words)
        return
    for rival in rivals[:-1]:
        draft.emit(
            "erased", want=want.id, attribute=attribute, before=rival, words=act.words, reason=CHANGED_MIND
        )
    kind = "narrowed" if _narrows(rivals[-1], new) else "replaced"
    draft.emit(
        kind,
        want=want.id,
        attribute=attribute,
        before=rivals[-1],
        after=new,
        words=act.words,
        reason=CHANGED_MIND if kind == "replaced" else "",
    )


def _rival(old: Slot, new: Slot) -> bool:
    """Whether the two cannot both stand: same attribute, single-valued or bounding the same quantity."""
    if old.attribute != new.attribute:
        return False
    if new.number is not None and old.number is not None:
        if (old.unit or "") != (new.unit or ""):
            return False
        if old.turn == new.turn and old.operator == new.operator == "is":
            return False  # "92 % modal, 8 % elastane": two facts of one sentence
        if {old.operator, new.operator} == {"min", "max"}:
            low, high = (old, new) if old.operator == "min" else (new, old)
            return (low.number or 0) > (high.number or 0)
        return True
    if _same_value(old, new):
        return True
    return new.attribute in SINGLE_VALUED and old.turn != new.turn


def _same_value(old: Slot, new: Slot) -> bool:
    return (old.operator, old.number, old.unit) == (new.operator, new.number, new.unit) and [
        set(stems(value)) for value in old.values
    ] == [set(stems(value)) for value in new.values]


def _narrows(old: Slot, new: Slot) -> bool:
    old_stems = {stem for value in old.values for stem in stems(value)}
    new_stems = {stem for value in new.values for stem in stems(value)}
    return bool(old_stems and new_stems) and old_stems <= new_stems


def _exclude(draft: Draft, act: Act) -> None:
    wants = _wants_of(draft, act) if act.group is not None and draft.new_wants else []
    scope = wants[0].id if wants and len(draft.state.wants) > 1 else None
    for value in _values(act):
        excluded = Excluded(
            value=value,
            attribute=act.attribute,
            want=scope,
            subject=act.subject,
            source=act.source,
            turn=draft.turn,
            words=act.words,
        )
        for want in draft.state.wants:
            for slot in want.slots:
                if any(set(stems(held)) == set(stems(value)) for held in slot.values):
                    draft.emit(
                        "erased",
                        want=want.id,
                        attribute=slot.attribute,
                        before=slot,
                        words=act.words,
                        reason=CHANGED_MIND,
                    )
        draft.emit("excluded", want=scope, attribute=act.attribute, after=excluded, words=act.words)
        if act.attribute == "category" and not any(act.group == group for group in draft.new_wants):
            for want in draft.state.wants:
                if set(stems(want.category)) == set(stems(value)):
                    draft.emit("dropped", want=want.id, before=want, words=act.words, reason=CHANGED_MIND)


def _price(draft: Draft, act: Act) -> None:
    several = len(draft.state.wants) > 1
    own = _wants_of(draft, act) if act.group is not None and several and act.per != "all" else []
    owners: list[Want | None] = [*own] or [None]
    for want in owners:
        held = want.budget if want else draft.state.budget
        if held is not None and (act.unit or None) != held.currency and act.unit is not None:
            held = None  # another currency: the old bounds mean nothing beside the new one
        same_sentence = held is not None and held.turn == draft.turn
        budget = _bounded(held or Budget(), act, widen=not same_sentence)
        budget = replace(
            budget,
            currency=act.unit or budget.currency,
            per=act.per or budget.per,
            source=act.source,
            turn=draft.turn,
            words=f"{budget.words}; {act.words}"
            if same_sentence and act.words not in budget.words
            else act.words,
        )
        before = want.budget if want else draft.state.budget
        draft.emit(
            "budget",
            want=want.id if want else None,
            attribute="price",
            before=before,
            after=budget,
            words=act.words,
            reason=CHANGED_MIND if before is not None and not same_sentence else "",
        )


def _bounded(held: Budget, act: Act, *, widen: bool) -> Budget:
    """The bounds after one price constraint; a bound that the new one contradicts goes."""
    number = act.number
    match act.operator:
        case Operator.MIN:
            maximum = (
                held.maximum if held.maximum is None or number is None or held.maximum >= number else None
            )
            return replace(held, minimum=number, maximum=maximum, about=None, band=None)
        case Operator.MAX | Operator.IS | None:
            minimum = (
                held.minimum if held.minimum is None or number is None or held.minimum <= number else None
            )
            return replace(held, maximum=number, minimum=minimum, about=None, band=None)
        case Operator.ABOUT:
            return replace(held, about=number, minimum=None, maximum=None, band=None)
        case _:
            band = str(act.operator)
            return replace(held, band=band) if not widen else Budget(band=band, currency=held.currency)


# --- changes of mind -------------------------------------------------------------------------------------------------


def _override(draft: Draft, item: Resolved) -> None:
    """Erase what was named; when nothing was named, what the words point at: the earlier or the latest wish.

    A new value for an attribute that is held replaces it by itself (``_slot``), so a plain "actually, red" has nothing
    to do here.
    """
    act = item.act
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
                draft.emit(
                    "erased",
                    want=want.id,
                    attribute=slot.attribute,
                    before=slot,
                    words=act.words,
                    reason=CHANGED_MIND,
                )
        return
    # What went is replaced by what is said now, or is not said: no earlier wish may rule a product out any more.
    for slot in before:
        if slot.hardness == "must" and slot.attribute not in ("size", "gender", "brand"):
            softer = replace(slot, hardness="prefer")
            draft.emit(
                "narrowed", want=want.id, attribute=slot.attribute, before=slot, after=softer, words=act.words
            )


# Changes by which she stated a wish.
_SAYING = frozenset({"set", "narrowed", "replaced"})


def _points_back(words: str) -> bool:
    return any(
        cue in words.lower()
        for cue in ("earlier", "first", "before", "initial", "original", "previous", "at the start")
    )


def _relax(draft: Draft, item: Resolved) -> None:
    _erase_matching(draft, item.act, kind="cleared")


def _erase_matching(draft: Draft, act: Act, *, kind: str) -> None:
    """Take out the slots, budget or exclusions that an act names by attribute, by value or by both."""
    if act.attribute == "price" and not act.value:
        _clear_budget(draft, act)
        return
    named = [set(stems(value)) for value in _values(act)]
    found = False
    for want in draft.state.wants:
        for slot in want.slots:
            if _named(slot, act.attribute, named):
                found = True
                draft.emit(
                    kind,
                    want=want.id,
                    attribute=slot.attribute,
                    before=slot,
                    words=act.words,
                    reason=CHANGED_MIND if kind == "erased" else "no longer required",
                )
    for excluded in draft.state.exclusions:
        if excluded.turn == draft.turn and not named:
            continue  # "any brand except Hydrelis": what was ruled out in the same breath stays so
        by_value = any(value & set(stems(excluded.value)) for value in named)
        if by_value or (not named and act.attribute and excluded.attribute == act.attribute and not found):
            found = True
            draft.emit("readmitted", before=excluded, attribute=excluded.attribute, words=act.words)
    if not found and kind == "cleared":
        for value in _values(act):
            # Nothing of this conversation: perhaps an avoidance that memory holds ("leather is fine today").
            draft.emit("readmitted", before=Excluded(value, source="memory"), words=act.words)
    if act.attribute and not named:
        draft.emit("no-preference", attribute=act.attribute, words=act.words)
    if not found and act.attribute is None and not named and kind == "cleared":
        active = draft.state.want
        if active and active.slots:
            last = active.slots[-1]
            draft.emit(
                "cleared",
                want=active.id,
                attribute=last.attribute,
                before=last,
                words=act.words,
                reason="no longer required",
            )


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


def _restore(draft: Draft, item: Resolved) -> None:
    """Take back one thing from the erased list; what stands in its way goes, an exclusion of it too."""
    act = item.act
    named = [set(stems(value)) for value in _values(act)]
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


def _undo(draft: Draft, item: Resolved) -> None:
    turn = undoable_turn(draft.state, before=draft.turn)
    if turn is None:
        draft.notes.append("There is nothing to undo.")
        return
    draft.emit("undone", after=turn, words=item.act.words)
    draft.notes.append("Took back your last change.")


def _start_over(draft: Draft, item: Resolved) -> None:
    draft.emit("restarted", words=item.act.words)


# --- about what was shown --------------------------------------------------------------------------------------------


def _relative(draft: Draft, item: Resolved) -> None:
    """ "Cheaper", "lighter", "bigger": a bound against what was shown where a field states it, else a wish in words."""
    act = item.act
    direction = 1 if (act.number or 0) > 0 else -1
    products = [product for pid in item.ids or draft.reference if (product := draft.shelf(pid))]
    if act.attribute == "price":
        _relative_price(draft, act, direction, [p.price for p in products if p.price is not None])
        return
    found = [m for product in products if (m := measure(product, act.attribute or act.value or ""))]
    wants = _wants_of(draft, act)
    if found and act.number:
        best = (max if direction > 0 else min)(found, key=lambda m: m.number)
        for want in wants:
            _slot(draft, _beyond(act, best, direction), want)
        return
    wish = replace(act, kind=Kind.CONSTRAIN, attribute="feature", operator=Operator.IS, number=None)
    for want in wants:
        _slot(draft, replace(wish, value=act.value or act.words), want)


# A strict bound ("bigger than the 10000 mAh one") as an inclusive one: a thousandth away from what was shown.
_STRICTLY = 1e-3


# Strictly below a price is one unit of money less; a hundredth for small amounts.
WHOLE_UNITS_FROM = 100.0


def _beyond(act: Act, shown: Measure, direction: int) -> Act:
    return replace(
        act,
        kind=Kind.CONSTRAIN,
        attribute=act.attribute or shown.name,
        operator=Operator.MIN if direction > 0 else Operator.MAX,
        number=shown.number * (1 + direction * _STRICTLY),
        unit=shown.unit,
        value=None,
        values=(),
    )


def _relative_price(draft: Draft, act: Act, direction: int, prices: list[float]) -> None:
    """Below (above) the item meant; against a list, at its median: the Ego seed's split over the active candidates."""
    if not prices:
        operator = Operator.LOWER_HALF if direction < 0 else Operator.UPPER_HALF
        _price(draft, replace(act, kind=Kind.CONSTRAIN, attribute="price", operator=operator, number=None))
        return
    step = 1.0 if prices[0] >= WHOLE_UNITS_FROM else 0.01
    bound = prices[0] + direction * step
    if len(prices) > 1:
        bound = (min if direction < 0 else max)(bound, median(prices))
    held = draft.state.budget or Budget()
    if direction < 0 and held.maximum is not None and held.currency is None:
        bound = min(bound, held.maximum)  # "cheaper" never raises what she said she can pay
    after = replace(
        held,
        maximum=bound if direction < 0 else (held.maximum if (held.maximum or bound) > bound else None),
        minimum=bound if direction > 0 else (held.minimum if (held.minimum or 0) < bound else None),
        currency=None,  # shown prices are the catalogue's own
        about=None,
        band=None,
        source="shown",
        turn=draft.turn,
        words=act.words,
    )
    draft.emit("budget", attribute="price", before=draft.state.budget, after=after, words=act.words)


def _sort(draft: Draft, item: Resolved) -> None:
    act = item.act
    draft.emit(
        "sorted", after=(act.attribute or "price", 1 if (act.number or 1) > 0 else -1), words=act.words
    )


def _more_like(draft: Draft, item: Resolved) -> None:
    if item.ids and not item.problem:
        draft.emit("liked", after=item.ids, words=item.act.words)


def _reject(draft: Draft, item: Resolved) -> None:
    """Turn down what was meant. "No, not that, in cotton" turns down a wish, not each product of the list: what was shown
    is passed over once more instead of being hidden."""
    pointed = item.act.target is not None and not item.problem
    ids = item.ids if pointed else (item.choices or draft.state.last_shown)
    plainly = pointed and item.act.target is not None and item.act.target.how != "last"
    if ids and (plainly or not draft.new_wish):
        draft.emit("rejected", after=ids, words=item.act.words)
    elif ids:
        draft.emit("passed-over", after=ids, words=item.act.words)
    draft.emit("focused", after=())


def _no_preference(draft: Draft, item: Resolved) -> None:
    attribute = item.act.attribute or (draft.state.asked[-1] if draft.state.asked else "other")
    draft.emit("no-preference", attribute=attribute, words=item.act.words)


def _focus(draft: Draft, item: Resolved) -> None:
    if item.ids and not item.problem:
        draft.emit("focused", after=item.ids, words=item.act.words)


def _feedback(draft: Draft, item: Resolved) -> None:
    _focus(draft, item)
    if item.act.polarity < 0 and item.ids and not item.problem:
        draft.emit("rejected", after=item.ids, words=item.act.words)


_HANDLERS: dict[Kind, Callable[[Draft, Resolved], None]] = {
    Kind.CONSTRAIN: _constrain,
    Kind.RELAX: _relax,
    Kind.OVERRIDE: _override,
    Kind.RESTORE: _restore,
    Kind.UNDO: _undo,
    Kind.START_OVER: _start_over,
    Kind.DROP_WANT: _drop_want,
    Kind.RELATIVE: _relative,
    Kind.SORT: _sort,
    Kind.MORE_LIKE: _more_like,
    Kind.REJECT: _reject,
    Kind.NONE_OF_THESE: _reject,
    Kind.NO_PREFERENCE: _no_preference,
    Kind.REFER: _focus,
    Kind.ASK: _focus,
    Kind.WHY: _focus,
    Kind.FEEDBACK: _feedback,
    Kind.RATE: _focus,
    Kind.BASKET_ADD: basket.add,
    Kind.BASKET_REMOVE: basket.remove,
    Kind.BASKET_QUANTITY: basket.set_quantity,
    Kind.BASKET_CLEAR: basket.clear,
}
