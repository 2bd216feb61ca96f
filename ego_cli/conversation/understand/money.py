"""Which amounts are prices, in which currency, with which bounds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.cues import Cue
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import NameSpan
from ego_cli.conversation.understand.numbers import Amount, Bounds
from ego_cli.conversation.understand.tokens import Token

_EUROPEAN = re.compile(r"\d{1,3}\.\d{3}$")
_MONEY_SUFFIXES = frozenset(
    [
        "k",
        "grand",
        "million",
        "millions",
        "mil",
        "mill",
        "mn",
        "m",
        "thousand",
        "thousands",
        "billion",
        "bn",
        "hundred",
    ]
)
_PER_PIECE = frozenset(["each", "apiece", "per"])
_SPENDING = frozenset(
    [
        "budget",
        "spend",
        "spending",
        "afford",
        "pay",
        "price",
        "priced",
        "cost",
        "costs",
        "costing",
        "money",
        "worth",
        "cash",
        "hold",
        "naira",
        "dollars",
    ]
)
_BUDGET_TALK = frozenset(
    ["make", "raise", "increase", "reduce", "lower", "add", "reach", "bump", "stretch", "change", "up"]
)


def price(
    tokens: Sequence[Token],
    cues: Sequence[Cue],
    names: Sequence[NameSpan],
    bounds: Bounds,
    context: Context,
) -> Amount | None:
    """The amount as a price, or None when it is something else.

    Money is what carries a currency, a suffix of money ("15k"), or a bounding word with no other noun to belong to.
    """
    currency, weak = _currency(tokens, bounds, context)
    first, second = bounds.first, bounds.second
    suffixed = bool(first.suffix in _MONEY_SUFFIXES and first.suffix) or bool(second and second.suffix)
    asked = context.asked in ("price", "budget")
    talk = _spending_words(tokens, bounds)
    if currency is None and not asked:
        if suffixed and _resolution(tokens, bounds):
            return None
        if first.suffix == "m" and not bounds.cued and not talk:
            return None
        if not suffixed and not (bounds.cued or talk):
            return None
        if not suffixed and _noun_follows(tokens, names, bounds):
            return None
        if not suffixed and _model_number(tokens, names, bounds):
            return None
        if not suffixed and not talk and not bounds.cued:
            return None
    if first.spelled and first.value <= 10 and not suffixed and currency is None and not asked:
        return None  # "one" and "two" alone are no prices
    if weak and not (bounds.cued or talk):
        return None
    low = _value(tokens, first.start, first.value, currency or context.currency)
    high = low if second is None else _value(tokens, second.start, second.value, currency or context.currency)
    if low > high:
        low, high = high, low
    operator = bounds.operator
    per = _per(tokens, cues, bounds)
    if operator == "is":
        operator = "max" if per == "all" else _unsaid_operator(tokens, bounds, context, talk)
    return Amount(
        bounds.start,
        _end(tokens, cues, bounds),
        "price",
        operator,
        low,
        high,
        "price",
        currency,
        per,
    )


def _value(tokens: Sequence[Token], index: int, value: float, currency: str | None) -> float:
    """₦18.500 is eighteen thousand five hundred: no naira price has three decimals."""
    word = tokens[index].word
    if (
        tokens[index].kind == "number"
        and _EUROPEAN.match(word)
        and value == tokens[index].number
        and currency in ("NGN", "EUR", "KES")
    ):
        return value * 1000
    return value


def _currency(tokens: Sequence[Token], bounds: Bounds, context: Context) -> tuple[str | None, bool]:
    """The ISO code beside the number and whether its word is a weak sign ("pounds" may be a weight)."""
    speech = language()
    weak = False
    for numeral in filter(None, (bounds.second, bounds.first)):
        for index in (numeral.start - 1, numeral.start - 2):
            if index < 0:
                continue
            token = tokens[index]
            if token.word in speech.currency_symbols:
                return speech.currency_symbols[token.word], False
            if index == numeral.start - 1 and token.word in speech.currency_prefixes:
                if tokens[numeral.start].glue == "+" or len(token.word) > 2:
                    return speech.currency_prefixes[token.word], False
            if (
                index == numeral.start - 1
                and token.kind == "word"
                and token.word not in speech.currency_prefixes
            ):
                break
        for length in (2, 1):
            phrase = " ".join(t.word for t in tokens[numeral.end : numeral.end + length])
            if phrase in speech.currency_names:
                return speech.currency_names[phrase], False
            if phrase in speech.currency_symbols:
                return speech.currency_symbols[phrase], False
            if (
                phrase in speech.weak_currency_names
                and context.currency == speech.weak_currency_names[phrase]
            ):
                return speech.weak_currency_names[phrase], weak
    return None, weak


def _spending_words(tokens: Sequence[Token], bounds: Bounds) -> bool:
    """Whether the clause around the number talks of spending."""
    low = max(0, bounds.start - 7)
    window = tokens[low : min(len(tokens), bounds.end + 6)]
    words = {t.word for t in window}
    if words & _SPENDING:
        return True
    before = [t.word for t in tokens[max(0, bounds.start - 4) : bounds.start]]
    if bounds.first.value < 100 and not bounds.first.suffix:
        return False  # "make it three"
    return bool({"it", "to", "am"} & set(before)) and bool(_BUDGET_TALK & set(before))


def _resolution(tokens: Sequence[Token], bounds: Bounds) -> bool:
    """4k beside a screen or a film is a resolution."""
    numeral = bounds.first
    if numeral.suffix != "k" or bounds.second is not None:
        return False
    file = language().units_file["not_money"]
    if numeral.raw not in file["resolutions"]:
        return False
    near = {
        t.word
        for t in (*tokens[numeral.end : numeral.end + 2], *tokens[max(0, numeral.start - 2) : numeral.start])
    }
    stems = near | {t.stem for t in tokens[numeral.end : numeral.end + 2]}
    if stems & set(file["resolution_words"]):
        return True
    if any(word in near for word in _PER_PIECE) or tokens[max(0, numeral.start - 1)].word in ("at", "for"):
        return False
    return not bounds.cued and not _spending_words(tokens, bounds)


def _noun_follows(tokens: Sequence[Token], names: Sequence[NameSpan], bounds: Bounds) -> bool:
    """ "at least 4 ports", "up to 3 people": the number counts what follows."""
    speech = language()
    if bounds.end >= len(tokens) or bounds.first.value >= 1000:
        return False
    after = tokens[bounds.end]
    if after.kind != "word":
        return after.word == "%"
    if any(span.start == bounds.end and any(n.kind == "product" for n in span.names) for span in names):
        return bounds.first.value <= 20
    return (
        after.word not in speech.filler
        and after.word not in speech.currency_names
        and len(after.word) > 2
        and after.word.endswith("s")
    )


def _model_number(tokens: Sequence[Token], names: Sequence[NameSpan], bounds: Bounds) -> bool:
    """ "iphone 11 under …": a bare number right behind a name, without a bounding word of its own."""
    if bounds.operator != "is" or bounds.cued:
        return False
    before = tokens[bounds.first.start - 1] if bounds.first.start else None
    return (
        before is not None
        and before.kind == "word"
        and before.word not in language().filler
        and before.word not in _SPENDING
    )


def _unsaid_operator(tokens: Sequence[Token], bounds: Bounds, context: Context, talk: bool) -> str:
    """A price without a bounding word: what one has to spend is a maximum, what a thing should cost is about that."""
    if talk or context.asked in ("price", "budget") or context.holds("price"):
        return "max"
    before = tokens[bounds.start - 1].word if bounds.start else ""
    if before in ("for", "with", "with", "of", "to", "get", "have", "only", ","):
        return "max"
    behind = [t for t in tokens[bounds.end :] if t.kind != "mark" and t.word not in language().filler]
    return "max" if bounds.start == 0 and not behind else "about"


def _end(tokens: Sequence[Token], cues: Sequence[Cue], bounds: Bounds) -> int:
    end = bounds.end
    for cue in cues:
        if cue.start == end and cue.classes & {"max_back", "min_back", "about_back", "each", "all"}:
            end = cue.end
    return end


def _per(tokens: Sequence[Token], cues: Sequence[Cue], bounds: Bounds) -> str:
    """ "each", "all", or "" when the sentence does not say."""
    best = ""
    for cue in cues:
        if cue.classes & {"each", "all"}:
            lone = cue.end - cue.start == 1 and tokens[cue.start].word in (
                "together",
                "overall",
                "individually",
            )
            distance = cue.start - bounds.end if cue.start >= bounds.end else bounds.start - cue.end
            if distance <= 4 and not (lone and distance > 2):
                best = "each" if "each" in cue.classes else "all"
    return best
