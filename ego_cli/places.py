"""Where things live. Standard library only: the screen's first frame asks before anything heavier is imported."""

from __future__ import annotations

import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent


def _shipped(name: str) -> Path:
    """A folder that travels with the code: ``_name`` inside an installed wheel, ``name`` beside a checkout."""
    inside = _PACKAGE / f"_{name}"
    return inside if inside.is_dir() else _PACKAGE.parent / name


def data_file(*parts: str) -> Path:
    """Path of a file under ``data/`` (lexicons, taxonomy, prompts, demo scripts)."""
    return _shipped("data").joinpath(*parts)


def demo_catalogue_file(name: str) -> Path:
    """Path of an embedded demo file under ``catalogs/``, such as ``naija.jsonl``."""
    return _shipped("catalogs") / name


@cache
def load_toml(*parts: str) -> dict[str, Any]:
    """A parsed TOML file under ``data/``; read once a process."""
    with data_file(*parts).open("rb") as handle:
        return tomllib.load(handle)


def user_data_folder() -> Path:
    """Catalogues, memories and runs. ``EGO_HOME`` moves everything (data, config, cache) below one folder."""
    if home := os.environ.get("EGO_HOME"):
        return Path(home) / "data"
    import platformdirs

    return Path(platformdirs.user_data_dir("ego", appauthor=False))


def user_config_folder() -> Path:
    """Holds ``config.toml``."""
    if home := os.environ.get("EGO_HOME"):
        return Path(home) / "config"
    import platformdirs

    return Path(platformdirs.user_config_dir("ego", appauthor=False))


def user_cache_folder() -> Path:
    """Things that can be made again."""
    if home := os.environ.get("EGO_HOME"):
        return Path(home) / "cache"
    import platformdirs

    return Path(platformdirs.user_cache_dir("ego", appauthor=False))


def private_folder(path: Path) -> Path:
    """Make ``path`` if it is missing, readable by its owner only (0700), and return it."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def config_file() -> Path:
    """The configuration file in force; it need not exist."""
    return Path(os.environ.get("EGO_CONFIG") or user_config_folder() / "config.toml")
