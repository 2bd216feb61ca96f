"""What all inspector panes share: a title that folds, lines drawn from the snapshot, a cursor over rows."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.message_pump import _MessagePumpMeta
from textual.reactive import reactive
from textual.widget import Widget

from ego_cli.tui import keys
from ego_cli.tui.drawing import MUTED, cut, stack, text
from ego_cli.tui.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Line:
    """One drawn line. ``row`` is the id of the thing it stands for, "" for none; a row's first line takes the cursor."""

    content: Content
    row: str = ""


class _WidgetWithGaps(_MessagePumpMeta, ABCMeta):
    """The kind of class that a widget is, of which methods may be left to subclasses."""


class Pane(Widget, metaclass=_WidgetWithGaps, can_focus=True):
    """One foldable part of the inspector. A kind of pane says what it draws; it holds nothing but fold and cursor."""

    NAME: ClassVar[str] = ""
    PLACE: ClassVar[str] = "pane"  # where its keys stand in the table of keys
    BINDINGS = keys.bindings("pane")

    snapshot: reactive[Snapshot] = reactive(Snapshot, init=False, layout=True)
    folded: reactive[bool] = reactive(False, layout=True)
    cursor: reactive[int] = reactive(0)

    class Leave(Message):
        """The cursor ran over an end of the pane: ``step`` -1 up, +1 down."""

        def __init__(self, pane: Pane, step: int) -> None:
            super().__init__()
            self.pane = pane
            self.step = step

    # --- what a kind of pane defines

    @abstractmethod
    def summary(self, snapshot: Snapshot) -> str:
        """A few words at the right of the title, readable when the pane is folded; "" leaves the pane closed."""

    @abstractmethod
    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        """The lines below the title, each at most ``width`` cells."""

    # --- drawing

    def rows(self) -> list[str]:
        """Ids of the rows, top to bottom."""
        return list(dict.fromkeys(line.row for line in self.body(self.snapshot, self._width) if line.row))

    @property
    def row(self) -> str:
        """Id of the row under the cursor, or ""."""
        rows = self.rows()
        return rows[min(self.cursor, len(rows) - 1)] if rows else ""

    @property
    def _width(self) -> int:
        return max(self.content_size.width or self.size.width, 20)

    def _title(self, width: int) -> Content:
        mark = "▸" if self.folded else "▾"
        style = "bold $accent" if self.has_focus else "bold $primary"
        name = text(f"{mark} {self.NAME} ", style)
        summary = cut(text(self.summary(self.snapshot), MUTED), max(width - name.cell_length - 4, 1))
        rule = "─" * max(width - name.cell_length - summary.cell_length - 1, 1)
        return name + text(rule, "$foreground 18%") + Content(" ") + summary

    def _lines(self, width: int) -> list[Line]:
        return [] if self.folded else self.body(self.snapshot, width)

    def render(self) -> Content:
        width = self._width
        current = self.row if self.has_focus else ""
        drawn = [self._title(width)]
        seen = False
        for line in self._lines(width):
            here = bool(current) and line.row == current and not seen
            seen = seen or here
            drawn.append(text("›", "bold $accent") + line.content[1:] if here else line.content)
        return stack(drawn)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1 + len(self._lines(max(width, 20)))

    # --- keys and mouse

    def watch_has_focus(self, _: bool) -> None:
        self.refresh()

    def action_fold(self) -> None:
        self.folded = not self.folded

    def action_step(self, step: int) -> None:
        goal = self.cursor + step
        if 0 <= goal < len(self.rows()) and not self.folded:
            self.cursor = goal
            self.call_after_refresh(self._show_cursor)
        else:
            self.post_message(self.Leave(self, step))

    def action_edge(self, step: int) -> None:
        self.cursor = 0 if step < 0 else max(len(self.rows()) - 1, 0)

    def _show_cursor(self) -> None:
        for y, line in enumerate(self._lines(self._width), start=1):
            if line.row and line.row == self.row:
                self.screen.scroll_to_widget(self, animate=False)
                if self.parent is not None and isinstance(self.parent, Widget):
                    self.parent.scroll_to_region(
                        Region(0, self.virtual_region.y + y, self.size.width, 1), animate=False
                    )
                return

    def on_click(self, event: events.Click) -> None:
        if event.y == 0:
            self.action_fold()
            return
        lines = self._lines(self._width)
        if event.y - 1 < len(lines) and (row := lines[event.y - 1].row):
            self.cursor = self.rows().index(row)
