"""All memories, and how each will fade."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from ego_cli.tui import keys
from ego_cli.tui.drawing import FAINT, MUTED, bar, curve, spread, stack, text, wrap
from ego_cli.tui.engine import MemoryPage, MemoryRow
from ego_cli.tui.inspector.memory import facts, marks
from ego_cli.tui.listing import Item, Listing
from ego_cli.tui.screens.dialogs import Confirm, Edit
from ego_cli.tui.screens.frame import FullScreen, KeyLine, Title

_BAR = 10


def memory_line(row: MemoryRow, width: int) -> list[Content]:
    """A memory in a list: retention, marks, words."""
    left = (
        bar(row.retention, _BAR, "$success" if row.pinned else "$primary") + Content(" ") + marks(row, False)
    )
    return [spread(left + text(row.text), text(row.source or row.kind, FAINT), width)]


class Fading(Widget):
    """The forgetting curve of one memory over the days to come."""

    HEIGHT = 9

    def __init__(self) -> None:
        super().__init__()
        self.row: MemoryRow | None = None
        self.policy = ""

    def show(self, row: MemoryRow | None, policy: str) -> None:
        self.row, self.policy = row, policy
        self.refresh(layout=True)

    def _lines(self, width: int) -> list[Content]:
        row = self.row
        if row is None:
            return [text("nothing remembered yet", MUTED)]
        lines = wrap(text(row.text, "bold"), width)
        lines += wrap(text(facts(row), MUTED), width)
        lines.append(Content(""))
        room = max(width - 7, 10)
        if ahead := row.curve():
            plotted = curve(ahead, room, self.HEIGHT)
            for y, dots in enumerate(plotted):
                label = {0: "100 % ", self.HEIGHT // 2: " 50 % ", self.HEIGHT - 1: "  0 % "}.get(y, "      ")
                lines.append(
                    text(label, FAINT)
                    + text("│", FAINT)
                    + text(dots, "$success" if row.pinned else "$primary")
                )
            days = len(ahead) - 1
            lines.append(text("      └" + "─" * room, FAINT))
            middle = f"{days // 2} days"
            axis = "today" + middle.center(max(room - 5 - len(f"{days} days"), 0)) + f"{days} days"
            lines.append(text("       " + axis[:room], FAINT))
            fate = (
                "pinned: it does not fade"
                if row.pinned
                else f"{ahead[-1]:.0%} left in {days} days if it is not used"
            )
            lines += [Content(""), *wrap(text(f"{fate} · {self.policy}", MUTED), width)]
        return lines

    def render(self) -> Content:
        return stack(self._lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))


class MemoryScreen(FullScreen):
    """The list at the left, the curve of the chosen memory at the right (below, on a narrow screen)."""

    BINDINGS = keys.bindings("memory")

    def __init__(self) -> None:
        super().__init__()
        self.page = MemoryPage()

    def compose(self) -> ComposeResult:
        yield Title("memory")
        with Horizontal(classes="halves stacked"):
            with VerticalScroll(classes="main", can_focus=False):
                yield Listing(id="memories", empty="nothing remembered yet: talk, or /quiz")
            with VerticalScroll(classes="beside"):  # can be focused: the curve may lie below its edge
                yield Fading()
        yield KeyLine("memory", "list", "screen")

    def on_mount(self) -> None:
        self.query_one(Listing).focus()
        self._read()

    def _read(self) -> None:
        self.talk.do(lambda engine: engine.memories(), self._show)
        self.talk.refresh_memory()

    def _show(self, page: MemoryPage) -> None:
        if not self.is_attached:
            return
        self.page = page
        self.query_one(
            Title
        ).remark = f"{len(page.rows):,} {'memory' if len(page.rows) == 1 else 'memories'} · {page.policy}"
        listing = self.query_one(Listing)
        rows = sorted(page.rows, key=lambda row: (not row.pinned, -row.retention, row.id))
        listing.fill(
            [Item(row.id, partial(memory_line, row), height=1) for row in rows],
            keep=listing.current,
        )
        self.query_one(Fading).show(self._row, page.policy)

    @property
    def _row(self) -> MemoryRow | None:
        current = self.query_one(Listing).current
        return next((row for row in self.page.rows if row.id == current), None)

    def on_listing_moved(self, _: Listing.Moved) -> None:
        self.query_one(Fading).show(self._row, self.page.policy)

    def on_listing_opened(self, _: Listing.Opened) -> None:
        self.query_one(".beside").focus()

    def action_pin(self) -> None:
        if row := self._row:
            self.talk.do(lambda engine: engine.pin(row.id, not row.pinned), lambda _: self._read())

    def action_edit(self) -> None:
        if row := self._row:

            def edited(words: str | None) -> None:
                if words and words != row.text:
                    self.talk.do(lambda engine: engine.edit(row.id, words), lambda _: self._read())

            self.app.push_screen(Edit("What should ego remember instead?", row.text), edited)

    def action_forget(self) -> None:
        if row := self._row:

            def sure(answer: str | None) -> None:
                if answer:
                    self.talk.do(lambda engine: engine.forget(row.id), lambda _: self._read())

            self.app.push_screen(Confirm(f"Forget “{row.text}” for good?"), sure)
