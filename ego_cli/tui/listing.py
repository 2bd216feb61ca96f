"""A list with a cursor: what panes, browsers and pickers show, one widget however long the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from ego_cli.tui import keys
from ego_cli.tui.drawing import MUTED, stack, text


@dataclass(frozen=True, slots=True)
class Item:
    """One entry. ``draw`` makes its lines for a width (without the cursor's two cells); ``id`` "" cannot be chosen."""

    id: str
    draw: Callable[[int], list[Content]]


def heading(words: str, *, gap: bool = False) -> Item:
    """A line that cannot be chosen; ``gap`` puts an empty one above it."""
    lines = [*([Content("")] if gap else []), text(words, "bold $primary")]
    return Item("", lambda width: lines)


class Listing(Widget, can_focus=True):
    """Entries below each other; j/k or arrows move, Enter opens, a click does both."""

    BINDINGS = keys.bindings("list")

    items: reactive[Sequence[Item]] = reactive((), layout=True, always_update=True)
    cursor: reactive[int] = reactive(0)

    class Moved(Message):
        """The cursor came to the entry ``id``."""

        def __init__(self, listing: Listing, id: str) -> None:
            super().__init__()
            self.listing = listing
            self.id = id

        @property
        def control(self) -> Listing:
            return self.listing

    class Opened(Moved):
        """The entry ``id`` was chosen."""

    def __init__(self, *, empty: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.empty = empty

    # --- content

    def fill(self, items: Sequence[Item], *, keep: str = "") -> None:
        """Show other entries; the cursor stays on the entry ``keep`` if it is still there."""
        at = next((n for n, item in enumerate(items) if item.id and item.id == keep), None)
        self.items = items
        self.cursor = at if at is not None else self._next(-1, 1)

    @property
    def current(self) -> str:
        """Id of the entry under the cursor, or ""."""
        return self.items[self.cursor].id if 0 <= self.cursor < len(self.items) else ""

    def _room(self, width: int) -> int:
        return max(width - 2, 8)

    def render(self) -> Content:
        width = self.size.width
        if not self.items:
            return text(self.empty, MUTED)
        lines: list[Content] = []
        for number, item in enumerate(self.items):
            here = number == self.cursor and bool(item.id)
            here = here and self.has_focus
            mark = text("› " if here else "  ", "bold $accent")
            drawn = item.draw(self._room(width))
            for n, line in enumerate(drawn):
                whole = (mark if n == 0 else Content("  ")) + line
                if here:
                    whole = whole.truncate(width, pad=True).stylize("on $panel")
                lines.append(whole)
        return stack(lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(sum(len(item.draw(self._room(width))) for item in self.items), 1)

    # --- cursor

    def _next(self, start: int, step: int) -> int:
        at = start + step
        while 0 <= at < len(self.items):
            if self.items[at].id:
                return at
            at += step
        return start if 0 <= start < len(self.items) else 0

    def _go(self, at: int) -> None:
        if at != self.cursor:
            self.cursor = at
            self.post_message(self.Moved(self, self.current))
        self._reveal()

    def _reveal(self) -> None:
        room = self._room(self.size.width)
        top = sum(len(item.draw(room)) for item in self.items[: self.cursor])
        if self.items and isinstance(self.parent, Widget):
            height = len(self.items[self.cursor].draw(room))
            at = self.virtual_region.offset
            self.parent.scroll_to_region(Region(at.x, at.y + top, self.size.width, height), animate=False)

    def action_step(self, step: int) -> None:
        self._go(self._next(self.cursor, step))

    def action_page(self, step: int) -> None:
        for _ in range(8):
            self.cursor = self._next(self.cursor, step)
        self.post_message(self.Moved(self, self.current))
        self._reveal()

    def action_edge(self, step: int) -> None:
        self._go(self._next(-1, 1) if step < 0 else self._next(len(self.items), -1))

    def action_open(self) -> None:
        if self.current:
            self.post_message(self.Opened(self, self.current))

    def on_click(self, event: events.Click) -> None:
        room, y = self._room(self.size.width), event.y
        for number, item in enumerate(self.items):
            y -= len(item.draw(room))
            if y < 0:
                if item.id:
                    self._go(number)
                    self.action_open()
                return

    def watch_has_focus(self, _: bool) -> None:
        self.refresh()
