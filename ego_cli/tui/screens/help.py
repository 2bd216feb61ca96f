"""Help, made of the tables that the screen itself works from: commands and keys."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from ego_cli.conversation.commands import COMMANDS
from ego_cli.tui import keys
from ego_cli.tui.drawing import FAINT, MUTED, fit, stack, text, wrap
from ego_cli.tui.screens.frame import FullScreen, KeyLine, Title

_NAME = 20  # cells of a command or key
_ID = 24  # cells of a binding id
_TWO_COLUMNS = 100
_SAYINGS = (
    "power bank under 20k",
    "actually make it bigger, and no leather",
    "why number 2?",
    "compare 1 and 3",
    "keep the colour after all",
)


def command_lines(width: int) -> list[Content]:
    """Every slash command with what it does."""
    lines = [text("Commands", "bold $primary")]
    for command in COMMANDS:
        pieces = wrap(text(command.help, MUTED), max(width - _NAME, 10))
        lines.append(fit(text(command.usage, "bold"), _NAME) + pieces[0])
        lines += [Content(" " * _NAME) + piece for piece in pieces[1:]]
    return lines


def key_lines(width: int, remapped: Mapping[str, str], ids: bool = False) -> list[Content]:
    """Every key with what it does, by the part of the screen that answers; ``ids`` adds the names to remap them."""
    mapped = keys.in_force(remapped)
    lines: list[Content] = []
    for where, title in keys.PLACES.items():
        here = [key for key in keys.KEYS if key.where == where]
        if not here:
            continue
        lines += [Content("")] if lines else []
        lines.append(text(title, "bold $primary"))
        for key in here:
            if key.id.startswith("prompt.choose_") and not ids:
                continue
            spelled = " ".join(keys.spell(part) for part in mapped[key.id].split(","))
            start = fit(text(spelled, "bold"), _NAME) + (
                fit(text(key.id, FAINT), _ID) if ids else Content("")
            )
            room = max(width - start.cell_length, 10)
            pieces = wrap(text(key.help, MUTED), room)
            lines.append(start + pieces[0])
            lines += [Content(" " * start.cell_length) + piece for piece in pieces[1:]]
        if where == "prompt" and not ids:
            lines.append(
                fit(text("1 … 9, Alt+1 … 9", "bold"), _NAME) + text("answer a question by number", MUTED)
            )
    return lines


class HelpText(Widget):
    """Commands beside keys where there is room, below each other where not."""

    def _lines(self, width: int) -> list[Content]:
        intro = [text("Talk as you would in a shop:", "bold")]
        intro += [text(f"  “{saying}”", "italic $secondary") for saying in _SAYINGS] + [Content("")]
        remapped = getattr(self.app, "remapped", {})
        if width < _TWO_COLUMNS:
            return [*intro, *command_lines(width), Content(""), *key_lines(width, remapped)]
        half = width // 2 - 2
        left, right = command_lines(half), key_lines(half, remapped)
        height = max(len(left), len(right))
        left += [Content("")] * (height - len(left))
        right += [Content("")] * (height - len(right))
        return [*intro, *(fit(a, half) + Content("    ") + b for a, b in zip(left, right, strict=True))]

    def render(self) -> Content:
        return stack(self._lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))


class HelpScreen(FullScreen):
    """What one can say, type and press."""

    def compose(self) -> ComposeResult:
        yield Title("help")
        with VerticalScroll(classes="main"):
            yield HelpText()
        yield KeyLine("screen")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
