"""A conversation as a file: Markdown to read, JSON lines that ``ego chat`` can replay."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ego_cli.conversation.events import Card, Decision, Question, Reply, ShownGroup, TurnDone, jsonable
from ego_cli.conversation.state import State
from ego_cli.conversation.understand.acts import Understanding
from ego_cli.errors import MisuseError
from ego_cli.places import private_folder
from ego_cli.ranking.scored import Reason


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


# --- what a screen shows again when a conversation is resumed ----------------------------------------------------------

KEPT_TURNS = 200  # of a resumed conversation; older ones are no longer shown


def keep(path: Path, done: TurnDone) -> None:
    """Add what the shopper saw of a turn to the file at ``path`` (0600 in a 0700 folder); a first turn begins it anew."""
    private_folder(path.parent)
    record = {
        "turn": done.turn,
        "text": done.text,
        "reply": jsonable(done.reply),
        "question": jsonable(done.decision.question),
        "table": jsonable(done.decision.table),
        "groups": [{"want": g.want, "label": g.label, "lead": g.lead} for g in done.decision.groups],
    }
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if done.turn == 1 else os.O_APPEND)
    with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def kept(path: Path, state: State) -> tuple[TurnDone, ...]:
    """The turns in that file up to where ``state`` stands, oldest first; a line that cannot be read is left out."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ()
    turns: dict[int, TurnDone] = {}
    for line in lines:
        try:
            done = _seen_again(json.loads(line), state)
        except (ValueError, KeyError, TypeError):
            continue  # cut short by a crash, or written by another version
        turns[done.turn] = done
    return tuple(done for turn, done in sorted(turns.items()) if turn <= state.turn)[-KEPT_TURNS:]


def _seen_again(record: dict[str, Any], state: State) -> TurnDone:
    reply = record["reply"]
    cards = tuple(
        Card(**{**card, "reasons": tuple(Reason(**reason) for reason in card["reasons"])})
        for card in reply["cards"]
    )
    asked = record["question"]
    question = Question(**{**asked, "options": tuple(asked["options"])}) if asked else None
    return TurnDone(
        turn=record["turn"],
        text=record["text"],
        state=state,
        understanding=Understanding(record["text"], ()),
        changes=(),
        decision=Decision(
            groups=tuple(ShownGroup(items=(), **group) for group in record["groups"]),
            question=question,
            table=tuple(map(tuple, record["table"])),
        ),
        reply=Reply(**{**reply, "cards": cards}),
    )
