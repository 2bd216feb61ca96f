"""Sayings by which a shopper takes back what she said, read by composition and not as fixed phrases.

"Forget what I asked for at first", "scrap my first idea", "I've had a change of heart", "make you comot wetin I talk before":
a word of dropping with something that was said or thought as its object, a mind that changed, or a mistake of hers. The
closed word classes stand in ``dialogue.toml``. What is wanted instead is read by the later passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ego_cli.conversation.understand.acts import Act, Kind
from ego_cli.conversation.understand.items import attribute_at
from ego_cli.conversation.understand.language import Tree, longest, plant
from ego_cli.conversation.understand.page import Page
from ego_cli.settings import load_toml

_AUXILIARIES = 4  # words between the speaker and the verb of speaking: "I have only just"
_TAKEN_BACK = Act(Kind.OVERRIDE, note="strong")
_NAMED = 4  # words of a value that is dropped by name: "forget the faux leather idea"


@cache
def _classes() -> Mapping[str, frozenset[str]]:
    return {
        name: frozenset(words)
        for name, words in load_toml("dialogue.toml")["retraction"].items()
        if name not in ("drops", "changes")
    }


@cache
def _phrases(name: str) -> Tree:
    tree: Tree = {}
    for phrase in load_toml("dialogue.toml")["retraction"][name]:
        plant(tree, phrase.split(), name)
    return tree


def take_back(page: Page) -> None:
    """Emit one strong override for each saying that takes something back."""
    words = [token.word for token in page.tokens]
    index = 0
    while index < len(words):
        end = None if _negated(words, index) else _saying(page, words, index)
        index = max(end or 0, index + 1)


def _negated(words: Sequence[str], index: int) -> bool:
    """ "Don't forget the pockets", Pidgin "no forget"; the "no" of "no, scratch what I said" only answers."""
    if index == 0 or words[index - 1] not in _classes()["negators"]:
        return False
    return words[index - 1] != "no" or words[index] in _classes()["kept"]


def _saying(page: Page, words: Sequence[str], index: int) -> int | None:
    dropped = longest(_phrases("drops"), words, index)
    if dropped is not None:
        end = _thing_said(words, dropped[0])
        if end is not None and end < len(words) and words[end] == "about":
            return _named(page, words, index, end + 1) or page.emit(index, end, _TAKEN_BACK)
        if end is not None:
            return page.emit(index, end, _TAKEN_BACK)
        if (end := _all_of_it(words, index, dropped[0])) is not None:
            return page.emit(index, end, _TAKEN_BACK)
        if (end := _value_dropped(page, words, index, dropped[0])) is not None:
            return end
    changed = longest(_phrases("changes"), words, index)
    if changed is not None and not _about_memory(words, index, changed[0]):
        return page.emit(index, changed[0], _TAKEN_BACK)
    end = _mind_changed(words, index)
    if end is not None and end < len(words) and words[end] in ("about", "on"):
        place = _skip(words, end + 1, _classes()["determiners"])
        if attribute_at(page.tokens, place) is not None:
            return None  # "changed my mind about the colour": only that goes
        return _named(page, words, index, end + 1) or page.emit(index, place, _TAKEN_BACK)
    end = end or _mistaken(words, index)
    if end is None and (thing := _thing_said(words, index)) is not None:
        end = _void(words, thing)
    return page.emit(index, end, _TAKEN_BACK) if end else None


def _all_of_it(words: Sequence[str], start: int, index: int) -> int | None:
    """ "Scratch all that", "forget all of it": everything goes where nothing is named behind."""
    end = _skip(words, index, _classes()["determiners"])
    classes, between = _classes(), set(words[index:end])
    if not classes["wholes"] & between or not classes["pointers"] & between:
        return None
    if words[start] in classes["negators"] | classes["trades"]:
        return None
    ends = end == len(words) or not words[end].isalnum() or words[end] in classes["boundaries"]
    return end if ends else None


def _about_memory(words: Sequence[str], start: int, end: int) -> bool:
    """ "Forget that I avoid wool": memory is meant, unless it goes on as "that I asked for"."""
    told = end < len(words) and words[start] == "forget" and words[end] in ("i", "my")
    return told and _clause_said(words, end, bare=True) is None


def _skip(words: Sequence[str], index: int, kinds: frozenset[str]) -> int:
    while index < len(words) and words[index] in kinds:
        index += 1
    return index


def _thing_said(words: Sequence[str], index: int) -> int | None:
    """The end of "(all of) what I told you before" or "(about) my first idea" that begins at ``index``."""
    classes = _classes()
    place = _skip(words, index, classes["determiners"])
    said = _clause_said(words, place)
    if said is not None:
        return said
    owned = bool(classes["owners"] & set(words[index:place]))
    noun = _skip(words, place, classes["earlier"])
    if noun >= len(words):
        return None
    earlier = noun > place
    if words[noun] in classes["ideas"] and (earlier or owned):
        return _clause_said(words, noun + 1, bare=True) or _skip(words, noun + 1, classes["trail"])
    if words[noun] in classes["vague"]:
        told = _clause_said(words, noun + 1, bare=True)
        return told or (_skip(words, noun + 1, classes["trail"]) if earlier else None)
    return None


def _clause_said(words: Sequence[str], index: int, *, bare: bool = False) -> int | None:
    """ "What I asked for earlier"; ``bare``: "(the thing) I asked for", with no word of its own in front."""
    classes = _classes()
    begin = _skip(words, index, classes["what"])
    if begin == index and not bare:
        return None
    if begin >= len(words) or words[begin] not in classes["speakers"]:
        return None
    verb = begin + 1
    while verb < min(len(words), begin + 1 + _AUXILIARIES) and words[verb] in classes["auxiliaries"]:
        verb += 1
    if verb >= len(words) or words[verb] not in classes["said"]:
        return None
    return _skip(words, verb + 1, classes["trail"])


def _named(page: Page, words: Sequence[str], start: int, index: int) -> int | None:
    """ "Forget what I said about the leather": the value that goes."""
    begin = _skip(words, index, _classes()["determiners"])
    end = begin
    while (
        end < min(len(words), begin + _NAMED)
        and page.tokens[end].kind == "word"
        and words[end] not in _classes()["boundaries"]
    ):
        end += 1
    return (
        page.emit(start, end, Act(Kind.OVERRIDE, value=" ".join(words[begin:end]))) if end > begin else None
    )


def _value_dropped(page: Page, words: Sequence[str], start: int, index: int) -> int | None:
    """ "Forget the leather idea", "drop the zip that I asked for": the value that goes is named."""
    classes = _classes()
    begin = _skip(words, index, classes["determiners"])
    if begin == index:
        return None
    for end in range(begin + 1, min(len(words), begin + _NAMED + 1)):
        if page.tokens[end - 1].kind != "word" or words[end - 1] in classes["boundaries"]:
            return None
        stop = (
            end + 1
            if end < len(words) and words[end] in classes["ideas"]
            else _clause_said(words, end, bare=True)
        )
        if stop is not None:
            stop = _clause_said(words, stop, bare=True) or stop
            return page.emit(start, stop, Act(Kind.OVERRIDE, value=" ".join(words[begin:end])))
    return None


def _mind_changed(words: Sequence[str], index: int) -> int | None:
    """ "My mind has changed", "I am changing my mind", "a change of plan", "new plan"."""
    classes = _classes()
    for one, other in (("changing", "minds"), ("minds", "changing")):
        if words[index] not in classes[one]:
            continue
        end = _skip(words, index + 1, classes["between"])
        if end < len(words) and words[end] in classes[other]:
            return end + 1
    return None


def _mistaken(words: Sequence[str], index: int) -> int | None:
    """ "I told you the wrong thing", "I got it mixed up", "na mistake I make"."""
    classes = _classes()
    if words[index] not in classes["speakers"]:
        return None
    end = _skip(
        words,
        index + 1,
        classes["auxiliaries"] | classes["said"] | classes["erring"] | classes["determiners"],
    )
    if (
        end >= len(words)
        or words[end] not in classes["wrong"]
        or (end == index + 1 and words[end] == "wrong")
    ):
        return None
    return _skip(words, end + 1, classes["ideas"] | classes["vague"] | classes["trail"])


def _void(words: Sequence[str], index: int) -> int | None:
    """ "(What I asked for) no longer counts", "is off the table": what is said of a thing that is taken back."""
    classes = _classes()
    end = _skip(words, index, classes["auxiliaries"] | classes["voiding"])
    if classes["over"] & set(words[index:end]):
        return end
    if end == index or end >= len(words) or words[end] not in classes["void"]:
        return None
    return _skip(words, end + 1, classes["trail"] | classes["voiding"])
