"""Which amounts are measures, ratings or review counts, in canonical units."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.items import attribute_at
from ego_cli.conversation.understand.language import Unit, language, longest
from ego_cli.conversation.understand.lexicon import NameSpan
from ego_cli.conversation.understand.numbers import Amount, Bounds
from ego_cli.conversation.understand.tokens import Token

_SHORT = frozenset(["in", "m", "l", "g", "v", "w", "mi", "hp", "va", "pc", "ah", "speed"])
"""Unit letters that are words or suffixes too: a unit only when they touch the number …"""
_LONE = frozenset(["m", "l", "g", "v", "w"])
"""… or, of these, when nothing follows in that part of the sentence ("hdmi cable 3 m")."""
_NOT_MEASURED = frozenset(
    ["price", "colour", "brand", "material", "gender", "type", "style", "occasion", "quantity"]
)


def unit_end(tokens: Sequence[Token], index: int) -> int:
    """Where the unit that begins at ``index`` ends (``index`` itself when there is none)."""
    found = unit_at(tokens, index)
    return found[1] if found else index


def unit_at(tokens: Sequence[Token], index: int) -> tuple[Unit, int] | None:
    if index >= len(tokens):
        return None
    speech = language()
    token = tokens[index]
    if token.word == "+" and index + 1 < len(tokens):
        index += 1
        token = tokens[index]
    for length in (2, 1):
        words = [t.word for t in tokens[index : index + length]]
        if len(words) < length:
            continue
        phrase = " ".join(words)
        if (
            length == 1
            and phrase in _SHORT
            and not (tokens[index].glue == "+" and tokens[index - 1].kind == "number")
        ):
            if phrase not in _LONE or not _ends_here(tokens, index + 1):
                continue
            return speech.glued_units[phrase], index + 1
        if length == 1 and phrase in ('"', "'") and token.glue != "+":
            continue
        if length == 1 and " ".join(t.word for t in tokens[index : index + 2]) in speech.currency_names:
            continue
        table = speech.glued_units if tokens[index].glue in ("+", "-") else speech.units
        unit = table.get(phrase)
        if unit is not None:
            return unit, index + length
        if length == 2 and words == ["'", "'"] and token.glue == "+":
            return speech.units["inch"], index + 2
    return None


def _ends_here(tokens: Sequence[Token], index: int) -> bool:
    """A lone unit letter counts at the end of its part of the sentence ("hdmi cable 3 m")."""
    return index >= len(tokens) or tokens[index].kind == "mark"


def measure(
    tokens: Sequence[Token],
    names: Sequence[NameSpan],
    bounds: Bounds,
    earlier: Sequence[Amount],
    context: Context,
) -> Amount | None:
    """A number with a unit, or one whose unit the sentence gave before ("30 miles … at least 60")."""
    last = bounds.second or bounds.first
    found = unit_at(tokens, last.end)
    if found is not None and found[0].canonical == "lb" and context.currency == "GBP":
        found = None
    if found is not None and last.suffix == "m" and found[0].attribute == "length":
        return None
    if found is None and last.suffix == "m" and last.raw < 100 and _lengthy(tokens) and not last.spelled:
        return _measured(bounds, language().glued_units["m"], bounds.end, tokens, divide=1_000_000)
    if found is None and bounds.second is not None:
        found_first = unit_at(tokens, bounds.first.end)
        found = (found_first[0], bounds.end) if found_first else None
    if (
        found is not None
        and bounds.first.spelled
        and bounds.first.value == 1
        and found[0].canonical in ("day", "hour", "year")
    ):
        return None  # "one day"
    if found is not None:
        unit, end = found
        return _measured(bounds, unit, end, tokens)
    subject = _subject(tokens, bounds)
    if (
        subject == "rating"
        and max(bounds.first.value, last.value) <= 5
        and (bounds.cued or bounds.second or tokens[bounds.start - 1].word in ("rated", "rating"))
    ):
        return _make("rating", bounds, "rating", "star", _behind(tokens, bounds.end))
    if subject == "reviews" and bounds.cued:
        return _make("reviews", bounds, "reviews", "review", _behind(tokens, bounds.end))
    if (
        subject in ("capacity", "battery", "screen", "range", "weight")
        and bounds.cued
        and not bounds.first.suffix
        and not _has_currency(tokens, bounds)
    ):
        return _make("measure", bounds, subject, None, bounds.end)
    if bounds.cued and not bounds.first.suffix and not _has_currency(tokens, bounds):
        for amount in reversed(earlier):
            if (
                amount.kind == "measure"
                and amount.unit
                and 0.2 < bounds.first.value / (amount.high or 1.0) < 20
                and not _priced(tokens, bounds)
            ):
                return _make("measure", bounds, amount.attribute, amount.unit, bounds.end)
    return None


def _measured(bounds: Bounds, unit: Unit, end: int, tokens: Sequence[Token], divide: float = 1.0) -> Amount:
    operator = bounds.operator
    behind = _back_operator(tokens, end)
    if behind and operator in ("is", behind[0]):
        operator, end = behind
    attribute = (
        _near(tokens, bounds.start, end, unit) or _little(tokens, unit, bounds.first.value) or unit.attribute
    )
    if (
        attribute in ("rating", "reviews")
        and operator == "is"
        and (bounds.second is None or attribute == "reviews")
    ):
        operator = "min"  # "4 stars", "2000 reviews": nobody means no more
    low = bounds.first.value / divide * unit.factor
    high = low if bounds.second is None else bounds.second.value / divide * unit.factor
    kind = attribute if attribute in ("rating", "reviews") else "measure"
    end = max(end, bounds.end)
    return Amount(
        bounds.start, end, kind, operator, min(low, high), max(low, high), attribute, unit.canonical
    )


def _little(tokens: Sequence[Token], unit: Unit, value: float) -> str:
    """An amount too small for the unit's usual attribute: "laptop 16 GB" is about memory."""
    little = unit.little
    if not little or value > little["up_to"] or not any(token.stem in little["of"] for token in tokens):
        return ""
    return str(little["attribute"])


def _near(tokens: Sequence[Token], start: int, end: int, unit: Unit) -> str:
    """The attribute that a word beside the measure names ("16 GB RAM"); behind it first, and never across another number."""
    named = attribute_at(tokens, end) if end < len(tokens) else None
    if named is not None and named[1] not in _NOT_MEASURED:
        return named[1]
    for around, ends in (
        (tokens[end : end + 5], ",.;"),
        (tuple(reversed(tokens[max(0, start - 3) : start])), ".;"),
    ):
        for token in around:
            if token.kind == "number" or token.word in ends or token.word in ("with", "and", "plus", "or"):
                break
            if token.stem in unit.near:
                return str(unit.near[token.stem])
    return ""


def _make(kind: str, bounds: Bounds, attribute: str, unit: str | None, end: int) -> Amount:
    high = bounds.second.value if bounds.second else bounds.first.value
    low = bounds.first.value
    operator = bounds.operator if bounds.operator != "is" or kind == "measure" else "min"
    return Amount(bounds.start, end, kind, operator, min(low, high), max(low, high), attribute, unit)


def _behind(tokens: Sequence[Token], end: int) -> int:
    """The end with a bounding word behind it taken in ("4.4 | or higher")."""
    found = _back_operator(tokens, end)
    return found[1] if found else end


def _back_operator(tokens: Sequence[Token], end: int) -> tuple[str, int] | None:
    """ "4.3 stars or higher", "17 inch or larger", "4+ stars" read behind the unit."""
    cues = language().cues
    match = longest(cues, [t.word for t in tokens[end : end + 4]], 0)
    if match is None:
        return None
    length, classes = match
    behind = tokens[end + length] if end + length < len(tokens) else None
    if behind is not None and (behind.kind == "number" or behind.word in language().currency_symbols):
        return None
    for name, operator in (("max_back", "max"), ("min_back", "min"), ("about_back", "about")):
        if name in classes and not (tokens[end].word == "plus" and end + 1 < len(tokens)):
            return operator, end + length
    return None


def _subject(tokens: Sequence[Token], bounds: Bounds) -> str:
    """The noun that the number is about: "rating above 4", "number of reviews should be greater than 400"."""
    subjects = language().units_file["subjects"]
    filler = language().filler
    index, steps = bounds.start - 1, 0
    while index >= 0 and steps < 5:
        word = tokens[index].word
        for name, words in subjects.items():
            if word in words:
                return str(name)
        if tokens[index].kind != "word" or (word not in filler and word != "number"):
            break
        index -= 1
        steps += 1
    after = tokens[bounds.end].word if bounds.end < len(tokens) else ""
    second = tokens[bounds.end + 1].word if bounds.end + 1 < len(tokens) else ""
    for name in ("rating", "reviews"):
        if after in subjects[name] or (after in ("+", "plus") and second in subjects[name]):
            return str(name)
    return ""


def _lengthy(tokens: Sequence[Token]) -> bool:
    """Whether something with a length is spoken of, so that "3m" is metres and no millions."""
    words = _words("lengthy")
    return any(token.stem in words for token in tokens)


def _priced(tokens: Sequence[Token], bounds: Bounds) -> bool:
    return bool({t.word for t in tokens[max(0, bounds.start - 5) : bounds.end + 3]} & _words("spending"))


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(language().units_file["words"][name])


def _has_currency(tokens: Sequence[Token], bounds: Bounds) -> bool:
    speech = language()
    window = tokens[max(0, bounds.first.start - 2) : bounds.end + 1]
    return any(t.word in speech.currency_symbols or t.word in speech.currency_names for t in window)
