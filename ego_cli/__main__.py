"""The `ego` command. `--version` answers before anything heavy is imported, the screen before the command line is."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the console script; ends the process with an exit code of errors.ExitCode."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from ego_cli import __version__

        sys.stdout.write(f"ego {__version__}\n")
        return
    from ego_cli.console import has_screen

    if sys.argv[1:] in ([], ["--continue"]) and has_screen():
        from ego_cli.tui.start import run as run_screen

        raise SystemExit(run_screen(resume=bool(sys.argv[1:])))
    from ego_cli.cli import run

    run()


if __name__ == "__main__":
    main()
