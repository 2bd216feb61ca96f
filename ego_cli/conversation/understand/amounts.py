"""What the numbers of a sentence are: prices, measures, sizes, ratings, counts, each with its bounds.

One number is one thing: what is a size is never a count, what is a measure is never a price.
"""

from __future__ import annotations

from collections.abc import Sequence

from ego_cli.conversation.understand import money, pieces, sizes, units
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.cues import Cue
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import NameSpan
from ego_cli.conversation.understand.numbers import Amount, Bounds, Numeral, numerals
from ego_cli.conversation.understand.tokens import Token

_BEFORE = frozenset(
    [
        "of",
        "is",
        "a",
        "the",
        "price",
        "only",
        "just",
        "to",
        "at",
        "an",
        "my",
        "be",
        "are",
        "for",
        "na",
        "should",
        "about",
        "around",
        "priced",
        ":",
        "like",
        "total",
        "reach",
        "spend",
        "size",
    ]
)
_BOUNDS = ("max", "min", "about", "between")


def read_amounts(
    text: str,
    tokens: Sequence[Token],
    cues: Sequence[Cue],
    names: Sequence[NameSpan],
    context: Context,
) -> tuple[Amount, ...]:
    """All amounts from left to right."""
    found = numerals(tokens)
    letters = sizes.letter_sizes(tokens, names, context)
    if not found and not letters:
        return ()
    amounts: list[Amount] = list(letters)
    skip_until = 0
    for position, numeral in enumerate(found):
        if numeral.start < skip_until:
            continue
        following = found[position + 1] if position + 1 < len(found) else None
        size = sizes.explicit_size(tokens, numeral, following, context)
        if size is not None:
            amounts.append(size)
            skip_until = size.end
            continue
        bounds = _bounds(tokens, cues, names, numeral, following)
        amount = (
            units.measure(tokens, names, bounds, amounts, context)
            or money.price(tokens, cues, names, bounds, context)
            or sizes.implied_size(tokens, names, bounds)
            or pieces.count(tokens, names, bounds)
        )
        if amount is not None:
            amounts.append(amount._replace(denied=bounds.denied))
            skip_until = amount.end
        elif bounds.second is not None:
            skip_until = bounds.first.end
    return tuple(sorted(amounts))


def _bounds(
    tokens: Sequence[Token],
    cues: Sequence[Cue],
    names: Sequence[NameSpan],
    numeral: Numeral,
    following: Numeral | None,
) -> Bounds:
    """The numeral with the words around it that bound it, and its partner when the two make a range."""
    by_end = {cue.end: cue for cue in cues}
    by_start = {cue.start: cue for cue in cues}
    start, first, second, operator, cued = numeral.start, numeral, None, "is", False
    denied = -1
    lead = _skip_currency_back(tokens, start)
    begin = lead
    while True:
        cue = by_end.get(begin)
        if cue is not None and cue.classes & set(_BOUNDS):
            cued = True
            break
        if begin > 0 and lead - begin < 3 and tokens[begin - 1].word in _BEFORE and cue is None:
            begin -= 1
            continue
        if (
            cue is not None
            and lead - begin < 3
            and tokens[begin - 1].word in _BEFORE
            and cue.end - cue.start == 1
        ):
            begin -= 1
            continue
        cue = None
        break
    classes = cue.classes if cue is not None else frozenset()
    end = _skip_currency(tokens, numeral.end)
    if following is not None:
        joined = _joined(tokens, numeral.end, following.start, "between" in classes)
        if joined:
            second = following
            end = _skip_currency(tokens, following.end)
            if second.suffix and not first.suffix and first.raw < 1000 and first.value <= second.raw:
                scale = second.value / second.raw if second.raw else 1.0
                first = first._replace(value=first.value * scale)
            operator = "range"
    if cue is not None:
        start = cue.start
        if operator != "range":
            operator = (
                "max"
                if "max" in classes
                else "min"
                if "min" in classes
                else "about"
                if "about" in classes
                else "is"
            )
            if operator == "max" and "about" in classes:
                operator = "about"
            denied = _denial(tokens, cues, names, cue) if operator in ("max", "min") else -1
            if denied >= 0:
                operator = "max" if operator == "min" else "min"
    else:
        start = lead
    if operator != "range":
        unit_end = units.unit_end(tokens, end)
        per = by_start.get(end)
        behind_per = per.end if per is not None and per.classes & {"each", "all"} else end
        for place in dict.fromkeys((end, unit_end, behind_per)):
            back = by_start.get(place)
            if back is None:
                continue
            if _money_at(tokens, back.end):
                continue  # "4.5 stars and under $35": the words bound what follows
            bound = (
                "max"
                if "max_back" in back.classes
                else "min"
                if "min_back" in back.classes
                else "about"
                if "about_back" in back.classes
                else ""
            )
            if bound == "about" and operator in ("max", "min"):
                break  # "under 60 or so" stays a bound
            if bound and not (
                bound == "min" and "and" in back.classes and tokens[place].word == "plus" and place != end
            ):
                operator, cued = bound, True
                break
    return Bounds(start, end, first, second, operator, cued, denied)


def _money_at(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and (
        tokens[index].kind == "number" or tokens[index].word in language().currency_symbols
    )


def _joined(tokens: Sequence[Token], end: int, start: int, between: bool) -> bool:
    """Whether the tokens between two numerals join them into a range."""
    middle = [t for t in tokens[end:start] if t.word not in language().currency_symbols]
    names = language().currency_names
    prefixes = language().currency_prefixes
    words = [t.word for t in middle if t.word not in names and t.word not in prefixes]
    if words in (["-"], ["to"], ["down", "to"], ["up", "to"], ["till"], ["until"]):
        return True
    if between and words in (["and"], ["&"], ["or"], ["n"]):
        return True
    if between and len(words) <= 3 and "and" in words and any(w in language().units for w in words):
        return True
    return len(words) <= 2 and "-" in words and any(w in language().units for w in words)


def _denial(tokens: Sequence[Token], cues: Sequence[Cue], names: Sequence[NameSpan], operator: Cue) -> int:
    """ "do not show anything over 50k", "no phones above 300k": where the negation in front begins, -1 when there is none."""
    filler = language().filler
    products = {
        i
        for span in names
        for i in range(span.start, span.end)
        if any(n.kind == "product" for n in span.names)
    }
    by_end = {cue.end: cue for cue in cues}
    index = operator.start
    for _ in range(5):
        cue = by_end.get(index)
        if cue is not None and cue.classes & {"avoid", "relax"} and not cue.classes & {"max", "min"}:
            # "Serum without fragrance under 30": the noun is what the other thing must not have.
            own_noun = products & set(range(cue.end, operator.start))
            return -1 if own_noun and min(products) < cue.start else cue.start
        if index == 0:
            return -1
        before = tokens[index - 1]
        if before.kind != "word" or (before.word not in filler and index - 1 not in products):
            return -1
        index -= 1
    return -1


def _skip_currency_back(tokens: Sequence[Token], start: int) -> int:
    speech = language()
    while start > 0:
        before = tokens[start - 1]
        if (
            before.word in speech.currency_symbols
            or before.word == "~"
            or before.word == "≈"
            or (
                before.word in speech.currency_prefixes
                and (
                    tokens[start].glue == "+"
                    or len(before.word) > 2
                    or tokens[start].word in speech.currency_symbols
                )
            )
        ):
            start -= 1
        else:
            break
    return start


def _skip_currency(tokens: Sequence[Token], end: int) -> int:
    speech = language()
    while end < len(tokens) and tokens[end].word in speech.currency_symbols:
        end += 1
    for length in (2, 1):
        words = [token.word for token in tokens[end : end + length]]
        if len(words) == length and " ".join(words) in speech.currency_names:
            return end + length
    return end
