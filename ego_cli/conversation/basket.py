"""The basket: what was chosen, in which option, how many. It ends as a list to take along; the checkout is the shop's.

A needed size is asked for, never assumed; when several items could be meant, one question is asked and nothing is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from ego_cli.catalog.product import Product
from ego_cli.conversation.draft import Draft
from ego_cli.conversation.references import Resolved
from ego_cli.conversation.state import BasketLine, Pending
from ego_cli.conversation.understand.acts import Act, Kind
from ego_cli.conversation.words import stems


def add(draft: Draft, item: Resolved) -> None:
    """Put the items meant into the basket, or leave a question pending."""
    quantity = _quantity(draft, item.act)
    if item.problem == "several":
        draft.emit(
            "pending",
            after=Pending("which", product_ids=item.choices, quantity=quantity),
            words=item.act.words,
        )
        return
    if item.problem:
        return
    for product_id in item.ids:
        if product := draft.shelf(product_id):
            _add_product(draft, product, item.act, quantity)
    draft.emit("focused", after=item.ids)


def _quantity(draft: Draft, act: Act) -> int:
    if act.number:
        return max(1, int(act.number))
    want = draft.state.want
    return (want.quantity if want else None) or 1


def _add_product(draft: Draft, product: Product, act: Act, quantity: int) -> None:
    size = _size(draft, product, act)
    if size is None and len(product.sizes) > 1:
        pending = Pending("option", "size", (product.id,), options=product.sizes, quantity=quantity)
        draft.emit("pending", after=pending, words=act.words)
        return
    _put(draft, product, quantity, {"size": size} if size else {}, act.words)


def _size(draft: Draft, product: Product, act: Act) -> str | None:
    """The size she named for this item, else the one she named for this kind of thing, if the item comes in it.

    Options of an act are written "size=42".
    """
    named = [value.removeprefix("size=") for value in act.values if value.startswith("size=")]
    want = draft.state.want
    held = [
        value for slot in (want.slots if want else ()) if slot.attribute == "size" for value in slot.values
    ]
    for candidate in (*named, *held):
        for size in product.sizes:
            if _plain(size) == _plain(candidate):
                return size
    if named and not product.sizes:
        return named[0]
    if named:
        draft.notes.append(
            f"{product.title} does not come in {named[0]}; it comes in {', '.join(product.sizes)}."
        )
    return product.sizes[0] if len(product.sizes) == 1 and not named else None


def _plain(size: str) -> str:
    text = size.casefold().strip()
    for system in ("eu", "uk", "us", "size"):
        text = text.removeprefix(system).strip()
    return text.removesuffix(".0")


def _put(draft: Draft, product: Product, quantity: int, options: dict[str, str], words: str) -> None:
    lines = list(draft.state.basket)
    for i, line in enumerate(lines):
        if line.product_id == product.id and dict(line.options) == options:
            lines[i] = replace(line, quantity=line.quantity + quantity)
            break
    else:
        lines.append(BasketLine(product.id, product.title, quantity, MappingProxyType(options)))
    draft.emit("basket", before=draft.state.basket, after=tuple(lines), words=words)


def remove(draft: Draft, item: Resolved) -> None:
    """Take lines out: those of the items meant, else those whose title carries the words."""
    lines = draft.state.basket
    gone = [line for line in lines if line.product_id in item.ids and not item.problem]
    named = set(stems(item.act.value or (item.act.target.words if item.act.target else "")))
    if not gone and named:
        gone = [line for line in lines if named & set(stems(line.title))]
    if not gone and not named and len(lines) == 1:
        gone = list(lines)
    if not gone:
        draft.notes.append("That is not in your basket.")
        return
    kept = tuple(line for line in lines if line not in gone)
    draft.emit("basket", before=lines, after=kept, words=item.act.words)


def set_quantity(draft: Draft, item: Resolved) -> None:
    """ "Make it three": the quantity of the line meant, else of the last line, else of what is looked for."""
    number = max(1, int(item.act.number or 1))
    lines = draft.state.basket
    named = set(stems(item.act.value or ""))
    if not lines:
        want = draft.state.want
        if want is not None:
            draft.emit(
                "refined",
                want=want.id,
                before=want,
                after=replace(want, quantity=number),
                words=item.act.words,
            )
        return
    index = next(
        (
            i
            for i in reversed(range(len(lines)))
            if lines[i].product_id in item.ids or (named and named & set(stems(lines[i].title)))
        ),
        len(lines) - 1,
    )
    changed = tuple(replace(line, quantity=number) if i == index else line for i, line in enumerate(lines))
    draft.emit("basket", before=lines, after=changed, words=item.act.words)


def clear(draft: Draft, item: Resolved) -> None:
    """Empty the basket."""
    draft.emit("basket", before=draft.state.basket, after=(), words=item.act.words)


def answer_pending(draft: Draft, resolved: Sequence[Resolved]) -> Sequence[Resolved]:
    """Read an answer to the last turn's question; the acts that were the answer are used up."""
    pending = draft.state.pending
    if pending is None:
        return resolved
    counted = next((item.act for item in resolved if item.act.kind is Kind.BASKET_QUANTITY), None)
    if counted is not None and pending.kind in ("option", "which") and not draft.state.basket:
        again = replace(pending, quantity=max(1, int(counted.number or 1)))  # which one is still to be said
        draft.emit("pending", after=again, words=counted.words)
        return [item for item in resolved if item.act is not counted]
    draft.emit("pending", after=None)
    if pending.kind == "option":
        return _answer_option(draft, pending, resolved)
    if pending.kind == "which":
        return _answer_which(draft, pending, resolved)
    if pending.kind == "forget_all" and any(item.act.kind is Kind.YES for item in resolved):
        return [Resolved(Act(Kind.FORGET, value="all", note="confirmed"))]
    return resolved


def _answer_option(draft: Draft, pending: Pending, resolved: Sequence[Resolved]) -> Sequence[Resolved]:
    product = draft.shelf(pending.product_ids[0])
    for item in resolved:
        choice = _chosen_option(pending.options, item.act)
        if product is not None and choice is not None:
            _put(draft, product, pending.quantity, {pending.attribute or "option": choice}, item.act.words)
            draft.emit("focused", after=(product.id,))
            rest = [other for other in resolved if other is not item]
            return [*rest, Resolved(Act(Kind.BASKET_SHOW, words=item.act.words))]
    return resolved


def _chosen_option(options: Sequence[str], act: Act) -> str | None:
    said = [*act.values, act.value or "", act.words]
    if act.number is not None:
        said.append(f"{act.number:g}")
    for text in said:
        for option in options:
            if text and _plain(option) == _plain(text):
                return option
    positions = act.target.positions if act.target else ()
    if act.kind is Kind.REFER and len(positions) == 1 and 1 <= positions[0] <= len(options):
        return options[positions[0] - 1]
    return None


def _answer_which(draft: Draft, pending: Pending, resolved: Sequence[Resolved]) -> Sequence[Resolved]:
    for item in resolved:
        act = item.act
        if len(item.ids) == 1 and not item.problem and act.kind in (Kind.REFER, Kind.BASKET_ADD):
            rest = [other for other in resolved if other is not item]
            return [
                Resolved(replace(act, kind=Kind.BASKET_ADD, number=pending.quantity), ids=item.ids),
                *rest,
            ]
        named = {stem for value in (*act.values, act.value or "") for stem in stems(value)}
        if act.kind is Kind.CONSTRAIN and named:
            fitting = [
                pid
                for pid in pending.product_ids
                if (product := draft.shelf(pid))
                and named <= set(stems(f"{product.title} {' '.join(product.colours)}"))
            ]
            if len(fitting) == 1:
                rest = [other for other in resolved if other is not item]
                chosen = Act(Kind.BASKET_ADD, number=pending.quantity, words=act.words)
                return [Resolved(chosen, ids=tuple(fitting)), *rest]
    return resolved
