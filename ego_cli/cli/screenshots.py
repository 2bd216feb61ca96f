"""`ego screenshots`: the pictures of the README, taken anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ego_cli.console import out
from ego_cli.errors import MisuseError


def screenshots(
    folder: Annotated[Path, typer.Argument(help="Where the SVG files go.")] = Path("docs/screenshots"),
    only: Annotated[list[str] | None, typer.Option("--only", help="Take only these, by name.")] = None,
) -> None:
    """Take pictures of the screen as SVG files, from the demo catalogues."""
    from ego_cli.tui.pictures import PICTURES, take

    chosen = [picture for picture in PICTURES if not only or picture.name in only]
    if not chosen:
        raise MisuseError(
            "no such picture", hint=f"there are {', '.join(picture.name for picture in PICTURES)}"
        )
    for path in take(chosen, folder):
        out(str(path))
