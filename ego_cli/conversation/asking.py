"""From the state to what ranking is asked for: one Request a want, prices in the catalogue's currency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ego_cli.catalog.denials import told
from ego_cli.catalog.money import exchange_rate, format_money
from ego_cli.conversation.events import MemoryUse
from ego_cli.conversation.state import Budget, Slot, State, Want
from ego_cli.conversation.words import stems
from ego_cli.ranking.request import Exclusion, Personal, Request, Requirement


@dataclass(frozen=True, slots=True)
class Recollection:
    """What memory brings to one request, and which memories that were."""

    personal: Personal = field(default_factory=Personal)
    exclusions: tuple[Exclusion, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    uses: tuple[MemoryUse, ...] = ()


# "around 20k" means within a quarter of it, either way.
ABOUT_SPREAD = 0.25

# How much a slot weighs that she would like but does not insist on.
PREFERENCE_WEIGHT = 0.6

# Stated facts of a product: one that is stated otherwise is not shown. Free words only weigh.
_FACTS = frozenset({"colour", "brand", "size", "gender", "material", "condition", "rating"})

ROUTE_BUYING = "BUYING"
ROUTE_BROWSING = "BROWSING"


@dataclass(frozen=True, slots=True)
class PriceBounds:
    """A budget in the catalogue's currency. ``note`` states a rate that was used, ``refused`` why none could be."""

    minimum: float | None = None
    maximum: float | None = None
    note: str = ""
    refused: str = ""


def price_bounds(
    budget: Budget | None, *, currency: str | None, fx: Mapping[str, float], parts: int = 1, pieces: int = 1
) -> PriceBounds:
    """The bounds for one piece. A budget for everything is split evenly over ``parts`` wants and ``pieces`` pieces.

    A budget in another currency is converted at the configured rate, or refused: it is never compared as a bare number.
    """
    if budget is None:
        return PriceBounds()
    rate, note = 1.0, ""
    if budget.currency and currency and budget.currency != currency:
        found = exchange_rate(budget.currency, currency, fx)
        if found is None:
            return PriceBounds(
                refused=f"Prices here are in {currency} and no rate from {budget.currency} is configured "
                f"(set fx.{currency}_per_{budget.currency}), so your budget is left aside."
            )
        rate = found
        shown = format_money(rate if rate >= 1 else 1 / rate, currency if rate >= 1 else budget.currency)
        one = budget.currency if rate >= 1 else currency
        note = f"Converted at a rate of {shown} for 1 {one}."
    low, high = budget.minimum, budget.maximum
    if budget.about is not None:
        low, high = budget.about * (1 - ABOUT_SPREAD), budget.about * (1 + ABOUT_SPREAD)
    share = 1
    if budget.per == "all":
        share = max(1, parts) * max(1, pieces)
    return PriceBounds(
        minimum=None if low is None else low * rate / share,
        maximum=None if high is None else high * rate / share,
        note=note,
    )


def route_of(state: State, want: Want | None) -> tuple[str, str]:
    """Buying or browsing, and why: a constraint, a known product or a size means that she knows what she wants."""
    if want is not None:
        for slot in want.slots:
            if slot.attribute in ("brand", "size") or slot.number is not None:
                return ROUTE_BUYING, f"{slot.attribute}: {slot.text}"
        if want.slots:
            return ROUTE_BUYING, f"{want.slots[0].attribute}: {want.slots[0].text}"
        if want.quantity:
            return ROUTE_BUYING, f"a quantity: {want.quantity}"
    budget = (want.budget if want else None) or state.budget
    if budget is not None and budget.band is None:
        return ROUTE_BUYING, f"a budget: {budget.text}"
    return ROUTE_BROWSING, "no constraint yet"


def request_for(
    state: State,
    want: Want | None,
    *,
    bounds: PriceBounds,
    recollection: Recollection | None = None,
    hide_seen: bool = False,
    strict: bool = True,
    limit: int = 10,
) -> Request:
    """What to look for, for one want. ``recollection`` is what memory knows that bears on it."""
    memory = recollection or Recollection()
    slots = want.slots if want else ()
    budget = (want.budget if want else None) or state.budget
    said = {stem for slot in slots for value in slot.values for stem in stems(value)}
    exclusions = [
        Exclusion(value=ex.value, attribute=ex.attribute, words=ex.words, source=ex.source)
        for ex in state.exclusions
        if ex.want is None or want is None or ex.want == want.id
    ]
    exclusions += _denied(slots)
    # Explicit words of this conversation win over memory.
    waived = said | {stem for value in state.lifted for stem in stems(value)}
    exclusions += [ex for ex in memory.exclusions if not set(stems(ex.value)) <= waived]
    hidden = (state.rejected if strict else frozenset()) | (state.seen if hide_seen else frozenset())
    given_up = _erased_values(state, want, said)
    if not strict:
        # A free phrase behind a "no" may have been read too far: it counts against a product instead of hiding it.
        loose = [excluded for excluded in exclusions if excluded.attribute in (None, "feature")]
        exclusions = [excluded for excluded in exclusions if excluded not in loose]
        given_up = (*given_up, *(excluded.value for excluded in loose))
    return Request(
        category=want.category if want else "",
        requirements=(*(_requirement(slot) for slot in slots), *memory.requirements),
        exclusions=tuple(exclusions),
        price_min=bounds.minimum,
        price_max=bounds.maximum,
        price_band=budget.band if budget else None,
        route=route_of(state, want)[0],
        sort=state.sort,
        like=state.like,
        passed_over=state.passed_over,
        hidden=frozenset(hidden),
        erased=given_up,
        personal=memory.personal,
        strict=strict,
        limit=limit,
    )


def _denied(slots: tuple[Slot, ...]) -> list[Exclusion]:
    """ "Fragrance-free" is a wish that is also a promise: what is known to contain fragrance must not come."""
    return [
        Exclusion(value=thing, words=slot.words)
        for slot in slots
        for value in slot.values
        if "free" in value.lower().replace("-", " ").split() and (thing := told(value).denied.strip())
    ]


def _requirement(slot: Slot) -> Requirement:
    firm = slot.hardness in ("must", "only")
    return Requirement(
        attribute=slot.attribute,
        operator=slot.operator,
        values=slot.values,
        number=slot.number,
        unit=slot.unit,
        hard=slot.hardness == "only" or (firm and (slot.attribute in _FACTS or slot.number is not None)),
        weight=1.0 if firm else PREFERENCE_WEIGHT,
        words=slot.words,
    )


def _erased_values(state: State, want: Want | None, said: set[str]) -> tuple[str, ...]:
    """Values given up and contradicted, less those that hold again."""
    values = []
    for erased in state.erased:
        if isinstance(erased.slot, Budget) or (want is not None and erased.want != want.id):
            continue
        values += [value for value in erased.slot.values if not set(stems(value)) <= said]
    return tuple(dict.fromkeys(values))


def without(request: Request, index: int) -> Request:
    """The request with one requirement left out."""
    kept = tuple(requirement for i, requirement in enumerate(request.requirements) if i != index)
    return replace(request, requirements=kept)
