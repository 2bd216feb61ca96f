"""Which products "the second one", "that one", "the black one" or a name means: targets to product ids.

The latest list wins. What is out of range or fits several items is said or asked, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ego_cli.catalog.product import Product
from ego_cli.conversation.answers import answer_superlative
from ego_cli.conversation.state import State
from ego_cli.conversation.understand.acts import Act, Kind, Target
from ego_cli.conversation.words import same_type, stems

Shelf = Callable[[str], Product | None]


@dataclass(frozen=True, slots=True)
class Resolved:
    """An act with the products that it is about.

    ``problem``: "" | "nothing shown" | "out of range" | "several" | "none"; with "several", ``choices`` are the
    product ids among which to choose; with "out of range", ``size`` is the length of the list.
    """

    act: Act
    ids: tuple[str, ...] = ()
    problem: str = ""
    choices: tuple[str, ...] = ()
    size: int = 0


def resolve(acts: Sequence[Act], state: State, shelf: Shelf) -> tuple[Resolved, ...]:
    """Look up the target of every act in the state; acts without a target come back unchanged.

    What an act of this sentence points at is what a later "those" in it means: "the second one, add two of those".
    """
    found: list[Resolved] = []
    wishes = any(act.kind is Kind.CONSTRAIN and act.polarity > 0 for act in acts)
    for act in acts:
        if wishes and (named := _named_want(act, state)):
            found.append(named)
            continue
        here = replace(state, focus=pointed) if (pointed := _pointed_at(found)) else state
        found.append(_resolve(act, here, shelf))
    return tuple(found)


def _named_want(act: Act, state: State) -> Resolved | None:
    """ "The dress in green": beside a wish, a noun that names a thing looked for means that thing, not an item of the list."""
    target = act.target
    if act.kind is not Kind.REFER or target is None or target.how not in ("name", "attribute"):
        return None
    for want in state.wants:
        if len(state.wants) > 1 and same_type(want.category, target.words):
            return Resolved(replace(act, kind=Kind.NEED, value=want.category, target=None))
    return None


def _pointed_at(found: Sequence[Resolved]) -> tuple[str, ...]:
    return next(
        (
            item.ids
            for item in reversed(found)
            if item.ids and not item.problem and item.act.kind is Kind.REFER
        ),
        (),
    )


def _resolve(act: Act, state: State, shelf: Shelf) -> Resolved:
    target = act.target
    if target is None:
        return Resolved(act)
    shown = state.last_shown
    if target.how == "ordinal":
        return _ordinal(act, target, shown)
    if target.how == "all":
        return Resolved(act, ids=shown) if shown else Resolved(act, problem="nothing shown")
    if target.how == "last":
        return _last(act, state, shown)
    if target.how in ("attribute", "name"):
        return _by_words(act, target, state, shelf)
    return _extreme(act, target, shown, shelf)


def _ordinal(act: Act, target: Target, shown: tuple[str, ...]) -> Resolved:
    if not shown:
        return Resolved(act, problem="nothing shown")
    ids = []
    for position in target.positions:
        index = position - 1 if position > 0 else len(shown) + position
        if not 0 <= index < len(shown):
            return Resolved(act, problem="out of range", size=len(shown))
        ids.append(shown[index])
    return Resolved(act, ids=tuple(ids))


def _last(act: Act, state: State, shown: tuple[str, ...]) -> Resolved:
    """ "It", "that", "them": what was talked about, else the latest list when it leaves no doubt."""
    if len(state.focus) > 1 and not _plural(act.target):
        return Resolved(act, ids=state.focus, problem="several", choices=state.focus)
    if state.focus:
        return Resolved(act, ids=state.focus)
    if not shown:
        basket = tuple(line.product_id for line in state.basket[-1:])
        return Resolved(act, ids=basket) if basket else Resolved(act, problem="nothing shown")
    if len(shown) == 1 or _plural(act.target):
        return Resolved(act, ids=shown)
    return Resolved(act, ids=shown[:1], problem="several", choices=shown)


def _extreme(act: Act, target: Target, shown: tuple[str, ...], shelf: Shelf) -> Resolved:
    """ "The cheapest one", "the one with the biggest battery": of the latest list, by the field that states it."""
    if not shown:
        return Resolved(act, problem="nothing shown")
    products = [product for product_id in shown if (product := shelf(product_id))]
    ids = answer_superlative(products, target.words, target.sign, None).ids
    if len(ids) == 1:
        return Resolved(act, ids=ids)
    return Resolved(act, ids=ids[:1], problem="several", choices=ids)


def _plural(target: Target | None) -> bool:
    return bool(target and re.search(r"\b(them|those|these|all|both|dem)\b", target.words.lower()))


def _by_words(act: Act, target: Target, state: State, shelf: Shelf) -> Resolved:
    """Items of the latest list (else earlier ones) that carry all the words; a colour is looked for as a colour first."""
    wanted = set(stems(target.words))
    if not wanted:
        return _last(act, state, state.last_shown)
    for shown in reversed(state.shown):
        products = [(product_id, product) for product_id in shown.ids if (product := shelf(product_id))]
        for text_of in (_short_text, _all_text):
            found = tuple(pid for pid, product in products if wanted <= set(stems(text_of(product))))
            if len(found) == 1:
                return Resolved(act, ids=found)
            if found:
                return Resolved(act, ids=found[:1], problem="several", choices=found)
    # Nothing carries every word: the items that carry the most of them, when that singles one out.
    counts = {
        product_id: len(wanted & set(stems(_short_text(product))))
        for product_id in state.last_shown
        if (product := shelf(product_id))
    }
    best = max(counts.values(), default=0)
    leaders = tuple(pid for pid, count in counts.items() if count == best)
    if best and len(leaders) == 1 and best * 2 >= len(wanted):
        return Resolved(act, ids=leaders)
    return Resolved(act, problem="none" if state.shown else "nothing shown")


def _short_text(product: Product) -> str:
    return " ".join([product.title, product.brand or "", *product.colours, *product.materials])


def _all_text(product: Product) -> str:
    details = " ".join(f"{key} {value}" for key, value in product.details.items())
    return " ".join([_short_text(product), *product.categories, *product.features, details])
