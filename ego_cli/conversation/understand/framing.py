"""Nouns in their frame: which begin a search, which are wishes about it, which name one shelf between them.

"What counts for me: tag free" is about the thing that is looked for, not a search for tags; "essentials from the beanies and
knit hats section" is one shelf, not two things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from ego_cli.catalog.facets import is_material
from ego_cli.conversation.understand.acts import Act, Kind
from ego_cli.conversation.understand.answering import (
    figures_not_prices,
    plain_answers,
    salvage,
    wishes_not_pointers,
    without_wish,
)
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Lexicon, shelves_of, stems_of
from ego_cli.conversation.understand.phrases import (
    as_wish,
    of_parts,
    plain,
    plain_wishes,
    whole_clauses,
    whole_phrases,
)
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
    return [as_wish(act) if _is_answer(act, text, held, lexicon) else act for act in acts]


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


_LISTED = re.compile(
    r"(?:\band|,|\bplus|\balso|&|\bor)\s*(?:(?:a|an|some|the|one|two|three|four|five|\d+|another|pair|pairs|of|matching|my|new)\s+)*(?:[\w'-]+\s+){0,3}$"
)


_COLOURED = re.compile(r"[\s-]*colou?r(?:ed)?\b", re.IGNORECASE)


def colours_not_things(acts: Sequence[Act], text: str) -> list[Act]:
    """ "Coffee coloured": what a noun with "coloured" behind it names is a colour."""
    return [
        as_wish(act)
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
            before = plain(text[max(0, start - _LOOK_BACK) : start])
            frame, _ = _patterns()
            listed = bool(_LISTED.search(before)) and bool(shelves_of(act.value or ""))
            found.append(act if listed or frame.search(before) else replace(as_wish(act), group=first.group))
    return found
