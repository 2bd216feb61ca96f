"""Numerals: digits with separators and suffixes, number words; and the values that say what an amount is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ego_cli.conversation.understand.language import Language, language
from ego_cli.conversation.understand.tokens import Token


class Numeral(NamedTuple):
    """A number as it stands in tokens [start, end), currency marks excluded.

    ``raw`` is the value before its suffix; ``suffix`` "k", "million"... or ""; ``spelled``: written in words.
    """

    start: int
    end: int
    value: float
    raw: float
    suffix: str = ""
    spelled: bool = False


class Amount(NamedTuple):
    """Tokens [start, end) that state an amount.

    ``kind``: "price", "measure", "size", "rating", "reviews", "count". ``low``/``high`` are its bounds; equal when it is one
    value. ``operator``: "is", "min", "max", "about", "range". ``per``: "each", "all" or "". ``text``: a size as typed.
    """

    start: int
    end: int
    kind: str
    operator: str
    low: float
    high: float
    attribute: str = ""
    unit: str | None = None
    per: str = ""
    text: str = ""
    denied: int = -1  # the token of a negation that is read into the operator: "nothing … over 50k"


class Bounds(NamedTuple):
    """A numeral or a range of two with the words that bound it."""

    start: int
    end: int
    first: Numeral
    second: Numeral | None
    operator: str
    cued: bool  # a bounding word stands there
    denied: int = -1


def numerals(tokens: Sequence[Token]) -> tuple[Numeral, ...]:
    """All numerals from left to right. Digits that are part of a model name ("A5", "AT-500") are not numerals."""
    speech = language()
    found: list[Numeral] = []
    index = 0
    while index < len(tokens):
        numeral = _digits(tokens, index, speech) or _spelled(tokens, index, speech)
        if numeral is None:
            index += 1
            continue
        found.append(numeral)
        index = numeral.end
    return tuple(found)


def _digits(tokens: Sequence[Token], start: int, speech: Language) -> Numeral | None:
    token = tokens[start]
    if token.kind != "number" or token.number is None or _is_code(tokens, start, speech):
        return None
    value, end = token.number, start + 1
    # "25 000": a group of three digits after a space, after one to three digits without a point
    if (
        end < len(tokens)
        and tokens[end].kind == "number"
        and tokens[end].glue == ""
        and len(tokens[end].word) == 3
        and token.word.isdigit()
        and len(token.word) <= 3
        and tokens[end].word.isdigit()
        and start > 0
        and tokens[start - 1].word in speech.currency_symbols
    ):
        value, end = value * 1000 + (tokens[end].number or 0.0), end + 1
    raw = value
    suffix = ""
    if end < len(tokens) and tokens[end].word in speech.magnitudes and _suffixed(tokens, end):
        suffix = tokens[end].word
        value *= speech.magnitudes[suffix]
        end += 1
    elif (
        end < len(tokens)
        and tokens[end].glue == "+"
        and tokens[end].kind == "word"
        and not _may_follow(tokens, end, speech)
    ):
        return None  # "6s", "5g", "3d": a name with a digit in it
    return Numeral(start, end, value, raw, suffix)


def _suffixed(tokens: Sequence[Token], index: int) -> bool:
    word = tokens[index].word
    if word in ("m", "mil", "k", "bn", "mn"):
        follows = tokens[index + 1] if index + 1 < len(tokens) else None
        if follows is not None and follows.glue == "-" and follows.kind == "word":
            return False
        return tokens[index].glue == "+" or word != "m"
    return True


def _may_follow(tokens: Sequence[Token], index: int, speech: Language) -> bool:
    word = tokens[index].word
    return (
        word in speech.glued_units
        or word in speech.currency_names
        or word in speech.weak_currency_names
        or word in ("x", "st", "nd", "rd", "th", "ish", "plus")
    )


def _is_code(tokens: Sequence[Token], index: int, speech: Language) -> bool:
    """Digits glued to a word in front belong to a name, unless that word is a currency, a size system or "no"."""
    token = tokens[index]
    if token.glue not in ("+", "-", "&") or index == 0:
        return False
    before = tokens[index - 1]
    if before.kind != "word":
        return False
    if token.glue == "+" and before.word in speech.currency_prefixes:
        return False
    return before.word not in ("size", "sz", "eu", "uk", "us", "number", "no", "x", "w", "l")


def _spelled(tokens: Sequence[Token], start: int, speech: Language) -> Numeral | None:
    """ "fifteen thousand", "a hundred", "twenty five", "half a million"."""
    words, magnitudes = speech.number_words, speech.magnitudes
    word = tokens[start].word
    index = start
    total = current = 0.0
    seen_magnitude = False
    last_magnitude = 1.0
    if (
        word == "half"
        and _word(tokens, start + 1) == "a"
        and _word(tokens, start + 2) in ("million", "thousand")
    ):
        return Numeral(
            start, start + 3, 0.5 * magnitudes[_word(tokens, start + 2)], 0.5, _word(tokens, start + 2), True
        )
    if word in ("a", "an"):
        if _word(tokens, start + 1) not in ("hundred", "thousand", "grand", "million"):
            return None
        current, index = 1.0, start + 1
    elif word not in words and word not in ("hundred", "thousand"):
        return None
    while index < len(tokens):
        word = tokens[index].word
        if tokens[index].kind == "number":
            break
        if (word in words and tokens[index].glue != "-") or (word in words and current):
            if current and (current % 10 or words[word] >= 10) and current % 100:
                break
            current += words[word]
        elif word in magnitudes and len(word) > 2 and (current or not total):
            seen_magnitude = True
            last_magnitude = float(magnitudes[word])
            if magnitudes[word] == 100:
                current = (current or 1.0) * 100
            else:
                total += (current or 1.0) * magnitudes[word]
                current = 0.0
        elif word == "and" and seen_magnitude and _word(tokens, index + 1) in words and index > start:
            index += 1
            continue
        else:
            break
        index += 1
    value = total + current
    if not value:
        return None
    return Numeral(start, index, value, value / last_magnitude, "thousand" if seen_magnitude else "", True)


def _word(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].word if index < len(tokens) else ""
