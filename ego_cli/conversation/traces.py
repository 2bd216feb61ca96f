"""What a turn leaves in the shop's own record: which products were seen where, and what the shopper did with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ego_cli.catalog.signals import Impression, Interaction
from ego_cli.conversation.events import Decision
from ego_cli.conversation.references import Resolved
from ego_cli.conversation.state import Change, State
from ego_cli.conversation.understand.acts import Kind


def events(decision: Decision) -> list[dict[str, Any]]:
    """What memory keeps of a turn: which products were shown, and which was named though it is over the budget."""
    found: list[dict[str, Any]] = []
    if decision.shown:
        ids = [scored.product.id for scored in decision.shown]
        found.append({"kind": "shown", "ids": ids, "route": decision.route})
    for group in decision.groups:
        if group.nearest is not None and group.price_max is not None:
            product = group.nearest.product
            found.append(
                {
                    "kind": "over_budget",
                    "text": product.title,
                    "product_id": product.id,
                    "price": product.price,
                    "budget": group.price_max,
                }
            )
    return found


def impressions(decision: Decision, state: State, session: str) -> list[Impression]:
    """Every product that was put on the screen, with its position and what it was shown for."""
    found = []
    position = 0
    for group in decision.groups:
        query = _query(state, group.want)
        for scored in group.items:
            position += 1
            found.append(Impression(scored.product.id, position, session, query, decision.route))
    return found


def _query(state: State, want_id: int) -> str:
    want = next((want for want in state.wants if want.id == want_id), None)
    if want is None:
        return ""
    return " ".join([want.category, *(slot.text for slot in want.slots)]).strip()


def interactions(
    changes: Sequence[Change], resolved: Sequence[Resolved]
) -> Iterator[tuple[str, Interaction]]:
    """(product id, what was done): chosen, liked, turned down, passed over, bought."""
    for change in changes:
        after = change.after if isinstance(change.after, tuple) else ()
        if change.kind == "basket":
            before = change.before if isinstance(change.before, tuple) else ()
            yield from (
                (line.product_id, Interaction.PURCHASE_INTENT) for line in after if line not in before
            )
        elif kind := _KINDS.get(change.kind):
            yield from ((product_id, kind) for product_id in after)
    for item in resolved:
        act = item.act
        if act.kind is Kind.FEEDBACK and act.polarity > 0 and not item.problem:
            kind = Interaction.PURCHASED if act.value == "bought" else Interaction.RANK_UP
            yield from ((product_id, kind) for product_id in item.ids)


_KINDS = {
    "passed-over": Interaction.SKIP,
    "rejected": Interaction.RANK_DOWN,
    "liked": Interaction.RANK_UP,
}
