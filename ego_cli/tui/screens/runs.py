"""Evaluation runs: how far each is, what it measured, and its series as plots."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from ego_cli.conversation.wording import plural
from ego_cli.tui import keys
from ego_cli.tui.drawing import FAINT, MUTED, bar, curve, fit, spread, stack, text
from ego_cli.tui.engine import Run
from ego_cli.tui.listing import Item, Listing
from ego_cli.tui.screens.frame import FullScreen, KeyLine, Title

_REFRESH_S = 1.0
_PLOT = 6  # lines


def run_lines(run: Run, width: int) -> list[Content]:
    """A run in a list: what and when, and how far."""
    share = run.done / run.total if run.total else 1.0
    state = "done" if share >= 1 else f"{run.done:,}/{run.total:,}"
    left = text(run.title)
    second = bar(share, max(min(width - 24, 24), 4), "$success" if share >= 1 else "$accent") + text(
        f" {state}", MUTED
    )
    return [spread(left, text(run.id, FAINT), width), spread(second, text(run.started, FAINT), width)]


class Figures(Widget):
    """Figures and plots of one run."""

    def __init__(self) -> None:
        super().__init__()
        self.run: Run | None = None

    def show(self, run: Run | None) -> None:
        self.run = run
        self.refresh(layout=True)

    def _lines(self, width: int) -> list[Content]:
        run = self.run
        if run is None:
            return [text("n plays sixty made customers; ego eval shop can do more", MUTED)]
        lines = [text(run.title, "bold"), Content("")]
        for name, value in run.figures.items():
            label = fit(text(name.replace("_", " "), MUTED), 22)
            number = text(f"{value:>10,.4g}", "bold")
            drawn = label + number
            if 0 <= value <= 1 and width > 44:
                drawn += Content("  ") + bar(value, min(width - 36, 40))
            lines.append(drawn)
        for name, series in run.series.items():
            top = max(series, default=0.0)
            lines += [
                Content(""),
                spread(text(name, "bold $primary"), text(f"most {top:,.4g}", FAINT), width),
            ]
            lines += [
                text(dots, "$secondary") for dots in curve(series, max(width - 1, 10), _PLOT, top or 1.0)
            ]
        return lines

    def render(self) -> Content:
        return stack(self._lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))


class RunsScreen(FullScreen):
    """Runs at the left, the chosen one at the right; read anew every second while it is open."""

    BINDINGS = keys.bindings("runs")

    def __init__(self) -> None:
        super().__init__()
        self.runs: tuple[Run, ...] = ()
        self._playing = False

    def compose(self) -> ComposeResult:
        yield Title("evaluation runs")
        with Horizontal(classes="halves stacked"):
            with VerticalScroll(classes="main", can_focus=False):
                yield Listing(id="runs", empty="no run yet")
            with VerticalScroll(classes="beside"):  # can be focused: the plots may lie below its edge
                yield Figures()
        yield KeyLine("runs", "list", "screen")

    def on_mount(self) -> None:
        self.query_one(Listing).focus()
        self._read()
        self.set_interval(_REFRESH_S, self._read)

    def _read(self) -> None:
        self.talk.do(lambda engine: engine.runs(), self._show)

    def _show(self, runs: tuple[Run, ...]) -> None:
        if not self.is_attached or runs == self.runs:
            return
        self.runs = runs
        if not self._playing:
            self._remark(plural(len(runs), "run"))
        listing = self.query_one(Listing)
        listing.fill(
            [Item(run.id, partial(run_lines, run)) for run in runs],
            keep=listing.current,
        )
        self._draw()

    def _draw(self) -> None:
        current = self.query_one(Listing).current
        self.query_one(Figures).show(next((run for run in self.runs if run.id == current), None))

    def action_start(self) -> None:
        if not self._playing:
            self._playing = True
            self._remark("a run begins…")
            self.talk.evaluate(self._advance, self._played)

    def _advance(self, done: int, total: int) -> None:
        self._remark(f"playing {done:,} of {total:,} sessions {bar(done / max(total, 1), 20).plain}")

    def _played(self) -> None:
        self._playing = False
        self._remark(plural(len(self.runs), "run"))
        if self.is_attached:
            self._read()

    def _remark(self, words: str) -> None:
        if self.is_attached:
            self.query_one(Title).remark = words

    def on_listing_moved(self, _: Listing.Moved) -> None:
        self._draw()

    def on_listing_opened(self, _: Listing.Opened) -> None:
        self.query_one(".beside").focus()
