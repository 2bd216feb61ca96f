"""`ego paths`: where everything lives."""

from __future__ import annotations

from typing import Annotated

import typer

from ego_cli.console import out, out_json


def paths(as_json: Annotated[bool, typer.Option("--json", help="One JSON line.")] = False) -> None:
    """Where everything lives."""
    from ego_cli import settings

    places = {
        "data": settings.user_data_folder(),
        "catalogs": settings.user_data_folder() / "catalogs",
        "memory": settings.user_data_folder() / "memory",
        "config": settings.config_file(),
        "cache": settings.user_cache_folder(),
        "shipped data": settings.data_file(),
        "demo catalogs": settings.demo_catalogue_file(""),
    }
    if as_json:
        out_json({name: str(path) for name, path in places.items()})
        return
    width = max(map(len, places))
    for name, path in places.items():
        out(f"{name:<{width}}  {path}")
