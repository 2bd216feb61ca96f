"""The `ego` command line: one file per noun, each imported only when it is called."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command as click_command

from ego_cli.console import has_screen, leaving_cleanly, out
from ego_cli.errors import ExitCode

# name -> (module, attribute, one line of help). The attribute is a Typer app or a command function.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "ask": ("chat", "ask", "Ask once and print the answer."),
    "chat": ("chat", "chat", "Talk in lines: on a terminal, or one turn a line from a pipe."),
    "demo": ("chat", "demo", "Play a scripted conversation."),
    "catalog": ("catalog", "app", "Add, inspect and manage product catalogues."),
    "ingest": ("memory", "ingest", "Put events into a memory from JSON lines."),
    "recall": ("memory", "recall", "Ask a memory what it knows."),
    "prune": ("memory", "prune", "Let go of what has faded."),
    "memory": ("memory", "app", "Show, pin, edit, forget, export and import memories."),
    "nudges": ("memory", "nudges", "What is worth asking or saying next."),
    "llm": ("llm", "app", "Choose and test optional language models."),
    "usage": ("llm", "usage", "Tokens, cost and latency of model calls."),
    "eval": ("eval", "app", "Measure: simulated customers, cases, understanding, recall."),
    "replay": ("replay", "replay", "Walk through a recorded evaluation session."),
    "bench": ("bench", "app", "Benchmarks with ratios, and the catalogue maker."),
    "serve": ("serve", "serve", "Show the app in a browser."),
    "screenshots": ("screenshots", "screenshots", "Take the pictures of the screen anew."),
    "paths": ("paths", "paths", "Where everything lives."),
}


class _AsTyped:
    """Takes text where text is asked for, and a default, as they stand; the rest goes Typer's way.

    Typer has pydantic check every value, even a name or None, and importing that takes longer than most commands run.
    """

    def __init__(self, parameter: Any, typers: Callable[[Any], Any]) -> None:
        self._parameter = parameter
        self._typers = typers

    def coerce(self, value: Any, *, param: Any, ctx: Any) -> Any:
        if value is None or type(value) is self._parameter.type_descriptor.annotation:
            return value
        return self._typers(self._parameter).coerce(value, param=param, ctx=ctx)


def _check_without_pydantic(parameter: Any) -> None:
    """Have options and arguments of one value use ``_AsTyped``, in versions of Typer that check by pydantic."""
    typers = getattr(parameter, "get_runtime_param", None)
    if typers is not None:
        parameter.get_runtime_param = lambda self: (
            typers(self) if self.multiple or self.nargs != 1 else _AsTyped(self, typers)
        )


_check_without_pydantic(getattr(typer.core, "_TyperParameter", None))


class _LazyGroup(TyperGroup):
    """Knows its commands by name and help text; imports a command's module when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module, attribute, help_line = COMMANDS[cmd_name]
        target = getattr(import_module(f"ego_cli.cli.{module}"), attribute)
        if isinstance(target, typer.Typer):
            target.info.help = target.info.help or help_line
            command: Any = click_command(target)
        else:
            single = typer.Typer(add_completion=False, rich_markup_mode=None)
            single.command(name=cmd_name, help=target.__doc__ or help_line)(target)
            command = click_command(single)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in COMMANDS.items()])


app = typer.Typer(
    cls=_LazyGroup,
    invoke_without_command=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from ego_cli import __version__

        out(f"ego {__version__}")
        raise typer.Exit


@app.callback()
def front_door(
    ctx: typer.Context,
    catalog: Annotated[str | None, typer.Option("--catalog", "-c", help="Catalogue to shop in.")] = None,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Whose memory to use.")] = None,
    resume: Annotated[bool, typer.Option("--continue", help="Go on with the last conversation.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Labelled lines instead of the screen.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    _version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """ego: a conversational shopping assistant. Without a command it starts the screen."""
    if debug:
        os.environ["EGO_DEBUG"] = "1"
    # Kept in the environment so that every command, and every process it starts, reads the same settings.
    if catalog is not None:
        os.environ["EGO_CATALOG"] = catalog
    if user is not None:
        os.environ["EGO_USER"] = user
    if ctx.invoked_subcommand is not None:
        return
    if plain or not has_screen():
        from ego_cli.cli.chat import chat

        chat(plain=True, resume=resume)
        return
    from ego_cli.tui.start import run as run_screen

    raise typer.Exit(run_screen(resume=resume))


def run() -> None:
    """Run the command line; leaves the process with an exit code of errors.ExitCode."""
    with leaving_cleanly():
        try:
            app(prog_name="ego")
        except SystemExit as leaving:
            if isinstance(leaving.__context__, typer.Abort):  # Ctrl-C, as the command library reports it
                raise SystemExit(int(ExitCode.INTERRUPTED)) from None
            if isinstance(leaving.__context__, BrokenPipeError):  # `ego … | head`: the reader's right
                raise SystemExit(int(ExitCode.DONE)) from None
            raise
