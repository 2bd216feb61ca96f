"""ego's own colours, dark and light. Every theme of Textual can be chosen as well, the ``ansi`` ones included."""

from __future__ import annotations

from collections.abc import Iterable

from textual.theme import Theme

DEFAULT = "ego-dark"

THEMES: tuple[Theme, ...] = (
    Theme(
        name="ego-dark",
        primary="#3fbf93",
        secondary="#7fb4e6",
        accent="#e9b949",
        warning="#e59a54",
        error="#ea6f76",
        success="#63d29a",
        foreground="#d5dbe1",
        background="#0f1317",
        surface="#151a20",
        panel="#1c232b",
        dark=True,
    ),
    Theme(
        name="ego-light",
        primary="#0d7a5a",
        secondary="#235f9c",
        accent="#9a5f00",
        warning="#b04f00",
        error="#b3261e",
        success="#1a7f4b",
        foreground="#20262d",
        background="#f7f6f2",
        surface="#efede6",
        panel="#e4e1d8",
        dark=False,
    ),
)


def ordered(names: Iterable[str]) -> list[str]:
    """Theme names for a list: ego's own, the terminal's own colours, then the rest by name."""
    own = {theme.name: n for n, theme in enumerate(THEMES)}
    return sorted(names, key=lambda name: (own.get(name, 2 if name.startswith("ansi") else 3), name))
