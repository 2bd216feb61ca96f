"""The basket: add with number and options, remove, change the number of pieces. Functions as in ``talk.py``."""

from __future__ import annotations

from ego_cli.conversation.understand.acts import Act, Kind, Target
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.page import Page
from ego_cli.conversation.understand.pattern import Pattern
from ego_cli.conversation.understand.references import read_target

BASKET = frozenset(["basket", "cart", "trolley"])
_MOST_PIECES = 100
_COUNT_REACH = 4  # words behind the item in which its number may follow
_WISHES = frozenset(
    ["i want", "i need", "give me", "get me", "i would like", "i want to get", "i want to buy"]
)
"""Verbs that ask for a thing as often as they choose a shown one."""
_COUNTS = frozenset(["make it", "make that", "make am", "make them"])
"""These with a number and nothing else set a number of pieces, even while nothing is in the basket yet."""
_UNWANTED = frozenset(["i do not want", "i no want", "i no need"])


def add_to_basket(
    page: Page, start: int, end: int, begin: int, found: tuple[Target, int] | None
) -> int | None:
    """ "Add the second in a 42", "two of those", "I'll take it"."""
    said = page.phrase(start, end)
    sentence = page.words(begin, page.clause_end(begin))
    to_basket = bool((BASKET | {"bag", "order"}) & set(sentence[1:])) and bool(
        {"to", "in", "into", "for", "inside"} & set(sentence)
    )
    strong = page.word(start) in language().grammar["adding"]
    quantity: float | None = None
    if to_basket and page.number(begin) and page.word(begin + 1) in language().grammar["to_basket"] - {"of"}:
        found, quantity = (Target("last", words="it"), begin + 1), page.number(begin)  # "put two for my cart"
    elif page.word(begin + 1) in ("of", "more") and (number := page.number(begin)):
        found, quantity = _pieces(page, begin), float(number)
    elif (
        found is not None
        and _bare_number(found[0])
        and not (strong or page.word(start) in ("give", "get", "buy", "take"))
    ):
        found = None
    if found is None:
        return None
    target, stop = found
    if page.word(start) == "carry" and page.word(stop) in language().grammar["carried"]:
        return None
    if not _chosen(page, target, stop, said, strong=strong, to_basket=to_basket):
        return None
    stop = _behind_basket(page, stop)
    if quantity is None:
        counts = [
            a.low
            for a in page.amounts
            if (a.kind == "count" or a.unit == "piece") and begin <= a.start <= stop + _COUNT_REACH
        ]
        pieces = next((a for a in page.amounts if a.unit == "piece" and a.start in (stop, stop + 1)), None)
        stop = pieces.end if pieces is not None else stop
        quantity = counts[-1] if counts else None
    last = page.clause_end(start)
    options = tuple(f"size={a.text}" for a in page.amounts if a.kind == "size" and start <= a.start < last)
    return page.emit(start, stop, Act(Kind.BASKET_ADD, target=target, number=quantity, values=options))


def _pieces(page: Page, begin: int) -> tuple[Target, int] | None:
    """ "Two of the first", "3 of them", "two more"."""
    follow = read_target(page.tokens, begin + 2, page.context, numbers=True)
    if follow is None and page.word(begin + 1) == "more":
        return Target("last", words="more"), begin + 2
    return follow


def _bare_number(target: Target) -> bool:
    named = language().grammar["numbering"] | language().ordinals.keys()
    return target.how == "ordinal" and not named & set(target.words.split())


def _chosen(page: Page, target: Target, stop: int, said: str, *, strong: bool, to_basket: bool) -> bool:
    """Whether a shown item is chosen, and not another one wished for ("I want the black one" narrows the search)."""
    if not page.context.shown and target.how in ("attribute", "name", "last"):
        return to_basket or (strong and target.how == "last")
    if strong or to_basket or said not in _WISHES:
        return True
    if target.how in ("name", "attribute"):
        return False
    return not (target.how == "last" and page.word(stop) in ("to", "in", "for", "with", "but"))


def _behind_basket(page: Page, stop: int) -> int:
    """Takes in "to my cart", "from my basket"."""
    index = stop
    while page.word(index) in language().grammar["to_basket"]:
        index += 1
    return index + 1 if page.word(index) in BASKET | {"bag", "order", "list"} else stop


def remove_from_basket(
    page: Page, start: int, end: int, begin: int, found: tuple[Target, int] | None
) -> int | None:
    """ "Remove the bag", "comot the first from my cart"; "drop the first in my cart" adds."""
    stop = page.clause_end(begin)
    named = BASKET & set(page.words(begin, stop))
    if not page.context.basket and not named:
        return None
    if page.phrase(start, end) in _UNWANTED and not named:
        return None
    if page.word(start) == "drop" and named and {"in", "into"} & set(page.words(begin, stop)):
        return None
    if found is not None and found[0].how in ("ordinal", "last", "all", "extreme"):
        return page.emit(start, _behind_basket(page, found[1]), Act(Kind.BASKET_REMOVE, target=found[0]))
    place = next(
        (i for i in range(begin, stop) if page.word(i) in ("from", "for", "out", "inside", "in")), stop
    )
    words = [
        word
        for word in page.words(begin, place)
        if word not in ("the", "my", "that", "a", "one", "please", "abeg")
    ]
    if not words:
        return None
    return page.emit(start, stop, Act(Kind.BASKET_REMOVE, value=" ".join(words)))


def number(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """ "Make it three", "change the quantity to 2 of the first"."""
    pieces = page.number(end)
    counts = page.phrase(start, end) in _COUNTS and page.context.categories and page.is_tail(end + 1)
    if (
        not (page.context.basket or counts)
        or pieces is None
        or pieces != int(pieces)
        or not 1 <= pieces <= _MOST_PIECES
    ):
        return None
    if any(a.start <= end < a.end and a.kind != "count" and a.unit != "piece" for a in page.amounts):
        return None
    after = end + 1
    if page.word(after) in language().grammar["after_pieces"]:
        after += 1
    follow = read_target(page.tokens, after, page.context) if after < len(page.tokens) else None
    if (
        follow is None
        and after < len(page.tokens)
        and page.tokens[after].kind == "word"
        and page.word(after) not in language().grammar["padding"]
    ):
        return None
    target, stop = follow if follow is not None else (Target("last", words="it"), after)
    return page.emit(start, stop, Act(pattern.kind, number=float(pieces), target=target))
