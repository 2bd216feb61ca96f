"""Product nouns: what is looked for, avoided, dropped or refined, with the qualities that stand around the noun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from ego_cli.conversation.understand.acts import Act, Kind, Operator
from ego_cli.conversation.understand.items import Item
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Name, shelves_of, stems_of
from ego_cli.conversation.understand.qualities import VALUES, add_qualities
from ego_cli.conversation.understand.scopes import Scoped
from ego_cli.conversation.understand.sheet import Group, Sheet

GUESSED = 0.8
"""Confidence in a product word that the catalogue itself does not use."""


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A run around its product noun: items [first, head] name the product, the others describe it.

    ``value``: the product type as the catalogue spells it, else as the shopper did.
    """

    items: Sequence[Item]
    chosen: Sequence[Name | None]
    first: int
    head: int
    value: str

    @property
    def start(self) -> int:
        """First token of the noun."""
        return self.items[self.first].start

    @property
    def end(self) -> int:
        """Token behind the noun."""
        return self.items[self.head].end

    @property
    def name(self) -> Name | None:
        """What the head noun names."""
        return self.chosen[self.head]

    @property
    def described(self) -> list[int]:
        """Places of the words and names in front of the noun."""
        return [k for k in range(self.first) if self.items[k].kind in ("name", "word")]


def add_want(sheet: Sheet, items: Sequence[Item], chosen: Sequence[Name | None], run: Scoped) -> None:
    """The acts of a run that has a product noun, by the mode that it stands under."""
    noun = _noun_phrase(sheet, items, chosen)
    if run.mode == "avoid":
        _avoid(sheet, noun, run)
    elif run.mode == "not_only":
        _need(sheet, noun, run.under("want"))
        add_qualities(sheet, items[: noun.first], chosen[: noun.first], run, sheet.groups[-1].index)
    elif run.mode == "relax" and not sheet.looks_for(noun.value):
        whole = [item for item in items if item.kind != "amount"]
        act = Act(Kind.CONSTRAIN, "feature", Operator.IS, sheet.core(whole))
        sheet.add(act, whole[0].start, whole[-1].end, run, None)
    elif run.mode == "relax":
        sheet.write(Act(Kind.DROP_WANT, value=noun.value), noun.start, noun.end)
    elif run.mode == "readmit":
        described = [k for k in noun.described if noun.chosen[k] is None]
        first = described[0] if described else noun.first  # "low sugar is fine" lets no other sugar in
        value = sheet.core(items[first : noun.head + 1]) if described else noun.value
        sheet.write(Act(Kind.RELAX, "category", value=value, polarity=-1), items[first].start, noun.end)
    else:
        _wanted(sheet, noun, run)


# --- finding the noun ----------------------------------------------------------------------------------------------------


def _noun_phrase(sheet: Sheet, items: Sequence[Item], chosen: Sequence[Name | None]) -> NounPhrase:
    heads = [k for k, name in enumerate(chosen) if name is not None and name.kind == "product"]
    head = heads[-1]
    preposition = _describing(items, head)
    if preposition is not None and heads[0] < preposition:
        head = max(k for k in heads if k < preposition)  # "glasses for reading": what follows describes
    first = head
    while first - 1 in heads:
        first -= 1
    if first < head and first and items[first - 1].kind == "word" and items[first - 1].value.isdigit():
        first = head  # "5 drawer dresser": five drawers describe the dresser
    return NounPhrase(items, chosen, first, head, _type(sheet, items, chosen, first, head))


def _describing(items: Sequence[Item], head: int) -> int | None:
    words = language().grammar["describing"]
    return next((k for k in range(head) if items[k].kind == "filler" and items[k].value in words), None)


def _type(sheet: Sheet, items: Sequence[Item], chosen: Sequence[Name | None], first: int, head: int) -> str:
    name = chosen[head]
    if first == head and name is not None:
        return name.value
    start, end = items[first].start, items[head].end
    typed, read = sheet.slice(start, end), sheet.words(start, end)
    return typed.lower() if stems_of(typed) == stems_of(read) else read


def _extra(sheet: Sheet, noun: NounPhrase) -> int | None:
    """ "Apple Watch Series 5 bands", "sugar canister": an extra at the end of the name is what is looked for."""
    items = noun.items
    last = len(items) - 1
    behind = items[noun.head + 1 :]
    if not behind or any(item.kind in ("filler", "attribute", "amount") for item in behind):
        return None
    if items[last].end - items[last].start > 1 or sheet.tokens[items[last].start].stem not in _extras():
        return None
    described = any(n.kind in ("colour", "material") for n in items[last - 1].names)
    return None if described and last - 1 > noun.head else last


@cache
def _extras() -> frozenset[str]:
    return frozenset(language().names["sold_apart"]["names"])


# --- wanted --------------------------------------------------------------------------------------------------------------


def _wanted(sheet: Sheet, noun: NounPhrase, run: Scoped) -> None:
    extra = _extra(sheet, noun)
    if extra is not None:
        value = f"{noun.value} {sheet.core([noun.items[extra]])}"
        sheet.explain(noun.items[extra].start, noun.items[extra].end)
        items = [*noun.items[:extra], *noun.items[extra + 1 :]]
        chosen = [*noun.chosen[:extra], *noun.chosen[extra + 1 :]]
        noun = NounPhrase(items, chosen, noun.first, noun.head, value)
    if _refines(sheet, noun, run):
        group = sheet.groups[-1]
        sheet.acts[group.act] = replace(
            sheet.acts[group.act],
            value=noun.value,
            words=sheet.slice(noun.start, noun.end),
            confidence=_confidence(noun),
        )
        sheet.explain(noun.start, noun.end)
        _around(sheet, noun, run, group.index)
        return
    _need(sheet, noun, run)
    _around(sheet, noun, run, sheet.groups[-1].index)


def _need(sheet: Sheet, noun: NounPhrase, run: Scoped) -> None:
    """A new want with its number of pieces."""
    number = sheet.pending_count.low if sheet.pending_count is not None else None
    for item in noun.items[: noun.first]:
        if item.amount is not None and item.amount.kind == "count":
            number = item.amount.low
            sheet.explain(item.start, item.end)
    sheet.pending_count = None
    group = Group(len(sheet.groups), len(sheet.acts), run.clause)
    act = Act(Kind.NEED, value=noun.value, number=number, confidence=_confidence(noun))
    sheet.add(act, noun.start, noun.end, replace(run, joined=""), group.index)
    sheet.groups.append(group)


def _confidence(noun: NounPhrase) -> float:
    return 1.0 if noun.name is not None and noun.name.known else GUESSED


def _around(sheet: Sheet, noun: NounPhrase, run: Scoped, group: int) -> None:
    before = [item for item in noun.items[: noun.first]]
    kept = [k for k, item in enumerate(before) if item.amount is None or item.amount.kind != "count"]
    add_qualities(sheet, [before[k] for k in kept], [noun.chosen[k] for k in kept], run, group)
    add_qualities(sheet, noun.items[noun.head + 1 :], noun.chosen[noun.head + 1 :], run, group)


def _refines(sheet: Sheet, noun: NounPhrase, run: Scoped) -> bool:
    """ "Cream …, body lotion": the narrower word for the want just named, not a second want."""
    if not sheet.groups or run.joined not in (",", "") or sheet.groups[-1].clause != run.clause:
        return False
    held, new = stems_of(sheet.acts[sheet.groups[-1].act].value or ""), stems_of(noun.value)
    narrower = language().kinds.get(held, frozenset())
    return new in narrower or (held == new[-len(held) :] and held != new)


# --- avoided -------------------------------------------------------------------------------------------------------------


def _avoid(sheet: Sheet, noun: NounPhrase, run: Scoped) -> None:
    """A noun under a negation: the type itself, something inside of what is looked for, or only the qualities before it."""
    described = noun.described
    front = (noun.items[: noun.first], noun.chosen[: noun.first])
    kinds = {_kind(noun.chosen[k]) for k in described}
    new = not sheet.types()
    quality_meant = sheet.looks_for(noun.value) or _weighed(sheet, noun.items[0].start)
    if described and (quality_meant or kinds == {"brand"} or (kinds <= VALUES and new)):
        # "not too tight trousers", "no small bikes" where bikes are looked for, "everything but yellow umbrellas"
        if not sheet.looks_for(noun.value) and kinds != {"brand"}:
            _need(sheet, noun, run.under("want"))
        add_qualities(sheet, *front, run, sheet.group_for(run))
        return
    if described:
        whole = noun.items[described[0] : noun.head + 1]
        act = Act(Kind.CONSTRAIN, "feature", Operator.IS, sheet.core(whole))
        sheet.add(act, whole[0].start, noun.end, run, sheet.group_for(run))
        return
    inside = run.lead == "with" or _contained(sheet, noun.start) or not _alternative(sheet, noun.value)
    act = Act(Kind.CONSTRAIN, "feature" if inside else "category", Operator.IS, noun.value)
    sheet.add(act, noun.start, noun.end, run, sheet.group_for(run) if inside else None)


def _kind(name: Name | None) -> str:
    return name.kind if name is not None else ""


def _weighed(sheet: Sheet, start: int) -> bool:
    """ "Too tight", "very heavy": the adverb shows that the negation is about the quality."""
    before = {token.word for token in sheet.tokens[max(0, start - 2) : start]}
    return bool(before & language().grammar["degree"])


def _contained(sheet: Sheet, start: int) -> bool:
    """ "Wey no get perfume", "without sugar": the noun is something inside, no type of product."""
    before = {token.word for token in sheet.tokens[max(0, start - 4) : start]}
    return bool(before & language().grammar["containing"]) and bool(sheet.types())


def _alternative(sheet: Sheet, value: str) -> bool:
    """Whether an avoided product word can stand in place of what is looked for: it is of the same shelf, or nothing is held."""
    held = sheet.types()
    own = shelves_of(value)
    return not held or not own or any(own & shelves_of(category) for category in held)
