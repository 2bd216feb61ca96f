"""How many pieces are wanted: "3 mugs", "two black boots"; not "iPhone 11 cases", not "5 drawer dresser"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import NameSpan
from ego_cli.conversation.understand.numbers import Amount, Bounds
from ego_cli.conversation.understand.tokens import Token

MOST = 100
"""A greater number before a product is part of a name."""
_QUALITIES = frozenset(["colour", "material", "brand", "gender"])
_REACH = 4  # words between the number and its noun


@cache
def _between() -> frozenset[str]:
    return frozenset(language().units_file["words"]["between_count_and_noun"])


def count(tokens: Sequence[Token], names: Sequence[NameSpan], bounds: Bounds) -> Amount | None:
    """A whole number before a product, with nothing but its qualities between them."""
    numeral = bounds.first
    whole = numeral.value == int(numeral.value) and 1 <= numeral.value <= MOST
    if bounds.second is not None or numeral.suffix or not whole or _behind_name(tokens, numeral.start):
        return None
    by_start = {span.start: span for span in names}
    index = numeral.end
    for _ in range(_REACH):
        if index < len(tokens) and tokens[index].word in _between():
            index += 1
            continue
        span = by_start.get(index)
        if span is None:
            return None
        kinds = {name.kind for name in span.names}
        if "product" in kinds:
            describes = not numeral.spelled and numeral.value > 1 and _describes(tokens, by_start, span)
            value = numeral.value
            return (
                None
                if describes
                else Amount(numeral.start, numeral.end, "count", "is", value, value, "quantity")
            )
        if not kinds & _QUALITIES:
            return None
        index = span.end
    return None


def _behind_name(tokens: Sequence[Token], index: int) -> bool:
    """ "iPhone 11 cases": a number behind a name or another content word belongs to it."""
    before = tokens[index - 1] if index else None
    return before is not None and before.kind == "word" and before.word not in language().filler


def _describes(tokens: Sequence[Token], by_start: dict[int, NameSpan], span: NameSpan) -> bool:
    """ "5 drawer dresser" describes the dresser; "2 phone cases" counts cases."""
    following = by_start.get(span.end)
    if following is None or not any(name.kind == "product" for name in following.names):
        return False
    one, other = tokens[span.end - 1], tokens[following.end - 1]
    return one.word == one.stem and other.word == other.stem
