"""The inspector: what ego understood, why it shows what it shows, what it remembers and what that costs.

The app sends one frozen ``Snapshot``; the inspector's reactive takes it and its watcher hands it to every pane.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.reactive import reactive

from ego_cli.tui.inspector.costs import Timings, Tokens
from ego_cli.tui.inspector.memory import MemoryPane
from ego_cli.tui.inspector.nudges import Nudges
from ego_cli.tui.inspector.pane import Pane
from ego_cli.tui.inspector.ranking import Ranking
from ego_cli.tui.inspector.route import Route
from ego_cli.tui.inspector.strip import Strip
from ego_cli.tui.inspector.understood import ErasedPane, Exclusions, Slots
from ego_cli.tui.snapshot import Snapshot

__all__ = ["PANES", "Inspector", "Pane", "Strip"]

PANES: tuple[type[Pane], ...] = (
    Slots,
    Exclusions,
    ErasedPane,
    Route,
    Ranking,
    MemoryPane,
    Tokens,
    Timings,
    Nudges,
)


class Inspector(VerticalScroll, can_focus=False):
    """All panes, one below the other."""

    snapshot: reactive[Snapshot] = reactive(Snapshot, init=False)

    def compose(self) -> ComposeResult:
        yield from (pane(id=pane.NAME.lower().replace(" ", "-")) for pane in PANES)

    def watch_snapshot(self, snapshot: Snapshot) -> None:
        for pane in self._panes():
            pane.snapshot = snapshot

    def _panes(self) -> list[Pane]:
        return [child for child in self.children if isinstance(child, Pane)]

    def on_pane_leave(self, message: Pane.Leave) -> None:
        message.stop()
        panes = self._panes()
        goal = panes.index(message.pane) + message.step
        if 0 <= goal < len(panes):
            panes[goal].focus()
            panes[goal].cursor = 0 if message.step > 0 else max(len(panes[goal].rows()) - 1, 0)
