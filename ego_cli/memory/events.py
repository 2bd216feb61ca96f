"""Things that happened, as rows: what was searched, shown, passed over, bought, rated and reviewed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ego_cli.memory.entry import EPISODIC, ME, Fact, stamp
from ego_cli.memory.tokens import query_terms

PRODUCT_EVENTS = ("purchase", "rate", "review", "tried")  # kinds that tell of a product in her hands


def event_fact(
    kind: str, text: str, at: datetime, turn: int | None, session: str, payload: Mapping[str, Any]
) -> Fact:
    """An event; the same one told twice has the same key."""
    data = {key: value for key, value in payload.items() if value is not None}
    words = text or _event_text(kind, payload)
    key = f"event|{kind}|{session}|{turn}|{stamp(at)}|{_digest(words, data)}"
    return Fact(kind, ME, kind, "", words, key, key, tier=EPISODIC, data=data)


def _event_text(kind: str, payload: Mapping[str, Any]) -> str:
    name = payload.get("name") or payload.get("product_id") or payload.get("query") or ""
    stars = f" {payload['stars']:g} stars" if isinstance(payload.get("stars"), (int, float)) else ""
    verb = {
        "purchase": "bought",
        "rate": "rated",
        "review": "reviewed",
        "search": "searched for",
        "skip": "passed over",
    }
    return f"{verb.get(kind, kind)} {name}{stars}".strip()


def tried_fact(kind: str, text: str, payload: Mapping[str, Any]) -> Fact | None:
    """The product of such an event among those tried; None when it names no product."""
    name = str(payload.get("name") or payload.get("product_id") or "")
    if not name:
        return None
    stars = payload.get("stars")
    polarity = 0 if not isinstance(stars, (int, float)) else 1 if stars >= 4 else -1 if stars <= 2 else 0
    which = str(payload.get("product_id") or " ".join(query_terms(name)))
    slot = f"{ME}|tried|{which}"
    outcome = str(payload.get("outcome") or (text if kind == "review" else ""))
    data = {
        "name": name,
        "brand": payload.get("brand") or "",
        "productId": payload.get("product_id"),
        "outcome": outcome or None,
    }
    shown = (
        f"{name}: {outcome or ('rated ' + format(stars, 'g') if polarity or stars is not None else 'bought')}"
    )
    return Fact(
        "tried", ME, "tried", name, shown, f"{slot}|{polarity}|{outcome}", slot, polarity, text, data=data
    )


def _digest(text: str, data: Mapping[str, Any]) -> str:
    return hashlib.blake2b(
        (text + json.dumps(data, sort_keys=True, default=str)).encode(), digest_size=8
    ).hexdigest()
