"""The words for a decision, from facts only: a short lead, a ranked list, one question at most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ego_cli.catalog.money import format_money
from ego_cli.catalog.product import Product
from ego_cli.conversation.events import Card, Decision, Relaxation, Reply
from ego_cli.conversation.wording import listed, say
from ego_cli.ranking.request import Request
from ego_cli.ranking.scored import Ranked, Scored


def rating_in_words(product: Product) -> str:
    """ "4.8 from 2,300 people": a rating is worth as much as the number of those who gave it."""
    if product.rating is None:
        return "not rated yet"
    if not product.rating_count:
        return f"{product.rating:.1f}"
    people = "person" if product.rating_count == 1 else "people"
    return f"{product.rating:.1f} from {product.rating_count:,} {people}"


def price_in_words(product: Product, currency: str | None) -> str:
    """The price with its currency; a range where the shop gives one; "price not listed"."""
    if product.price is None:
        return "price not listed"
    own = product.currency or currency
    text = format_money(product.price, own)
    if product.price_max is not None and product.price_max > product.price:
        text = f"{text} - {format_money(product.price_max, own)}"
    return f"{text} (price unclear in the shop's file)" if "price_ambiguous" in product.flags else text


def card(
    position: int, scored: Scored, *, currency: str | None, price_max: float | None, group: str = ""
) -> Card:
    """One product as the front ends print it. ``price_max``: the bound in force, in the catalogue's currency."""
    product = scored.product
    against = ""
    if product.price is not None and price_max is not None and product.price <= price_max:
        left = price_max - product.price
        against = (
            f"{format_money(left, product.currency or currency)} under your budget"
            if left >= 1
            else "all of your budget"
        )
    return Card(
        position=position,
        id=product.id,
        title=product.title,
        price=price_in_words(product, currency),
        amount=product.price,
        currency=product.currency or currency,
        rating=rating_in_words(product),
        reasons=scored.reasons,
        against_budget=against,
        group=group,
    )


def line(card: Card) -> str:
    """A card as one line of text."""
    parts = [f"{card.position}. {card.title}", card.price, card.rating]
    parts += [reason.tag for reason in card.reasons if reason.tag != card.rating]
    return " · ".join(parts)


def compose(decision: Decision, *, currency: str | None) -> Reply:
    """Put a decision into words."""
    opening = [note for note in (*decision.notes, decision.answer) if note]
    cards: list[Card] = []
    body: list[str] = []
    several = len(decision.groups) > 1
    for group in decision.groups:
        if group.lead:
            body.append(group.lead)
        for scored in group.items:
            label = group.label if several else ""
            made = card(len(cards) + 1, scored, currency=currency, price_max=group.price_max, group=label)
            cards.append(made)
            body.append(line(made))
    body += [" | ".join(row) for row in decision.table]
    tail = ""
    if decision.question is not None:
        options = [f"[{i}] {text}" for i, text in enumerate(decision.question.options, 1)]
        tail = "  ".join([decision.question.text, *options])
    lead = "\n".join(opening)
    text = "\n".join(part for part in (lead, *body, tail) if part)
    if not lead and len(decision.groups) == 1:
        lead = decision.groups[0].lead
    return Reply(text=text, lead=lead, cards=tuple(cards), tail=tail)


# --- the sentence above a list ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Search:
    """All that the lead of one list is made of."""

    wish: str  # the want in words: "white dress", "phone"
    request: Request
    ranked: Ranked
    shown: int
    relaxations: tuple[Relaxation, ...] = ()
    only: bool = False  # she asked for nothing else
    more: bool = False
    types: tuple[str, ...] = ()  # what the shop has, when it has not what was asked
    nearest: Scored | None = None  # the cheapest or dearest outside the price bounds
    label: str = ""  # with several wants


def lead_for(search: Search, *, currency: str | None, language: str, turn: int) -> str:
    """One sentence that says how many fit, or plainly why nothing does."""
    tell = partial(say, language=language, turn=turn)
    ranked, request = search.ranked, search.request
    if not ranked.type_known:
        near = tell("not_stocked_near", types=listed(search.types)) if search.types else ""
        return tell("not_stocked", wish=search.wish, near=near)
    if search.shown == 0:
        if search.more:
            return tell("no_more")
        if search.only:
            return tell("nothing_only", wish=search.wish)
        if search.nearest is not None and (request.price_max is not None or request.price_min is not None):
            product = search.nearest.product
            above = request.price_max is not None and (product.price or 0) > request.price_max
            return tell(
                "unreachable" if above else "unreachable_high",
                wish=search.wish,
                bounds=bounds_in_words(request, currency),
                title=product.title,
                price=price_in_words(product, currency),
            )
        return tell("nothing", wish=search.wish)
    if search.relaxations:
        given_up = listed([relaxation.value for relaxation in search.relaxations], "or")
        return tell("nothing_relaxed", given_up=given_up, count=search.relaxations[-1].count)
    if search.more:
        return tell("more")
    if search.label:
        return tell(
            "found_group", label=search.label[:1].upper() + search.label[1:], count=f"{ranked.matched:,}"
        )
    if ranked.matched == 1:
        return tell("found_one")
    if ranked.matched <= search.shown:
        return tell("found_all", count=f"{ranked.matched:,}")
    return tell("found", count=f"{ranked.matched:,}", shown=search.shown)


def bounds_in_words(request: Request, currency: str | None) -> str:
    """ "under ₦20,000", "from ₦5,000 to ₦12,000"."""
    low, high = request.price_min, request.price_max
    if low is not None and high is not None:
        return f"from {format_money(low, currency)} to {format_money(high, currency)}"
    if high is not None:
        return f"under {format_money(high, currency)}"
    return f"from {format_money(low, currency)} up" if low is not None else ""
