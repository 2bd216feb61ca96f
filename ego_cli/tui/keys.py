"""The one table of keys: ids to remap in the configuration (``[tui.keys]``), default keys, and words for help.

``where`` is the part of the screen that answers. Keys that editors' terminals keep for themselves (F1, F5, Ctrl+E,
Ctrl+J, Ctrl+K, Ctrl+Q) are never the only way to anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Key:
    """One binding. ``key`` may list several, comma-separated. ``short``: its word in the footer, "" = not there."""

    id: str
    key: str
    action: str
    help: str
    where: str
    short: str = ""
    priority: bool = False


PLACES: Mapping[str, str] = {
    "app": "Everywhere",
    "prompt": "Writing",
    "chat": "Reading the chat",
    "pane": "Inspector",
    "erased": "Inspector: erased",
    "memory": "On a memory",
    "screen": "On a full screen",
    "list": "In a list",
    "dialog": "In a small question",
    "browser": "Catalogue browser",
    "runs": "Evaluation runs",
}

KEYS: tuple[Key, ...] = (
    Key("app.palette", "ctrl+p", "command_palette", "all commands, by name", "app", "commands", True),
    Key("app.inspector", "ctrl+o", "inspector", "show or hide the inspector", "app", "inspector", True),
    Key("app.switch", "ctrl+g", "switch", "go between writing, chat and inspector", "app", "go", True),
    Key("app.next_product", "ctrl+n,alt+down", "select(1)", "next product of the list", "app", "", True),
    Key(
        "app.previous_product", "ctrl+b,alt+up", "select(-1)", "previous product of the list", "app", "", True
    ),
    Key(
        "app.details",
        "ctrl+t,alt+enter",
        "details",
        "everything about the selected product",
        "app",
        "details",
        True,
    ),
    Key("app.stop", "escape", "stop", "stop the reply, or go back to writing", "app", "", False),
    Key(
        "app.leave",
        "ctrl+c",
        "interrupt",
        "copy what is marked, stop, empty the line; twice: leave",
        "app",
        "",
        True,
    ),
    Key("app.quit", "ctrl+q", "quit", "leave", "app", "", True),
    Key("prompt.newline", "ctrl+j,shift+enter", "newline", "new line", "prompt"),
    Key(
        "prompt.history_back", "alt+p", "history(-1)", "earlier message (also ↑ on the first line)", "prompt"
    ),
    Key("prompt.history_on", "alt+n", "history(1)", "later message (also ↓ on the last line)", "prompt"),
    Key("prompt.page_up", "pageup", "page(-1)", "scroll the chat up", "prompt"),
    Key("prompt.page_down", "pagedown", "page(1)", "scroll the chat down", "prompt"),
    *(
        Key(f"prompt.choose_{n}", f"alt+{n}", f"choose({n})", f"answer number {n} of the question", "prompt")
        for n in range(1, 10)
    ),
    Key("chat.down", "j,down", "step(1)", "next product", "chat"),
    Key("chat.up", "k,up", "step(-1)", "previous product", "chat"),
    Key("chat.top", "g,home", "edge(-1)", "to the beginning", "chat"),
    Key("chat.bottom", "G,end", "edge(1)", "to the end", "chat"),
    Key("chat.open", "enter", "open", "details of the product", "chat"),
    Key("chat.why", "w", "why", "why it is shown", "chat"),
    Key("chat.copy", "y", "copy", "copy the last reply", "chat"),
    Key("pane.fold", "enter,space", "fold", "fold or unfold", "pane", "fold"),
    Key("pane.down", "j,down", "step(1)", "down", "pane", "move"),
    Key("pane.up", "k,up", "step(-1)", "up", "pane"),
    Key("pane.top", "g,home", "edge(-1)", "first line", "pane"),
    Key("pane.bottom", "G,end", "edge(1)", "last line", "pane"),
    Key("erased.restore", "r", "restore", "bring it back", "erased", "restore"),
    Key("memory.pin", "p", "pin", "pin or unpin", "memory", "pin"),
    Key("memory.edit", "e", "edit", "edit the words", "memory", "edit"),
    Key("memory.forget", "d,delete", "forget", "forget for good", "memory", "forget"),
    Key("screen.back", "escape,q", "back", "back to the chat", "screen", "back"),
    Key("list.down", "j,down", "step(1)", "down", "list"),
    Key("list.up", "k,up", "step(-1)", "up", "list"),
    Key("list.page_down", "pagedown", "page(1)", "further down", "list"),
    Key("list.page_up", "pageup", "page(-1)", "further up", "list"),
    Key("list.top", "g,home", "edge(-1)", "first entry", "list"),
    Key("list.bottom", "G,end", "edge(1)", "last entry", "list"),
    Key("list.open", "enter,space", "open", "open or choose", "list", "open"),
    Key("dialog.cancel", "escape", "cancel", "leave everything as it is", "dialog", "cancel"),
    Key("browser.search", "slash", "search", "type to search", "browser", "search"),
    Key("browser.clear", "c", "clear", "drop all filters", "browser", "clear"),
    Key("runs.start", "n", "start", "play a new run over this catalogue", "runs", "new run"),
)

IDS = frozenset(key.id for key in KEYS)


def bindings(where: str) -> list[BindingType]:
    """The bindings of one part of the screen, with ids, so that a keymap can change their keys."""
    return [
        Binding(
            key.key,
            key.action,
            key.short or key.help,
            id=key.id,
            tooltip=key.help,
            show=bool(key.short),
            priority=key.priority,
        )
        for key in KEYS
        if key.where == where
    ]


_NAMES = {
    "slash": "/", "question_mark": "?", "escape": "Esc", "enter": "Enter", "space": "Space", "pageup": "PgUp",
    "pagedown": "PgDn", "delete": "Del", "home": "Home", "end": "End", "up": "↑", "down": "↓", "left": "←", "right": "→",
}  # fmt: skip


def spell(key: str) -> str:
    """A key as people write it: ``ctrl+o`` is ``^O``."""
    modifiers, _, last = key.strip().rpartition("+")
    if modifiers == "ctrl" and len(last) == 1:
        return f"^{last.upper()}"
    name = _NAMES.get(last, last)
    return "+".join([*(part.capitalize() for part in modifiers.split("+") if part), name])


def in_force(remapped: Mapping[str, str]) -> dict[str, str]:
    """Binding id to its keys, after the configuration's changes."""
    return {key.id: remapped.get(key.id, key.key) for key in KEYS}


def unknown(remapped: Mapping[str, str]) -> tuple[str, ...]:
    """Ids in the configuration that name no binding."""
    return tuple(sorted(set(remapped) - IDS))
