"""Qualities of a want: named values (colour, brand, …), amounts, and free words, which become features as they were said."""

from __future__ import annotations

from collections.abc import Sequence

from ego_cli.conversation.understand.acts import Act, Kind, Operator
from ego_cli.conversation.understand.items import Item, attribute_at
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Name
from ego_cli.conversation.understand.numbers import Amount
from ego_cli.conversation.understand.scopes import Scoped
from ego_cli.conversation.understand.sheet import Sheet

VALUES = frozenset(["brand", "colour", "material", "gender"])
"""Kinds of names that are values of an attribute."""
SLOTS = frozenset(
    [
        "price",
        "colour",
        "brand",
        "size",
        "material",
        "gender",
        "rating",
        "style",
        "type",
        "quantity",
        "occasion",
        "exclusions",
        "reviews",
    ]
)
"""Attributes whose name says nothing by itself: "the colour" is no need, "the battery life" is one."""
_OTHER = frozenset(["different", "another", "other"])
_OPERATORS = {"min": Operator.MIN, "max": Operator.MAX, "about": Operator.ABOUT, "is": Operator.IS}


def add_amount(sheet: Sheet, amount: Amount, run: Scoped, group: int | None = None) -> None:
    """A price, measure, size, rating or review count; a range gives two bounds; a count waits for its noun."""
    start, end = amount.start, amount.end
    if amount.kind == "count":
        sheet.pending_count = amount
        sheet.explain(start, end)
        return
    if group is None and amount.kind in ("size", "measure"):
        group = sheet.group_for(run)
    if amount.kind == "size":
        sheet.add(Act(Kind.CONSTRAIN, "size", Operator.IS, amount.text), start, end, run, group)
        return
    if amount.kind in ("size", "measure") and run.mode == "readmit":
        run = run.under("want")  # "8GB is fine": nobody rules a number out first
    if amount.kind == "price" and run.mode != "want":
        run = run.under("want")  # its negation is read into the bound
    bounds = [(amount.operator, amount.low)]
    if amount.operator == "range":
        bounds = [("min", amount.low), ("max", amount.high)]
    for operator, number in bounds:
        act = Act(
            Kind.CONSTRAIN,
            amount.attribute,
            _OPERATORS[operator],
            number=number,
            unit=amount.unit,
            per=amount.per or None,
        )
        sheet.add(act, start, end, run, group)


def add_qualities(
    sheet: Sheet, items: Sequence[Item], chosen: Sequence[Name | None], run: Scoped, group: int | None
) -> None:
    """All qualities of a run, in order; words that stand together stay together."""
    words: list[Item] = []

    def close() -> None:
        if words:
            add_feature(sheet, words, run, group)
            words.clear()

    for k, item in enumerate(items):
        name = chosen[k]
        if item.kind == "amount" and item.amount is not None:
            close()
            add_amount(sheet, item.amount, run, group)
        elif name is not None and name.kind in VALUES and not _describes_part(items, k, name, words, run):
            close()
            sheet.add(
                Act(Kind.CONSTRAIN, name.kind, Operator.IS, name.value), item.start, item.end, run, group
            )
        elif name is not None and name.kind == "idiom":
            close()
            sheet.add(
                Act(Kind.CONSTRAIN, "feature", Operator.IS, name.value), item.start, item.end, run, group
            )
        elif (name is not None and name.kind == "person" and not words) or (
            name is None and item.kind in ("attribute", "name") and _measured(sheet, items, k)
        ):
            sheet.explain(item.start, item.end)
        elif item.kind == "attribute":
            _attribute_word(sheet, item, items, run, words)
        elif item.kind != "filler" or words or item.value in language().graded:
            words.append(item)
    close()


def _describes_part(items: Sequence[Item], k: int, name: Name, words: Sequence[Item], run: Scoped) -> bool:
    """ "Padded leather handle", "no white soles": a material among other words, or a colour avoided of a part, goes with them."""
    follows = items[k + 1].kind if k + 1 < len(items) else ""
    if run.mode == "avoid" and name.kind in ("colour", "material") and follows == "word":
        return True
    return name.kind == "material" and bool(words) and follows in ("word", "filler")


def _measured(sheet: Sheet, items: Sequence[Item], k: int) -> bool:
    """ "16 GB RAM", "17 inch display": the noun only says of what the amount is."""
    near = items[max(0, k - 2) : k + 2]
    named = attribute_at(sheet.tokens, items[k].start)
    measures = [i.amount for i in near if i.amount is not None and i.amount.kind == "measure"]
    if named is None or not any(amount.attribute == named[1] for amount in measures):
        return False
    return not any(i.kind == "word" for i in near)


def _attribute_word(sheet: Sheet, item: Item, items: Sequence[Item], run: Scoped, words: list[Item]) -> None:
    """ "Battery life" is a need; "colour", "size", "brand" only name the slot of their neighbour."""
    if run.mode in ("relax", "readmit") and not words and _stands_alone(item, items):
        relax_attribute(sheet, item)
    elif item.value not in SLOTS or (item.value == "style" and words):
        words.append(item)
    elif run.any_of_it and not any(i.kind in ("name", "word") for i in items):
        relax_attribute(sheet, item)
    elif run.lead in _OTHER and item.value in ("colour", "brand", "size", "style", "material"):
        start = max(0, item.start - 1)
        sheet.write(Act(Kind.RELATIVE, item.value, value="different"), start, item.end)
    else:
        sheet.explain(item.start, item.end)


def _stands_alone(item: Item, items: Sequence[Item]) -> bool:
    """ "The display" against "the always-on display": nothing else of weight in its run."""
    weighty = language().inner - language().grammar["weightless"]
    return not any(
        i.kind in ("word", "name") or (i.kind == "filler" and i.value in weighty)
        for i in items
        if i is not item
    )


def relax_attribute(sheet: Sheet, item: Item) -> None:
    """ "Any colour", "forget the battery life": the attribute is no longer required."""
    value = None if item.value in SLOTS else sheet.slice(item.start, item.end).lower()
    sheet.write(Act(Kind.RELAX, item.value, value=value), item.start, item.end)


def _itself(items: list[Item]) -> list[Item]:
    """ "No alcohol on my skin": alcohol is avoided, wherever it would go."""
    grammar = language().grammar
    for k in range(1, len(items) - 1):
        if items[k].value in grammar["sides"] and items[k + 1].value in grammar["owners"]:
            return items[:k]
    return items


def add_feature(sheet: Sheet, items: Sequence[Item], run: Scoped, group: int | None) -> None:
    """Free words as a need in the shopper's own words, the padding at both ends taken off."""
    speech = language()
    kept = list(items)
    if run.mode == "avoid":
        kept = _itself(kept)
    while kept and kept[-1].kind == "filler":
        kept.pop()
    while (
        kept
        and kept[0].kind == "filler"
        and not (kept[0].value in speech.graded and len(kept) > 1 and kept[1].kind != "filler")
    ):
        kept.pop(0)
    if not kept:
        return
    start, end = kept[0].start, kept[-1].end
    kept = [i for i in kept if i.kind != "filler" or i.value in speech.inner or i.value in speech.graded]
    if not any(i.kind != "filler" for i in kept):
        return
    purpose = run.lead in ("for", "for my")
    act = Act(Kind.CONSTRAIN, "feature", Operator.IS, sheet.core(kept), note="for" if purpose else "")
    sheet.add(act, start, end, run, None if purpose and len(sheet.groups) > 1 else group)
