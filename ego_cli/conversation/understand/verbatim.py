"""Needs that are said word for word behind a colon: "A key requirement is: Pull On closure", "What matters is: X; Y."."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ego_cli.conversation.understand.acts import Act, Hardness, Kind, Operator, Span
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Lexicon, NameSpan, stems_of
from ego_cli.conversation.understand.numbers import Amount
from ego_cli.conversation.understand.page import Found
from ego_cli.conversation.understand.phrases import feature, money_said
from ego_cli.conversation.understand.tokens import Token
from ego_cli.settings import load_toml

_KEYED = re.compile(r"\s*([A-Za-z][\w &/'-]{1,30}?)\s*:\s*(\S.*)", re.S)
_SLOTS = {
    "color": "colour",
    "colour": "colour",
    "material": "material",
    "fabric type": "material",
    "size": "size",
    "brand": "brand",
    "department": "gender",
}


def find_verbatim(
    text: str,
    tokens: Sequence[Token],
    names: Sequence[NameSpan],
    amounts: Sequence[Amount],
    lexicon: Lexicon,
    looking: bool,
) -> Found:
    """The needs behind a colon whose sentence says nothing else; prices among them are left to the amounts.

    ``looking``: some product is looked for already; otherwise nouns behind the colon are the wants themselves.
    """
    products = [span.start for span in names if any(name.kind == "product" for name in span.names)]
    start = _colon(tokens, frozenset(() if looking else products))
    if start is None or (products and not looking and min(products) >= start):
        return Found((), frozenset())  # "I need two things: a fan and a lamp" is a list of wants
    acts: list[Act] = []
    taken: set[int] = set()
    begin = start
    for index in range(start, len(tokens) + 1):
        ends = (
            index == len(tokens)
            or tokens[index].word in (";", "\n")
            or _between(tokens, index)
            or (tokens[index].word == "." and index + 1 == len(tokens))
        )
        if not ends:
            continue
        if index > begin:
            act = _need(text, tokens, begin, index, amounts, lexicon)
            if act is not None:
                acts.append(act)
                taken.update(range(begin, index))
        begin = index + 1
    return Found(tuple(acts), frozenset(taken))


def _between(tokens: Sequence[Token], index: int) -> bool:
    """A bar that stands free between two needs: "Lined / True to size"; not the one of "black/white"."""
    apart = tokens[index].glue == "" and index + 1 < len(tokens) and tokens[index + 1].glue == ""
    return tokens[index].word in ("/", "|") and apart


def _colon(tokens: Sequence[Token], nouns: frozenset[int]) -> int | None:
    """The index behind the first colon in front of which only leading words stand. ``nouns``: where the things stand that
    are asked for: a colon behind one of them tells their shelf ("underwear: long johns; …")."""
    lead = frozenset(load_toml("language.toml")["verbatim"]["lead"])
    filler = language().filler
    begin = 0
    for index, token in enumerate(tokens):
        if token.word in (".", "!", "?", ";", "\n"):
            begin = index + 1
        if token.word != ":" and not (
            token.word == "-" and token.glue == "" and index and tokens[index - 1].word in lead
        ):
            continue
        if nouns & set(range(begin, index)):
            begin = index + 1
            continue
        before = [token.word for token in tokens[begin:index] if token.kind != "mark"]
        content = [word for word in before if word not in filler and word not in lead]
        if before and len(content) <= 1 and any(word in lead for word in before) and index + 2 < len(tokens):
            return index + 1
        if content:
            return None
    return None


def _need(
    text: str, tokens: Sequence[Token], start: int, end: int, amounts: Sequence[Amount], lexicon: Lexicon
) -> Act | None:
    words = text[tokens[start].start : tokens[end - 1].end].strip()
    priced = any(a.kind == "price" and a.start >= start and a.end <= end for a in amounts)
    if priced and end - start <= 8 and money_said(words):
        return None
    span = Span(tokens[start].start, tokens[end - 1].end)
    keyed = _KEYED.fullmatch(words)
    if keyed is not None:
        key, value = keyed.group(1).strip().lower(), keyed.group(2).strip()
        attribute = _SLOTS.get(key) or (key if " ".join(stems_of(key)) in lexicon.detail_keys else None)
        if attribute is not None and len(value) < 60:
            return Act(
                Kind.CONSTRAIN,
                attribute=attribute,
                operator=Operator.IS,
                value=value,
                words=words,
                span=span,
                hardness=Hardness.PREFER,
            )
    if len(words) < 2:
        return None
    return feature(words, span, note="verbatim", hardness=Hardness.PREFER)
