"""What the screen looks like: each pane, the chat and every full screen, at the two sizes that people have."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import FIRST, MEMORY, SECOND, events
from staging import SIZES, after, idle, make_app
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from ego_cli.tui import themes
from ego_cli.tui.inspector import PANES
from ego_cli.tui.inspector.pane import Pane
from ego_cli.tui.snapshot import Snapshot, fold

SAYS = ("abeg I need power bank 10000mAh wey no pass 20k", "actually make it bigger, white one")


def after_two_turns() -> Snapshot:
    """The inspector's value after the script's two turns."""
    snapshot = Snapshot(memory=MEMORY, token_budget=60_000, model="qwen-flash", nudges=("How is the torch?",))
    for done in (FIRST, SECOND):
        for event in events(done):
            snapshot = fold(snapshot, event)
    return snapshot


class OnePane(App[None]):
    """A single pane with an injected snapshot."""

    CSS_PATH = "../../ego_cli/tui/ego.tcss"

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        for theme in themes.THEMES:
            self.register_theme(theme)
        self.theme = themes.DEFAULT
        self.pane = pane

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_mount(self) -> None:
        self.pane.snapshot = after_two_turns()
        self.pane.focus()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("kind", PANES, ids=lambda kind: kind.__name__)
def test_pane(snap_compare: Any, kind: type[Pane], size: tuple[int, int]) -> None:
    assert snap_compare(OnePane(kind()), terminal_size=size)


@pytest.mark.parametrize("size", [*SIZES, (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_conversation(snap_compare: Any, size: tuple[int, int]) -> None:
    assert snap_compare(make_app(), terminal_size=size, run_before=after(SAYS))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_first_words(snap_compare: Any, size: tuple[int, int]) -> None:
    assert snap_compare(make_app(), terminal_size=size, run_before=after())


async def toggle_inspector(pilot: Pilot[Any]) -> None:
    await pilot.press("ctrl+o")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_inspector_lies_over_a_narrow_chat_and_can_be_put_away_from_a_wide_one(
    snap_compare: Any, size: tuple[int, int]
) -> None:
    assert snap_compare(make_app(), terminal_size=size, run_before=after(SAYS, toggle_inspector))


@pytest.mark.parametrize("theme", ["ego-light", "ansi-dark", "ansi-light"])
def test_theme(snap_compare: Any, theme: str) -> None:
    assert snap_compare(make_app(theme=theme), terminal_size=(120, 40), run_before=after(SAYS))


def test_without_colour(snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(make_app(), terminal_size=(120, 40), run_before=after(SAYS))


async def type_slash(pilot: Pilot[Any]) -> None:
    await pilot.press("slash", "r", "e")


def test_completion(snap_compare: Any) -> None:
    assert snap_compare(make_app(), terminal_size=(80, 24), run_before=after(SAYS, type_slash))


SCREENS = {
    "product": "/details 1",
    "compare": "/compare 1 2 3",
    "catalogue": "/catalog",
    "memory": "/memory",
    "quiz": "/quiz",
    "runs": "/runs",
    "help": "/help",
    "settings": "/settings",
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
def test_screen(snap_compare: Any, name: str, size: tuple[int, int]) -> None:
    async def open_it(pilot: Pilot[Any]) -> None:
        pilot.app.send(SCREENS[name])  # type: ignore[attr-defined]
        await idle(pilot)
        for field in pilot.app.screen.query(Input):
            field.cursor_blink = False
        if name == "memory":  # a memory that fades
            await pilot.press("j", "j", "j", "j")

    assert snap_compare(make_app(), terminal_size=size, run_before=after(SAYS, open_it))


async def ask_before_forgetting(pilot: Pilot[Any]) -> None:
    pilot.app.send("/memory")  # type: ignore[attr-defined]
    await idle(pilot)
    await pilot.press("d")


def test_dialog(snap_compare: Any) -> None:
    assert snap_compare(make_app(), terminal_size=(80, 24), run_before=after(SAYS, ask_before_forgetting))
