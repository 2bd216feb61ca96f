"""Start the screen. What is imported here stands between a key press and the first frame."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ego_cli.tui.engine import Engine, Shop

SERVED_BY = "EGO_SERVED_BY"  # process id of the web server that started this process for a visitor
_PARENT_LOOK_S = 1.0


def run(*, resume: bool = False) -> int:
    """Show the screen until the person leaves it; returns the exit code.

    ``resume`` goes on with the last conversation. The settings are read on a background thread; only theme and keys are
    looked up before. Needs a terminal on standard input and output: the caller has made sure of that.
    """
    gc.disable()  # importing makes a great many objects and no garbage; EgoApp turns it on again after the first frame
    from ego_cli.places import config_file
    from ego_cli.tui import themes
    from ego_cli.tui.app import EgoApp
    from ego_cli.tui.remembered import first_look

    fresh = [not resume]

    def open_engine(catalogue: str, user: str) -> Engine:
        from ego_cli.tui import opening

        wanted, fresh[0] = not fresh[0], True  # only the first conversation is resumed
        engine = opening.open_engine(catalogue, user, resume=wanted)
        engine.embed()
        return engine

    def open_shop(catalogue: str) -> Shop:
        from ego_cli.tui import opening

        return opening.open_shop(catalogue)

    theme, keymap = first_look(config_file())
    app = EgoApp(open_engine, open_shop, theme=theme or themes.DEFAULT, keymap=keymap)
    if server := os.environ.get(SERVED_BY):
        app.leave_unless(lambda: os.getppid() == int(server), every_s=_PARENT_LOOK_S)
    app.run()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # the terminal is gone: what is left in the buffer would complain at shutdown
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return app.return_code or 0


if __name__ == "__main__":
    raise SystemExit(run())
