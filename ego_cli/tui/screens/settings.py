"""What is configured and where, colours to choose, and every key with the id that remaps it."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from ego_cli.places import config_file
from ego_cli.tui.drawing import FAINT, MUTED, cut, fit, stack, text, wrap
from ego_cli.tui.listing import Item, Listing, heading
from ego_cli.tui.remembered import remember_theme
from ego_cli.tui.screens.frame import FullScreen, KeyLine, Title
from ego_cli.tui.screens.help import key_lines
from ego_cli.tui.themes import ordered


class Configured(Widget):
    """Settings in force, then the keys."""

    def __init__(self) -> None:
        super().__init__()
        self.settings: tuple[tuple[str, str], ...] = ()

    def show(self, settings: tuple[tuple[str, str], ...]) -> None:
        self.settings = settings
        self.refresh(layout=True)

    def _lines(self, width: int) -> list[Content]:
        path = config_file()
        lines = [text("Settings in force", "bold $primary")]
        lines += [fit(text(name, MUTED), 30) + text(value) for name, value in self.settings]
        there = "" if path.exists() else "  (not there yet: everything is at its default)"
        lines += wrap(text(f"{path}{there}", FAINT), width)
        lines += [Content(""), text("Keys", "bold $primary")]
        lines += wrap(text("Remap them in that file by id:", MUTED), width)
        lines += [
            text("  [tui.keys]", "$secondary"),
            text('  "app.inspector" = "f2"', "$secondary"),
            Content(""),
        ]
        return lines + key_lines(width, getattr(self.app, "remapped", {}), ids=True)

    def render(self) -> Content:
        return stack(self._lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))


def _named(words: str, width: int) -> list[Content]:
    return [cut(words, width)]


class SettingsScreen(FullScreen):
    """Colours at the left, settings and keys at the right."""

    def compose(self) -> ComposeResult:
        yield Title("settings and keys")
        with Horizontal(classes="halves"):
            with VerticalScroll(classes="shelves", can_focus=False):
                yield Listing(id="themes")
            with VerticalScroll(classes="main", can_focus=True):
                yield Configured()
        yield KeyLine("list", "screen")

    def on_mount(self) -> None:
        self._fill()
        self.query_one(Listing).focus()
        self.talk.do(lambda engine: engine.settings(), self._show)

    def _show(self, settings: tuple[tuple[str, str], ...]) -> None:
        if self.is_attached:
            self.query_one(Configured).show(settings)

    def _fill(self) -> None:
        current = self.app.theme
        items = [heading("Colours")]
        for name in ordered(self.app.available_themes):
            mark = "✓ " if name == current else "  "
            items.append(Item(name, partial(_named, f"{mark}{name}")))
        self.query_one(Listing).fill(items, keep=current)

    def on_listing_opened(self, message: Listing.Opened) -> None:
        self.app.theme = message.id
        self._fill()
        self.query_one(Title).remark = remember_theme(config_file(), message.id)
