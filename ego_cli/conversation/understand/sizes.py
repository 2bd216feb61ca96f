"""Which numbers and letters are sizes of clothes and shoes. A size is never a count, never read out of a price."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import NameSpan, shelves_of
from ego_cli.conversation.understand.numbers import Amount, Bounds, Numeral
from ego_cli.conversation.understand.tokens import Token
from ego_cli.conversation.understand.units import unit_at

LARGEST = 70
"""No clothes or shoes have a greater size number; waists by lengths ("102x81", in cm) up to three times that."""
SMALLEST_IMPLIED = 3
"""A number that nothing calls a size ("in a 10") is one from here on."""
_REACH = 4  # words between "size" and its number


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(language().units_file["sizes"][name])


def explicit_size(
    tokens: Sequence[Token], numeral: Numeral, following: Numeral | None, context: Context
) -> Amount | None:
    """ "Size 9.5", "EU 42", "my waist is 34", "32x34", "42 is my size"; a bare number after a question for the size."""
    pair = _waist_and_length(tokens, numeral, following)
    if pair is not None:
        return pair
    if numeral.value > LARGEST or numeral.suffix or (numeral.spelled and context.asked != "size"):
        return None
    named = _named_before(tokens, numeral)
    if named is not None:
        return _up_to(tokens, named, following)
    after = [token.word for token in tokens[numeral.end : numeral.end + 3]]
    if after in (["is", "my", "size"], ["na", "my", "size"]):
        return _size(tokens, numeral.start, numeral, end=numeral.end + 3)
    if after == ["size"]:
        return _size(tokens, numeral.start, numeral, end=numeral.end + 1)
    if (
        after
        and after[0] in _words("systems")
        and numeral.start
        and _at(tokens, numeral.start - 1) in ("a", "in", "size", "wear")
    ):
        return _size(tokens, numeral.start, numeral)
    if context.asked == "size" and following is None and unit_at(tokens, numeral.end) is None:
        money = {"under", "below", "budget", "price", "max", "over"}
        return (
            None
            if money & {t.word for t in tokens[: numeral.start]}
            else _size(tokens, numeral.start, numeral)
        )
    return None


def _at(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].word if 0 <= index < len(tokens) else ""


def _waist_and_length(tokens: Sequence[Token], numeral: Numeral, following: Numeral | None) -> Amount | None:
    if following is None or max(numeral.value, following.value) > 3 * LARGEST:
        return None
    if [token.word for token in tokens[numeral.end : following.start]] not in (["x"], ["l"]):
        return None
    begin = (
        numeral.start - 1
        if _at(tokens, numeral.start - 1) == "w" and tokens[numeral.start].glue == "+"
        else numeral.start
    )
    text = f"{tokens[numeral.start].word}x{tokens[following.start].word}"
    return Amount(begin, following.end, "size", "is", numeral.value, following.value, "size", text=text)


def _up_to(tokens: Sequence[Token], size: Amount, following: Numeral | None) -> Amount:
    """ "Size 9-11": one size with both ends."""
    joined = following is not None and [t.word for t in tokens[size.end : following.start]] == ["-"]
    if following is None or not joined or following.value > LARGEST:
        return size
    return size._replace(end=following.end, text=f"{size.text}-{following.value:g}")


def _named_before(tokens: Sequence[Token], numeral: Numeral) -> Amount | None:
    """The word "size", a size system or a part of the body in front of the number."""
    for index in range(numeral.start - 1, max(-1, numeral.start - 1 - _REACH), -1):
        word = tokens[index].word
        if word in _words("body") and index < numeral.start - 1:
            return _size(tokens, numeral.start, numeral)
        if word in _words("names"):
            system = _at(tokens, index - 1) if _at(tokens, index - 1) in _words("systems") else ""
            return _size(tokens, index - 1 if system else index, numeral, system=system)
        if word in _words("systems") and index == numeral.start - 1:
            begin = index - 1 if _at(tokens, index - 1) in _words("names") else index
            return _size(tokens, begin, numeral, system=word)
        if word not in _words("between"):
            return None
    return None


def _size(
    tokens: Sequence[Token], start: int, numeral: Numeral, *, system: str = "", end: int | None = None
) -> Amount:
    """The size with its system and its letter of width ("EU 42", "34DD")."""
    stop = numeral.end if end is None else end
    text = f"{numeral.value:g}"
    if stop < len(tokens) and tokens[stop].glue == "+" and tokens[stop].word in _words("widths"):
        text += tokens[stop].word.upper()
        stop += 1
    if not system and _at(tokens, stop) in _words("systems"):
        system, stop = tokens[stop].word, stop + 1
    if system:
        text = f"{system.upper()} {text}"
    return Amount(_owner(tokens, start), stop, "size", "is", numeral.value, numeral.value, "size", text=text)


def _owner(tokens: Sequence[Token], start: int) -> int:
    """ "My leg na size 43", "my shoe size is 42": the words that only say whose size it is belong to it."""
    begin = start
    while begin > 0 and tokens[begin - 1].word in _words("owners") and start - begin < _REACH:
        begin -= 1
    return begin if any(t.word in ("my", "his", "her", "their") for t in tokens[begin:start]) else start


def implied_size(tokens: Sequence[Token], names: Sequence[NameSpan], bounds: Bounds) -> Amount | None:
    """ "Sneakers in 43", "in a 42", "I wear a 10": a bare number in the place of a size."""
    numeral = bounds.first
    bare = not (bounds.cued or bounds.second is not None or numeral.suffix or numeral.spelled)
    if not bare or not SMALLEST_IMPLIED <= numeral.value <= LARGEST or not numeral.start:
        return None
    after = tokens[numeral.end] if numeral.end < len(tokens) else None
    if after is not None and after.kind == "word" and after.glue and after.word not in language().filler:
        return None
    if any(span.start == numeral.end and any(n.kind == "product" for n in span.names) for span in names):
        return None
    before, earlier = _at(tokens, numeral.start - 1), _at(tokens, numeral.start - 2)
    worn = any(token.word in _words("wearing") for token in tokens)
    if before == "in" or (before in ("a", "an") and earlier == "in"):
        return _size(tokens, numeral.start, numeral)
    if worn and before in ("a", "an", "wear", "wears", "na", "is"):
        return _size(tokens, numeral.start, numeral)
    return None


def letter_sizes(tokens: Sequence[Token], names: Sequence[NameSpan], context: Context) -> list[Amount]:
    """ "XL", "size medium", "in a large"; single letters only where a size was named or asked for."""
    worn = _worn(names, context)
    found: list[Amount] = []
    index = 0
    while index < len(tokens):
        text, length = _letters_at(tokens, index)
        amount = _letter_size(tokens, index, length, text, context, worn=worn)
        if amount is not None:
            found.append(amount)
        index = amount.end if amount is not None else index + 1
    return found


@cache
def _openings() -> frozenset[str]:
    return frozenset(phrase.split()[0] for phrase in language().units_file["sizes"]["words"])


def _letters_at(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    words = language().units_file["sizes"]["words"]
    for length in (5, 3, 2) if tokens[index].word in _openings() else ():
        phrase = " ".join(t.word for t in tokens[index : index + length])
        if phrase in words and index + length <= len(tokens):
            return phrase, length
    if tokens[index].kind == "number" and index + 1 < len(tokens) and tokens[index + 1].glue == "+":
        return tokens[index].word + tokens[index + 1].word, 2  # "3XL"
    return tokens[index].word, 1


def _letter_size(
    tokens: Sequence[Token], index: int, length: int, text: str, context: Context, *, worn: bool
) -> Amount | None:
    words = language().units_file["sizes"]["words"]
    known = text in _words("letters") or text in words
    if not known:
        return None
    before, earlier, after = _at(tokens, index - 1), _at(tokens, index - 2), _at(tokens, index + length)
    named = before in _words("names") or (
        before in ("is", "na", "a", "an") and earlier in ("size", "in", "wear", "wears")
    )
    named = named or (after == "size" and text in words)
    asked = context.asked == "size" and len(tokens) <= 5
    if not (named or asked or (worn and text in _words("safe_letters")) or text in _words("by_themselves")):
        return None
    begin = index - 1 if before in _words("names") else index
    end = index + length + (after == "size" and before != "size")
    return Amount(begin, end, "size", "is", 0.0, 0.0, "size", text=words.get(text, text.upper()))


def _worn(names: Sequence[NameSpan], context: Context) -> bool:
    """Whether clothes or shoes are spoken of, or nothing at all: the XS of an iPhone is no size."""
    spoken = [name.value for span in names for name in span.names if name.kind == "product"]
    types = spoken or context.categories
    return not types or any(shelves_of(value) & _words("shelves") for value in types)
