"""Statements about the shopper or someone else: marked as facts, so that they are not taken for an order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ego_cli.conversation.understand.acts import Act, Kind, Span
from ego_cli.conversation.understand.language import Tree, language, longest, plant
from ego_cli.conversation.understand.tokens import Token
from ego_cli.settings import load_toml

_ENDS = frozenset([".", "!", "?", ";", "\n"])
_TELLING = frozenset(["is", "are", "was", "has", "have", "na", "dey"])
_SEARCHING = frozenset(
    ["show", "find", "need", "looking", "recommend", "search", "buy", "bring", "get", "suggest"]
)


@lru_cache(maxsize=1)
def _openers() -> Tree:
    tree: Tree = {}
    for kind, phrases in load_toml("language.toml")["statements"].items():
        for phrase in phrases:
            plant(tree, phrase.split(), kind)
    return tree


class Statements(NamedTuple):
    """``facts``; ``taste``: tokens that only say what somebody likes; ``plain``: tokens of facts that no search is about."""

    facts: tuple[Act, ...]
    taste: frozenset[int]
    plain: frozenset[int]


def find_statements(text: str, tokens: Sequence[Token], used: frozenset[int]) -> Statements:
    """The statements of a message, each read to the end of its part of the sentence."""
    words = [t.word for t in tokens]
    acts: list[Act] = []
    taste: set[int] = set()
    plain: set[int] = set()
    for begin, end in _parts(words):
        found = _statement(words, begin, end, _openers(), used)
        if found is None:
            continue
        kind, subject = found
        span = Span(tokens[begin].start, tokens[end - 1].end)
        value = text[span.start : span.end]
        polarity = -1 if _negative(words[begin:end]) else 1
        acts.append(
            Act(Kind.FACT, value=value, polarity=polarity, subject=subject, note=kind, words=value, span=span)
        )
        if kind == "taste":
            taste.update(range(begin, end))
        if kind == "about":
            plain.update(range(begin, end))
    return Statements(tuple(acts), frozenset(taste), frozenset(plain))


def _parts(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Sentences cut at commas behind which something else begins, and before "so", "but" or a request."""
    begin = 0
    for index, word in enumerate(words):
        ends = word in _ENDS
        turns = word in (",", ":") or (word in ("so", "but") and index > begin + 1)
        if ends or turns:
            if index > begin:
                yield begin, index
            begin = index + 1
    if begin < len(words):
        yield begin, len(words)


def _statement(
    words: list[str], begin: int, end: int, tree: Tree, used: frozenset[int]
) -> tuple[str, str | None] | None:
    if end - begin < 2:
        return None
    if _about_somebody(words, begin, end):
        return "about", words[begin + 1]
    clause = words[begin:end]
    for offset in range(len(clause)):
        if begin + offset in used:
            continue
        match = longest(tree, clause, offset)
        if match is None:
            continue
        length, kinds = match
        kind = str(kinds[0])
        if kind == "about" and any(word in _SEARCHING for word in clause[length:]):
            continue
        if kind == "taste" and _SEARCHING & set(clause):
            continue
        return kind, _subject(clause)
    return None


def _about_somebody(words: list[str], begin: int, end: int) -> bool:
    """ "My kids are 4 and 7", "my wife is vegan": about them, and nothing is asked for."""
    people = set(language().names["people"]["names"])
    opens = words[begin] == "my" and end - begin > 3 and words[begin + 1] in people
    return opens and words[begin + 2] in _TELLING and not _SEARCHING & set(words[begin:end])


def _subject(clause: Sequence[str]) -> str | None:
    people = set(language().names["people"]["names"])
    for index, word in enumerate(clause[:-1]):
        if word == "my" and clause[index + 1] in people:
            return clause[index + 1]
    return None


def _negative(words: Sequence[str]) -> bool:
    return bool(
        {
            "not",
            "no",
            "never",
            "hate",
            "hates",
            "dislike",
            "avoid",
            "allergic",
            "detest",
            "stopped",
            "intolerant",
        }
        & set(words)
    )
