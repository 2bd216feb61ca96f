"""Changes that answer what was shown: cheaper, lighter, another order, more like it, not that one, no preference."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from ego_cli.conversation.answers import Measure, measure
from ego_cli.conversation.draft import Draft
from ego_cli.conversation.references import Resolved
from ego_cli.conversation.state import Budget
from ego_cli.conversation.understand.acts import Act, Kind, Operator
from ego_cli.conversation.wishes import bound_price, hold, wants_of


def relative(draft: Draft, item: Resolved) -> None:
    """ "Cheaper", "lighter", "bigger": a bound against what was shown where a field states it, else a wish in words."""
    act = item.act
    direction = 1 if (act.number or 0) > 0 else -1
    products = [product for pid in item.ids or draft.reference if (product := draft.shelf(pid))]
    if act.attribute == "price":
        _relative_price(draft, act, direction, [p.price for p in products if p.price is not None])
        return
    found = [m for product in products if (m := measure(product, act.attribute or act.value or ""))]
    wants = wants_of(draft, act)
    if found and act.number:
        best = (max if direction > 0 else min)(found, key=lambda m: m.number)
        for want in wants:
            hold(draft, _beyond(act, best, direction), want)
        return
    wish = replace(act, kind=Kind.CONSTRAIN, attribute="feature", operator=Operator.IS, number=None)
    for want in wants:
        hold(draft, replace(wish, value=act.value or act.words), want)


# A strict bound ("bigger than the 10000 mAh one") as an inclusive one: a thousandth away from what was shown.
_STRICTLY = 1e-3


# Strictly below a price is one unit of money less; a hundredth for small amounts.
WHOLE_UNITS_FROM = 100.0


def _beyond(act: Act, shown: Measure, direction: int) -> Act:
    return replace(
        act,
        kind=Kind.CONSTRAIN,
        attribute=act.attribute or shown.name,
        operator=Operator.MIN if direction > 0 else Operator.MAX,
        number=shown.number * (1 + direction * _STRICTLY),
        unit=shown.unit,
        value=None,
        values=(),
    )


def _relative_price(draft: Draft, act: Act, direction: int, prices: list[float]) -> None:
    """Below (above) the item meant; against a list, at its median: the Ego seed's split over the active candidates."""
    if not prices:
        operator = Operator.LOWER_HALF if direction < 0 else Operator.UPPER_HALF
        bound_price(
            draft, replace(act, kind=Kind.CONSTRAIN, attribute="price", operator=operator, number=None)
        )
        return
    step = 1.0 if prices[0] >= WHOLE_UNITS_FROM else 0.01
    bound = prices[0] + direction * step
    if len(prices) > 1:
        bound = (min if direction < 0 else max)(bound, median(prices))
    held = draft.state.budget or Budget()
    if direction < 0 and held.maximum is not None and held.currency is None:
        bound = min(bound, held.maximum)  # "cheaper" never raises what she said she can pay
    after = replace(
        held,
        maximum=bound if direction < 0 else (held.maximum if (held.maximum or bound) > bound else None),
        minimum=bound if direction > 0 else (held.minimum if (held.minimum or 0) < bound else None),
        currency=None,  # shown prices are the catalogue's own
        about=None,
        band=None,
        source="shown",
        turn=draft.turn,
        words=act.words,
    )
    draft.emit("budget", attribute="price", before=draft.state.budget, after=after, words=act.words)


def sort(draft: Draft, item: Resolved) -> None:
    """Another order of the list."""
    act = item.act
    draft.emit(
        "sorted", after=(act.attribute or "price", 1 if (act.number or 1) > 0 else -1), words=act.words
    )


def more_like(draft: Draft, item: Resolved) -> None:
    """More like the items meant."""
    if item.ids and not item.problem:
        draft.emit("liked", after=item.ids, words=item.act.words)


def reject(draft: Draft, item: Resolved) -> None:
    """Turn down what was meant. "No, not that, in cotton" turns down a wish, not each product of the list: what was shown
    is passed over once more instead of being hidden."""
    pointed = item.act.target is not None and not item.problem
    ids = item.ids if pointed else (item.choices or draft.state.last_shown)
    plainly = pointed and item.act.target is not None and item.act.target.how != "last"
    if ids and (plainly or not draft.new_wish):
        draft.emit("rejected", after=ids, words=item.act.words)
    elif ids:
        draft.emit("passed-over", after=ids, words=item.act.words)
    draft.emit("focused", after=())


def no_preference(draft: Draft, item: Resolved) -> None:
    """Nothing to say about an attribute, or about anything."""
    attribute = item.act.attribute or (draft.state.asked[-1] if draft.state.asked else "other")
    draft.emit("no-preference", attribute=attribute, words=item.act.words)


def focus(draft: Draft, item: Resolved) -> None:
    """What "it" means from now on."""
    if item.ids and not item.problem:
        draft.emit("focused", after=item.ids, words=item.act.words)


def feedback(draft: Draft, item: Resolved) -> None:
    """Liked, disliked, bought or tried: a dislike turns the item down."""
    focus(draft, item)
    if item.act.polarity < 0 and item.ids and not item.problem:
        draft.emit("rejected", after=item.ids, words=item.act.words)
