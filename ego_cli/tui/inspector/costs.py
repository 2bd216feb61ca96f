"""What a turn costs: tokens and money of language models, and milliseconds by stage."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from textual.content import Content

from ego_cli.tui.drawing import MUTED, bar, fit, sparkline, spread, text
from ego_cli.tui.inspector.pane import Line, Pane
from ego_cli.tui.snapshot import TURNS_IN_SPARKLINE, Snapshot


def milliseconds(value: float) -> str:
    """A duration with a sensible number of digits."""
    return (
        f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.1f} ms" if value < 100 else f"{value:.0f} ms"
    )


class Tokens(Pane):
    """Calls of this turn, and the session's spending against its budget."""

    NAME = "Tokens"

    def summary(self, snapshot: Snapshot) -> str:
        if not snapshot.spending.calls:
            return f"0 · {snapshot.model or 'rules only'}"
        return f"{snapshot.spending.tokens:,} · ${snapshot.spending.cost_usd:.4f}"

    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        spent = snapshot.spending
        if not spent.calls:
            return []
        lines: list[Line] = []
        for call in snapshot.calls:
            left = text(f" {call.purpose:<12}", MUTED) + text(call.model)
            flow = "cached" if call.cached else f"{call.prompt_tokens:,} → {call.completion_tokens:,}"
            note = "≈ " if call.estimated else ""
            end = f"{note}{flow}  {milliseconds(call.latency_ms)}"
            lines.append(Line(spread(left, text(end), width)))
            if call.error or call.fallback:
                what = call.error or "fell back to the next model"
                lines.append(Line(text(f"   {what}", "$warning").truncate(width, ellipsis=True)))
        flow = f"{spent.prompt_tokens:,} in · {spent.completion_tokens:,} out"
        lines.append(Line(spread(text(" session     ", MUTED) + text(flow), f"${spent.cost_usd:.4f}", width)))
        if snapshot.token_budget:
            left_over = max(snapshot.token_budget - spent.tokens, 0)
            label = text(" budget      ", MUTED)
            rest = text(f" {left_over:,} left")
            room = max(width - label.cell_length - rest.cell_length, 4)
            lines.append(Line(label + bar(spent.tokens / snapshot.token_budget, room, "$secondary") + rest))
        note = f" {spent.calls} calls · {spent.fallbacks} fallbacks · {spent.cached} from cache"
        lines.append(Line(text(note, MUTED).truncate(width, ellipsis=True)))
        return lines


class Timings(Pane):
    """Milliseconds by stage for this turn, and the totals of the last turns as a sparkline."""

    NAME = "Timings"

    def summary(self, snapshot: Snapshot) -> str:
        if not snapshot.timings:
            return "no turn yet"
        return f"{milliseconds(_total(snapshot.timings[-1]))} {sparkline([_total(t) for t in snapshot.timings], 12)}"

    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        if not snapshot.timings:
            return []
        last = snapshot.timings[-1]
        top = max((ms for stage, ms in last.items() if stage != "total"), default=1.0) or 1.0
        lines = []
        for stage, ms in last.items():
            if stage == "total":
                continue
            number = text(f"{milliseconds(ms):>9}")
            label = Content(" ") + fit(text(stage, MUTED), 12)
            room = max(width - label.cell_length - number.cell_length, 3)
            lines.append(Line(label + bar(ms / top, room, "$secondary") + number))
        totals = [_total(turn) for turn in snapshot.timings]
        spark = text(" " + sparkline(totals, min(TURNS_IN_SPARKLINE, width - 22)), "$primary")
        lines.append(
            Line(spread(spark, text(f"median {milliseconds(statistics.median(totals))}", MUTED), width))
        )
        return lines


def _total(timings: Mapping[str, float]) -> float:
    return timings.get("total", sum(timings.values()))
