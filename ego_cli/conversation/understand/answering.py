"""Answers to an open question: those that bring no wish, wishes that look like something else, and what is left of a lost one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from ego_cli.conversation.understand.acts import Act, Kind, Operator, Span, Target
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Lexicon
from ego_cli.conversation.understand.phrases import feature, money_said, plain
from ego_cli.conversation.understand.tokens import Token
from ego_cli.settings import load_toml


@cache
def _answers() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in load_toml("dialogue.toml")["answers"].items()}


_NO_WISH = frozenset({Kind.CONSTRAIN, Kind.UNCLEAR, Kind.NO, Kind.NO_PREFERENCE, Kind.BROWSE, Kind.RELAX, Kind.SHOW_MORE, Kind.THANKS, Kind.REJECT, Kind.REFER, Kind.GREET, Kind.YES, Kind.NEED, Kind.RELATIVE})  # fmt: skip
"""What words about the conversation itself may have been taken for."""


_NOTHING = frozenset(["no", "not", "nothing", "none", "never", "without", "enough"])


def without_wish(acts: Sequence[Act], text: str, tokens: Sequence[Token], context: Context) -> list[Act]:
    """An answer to an open question that brings no wish: "nah, that's all", "whatever you think is best", "not those".

    It is read by what is missing: no word in it is about a product.
    """
    if not context.categories or any(act.kind not in _NO_WISH for act in acts):
        return list(acts)
    if not context.asked and (
        any(act.kind is not Kind.UNCLEAR for act in acts)
        or not _answers()["ours"] & {token.word for token in tokens}
    ):
        return list(acts)
    if acts and all(act.kind in (Kind.YES, Kind.NO) for act in acts):
        return list(acts)
    if any(act.kind is Kind.SHOW_MORE for act in acts) and not _NOTHING & {token.word for token in tokens}:
        return list(acts)  # "show me another one"
    if any(act.kind is Kind.REJECT for act in acts) and {"want", "like", "one"} & {
        token.word for token in tokens
    }:
        return list(acts)  # "I don't want that"
    if any(act.kind is Kind.RELAX and act.attribute not in (None, "feature", context.asked) for act in acts):
        return list(acts)  # "the brand doesn't matter": one thing was given up, the rest stands
    classes = _answers()
    about_talk = language().filler | classes["words"] | classes["signals"] | {context.asked}
    words = [token.word for token in tokens if token.kind != "mark"]
    if not words or any(word not in about_talk for word in words) or not _signals(words):
        return list(acts)
    if _denies_quality(words):
        return list(acts)
    if context.shown and (_turns_down(words) or classes["asks_back"] & set(words)):
        return [Act(Kind.NONE_OF_THESE, target=Target("all"), words=text.strip()[:200])]
    return [Act(Kind.NO_PREFERENCE, attribute=context.asked or "other", words=text.strip()[:200])]


def _signals(words: Sequence[str]) -> bool:
    said = f" {' '.join(words)} "
    return any(f" {signal} " in said for signal in _answers()["signals"])


def _denies_quality(words: Sequence[str]) -> bool:
    """ "Not too long", "not see through", "I don't want it to show": said of the thing, not of the talk."""
    if words[-1] in _answers()["qualities"] and {"not", "no", "too", "never"} & set(words[-4:-1]):
        return True
    return any(
        one in ("it", "them", "am") and other in ("to", "in", "with") for one, other in pairwise(words)
    )


def _turns_down(words: Sequence[str]) -> bool:
    """ "Not quite", "none of those", "still off": a negation with a word for the list behind it, or words for a miss."""
    classes = _answers()
    return any(
        word in ("not", "none", "no", "never") and classes["turned_down"] & set(words[place + 1 : place + 4])
        for place, word in enumerate(words)
    )


_POINTER = re.compile(r"\b(?:one|ones|the|that|this|those|these|am|it|number)\b")


def wishes_not_pointers(acts: Sequence[Act], context: Context) -> list[Act]:
    """ "Peach, and square toe" after a question wishes for peach; "the peach one" points at an item."""
    if not context.asked:
        return list(acts)
    return [_pointed_wish(act) or act for act in acts]


def _pointed_wish(act: Act) -> Act | None:
    target = act.target
    if target is None or target.how not in ("attribute", "name"):
        return None
    if target.how == "name" and (" " in target.words or act.words != act.words.lower()):
        return None  # "Anker PowerCore": a title; "neoprene": what she wishes for, though a title says it
    bare = act.kind is Kind.REFER and not _POINTER.search(plain(act.words))
    liked = act.kind is Kind.MORE_LIKE and not _SIMILAR.search(plain(act.words))  # "I go like the rust one"
    if not bare and not liked:
        return None
    return replace(
        act, kind=Kind.CONSTRAIN, attribute="feature", operator=Operator.IS, value=target.words, target=None
    )


_SIMILAR = re.compile(r"\b(?:more|similar|same|others|another)\b")


@cache
def _vocatives() -> frozenset[str]:
    return frozenset(load_toml("dialogue.toml")["vocatives"]["phrases"])


_ASKS = re.compile(
    r"\?|^\W*(?:which|what|how|is|are|does|do|can|will|has|have|any|wetin|e get|who|where|when)\b"
)


def plain_answers(acts: Sequence[Act], text: str, context: Context) -> list[Act]:
    """In an answer, "my guy" is no wish for men's things, and "comes in a box" asks nothing."""
    kept = [act for act in acts if not (act.attribute == "gender" and _called(act, text))]
    if not context.asked or _ASKS.search(plain(text)):
        return kept
    told = any(act.kind is Kind.CONSTRAIN for act in kept)
    answers: list[Act] = []
    for act in kept:
        if act.kind is Kind.ASK:
            if not told and act.value:
                answers.append(feature(act.value, act.span, group=act.group))
        elif not (told and _enumerates(act, text)):
            answers.append(act)
    return answers


_OTHER_ORDINAL = re.compile(r"\b(?:first|1st|both|one thing)\b")


def _enumerates(act: Act, text: str) -> bool:
    """ "First wool, the second one is a hood": the wishes are counted, no item is pointed at."""
    if act.kind is not Kind.REFER or act.target is None or act.target.how == "attribute":
        return False
    words = plain(act.words)
    return "both" in words or bool(_OTHER_ORDINAL.search(plain(text).replace(words, " ")))


def _called(act: Act, text: str) -> bool:
    if act.span is None:
        return False
    start = act.span.start
    if text[max(0, start - 3) : start].lower() == "my ":
        start -= 3
    alone = not re.match(r"[\s-]*\w", text[act.span.end :])  # nothing behind it that it could describe
    apart = start == 0 or not re.search(r"(?:\bfor|\bold|\ba|\ban|\bof|[\w-]+ed)\s+$", plain(text[:start]))
    return alone and apart and plain(text[start : act.span.end]).strip() in _vocatives()


_FIGURE = re.compile(r"\d[\d.,]*\s*[k+]?", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"([\w-]+)\s*$")
_WORD_BEHIND = re.compile(r"\s*([\w-]+)")
_SMALL_FIGURE = 20
"""Below it a number with nothing of money about it is a count, though "about" or "inside" stands before it."""


def figures_not_prices(acts: Sequence[Act], text: str, context: Context) -> list[Act]:
    """ "14k gold", "UPF 50+", "3 pockets inside, 1 outside": a bare number that belongs to the words beside it."""
    found = []
    for act in acts:
        where = _figure(act, text, context)
        found.append(feature(text[where.start : where.end], where, group=act.group) if where else act)
    return found


def _figure(act: Act, text: str, context: Context) -> Span | None:
    """Where the words of a price stand that is none; None when it is one."""
    if act.attribute != "price" or act.unit is not None or act.span is None:
        return None
    number = _FIGURE.search(text, act.span.start, act.span.end)
    if number is None:
        return None
    table = load_toml("dialogue.toml")["figures"]
    before = _WORD_BEFORE.search(text[: number.start()])
    behind = _WORD_BEHIND.match(text[number.end() :])
    if behind and behind[1].lower() in table["behind"]:
        return Span(number.start(), number.end() + behind.end())
    if before and before[1].lower() in table["before"]:
        return Span(before.start(), number.end())
    if context.asked in ("", "price", "budget"):
        return None
    alone = number.span() == (act.span.start, act.span.end)
    small = act.number is not None and act.number < _SMALL_FIGURE and not money_said(text)
    if small or (alone and not _about_money(text, act)):
        return Span(number.start(), number.end() + (behind.end() if behind else 0))
    return None


_SHORT_ANSWER = 3
"""Words of an answer that is a price alone: "20k abeg"."""


def _about_money(text: str, act: Act) -> bool:
    words = re.findall(r"[a-z]+|\d[\d.,]*k?", plain(text))
    near = re.findall(
        r"[a-z]+",
        plain(
            text[max(0, (act.span.start if act.span else 0) - 25) : (act.span.end if act.span else 0) + 12]
        ),
    )
    return len(words) <= _SHORT_ANSWER or bool(
        set(near) & set(load_toml("dialogue.toml")["figures"]["money"])
    )


_FEW, _SHORT = 2, 6
"""Words of an answer that is taken as it stands when none of them is known for more than padding: "true to size"."""


def salvage(
    acts: Sequence[Act], text: str, tokens: Sequence[Token], context: Context, lexicon: Lexicon
) -> list[Act]:
    """When a sentence gave nothing, what it names all the same: the shop's types, colours, materials and brands in it."""
    if any(act.kind not in (Kind.UNCLEAR, Kind.GREET, Kind.OVERRIDE) for act in acts):
        return list(acts)
    found: list[Act] = []
    taken_back = [act.span for act in acts if act.kind is Kind.OVERRIDE and act.span is not None]
    for span in lexicon.find(tokens):
        if any(back.start <= tokens[span.start].start < back.end for back in taken_back):
            continue
        name = next((one for one in span.names if one.kind in _SALVAGED and not one.weak), None)
        if name is None:
            continue
        where = Span(tokens[span.start].start, tokens[span.end - 1].end)
        words = text[where.start : where.end]
        if name.kind == "product":
            found.append(
                Act(Kind.NEED, value=name.value, words=words, span=where, group=len(found), confidence=0.6)
            )
        else:
            found.append(
                Act(
                    Kind.CONSTRAIN,
                    attribute=name.kind,
                    operator=Operator.IS,
                    value=name.value,
                    words=words,
                    span=where,
                    confidence=0.6,
                )
            )
    unread = not acts or any(act.kind is Kind.UNCLEAR for act in acts)
    if (
        not found
        and unread
        and context.asked
        and _FEW <= len(tokens) <= _SHORT
        and not _ASKS.search(plain(text))
    ):
        found = [feature(text.strip(" .!"), Span(0, len(text)))]
    return [act for act in acts if act.kind is not Kind.UNCLEAR] + found if found else list(acts)


_SALVAGED = ("product", "colour", "material", "brand")
