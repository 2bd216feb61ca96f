"""Nouns in their frame: which begin a search, which are wishes about it, which name one shelf between them.

"What counts for me: tag free" is about the thing that is looked for, not a search for tags; "essentials from the beanies and
knit hats section" is one shelf, not two things.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, product

from ego_cli.conversation.understand.acts import Act, Kind, Operator, Span, Target
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Lexicon, shelves_of, stems_of
from ego_cli.conversation.understand.tokens import Token, tokenise
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

    between = rf"(?:(?:{either(table['between'])})\s+)*(?:[\w'-]+\s+){{0,2}}"
    counted = "|".join(table["counts"])
    frame = re.compile(
        rf"\b(?:{either(table['frames'])})\s+{between}$|\b(?:{either(table['weak'])})\s+(?:{counted})\s+{between}$"
    )
    answer = re.compile(rf"\b(?:{either(table['answers'])})\b\W*(?:\w+\W+){{0,4}}$")
    return frame, answer


def in_frame(
    acts: Sequence[Act], text: str, tokens: Sequence[Token], context: Context, lexicon: Lexicon
) -> list[Act]:
    """All readings of this module, in order."""
    found = salvage(without_wish(acts, text, tokens, context), text, tokens, lexicon)
    found = whole_clauses(figures_not_prices(found, text, context), text)
    found = one_shelf(plain_wishes(keep_topic(found, text, context, lexicon)), lexicon)
    found = wishes_not_pointers(one_thing_each(found, text), context)
    found = plain_wishes(of_parts(plain_answers(found, text, context), text))
    return whole_phrases(found, text) if context.asked else found


def keep_topic(acts: Sequence[Act], text: str, context: Context, lexicon: Lexicon) -> list[Act]:
    """While a thing is looked for and a question waits, a noun without a frame of need is a wish about that thing."""
    if not context.categories or not context.asked or any(act.kind is Kind.DROP_WANT for act in acts):
        return list(acts)
    if any(act.attribute == "price" and act.number is not None for act in acts) and any(
        act.kind is Kind.NEED and act.confidence == 1.0 for act in acts
    ):
        return list(acts)  # "5 kVA inverter under 1.2m": a thing with a price of its own is looked for
    held = [set(stems_of(category)) for category in context.categories]
    return [_as_wish(act) if _is_answer(act, text, held, lexicon) else act for act in acts]


def _is_answer(act: Act, text: str, held: Sequence[set[str]], lexicon: Lexicon) -> bool:
    if act.kind is not Kind.NEED or act.note in ("also", "add"):
        return False
    own = set(stems_of(act.value or ""))
    if any(own <= category or category <= own for category in held if category):
        return False
    if _is_quality(act, lexicon):
        return True
    start = act.span.start if act.span else text.lower().find(act.words.lower())
    before = text[max(0, start - _LOOK_BACK) : max(start, 0)].lower()
    frame, answer = _patterns()
    return bool(answer.search(before)) or not frame.search(before)


def _is_quality(act: Act, lexicon: Lexicon) -> bool:
    """ "Cream", "silk": a thing that people buy, and a colour or material as well."""
    spans = lexicon.find(tokenise(act.words))
    return len(spans) == 1 and any(name.kind in ("colour", "material") for name in spans[0].names)


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
    named = [act for act in acts if act.kind is Kind.NEED or _is_part(act) or _is_material(act)]
    for one, other in combinations(named, 2):
        if Kind.NEED not in (one.kind, other.kind):
            continue
        shelf = _shelf_of(one, other, lexicon)
        if shelf:
            need = one if one.kind is Kind.NEED else other
            joined = replace(need, value=shelf, words=f"{one.words} {other.words}")
            kept = [joined if act is need else act for act in acts if act is need or act not in (one, other)]
            return [
                replace(act, group=need.group) if act.group in (one.group, other.group) else act
                for act in kept
            ]
    return list(acts)


def _shelf_of(one: Act, other: Act, lexicon: Lexicon) -> str:
    """Parent and leaf as the product type that two acts name, by what they were read as or by her words; "" = none."""
    for first, second in product((one.value or "", one.words), (other.value or "", other.words)):
        pair = frozenset(stems_of(first)), frozenset(stems_of(second))
        if pair in lexicon.shelves:
            return f"{first} {second}"
        if pair[::-1] in lexicon.shelves:
            return f"{second} {first}"
    return ""


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")


# --- answers ---------------------------------------------------------------------------------------------------------


@cache
def _answers() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in load_toml("dialogue.toml")["answers"].items()}


_NO_WISH = frozenset({Kind.CONSTRAIN, Kind.UNCLEAR, Kind.NO, Kind.NO_PREFERENCE, Kind.BROWSE, Kind.RELAX, Kind.SHOW_MORE, Kind.THANKS, Kind.REJECT, Kind.REFER, Kind.GREET, Kind.YES, Kind.NEED})  # fmt: skip
"""What words about the conversation itself may have been taken for."""


def without_wish(acts: Sequence[Act], text: str, tokens: Sequence[Token], context: Context) -> list[Act]:
    """An answer to an open question that brings no wish: "nah, that's all", "whatever you think is best", "not those".

    It is read by what is missing: no word in it is about a product.
    """
    if not context.asked or not context.categories or any(act.kind not in _NO_WISH for act in acts):
        return list(acts)
    if acts and all(act.kind in (Kind.YES, Kind.NO) for act in acts):
        return list(acts)
    if any(act.kind is Kind.RELAX and act.attribute not in (None, "feature", context.asked) for act in acts):
        return list(acts)  # "the brand doesn't matter": one thing was given up, the rest stands
    classes = _answers()
    about_talk = language().filler | classes["words"] | classes["signals"] | {context.asked}
    words = [token.word for token in tokens if token.kind != "mark"]
    if not words or any(word not in about_talk for word in words) or not classes["signals"] & set(words):
        return list(acts)
    if context.shown and (_turns_down(words) or classes["asks_back"] & set(words)):
        return [Act(Kind.NONE_OF_THESE, target=Target("all"), words=text.strip()[:200])]
    return [Act(Kind.NO_PREFERENCE, attribute=context.asked or "other", words=text.strip()[:200])]


def _turns_down(words: Sequence[str]) -> bool:
    """ "Not quite", "none of those", "still off": a negation with a word for the list behind it, or words for a miss."""
    classes = _answers()
    return any(
        word in ("not", "none", "no", "never") and classes["turned_down"] & set(words[place + 1 : place + 4])
        for place, word in enumerate(words)
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
        between = _plain(text[one.span.end : other.span.start])
        beside = _BESIDE.fullmatch(between) is not None and not _before_noun(other, ordered, text)
        part_behind = _is_material(one) and _is_part(other) and beside
        part_before = _is_part(one) and _is_material(other) and _MADE_OF.fullmatch(between)
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
        if act.span is None or not _is_part(act):
            found.append(act)
        elif (
            before is not None
            and before.span is not None
            and _is_part(before)
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


def _is_material(act: Act) -> bool:
    return act.kind is Kind.CONSTRAIN and act.attribute in ("material", "colour") and act.polarity > 0


def _is_part(act: Act) -> bool:
    return (
        act.kind is Kind.CONSTRAIN
        and act.attribute == "feature"
        and act.polarity > 0
        and act.note != "verbatim"
    )


_SEPARATORS = re.compile(
    r"(?:[.;!]\s+|,?\s+)(?:oh,?\s+and|and\s+also|plus|as\s+well\s+as|along\s+with|together\s+with)\s+|[;!]\s+|\.\s+(?=\D)"
)


def plain_wishes(acts: Sequence[Act]) -> list[Act]:
    """Wishes without their padding: one act for each thing wished, none for words that wish nothing."""
    found: list[Act] = []
    for act in acts:
        if act.kind is not Kind.CONSTRAIN or act.attribute != "feature" or not act.value:
            found.append(act)
            continue
        pieces = (
            [piece.strip(" .,") for piece in _SEPARATORS.split(act.value)]
            if act.note == "verbatim"
            else [act.value]
        )
        for piece in pieces:
            wish = _without_padding(piece)
            if wish:
                found.append(replace(act, value=wish, words=piece if len(pieces) > 1 else act.words))
    return found


def _without_padding(wish: str) -> str:
    """ "Sage coloured" -> "sage"; "" when nothing is left."""
    if wish in load_toml("dialogue.toml")["padding"]["alone"] or wish.isdigit():
        return ""
    words = wish.split()
    while words and set(stems_of(words[0])) <= _padding() and words[1:2] not in (["to"], ["on"]):
        del words[0]  # but "easy to carry", "kind on the skin" stay whole
    while words and set(stems_of(words[-1])) <= _padding():
        del words[-1]
    return " ".join(words)


_POINTER = re.compile(r"\b(?:one|ones|the|that|this|those|these|am|it|number)\b")


def wishes_not_pointers(acts: Sequence[Act], context: Context) -> list[Act]:
    """ "Peach, and square toe" after a question wishes for peach; "the peach one" points at an item."""
    if not context.asked:
        return list(acts)
    return [_pointed_wish(act) or act for act in acts]


def _pointed_wish(act: Act) -> Act | None:
    target = act.target
    if target is None or target.how != "attribute":
        return None
    bare = act.kind is Kind.REFER and not _POINTER.search(_plain(act.words))
    liked = act.kind is Kind.MORE_LIKE and not _SIMILAR.search(_plain(act.words))  # "I go like the rust one"
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
    if not context.asked or _ASKS.search(_plain(text)):
        return kept
    return [act for act in kept if act.kind is not Kind.ASK or len(kept) == 1]


def _called(act: Act, text: str) -> bool:
    if act.span is None:
        return False
    start = act.span.start
    if text[max(0, start - 3) : start].lower() == "my ":
        start -= 3
    alone = not re.match(r"[\s-]*\w", text[act.span.end :])  # nothing behind it that it could describe
    apart = start == 0 or not re.search(r"(?:\bfor|\bold|\ba|\ban|\bof|[\w-]+ed)\s+$", _plain(text[:start]))
    return alone and apart and _plain(text[start : act.span.end]).strip() in _vocatives()


_BARE = re.compile(r"\d[\d.,]*\s*[k+]?", re.IGNORECASE)


def figures_not_prices(acts: Sequence[Act], text: str, context: Context) -> list[Act]:
    """ "14k gold", "UPF 50+": a bare number that belongs to the word beside it is part of a wish."""
    table = load_toml("dialogue.toml")["figures"]
    found = []
    for act in acts:
        if (
            act.attribute == "price"
            and act.unit is None
            and act.span is not None
            and (bare := _BARE.match(act.words.strip()))
        ):
            before = re.search(r"([\w-]+)\s*$", text[: act.span.start])
            whole = bare.end() == len(act.words.strip())
            if not whole and not (before and before[1].lower() in table["before"]):
                found.append(act)  # "50 at least" is a price unless "SPF" stands before it
                continue
            behind = re.match(r"\s*([\w-]+)", text[act.span.end :])
            if behind and behind[1].lower() in table["behind"]:
                words = text[act.span.start : act.span.end + behind.end()]
            elif before and before[1].lower() in table["before"]:
                words = text[before.start() : act.span.start + bare.end()]
            elif context.asked not in ("", "price", "budget") and not _about_money(text, act):
                words = text[act.span.start : act.span.end + (behind.end() if behind else 0)]
            else:
                words = ""
            if words:
                act = Act(
                    Kind.CONSTRAIN,
                    attribute="feature",
                    operator=Operator.IS,
                    value=words.strip(),
                    words=words.strip(),
                    span=act.span,
                    group=act.group,
                )
        found.append(act)
    return found


_SHORT_ANSWER = 3
"""Words of an answer that is a price alone: "20k abeg"."""


def _about_money(text: str, act: Act) -> bool:
    words = re.findall(r"[a-z]+|\d[\d.,]*k?", _plain(text))
    near = re.findall(
        r"[a-z]+",
        _plain(
            text[max(0, (act.span.start if act.span else 0) - 25) : (act.span.end if act.span else 0) + 12]
        ),
    )
    return len(words) <= _SHORT_ANSWER or bool(
        set(near) & set(load_toml("dialogue.toml")["figures"]["money"])
    )


_LISTED = re.compile(
    r"(?:\band|,|\bplus|\balso|&|\bor)\s*(?:(?:a|an|some|the|one|two|three|four|five|\d+|another|pair|pairs|of|matching|my|new)\s+)*(?:[\w'-]+\s+){0,3}$"
)


def one_thing_each(acts: Sequence[Act], text: str) -> list[Act]:
    """A second noun is a second thing when it stands in a list with the first and names a thing that people buy; "in wine" and
    "ankle strap closure, if possible" are wishes about the first."""
    first: Act | None = None
    found: list[Act] = []
    for act in acts:
        if act.kind is not Kind.NEED or act.note in ("also", "add") or act.number is not None:
            found.append(act)
        elif first is None:
            first = act
            found.append(act)
        else:
            start = act.span.start if act.span else 0
            before = _plain(text[max(0, start - _LOOK_BACK) : start])
            frame, _ = _patterns()
            listed = bool(_LISTED.search(before)) and bool(shelves_of(act.value or ""))
            found.append(act if listed or frame.search(before) else replace(_as_wish(act), group=first.group))
    return found


def salvage(acts: Sequence[Act], text: str, tokens: Sequence[Token], lexicon: Lexicon) -> list[Act]:
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
    return [act for act in acts if act.kind is not Kind.UNCLEAR] + found if found else list(acts)


_SALVAGED = ("product", "colour", "material", "brand")
