"""A conversation as a file: Markdown to read, JSON lines that ``ego chat`` can replay."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ego_cli.conversation.events import TurnDone
from ego_cli.errors import MisuseError


def as_markdown(turns: Iterable[TurnDone], *, title: str) -> str:
    """What was said and shown, turn by turn."""
    parts = [f"# {title}", ""]
    for done in turns:
        parts += [*(f"> {line}" for line in done.text.splitlines()), ""]
        reply = done.reply
        if reply.lead:
            parts += [reply.lead, ""]
        group = ""
        for card in reply.cards:
            if card.group and card.group != group:
                group = card.group
                parts += [f"**{group}**", ""]
            reasons = " · ".join(reason.tag for reason in card.reasons)
            parts.append(f"{card.position}. **{_escaped(card.title)}** — {card.price} — {card.rating}")
            if reasons:
                parts.append(f"   {_escaped(reasons)}")
        if reply.cards:
            parts.append("")
        if rows := done.decision.table:
            header, *body = rows
            parts += [_row(header), _row(["---"] * len(header)), *map(_row, body), ""]
        if reply.tail:
            parts += [reply.tail, ""]
        elif not reply.lead and not reply.cards:
            parts += [reply.text, ""]
    return "\n".join(parts)


def as_json_lines(turns: Iterable[TurnDone]) -> str:
    """One object a turn: ``turn``, ``text`` (what the shopper said), ``reply`` and ``shown`` (product ids)."""
    lines = (
        json.dumps(
            {
                "turn": done.turn,
                "text": done.text,
                "reply": done.reply.text,
                "shown": [card.id for card in done.reply.cards],
            },
            ensure_ascii=False,
        )
        for done in turns
    )
    return "".join(f"{line}\n" for line in lines)


def spoken(lines: Iterable[str]) -> Iterator[str]:
    """What the shopper says, from lines that are either her words or objects as ``as_json_lines`` writes them.

    Raises ``MisuseError`` for an object without ``text``.
    """
    for line in lines:
        if not line.lstrip().startswith("{"):
            yield line
            continue
        try:
            record = json.loads(line)
        except ValueError:
            yield line  # someone may well begin a sentence with a brace
            continue
        if not isinstance(record.get("text"), str):
            raise MisuseError("a line of the transcript has no text", hint=line[:60])
        yield record["text"]


def write(turns: Iterable[TurnDone], path: Path, *, title: str) -> None:
    """Write a transcript; a name that ends in ``.jsonl`` gives JSON lines, anything else Markdown.

    Raises ``MisuseError`` when the file cannot be written.
    """
    text = as_json_lines(turns) if path.suffix == ".jsonl" else as_markdown(turns, title=title)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise MisuseError(f"cannot write {path}: {error.strerror}") from error


def _escaped(text: str) -> str:
    return text.replace("*", r"\*").replace("_", r"\_")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"
