"""Whether a negated list goes on: "no leather, suede or plastic" does, "no heels, red dress" and "no lag and good sound" do not."""

from __future__ import annotations

from collections.abc import Sequence

from ego_cli.conversation.understand.items import Item
from ego_cli.conversation.understand.language import language

SENTENCE_ENDS = frozenset([".", "!", "?", ";", "\n", "…", "..."])
_CONTENT = frozenset(["name", "word", "attribute"])
_ITEM_WIDTH = 2  # a longer item of a list is a phrase of its own


def goes_on_after_comma(items: Sequence[Item], position: int, last: Item | None) -> bool:
    """Behind the comma at ``position``: items of the kind of ``last`` up to an "or", or bare words to the end."""
    place = _next_content(items, position)
    if place is None:
        ahead = items[position + 1] if position + 1 < len(items) else None
        return ahead is not None and ahead.kind == "cue" and "or" in ahead.classes
    if items[position + 1].kind == "filler" or not _same_kind(items, place, last):
        return False
    first = items[place]
    closed, width = False, 0
    for item in items[position + 1 :]:
        if item.kind in _CONTENT:
            width += 1
            if width > _ITEM_WIDTH:
                return closed
        elif item.kind == "mark" and item.value not in SENTENCE_ENDS:
            width = 0
        elif item.kind == "cue" and item.classes & {"or", "and"}:
            closed = closed or "or" in item.classes or not _is(first, "colour", "product")
            width = 0
        elif item.kind == "filler":
            return closed
        else:
            break
    return closed or first.kind == "word" or all(name.kind == "material" for name in first.names)


def goes_on_after_and(items: Sequence[Item], position: int, last: Item | None) -> bool:
    """Behind the "and" at ``position``: the same kind of thing, without an article or praise that begins a wish."""
    place = _next_content(items, position)
    if place is None or not _same_kind(items, place, last):
        return False
    grammar = language().grammar
    praise = language().graded | frozenset(language().names["adjectives"]["names"])
    for n, item in enumerate(items[position + 1 : position + 3]):
        if item.kind == "filler" and item.value in grammar["determiners"]:
            return False
        if n == 0 and item.kind in ("filler", "word") and item.value in praise:
            return False
        if item.kind != "filler":
            break
    return True


def _next_content(items: Sequence[Item], position: int) -> int | None:
    for place in range(position + 1, len(items)):
        item = items[place]
        if item.kind in _CONTENT:
            return place
        if item.kind in ("cue", "amount", "used") or (item.kind == "mark" and item.value in SENTENCE_ENDS):
            return None
    return None


def _same_kind(items: Sequence[Item], place: int, last: Item | None) -> bool:
    """Whether the item at ``place`` can stand in one list with ``last``; a quality of a following noun cannot."""
    item = items[place]
    if last is None:
        return False
    if item.kind != "name" or last.kind != "name":
        return item.kind != "name" or last.kind != "name"
    kinds = {name.kind for name in item.names}
    if not kinds & {name.kind for name in last.names}:
        return False
    after = items[place + 1] if place + 1 < len(items) else None
    quality = kinds <= {"colour", "material", "gender", "brand"}
    return not (quality and after is not None and _is(after, "product"))


def _is(item: Item, *kinds: str) -> bool:
    return item.kind == "name" and any(name.kind in kinds for name in item.names)
