"""Wishes against what was shown ("lighter", "better battery life") and complaints, which are wishes too ("too heavy")."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ego_cli.conversation.understand.acts import Act, Kind, Target
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.items import attribute_at
from ego_cli.conversation.understand.language import Tree, language, longest, plant
from ego_cli.conversation.understand.lexicon import NameSpan, stems_of
from ego_cli.conversation.understand.patterns import Found, with_words
from ego_cli.conversation.understand.references import read_target
from ego_cli.conversation.understand.tokens import Token

_LAST = Target("last", words="it")
_BREAK = frozenset(
    [
        "than",
        "for",
        "with",
        "and",
        "or",
        "but",
        "in",
        "on",
        "please",
        "that",
        "which",
        "to",
        "if",
        "from",
        "is",
        "are",
        "wey",
        "abeg",
        "come",
        "at",
        "than",
        "so",
        "because",
        "as",
        "one",
        "ones",
        "option",
        "options",
        "i",
        "you",
        "too",
        "also",
        "say",
        "under",
        "below",
        "instead",
        "maybe",
        "then",
        "while",
        "when",
        "not",
        "no",
    ]
)
_OPEN_NOUN = frozenset(
    [
        "better",
        "greater",
        "longer",
        "bigger",
        "larger",
        "smaller",
        "higher",
        "lower",
        "stronger",
        "faster",
        "quicker",
        "more",
        "less",
        "shorter",
        "wider",
        "improved",
        "thicker",
        "thinner",
        "softer",
        "lighter",
        "heavier",
        "darker",
        "brighter",
        "nicer",
        "easier",
        "extra",
        "additional",
        "deeper",
        "smoother",
        "warmer",
        "cleaner",
        "clearer",
        "less frequent",
        "more frequent",
        "lighter coloured",
        "darker coloured",
        "lighter colour",
        "darker colour",
    ]
)


@lru_cache(maxsize=1)
def _trees() -> tuple[Tree, Tree, Tree, Tree]:
    names = language().names
    comparatives: Tree = {}
    for phrase, meaning in names["comparatives"].items():
        plant(comparatives, phrase.split(), (phrase, meaning[0], int(meaning[1])))
    complaints: Tree = {}
    for phrase, meaning in names["complaints"].items():
        plant(complaints, phrase.split(), (phrase, *meaning))
    bad: Tree = {}
    for phrase in names["bad"]["words"]:
        plant(bad, phrase.split(), phrase)
    lacks: Tree = {}
    for phrase in names["bad"]["lacks"]:
        plant(lacks, phrase.split(), phrase)
    return comparatives, complaints, bad, lacks


def find_relative(
    text: str,
    tokens: Sequence[Token],
    names: Sequence[NameSpan],
    taken: frozenset[int],
    context: Context,
) -> Found:
    """Relative wishes and complaints outside the tokens that are ``taken`` already."""
    words = [token.word for token in tokens]
    comparatives, complaints, bad, _ = _trees()
    acts: list[Act] = []
    used: set[int] = set()
    products = {
        i
        for span in names
        for i in range(span.start, span.end)
        if any(n.kind == "product" for n in span.names)
    }

    def emit(start: int, end: int, act: Act) -> None:
        acts.append(with_words(act, text, tokens[start].start, tokens[end - 1].end))
        used.update(range(start, end))

    index = 0
    while index < len(tokens):
        if index in taken:
            index += 1
            continue
        end = (
            _complaint(words, index, complaints, context, emit, products)
            or _rubbish(tokens, words, index, bad, context, emit, taken)
            or _enough(tokens, words, index, complaints, context, emit)
            or _comparative(tokens, words, index, comparatives, context, emit, products, taken)
        )
        index = end or index + 1
    return Found(tuple(acts), frozenset(used))


def _complaint(
    words: list[str], index: int, tree: Tree, context: Context, emit: Any, products: set[int]
) -> int | None:
    """ "too heavy", "e too cost", "a bit too big for me"."""
    if words[index] not in ("too", "very", "so") or index + 1 >= len(words):
        return None
    before = words[max(0, index - 3) : index]
    if {"not", "no", "never", "without", "nothing", "avoid"} & set(before):
        return None
    match = longest(tree, words, index + 1)
    if match is None:
        return None
    end, meanings = match
    if end in products and words[index] != "too":
        return None
    if words[index] in ("very", "so") and not (
        context.shown and {"is", "are", "it", "that", "this", "they", "looks", "e"} & set(before)
    ):
        return None
    phrase, attribute, sign, wish = meanings[0]
    if (
        not context.shown
        and not {"is", "are", "it", "that", "this", "they", "e", "looks", "am", "be", "na"} & set(before)
        and index > 0
    ):
        return None
    if (
        phrase in ("much", "high", "hard", "little")
        and end < len(words)
        and words[end] not in ("for", ".", ",", "!", "abeg", "o", "money", "and", "now", "?", "please")
    ):
        return None
    if (
        end < len(words)
        and words[end] in ("for", "and", "to")
        and words[end + 1 : end + 2] in (["me"], ["us"])
    ):
        end += 2
    emit(
        index,
        end,
        Act(
            Kind.RELATIVE,
            attribute=attribute,
            value=wish,
            number=float(sign),
            target=_LAST if context.shown else None,
            note="complaint",
        ),
    )
    if context.shown:
        emit(index, end, Act(Kind.REJECT, target=_LAST, note="complaint"))
    return end


def _rubbish(
    tokens: Sequence[Token],
    words: list[str],
    index: int,
    tree: Tree,
    context: Context,
    emit: Any,
    taken: frozenset[int],
) -> int | None:
    """ "the battery is rubbish", "battery life sucks", "the sound no good"."""
    if words[index] in ("is", "are", "was", "seems", "looks", "sounds", "dey", "be"):
        match = longest(tree, words, index + 1)
    else:
        match = longest(tree, words, index) if index and words[index] in ("sucks", "no", "not") else None
    if match is None or not context.shown:
        return None
    begin = index
    while (
        begin > 0
        and tokens[begin - 1].kind == "word"
        and words[begin - 1]
        not in (
            "the",
            "its",
            "it",
            "that",
            "this",
            "a",
            "and",
            "but",
            "because",
            "your",
            "their",
            "think",
            "i",
        )
        and index - begin < 4
        and (begin - 1) not in taken
    ):
        begin -= 1
    noun = " ".join(words[begin:index])
    end = match[0]
    if (
        not noun
        or noun in ("one", "ones", "they", "these", "those")
        or all(w in language().filler for w in noun.split())
    ):
        if noun or (begin and words[begin - 1] in ("it", "that", "this", "they")):
            emit(begin, end, Act(Kind.REJECT, target=_LAST, note="complaint"))
            return end
        return None
    emit(
        begin,
        end,
        Act(
            Kind.RELATIVE, attribute=noun, value=f"better {noun}", number=1.0, target=_LAST, note="complaint"
        ),
    )
    emit(begin, end, Act(Kind.REJECT, target=_LAST, note="complaint"))
    return end


def _enough(
    tokens: Sequence[Token], words: list[str], index: int, tree: Tree, context: Context, emit: Any
) -> int | None:
    """ "not light enough", "I am not sure that is big enough", "do not give me enough support"."""
    if index + 1 >= len(words) or words[index + 1] != "enough":
        return None
    before = words[max(0, index - 8) : index]
    if not {"not", "no", "never", "hardly", "nor"} & set(before):
        return None
    match = longest(tree, words, index)
    if match is None or match[0] != index + 1:
        emit(
            index,
            index + 2,
            Act(
                Kind.RELATIVE,
                attribute=words[index],
                value=f"more {words[index]}",
                number=1.0,
                target=_LAST if context.shown else None,
                note="complaint",
            ),
        )
        return index + 2
    phrase, attribute, sign, _ = match[1][0]
    value = _er(phrase)
    emit(
        index,
        index + 2,
        Act(
            Kind.RELATIVE,
            attribute=attribute,
            value=value,
            number=float(-sign),
            target=_LAST if context.shown else None,
            note="complaint",
        ),
    )
    return index + 2


def _er(adjective: str) -> str:
    if len(adjective) > 6:
        return f"more {adjective}"
    if adjective.endswith("e"):
        return adjective + "r"
    if len(adjective) == 3 and adjective[-1] not in "wyx" and adjective[-2] in "aeiou":
        return adjective + adjective[-1] + "er"
    return (adjective[:-1] + "ier") if adjective.endswith("y") else adjective + "er"


def _comparative(
    tokens: Sequence[Token],
    words: list[str],
    index: int,
    tree: Tree,
    context: Context,
    emit: Any,
    products: set[int],
    taken: frozenset[int],
) -> int | None:
    match = longest(tree, words, index)
    head, attribute, sign = "", "", 0
    end = index
    if match is not None:
        end, meanings = match
        head, attribute, sign = meanings[0]
        if head == "better" and not _wished(words, index):
            return None
    elif words[index] in ("more", "less") and index + 1 < len(words) and tokens[index + 1].kind == "word":
        following = words[index + 1]
        filler = language().filler
        adjective = following in language().names["adjectives"]["names"] or following.endswith(
            ("able", "ible", "ive", "ful", "ish", "ous", "ed", "ic", "ant", "ent", "ly", "al")
        )
        if (
            following
            in (
                "suited",
                "suitable",
                "than",
                "or",
                "about",
                "of",
                "options",
                "like",
                "info",
                "information",
                "details",
            )
            or following in filler
            and following not in ("suitable", "important")
        ):
            return None
        if (
            (index + 1) in products
            or words[index - 1 : index]
            in (["or"], ["and"], ["any"], ["show"], ["no"], ["see"], ["me"], ["some"], ["has"], ["have"])
            and not adjective
            and not context.shown
        ):
            return None
        head, attribute, sign = words[index], "", 1 if words[index] == "more" else -1
    elif (
        context.shown
        and words[index].endswith("er")
        and len(words[index]) > 5
        and words[index] not in _NOT_COMPARATIVE
        and _wished(words, index)
        and index not in products
        and words[index][:-2] in language().english
    ):
        end, head, attribute, sign = index + 1, words[index], words[index], 1
    else:
        return None
    if any(i in taken for i in range(index, max(end, index + 1))):
        return None
    end = max(end, index + 1)
    if words[end : end + 1] == ["than"] and end + 1 < len(tokens):
        if tokens[end + 1].kind == "number":
            return None
        found = read_target(tokens, end + 1, context, numbers=True)
        behind = found[1] if found else min(len(tokens), end + 1)
        target = found[0] if found else (_LAST if context.shown else None)
        emit(
            index,
            behind,
            Act(Kind.RELATIVE, attribute=attribute or head, value=head, number=float(sign), target=target),
        )
        return behind
    noun_end = end
    if head in _OPEN_NOUN or not attribute:
        while (
            noun_end < len(words)
            and noun_end - end < 4
            and tokens[noun_end].kind == "word"
            and words[noun_end] not in _BREAK
            and noun_end not in taken
        ):
            if (
                noun_end in products
                and _is_main(tokens, words, noun_end, context)
                and attribute_at(tokens, noun_end) is None
                and not _part_of_shown(words, index, noun_end, tokens, context)
            ):
                break
            noun_end += 1
    noun = [w for w in words[end:noun_end]]
    if not attribute and not noun:
        return None
    if end < len(tokens) and tokens[end].kind == "number" and not noun:
        return None
    value = " ".join([head, *noun])
    if noun and not (attribute == "price"):
        attribute = (
            " ".join(noun)
            if head not in ("lighter", "heavier") or noun[0] not in ("framed", "weight", "frame")
            else attribute
        )
        if head in ("lighter coloured", "darker coloured", "lighter colour", "darker colour"):
            attribute = "colour"
    if head in ("lighter", "heavier") and not noun:
        attribute = "weight"
    emit(
        index,
        noun_end,
        Act(
            Kind.RELATIVE,
            attribute=attribute,
            value=value,
            number=float(sign),
            target=_LAST if context.shown else None,
        ),
    )
    return noun_end


def _part_of_shown(
    words: list[str], index: int, noun: int, tokens: Sequence[Token], context: Context
) -> bool:
    """ "with a longer cable": the noun is a part of what is looked for, not another product."""
    types = {stem for category in context.categories for stem in stems_of(category)}
    if not types or tokens[noun].stem in types:
        return False
    return bool({"with", "has", "have", "get", "having", "that"} & set(words[max(0, index - 3) : index]))


def _is_main(tokens: Sequence[Token], words: list[str], index: int, context: Context) -> bool:
    """A product noun that the wish is about ("a lighter laptop"), not a part of one ("smaller wheels")."""
    return tokens[index].stem not in language().names["parts"]["names"]


def _wished(words: list[str], index: int) -> bool:
    """ "better" is a wish after a verb of wanting or with its noun, not in "I like this one better" or "that is better"."""
    before = words[max(0, index - 2) : index]
    if index + 1 < len(words) and words[index + 1] in ("than", "."):
        return words[index + 1] == "than"
    return (
        index + 1 < len(words)
        and words[index + 1] not in ("if", "one", "to", ",", "!")
        and before[-1:] not in (["is"], ["are"], ["one"], ["looks"], ["much"])
    )


_NOT_COMPARATIVE = frozenset(
    [
        "water",
        "number",
        "paper",
        "power",
        "order",
        "under",
        "other",
        "another",
        "either",
        "rather",
        "together",
        "leather",
        "silver",
        "computer",
        "charger",
        "printer",
        "player",
        "speaker",
        "monitor",
        "cover",
        "rubber",
        "filter",
        "remember",
        "corner",
        "center",
        "summer",
        "winter",
        "weather",
        "however",
        "whether",
        "never",
        "after",
        "tracker",
        "holder",
        "cleaner",
        "recorder",
        "master",
        "browser",
        "processor",
        "server",
        "timer",
        "counter",
        "customer",
        "reminder",
        "folder",
        "shower",
        "roller",
        "trainer",
        "runner",
        "zipper",
        "slipper",
        "beginner",
        "lover",
        "user",
        "member",
        "mother",
        "father",
        "brother",
        "sister",
        "daughter",
        "offer",
        "deliver",
        "consider",
        "prefer",
        "transfer",
        "whatever",
        "wherever",
        "forever",
        "dinner",
        "manner",
        "matter",
        "letter",
        "butter",
        "pepper",
        "finger",
        "shoulder",
        "trigger",
        "answer",
        "register",
        "september",
        "october",
        "november",
        "december",
        "buyer",
        "seller",
        "designer",
        "maker",
        "freezer",
        "cooker",
        "fryer",
        "mixer",
        "blender",
        "toaster",
        "heater",
        "cooler",
        "dryer",
        "washer",
        "hanger",
        "planter",
        "dresser",
        "drawer",
        "mirror",
        "ladder",
        "hammer",
        "scooter",
        "stroller",
        "carrier",
        "container",
        "dispenser",
        "sticker",
        "marker",
        "poster",
        "layer",
        "tower",
        "flower",
        "trouser",
        "sweater",
        "jumper",
        "blazer",
        "boxer",
        "loafer",
        "sneaker",
        "stapler",
        "helper",
        "polyester",
        "amber",
        "copper",
        "lavender",
        "ginger",
        "moisturizer",
        "cleanser",
        "toner",
        "powder",
        "conditioner",
        "straightener",
    ]
)
