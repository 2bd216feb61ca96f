"""Questions about the shown items: "which has the longest battery?", "how much is the first one?", "is it waterproof?"."""

from __future__ import annotations

from collections.abc import Sequence

from ego_cli.conversation.understand.acts import Act, Kind, Target
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import stems_of
from ego_cli.conversation.understand.references import read_target
from ego_cli.conversation.understand.tokens import Token

_LEAD = frozenset(
    [
        "the",
        "a",
        "an",
        "is",
        "are",
        "it",
        "its",
        "they",
        "do",
        "does",
        "be",
        "have",
        "has",
        "get",
        "of",
        "any",
        "e",
        "dey",
        "one",
        "ones",
        "them",
        "these",
        "those",
        "for",
        "in",
        "come",
        "comes",
        "with",
        "that",
        "this",
        "on",
        "to",
        "made",
        "from",
        "there",
        "am",
        "you",
        "me",
        "also",
        "really",
        "too",
        "na",
        "fit",
        "good",
        "about",
        "and",
        "life",
        "at",
        "all",
        "well",
        "cost",
        "costs",
        "dem",
        "as",
        "by",
    ]
)
_SUPERLATIVE = {"longest": 1, "biggest": 1, "largest": 1, "highest": 1, "most": 1, "best": 1, "more": 1, "better": 1, "fastest": 1, "strongest": 1, "heaviest": 1, "longer": 1, "bigger": 1, "larger": 1, "higher": 1, "greatest": 1, "heavier": 1, "faster": 1, "stronger": 1, "lightest": -1, "smallest": -1, "cheapest": -1, "shortest": -1, "lowest": -1, "least": -1, "less": -1, "lighter": -1, "smaller": -1, "cheaper": -1, "shorter": -1, "lower": -1, "thinnest": -1, "slimmest": -1, "newest": 1, "oldest": -1, "priciest": 1, "dearest": 1, "softest": 1, "warmest": 1, "quietest": -1, "loudest": 1, "brightest": 1, "pass": 1}  # fmt: skip
_OF_WORD = {"cheapest": "price", "cheaper": "price", "expensive": "price", "priciest": "price", "dearest": "price", "lightest": "weight", "lighter": "weight", "heaviest": "weight", "heavier": "weight", "cheap": "price", "cost": "price", "much": "price", "heavy": "weight", "big": "size", "biggest": "size", "bigger": "size", "smallest": "size", "smaller": "size", "rated": "rating", "popular": "popularity", "fastest": "speed", "faster": "speed", "light": "weight", "strong": "strength", "strongest": "strength", "newest": "age", "thinnest": "thickness", "slimmest": "thickness", "quietest": "loudness", "loudest": "loudness"}  # fmt: skip


def read_question(
    text: str, tokens: Sequence[Token], start: int, begin: int, end: int, context: Context
) -> Act | None:
    """The question that opens with tokens [start, begin) and runs to ``end``; None when nothing is asked for."""
    opener = " ".join(token.word for token in tokens[start:begin])
    target: Target | None = None
    quality: list[Token] = []
    sign = 0
    index = begin
    if (
        opener in ("does the", "is the", "are the", "which of the", "what about the", "what of")
        and index > start
    ):
        found = (
            read_target(tokens, index - 1, context)
            if tokens[index - 1].word == "the"
            else read_target(tokens, index, context, numbers=True)
        )
        if found is not None:
            target, index = found
    if "two" in opener.split():
        target = None
    while index < end:
        found = read_target(tokens, index, context) if target is None or target.how == "last" else None
        if (
            found is not None
            and not (found[0].how == "name" and not _definite(tokens, index))
            and not (found[0].how == "extreme")
        ):
            if target is None or found[0].how != "last":
                target = found[0]
            index = found[1]
            continue
        token = tokens[index]
        if token.word in _SUPERLATIVE:
            sign = sign or _SUPERLATIVE[token.word]
            if token.word in _OF_WORD:
                quality.append(token)
        elif token.kind == "word" and (token.word not in _LEAD or token.word in ("cost", "costs")):
            quality.append(token)
        elif token.kind == "number":
            quality.append(token)
        index += 1
    attribute = _attribute(opener, quality)
    if attribute is None:
        return None
    if (
        target is None
        and opener.split()[0] not in ("which", "what")
        and "which" not in opener
        and not opener.startswith("wey")
    ):
        target = Target("last", words="it")
    if (
        opener.startswith(("does it", "is it", "can it", "will it", "e ", "is this", "is that"))
        and target is None
    ):
        target = Target("last", words="it")
    words = " ".join(token.word for token in quality)
    return Act(
        Kind.ASK,
        attribute=attribute,
        value=words or None,
        number=float(sign) if sign else None,
        target=target,
    )


def _definite(tokens: Sequence[Token], index: int) -> bool:
    before = tokens[index - 1].word if index else ""
    return tokens[index].word in ("the", "that", "this") or before in (
        "the",
        "that",
        "this",
        "about",
        "is",
        "does",
        "of",
        "for",
    )


def _attribute(opener: str, quality: Sequence[Token]) -> str | None:
    if opener.startswith(("how much", "na how much")):
        rest = [t.word for t in quality]
        if not rest or rest[0] in ("cost", "costs") or all(w in ("cost", "price") for w in rest):
            return "price"
        return _named([t for t in quality]) or "price"
    fixed = {
        "how heavy": "weight",
        "how big": "size",
        "how long": "length",
        "how tall": "height",
        "how wide": "width",
        "how thick": "thickness",
        "what size is": "size",
        "what sizes": "size",
        "what sizes does": "size",
        "what colours": "colour",
        "what colours does": "colour",
        "what colour is": "colour",
        "what material is": "material",
        "what is it made of": "material",
        "what brand is": "brand",
        "who makes": "brand",
    }
    if opener in fixed and not (
        opener == "how long" and any(t.word in ("battery", "charge", "last", "lasts") for t in quality)
    ):
        return fixed[opener]
    if opener == "how long":
        return "battery"
    if (
        opener
        in (
            "tell me about",
            "tell me more about",
            "more about",
            "more details on",
            "details on",
            "details about",
            "more information on",
            "more info on",
            "what about the",
            "what of",
        )
        and not quality
    ):
        return "details"
    if opener.startswith(
        ("what do people", "what do reviews", "any reviews", "show me the reviews", "any complaints")
    ):
        return "reviews"
    if "available in" in opener or opener.startswith(("do you have", "does it come", "do they come")):
        named = _named(quality)
        return named or (
            "colour"
            if quality and any(t.stem in ("colour",) for t in quality)
            else (" ".join(t.word for t in quality) or None)
        )
    if not quality:
        return None
    return _named(quality) or " ".join(token.word for token in quality)


def _named(quality: Sequence[Token]) -> str | None:
    stems = [token.stem for token in quality]
    joined = f" {' '.join(stems)} "
    best: tuple[int, str] | None = None
    for attribute, words in language().names["attributes"].items():
        for phrase in words:
            key = " ".join(stems_of(phrase))
            if f" {key} " in joined and (best is None or len(key) > best[0]):
                best = (len(key), str(attribute))
    if best is not None:
        return best[1]
    for token in quality:
        if token.word in _OF_WORD:
            return _OF_WORD[token.word]
    return None
