"""Nouns in their frame: which begin a search, which are wishes about it, which name one shelf between them.

"What counts for me: tag free" is about the thing that is looked for, not a search for tags; "essentials from the beanies and
knit hats section" is one shelf, not two things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

from ego_cli.conversation.understand.acts import Act, Kind, Operator
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.lexicon import Lexicon, stems_of
from ego_cli.settings import load_toml

_LOOK_BACK = 60
"""Characters before a noun in which its frame is looked for."""


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    table = load_toml("dialogue.toml")["topic"]

    def either(words: list[str]) -> str:
        return "|".join(
            re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True)
        )

    frame = re.compile(
        rf"\b(?:{either(table['frames'])})\s+(?:(?:{either(table['between'])})\s+|[\w'-]+\s+)?(?:\w+\s+)?$"
    )
    answer = re.compile(rf"\b(?:{either(table['answers'])})\b\W*(?:\w+\W+){{0,4}}$")
    return frame, answer


def keep_topic(acts: Sequence[Act], text: str, context: Context) -> list[Act]:
    """While a thing is looked for and a question waits, a noun without a frame of need is a wish about that thing."""
    if not context.categories or not context.asked:
        return list(acts)
    held = [set(stems_of(category)) for category in context.categories]
    return [_as_wish(act) if _is_answer(act, text, held) else act for act in acts]


def _is_answer(act: Act, text: str, held: Sequence[set[str]]) -> bool:
    if act.kind is not Kind.NEED or act.note in ("also", "add") or act.number is not None:
        return False
    own = set(stems_of(act.value or ""))
    if any(own <= category or category <= own for category in held if category):
        return False
    start = act.span.start if act.span else text.lower().find(act.words.lower())
    before = text[max(0, start - _LOOK_BACK) : max(start, 0)].lower()
    frame, answer = _patterns()
    return bool(answer.search(before)) or not frame.search(before)


def _as_wish(act: Act) -> Act:
    return replace(
        act,
        kind=Kind.CONSTRAIN,
        attribute="feature",
        operator=Operator.IS,
        value=act.words or act.value,
        group=None,
    )


def one_shelf(acts: Sequence[Act], lexicon: Lexicon) -> list[Act]:
    """Join two nouns that are parent and leaf of one category path into the one product type that they name."""
    needs = [act for act in acts if act.kind is Kind.NEED]
    if len(needs) < 2:
        return list(acts)
    for one, other in combinations(needs, 2):
        pair = frozenset(stems_of(one.value or "")), frozenset(stems_of(other.value or ""))
        if pair in lexicon.shelves or pair[::-1] in lexicon.shelves:
            parent, leaf = (one, other) if pair in lexicon.shelves else (other, one)
            joined = replace(one, value=f"{parent.value} {leaf.value}", words=f"{one.words} {other.words}")
            kept = [joined if act is one else act for act in acts if act is not other]
            return [replace(act, group=one.group) if act.group == other.group else act for act in kept]
    return list(acts)


@cache
def _nothing_more() -> tuple[re.Pattern[str], frozenset[str]]:
    table = load_toml("dialogue.toml")["nothing_more"]
    phrases = sorted(table["phrases"], key=len, reverse=True)
    pattern = re.compile(r"\b(?:" + "|".join(re.escape(phrase) for phrase in phrases) + r")\b")
    return pattern, frozenset(table["beside"])


def nothing_more(acts: Sequence[Act], text: str, context: Context) -> list[Act]:
    """ "Nah, that's all", "can't think of anything else": after a question, the one act that there is nothing more to say."""
    if not context.asked or not context.categories:
        return list(acts)
    said = text.lower().replace("’", "'")
    pattern, beside = _nothing_more()
    rest, count = pattern.subn(" ", said)
    if not count or any(word not in beside for word in re.findall(r"[a-z']+|\d+", rest)):
        return list(acts)
    return [Act(Kind.NO_PREFERENCE, attribute=context.asked, words=text.strip()[:200])]
