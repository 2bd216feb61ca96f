"""Which amounts are prices, in which currency, with which bounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.cues import Cue
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import NameSpan
from ego_cli.conversation.understand.numbers import Amount, Bounds, Numeral
from ego_cli.conversation.understand.tokens import Token

_GROUPED_BY_POINT = re.compile(r"\d{1,3}\.\d{3}$")
_NO_THOUSANDTHS = frozenset(["NGN", "EUR", "KES"])
"""Currencies in which "18.500" is eighteen thousand five hundred."""
_BEHIND = frozenset(["max_back", "min_back", "about_back", "each", "all"])
_COUNTED = 1_000
"""Below this a number before a plural noun counts it ("at least 4 ports")."""
_FEW = 20
"""Below this a number before a product counts it ("under 3 mugs")."""
_SPELLED_PRICE = 10
"""No price up to here is written as a bare word: "one", "two"."""
_NUDGE = 100
"""From here on "make it 200" is about money; below it, about pieces."""
_PER_REACH = 4  # words between a price and "each" or "for everything"


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(language().units_file["money"][name])


def price(
    tokens: Sequence[Token],
    cues: Sequence[Cue],
    names: Sequence[NameSpan],
    bounds: Bounds,
    context: Context,
) -> Amount | None:
    """The amount as a price, or None when it is something else.

    Money is what carries a currency, a suffix of money ("15k"), a bounding word or talk of spending with no other noun to
    belong to, or what answers the question for a budget.
    """
    currency = _currency(tokens, bounds, context)
    asked = context.asked in ("price", "budget")
    spending = _spending(tokens, bounds)
    if currency is None and not asked and not _is_money(tokens, names, bounds, spending):
        return None
    low, high = sorted(
        _value(tokens, numeral, currency or context.currency)
        for numeral in (bounds.first, bounds.second or bounds.first)
    )
    per = _per(tokens, cues, bounds)
    operator = bounds.operator
    if operator == "is":
        operator = "max" if per == "all" or spending or asked else _unsaid(tokens, bounds, context)
    return Amount(bounds.start, _end(cues, bounds), "price", operator, low, high, "price", currency, per)


def _is_money(tokens: Sequence[Token], names: Sequence[NameSpan], bounds: Bounds, spending: bool) -> bool:
    """Whether a number without a currency is money."""
    first = bounds.first
    if first.suffix in _words("suffixes") or (bounds.second is not None and bounds.second.suffix):
        millions = first.suffix == "m" and not (bounds.cued or spending)
        return not millions and not _resolution(tokens, bounds, spending)
    if first.spelled and first.value <= _SPELLED_PRICE:
        return False
    if not (bounds.cued or spending):
        return False
    return not _counts_noun(tokens, names, bounds) and not _part_of_name(tokens, bounds)


# --- currency and value --------------------------------------------------------------------------------------------------


def _currency(tokens: Sequence[Token], bounds: Bounds, context: Context) -> str | None:
    """The ISO code beside the number. "Pounds" are money only where the catalogue counts in them."""
    for numeral in filter(None, (bounds.second, bounds.first)):
        found = _in_front(tokens, numeral) or _behind(tokens, numeral, context)
        if found is not None:
            return found
    return None


def _in_front(tokens: Sequence[Token], numeral: Numeral) -> str | None:
    speech = language()
    before = tokens[numeral.start - 1] if numeral.start else None
    if before is None:
        return None
    if before.word in speech.currency_symbols:
        return speech.currency_symbols[before.word]
    joined = (
        tokens[numeral.start].glue == "+" or len(before.word) > 2
    )  # "N25k", "NGN 25000"; but "n 25" is none
    return speech.currency_prefixes.get(before.word) if joined else None


def _behind(tokens: Sequence[Token], numeral: Numeral, context: Context) -> str | None:
    speech = language()
    for length in (2, 1):
        phrase = " ".join(token.word for token in tokens[numeral.end : numeral.end + length])
        for table in (speech.currency_names, speech.currency_symbols):
            if phrase in table:
                return table[phrase]
        if context.currency is not None and speech.weak_currency_names.get(phrase) == context.currency:
            return context.currency
    return None


def _value(tokens: Sequence[Token], numeral: Numeral, currency: str | None) -> float:
    """₦18.500 is eighteen thousand five hundred: no naira price has three decimals."""
    token = tokens[numeral.start]
    grouped = token.number == numeral.value and _GROUPED_BY_POINT.match(token.word) is not None
    return numeral.value * 1000 if grouped and currency in _NO_THOUSANDTHS else numeral.value


# --- what the words around it say ----------------------------------------------------------------------------------------


def _spending(tokens: Sequence[Token], bounds: Bounds) -> bool:
    """Whether the words around the number talk of spending: "budget", "I can pay", "make it 20k"."""
    if {t.word for t in tokens[max(0, bounds.start - 7) : bounds.end + 6]} & _words("spending"):
        return True
    if bounds.first.value < _NUDGE:
        return False
    before = {t.word for t in tokens[max(0, bounds.start - 4) : bounds.start]}
    return bool({"it", "to", "am"} & before) and bool(_words("changing") & before)


def _resolution(tokens: Sequence[Token], bounds: Bounds, spending: bool) -> bool:
    """4k beside a screen or a film is a resolution, and so it is alone unless something speaks of money."""
    numeral = bounds.first
    file = language().units_file["not_money"]
    if numeral.suffix != "k" or bounds.second is not None or numeral.raw not in file["resolutions"]:
        return False
    behind = tokens[numeral.end : numeral.end + 2]
    near = {t.word for t in (*behind, *tokens[max(0, numeral.start - 2) : numeral.start])}
    if (near | {t.stem for t in behind}) & set(file["resolution_words"]):
        return True
    price_like = near & {"each", "apiece", "per"} or (
        numeral.start and tokens[numeral.start - 1].word in ("at", "for")
    )
    return not (price_like or bounds.cued or spending)


def _counts_noun(tokens: Sequence[Token], names: Sequence[NameSpan], bounds: Bounds) -> bool:
    """ "At least 4 ports", "up to 3 people": the number counts what follows."""
    if bounds.end >= len(tokens) or bounds.first.value >= _COUNTED:
        return False
    after = tokens[bounds.end]
    if after.kind != "word":
        return after.word == "%"
    if any(span.start == bounds.end and any(n.kind == "product" for n in span.names) for span in names):
        return bounds.first.value <= _FEW
    plural = len(after.word) > 2 and after.word.endswith("s")
    return plural and after.word not in language().filler and after.word not in language().currency_names


def _part_of_name(tokens: Sequence[Token], bounds: Bounds) -> bool:
    """ "iPhone 11 …": a bare number right behind a name, without a bounding word of its own."""
    before = tokens[bounds.first.start - 1] if bounds.first.start else None
    if bounds.cued or bounds.operator != "is" or before is None or before.kind != "word":
        return False
    return before.word not in language().filler and before.word not in _words("spending")


def _unsaid(tokens: Sequence[Token], bounds: Bounds, context: Context) -> str:
    """A price without a bounding word: what one has to spend is a maximum, what a thing should cost is about that."""
    before = tokens[bounds.start - 1].word if bounds.start else ""
    if context.holds("price") or before in _words("having"):
        return "max"
    behind = [t for t in tokens[bounds.end :] if t.kind != "mark" and t.word not in language().filler]
    return "max" if bounds.start == 0 and not behind else "about"


def _end(cues: Sequence[Cue], bounds: Bounds) -> int:
    end = bounds.end
    for cue in cues:
        if cue.start == end and cue.classes & _BEHIND:
            end = cue.end
    return end


def _per(tokens: Sequence[Token], cues: Sequence[Cue], bounds: Bounds) -> str:
    """ "each", "all", or "" when the sentence does not say."""
    per = ""
    for cue in cues:
        if not cue.classes & {"each", "all"}:
            continue
        distance = cue.start - bounds.end if cue.start >= bounds.end else bounds.start - cue.end
        loose = cue.end - cue.start == 1 and tokens[cue.start].word in _words("loose")
        if distance <= (2 if loose else _PER_REACH):
            per = "each" if "each" in cue.classes else "all"
    return per
