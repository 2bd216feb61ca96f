"""The `ego` command. `--version` answers before anything heavy is imported, the screen before the command line is."""

from __future__ import annotations

import os
import sys


def _open_missing_streams() -> None:
    """Put the null device where the caller closed a standard stream (``ego … >&-``), or the next file opened would be it."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def main() -> None:
    """Entry point of the console script; ends the process with an exit code of errors.ExitCode."""
    _open_missing_streams()
    if sys.argv[1:] in (["--version"], ["-V"]):
        from ego_cli import __version__

        try:
            sys.stdout.write(f"ego {__version__}\n")
            sys.stdout.flush()
        except (
            OSError
        ):  # nobody reads, or the disk is full: what is left in the buffer would complain at shutdown
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise SystemExit(1) from None
        return
    from ego_cli.console import has_screen

    if sys.argv[1:] in ([], ["--continue"]) and has_screen():
        from ego_cli.tui.start import run as run_screen

        raise SystemExit(run_screen(resume=bool(sys.argv[1:])))
    from ego_cli.cli import run

    run()


if __name__ == "__main__":
    main()
