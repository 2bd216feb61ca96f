"""The shape of wishes: one act for each thing wished, whole phrases with their numbers, parts with what they are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from ego_cli.conversation.understand.acts import Act, Hardness, Kind, Operator, Span
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import stems_of
from ego_cli.settings import load_toml


def plain(text: str) -> str:
    """In lower case, with typewriter apostrophes."""
    return text.lower().replace("’", "'")


def money_said(text: str) -> bool:
    """Whether a word or a sign of ``text`` is about money: "under 20", "$20"; not "about 3"."""
    words = set(re.findall(r"[a-z]+", plain(text)))
    return bool(words & set(load_toml("dialogue.toml")["figures"]["priced"])) or any(
        sign in text for sign in language().currency_symbols
    )


def as_wish(act: Act) -> Act:
    """The same words as a wish about what is looked for already."""
    return replace(
        act,
        kind=Kind.CONSTRAIN,
        attribute="feature",
        operator=Operator.IS,
        value=act.words or act.value,
        group=None,
    )


def feature(
    words: str,
    span: Span | None,
    *,
    value: str = "",
    group: int | None = None,
    note: str = "",
    hardness: Hardness = Hardness.MUST,
) -> Act:
    """A wish in her own words, or for the ``value`` that they stand for."""
    return Act(
        Kind.CONSTRAIN,
        attribute="feature",
        operator=Operator.IS,
        value=value or words.strip(),
        words=words.strip(),
        span=span,
        group=group,
        note=note,
        hardness=hardness,
    )


_CLAUSE_END = re.compile(r"[.,;:!?]|$")


def whole_clauses(acts: Sequence[Act], text: str) -> list[Act]:
    """The words of an override to the end of its clause: "leave that first one" tells which, "leave that" does not."""
    found = []
    for act in acts:
        if (
            act.kind is Kind.OVERRIDE
            and act.span is not None
            and (end := _CLAUSE_END.search(text, act.span.end))
        ):
            others = [a.span.start for a in acts if a.span is not None and a.span.start >= act.span.end]
            act = replace(act, words=text[act.span.start : min([end.start(), *others])].strip())
        found.append(act)
    return found


@cache
def _padding() -> frozenset[str]:
    return frozenset(
        stem for word in load_toml("dialogue.toml")["padding"]["words"] for stem in stems_of(word)
    )


_BESIDE = re.compile(r"[\s-]*(?:type|style|coloured|colored|like|look)?[\s-]*")
_MADE_OF = re.compile(r"\s*(?:is|are|na|in|of|made of|made from|made with|from|be|dey)\s+")


def of_parts(acts: Sequence[Act], text: str) -> list[Act]:
    """ "Rubber sole", "a lining in polyester": a material or colour beside a part is of that part, not of the whole thing."""
    ordered = sorted(
        (act for act in acts if act.span is not None), key=lambda act: act.span.start if act.span else 0
    )
    joined: dict[int, Act] = {}
    dropped: set[int] = set()
    for one, other in pairwise(ordered):
        if id(one) in dropped or one.span is None or other.span is None:
            continue
        between = plain(text[one.span.end : other.span.start])
        beside = _BESIDE.fullmatch(between) is not None and not _before_noun(other, ordered, text)
        part_behind = names_material(one) and is_part(other) and beside
        part_before = is_part(one) and names_material(other) and _MADE_OF.fullmatch(between)
        if part_behind or part_before:
            words = text[one.span.start : other.span.end]
            keep = other if part_behind else one
            joined[id(keep)] = replace(
                keep, value=words, words=words, span=Span(one.span.start, other.span.end)
            )
            dropped.add(id(one if part_behind else other))
    return [joined.get(id(act), act) for act in acts if id(act) not in dropped]


_COUNTED = re.compile(
    r"(?<![\w.])(\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve)[\s-]+$", re.IGNORECASE
)
_NEIGHBOURS = re.compile(r"[\s-]*")


def whole_phrases(acts: Sequence[Act], text: str) -> list[Act]:
    """Words of one phrase are one wish, with its number: "spread collar", "five-pocket styling", "7 pockets"."""
    taken = [act.span for act in acts if act.span is not None]
    found: list[Act] = []
    for act in acts:
        before = found[-1] if found else None
        if act.span is None or not is_part(act):
            found.append(act)
        elif (
            before is not None
            and before.span is not None
            and is_part(before)
            and before.span.end <= act.span.start
            and _NEIGHBOURS.fullmatch(text[before.span.end : act.span.start])
        ):
            span = Span(before.span.start, act.span.end)
            found[-1] = replace(
                before, value=f"{before.value} {act.value}", words=text[span.start : span.end], span=span
            )
        else:
            counted = _COUNTED.search(text[: act.span.start])
            if counted and not any(span.start <= counted.start() < span.end for span in taken):
                span = Span(counted.start(), act.span.end)
                act = replace(
                    act, value=f"{counted[1]} {act.value}", words=text[span.start : span.end], span=span
                )
            found.append(act)
    return found


def _before_noun(act: Act, ordered: Sequence[Act], text: str) -> bool:
    """ "Red midi dress": both words describe the noun right behind them."""
    needs = [a.span.start for a in ordered if a.kind is Kind.NEED and a.span is not None]
    end = act.span.end if act.span else 0
    return any(start >= end and not text[end:start].strip() for start in needs)


def names_material(act: Act) -> bool:
    return act.kind is Kind.CONSTRAIN and act.attribute in ("material", "colour") and act.polarity > 0


def is_part(act: Act) -> bool:
    return (
        act.kind is Kind.CONSTRAIN
        and act.attribute == "feature"
        and act.polarity > 0
        and act.note not in ("verbatim", "everyday")
    )


_SEPARATORS = re.compile(
    r"(?:[.;!]\s+|,?\s+)(?:oh,?\s+and|and\s+also|plus|as\s+well\s+as|along\s+with|together\s+with)\s+|[;!]\s+|\.\s+(?=\D)"
)


_EXCESS = re.compile(r"\b(?:too|so|very|overly|super)\s+$")


def _excess(act: Act, text: str) -> bool:
    return act.span is not None and _EXCESS.search(plain(text[: act.span.start])) is not None


def plain_wishes(acts: Sequence[Act], text: str) -> list[Act]:
    """Wishes without their padding: one act for each thing wished, none for words that wish nothing."""
    found: list[Act] = []
    for act in acts:
        if (
            act.kind is not Kind.CONSTRAIN
            or act.attribute != "feature"
            or not act.value
            or act.note == "everyday"
        ):
            found.append(act)
            continue
        pieces = (
            [piece.strip(" .,") for piece in _SEPARATORS.split(act.value)]
            if act.note == "verbatim"
            else [act.value]
        )
        for piece in pieces:
            wish = _without_padding(piece)
            excess = piece.removeprefix("too ")
            if (
                act.polarity < 0
                and excess in load_toml("dialogue.toml")["answers"]["degrees"]
                and _excess(act, text)
            ):
                wish = f"too {excess}"
            if wish:
                found.append(replace(act, value=wish, words=piece if len(pieces) > 1 else act.words))
    return found


def _without_padding(wish: str) -> str:
    """ "Sage coloured" -> "sage"; "" when nothing is left."""
    if wish in load_toml("dialogue.toml")["padding"]["alone"] or wish.isdigit():
        return ""
    words = wish.split()
    behind = load_toml("dialogue.toml")["padding"]["behind"]
    while (
        len(words) > 1
        and words[0] not in behind
        and set(stems_of(words[0])) <= _padding()
        and words[1] not in ("to", "on")
    ):
        del words[0]  # but "easy to carry", "kind on the skin" stay whole
    front = load_toml("dialogue.toml")["padding"]["front"]
    while words and set(stems_of(words[-1])) <= _padding() and not (len(words) > 1 and words[-1] in front):
        del words[-1]
    return " ".join(words)
