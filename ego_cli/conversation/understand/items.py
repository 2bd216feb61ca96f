"""The message as one row of items: amounts, cues, names, content words and marks, none overlapping."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from ego_cli.conversation.understand.cues import Cue
from ego_cli.conversation.understand.language import Tree, language, longest, plant
from ego_cli.conversation.understand.lexicon import Name, NameSpan, stems_of
from ego_cli.conversation.understand.numbers import Amount
from ego_cli.conversation.understand.tokens import Token

AMOUNT_CLASSES = frozenset(
    ["max", "max_back", "min", "min_back", "about", "about_back", "between", "range_join", "each", "all"]
)
"""Classes that only speak beside a number: read with the amounts, no cue by themselves."""


_IDIOM_BONUS = 3
"""Words by which an idiom ("no dey hang") outweighs the cues that it is made of."""


class Item(NamedTuple):
    """Tokens [start, end). ``kind``: "amount", "cue", "name", "attribute", "word", "filler", "mark", "used".

    ``value``: the attribute's name, or the normalised word.
    """

    kind: str
    start: int
    end: int
    value: str = ""
    classes: frozenset[str] = frozenset()
    names: tuple[Name, ...] = ()
    amount: Amount | None = None


@lru_cache(maxsize=1)
def _attribute_tree() -> Tree:
    tree: Tree = {}
    for attribute, phrases in language().names["attributes"].items():
        for phrase in phrases:
            plant(tree, stems_of(phrase), attribute)
    return tree


def attribute_at(tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    """The attribute that is named at ``index`` ("the colour", "battery life") and the index behind it."""
    match = longest(_attribute_tree(), [t.stem for t in tokens[index : index + 4]], 0)
    return (index + match[0], str(match[1][0])) if match else None


def _inside_model(tokens: Sequence[Token], start: int, end: int) -> bool:
    """ "Gel-KUMO": a word that a hyphen joins to a name is part of it."""
    return (
        end < len(tokens) and tokens[end].glue == "-" and tokens[end].capital and tokens[end].kind == "word"
    )


def _one_quality(tokens: Sequence[Token], index: int, taken: Collection[int]) -> bool:
    """Whether a word and the next are one: "vitamin C", "fragrance free" (but "free delivery", "free of lead")."""
    if index + 1 >= len(tokens) or tokens[index].kind != "word" or {index, index + 1} & set(taken):
        return False
    grammar = language().grammar
    word, following = tokens[index], tokens[index + 1]
    if word.word in grammar["lettered"] and len(following.word) == 1 and following.kind == "word":
        return following.capital or following.word not in ("i", "a", "o")
    if len(word.word) == 1 and word.word not in ("i", "a", "o") and following.word in grammar["shaped"]:
        return True  # "v neck"
    if following.word != "free" or following.glue or len(word.word) < 3:
        return False
    after = tokens[index + 2].word if index + 2 < len(tokens) else ""
    return word.word not in grammar["not_free"] and after not in grammar["free_of"]


def _stray_letter(token: Token) -> bool:
    """A single letter says nothing, but "G" of "Moto G" is a name."""
    return (
        len(token.word) == 1
        and token.kind == "word"
        and not (token.capital and token.word not in ("i", "a", "o"))
    )


def make_items(
    tokens: Sequence[Token],
    cues: Sequence[Cue],
    names: Sequence[NameSpan],
    amounts: Sequence[Amount],
    used: frozenset[int],
) -> tuple[Item, ...]:
    """Every token in exactly one item. Precedence: used, amounts, longer phrases, cues, names, words."""
    speech = language()
    taken: set[int] = set(used)
    starts: dict[int, Item] = {}

    def place(item: Item) -> None:
        span = range(item.start, item.end)
        if not taken.intersection(span):
            taken.update(span)
            starts[item.start] = item

    for amount in amounts:
        start = amount.start
        while start in taken and start < amount.end - 1:
            start += 1  # "change the size to 40": the words before the number belong to an act
        place(Item("amount", start, amount.end, amount.attribute, amount=amount))
    for index in range(len(tokens) - 1):
        if _one_quality(tokens, index, taken):
            words = f"{tokens[index].word} {tokens[index + 1].word}"
            place(Item("word", index, index + 2, words))
    spans: list[tuple[int, int, Item]] = []
    for cue in cues:
        classes = cue.classes - AMOUNT_CLASSES
        if classes:
            spans.append((cue.end - cue.start, 1, Item("cue", cue.start, cue.end, "", classes)))
        elif amounts and cue.classes & {"each", "all"}:
            spans.append((cue.end - cue.start, 1, Item("cue", cue.start, cue.end, "", frozenset({"skip"}))))
    for span in names:
        if _inside_model(tokens, span.start, span.end):
            continue
        weight = span.end - span.start + (_IDIOM_BONUS if span.names[0].kind == "idiom" else 0)
        spans.append((weight, 0, Item("name", span.start, span.end, "", names=span.names)))
    for index in range(len(tokens)):
        named = attribute_at(tokens, index) if tokens[index].kind == "word" else None
        if named is not None and named[0] - index > 1:
            spans.append((named[0] - index, 2, Item("attribute", index, named[0], named[1])))
    for _, _, item in sorted(spans, key=lambda entry: (-entry[0], -entry[1], entry[2].start)):
        place(item)
    items: list[Item] = []
    index = 0
    while index < len(tokens):
        placed = starts.get(index)
        if placed is not None:
            items.append(placed)
            index = placed.end
            continue
        token = tokens[index]
        if index in used:
            items.append(Item("used", index, index + 1))
        elif token.kind == "mark":
            items.append(Item("mark", index, index + 1, token.word))
        else:
            named = attribute_at(tokens, index)
            if named is not None and not taken.intersection(range(index, named[0])):
                items.append(Item("attribute", index, named[0], named[1]))
                index = named[0]
                continue
            if (
                items
                and token.glue in ("+", "-", "&")
                and items[-1].kind == "word"
                and items[-1].end == index
            ):
                items[-1] = items[-1]._replace(end=index + 1)  # "USB-C", "A5", "4K": one word
                index += 1
                continue
            following = tokens[index + 1] if index + 1 < len(tokens) else None
            compound = (
                following is not None
                and (following.glue in ("-", "&") or (following.glue == "+" and following.kind == "number"))
                and index + 1 not in taken
            )
            if (
                token.word == "non"
                and following is not None
                and following.word in speech.non_words
                and index + 1 not in taken
            ):
                items.append(Item("word", index, index + 2, f"non {following.word}"))
                index += 2
                continue
            kind = (
                "filler" if not compound and (token.word in speech.filler or _stray_letter(token)) else "word"
            )
            items.append(Item(kind, index, index + 1, token.word))
        index += 1
    return tuple(items)
