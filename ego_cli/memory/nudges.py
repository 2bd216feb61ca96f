"""Things worth saying unasked: a gap, an outcome to ask about, a price that came down, something that runs out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from ego_cli.catalog.product import Product
from ego_cli.memory.entry import EPISODIC, ME, Entry, stamp
from ego_cli.memory.profile import domains_of
from ego_cli.memory.times import local_day, without_times
from ego_cli.memory.tokens import terms
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.memory.memory import Memory

ASK_AFTER = timedelta(days=10)  # when a product has shown what it does
ASK_UNTIL = timedelta(days=90)
EXPIRING_WITHIN = timedelta(days=4)
SILENT_FOR = timedelta(days=7)  # the same nudge is not repeated sooner


class Catalogue(Protocol):
    """Where a product's present price stands."""

    def product(self, product_id: str, /) -> Product | None: ...


@dataclass(frozen=True, slots=True)
class Nudge:
    """One line for the shopper. kind: "expiring", "price", "outcome" or "gap"; ``key`` tells it apart from others."""

    kind: str
    text: str
    key: str
    entry_id: int | None = None


def nudges(memory: Memory, catalogue: Catalogue | None, now: datetime) -> list[Nudge]:
    """All that could be said now, most useful first; what was said within a week is left out."""
    said = json.loads(memory.store.meta("nudged", "{}"))
    floor = stamp(now - SILENT_FOR)
    rows = memory.store.rows("valid_to IS NULL")
    found = [
        *_expiring(memory, rows, now),
        *(_in_budget(rows, catalogue) if catalogue is not None else ()),
        *_outcomes(rows, now),
        *_gaps(memory, rows),
    ]
    return [nudge for nudge in found if said.get(nudge.key, "") < floor]


def mark_said(memory: Memory, nudge: Nudge, now: datetime) -> None:
    """Remember that a nudge was said, so that it is not said again for a week."""
    with memory.store.writing() as db:
        said = json.loads(memory.store.meta("nudged", "{}"))
        floor = stamp(now - SILENT_FOR)
        kept = {key: when for key, when in said.items() if when >= floor}
        memory.store.set_meta(db, "nudged", json.dumps(kept | {nudge.key: stamp(now)}))


def _words(name: str, **values: Any) -> str:
    return str(load_toml("memory.toml")["nudges"][name]).format(**values)


def _expiring(memory: Memory, rows: list[Entry], now: datetime) -> Iterator[Nudge]:
    for row in rows:
        if row.expires is not None and now <= row.expires <= now + EXPIRING_WITHIN:
            last_day = row.expires - timedelta(seconds=1)
            text = _words(
                "expiring", what=_thing(row.object), day=local_day(last_day, memory.local).rsplit(" ", 1)[0]
            )
            yield Nudge("expiring", text, f"expiring:{row.id}", row.id)


def _in_budget(rows: list[Entry], catalogue: Catalogue) -> Iterator[Nudge]:
    """Products that were too dear when she saw them and are not any more."""
    bought = {row.data.get("product_id") for row in rows if row.kind == "purchase"}
    seen: set[str] = set()
    for row in reversed(rows):
        id_, price, limit = row.data.get("product_id"), row.data.get("price"), row.data.get("budget")
        if (
            row.kind not in ("shown", "skip", "over_budget")
            or not isinstance(id_, str)
            or id_ in seen | bought
        ):
            continue
        if not isinstance(price, (int, float)) or not isinstance(limit, (int, float)) or price <= limit:
            continue
        seen.add(id_)
        product = catalogue.product(id_)
        if product is not None and product.price is not None and product.price <= limit:
            text = _words(
                "price",
                what=product.title,
                price=f"{product.price:,.0f}",
                currency=product.currency or "",
                limit=f"{limit:,.0f}",
            )
            yield Nudge("price", " ".join(text.split()), f"price:{id_}", row.id)


def _outcomes(rows: list[Entry], now: datetime) -> Iterator[Nudge]:
    tried = [row for row in rows if row.kind == "tried" and (row.data.get("outcome") or row.polarity)]
    known_ids = {row.data["productId"] for row in tried if row.data.get("productId")}
    known_words = [set(terms(row.object)) for row in tried]
    asked: set[str] = set()
    for row in sorted((r for r in rows if r.kind == "purchase"), key=lambda r: r.valid_from, reverse=True):
        age = now - row.valid_from
        name = str(row.data.get("name") or row.object)
        words = set(terms(name))
        if not ASK_AFTER <= age <= ASK_UNTIL or not words or name in asked:
            continue
        if row.data.get("product_id") in known_ids or any(
            words <= known or known <= words for known in known_words
        ):
            continue
        asked.add(name)
        yield Nudge("outcome", _words("outcome", what=name, ago=_ago(age)), f"outcome:{row.id}", row.id)


def _gaps(memory: Memory, rows: list[Entry]) -> Iterator[Nudge]:
    """What would help with what she has been after lately and is not known yet."""
    after = " ".join(
        row.object or row.text
        for row in rows
        if row.kind in ("want", "search") or (row.tier == EPISODIC and row.kind == "purchase")
    )
    domains = domains_of(after)
    own = [row for row in rows if row.subject == ME]
    kinds = {row.kind for row in own}
    names = {
        str(row.data.get("name") or row.predicate.partition(" ")[2])
        for row in own
        if row.kind in ("attribute", "size")
    }
    if "fashion" in domains and "size" not in kinds:
        yield Nudge("gap", _words("gap_size"), "gap:size")
    if "beauty" in domains and "skin_type" not in names:
        yield Nudge("gap", _words("gap_skin"), "gap:skin")
    if domains and "budget" not in kinds:
        yield Nudge("gap", _words("gap_budget"), "gap:budget")


def _thing(wanted: str) -> str:
    """ "dress for the party on Friday" -> "dress for the party"; a preposition that lost its day goes too."""
    words = without_times(wanted).split()
    while len(words) > 1 and words[-1] in ("for", "by", "on", "before", "in", "at", "until"):
        words.pop()
    return " ".join(words)


def _ago(age: timedelta) -> str:
    days = age.days
    if days < 14:
        return f"{days} days ago"
    if days < 60:
        return f"{_NUMBERS.get(round(days / 7), str(round(days / 7)))} weeks ago"
    return f"{_NUMBERS.get(round(days / 30), str(round(days / 30)))} months ago"


_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
