"""What ego understood: constraints in force, promises, and what a change of mind took out."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message

from ego_cli.conversation.state import Budget, Erased, Slot, Want
from ego_cli.tui import keys
from ego_cli.tui.drawing import FAINT, MUTED, amount, cut, fit, spread, text
from ego_cli.tui.inspector.pane import Line, Pane
from ego_cli.tui.snapshot import Snapshot

CHANGED = "●"
_ROOMY = 56  # cells from which a row has place for everything


def quoted(words: str) -> str:
    """The shopper's own words, marked as such."""
    return f"“{words}”" if words else ""


def where_from(source: str, turn: int) -> str:
    """Where a constraint came from, short: "turn 3", "memory"."""
    return f"turn {turn}" if source == "said" else source


def budget_text(budget: Budget, currency: str | None) -> str:
    """Price bounds in a few characters: "≤ ₦20,000"."""
    unit = budget.currency or currency
    if budget.about is not None:
        bounds = f"≈ {amount(budget.about, unit)}"
    elif budget.minimum is not None and budget.maximum is not None:
        bounds = f"{amount(budget.minimum, unit)}–{amount(budget.maximum, unit)}"
    elif budget.maximum is not None:
        bounds = f"≤ {amount(budget.maximum, unit)}"
    elif budget.minimum is not None:
        bounds = f"≥ {amount(budget.minimum, unit)}"
    else:
        bounds = (budget.band or "any").replace("_", " ")
    return f"{bounds} for all" if budget.per == "all" else bounds


def shop_currency(snapshot: Snapshot) -> str | None:
    """The currency of the list on the screen."""
    return next((card.currency for card in snapshot.cards if card.currency), None)


def _row(mark: str, name: str, value: str, words: str, origin: str, width: int, style: str = "") -> Content:
    """mark, name, value, the shopper's words, and where it came from at the right edge."""
    left = text(f" {mark or ' '} ", "bold $accent") + fit(text(name, MUTED), 9) + Content(" ")
    left += text(value, style or "bold")
    room = width - left.cell_length - len(origin) - 4
    if words and room >= 8:
        left += Content("  ") + cut(text(quoted(words), f"italic {MUTED}"), room)
    return spread(left, text(origin, FAINT), width, gap=1)


class Slots(Pane):
    """Per want: what holds, where it came from, and a mark for what this turn changed."""

    NAME = "Slots"

    def summary(self, snapshot: Snapshot) -> str:
        state = snapshot.state
        held = sum(len(want.slots) + (want.budget is not None) for want in state.wants) + (
            state.budget is not None
        )
        if not held and not state.wants:
            return "nothing yet"
        changed = sum(_new(slot, snapshot) for want in state.wants for slot in want.slots)
        changed += sum(budget.turn == snapshot.turn for budget in _budgets(snapshot))
        return f"{held} held" + (f" · {changed} new" if changed else "")

    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        state, currency = snapshot.state, shop_currency(snapshot)
        lines: list[Line] = []
        for number, want in enumerate(state.wants, start=1):
            lines.append(Line(self._heading(number, want, snapshot, width)))
            if want.budget:
                lines.append(Line(self._budget(want.budget, snapshot, width, currency)))
            lines += [Line(self._slot(slot, snapshot, width)) for slot in want.slots]
        if state.budget:
            if len(state.wants) != 1:
                lines.append(Line(text(" all wants", MUTED)))
            lines.append(Line(self._budget(state.budget, snapshot, width, currency)))
        return lines

    def _heading(self, number: int, want: Want, snapshot: Snapshot, width: int) -> Content:
        several = len(snapshot.state.wants) > 1
        name = want.category or want.words or "anything"
        left = text(f" want {number}  " if several else " want  ", MUTED) + text(name, "bold $secondary")
        if want.quantity:
            left += text(f" ×{want.quantity}")
        if want.subject:
            left += text(f"  for {want.subject}", MUTED)
        active = several and number - 1 == snapshot.state.active
        new = want.turn == snapshot.turn
        end = text(f"{CHANGED} " if new else "", "$accent") + text("now" if active else "", FAINT)
        return spread(left, end.rstrip(), width)

    @staticmethod
    def _slot(slot: Slot, snapshot: Snapshot, width: int) -> Content:
        mark = CHANGED if _new(slot, snapshot) else ""
        value = slot.text or slot.words
        if slot.hardness != "must":
            value += {"prefer": " (if possible)", "only": " (only)"}.get(slot.hardness, "")
        origin = where_from(slot.source, slot.turn)
        return _row(mark, slot.attribute, value, slot.words, origin, width)

    @staticmethod
    def _budget(budget: Budget, snapshot: Snapshot, width: int, currency: str | None) -> Content:
        mark = CHANGED if budget.turn == snapshot.turn else ""
        return _row(mark, "price", budget_text(budget, currency), budget.words, f"turn {budget.turn}", width)


def _new(slot: Slot, snapshot: Snapshot) -> bool:
    return bool(snapshot.turn) and slot.turn == snapshot.turn


def _budgets(snapshot: Snapshot) -> list[Budget]:
    found = [want.budget for want in snapshot.state.wants] + [snapshot.state.budget]
    return [budget for budget in found if budget and snapshot.turn]


class Exclusions(Pane):
    """Promises: what is never shown."""

    NAME = "Never"

    def summary(self, snapshot: Snapshot) -> str:
        count = len(snapshot.state.exclusions)
        return f"{count} excluded" if count else "nothing excluded"

    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        lines = []
        for item in snapshot.state.exclusions:
            mark = CHANGED if item.turn == snapshot.turn and snapshot.turn else ""
            whom = f" ({item.subject})" if item.subject else ""
            lines.append(
                Line(
                    _row(
                        mark,
                        item.attribute or "anything",
                        f"✕ {item.value}{whom}",
                        item.words,
                        where_from(item.source, item.turn),
                        width,
                        "bold $error",
                    )
                )
            )
        return lines


class ErasedPane(Pane):
    """What a change of mind took out, by which words; one key brings it back."""

    NAME = "Erased"
    PLACE = "erased"
    BINDINGS = keys.bindings("erased")

    class Restore(Message):
        """Bring ``erased`` back."""

        def __init__(self, erased: Erased) -> None:
            super().__init__()
            self.erased = erased

    def summary(self, snapshot: Snapshot) -> str:
        count = len(snapshot.state.erased)
        return f"{count} given up" if count else "nothing given up"

    def body(self, snapshot: Snapshot, width: int) -> list[Line]:
        lines, currency = [], shop_currency(snapshot)
        for number, erased in reversed(list(enumerate(snapshot.state.erased))):
            mark = CHANGED if erased.turn == snapshot.turn and snapshot.turn else ""
            slot = erased.slot
            value = (budget_text(slot, currency) if isinstance(slot, Budget) else slot.text) or slot.words
            content = _row(
                mark,
                erased.slot.attribute,
                value,
                erased.by,
                f"turn {erased.turn} [r]" if width >= _ROOMY else "[r]",
                width,
                f"strike {MUTED}",
            )
            lines.append(Line(content, str(number)))
        return lines

    def action_restore(self) -> None:
        if self.row:
            self.post_message(self.Restore(self.snapshot.state.erased[int(self.row)]))
