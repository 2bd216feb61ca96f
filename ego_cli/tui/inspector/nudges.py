"""What ego would bring up by itself, and what it has to say about the turn."""

from __future__ import annotations

from textual.content import Content

from ego_cli.tui.drawing import MUTED, text, wrap
from ego_cli.tui.inspector.pane import Line, Pane
from ego_cli.tui.snapshot import Snapshot

_LEVELS = {"info": MUTED, "warning": "$warning", "error": "$error"}


class Nudges(Pane):
    """Gaps in memory, outcomes to ask about, things that expire or came into budget; and notices."""

    NAME = "Nudges"

    def summary(self, snapshot: Snapshot) -> str:
        count = len(snapshot.nudges)
        return f"{count} waiting" if count else "none"

    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        lines: list[Line] = []
        for nudge in snapshot.nudges:
            pieces = wrap(text(nudge), width - 4)
            lines += [
                Line(text(" ◇ " if n == 0 else "   ", "$accent") + piece) for n, piece in enumerate(pieces)
            ]
        for notice in snapshot.notices:
            style = _LEVELS.get(notice.level, "")
            lines += [
                Line(Content(" ! " if n == 0 else "   ") + piece)
                for n, piece in enumerate(wrap(text(notice.text, style), width - 4))
            ]
        return lines
