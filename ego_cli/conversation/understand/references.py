"""Which shown items words point at: "the second one", "the last two", "1 and 3", "that one", "the black one"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ego_cli.conversation.understand.acts import Target
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import stems_of
from ego_cli.conversation.understand.tokens import Token, fold, stem
from ego_cli.settings import load_toml

_NUMBERED = frozenset(
    ["number", "numbers", "no", "nos", "option", "options", "item", "items", "#", "choice", "position", "nr"]
)
_LAST = frozenset(["it", "that", "this", "them", "those", "these", "am", "dem", "em", "both"])
_ONES = frozenset(
    [
        "one",
        "ones",
        "option",
        "options",
        "item",
        "items",
        "product",
        "products",
        "choice",
        "result",
        "results",
        "suggestion",
        "own",
        "two",
        "three",
        "four",
    ]
)
_SMALL = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_EXTREMES = {
    "cheapest": ("price", -1), "dearest": ("price", 1), "priciest": ("price", 1), "lightest": ("weight", -1),
    "heaviest": ("weight", 1), "biggest": ("size", 1), "largest": ("size", 1), "smallest": ("size", -1), "best": ("rating", 1),
    "newest": ("age", -1), "longest": ("length", 1), "shortest": ("length", -1), "fastest": ("speed", 1),
}  # fmt: skip


@cache
def superlatives() -> Mapping[str, int]:
    """Words that ask for one end of a scale: +1 the most, -1 the least."""
    found: Mapping[str, int] = load_toml("acts.toml")["questions"]["superlatives"]
    return found


@cache
def of_word() -> Mapping[str, str]:
    """What a word by itself is about: "cheaper" -> price."""
    found: Mapping[str, str] = load_toml("acts.toml")["questions"]["of_word"]
    return found


_STOP = frozenset(
    [
        "to",
        "in",
        "for",
        "with",
        "into",
        "but",
        "please",
        "abeg",
        "and",
        "from",
        "inside",
        "at",
        "on",
        "if",
        "is",
        "are",
        "na",
        "be",
        "does",
        "has",
        "have",
        "get",
        "cost",
        "costs",
        "of",
        "or",
        "not",
        "no",
        "so",
        "because",
        "instead",
        "than",
        "already",
    ]
)


def read_target(
    tokens: Sequence[Token], start: int, context: Context, numbers: bool = False
) -> tuple[Target, int] | None:
    """The target that begins at ``start`` and the index behind it; ``numbers`` allows bare numbers ("compare 1 and 3")."""
    index = start
    if _word(tokens, index) in ("the", "your", "my", "all", "just", "only") and _word(tokens, index + 1):
        if tokens[index].word == "all" and _word(tokens, index + 1) in (
            "of",
            "these",
            "those",
            "them",
            "three",
            "four",
            "five",
            "the",
            "dem",
        ):
            return Target("all", words=_text(tokens, start, index + 3)), min(
                len(tokens), index + (3 if _word(tokens, index + 1) == "of" else 2)
            )
        index += 1
    narrowed = _word(tokens, start) == "only"  # "only black ones": a wish about all that comes
    shown_at = _word(tokens, start) in ("that", "this", "those", "these")
    found = (
        _ordinals(tokens, start, index + 1 if shown_at else index)
        or _numbers(tokens, start, index, numbers)
        or _extreme(tokens, start, index)
        or _whole(tokens, start)
        or (None if narrowed else _described(tokens, start, index, context))
        or (None if narrowed else _named(tokens, start, index, context))
        or _pronoun(tokens, start, context)
    )
    return found


def _word(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].word if 0 <= index < len(tokens) else ""


def _text(tokens: Sequence[Token], start: int, end: int) -> str:
    return " ".join(token.word for token in tokens[start:end])


def _ordinal_at(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """An ordinal and the index behind it; "2nd" comes as a number and a glued word."""
    ordinals = language().ordinals
    word = _word(tokens, index)
    if word in ordinals:
        return ordinals[word], index + 1
    if index + 1 < len(tokens) and tokens[index].kind == "number" and tokens[index + 1].glue == "+":
        joined = word + tokens[index + 1].word
        if joined in ordinals:
            return ordinals[joined], index + 2
    return None


def _ordinals(tokens: Sequence[Token], start: int, index: int) -> tuple[Target, int] | None:
    first = _ordinal_at(tokens, index)
    if first is None:
        return None
    position, index = first
    if _word(tokens, index) in _SMALL and _word(tokens, index) != "one" and position in (1, -1):
        number = _SMALL[tokens[index].word]
        many = tuple(range(1, number + 1)) if position == 1 else tuple(range(-number, 0))
        index += 1
        if _word(tokens, index) in _ONES:
            index += 1
        return Target("ordinal", many, _text(tokens, start, index)), index
    if (
        position in (1, -1)
        and index < len(tokens)
        and tokens[index].kind == "number"
        and (tokens[index].number or 0) <= 10
    ):
        number = int(tokens[index].number or 1)
        many = tuple(range(1, number + 1)) if position == 1 else tuple(range(-number, 0))
        return Target("ordinal", many, _text(tokens, start, index + 1)), index + 1
    if position == -1 and _word(tokens, index) in ("but",) and _word(tokens, index + 1) == "one":
        return Target("ordinal", (-2,), _text(tokens, start, index + 2)), index + 2
    if position == 2 and _word(tokens, index) == "hand":
        return None
    positions = [position]
    if _word(tokens, index) == "to" and _word(tokens, index + 1) == "last":
        index += 2
        positions = [-position]
    if _word(tokens, index) in _ONES:
        index += 1
    while _word(tokens, index) in (",", "and", "or", "&", "with", "plus"):
        ahead = index + 1
        while _word(tokens, ahead) in ("the", "and", "number"):
            ahead += 1
        following = _ordinal_at(tokens, ahead)
        if following is None:
            break
        positions.append(following[0])
        index = following[1]
        if _word(tokens, index) in _ONES:
            index += 1
    return Target("ordinal", tuple(positions), _text(tokens, start, index)), index


def _number_at(tokens: Sequence[Token], index: int) -> int | None:
    if index >= len(tokens):
        return None
    token = tokens[index]
    value = token.number if token.kind == "number" else language().number_words.get(token.word)
    if value is None or value != int(value) or not 1 <= value <= 50:
        return None
    behind = tokens[index + 1] if index + 1 < len(tokens) else None
    if behind is not None and behind.glue == "+" and behind.kind == "word":
        return None
    return int(value)


def _numbers(tokens: Sequence[Token], start: int, index: int, bare: bool) -> tuple[Target, int] | None:
    named = False
    while _word(tokens, index) in _NUMBERED:
        named = True
        index += 1
        if _word(tokens, index) == ".":
            index += 1
    if not named and not bare:
        return None
    number = _number_at(tokens, index)
    if number is None:
        return None
    if (
        not named
        and index + 1 < len(tokens)
        and tokens[index].kind == "word"
        and _word(tokens, index + 1) not in (",", "and", "or", "&", "with", "vs", "against", "to")
    ):
        return None
    positions = [number]
    index += 1
    while _word(tokens, index) in (",", "and", "or", "&", "with", "vs", "versus", "against", "to", "plus"):
        ahead = index + 1
        while _word(tokens, ahead) in _NUMBERED or _word(tokens, ahead) == "and":
            ahead += 1
        following = _number_at(tokens, ahead)
        if following is None:
            break
        positions.append(following)
        index = ahead + 1
    return Target("ordinal", tuple(positions), _text(tokens, start, index)), index


def _extreme(tokens: Sequence[Token], start: int, index: int) -> tuple[Target, int] | None:
    word = _word(tokens, index)
    if word == "most" and _word(tokens, index + 1) in ("expensive", "pricey", "costly"):
        end = index + 2 + (_word(tokens, index + 2) in _ONES)
        return Target("extreme", words="price", sign=1), end
    if word == "least" and _word(tokens, index + 1) in ("expensive", "pricey", "costly"):
        end = index + 2 + (_word(tokens, index + 2) in _ONES)
        return Target("extreme", words="price", sign=-1), end
    if word == "best" and _word(tokens, index + 1) in ("rated", "reviewed"):
        end = index + 2 + (_word(tokens, index + 2) in _ONES)
        return Target("extreme", words="rating", sign=1), end
    compared = superlatives().get(word, 0)
    if compared and word.endswith("er") and index > start and _word(tokens, index + 1) in ("one", "of"):
        of_which = of_word().get(word)
        end = index + 2
        if _word(tokens, index + 1) == "of":
            while _word(tokens, end) in ("the", "two", "them", "these", "those", "both", "three", "dem"):
                end += 1
        if of_which is not None:  # "the cheaper of the two"
            return Target("extreme", words=of_which, sign=compared), end
    if word in _EXTREMES and (index > start or _word(tokens, index + 1) in _ONES):
        attribute, sign = _EXTREMES[word]
        end = index + 1
        if _word(tokens, end) in _ONES:
            end += 1
        elif end < len(tokens) and tokens[end].kind == "word" and tokens[end].word not in _STOP:
            return None
        return Target("extreme", words=attribute, sign=sign), end
    return None


def _whole(tokens: Sequence[Token], start: int) -> tuple[Target, int] | None:
    word = _word(tokens, start)
    if word == "both":
        end = start + 1
        if _word(tokens, end) == "of":
            end += 2
        return Target("all", words=_text(tokens, start, end)), min(end, len(tokens))
    if word in ("all", "everything") and _word(tokens, start + 1) in ("", ".", "!", "to", "in", "?"):
        return Target("all", words=word), start + 1
    if (
        word in ("two", "three", "four")
        and _word(tokens, start + 1) == "of"
        and _word(tokens, start + 2) in _LAST
    ):
        return Target("last", words=_text(tokens, start + 2, start + 3)), start + 3
    return None


_LEAST = frozenset(["cheap", "light", "small"])
"""Behind "the one wey", with "pass" behind them: "the one wey cheap pass"."""


def _described(
    tokens: Sequence[Token], start: int, index: int, context: Context
) -> tuple[Target, int] | None:
    """ "the black one", "that leather one": describing words before "one"."""
    begin = index
    if _word(tokens, start) in ("that", "this", "those", "these"):
        begin = start + 1
    elif begin == start or _word(tokens, start) in ("only", "just"):
        return None  # "only vegan ones" sets a condition
    words: list[str] = []
    position = begin
    while position < len(tokens) and len(words) < 5:
        token = tokens[position]
        if token.word in ("one", "ones", "own") and words:
            return Target("attribute", words=" ".join(words)), position + 1
        if token.kind == "mark" or token.word in _STOP:
            break
        words.append(token.word)
        position += 1
    if (
        _word(tokens, begin) in ("one", "ones")
        and begin > start
        and _word(tokens, begin + 1) in ("with", "in", "wey", "that", "by", "from")
    ):
        behind = begin + 2
        if _word(tokens, behind) in ("has", "have", "get", "is", "be", "the", "a", "dey"):
            behind += 1
        end = behind
        while (
            end < len(tokens)
            and tokens[end].kind != "mark"
            and tokens[end].word not in ("and", "to", "please", "abeg", "is")
            and end - behind < 4
        ):
            end += 1
        of_which = of_word().get(_word(tokens, behind))
        if of_which is not None and end == behind + 2 and _word(tokens, end - 1) == "pass":
            return Target(
                "extreme", words=of_which, sign=1 if _word(tokens, behind) not in _LEAST else -1
            ), end
        sign = superlatives().get(_word(tokens, behind), 0)
        if sign and end > behind + 1:
            return Target("extreme", words=_text(tokens, behind + 1, end), sign=sign), end
        if end > behind and tokens[behind].kind == "word":
            return Target("attribute", words=_text(tokens, behind, end)), end
    return None


def _named(tokens: Sequence[Token], start: int, index: int, context: Context) -> tuple[Target, int] | None:
    """Words that stand in a shown title: "the Acer", "the suede boots"."""
    if not context.shown:
        return None
    titles = [frozenset(_title_stems(title)) for title in (*context.shown, *context.basket)]
    words: list[str] = []
    position = index
    while position < len(tokens) and len(words) < 8:
        token = tokens[position]
        if (token.kind == "mark" and token.word not in ("-", "&")) or token.word in _STOP:
            break
        wanted = frozenset([*words, token.stem])
        if not any(wanted <= title for title in titles):
            break
        words.append(token.stem)
        position += 1
    content = [w for w in words if w not in language().filler]
    if not content:
        return None
    behind = position
    if _word(tokens, behind) in ("one", "ones"):
        behind += 1
    return Target("name", words=_text(tokens, index, position)), behind


def _title_stems(title: str) -> list[str]:
    return [*stems_of(title), *(stem(fold(word)) for word in title.split())]


def _pronoun(tokens: Sequence[Token], start: int, context: Context) -> tuple[Target, int] | None:
    word = _word(tokens, start)
    if (
        word == "the"
        and _word(tokens, start + 1) in ("one", "ones")
        and _word(tokens, start + 2) in ("", ".", "!", "?")
    ):
        return Target("last", words="the one"), start + 2
    if word not in _LAST:
        return None
    end = start + 1
    types = {stem for category in context.categories for stem in stems_of(category)}
    if word in ("that", "this", "these", "those") and end < len(tokens) and tokens[end].stem in types:
        end += 1  # "this phone" where phones are looked for
    elif (
        word in ("that", "this", "these", "those")
        and _word(tokens, end)
        in (
            "model",
            "version",
            "pair",
            "product",
            "item",
            "brand",
            "style",
            "type",
        )
    ) or (
        _word(tokens, end) in ("one", "ones", "two", "pair")
        and not (_word(tokens, end) == "two" and word in ("it", "am"))
    ):
        end += 1
    elif (
        word in ("that", "this", "these", "those")
        and end < len(tokens)
        and tokens[end].kind == "word"
        and tokens[end].word not in _STOP
        and tokens[end].word not in ("too", "now", "also", "one", "instead", "then", "again")
    ):
        return None
    return Target("last", words=_text(tokens, start, end)), end
