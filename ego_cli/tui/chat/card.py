"""One product as a shopper reads it: rank, title, price; stars, reasons, and what it costs against the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from ego_cli.tui.drawing import MUTED, cut, spread, stack, text, wrap

if TYPE_CHECKING:
    from ego_cli.conversation.events import Card
    from ego_cli.ranking.scored import Scored

_GUTTER = 4  # cells of the rank's column


def stars(card: Card, scored: Scored | None) -> Content:
    """ "★ 4.6 (1,204)" where the product is at hand, the card's own words otherwise."""
    if scored is not None and scored.product.rating is not None:
        count = f" ({scored.product.rating_count:,})" if scored.product.rating_count else ""
        return text("★ ", "$accent") + text(f"{scored.product.rating:.1f}") + text(count, MUTED)
    return text(card.rating, MUTED)


class CardView(Widget):
    """Two lines; the selected card opens up and shows all of its reasons."""

    selected: reactive[bool] = reactive(False, layout=True)
    old: reactive[bool] = reactive(False)

    class Picked(Message):
        """The card was clicked; ``twice``: double-clicked."""

        def __init__(self, view: CardView, twice: bool) -> None:
            super().__init__()
            self.view = view
            self.twice = twice

    def __init__(self, card: Card, scored: Scored | None = None) -> None:
        super().__init__()
        self.card = card
        self.scored = scored

    def _lines(self, width: int) -> list[Content]:
        card = self.card
        room = width - _GUTTER
        rank = text(f"{card.position:>2}  ", "bold $accent" if not self.old else MUTED)
        price = text(card.price, "bold $success" if card.amount is not None else MUTED)
        title = text(card.title, "bold" if not self.old else "")
        head = [spread(title, price, room)]
        if self.selected and title.cell_length + price.cell_length + 2 > room:
            first, *rest = wrap(title, max(room - price.cell_length - 2, 10))
            head = [spread(first, price, room), *rest]
        against = text(card.against_budget.removesuffix(" your budget"), MUTED)
        told = {"rating"} | (
            {"price"} if card.against_budget else set()
        )  # the stars and the right edge say it
        reasons = [reason.tag for reason in card.reasons if reason.field not in told]
        detail = stars(card, self.scored)
        pad = Content(" " * _GUTTER)
        whole = detail + text("".join(f" · {tag}" for tag in reasons), MUTED)
        if not self.selected or whole.cell_length + against.cell_length + 2 <= room:
            return [rank + head[0], *(pad + line for line in head[1:]), pad + spread(whole, against, room)]
        more = wrap(text(" · ".join(reasons), MUTED), room)
        return [rank + head[0], *(pad + line for line in (*head[1:], spread(detail, against, room), *more))]

    def render(self) -> Content:
        return stack(cut(line, self.size.width) for line in self._lines(max(self.size.width, 20)))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(max(width, 20)))

    def watch_selected(self, selected: bool) -> None:
        self.set_class(selected, "-selected")

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Picked(self, event.chain > 1))
