"""Why the selected product stands where it stands: every term of its score, its ranks by leg, its reasons' fields."""

from __future__ import annotations

from textual.content import Content

from ego_cli.catalog.text import quantity, unit_named
from ego_cli.ranking.scored import Ranked, Scored
from ego_cli.tui.drawing import FAINT, MUTED, bar, cut, fit, spread, text, wrap
from ego_cli.tui.inspector.pane import Line, Pane
from ego_cli.tui.snapshot import Snapshot

_TWO_COLUMNS = 62  # cells from which two bars stand side by side
_LEGS = ("lexical", "dense", "collaborative")


def funnel(ranked: Ranked, shown: int) -> str:
    """Candidates, what qualified, what is shown."""
    return f"{ranked.candidates:,} looked at → {ranked.matched:,} fit → {shown} shown"


def rule_text(rule: str) -> str:
    """A rule that left products out, its amount as people write it: "capacity: 20000 mah" -> "capacity: 20,000 mAh"."""
    name, _, value = rule.partition(": ")
    number, _, unit = value.partition(" ")
    if unit_named(unit) is None:
        return rule
    try:
        return f"{name}: {quantity(float(number), unit)}"
    except ValueError:  # words, not an amount
        return rule


def term_bar(name: str, value: float, top: float, width: int) -> Content:
    """One term of a score: name, bar on the common scale, value; a penalty says so with its sign and colour."""
    label = fit(text(name.replace("_", " "), MUTED), 13)
    number = text(
        f"{value:7.2f}" if value >= 0 else f"{value:7.2f}".replace("-", "−"), "" if value >= 0 else "$error"
    )
    room = width - label.cell_length - number.cell_length - 1
    return (
        label
        + bar(abs(value) / top, max(room, 3), "$primary" if value >= 0 else "$error")
        + number
        + Content(" ")
    )


class Ranking(Pane):
    """The selected product's score, taken apart."""

    NAME = "Ranking"

    def summary(self, snapshot: Snapshot) -> str:
        chosen = snapshot.chosen
        if chosen is None:
            return "nothing shown"
        position = min(snapshot.selected, len(snapshot.listed) - 1) + 1
        return f"number {position} of {len(snapshot.listed)} · score {chosen.total:.1f}"

    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        chosen = snapshot.chosen
        lines: list[Line] = []
        for number, ranked in enumerate(snapshot.ranked):
            shown = snapshot.lengths[number] if number < len(snapshot.lengths) else 0
            lines.append(Line(text(f" {funnel(ranked, shown)}", MUTED)))
            lines += [Line(text(f" {note}", MUTED)) for note in ranked.notes]
            if ranked.filtered:
                out = " · ".join(
                    f"{rule_text(rule)} {count:,}"
                    for rule, count in sorted(ranked.filtered.items(), key=lambda kv: -kv[1])
                )
                lines += [
                    Line(Content(" ") + piece)
                    for piece in wrap(text(f"left out: {out}", FAINT), width - 2, 10)
                ]
        if chosen is None:
            return lines
        lines.append(Line(text(" ") + cut(text(chosen.product.title, "bold"), width - 1)))
        lines += self._terms(chosen, width - 1)
        lines += self._evidence(chosen, width)
        return lines

    @staticmethod
    def _terms(chosen: Scored, width: int) -> list[Line]:
        terms = sorted(chosen.terms.items(), key=lambda item: (-abs(item[1]), item[0]))
        top = max((abs(value) for _, value in terms), default=1.0) or 1.0
        columns = 2 if width >= _TWO_COLUMNS else 1
        each = width // columns
        drawn = [term_bar(name, value, top, each) for name, value in terms if value]
        half = -(-len(drawn) // columns)
        if columns == 1:
            return [Line(Content(" ") + line) for line in drawn]
        blank = Content("")
        pairs = zip(drawn[:half], [*drawn[half:], blank][:half] if half else [], strict=False)
        return [Line(Content(" ") + left + Content(" ") + right) for left, right in pairs]

    @staticmethod
    def _evidence(chosen: Scored, width: int) -> list[Line]:
        legs = [
            leg
            for leg in (*_LEGS, *sorted(set(chosen.legs) - set(_LEGS)))
            if leg in chosen.legs or leg in _LEGS
        ]
        ranks = "  ".join(f"{leg} {f'#{chosen.legs[leg]}' if leg in chosen.legs else '–'}" for leg in legs)
        pieces = wrap(text(ranks), width - 7)
        lines = [
            Line(text(" legs  " if n == 0 else " " * 7, MUTED) + piece) for n, piece in enumerate(pieces)
        ]
        for reason in chosen.reasons:
            left = text(" ✓ ", "$success") + text(reason.tag)
            field = text(f"{reason.field}", MUTED)
            lines.append(Line(spread(left, field, width)))
        return lines
