"""What a case expects, held against what the stage saw."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ego_cli.conversation.words import stems
from ego_cli.errors import MisuseError

if TYPE_CHECKING:
    from ego_cli.conversation.state import Slot, State
    from ego_cli.evaluation.case_stage import Stage

PRICE_TOLERANCE = 0.005


@dataclass(frozen=True, slots=True)
class Failure:
    """One check that did not hold: which, what was expected and found, after which words."""

    check: str
    expected: Any
    found: Any
    words: str


def check(stage: Stage, expect: Mapping[str, Any]) -> list[Failure]:
    """All failures of an ``expect`` object against the stage as it is now. Raises ``MisuseError`` for a check that is none."""
    failures = []
    for family, wanted in expect.items():
        if family not in _FAMILIES or not isinstance(wanted, Mapping):
            raise MisuseError(
                f"a case cannot expect {json.dumps({family: wanted}, ensure_ascii=False)}",
                hint=f"an object under one of {', '.join(_FAMILIES)}",
            )
        for name, expected, found, holds in _FAMILIES[family](stage, wanted):
            if not holds:
                failures.append(Failure(f"{family}.{name}", expected, found, stage.last_words))
    return failures


Finding = tuple[str, Any, Any, bool]


# --- state -----------------------------------------------------------------------------------------------------------


def _state(stage: Stage, wanted: Mapping[str, Any]) -> Iterator[Finding]:
    state = stage.state
    for key, expected in wanted.items():
        if key == "slots":
            for attribute, value in expected.items():
                found = held_values(state, attribute)
                yield f"slots.{attribute}", value, found, _any_matches(found, value)
        elif key == "unset":
            for attribute in expected:
                found = held_values(state, attribute)
                yield f"unset.{attribute}", None, found, not found
        elif key == "exclusions":
            for word in expected:
                yield f"exclusions.{word}", word, _excluded(state), _is_excluded(state, word)
        elif key == "not_exclusions":
            for word in expected:
                yield f"not_exclusions.{word}", None, _excluded(state), not _is_excluded(state, word)
        elif key == "exclusions_empty":
            yield key, expected, _excluded(state), (not state.exclusions) is expected
        elif key in ("price_min", "price_max"):
            bound = _bound(state, key)
            yield key, expected, bound, _same_number(bound, expected)
        elif key == "currency":
            currency = _currency(stage)
            yield key, expected, currency, currency == expected
        elif key == "qty":
            found = held_values(state, "qty")
            yield key, expected, found, str(expected) in found
        elif key == "size":
            found = held_values(state, "size")
            yield key, expected, found, any(_plain_size(size) == _plain_size(str(expected)) for size in found)
        elif key == "cart":
            found = sorted([line.product_id for line in state.basket] + _asked_for_option(state))
            yield key, sorted(expected), found, found == sorted(expected)
        elif key == "cart_size":
            yield key, expected, len(state.basket), len(state.basket) == expected
        elif key == "cart_qty":
            pieces = sum(line.quantity for line in state.basket)
            pieces += state.pending.quantity if state.pending and _asked_for_option(state) else 0
            yield key, expected, pieces, pieces == expected
        else:
            yield key, expected, "unknown check", False


def _asked_for_option(state: State) -> list[str]:
    """A basket that asks for a size first counts when the item that it asks about is the right one."""
    pending = state.pending
    return list(pending.product_ids) if pending is not None and pending.kind == "option" else []


def held_values(state: State, attribute: str) -> list[str]:
    """All values that the state holds under an attribute's name, over all wants; bounds and counts as text."""
    if attribute == "category":
        words = [want.category for want in state.wants] + [want.words for want in state.wants]
        return [word for word in words if word]
    if attribute in ("qty", "quantity"):
        return [str(want.quantity) for want in state.wants if want.quantity]
    if attribute in ("price_min", "price_max"):
        found = _bound(state, attribute)
        return [] if found is None else [f"{found:g}"]
    values: list[str] = []
    for want in state.wants:
        for slot in want.slots:
            if slot.attribute == attribute:
                values += _texts(slot)
    if attribute == "size":
        values += [value for line in state.basket for name, value in line.options.items() if name == "size"]
    return values


def _texts(slot: Slot) -> list[str]:
    values = list(slot.values)
    if slot.number is not None:
        values.append(f"{slot.number:g}")
    return values


def _any_matches(found: Sequence[str], wanted: str | Sequence[str]) -> bool:
    accepted = [wanted] if isinstance(wanted, str) else wanted
    return any(_alike(value, str(accept)) for value in found for accept in accepted)


def _alike(one: str, other: str) -> bool:
    """Case-insensitive; singular and plural alike; equality or containment either way."""
    a, b = set(stems(one)), set(stems(other))
    return bool(a and b) and (
        a <= b or b <= a or one.lower() in other.lower() or other.lower() in one.lower()
    )


def _excluded(state: State) -> list[str]:
    return [excluded.value for excluded in state.exclusions]


def _is_excluded(state: State, word: str) -> bool:
    wanted = set(stems(word))
    return any(_common_stem(wanted, set(stems(excluded.value))) for excluded in state.exclusions)


def _common_stem(one: set[str], other: set[str]) -> bool:
    """zip = zips = zipped: terms compared without their endings."""
    return any(_root(a) == _root(b) for a in one for b in other)


def _root(term: str) -> str:
    for ending in ("ped", "ing", "ed", "y"):
        if term.endswith(ending) and len(term) - len(ending) >= 3:
            return term[: -len(ending)]
    return term


def _bound(state: State, key: str) -> float | None:
    budgets = [want.budget for want in state.wants if want.budget] + ([state.budget] if state.budget else [])
    for budget in budgets:
        value = budget.minimum if key == "price_min" else budget.maximum
        if value is not None:
            return value
    return None


def _currency(stage: Stage) -> str | None:
    budgets = [want.budget for want in stage.state.wants if want.budget]
    budgets += [stage.state.budget] if stage.state.budget else []
    said = next((budget.currency for budget in budgets if budget.currency), None)
    return said or (stage.catalogue.currency if budgets else None)


def _same_number(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is None and expected is None
    return abs(found - expected) <= PRICE_TOLERANCE * abs(expected)


def _plain_size(size: str) -> str:
    return re.sub(r"^(eu|uk|us|size)\s*", "", size.casefold().strip())


# --- shown -----------------------------------------------------------------------------------------------------------


def _shown(stage: Stage, wanted: Mapping[str, Any]) -> Iterator[Finding]:
    ids = stage.shown
    for key, expected in wanted.items():
        if key == "must_include":
            yield key, expected, ids, set(expected) <= set(ids)
        elif key == "must_exclude":
            yield key, expected, ids, not set(expected) & set(ids)
        elif key == "includes_any":
            yield key, expected, ids, bool(set(expected) & set(ids))
        elif key == "first":
            yield key, expected, ids, bool(ids) and ids[0] == expected
        elif key == "order":
            present = [pid for pid in expected if pid in ids]
            in_order = present == sorted(present, key=ids.index)
            yield key, expected, ids, expected[0] in ids and in_order
        elif key == "groups":
            yield key, expected, ids, all(set(group) & set(ids) for group in expected)
        elif key == "at_most_one_of":
            yield key, expected, ids, all(len(set(group) & set(ids)) <= 1 for group in expected)
        elif key == "none":
            yield key, expected, ids, (not ids) is expected
        elif key == "max":
            yield key, expected, ids, len(ids) <= expected
        else:
            yield key, expected, "unknown check", False


# --- reply and references --------------------------------------------------------------------------------------------


def _reply(stage: Stage, wanted: Mapping[str, Any]) -> Iterator[Finding]:
    text = stage.reply
    low = text.lower()
    questions = [part for part in re.split(r"(?<=[?])\s", text) if "?" in part]
    for key, expected in wanted.items():
        if key == "mentions":
            for accepted in expected:
                yield key, accepted, text, any(word.lower() in low for word in accepted)
        elif key == "not_mentions":
            for word in expected:
                yield key, word, text, word.lower() not in low
        elif key == "asks_question":
            yield key, expected, text, ("?" in text) is expected
        elif key == "asks_one_question":
            yield key, expected, text, (text.count("?") == 1) is expected
        elif key == "not_asks_about":
            words = [expected] if isinstance(expected, str) else expected
            asked = [q.rsplit(".", 1)[-1].lower() for q in questions]
            yield key, expected, text, not any(word.lower() in q for q in asked for word in words)
        else:
            yield key, expected, "unknown check", False


def _refers(stage: Stage, wanted: Mapping[str, Any]) -> Iterator[Finding]:
    shown_then = stage.shown_at(wanted["turn"])
    expected = [shown_then[position - 1] for position in wanted["positions"] if position <= len(shown_then)]
    found = stage.referred
    if set(found) != set(expected):
        titles = {pid: stage.title(pid) for pid in shown_then}
        found = [pid for pid, title in titles.items() if title and title.lower() in stage.reply.lower()]
    yield "positions", expected, found, bool(expected) and set(found) == set(expected)


# --- catalogue, memory, run ------------------------------------------------------------------------------------------


def _catalogue(stage: Stage, wanted: Mapping[str, Any]) -> Iterator[Finding]:
    for product_id, fields in wanted.items():
        row = stage.catalogue.row_of(product_id)
        found = stage.catalogue.product(row).price if row is not None else "not loaded"
        same = not isinstance(found, str) and _same_number(found, fields["price"])
        yield f"{product_id}.price", fields["price"], found, same


def _memory(stage: Stage, wanted: Mapping[str, Any]) -> Iterator[Finding]:
    for key, expected in wanted.items():
        if key in ("live", "absent", "count"):
            for row in expected:
                matching = stage.live_facts(row["user"], row["any"], row.get("polarity"))
                holds = {
                    "live": bool(matching),
                    "absent": not matching,
                    "count": len(matching) == row.get("n"),
                }[key]
                yield key, row, matching or stage.live_facts(row["user"], [""], None), holds
        elif key == "total":
            for row in expected:
                count = len(stage.live_facts(row["user"], [""], None))
                yield key, row, count, count == row["n"] if "n" in row else count <= row["max"]
        elif key == "history":
            for row in expected:
                spans = stage.spans(row["user"], row["any"])
                yield key, row, spans, spans >= row["min_intervals"]
        elif key == "recall_includes":
            for accepted in expected:
                holds = any(word.lower() in stage.recalled.lower() for word in accepted)
                yield key, accepted, stage.recalled, holds
        elif key == "recall_excludes":
            for word in expected:
                yield key, word, stage.recalled, word.lower() not in stage.recalled.lower()
        elif key == "bytes_absent":
            for word in expected:
                found = stage.files_holding(word)
                yield key, word, found, not found
        elif key == "no_lost_writes":
            lost = stage.lost_writes()
            yield key, expected, lost, not lost
        else:
            yield key, expected, "unknown check", False


def _run(stage: Stage, wanted: Mapping[str, Any]) -> Iterator[Finding]:
    for key, expected in wanted.items():
        if key == "no_error":
            yield key, expected, stage.errors, not stage.errors
        elif key == "max_seconds":
            yield key, expected, stage.seconds, stage.seconds <= expected
        elif key == "llm_calls_max":
            yield key, expected, stage.model_calls, stage.model_calls <= expected
        else:
            yield key, expected, "unknown check", False


_FAMILIES: Mapping[str, Callable[[Any, Any], Iterator[Finding]]] = {
    "state": _state,
    "shown": _shown,
    "reply": _reply,
    "refers": _refers,
    "catalogue": _catalogue,
    "memory": _memory,
    "run": _run,
}
