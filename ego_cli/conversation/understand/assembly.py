"""Constraint assembly: runs of names, words and amounts become acts, bound to the product noun beside them.

Adjectives bind to the noun of their run, what follows a noun ("in 43", "with pockets") to the noun before it; a price, an
occasion or what stands behind all nouns belongs to no single one. Words that no list knows stay, in the shopper's own
words, as feature needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ego_cli.conversation.understand.acts import Act, Kind, Operator, Span
from ego_cli.conversation.understand.items import Item
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Name
from ego_cli.conversation.understand.qualities import VALUES, add_amount, add_qualities, relax_attribute
from ego_cli.conversation.understand.readings import Place, reading
from ego_cli.conversation.understand.scopes import Scoped
from ego_cli.conversation.understand.sheet import Sheet
from ego_cli.conversation.understand.wants import add_want

_BANDS = {"lower_half": Operator.LOWER_HALF, "upper_half": Operator.UPPER_HALF, "middle": Operator.MIDDLE}
_SORTS = {
    "cheapest": ("price", 1),
    "dearest": ("price", -1),
    "best_rated": ("rating", -1),
    "most_popular": ("popularity", -1),
}
_FEW_WORDS = 6
"""Up to so many words a message is an answer or a search, not a story about somebody."""


def assemble(sheet: Sheet, runs: Sequence[Scoped]) -> list[Act]:
    """All acts of the runs, in the order in which the words stand."""
    for run in runs:
        _add_run(sheet, run)
    return _with_alternatives(sheet)


def _add_run(sheet: Sheet, run: Scoped) -> None:
    if run.lead == "same" or run.mode == "doubt":  # "on that same range": what is held stays as it is
        sheet.explain(run.items[0].start, run.items[-1].end)
        return
    items = _trimmed(run.items)
    if not items:
        return
    if items[0].kind == "cue":
        _add_band(sheet, items[0], run)
        return
    amount = items[0].amount
    if len(items) == 1 and amount is not None and amount.kind not in ("count", "measure"):
        add_amount(sheet, amount, run)
        return
    _add_content(sheet, items, run)
    sheet.told.add(run.clause)


def _trimmed(items: Sequence[Item]) -> list[Item]:
    kept = list(items)
    while kept and kept[0].kind == "filler" and kept[0].value not in language().graded:
        kept.pop(0)
    while kept and kept[-1].kind == "filler":
        kept.pop()
    return kept


def _add_band(sheet: Sheet, item: Item, run: Scoped) -> None:
    """ "Affordable" bounds the price without a number; "cheapest", "best rated" order the list."""
    for name, operator in _BANDS.items():
        if name in item.classes:
            sheet.add(Act(Kind.CONSTRAIN, "price", operator), item.start, item.end, run, None)
            return
    for name, (attribute, direction) in _SORTS.items():
        if name in item.classes:
            sheet.write(Act(Kind.SORT, attribute, number=float(direction)), item.start, item.end)
            return


def _add_content(sheet: Sheet, items: list[Item], run: Scoped) -> None:
    chosen = _readings(sheet, items, run)
    if run.lead in ("for", "for my", "my"):
        person = next(
            (k for k, name in enumerate(chosen) if name is not None and name.kind == "person"), None
        )
        if person is not None:
            if not _called(sheet, run, items[person]):
                sheet.about(chosen[person].value)  # type: ignore[union-attr]
            sheet.explain(items[person].start, items[person].end)
            if items[person + 1 :]:
                _add_content(sheet, items[person + 1 :], replace(run, lead="for"))
            return
    heads = [k for k, name in enumerate(chosen) if name is not None and name.kind == "product"]
    place = _preposition(items, heads[0]) if heads else None
    if place is not None and not sheet.types():  # "no logos on the cap": the cap is looked for
        add_qualities(sheet, items[:place], chosen[:place], run, None)
        _add_content(sheet, items[place + 1 :], run.under("want"))
    elif run.mode in ("relax", "readmit") and len(items) == 1 and items[0].kind == "attribute":
        relax_attribute(sheet, items[0])
    elif heads and place is None and _is_want(sheet, run, items[heads[-1]]):
        add_want(sheet, items, chosen, run)
    else:
        add_qualities(sheet, items, chosen, run, sheet.group_for(run))


def _called(sheet: Sheet, run: Scoped, person: Item) -> bool:
    """ "My guy I need …": a way to call the seller, not whom the thing is for."""
    follows = sheet.tokens[person.end].word if person.end < len(sheet.tokens) else ""
    return run.lead == "my" and follows in language().grammar["behind_called"]


def _readings(sheet: Sheet, items: Sequence[Item], run: Scoped) -> list[Name | None]:
    start = run.items[0].start
    place = Place(
        run,
        sheet.context,
        alone=not sheet.types(),
        colours_before=bool(sheet.acts) and sheet.acts[-1].attribute == "colour",
        short=len(sheet.tokens) <= _FEW_WORDS,
        self_told=any(token.word == "am" for token in sheet.tokens[max(0, start - 3) : start]),
    )
    return [reading(items, k, place) for k in range(len(items))]


def _preposition(items: Sequence[Item], head: int) -> int | None:
    """ "Relaxed when on a treadmill": the preposition, behind other content, that makes the noun a place or time."""
    places = language().grammar["places"]
    for k in range(head - 1, -1, -1):
        if items[k].kind == "filler" and items[k].value in places:
            return k if any(i.kind in ("word", "name", "attribute") for i in items[:k]) else None
    return None


def _is_want(sheet: Sheet, run: Scoped, noun: Item) -> bool:
    """Whether the product noun of a run is looked for, not a part, a purpose or a companion of something else."""
    named_here = any(group.clause == run.clause for group in sheet.groups)
    if run.mode == "want" and sheet.types() and not run.sought and not named_here:
        turned = any(a.kind is Kind.DROP_WANT or a.attribute == "category" for a in sheet.acts)
        if not turned and run.clause in sheet.told and not sheet.looks_for(sheet.words(noun.start, noun.end)):
            return False  # "the heel should stay locked": in the middle of a description, no new search
    if run.mode == "want" and not named_here and _her_own(sheet, run, noun):
        return False
    if run.mode == "want" and sheet.types() and _put_inside(sheet, noun):
        return False
    if run.mode == "want" and run.items[0].start in sheet.taste:
        return False
    if run.lead == "with and":  # "a big screen and a good GPU" against "a dress with pockets and shoes"
        return not sheet.context.categories and any(n.kind == "product" and n.known for n in noun.names)
    if run.lead == "with":
        return not named_here and (run.sought or not sheet.context.categories)
    if run.lead == "in" and run.mode == "want" and sheet.types():
        return False  # "in a 1.7 oz bottle"
    if run.lead == "for":
        return not named_here
    return run.lead != "for my"


def _her_own(sheet: Sheet, run: Scoped, noun: Item) -> bool:
    """ "Charge my phone": the thing that something is done to is hers already."""
    first = next((i for i in run.items if i.kind != "filler"), noun)
    if noun.start == 0 or sheet.tokens[noun.start - 1].word != "my":
        return False
    said = sheet.tokens[first.start].word
    return (
        first.kind in ("word", "attribute") and first is not noun and said not in language().grammar["renews"]
    )


def _put_inside(sheet: Sheet, noun: Item) -> bool:
    """ "It must fit a laptop": what goes into the thing that is looked for."""
    before = [token.word for token in sheet.tokens[max(0, noun.start - 3) : noun.start]]
    while before and before[-1] in ("a", "an", "my", "the", "one", "two"):
        before.pop()
    return bool(before) and before[-1] in language().grammar["holding"]


def _with_alternatives(sheet: Sheet) -> list[Act]:
    """ "Grey or white" is one wish with two values; avoided things stay apart, each is a promise of its own."""
    merged: list[Act] = []
    for act in sheet.acts:
        alternative = (
            act.note == "or" and act.kind is Kind.CONSTRAIN and act.polarity == 1 and act.value is not None
        )
        before = merged[-1] if merged else None
        if alternative and before is not None and _alternatives(before, act):
            merged[-1] = _joined(sheet, before, act)
            while len(merged) > 1 and _alternatives(merged[-2], merged[-1]) and _listed(sheet, *merged[-2:]):
                merged[-2:] = [_joined(sheet, merged[-2], merged[-1])]  # "red, green or gold"
            continue
        if alternative and before is None:  # "or blue": one more of what is held
            act = replace(act, operator=Operator.ANY_OF, values=(act.value or "",), value=None, note="also")
        merged.append(replace(act, note="") if act.note == "or" else act)
    return merged


def _alternatives(one: Act, other: Act) -> bool:
    return (
        one.kind is Kind.CONSTRAIN
        and one.polarity == 1
        and one.attribute == other.attribute
        and (one.attribute in VALUES or one.attribute == "size")
    )


def _listed(sheet: Sheet, one: Act, other: Act) -> bool:
    if one.span is None or other.span is None:
        return False
    return sheet.text[one.span.end : other.span.start].strip() == ","


def _joined(sheet: Sheet, one: Act, other: Act) -> Act:
    values = tuple(value for act in (one, other) for value in (act.values or (act.value or "",)))
    span, words = one.span, one.words
    if one.span is not None and other.span is not None:
        span = Span(one.span.start, other.span.end)
        words = sheet.text[span.start : span.end]
    return replace(one, operator=Operator.ANY_OF, value=None, values=values, words=words, span=span)
