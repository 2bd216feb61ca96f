"""`ego ask`, `ego chat`, `ego demo`: the same turns as the screen, as lines of text."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ego_cli.console import note, out, out_json, said_if_slow, typed, typed_lines
from ego_cli.errors import ExitCode, MisuseError, NotFoundError

OPENING = "opening the shop… (a file that is new is read once; the next time is quick)"


def ask(
    text: Annotated[
        list[str] | None, typer.Argument(help="What you want; piped text is added to it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines; the last one is the answer.")] = False,
    catalog: Annotated[str | None, typer.Option("--catalog", "-c", help="Catalogue to shop in.")] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Whose memory to use.")] = None,
) -> None:
    """Ask once and print the answer. Exits with 3 when nothing was found."""
    words = typed(text or ())
    if not sys.stdin.isatty():
        words = "\n".join(part for part in (words, "".join(typed_lines()).strip()) if part)
    if not words.strip():
        raise MisuseError("nothing to ask", hint='try: ego ask "power bank under 20k"')
    from ego_cli.catalog.reading.cleaning import without_escapes
    from ego_cli.cli.lines import say_turn
    from ego_cli.conversation.opening import open_assistant
    from ego_cli.settings import load_settings

    with said_if_slow(OPENING):
        opened = open_assistant(load_settings(catalog=catalog, user=user))
    with opened as assistant:
        done = say_turn(assistant, without_escapes(words), as_json=as_json)
    if done.ranked and not done.decision.shown:
        raise SystemExit(int(ExitCode.NOTHING_FOUND))


def chat(
    plain: Annotated[bool, typer.Option("--plain", help="Labelled lines, no screen.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line a turn.")] = False,
    resume: Annotated[bool, typer.Option("--continue", help="Go on with the last conversation.")] = False,
    catalog: Annotated[str | None, typer.Option("--catalog", "-c", help="Catalogue to shop in.")] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Whose memory to use.")] = None,
) -> None:
    """Talk in lines: one turn a line, "#" starts a comment, "/help" lists the commands. Ctrl-D ends it."""
    from ego_cli.cli.lines import talk
    from ego_cli.conversation.opening import open_assistant
    from ego_cli.conversation.warming import warm
    from ego_cli.settings import load_settings

    settings = load_settings(catalog=catalog, user=user)
    typed_here = sys.stdin.isatty()
    with said_if_slow(OPENING):
        opened = open_assistant(settings, resume=resume)
    with opened as assistant:
        if typed_here:
            if not as_json:
                note(
                    f"Hello. What are you looking for in {assistant.catalogue.name}? (/help lists commands, Ctrl-D leaves)"
                )
            warm(assistant)
            if assistant.dense is not None:
                assistant.dense.start(embed=settings.ranking.embed)
        talk(assistant, _typed_lines(), as_json=as_json)


def demo(
    name: Annotated[
        str | None, typer.Argument(help="Which script; without a name: all of them in turn.")
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the scripts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line a turn.")] = False,
    pace: Annotated[float, typer.Option(help="Seconds to read between turns; 0 plays at once.")] = 0.0,
) -> None:
    """Play a scripted conversation from data/demos."""
    from ego_cli.cli.lines import play
    from ego_cli.settings import data_file

    scripts = sorted(data_file("demos").glob("*.txt"))
    if list_them:
        if as_json:
            out_json({"demos": [{"name": path.stem, "title": _title(path)} for path in scripts]})
            return
        for path in scripts:
            out(f"{path.stem:<16}{_title(path)}")
        return
    chosen = [path for path in scripts if name is None or path.stem == name]
    if not chosen:
        known = ", ".join(path.stem for path in scripts)
        raise NotFoundError(f"there is no demo called {name!r}", hint=f"there are: {known}")
    for path in chosen:
        play(path, as_json=as_json, pace=pace)


def _title(path: Path) -> str:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ").strip()


def _typed_lines() -> Iterable[str]:
    """Lines from a pipe, or typed at a prompt on a terminal."""
    if not sys.stdin.isatty():
        yield from typed_lines()
        return
    while True:
        try:
            yield input("you> ")
        except EOFError:
            out()
            return
        except KeyboardInterrupt:
            out()  # the shell's prompt begins on a line of its own
            raise
