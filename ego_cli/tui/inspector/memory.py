"""What is remembered about the shopper, how fresh it is, and what of it bore on this turn."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message

from ego_cli.tui import keys
from ego_cli.tui.drawing import FAINT, MUTED, bar, spread, text
from ego_cli.tui.engine import MemoryRow
from ego_cli.tui.inspector.pane import Line, Pane
from ego_cli.tui.snapshot import Snapshot

_ROWS = 8  # memories in the pane; the browser has them all
_BAR = 8


def marks(row: MemoryRow, used: bool) -> Content:
    """Pinned and used-now marks, two cells."""
    return text("◆" if row.pinned else " ", "$accent") + text("●" if used else " ", "bold $success")


def facts(row: MemoryRow) -> str:
    """What is known about a memory, in one line."""
    age = "today" if row.days < 1 else f"{row.days:.0f} d"
    parts = [
        row.kind,
        row.source,
        age,
        f"{row.uses} uses" if row.uses != 1 else "1 use",
        f"{row.confidence} confidence" if row.confidence else "",
    ]
    if row.subject:
        parts.append(f"about {row.subject}")
    if row.pinned:
        parts.append("pinned")
    return " · ".join(part for part in parts if part)


class MemoryPane(Pane):
    """Retention bars, marks, and keys to pin, edit and forget."""

    NAME = "Memory"
    PLACE = "memory"
    BINDINGS = keys.bindings("memory")

    class Asked(Message):
        """Something is to be done to a memory: ``deed`` is "pin", "edit" or "forget"."""

        def __init__(self, deed: str, row: MemoryRow) -> None:
            super().__init__()
            self.deed = deed
            self.row = row

    def summary(self, snapshot: Snapshot) -> str:
        rows = snapshot.memory.rows
        if not rows:
            return "nothing remembered"
        used = len(snapshot.uses)
        return f"{len(rows)} · {snapshot.memory.policy}" + (f" · {used} used" if used else "")

    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        used = {use.entry_id: use.how for use in snapshot.uses}
        rows = sorted(
            snapshot.memory.rows, key=lambda row: (row.id not in used, not row.pinned, -row.retention, row.id)
        )
        lines: list[Line] = []
        for row in rows[:_ROWS]:
            left = (
                Content(" ")
                + bar(row.retention, _BAR, "$success" if row.pinned else "$primary")
                + Content(" ")
            )
            left += marks(row, row.id in used) + Content(" ") + text(row.text)
            how = f"{used[row.id]}" if row.id in used else (row.source or row.kind)
            lines.append(
                Line(spread(left, text(how, "$success" if row.id in used else FAINT), width), row.id)
            )
            if self.has_focus and row.id == self._at(rows):
                lines.append(
                    Line(text(" " * (_BAR + 5) + facts(row), MUTED).truncate(width, ellipsis=True), row.id)
                )
        if len(rows) > _ROWS:
            lines.append(Line(text(f" and {len(rows) - _ROWS} more: /memory", MUTED)))
        unlisted = set(used) - {row.id for row in snapshot.memory.rows}
        for use in snapshot.uses:
            if use.entry_id in unlisted:
                left = (
                    Content(" ") + bar(use.retention, _BAR) + text("  ● ", "bold $success") + text(use.text)
                )
                lines.append(Line(spread(left, text(use.how, "$success"), width)))
        return lines

    def _at(self, rows: list[MemoryRow]) -> str:
        shown = rows[:_ROWS]
        return shown[min(self.cursor, len(shown) - 1)].id if shown else ""

    def watch_cursor(self, _: int) -> None:
        self.refresh(layout=True)

    def watch_has_focus(self, _: bool) -> None:
        self.refresh(layout=True)

    def _ask(self, deed: str) -> None:
        found = next((row for row in self.snapshot.memory.rows if row.id == self.row), None)
        if found:
            self.post_message(self.Asked(deed, found))

    def action_pin(self) -> None:
        self._ask("pin")

    def action_edit(self) -> None:
        self._ask("edit")

    def action_forget(self) -> None:
        self._ask("forget")
