"""Phrases of ``acts.toml`` that are about shown items: compare, why, more like, reject, rate, like; and bare references.

Functions as in ``talk.py``.
"""

from __future__ import annotations

from ego_cli.conversation.understand.acts import Act, Kind, Target
from ego_cli.conversation.understand.asking import question_behind
from ego_cli.conversation.understand.buying import add_to_basket, remove_from_basket
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.page import Page
from ego_cli.conversation.understand.pattern import Pattern
from ego_cli.conversation.understand.references import read_target

_BARE_NUMBERS = frozenset(
    [Kind.COMPARE, Kind.WHY, Kind.MORE_LIKE, Kind.BASKET_ADD, Kind.BASKET_REMOVE, Kind.RATE]
)
_WHY_WORDS = 6  # a longer "why …" is about something else
_LAST = Target("last", words="it")


def target(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """The phrase and the items that it is about."""
    begin = end
    while page.word(begin) in language().grammar["before_target"]:
        begin += 1
    priced = any(
        a.kind == "price" and a.start <= begin < a.end and (a.unit or a.low > len(page.context.shown))
        for a in page.amounts
    )
    bare = (
        pattern.kind in _BARE_NUMBERS and bool(page.context.shown) and not priced
    )  # "I fit pay like 40 dollars"
    found = read_target(page.tokens, begin, page.context, numbers=bare)
    match pattern.kind:
        case Kind.BASKET_ADD:
            return add_to_basket(page, start, end, begin, found)
        case Kind.BASKET_REMOVE:
            return remove_from_basket(page, start, end, begin, found)
        case Kind.RATE:
            return _rate(page, start, begin, found)
        case Kind.COMPARE:
            return _compare(page, start, end, found)
        case Kind.WHY:
            return _why(page, start, end, found)
    if found is None or not page.context.shown:
        return None
    pointed, stop = found
    if (
        pattern.kind is Kind.REJECT
        and page.word(begin + 1) == "ones"
        and page.word(begin + 2) in ("that", "with")
    ):
        return None  # "not the ones that go inside the ear": a kind of thing
    if pattern.kind is Kind.REJECT and (pointed.how == "name" or not page.is_tail(stop)):
        return None
    if pattern.kind is Kind.MORE_LIKE and pointed.how == "name" and end - start == 1:
        return None  # "like the Acer" may be "I like the Acer"
    if pattern.kind is Kind.FEEDBACK:
        act = Act(
            Kind.FEEDBACK, value=pattern.note, polarity=1 if pattern.note == "like" else -1, target=pointed
        )
        return page.emit(start, stop, act)
    return page.emit(start, stop, Act(pattern.kind, target=pointed))


def like_last(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """ "Something similar": more like what was talked about."""
    return page.emit(start, end, Act(pattern.kind, target=_LAST))


def _why(page: Page, start: int, end: int, found: tuple[Target, int] | None) -> int | None:
    if found is not None:
        return page.emit(start, found[1], Act(Kind.WHY, target=found[0]))
    if page.clause_end(end) - end > _WHY_WORDS:
        return None
    return page.emit(start, end, Act(Kind.WHY))


def _compare(page: Page, start: int, end: int, found: tuple[Target, int] | None) -> int | None:
    if found is None:
        return page.emit(start, end, Act(Kind.COMPARE))
    pointed, stop = found
    while page.word(stop) in language().grammar["against"]:
        more = read_target(page.tokens, stop + 1, page.context, numbers=True)
        if more is None:
            break
        pointed, stop = _both(pointed, more[0]), more[1]
    return page.emit(start, stop, Act(Kind.COMPARE, target=pointed))


def _both(one: Target, other: Target) -> Target:
    """ "The first one with the last", "the Acer and the HP"."""
    words = f"{one.words} and {other.words}"
    if one.how == other.how == "ordinal":
        return Target("ordinal", one.positions + other.positions, words)
    return Target("name" if "name" in (one.how, other.how) else one.how, one.positions, words)


def _rate(page: Page, start: int, begin: int, found: tuple[Target, int] | None) -> int | None:
    """ "I'd give the second 4 stars"; "give me items 1 and 4" rates nothing."""
    end = page.clause_end(begin)
    stars = next((a.low for a in page.amounts if a.kind == "rating" and a.start >= begin), None)
    if stars is None and not {"rate", "score"} & set(page.words(start, begin)):
        return None
    behind = found[1] if found else begin
    number = (
        stars
        if stars is not None
        else next((n for i in range(behind, end) if (n := page.number(i)) and n <= 5), None)
    )
    if number is None:
        return None
    return page.emit(start, end, Act(Kind.RATE, number=float(number), target=found[0] if found else _LAST))


# --- bare references -----------------------------------------------------------------------------------------------------


def point_at_items(page: Page) -> None:
    """ "The second one", "that one but in blue", "1 vs 2": sentences, or parts of them, that open with an item."""
    if not page.context.shown:
        return
    for begin, end in page.clauses():
        if not _point(page, begin, end):
            part = begin
            for index in range(begin, end + 1):
                if index == end or page.word(index) == ",":
                    _point(page, part, index)
                    part = index + 1


def _point(page: Page, begin: int, end: int) -> bool:
    if any(index in page.used for index in range(begin, end)):
        return False
    versus = read_target(page.tokens, begin, page.context, numbers=True)
    if versus is not None and versus[1] == end and {"vs", "versus"} & set(page.words(begin, end)):
        page.emit(begin, end, Act(Kind.COMPARE, target=versus[0]))
        return True
    start = begin
    while start < end and page.word(start) in language().grammar["pointing"]:
        start += 1
    found = read_target(page.tokens, start, page.context) if start < end else None
    if found is None or found[1] > end:
        return False
    pointed, stop = found
    behind = page.word(stop) if stop < end else ""
    asked = question_behind(page, pointed, stop, end)
    if asked is not None and pointed.how in ("ordinal", "last", "extreme"):
        page.emit(begin, end, asked)
        return True
    if behind and behind not in language().grammar["after_item"]:
        return False
    if pointed.how == "name" and any(a.kind == "measure" and start <= a.start < stop for a in page.amounts):
        return False  # "400 g": what it should be, though a title says it
    if pointed.how == "last" and not pointed.words.endswith(("one", "ones", "model", "pair", "version")):
        return False
    if pointed.how == "name" and behind not in ("", "but", "please", "abeg", "in"):
        return False
    page.emit(begin, stop, Act(Kind.REFER, target=pointed))
    return True
