"""Conversation as lines of text: what `ask`, `chat` and `demo` share."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ego_cli.catalog.reading.cleaning import without_escapes
from ego_cli.console import note, out, out_json
from ego_cli.conversation.commands import COMMANDS, Call, is_command, parse
from ego_cli.conversation.events import Decided, Event, ReplyDelta, TurnDone, jsonable
from ego_cli.conversation.opening import open_assistant
from ego_cli.conversation.transcript import spoken
from ego_cli.conversation.turn import Assistant
from ego_cli.conversation.wording import say
from ego_cli.errors import EgoError, MemoryStoreError, MisuseError, NotFoundError
from ego_cli.settings import load_settings


def summary(done: TurnDone) -> dict[str, Any]:
    """A turn as one JSON object: what it says, shows, holds, took and cost."""
    return {
        "turn": done.turn,
        "text": done.text,
        "reply": done.reply.text,
        "shown": [
            {
                "id": scored.product.id,
                "title": scored.product.title,
                "price": scored.product.price,
                "currency": scored.product.currency,
                "rating": scored.product.rating,
                "rating_count": scored.product.rating_count,
                "reasons": [reason.tag for reason in scored.reasons],
            }
            for scored in done.decision.shown
        ],
        "question": jsonable(done.decision.question),
        "route": done.decision.route,
        "referred": list(done.decision.referred),
        "state": jsonable(replace(done.state, log=())),
        "changes": [jsonable(change) for change in done.changes],
        "timings_ms": dict(done.timings_ms),
        "tokens": {
            "prompt": sum(call.prompt_tokens for call in done.calls),
            "completion": sum(call.completion_tokens for call in done.calls),
            "cost_usd": sum(call.cost_usd for call in done.calls),
            "calls": [jsonable(call) for call in done.calls],
        },
        "author": done.reply.author,
        "notices": [notice.text for notice in done.notices],
    }


def say_turn(assistant: Assistant, text: str, *, as_json: bool, labelled: bool = False) -> TurnDone:
    """Run a turn and print it: the whole of it as one JSON line, or its words, each part as soon as it stands."""
    if as_json:
        done = assistant.respond(text)
        out_json(summary(done))
        return done
    coming = parts(assistant.turn(text))
    label, indent = ("ego  ", "     ") if labelled else ("", "")
    while True:
        try:
            head, *rest = next(coming).split("\n")
        except StopIteration as end:
            done = end.value
            assert isinstance(done, TurnDone)
            return done
        out("\n".join([f"{label}{head}", *(f"{indent}{line}" for line in rest)]))
        label = indent


def parts(events: Iterable[Event]) -> Generator[str, None, TurnDone]:
    """What a turn has to say, each part as soon as nothing can take it back; returns the end of the turn.

    The rules' answer waits for no model. A model's sentences wait for the end of the turn, since they may yet be dropped.
    """
    said, streamed = "", ""
    whole = False  # whether the next words are all of an answer
    for event in events:
        match event:
            case Decided():
                whole = True
            case ReplyDelta(text=text) if whole:
                whole = False
                if text != said:
                    yield f"{say('read_again')}\n{text}" if said else text
                said = text
            case ReplyDelta(text=piece, restart=restart):
                streamed = piece if restart else streamed + piece
            case TurnDone():
                if event.reply.author != "rules" and streamed:
                    yield streamed.strip()
                yield from (notice.text for notice in event.notices)
                return event
    raise AssertionError("a turn ends with TurnDone")


def talk(
    assistant: Assistant, lines: Iterable[str], *, as_json: bool, echo: bool = False, pace: float = 0.0
) -> None:
    """Hold a conversation: one turn a line (or a line of an exported transcript), ``#`` comments, ``/commands``. A turn that fails says so and the talk goes on."""
    if not as_json and not echo and (line := opening_line(assistant)):
        note(line)
    for raw in spoken(lines):
        line = without_escapes(raw).strip()
        if not line or line.startswith("#"):
            continue
        if echo and not as_json:
            out(f"you  {line}")
        if not _one_turn(assistant, line, as_json=as_json, labelled=echo):
            return
        if pace:
            time.sleep(pace)


def opening_line(assistant: Assistant) -> str:
    """The one thing most worth saying unasked at the start of a chat; "" when there is none or nudges are off."""
    memory = assistant.memory
    if memory is None or not assistant.settings.memory.nudges:
        return ""
    from ego_cli.memory.nudges import mark_said

    with suppress(MemoryStoreError):  # the first turn that needs the file says what is wrong with it
        for nudge in memory.nudges(assistant):
            mark_said(memory, nudge, memory.now())
            return nudge.text
    return ""


def _one_turn(assistant: Assistant, line: str, *, as_json: bool, labelled: bool) -> bool:
    """Whether the conversation goes on."""
    try:
        if is_command(line):
            call = parse(line)
            if call.command.action == "quit":
                return False
            line = call.sentence
            if not line:
                out(_carry_out(assistant, call))
                return True
        done = say_turn(assistant, line, as_json=as_json, labelled=labelled)
    except EgoError as error:
        out(f"Sorry, that did not work: {error}")
        return True
    if not as_json and (labelled or sys.stdin.isatty()):
        out()
    return not done.ended


def _carry_out(assistant: Assistant, call: Call) -> str:
    """A command that has no sentence, in line mode."""
    match call.command.action:
        case "help":
            width = max(len(command.usage) for command in COMMANDS)
            return "\n".join(f"{command.usage:<{width}}  {command.help}" for command in COMMANDS)
        case "details":
            return _details(assistant, call.numbers[0])
        case _:
            raise MisuseError(
                f"/{call.command.name} works on the screen only", hint="start `ego` on a terminal"
            )


def _details(assistant: Assistant, number: int) -> str:
    shown = assistant.state.last_shown
    if not 1 <= number <= len(shown):
        raise MisuseError(f"the list has {len(shown)} products")
    product = assistant.product(shown[number - 1])
    if product is None:
        raise NotFoundError("that product is no longer in the catalogue")
    rows = [
        f"{name}: {value}" for name, value in jsonable(product).items() if value not in (None, "", [], {}, 0)
    ]
    return "\n".join(rows)


def play(path: Path, *, as_json: bool, pace: float) -> None:
    """Play a demo script: its first line is the title, ``@catalog NAME`` chooses the shop, the rest are turns."""
    title, *lines = path.read_text(encoding="utf-8").splitlines()
    catalogue = next((line.split(maxsplit=1)[1] for line in lines if line.startswith("@catalog ")), None)
    turns = [line for line in lines if not line.startswith("@")]
    if not as_json:
        out(f"--- {title.lstrip('# ')} ---")
    with open_assistant(load_settings(catalog=catalogue), remember=False) as assistant:
        talk(assistant, turns, as_json=as_json, echo=True, pace=pace)
