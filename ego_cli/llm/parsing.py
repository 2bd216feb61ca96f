"""JSON out of whatever a model says: fenced, in prose, cut off, with a string that holds fences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
MOST_TRIED = 60  # opening brackets at which an object is looked for
DEEPEST = 40  # brackets within brackets; deeper is not an answer to any of our prompts

Shape = TypeVar("Shape", bound=BaseModel)


class UnreadableError(ValueError):
    """A model's text holds no object of the wanted shape."""


def without_thinking(text: str) -> str:
    """The text less what a reasoning model thought aloud."""
    return _THINKING.sub("", text).strip()


def shaped(text: str, shape: type[Shape]) -> Shape:
    """The object in ``text`` as ``shape``, whose validators put small errors of form right.

    Raises ``UnreadableError`` when there is no object or it cannot be made to fit.
    """
    try:
        return shape.model_validate(object_in(text))
    except ValidationError as error:
        raise UnreadableError(f"{error.error_count()} fields do not fit") from error


def object_in(text: str) -> dict[str, Any]:
    """The largest JSON object in ``text``. Of one that was cut off, the members that were complete.

    Raises ``UnreadableError`` when there is none.
    """
    text = without_thinking(text)
    best: tuple[int, dict[str, Any]] | None = None
    end = 0
    for start in islice(_openings(text), MOST_TRIED):
        if start < end:
            continue  # inside the object that was just read
        found = _decode(text, start)
        if found is None:
            continue
        value, end = found
        if best is None or end - start > best[0]:
            best = (end - start, value)
    if best is None:
        raise UnreadableError("no JSON object")
    return best[1]


def _openings(text: str) -> Iterator[int]:
    return (match.start() for match in re.finditer(r"\{", text))


def _decode(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    """The object that begins at ``start`` and where it ends, as it stands or with its form put right."""
    end, closed = _extent(text, start)
    piece = text[start:end] if closed else _complete_members(text[start:])
    for candidate in (piece, _TRAILING_COMMA.sub(r"\1", piece)):
        try:
            value = json.loads(candidate, parse_constant=_refuse, strict=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and (value or closed):
            return value, end
    return None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _extent(text: str, start: int) -> tuple[int, bool]:
    """Where the bracket that opens at ``start`` closes; (length of text, False) when it never does."""
    depth = 0
    for index, inside in _outside_strings(text, start):
        if inside in "{[":
            depth += 1
        elif inside in "}]":
            depth -= 1
            if depth == 0:
                return index + 1, True
    return len(text), False


def _outside_strings(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Characters that are not within a JSON string."""
    in_string = escaped = False
    for index in range(start, len(text)):
        character = text[index]
        if in_string:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                in_string = False
            continue
        if character == '"':
            in_string = True
        yield index, character


def _complete_members(text: str) -> str:
    """An object that was cut off, shortened to its last complete member and closed again.

    Only what a comma follows is complete: of ``"price_max": 250`` nobody knows whether it was going to be 25000.
    """
    open_brackets: list[str] = []
    good = ""
    for index, character in _outside_strings(text, 0):
        if character in "{[":
            open_brackets.append("}" if character == "{" else "]")
            if len(open_brackets) > DEEPEST:
                return ""
            good = good or text[: index + 1] + "".join(reversed(open_brackets))
        elif character in "}]":
            if not open_brackets or open_brackets.pop() != character:
                return ""
            good = text[: index + 1] + "".join(reversed(open_brackets))
        elif character == ",":
            good = text[:index] + "".join(reversed(open_brackets))
    return good
