"""Buying or browsing, why, which question comes next and what it is worth, and what was given up to find anything."""

from __future__ import annotations

from textual.content import Content

from ego_cli.tui.drawing import MUTED, cut, text, wrap
from ego_cli.tui.inspector.pane import Line, Pane
from ego_cli.tui.snapshot import Snapshot

_LABEL = 10


def _labelled(label: str, content: Content, width: int) -> list[Line]:
    pieces = wrap(content, width - _LABEL - 1)
    first = text(f" {label}".ljust(_LABEL), MUTED) + pieces[0]
    return [Line(first), *(Line(Content(" " * _LABEL) + piece) for piece in pieces[1:])]


class Route(Pane):
    """The decision of the turn."""

    NAME = "Route and question"

    def summary(self, snapshot: Snapshot) -> str:
        if not snapshot.turn:
            return "not decided"
        question = snapshot.decision.question
        return snapshot.decision.route.lower() + (f" · asks {question.attribute}" if question else "")

    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        if not snapshot.turn:
            return []
        decision = snapshot.decision
        route = text(decision.route, "bold $secondary")
        if decision.route_reason:
            route += text(f"  {decision.route_reason}", MUTED)
        lines = _labelled("route", route, width)
        if question := decision.question:
            asked = text(question.attribute, "bold") + text(f"  gain {question.gain:.2f} bits", MUTED)
            lines += _labelled("next", asked, width)
            lines.append(
                Line(Content(" " * _LABEL) + cut(text(question.text, f"italic {MUTED}"), width - _LABEL))
            )
        for relaxed in decision.relaxations:
            fits = f"  {relaxed.count:,} fit without it"
            lines += _labelled(
                "relaxed", text(f"{relaxed.attribute} {relaxed.value}", "$warning") + text(fits, MUTED), width
            )
        return lines
