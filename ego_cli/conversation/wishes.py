"""Changes that hold a wish: wants, their constraints, exclusions and price bounds; what a new topic keeps."""

from __future__ import annotations

from dataclasses import replace

from ego_cli.conversation.draft import Draft
from ego_cli.conversation.references import Resolved
from ego_cli.conversation.state import CHANGED_MIND, Budget, Excluded, Slot, Want
from ego_cli.conversation.understand.acts import Act, Operator
from ego_cli.conversation.words import same_type, stems

# Said again with another value, these replace what was held; all others add up.
SINGLE_VALUED = frozenset({"colour", "size", "brand", "gender", "material", "condition"})

NEW_TOPIC = "new topic"


# --- wants -----------------------------------------------------------------------------------------------------------


def need(draft: Draft, act: Act, *, first: bool) -> None:
    """A thing that is looked for: another look at one that is held, one more, or a new topic in place of the old."""
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
            draft.take_out(old.id, slot, act.words, kind="cleared", reason=NEW_TOPIC)
            draft.let_go.append(slot.text)
    for want in draft.state.wants:
        draft.emit("dropped", want=want.id, before=want, words=act.words, reason=NEW_TOPIC)
    budget = draft.state.budget
    if budget is not None and budget.source == "shown":
        # "Cheaper than that one" says nothing about what a new thing may cost.
        draft.emit("budget", attribute="price", before=budget, after=None, words=act.words, reason=NEW_TOPIC)
    draft.carried += [slot.text for slot in carried]
    return tuple(carried)


def topic_note(draft: Draft) -> None:
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


def drop_want(draft: Draft, item: Resolved) -> None:
    """Leave out the want that is named."""
    for want in draft.state.wants:
        if same_type(want.category, item.act.value or ""):
            draft.emit("dropped", want=want.id, before=want, words=item.act.words)
            return


def wants_of(draft: Draft, act: Act) -> list[Want]:
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


def constrain(draft: Draft, item: Resolved) -> None:
    """A constraint: an exclusion, a price bound, the type itself, or a slot of the wants that it belongs to."""
    act = item.act
    if act.polarity < 0:
        _exclude(draft, act)
    elif act.attribute == "price":
        bound_price(draft, act)
    elif act.attribute == "category" and not any(want.category for want in draft.state.wants):
        need(draft, act, first=True)
    else:
        for want in wants_of(draft, act):
            hold(draft, act, want)


def values_of(act: Act) -> tuple[str, ...]:
    return act.values or ((act.value,) if act.value else ())


def hold(draft: Draft, act: Act, want: Want) -> None:
    """Hold a slot: new, narrowed, widened ("or blue") or in place of a rival; an exclusion of the same value goes."""
    # A word for the kind of thing, said of a thing that is already looked for, is a wish about it.
    attribute = "feature" if act.attribute in (None, "category") else act.attribute
    new = Slot(
        attribute=attribute,
        operator=str(act.operator or Operator.IS),
        values=values_of(act),
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
        draft.take_out(want.id, rival, act.words)
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
    wants = wants_of(draft, act) if act.group is not None and draft.new_wants else []
    scope = wants[0].id if wants and len(draft.state.wants) > 1 else None
    for value in values_of(act):
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
                    draft.take_out(want.id, slot, act.words)
        draft.emit("excluded", want=scope, attribute=act.attribute, after=excluded, words=act.words)
        if act.attribute == "category" and not any(act.group == group for group in draft.new_wants):
            for want in draft.state.wants:
                if set(stems(want.category)) == set(stems(value)):
                    draft.emit("dropped", want=want.id, before=want, words=act.words, reason=CHANGED_MIND)


def bound_price(draft: Draft, act: Act) -> None:
    """Set price bounds: of the want beside it when there are several, else the common budget."""
    several = len(draft.state.wants) > 1
    own = wants_of(draft, act) if act.group is not None and several and act.per != "all" else []
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
