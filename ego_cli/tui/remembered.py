"""Colours chosen on the screen, kept in the configuration file without disturbing anything else in it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ego_cli.places import private_folder


def first_look(path: Path) -> tuple[str, Mapping[str, str]]:
    """Theme ("" for the default) and remapped keys, read without the whole settings: the first frame needs only these.

    A file that is not valid counts as empty here; opening the engine reads all of it and says what is wrong.
    """
    try:
        tui: Any = tomllib.loads(path.read_text(encoding="utf-8")).get("tui", {})
    except (OSError, ValueError):
        tui = {}
    theme = os.environ.get("EGO_TUI__THEME") or (tui.get("theme") if isinstance(tui, dict) else None)
    keys = tui.get("keys") if isinstance(tui, dict) else None
    remapped = (
        {str(id): key for id, key in keys.items() if isinstance(key, str)} if isinstance(keys, dict) else {}
    )
    return theme if isinstance(theme, str) else "", remapped


def remember_theme(path: Path, name: str) -> str:
    """Write ``theme`` under ``[tui]``; returns one line that says whether it is kept."""
    try:
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        new = with_theme(old, name)
        if new is None:
            return f"{name} for now; set it under [tui] in {path.name} to keep it"
        private_folder(path.parent)
        beside = path.with_suffix(".new")
        beside.write_text(new, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        return f"{name} for now; {path.name} cannot be written: {error.strerror}"
    return f"{name}, kept in {path.name}"


def with_theme(text: str, name: str) -> str | None:
    """``text`` with the theme set, or None where that cannot be done by changing one line."""
    line = f'theme = "{name}"'
    section = re.search(r"^\[tui\][^\n]*\n((?:(?!\[)[^\n]*\n?)*)", text, re.MULTILINE)
    if section is None:
        new = (
            text
            + ("\n" if text and not text.endswith("\n") else "")
            + ("\n" if text else "")
            + f"[tui]\n{line}\n"
        )
    elif re.search(r"^theme\s*=", section[1], re.MULTILINE):
        body = re.sub(r"^theme\s*=[^\n]*", line, section[1], count=1, flags=re.MULTILINE)
        new = text[: section.start(1)] + body + text[section.end(1) :]
    else:
        new = text[: section.start(1)] + line + "\n" + text[section.start(1) :]
    try:
        before = tomllib.loads(text)
        after = tomllib.loads(new)
    except tomllib.TOMLDecodeError:
        return None
    before.setdefault("tui", {})["theme"] = name
    return new if after == before else None
