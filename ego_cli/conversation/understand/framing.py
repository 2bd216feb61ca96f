"""Nouns in their frame: which begin a search, which are wishes about it, which name one shelf between them.

"What counts for me: tag free" is about the thing that is looked for, not a search for tags; "essentials from the beanies and
knit hats section" is one shelf, not two things.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

from ego_cli.catalog.facets import is_material
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
    found = salvage(without_wish(acts, text, tokens, context), text, tokens, context, lexicon)
    found = whole_clauses(figures_not_prices(colours_not_things(found, text), text, context), text)
    found = one_shelf(plain_wishes(keep_topic(found, text, context, lexicon), text), tokens, lexicon)
    found = wishes_not_pointers(one_thing_each(found, text), context)
    found = plain_wishes(of_parts(plain_answers(found, text, context), text), text)
    found = materials_for_materials(found, context)
    return whole_phrases(found, text) if context.asked else found


def keep_topic(acts: Sequence[Act], text: str, context: Context, lexicon: Lexicon) -> list[Act]:
    """While a thing is looked for and a question waits, a noun without a frame of need is a wish about that thing."""
    if not any(context.categories) or not context.asked or any(act.kind is Kind.DROP_WANT for act in acts):
        return list(acts)
    if any(act.attribute == "price" and act.number is not None for act in acts) and any(
        act.kind is Kind.NEED and act.confidence == 1.0 for act in acts
    ):
        return list(acts)  # "5 kVA inverter under 1.2m": a thing with a price of its own is looked for
    turned = any(act.kind is Kind.OVERRIDE and act.note != "strong" for act in acts)
    if turned and any(act.kind is Kind.NEED and _an_article_before(act, text) for act in acts):
        return list(acts)  # "actually a blender"
    held = [set(stems_of(category)) for category in context.categories]
    return [_as_wish(act) if _is_answer(act, text, held, lexicon) else act for act in acts]


def _is_answer(act: Act, text: str, held: Sequence[set[str]], lexicon: Lexicon) -> bool:
    if act.kind is not Kind.NEED or act.note in ("also", "add"):
        return False
    own = set(stems_of(act.value or ""))
    if any(own <= category or category <= own for category in held if category):
        return False
    start = act.span.start if act.span else text.lower().find(act.words.lower())
    before = text[max(0, start - _LOOK_BACK) : max(start, 0)].lower()
    if _is_quality(act, lexicon) and not _ARTICLE.search(before):
        return True
    if _ABOUT.search(before) and any(
        name.kind == "part" for s in lexicon.find(tokenise(act.words)) for name in s.names
    ):
        return True  # "what about a zip?"
    if _is_whole(act, text, lexicon):
        return False  # "phones": the name of a shelf and nothing else
    frame, answer = _patterns()
    return bool(answer.search(before)) or not frame.search(before)


def _is_whole(act: Act, text: str, lexicon: Lexicon) -> bool:
    """Whether a message is the name of something that the shop has, in the plural, and nothing else."""
    rest = [token for token in tokenise(text) if token.kind != "mark" and token.word not in language().filler]
    known = any(name.kind == "product" and name.known for span in lexicon.find(rest) for name in span.names)
    plural = bool(rest) and rest[-1].word != rest[-1].stem
    return known and plural and [token.stem for token in rest] == list(stems_of(act.words))


def _an_article_before(act: Act, text: str) -> bool:
    return act.span is not None and bool(_ARTICLE.search(text[: act.span.start].lower()))


_ABOUT = re.compile(r"\babout\s+(?:an?\s+)?$")
_ARTICLE = re.compile(r"\b(?:an?|new|another)\s+$")


def _is_quality(act: Act, lexicon: Lexicon) -> bool:
    """ "Cream", "silk": a thing that people buy, and a colour or material as well."""
    if is_material(act.words):
        return True
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


def one_shelf(acts: Sequence[Act], tokens: Sequence[Token], lexicon: Lexicon) -> list[Act]:
    """Nouns that name parent and leaf of one category path are the one product type that they name."""
    if not any(act.kind is Kind.NEED for act in acts):
        return list(acts)
    shelf = lexicon.shelf_in([token.stem for token in tokens])
    if shelf is None:
        return list(acts)
    own = shelf.parent | shelf.leaf | _shelf_words()
    inside = [act for act in acts if act.kind in _OF_SHELF and _names_only(act, own)]
    need = next((act for act in inside if act.kind is Kind.NEED), None)
    elsewhere = {stem for act in acts if act not in inside for stem in stems_of(act.words)}
    named = {stem for act in inside for stem in stems_of(act.words)}
    if need is None or ((shelf.parent | shelf.leaf) - named) & elsewhere:
        return list(acts)  # a word of the shelf is said of something else
    joined = replace(need, value=shelf.name, words=" ".join(act.words for act in inside))
    groups = {act.group for act in inside}
    kept = [joined if act is need else act for act in acts if act is need or act not in inside]
    return [replace(act, group=need.group) if act.group in groups else act for act in kept]


_OF_SHELF = frozenset({Kind.NEED, Kind.CONSTRAIN, Kind.SHOW_MORE})
"""What the name of a shelf may have been taken for: "novelty and more", "two-pieces", "(if I no see) skirts"."""


def _names_only(act: Act, own: frozenset[str]) -> bool:
    return any(stems and set(stems) <= own for stems in (stems_of(act.words), stems_of(act.value or "")))


def materials_for_materials(acts: Sequence[Act], context: Context) -> list[Act]:
    """ "Scrap that, gold" where steel is held: what names a colour and a material takes the place of the material."""
    if not context.holds("material") or not any(act.kind is Kind.OVERRIDE for act in acts):
        return list(acts)
    return [
        replace(act, attribute="material")
        if act.kind is Kind.CONSTRAIN and act.attribute == "colour" and is_material(act.value or "")
        else act
        for act in acts
    ]


@cache
def _shelf_words() -> frozenset[str]:
    return frozenset(stem for word in load_toml("dialogue.toml")["topic"]["shelf"] for stem in stems_of(word))


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")


# --- answers ---------------------------------------------------------------------------------------------------------


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
        and act.note not in ("verbatim", "everyday")
    )


_SEPARATORS = re.compile(
    r"(?:[.;!]\s+|,?\s+)(?:oh,?\s+and|and\s+also|plus|as\s+well\s+as|along\s+with|together\s+with)\s+|[;!]\s+|\.\s+(?=\D)"
)


_EXCESS = re.compile(r"\b(?:too|so|very|overly|super)\s+$")


def _excess(act: Act, text: str) -> bool:
    return act.span is not None and _EXCESS.search(_plain(text[: act.span.start])) is not None


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
            if act.polarity < 0 and excess in _answers()["degrees"] and _excess(act, text):
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
    bare = act.kind is Kind.REFER and not _POINTER.search(_plain(act.words))
    liked = act.kind is Kind.MORE_LIKE and not _SIMILAR.search(_plain(act.words))  # "I go like the rust one"
    if not bare and not liked:
        return None
    return replace(
        act, kind=Kind.CONSTRAIN, attribute="feature", operator=Operator.IS, value=target.words, target=None
    )


_SIMILAR = re.compile(r"\b(?:more|similar|same|others|another)\b")


_MONEY_SAID = re.compile(
    r"\b(?:under|below|over|above|max|maximum|most|least|budget|price|prices|costs?|naira|pay|spend|cheap\w*|bucks|money|than|pass|reach)\b"
)


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
    told = any(act.kind is Kind.CONSTRAIN for act in kept)
    answers: list[Act] = []
    for act in kept:
        if act.kind is Kind.ASK:
            if not told and act.value:
                answers.append(_as_feature(act, act.value))
        elif not (told and _enumerates(act, text)):
            answers.append(act)
    return answers


_OTHER_ORDINAL = re.compile(r"\b(?:first|1st|both|one thing)\b")


def _enumerates(act: Act, text: str) -> bool:
    """ "First wool, the second one is a hood": the wishes are counted, no item is pointed at."""
    if act.kind is not Kind.REFER or act.target is None or act.target.how == "attribute":
        return False
    words = _plain(act.words)
    return "both" in words or bool(_OTHER_ORDINAL.search(_plain(text).replace(words, " ")))


def _called(act: Act, text: str) -> bool:
    if act.span is None:
        return False
    start = act.span.start
    if text[max(0, start - 3) : start].lower() == "my ":
        start -= 3
    alone = not re.match(r"[\s-]*\w", text[act.span.end :])  # nothing behind it that it could describe
    apart = start == 0 or not re.search(r"(?:\bfor|\bold|\ba|\ban|\bof|[\w-]+ed)\s+$", _plain(text[:start]))
    return alone and apart and _plain(text[start : act.span.end]).strip() in _vocatives()


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
        found.append(_as_feature(act, text[where.start : where.end], where) if where else act)
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
    small = act.number is not None and act.number < _SMALL_FIGURE and not _MONEY_SAID.search(_plain(text))
    if small or (alone and not _about_money(text, act)):
        return Span(number.start(), number.end() + (behind.end() if behind else 0))
    return None


def _as_feature(act: Act, words: str, where: Span | None = None) -> Act:
    said = words.strip()
    return Act(
        Kind.CONSTRAIN,
        attribute="feature",
        operator=Operator.IS,
        value=said,
        words=said,
        span=where or act.span,
        group=act.group,
    )


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


_COLOURED = re.compile(r"[\s-]*colou?r(?:ed)?\b", re.IGNORECASE)


def colours_not_things(acts: Sequence[Act], text: str) -> list[Act]:
    """ "Coffee coloured": what a noun with "coloured" behind it names is a colour."""
    return [
        _as_wish(act)
        if act.kind is Kind.NEED and act.span is not None and _COLOURED.match(text[act.span.end :])
        else act
        for act in acts
    ]


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
        and not _ASKS.search(_plain(text))
    ):
        found = [_as_feature(Act(Kind.UNCLEAR), text.strip(" .!"), Span(0, len(text)))]
    return [act for act in acts if act.kind is not Kind.UNCLEAR] + found if found else list(acts)


_SALVAGED = ("product", "colour", "material", "brand")
