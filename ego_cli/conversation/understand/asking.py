"""Questions: about shown items ("which has the longest battery?", "does it come in red?"), and about the shop.

Functions as in ``talk.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from ego_cli.conversation.understand.acts import Act, Kind, Target
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import stems_of
from ego_cli.conversation.understand.page import Page
from ego_cli.conversation.understand.pattern import Pattern
from ego_cli.conversation.understand.references import read_target
from ego_cli.conversation.understand.tokens import Token
from ego_cli.settings import load_toml

_LAST = Target("last", words="it")


@cache
def _table() -> Any:
    """The table ``[questions]`` of ``acts.toml``."""
    return load_toml("acts.toml")["questions"]


# --- about shown items ---------------------------------------------------------------------------------------------------


def question(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """ "Which of these is lightest?", "is the second waterproof?": the quality asked about and the items it is asked of."""
    if page.word(start - 1) == "make":
        return None  # "make e be Infinix": a wish
    stop = _end(page, end)
    if pattern.note == "how quality" and not (end + 1 < stop and page.word(end + 1) in _table()["verbs"]):
        return None
    if pattern.note == "target first":
        found = read_target(page.tokens, end, page.context)
        if found is None or found[0].how == "name":
            return None
    said = set(page.words(start, stop))
    if "in" in page.words(end, stop) and said & set(_table()["coming"]):
        return None  # "does the strap come in brown?": read where "come in" stands
    act = _read(page, start, end, stop)
    return None if act is None else page.emit(start, stop, act)


def _end(page: Page, index: int) -> int:
    """A question ends with its clause or where the next one begins ("…, and how many reviews?")."""
    stop = page.clause_end(index)
    openers = set(_table()["words"])
    for place in range(index, stop):
        if page.word(place) in (",", "and") and openers & set(page.words(place + 1, place + 3)):
            return place
    return stop


def _read(page: Page, start: int, begin: int, end: int) -> Act | None:
    opener = page.phrase(start, begin)
    target: Target | None = None
    index = begin
    if opener in _table()["before_item"]:
        at = begin - 1 if page.word(begin - 1) == "the" else begin
        found = read_target(page.tokens, at, page.context, numbers=at == begin)
        if found is not None:
            target, index = found
    quality: list[Token] = []
    sign = 0
    while index < end:
        found = (
            read_target(page.tokens, index, page.context) if target is None or target.how == "last" else None
        )
        if found is not None and _points(page, found[0], index):
            if target is None or found[0].how != "last":
                target = found[0]
            index = found[1]
            continue
        token = page.tokens[index]
        sign = sign or _table()["superlatives"].get(token.word, 0)
        if _says_quality(token):
            quality.append(token)
        index += 1
    attribute = _attribute(opener, quality)
    if attribute == "rating" and "which" in opener and opener in _table()["fixed"]:
        sign = 1  # "which one would you pick?"
    if attribute is None:
        return None
    choosing = opener.split()[0] in ("which", "what", "wey") or "which" in opener
    if target is None and not choosing:
        target = _LAST
    words = _joined(quality)
    return Act(Kind.ASK, attribute, value=words or None, number=float(sign) if sign else None, target=target)


def _points(page: Page, target: Target, index: int) -> bool:
    """Whether words inside a question point at an item, and do not say what is asked about."""
    if target.how == "extreme":
        return False
    definite = page.word(index) in ("the", "that", "this") or page.word(index - 1) in _table()["before_name"]
    return target.how != "name" or definite


def _says_quality(token: Token) -> bool:
    if token.kind == "number":
        return True
    if token.word in _table()["superlatives"]:
        return token.word in _table()["of_word"]
    return token.kind == "word" and token.word not in _table()["padding"]


def _attribute(opener: str, quality: Sequence[Token]) -> str | None:
    """What is asked about: an attribute of ``names.toml`` where the words name one, else the words."""
    words = [token.word for token in quality]
    if "how much" in opener:
        return (
            "price"
            if all(word in ("cost", "costs", "price") for word in words)
            else _named(quality) or "price"
        )
    if opener == "how long":
        battery = not quality or {"battery", "charge", "last", "lasts"} & set(words)
        return "battery" if battery else "length"
    fixed = _table()["fixed"].get(opener)
    if fixed is not None:
        return str(fixed)
    if not quality:
        return "details" if opener in _table()["details"] else None
    return _named(quality) or _joined(quality)


def _joined(tokens: Sequence[Token]) -> str:
    """The words as they were typed: "5g" stays one."""
    return "".join(f"{'' if token.glue == '+' else ' '}{token.word}" for token in tokens).strip()


def _named(quality: Sequence[Token]) -> str | None:
    said = f" {' '.join(token.stem for token in quality)} "
    best = ("", "")
    for attribute, phrases in language().names["attributes"].items():
        for phrase in phrases:
            key = " ".join(stems_of(phrase))
            if f" {key} " in said and len(key) > len(best[0]):
                best = (key, attribute)
    if best[1]:
        return best[1]
    return next((_table()["of_word"][t.word] for t in quality if t.word in _table()["of_word"]), None)


def available(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """ "Does it come in black?": asked of the item; the colour itself is read as a wish behind."""
    begin = page.clause_start(start)
    found = read_target(page.tokens, begin, page.context) if begin < start else None
    behind = page.tokens[end : page.clause_end(end)]
    sized = any(t.word == "size" for t in behind) or any(t.kind == "number" for t in behind[:3])
    verbs = [i for i in range(begin, start) if page.word(i) in _table()["asking"]]
    act = Act(pattern.kind, "size" if sized else "colour", target=found[0] if found else _LAST)
    return page.emit(verbs[-1] if verbs else start, end, act)


def behind(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """ "The last one na how much?": the item stands before the question."""
    begin = page.clause_start(start)
    if begin == start or not page.is_tail(end):
        return None
    found = read_target(page.tokens, begin, page.context)
    if found is None or not start - 1 <= found[1] <= start:
        return None
    return page.emit(begin, end, Act(pattern.kind, "price", target=found[0]))


def question_behind(page: Page, target: Target, start: int, end: int) -> Act | None:
    """ "The second one get 5G?", "number 1 dey waterproof?": a verb behind the item and a question mark at the end."""
    if page.word(end) != "?" or start >= end or page.word(start) not in _table()["telling"]:
        return None
    if "," in page.words(start, end):
        return None
    quality = [token for token in page.tokens[start + 1 : end] if _says_quality(token)]
    attribute = _attribute("", quality)
    words = _joined(quality)
    return Act(Kind.ASK, attribute, value=words, target=target) if attribute is not None else None


# --- about the shop ------------------------------------------------------------------------------------------------------


@cache
def _topics() -> dict[str, str]:
    table = load_toml("acts.toml")["shop_topics"]
    return {word: topic for topic, words in table.items() for word in words}


def ask_about_shop(page: Page, products: Collection[int]) -> None:
    """ "How long does shipping take?": a question with a topic of the shop and no product in it."""
    for begin, end in page.clauses():
        topic = next((_topics()[word] for word in page.words(begin, end) if word in _topics()), None)
        if (
            topic is None
            or end - begin < 2
            or any(i in page.used or i in products for i in range(begin, end))
        ):
            continue
        if page.word(end) == "?" or _asks(page, begin, end):
            page.emit(begin, end, Act(Kind.SHOP_QUESTION, topic))


def _asks(page: Page, begin: int, end: int) -> bool:
    """Whether a clause without a question mark opens like a question, and not with "I can …"."""
    padding = language().grammar["openers"] - set(_table()["words"]) - {"i", "una"}
    first = next((word for word in page.words(begin, end) if word not in padding), "")
    return first in _table()["words"] or first in ("una", "where", "when")
