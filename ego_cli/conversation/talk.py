"""Answers to what is not a search: questions about shown items, comparisons, reasons, the basket, small talk.

Each function takes what the act was resolved to and returns words and the products that they are about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ego_cli.catalog.money import format_money
from ego_cli.catalog.product import Product
from ego_cli.conversation.answers import Answer, answer_fact, answer_superlative
from ego_cli.conversation.events import Question
from ego_cli.conversation.references import Resolved, Shelf
from ego_cli.conversation.reply import price_in_words, rating_in_words
from ego_cli.conversation.state import BasketLine, State
from ego_cli.conversation.understand.acts import Kind
from ego_cli.conversation.wording import listed, say
from ego_cli.errors import MisuseError
from ego_cli.ranking.compare import compare
from ego_cli.ranking.scored import Scored

# Acts that are about products and can fail to find them.
POINTING = frozenset(
    {
        Kind.REFER,
        Kind.ASK,
        Kind.COMPARE,
        Kind.WHY,
        Kind.BASKET_ADD,
        Kind.MORE_LIKE,
        Kind.FEEDBACK,
        Kind.RATE,
        Kind.REJECT,
    }
)


@dataclass(frozen=True, slots=True)
class Said:
    """Words of an answer, the products that it is about, a comparison table, a question that it puts; and what was
    forgotten for it: its words, "all" for everything."""

    text: str = ""
    ids: tuple[str, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    question: Question | None = None
    forgotten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Desk:
    """What the answers draw on: the state after the sentence, the products, the scores of the last lists."""

    state: State
    shelf: Shelf
    scores: Mapping[str, Scored]
    currency: str | None
    language: str
    turn: int
    remembered: tuple[str, ...] = ()  # what memory brought to the lists

    def tell(self, situation: str, **facts: object) -> str:
        """A sentence from data/replies.toml."""
        return say(situation, language=self.language, turn=self.turn, **facts)

    def products(self, ids: Sequence[str]) -> list[Product]:
        """The products of some ids that are still for sale."""
        return [product for pid in ids if (product := self.shelf(pid))]


def problem(desk: Desk, item: Resolved) -> Said | None:
    """What to say when the products meant could not be found, or could be several."""
    if item.problem == "nothing shown":
        return Said(desk.tell("nothing_shown"))
    if item.problem == "out of range":
        return Said(desk.tell("out_of_range_one" if item.size == 1 else "out_of_range", size=item.size))
    if item.problem == "none":
        return Said(desk.tell("none_of_that"))
    if item.problem == "several" and item.act.kind in (Kind.BASKET_ADD, Kind.REFER, Kind.FEEDBACK, Kind.RATE):
        options = tuple(product.title for product in desk.products(item.choices))
        text = desk.tell("which", options=listed(options, "or"))
        return Said(question=Question("which", text), ids=())
    return None


def answer(desk: Desk, items: Sequence[Resolved]) -> Said:
    """Answer every act of a sentence that is not a search, in order. A "which has more …" hands its winner on to "it"."""
    said: list[Said] = []
    winner: tuple[str, ...] = ()
    for item in items:
        act = item.act
        if act.kind in POINTING and (trouble := problem(desk, item)):
            said.append(trouble)
            continue
        if act.kind is Kind.ASK:
            ids = _asked_about(desk, item, winner)
            found = _ask(desk, item, ids)
            winner = found.ids if act.number else winner
            said.append(Said(found.text, found.ids))
        elif handler := _ANSWERS.get(act.kind):
            said.append(handler(desk, item))
    question = next((one.question for one in said if one.question), None)
    return Said(
        "\n".join(one.text for one in said if one.text),
        tuple(dict.fromkeys(pid for one in said for pid in one.ids)),
        next((one.table for one in said if one.table), ()),
        question or _pending_question(desk),
    )


def _asked_about(desk: Desk, item: Resolved, winner: tuple[str, ...]) -> tuple[str, ...]:
    """A question without a pointer is about the winner of the one before it, else about all that is on the screen."""
    pointed = item.act.target is not None and item.act.target.how != "last"
    if winner and not pointed:
        return winner
    if item.problem == "several":
        return item.choices
    if item.ids:
        return item.ids
    return desk.state.last_shown if item.act.number else desk.state.focus or desk.state.last_shown


def _ask(desk: Desk, item: Resolved, ids: Sequence[str]) -> Answer:
    products = desk.products(ids)
    words = item.act.attribute or item.act.value or item.act.words
    if not products:
        return Answer(desk.tell("nothing_shown"), ())
    if item.act.number:
        return answer_superlative(products, words, 1 if item.act.number > 0 else -1, desk.currency)
    return answer_fact(products, words, desk.currency)


def _compare(desk: Desk, item: Resolved) -> Said:
    ids = item.ids or desk.state.last_shown[:3]
    if len(ids) == 1 and desk.state.last_shown:
        ids = (
            (*ids, *(pid for pid in desk.state.last_shown if pid != ids[0]))[:2]
            if not item.act.target
            else ids
        )
    try:
        return Said("", tuple(ids), compare(desk.products(ids)))
    except MisuseError as refusal:
        return Said(f"{refusal}.", tuple(dict.fromkeys(ids)))


def _why(desk: Desk, item: Resolved) -> Said:
    """The breakdown of a product's score, largest term first, with the reasons and the fields that prove them."""
    ids = item.ids or desk.state.focus or desk.state.last_shown[:1]
    lines = []
    for product_id in ids[:3]:
        scored = desk.scores.get(product_id)
        if scored is None:
            continue
        terms = sorted(scored.terms.items(), key=lambda pair: -abs(pair[1]))
        numbers = ", ".join(
            f"{name.replace('_', ' ')} {value:+.1f}" for name, value in terms if abs(value) >= 0.05
        )
        reasons = "; ".join(f"{reason.tag} ({reason.field}: {reason.value})" for reason in scored.reasons)
        legs = ", ".join(f"{leg} #{rank}" for leg, rank in scored.legs.items())
        lines.append(
            f"{scored.product.title}: {reasons + '. ' if reasons else ''}Score {scored.total:.1f} = {numbers}."
            + (f" Found by {legs}." if legs else "")
        )
    if not lines:
        return Said(desk.tell("nothing_shown"))
    if desk.remembered:
        lines.append(desk.tell("kept_in_mind", values="; ".join(desk.remembered)))
    return Said("\n".join(lines), tuple(ids[:3]))


def _refer(desk: Desk, item: Resolved) -> Said:
    lines = [
        f"{product.title}: {price_in_words(product, desk.currency)}, {rating_in_words(product)}."
        for product in desk.products(item.ids)
    ]
    return Said("\n".join(lines), item.ids)


def basket_lines(lines: Sequence[BasketLine], shelf: Shelf, currency: str | None) -> str:
    """The basket as a list to take along, with the total of what has a price."""
    rows, total, unpriced = [], 0.0, 0
    own = currency
    for entry in lines:
        product = shelf(entry.product_id)
        options = "".join(f", {name} {value}" for name, value in entry.options.items())
        price = product.price if product else None
        own = (product.currency if product else None) or own
        if price is None:
            unpriced += entry.quantity
            rows.append(f"{entry.quantity} × {entry.title}{options} · price not listed")
        else:
            total += price * entry.quantity
            rows.append(
                f"{entry.quantity} × {entry.title}{options} · {format_money(price * entry.quantity, own)}"
            )
    tail = f"Together {format_money(total, own)}" + (
        f", without {unpriced} that have no price" if unpriced else ""
    )
    return "\n".join([*rows, f"{tail}."])


def _basket(desk: Desk, item: Resolved) -> Said:
    lines = desk.state.basket
    if not lines:
        return Said("" if desk.state.pending else desk.tell("basket_empty"))
    ids = item.ids or tuple(entry.product_id for entry in lines)
    return Said(f"{desk.tell('basket')}\n{basket_lines(lines, desk.shelf, desk.currency)}", ids)


def _pending_question(desk: Desk) -> Question | None:
    pending = desk.state.pending
    if pending is None or pending.kind != "option":
        return None
    product = desk.shelf(pending.product_ids[0])
    title = product.title if product else pending.product_ids[0]
    label = pending.attribute or "option"
    text = desk.tell("option", label=label, title=title, options=listed(pending.options, "or"))
    return Question(label, text)


def _shop_question(desk: Desk, item: Resolved) -> Said:
    topic = f" ({item.act.attribute})" if item.act.attribute else ""
    return Said(desk.tell("shop_question", topic=topic))


def _feedback(desk: Desk, item: Resolved) -> Said:
    titles = listed([product.title for product in desk.products(item.ids)])
    if not titles:
        return Said(desk.tell("ok"))
    situation = "disliked" if item.act.polarity < 0 else "liked"
    return Said(desk.tell(situation, title=titles), item.ids)


def _rate(desk: Desk, item: Resolved) -> Said:
    titles = listed([product.title for product in desk.products(item.ids)])
    if not titles:
        return Said(desk.tell("ok"))
    return Said(desk.tell("rated", stars=f"{item.act.number or 0:g}", title=titles), item.ids)


def _plain(situation: str, desk: Desk, item: Resolved) -> Said:
    return Said(desk.tell(situation))


_ANSWERS: Mapping[Kind, Callable[[Desk, Resolved], Said]] = {
    Kind.COMPARE: _compare,
    Kind.WHY: _why,
    Kind.REFER: _refer,
    Kind.BASKET_ADD: _basket,
    Kind.BASKET_REMOVE: _basket,
    Kind.BASKET_QUANTITY: _basket,
    Kind.BASKET_CLEAR: _basket,
    Kind.BASKET_SHOW: _basket,
    Kind.SHOP_QUESTION: _shop_question,
    Kind.FEEDBACK: _feedback,
    Kind.RATE: _rate,
    Kind.GREET: partial(_plain, "greet"),
    Kind.THANKS: partial(_plain, "thanks"),
    Kind.BYE: partial(_plain, "bye"),
    Kind.HELP: partial(_plain, "help"),
}
