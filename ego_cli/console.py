"""The only writer to stdout and stderr: text, JSON lines, progress, errors and exit codes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, Protocol, TextIO

from ego_cli.errors import EgoError, ExitCode


class Advance(Protocol):
    """Reports progress: ``done`` of ``total`` units (total None = unknown)."""

    def __call__(self, done: int, total: int | None = None) -> None: ...


def has_screen() -> bool:
    """Whether there is a terminal that can show the screen, and nobody asked for lines instead.

    Standard error counts too: it is what Textual paints on.
    """
    if os.environ.get("ACCESSIBLE") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()


def typed_lines() -> Iterator[str]:
    """Lines of standard input; bytes that are no text become marks of replacement instead of an error."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    yield from sys.stdin


def typed(words: Iterable[str]) -> str:
    """Arguments of the command line as one text; those that the terminal's encoding could not hold are read as UTF-8."""
    return " ".join(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def out(text: str = "") -> None:
    """Print a result line to stdout."""
    _write(sys.stdout, text + "\n")


def out_raw(text: str) -> None:
    """Print to stdout without a line end (a streamed reply)."""
    _write(sys.stdout, text)


def out_json(value: Any) -> None:
    """Print one JSON line to stdout."""
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    try:
        line.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:  # escaped, a reader gets the same text back; replaced, it would not
        line = json.dumps(value, separators=(",", ":"), default=str)
    out(line)


def note(text: str) -> None:
    """A remark for a person: stderr, and only when that is a terminal."""
    if sys.stderr.isatty():
        _write(sys.stderr, text + "\n")


def warn(text: str) -> None:
    """Something that the caller should know even when nobody watches: stderr."""
    _write(sys.stderr, text + "\n")


def fail(error: EgoError) -> ExitCode:
    """Print the one line of an error and say with which code to leave."""
    warn(f"ego: {error}")
    return error.exit_code


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # Nothing more can go there; what is left in the buffer would complain again at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise EgoError(f"cannot write the output: {error.strerror}") from error


def table(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> None:
    """Print rows as aligned columns; numbers to the right."""
    names = list(columns)
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    widths = [max([len(name), *(len(line[i]) for line in cells)]) for i, name in enumerate(names)]
    numeric = [bool(cells) and all(_is_number(line[i]) for line in cells) for i in range(len(names))]
    for line in [names, *cells]:
        parts = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ]
        out("  ".join(parts).rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def _is_number(text: str) -> bool:
    return text == "-" or text.replace(",", "").replace(".", "").replace("-", "").replace("e", "").isdigit()


@contextmanager
def progress(what: str) -> Iterator[Advance]:
    """A progress bar on stderr for work that takes over a second; nothing when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    import time

    started = time.monotonic()
    bar: Any = None
    task: Any = None

    def advance(done: int, total: int | None = None) -> None:
        nonlocal bar, task
        if bar is None:
            if time.monotonic() - started < 1.0:
                return
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            task = bar.add_task(what, total=total)
        bar.update(task, completed=done, total=total)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def said_if_slow(words: str, *, after_s: float = 1.0) -> Iterator[None]:
    """A remark for a person when the work takes longer than ``after_s`` seconds and cannot say how far it is."""
    import threading

    waiting = threading.Timer(after_s, note, (words,))
    waiting.daemon = True
    waiting.start()
    try:
        yield
    finally:
        waiting.cancel()


@contextmanager
def leaving_cleanly() -> Iterator[None]:
    """Turn every way a command can end into its exit code and at most one line on stderr."""
    debug = bool(os.environ.get("EGO_DEBUG"))
    try:
        yield
    except EgoError as error:
        if debug:
            raise
        raise SystemExit(int(fail(error))) from None
    except BrokenPipeError:
        # The reader went away (`ego … | head`): that is its right. Keep Python from complaining at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(int(ExitCode.DONE)) from None
    except KeyboardInterrupt:
        warn("interrupted")
        raise SystemExit(int(ExitCode.INTERRUPTED)) from None
    except OSError as error:
        # A full disk, a folder that may not be written, a file that went away: the machine's fault and easy to name.
        if debug:
            raise
        if (
            error.filename is None
        ):  # standard output, through the command library: keep Python quiet at shutdown
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        where = f"{error.filename}: " if error.filename else ""
        warn(f"ego: {where}{error.strerror or error}")
        raise SystemExit(int(ExitCode.FAILED)) from None
    except Exception as error:
        # The last line of defence: a defect is still one line for the person, and a traceback on request.
        if debug:
            raise
        warn(
            f"ego: internal error: {type(error).__name__}: {error} (run again with --debug for the traceback)"
        )
        raise SystemExit(int(ExitCode.FAILED)) from None
