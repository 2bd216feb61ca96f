"""`ego serve`: the screen in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from ego_cli.errors import MisuseError


def serve(
    web: Annotated[bool, typer.Option("--web", help="Show the screen in a browser.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8000,
) -> None:
    """Show the screen in a browser on this machine, at http://localhost:PORT. Needs the extra [server]."""
    if not web:
        raise MisuseError("say what to serve", hint="ego serve --web")
    try:
        from ego_cli.tui.serve import WebScreen
    except ModuleNotFoundError as missing:
        if missing.name and missing.name.startswith("ego_cli"):
            raise
        raise MisuseError(
            f"{missing.name} is not installed", hint="in the folder of ego: pip install '.[server]'"
        ) from missing
    WebScreen(port).run()
