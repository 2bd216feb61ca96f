"""Cue phrases of the language files in a message: which words steer (want, avoid, under, or more) rather than name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ego_cli.conversation.understand.language import language, longest
from ego_cli.conversation.understand.tokens import Token

_BACKWARD = frozenset(["max_back", "min_back", "about_back"])


class Cue(NamedTuple):
    """Tokens [start, end) that steer. ``classes`` are the table names of ``language.toml``; "skip" means nothing at all."""

    start: int
    end: int
    classes: frozenset[str]


def find_cues(tokens: Sequence[Token]) -> tuple[Cue, ...]:
    """All cues, longest match first from left to right, none overlapping.

    A word that is joined to its neighbour by a hyphen ("no-show", "non-stick", "fragrance-free") is no cue.
    """
    tree = language().cues
    words = [token.word for token in tokens]
    cues: list[Cue] = []
    index = 0
    while index < len(tokens):
        match = longest(tree, words, index)
        if match is None or _inside_compound(tokens, index, match[0]):
            index += 1
            continue
        end, classes = match
        if _BACKWARD.issuperset(classes) and end - index > 1 and _amount_at(tokens, end):
            index += 1  # "4.5 stars and | under $35": the words bound what follows
            continue
        cues.append(Cue(index, end, frozenset(classes)))
        index = end
    return tuple(cues)


def _amount_at(tokens: Sequence[Token], index: int) -> bool:
    if index >= len(tokens):
        return False
    return tokens[index].kind == "number" or tokens[index].word in language().currency_symbols


def _inside_compound(tokens: Sequence[Token], start: int, end: int) -> bool:
    if end - start > 1:
        return False
    if tokens[start].word == "non" and end < len(tokens) and tokens[end].word in language().non_words:
        return True
    joined_before = tokens[start].glue == "-" and tokens[start].kind == "word"
    joined_after = end < len(tokens) and tokens[end].glue == "-" and tokens[end].kind == "word"
    return joined_before or joined_after
