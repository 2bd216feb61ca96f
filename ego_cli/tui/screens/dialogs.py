"""Small questions in front of everything: yes or no, and a line to edit."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets._input import Input
from textual.widgets._static import Static

from ego_cli.tui.drawing import MUTED, text
from ego_cli.tui.screens.frame import Dialog


class Confirm(Dialog):
    """A question that "y" or Enter affirms; everything else leaves things as they are."""

    def __init__(self, question: str) -> None:
        super().__init__()
        self.question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(text(self.question, "bold"))
            yield Static(text("y  yes      n  no", MUTED))

    def on_key(self, event: events.Key) -> None:
        if event.key in ("y", "Y", "enter"):
            event.stop()
            self.dismiss("yes")
        elif event.key in ("n", "N"):
            event.stop()
            self.dismiss("")


class Edit(Dialog):
    """One line to change; Enter keeps it."""

    def __init__(self, question: str, words: str) -> None:
        super().__init__()
        self.question = question
        self.words = words

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(text(self.question, "bold"))
            yield Input(self.words, compact=True)
            yield Static(text("Enter  keep      Esc  leave as it was", MUTED))

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())
