"""What holds, in one line, for screens on which the inspector does not stand beside the chat."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from ego_cli.tui.drawing import MUTED, cut, text
from ego_cli.tui.inspector.understood import budget_text, shop_currency
from ego_cli.tui.snapshot import Snapshot


class Strip(Widget):
    """What holds, in one line."""

    snapshot: reactive[Snapshot] = reactive(Snapshot, init=False)

    def render(self) -> Content:
        state, currency = self.snapshot.state, shop_currency(self.snapshot)
        parts: list[Content] = []
        for want in state.wants:
            if want.category:
                parts.append(text(want.category, "bold $secondary"))
            if want.budget:
                parts.append(text(budget_text(want.budget, currency)))
            parts += [text(slot.text or slot.words) for slot in want.slots]
        if state.budget:
            parts.append(text(budget_text(state.budget, currency)))
        parts += [text(f"✕ {item.value}", "$error") for item in state.exclusions]
        return cut(Content(" ") + text(" · ", MUTED).join(parts), self.size.width)

    def watch_snapshot(self, snapshot: Snapshot) -> None:
        self.set_class(
            not (snapshot.state.wants or snapshot.state.budget or snapshot.state.exclusions), "-empty"
        )
