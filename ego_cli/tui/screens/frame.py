"""What all full screens share: a title line, a body, a line of keys, and the way back to the chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.content import Content
from textual.reactive import reactive
from textual.screen import ModalScreen, Screen
from textual.widget import Widget

from ego_cli.tui import keys
from ego_cli.tui.drawing import MUTED, spread, text
from ego_cli.tui.frame import key_line

if TYPE_CHECKING:
    from ego_cli.tui.app import EgoApp
    from ego_cli.tui.talk import Talk


class Title(Widget):
    """Name of the screen at the left, a remark at the right."""

    words: reactive[str] = reactive("")
    remark: reactive[str] = reactive("")

    def __init__(self, words: str) -> None:
        super().__init__()
        self.set_reactive(Title.words, words)

    def render(self) -> Content:
        left = text(" ego ", "bold $primary") + text(self.words, "bold")
        return spread(left, text(f"{self.remark} " if self.remark else "", MUTED), self.size.width)


class KeyLine(Widget):
    """The keys that this screen answers to, as they are mapped."""

    def __init__(self, *places: str) -> None:
        super().__init__()
        self.places = places

    def render(self) -> Content:
        mapped = keys.in_force(getattr(self.app, "remapped", {}))
        here = [key for key in keys.KEYS if key.where in self.places and key.short]
        return key_line([(mapped[key.id], key.short) for key in here], self.size.width)


class FullScreen(Screen[None]):
    """A screen over the chat; Escape or q goes back."""

    CSS_PATH = "screens.tcss"
    BINDINGS = keys.bindings("screen")

    @property
    def ego(self) -> EgoApp:
        """The app, with its own type."""
        return cast("EgoApp", self.app)

    @property
    def talk(self) -> Talk:
        """The conversation; full screens are opened from it, so it is there."""
        talk = self.ego.talk
        assert talk is not None
        return talk

    def action_back(self) -> None:
        self.dismiss()


class Dialog(ModalScreen[str]):
    """A small question in front of everything; dismissed with "" when it was not answered."""

    CSS_PATH = "screens.tcss"
    BINDINGS = keys.bindings("dialog")

    def action_cancel(self) -> None:
        self.dismiss("")
