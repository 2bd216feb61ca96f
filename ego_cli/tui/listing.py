"""A list with a cursor: what panes, browsers and pickers show, one widget however long the list."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

from ego_cli.tui import keys
from ego_cli.tui.drawing import MUTED, text


@dataclass(frozen=True, slots=True)
class Item:
    """One entry. ``draw`` makes its lines for a width (without the cursor's two cells); ``id`` "" cannot be chosen.

    ``height`` is how many lines it makes; 0 has them counted, which takes a while where there are many entries.
    """

    id: str
    draw: Callable[[int], list[Content]]
    height: int = 0


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
        self._tops: list[int] = []
        self._measured: tuple[Sequence[Item] | None, int] = (
            None,
            0,
        )  # what the tops are of, and for which width

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

    def _tops_for(self, width: int) -> list[int]:
        """The line at which each entry begins, and last how many lines there are in all."""
        items, measured = self._measured
        if items is not self.items or measured != width:
            room = self._room(width)
            heights = (item.height or len(item.draw(room)) for item in self.items)
            self._tops = list(accumulate(heights, initial=0))
            self._measured = (self.items, width)
        return self._tops

    def _at(self, y: int) -> int:
        """Which entry a line belongs to."""
        return bisect_right(self._tops_for(self.size.width), y) - 1

    def render_line(self, y: int) -> Strip:
        """Only lines that are on the screen are drawn, however long the list."""
        width = self.size.width
        if self.items:
            line = self._line(y, width)
        else:
            line = text(self.empty if y == 0 else "", MUTED)
        return Visual.to_strips(self, line, width, 1, self.visual_style)[0]

    def _line(self, y: int, width: int) -> Content:
        number = self._at(y)
        if not 0 <= number < len(self.items):
            return Content("")
        item, first = self.items[number], y == self._tops[number]
        here = number == self.cursor and bool(item.id) and self.has_focus
        whole = text("› " if here and first else "  ", "bold $accent")
        whole += item.draw(self._room(width))[y - self._tops[number]]
        return whole.truncate(width, pad=True).stylize("on $panel") if here else whole

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(self._tops_for(width)[-1], 1)

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
        if self.items and isinstance(self.parent, Widget):
            top, below = self._tops_for(self.size.width)[self.cursor : self.cursor + 2]
            height = below - top
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
        number = self._at(event.y)
        if 0 <= number < len(self.items) and self.items[number].id:
            self._go(number)
            self.action_open()

    def watch_has_focus(self, _: bool) -> None:
        self.refresh()
