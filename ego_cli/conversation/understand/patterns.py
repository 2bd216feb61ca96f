"""Act patterns: phrases by which a clause does something other than describe a product, as listed in ``acts.toml``.

What follows a phrase is read by the function that its entry names under ``takes``: see ``talk``, ``pointing``, ``buying``
and ``asking``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from ego_cli.conversation.understand import asking, buying, pointing, retractions, talk
from ego_cli.conversation.understand.acts import Kind
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.language import Tree, longest, plant
from ego_cli.conversation.understand.lexicon import NameSpan
from ego_cli.conversation.understand.numbers import Amount
from ego_cli.conversation.understand.page import Found, Page
from ego_cli.conversation.understand.pattern import Pattern
from ego_cli.conversation.understand.tokens import Token
from ego_cli.settings import load_toml

TAKES: Mapping[str, Callable[[Page, Pattern, int, int], int | None]] = {
    "nothing": talk.nothing,
    "rest": talk.rest,
    "object": talk.restored,
    "attribute": talk.attribute,
    "value": talk.value,
    "swapped": talk.swapped,
    "target": pointing.target,
    "like_last": pointing.like_last,
    "number": buying.number,
    "question": asking.question,
    "available": asking.available,
    "behind": asking.behind,
}


@lru_cache(maxsize=1)
def _patterns() -> Tree:
    tree: Tree = {}
    for entry in load_toml("acts.toml")["act"]:
        pattern = Pattern(
            Kind(entry["kind"]),
            entry["takes"],
            entry.get("where", "start"),
            entry.get("needs", ""),
            entry.get("note", ""),
        )
        for phrase in entry["say"]:
            plant(tree, phrase.split(), pattern)
    return tree


def find_patterns(
    text: str,
    tokens: Sequence[Token],
    names: Sequence[NameSpan],
    amounts: Sequence[Amount],
    context: Context,
    used: frozenset[int] = frozenset(),
) -> Found:
    """All acts that whole phrases make, clause by clause, outside the tokens that are ``used``."""
    page = Page(text, tokens, amounts, context, used=set(used))
    retractions.take_back(page)
    words = [token.word for token in tokens]
    index = 0
    while index < len(tokens):
        stop = _try_phrases(page, words, index) if index not in page.used else None
        index = max(stop or 0, index + 1)
    pointing.point_at_items(page)
    products = {
        i
        for span in names
        for i in range(span.start, span.end)
        if any(n.kind == "product" for n in span.names)
    }
    asking.ask_about_shop(page, products)
    return Found(tuple(page.acts), frozenset(page.used))


def _try_phrases(page: Page, words: Sequence[str], index: int) -> int | None:
    """The longest phrase that begins here and holds; shorter ones when it does not."""
    match = longest(_patterns(), words, index)
    while match is not None:
        end, patterns = match
        for pattern in patterns:
            if _stands(page, pattern, index, end):
                stop = TAKES[pattern.takes](page, pattern, index, end)
                if stop is not None:
                    return stop
        match = longest(_patterns(), words[: end - 1], index) if end - 1 > index else None
    return None


def _stands(page: Page, pattern: Pattern, start: int, end: int) -> bool:
    """Whether the phrase stands where its entry wants it."""
    if pattern.needs == "shown" and not page.context.shown:
        return False
    if pattern.where == "any":
        return True
    if pattern.where == "whole":
        return page.is_whole(start, end)
    if pattern.where == "part":
        return page.at_start(start) and page.word(end) in ("", ",", ".", "!", ";")
    return page.at_start(start) and (pattern.where != "tail" or page.is_tail(end))
