"""Which amounts are measures, sizes, ratings, review counts or numbers of pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.cues import Cue
from ego_cli.conversation.understand.items import attribute_at
from ego_cli.conversation.understand.language import Unit, language
from ego_cli.conversation.understand.lexicon import NameSpan, shelves_of
from ego_cli.conversation.understand.numbers import Amount, Bounds, Numeral
from ego_cli.conversation.understand.tokens import Token

_SHORT = frozenset(["in", "m", "l", "g", "v", "w", "mi", "hp", "va", "pc", "ah", "speed"])
"""Unit letters that are words or suffixes too: a unit only when they touch the number."""
_LONE = frozenset(["m", "l", "g", "v", "w"])
_WORN = frozenset(["fashion", "shoes", "baby", "jewelry", "sports"])
_SIZE_LIMIT = 70
_COUNT_LIMIT = 100
_NOT_MEASURED = frozenset(
    ["price", "colour", "brand", "material", "gender", "type", "style", "occasion", "quantity", "exclusions"]
)
_BODY = frozenset(["waist", "leg", "foot", "feet", "chest", "bust", "hip", "hips", "inseam", "neck", "head"])
_SYSTEMS = frozenset(["eu", "uk", "us", "eur", "euro"])


def unit_end(tokens: Sequence[Token], index: int) -> int:
    """Where the unit that begins at ``index`` ends (``index`` itself when there is none)."""
    found = _unit_at(tokens, index)
    return found[1] if found else index


def _unit_at(tokens: Sequence[Token], index: int) -> tuple[Unit, int] | None:
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
    found = _unit_at(tokens, last.end)
    if found is not None and found[0].canonical == "lb" and context.currency == "GBP":
        found = None
    if found is not None and last.suffix == "m" and found[0].attribute == "length":
        return None
    if found is None and last.suffix == "m" and last.raw < 100 and _lengthy(tokens) and not last.spelled:
        return _measured(bounds, language().glued_units["m"], bounds.end, tokens, divide=1_000_000)
    if found is None and bounds.second is not None:
        found_first = _unit_at(tokens, bounds.first.end)
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
    attribute = unit.attribute
    attribute = (
        _near(tokens, bounds.start, end, unit) or _little(tokens, unit, bounds.first.value) or attribute
    )
    operator = bounds.operator
    by_operator = _back_operator(tokens, end)
    if by_operator and operator in ("is", by_operator[0]):
        operator, end = by_operator
    kind = {"rating": "rating", "reviews": "reviews"}.get(attribute, "measure")
    if kind == "rating" and operator == "is" and bounds.second is None:
        operator = "min"
    if kind == "reviews" and operator == "is":
        operator = "min"
    low = bounds.first.value / divide * unit.factor
    high = low if bounds.second is None else bounds.second.value / divide * unit.factor
    return Amount(
        bounds.start,
        max(end, bounds.end),
        kind,
        operator,
        min(low, high),
        max(low, high),
        attribute,
        unit.canonical,
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
    from ego_cli.conversation.understand.language import longest

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
    return any(
        t.stem
        in (
            "cable",
            "cord",
            "long",
            "length",
            "hdmi",
            "rope",
            "rug",
            "carpet",
            "tall",
            "wire",
            "fabric",
            "metre",
            "meter",
            "hose",
            "tape",
            "curtain",
            "wide",
            "extension",
        )
        for t in tokens
    )


def _priced(tokens: Sequence[Token], bounds: Bounds) -> bool:
    window = {t.word for t in tokens[max(0, bounds.start - 5) : bounds.end + 3]}
    return bool(
        window
        & {"budget", "spend", "price", "priced", "cost", "costs", "costing", "pay", "money", "afford", "each"}
    )


def _has_currency(tokens: Sequence[Token], bounds: Bounds) -> bool:
    speech = language()
    window = tokens[max(0, bounds.first.start - 2) : bounds.end + 1]
    return any(t.word in speech.currency_symbols or t.word in speech.currency_names for t in window)


def explicit_size(
    text: str, tokens: Sequence[Token], numeral: Numeral, following: Numeral | None, context: Context
) -> Amount | None:
    """ "size 9.5", "EU 42", "my size is 43", "32x34", "W32 L34", "42 is my size"; a bare number after a question for the size."""
    start = numeral.start
    if following is not None and numeral.end < len(tokens):
        between = tokens[numeral.end : following.start]
        if (
            len(between) == 1
            and between[0].word in ("x", "l", "/", "by")
            and numeral.value <= _SIZE_LIMIT * 3
            and following.value <= _SIZE_LIMIT * 3
        ):
            if between[0].word in ("x", "l"):
                begin = (
                    start - 1
                    if start and tokens[start - 1].word == "w" and tokens[start].glue == "+"
                    else start
                )
                size = f"{tokens[numeral.start].word}x{tokens[following.start].word}"
                return Amount(
                    begin, following.end, "size", "is", numeral.value, following.value, "size", None, "", size
                )
    if numeral.value > _SIZE_LIMIT or numeral.suffix or numeral.spelled and context.asked != "size":
        return None
    index, steps, system = start - 1, 0, ""
    while index >= 0 and steps < 4:
        word = tokens[index].word
        if word in _BODY and index < start - 1:
            return _size(text, tokens, start, numeral, "")
        if word in ("size", "sized", "sizes", "sz"):
            begin = index
            if begin > 0 and tokens[begin - 1].word in _SYSTEMS:
                system, begin = tokens[begin - 1].word, begin - 1
            return _size(text, tokens, begin, numeral, system)
        if word in _SYSTEMS and index == start - 1:
            if (
                index
                and tokens[index - 1].word in ("size", "sized", "in", "a", "an", "is", "wear", ",", "na")
                or index == 0
                or tokens[start].glue == "+"
            ):
                system = word
                begin = index
                if index and tokens[index - 1].word in ("size", "sized"):
                    begin = index - 1
                return _size(text, tokens, begin, numeral, system)
            system = word
            return _size(text, tokens, index, numeral, system)
        if word not in ("is", "na", "a", "an", ":", "in", "of", "be", "to", "number", "eu", "uk", "us", "am"):
            break
        index -= 1
        steps += 1
    after = [t.word for t in tokens[numeral.end : numeral.end + 4]]
    if after[:3] in (["is", "my", "size"], ["na", "my", "size"]) or after[:1] == ["size"] and len(after) < 2:
        return _size(text, tokens, start, numeral, "", numeral.end + (3 if len(after) >= 3 else 1))
    if after[:1] and after[0] in _SYSTEMS and start and tokens[start - 1].word in ("a", "in", "size", "wear"):
        return _size(text, tokens, start, numeral, after[0], numeral.end + 1)
    if context.asked == "size" and following is None and not _unit_at(tokens, numeral.end):
        before = {t.word for t in tokens[:start]}
        if not before & {"under", "below", "budget", "price", "max", "over"}:
            return _size(text, tokens, start, numeral, "")
    return None


_OWNERS = frozenset(
    [
        "my",
        "his",
        "her",
        "leg",
        "foot",
        "feet",
        "shoe",
        "dress",
        "waist",
        "body",
        "is",
        "na",
        "a",
        "wear",
        "wears",
        "i",
        "am",
        "their",
        "clothing",
        "the",
    ]
)


def _owner(tokens: Sequence[Token], start: int) -> int:
    """ "my leg na size 43", "my shoe size is 42": the words that only say whose size it is belong to it."""
    begin = start
    while begin > 0 and tokens[begin - 1].word in _OWNERS and start - begin < 4:
        begin -= 1
    return begin if any(t.word in ("my", "his", "her", "their") for t in tokens[begin:start]) else start


def _size(
    text: str, tokens: Sequence[Token], start: int, numeral: Numeral, system: str, end: int | None = None
) -> Amount:
    stop = end if end is not None else numeral.end
    typed = f"{numeral.value:g}"
    if (
        stop < len(tokens)
        and tokens[stop].glue == "+"
        and tokens[stop].word in ("d", "dd", "e", "ee", "w", "r", "l", "b", "c", "a", "g", "f")
    ):
        typed += tokens[stop].word.upper()
        stop += 1
    if not system and stop < len(tokens) and tokens[stop].word in _SYSTEMS:
        system, stop = tokens[stop].word, stop + 1
    if system:
        typed = f"{system.upper()} {typed}"
    return Amount(
        _owner(tokens, start), stop, "size", "is", numeral.value, numeral.value, "size", None, "", typed
    )


def implied_size(
    text: str, tokens: Sequence[Token], names: Sequence[NameSpan], bounds: Bounds, context: Context
) -> Amount | None:
    """ "in a 42", "sneakers in 43", "I wear a 10", "do you have a 44?" where clothes or shoes are spoken of."""
    numeral = bounds.first
    if (
        bounds.cued
        or bounds.second is not None
        or numeral.suffix
        or numeral.spelled
        or not 3 <= numeral.value <= _SIZE_LIMIT
    ):
        return None
    before = [t.word for t in tokens[max(0, numeral.start - 2) : numeral.start]]
    worn = any(t.word in ("wear", "wears", "take", "leg", "foot", "feet", "fit", "waist") for t in tokens)
    if not before:
        return None
    after = tokens[numeral.end] if numeral.end < len(tokens) else None
    if (
        after is not None
        and after.kind == "word"
        and after.word not in language().filler
        and after.glue != ""
    ):
        return None
    noun_after = any(
        span.start == numeral.end and any(n.kind == "product" for n in span.names) for span in names
    )
    if noun_after:
        return None
    if before[-1] == "in" or before[-2:] == ["in", "a"] or before[-2:] == ["in", "an"]:
        return _size(text, tokens, numeral.start, numeral, "")
    if worn and before[-1] in ("a", "an", "wear", "wears", "na", "is"):
        return _size(text, tokens, numeral.start, numeral, "")
    return None


def letter_sizes(tokens: Sequence[Token], names: Sequence[NameSpan], context: Context) -> list[Amount]:
    """ "XL", "size medium", "in a large"; single letters only where a size was named or asked for."""
    file = language().units_file["sizes"]
    letters, safe, words = frozenset(file["letters"]), frozenset(file["safe_letters"]), file["words"]
    found: list[Amount] = []
    worn = _worn(names, context)
    index = 0
    while index < len(tokens):
        token = tokens[index]
        text = token.word
        length = 1
        if token.kind == "number" and index + 1 < len(tokens) and tokens[index + 1].glue == "+":
            text, length = token.word + tokens[index + 1].word, 2
        for span in (5, 3, 2):
            phrase = " ".join(t.word for t in tokens[index : index + span])
            if phrase in words and index + span <= len(tokens):
                text, length = phrase, span
                break
        before = tokens[index - 1].word if index else ""
        before2 = tokens[index - 2].word if index > 1 else ""
        named = before in ("size", "sized", "sizes") or (
            before in ("is", "na", "a", "an") and before2 in ("size", "in", "wear", "wears")
        )
        after = tokens[index + length].word if index + length < len(tokens) else ""
        named = named or after == "size" and text in words
        asked = context.asked == "size" and len(tokens) <= 5
        if (
            (text in safe and worn)
            or text in ("one size", "free size", "one size fits all", "plus size")
            or ((named or asked) and (text in letters or text in words))
        ):
            size = words.get(text, text.upper() if text in letters else text)
            begin = index - 1 if before in ("size", "sized") else index
            end = index + length
            if after == "size" and not before == "size":
                end += 1
            found.append(Amount(begin, end, "size", "is", 0.0, 0.0, "size", None, "", size))
            index = end
            continue
        index += 1
    return found


def _worn(names: Sequence[NameSpan], context: Context) -> bool:
    """Whether clothes or shoes are spoken of, or nothing at all: the XS of an iPhone is no size."""
    spoken = [name.value for span in names for name in span.names if name.kind == "product"]
    types = [*spoken, *(() if spoken else context.categories)]
    return not types or any(shelves_of(value) & _WORN for value in types)


def count(
    tokens: Sequence[Token], names: Sequence[NameSpan], cues: Sequence[Cue], bounds: Bounds
) -> Amount | None:
    """ "3 mugs", "two black boots": a whole number before a product, with nothing but its adjectives between."""
    numeral = bounds.first
    if (
        bounds.second is not None
        or numeral.suffix
        or numeral.value != int(numeral.value)
        or not 1 <= numeral.value <= _COUNT_LIMIT
    ):
        return None
    if numeral.start and _behind_name(tokens, names, numeral.start):
        return None
    index = numeral.end
    if (
        index < len(tokens)
        and tokens[index].word in ("x", "pair", "pairs", "packs", "of")
        and not numeral.spelled
    ):
        index += 1
    by_start = {span.start: span for span in names}
    steps = 0
    while index < len(tokens) and steps < 4:
        if tokens[index].word in (
            "of",
            "pairs",
            "pair",
            "more",
            "other",
            "different",
            "good",
            "nice",
            "fine",
            "cheap",
            "correct",
        ):
            index += 1
            steps += 1
            continue
        span = by_start.get(index)
        if span is None:
            return None
        kinds = {name.kind for name in span.names}
        if "product" in kinds:
            following = by_start.get(span.end)
            if (
                following is not None
                and any(n.kind == "product" for n in following.names)
                and tokens[span.end - 1].word == tokens[span.end - 1].stem
                and numeral.value > 1
                and not numeral.spelled
            ):
                # "5 drawer dresser" describes; "2 phone cases" counts
                plural = tokens[following.end - 1].word != tokens[following.end - 1].stem
                if not plural:
                    return None
            return Amount(
                numeral.start, numeral.end, "count", "is", numeral.value, numeral.value, "quantity", None
            )
        if not kinds & {"colour", "material", "brand", "gender"}:
            return None
        index = span.end
        steps += 1
    return None


def _behind_name(tokens: Sequence[Token], names: Sequence[NameSpan], index: int) -> bool:
    """ "iPhone 11 cases": a number behind a name or another content word belongs to it."""
    before = tokens[index - 1]
    if before.kind != "word":
        return False
    return before.word not in language().filler
