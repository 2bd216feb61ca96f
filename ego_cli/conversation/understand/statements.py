"""Statements about the shopper or someone else: marked as facts, so that they are not taken for an order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ego_cli.conversation.understand.acts import Act, Kind, Span
from ego_cli.conversation.understand.language import Tree, language, longest, plant
from ego_cli.conversation.understand.tokens import Token
from ego_cli.settings import load_toml

_ENDS = frozenset([".", "!", "?", ";", "\n"])
_SEARCHING = frozenset(["show", "find", "need", "looking", "recommend", "search", "buy", "bring", "get", "suggest"])


@lru_cache(maxsize=1)
def _openers() -> Tree:
    tree: Tree = {}
    for kind, phrases in load_toml("language.toml")["statements"].items():
        for phrase in phrases:
            plant(tree, phrase.split(), kind)
    return tree


def find_statements(text: str, tokens: Sequence[Token], used: frozenset[int]) -> tuple[tuple[Act, ...], frozenset[int], frozenset[int]]:
    """Facts; the clauses (counted as the scopes count them) that only state a taste; tokens of plain facts, not to be searched."""
    words = [t.word for t in tokens]
    acts: list[Act] = []
    taste: set[int] = set()
    plain: set[int] = set()
    clause = 0
    begin = 0
    tree = _openers()
    index = 0
    while index <= len(tokens):
        if index == len(tokens) or words[index] in _ENDS:
            found = _statement(words, begin, index, tree, used)
            if found is not None:
                kind, subject = found
                span = Span(tokens[begin].start, tokens[index - 1].end)
                value = text[span.start : span.end]
                polarity = -1 if _negative(words[begin:index]) else 1
                acts.append(Act(Kind.FACT, value=value, polarity=polarity, subject=subject, note=kind, words=value, span=span))
                if kind == "taste":
                    taste.add(clause)
                if kind == "about":
                    plain.update(range(begin, index))
            clause += 1
            begin = index + 1
        index += 1
    return tuple(acts), frozenset(taste), frozenset(plain)


def _statement(words: list[str], begin: int, end: int, tree: Tree, used: frozenset[int]) -> tuple[str, str | None] | None:
    if end - begin < 2:
        return None
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


def _subject(clause: Sequence[str]) -> str | None:
    people = set(language().names["people"]["names"])
    for index, word in enumerate(clause[:-1]):
        if word == "my" and clause[index + 1] in people:
            return clause[index + 1]
    return None


def _negative(words: Sequence[str]) -> bool:
    return bool({"not", "no", "never", "hate", "hates", "dislike", "avoid", "allergic", "detest", "stopped", "intolerant"} & set(words))
