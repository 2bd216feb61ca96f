"""Events from outside, one JSON object a line, into a memory; and the answers of the onboarding quiz."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ego_cli.errors import MisuseError
from ego_cli.memory.entry import ME, QUIZ, Entry, Fact
from ego_cli.memory.things import canonical_object, split_list
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.memory.memory import Memory

# Kinds of event whose text is the shopper's own statement and is read for facts.
STATEMENTS = ("preference", "context", "statement", "fact")
_KIND_OF = {
    "rating": "rate",
    "rate": "rate",
    "bought": "purchase",
    "order": "purchase",
    "message": "said",
    "turn": "said",
}
_ACTIONS = {
    "view": "shown",
    "click": "shown",
    "impression": "shown",
    "search": "search",
    "purchase": "purchase",
    "buy": "purchase",
    "skip": "skip",
}
_NAMES = {
    "product": "name",
    "title": "name",
    "item": "name",
    "productId": "product_id",
    "id": "event_id",
    "rating": "stars",
}


@dataclass(frozen=True, slots=True)
class Ingested:
    """How many events were kept, how many facts their words made, and the bad lines: (1-based number, what is wrong)."""

    kept: int
    facts: int
    bad: tuple[tuple[int, str], ...] = ()


def ingest(memory: Memory, lines: Iterable[str]) -> Ingested:
    """Read events: ``type`` (preference, interaction, feedback, context, rating, review, purchase, …), ``text``,
    ``importance`` 0-1, ``time`` (ISO), and whatever else belongs to it. Bad lines are left out and reported."""
    kept = facts = 0
    bad = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            facts += _take_in(memory, line)
            kept += 1
        except (ValueError, MisuseError) as error:
            bad.append((number, str(error)))
    return Ingested(kept, facts, tuple(bad))


def _take_in(memory: Memory, line: str) -> int:
    """Keep one event; returns the number of facts read in it. ``ValueError`` says what is wrong with the line."""
    try:
        event = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    if not isinstance(event, dict):
        raise ValueError("not an object")
    rest: dict[str, Any] = {
        str(_NAMES.get(key) or key): value for key, value in event.items() if value is not None
    }
    kind = str(
        rest.pop("type", None) or rest.pop("kind", None) or ("said" if rest.get("speaker") else "preference")
    ).lower()
    text = _text(rest)
    importance = _importance(rest.pop("importance", 0.5))
    at = _time(rest.pop("time", rest.pop("at", rest.pop("timestamp", None))))
    session = str(rest.pop("session", ""))
    if not text and not rest.get("name") and not rest.get("product_id"):
        raise ValueError("no text and no product")
    if kind in STATEMENTS or (kind == "feedback" and not (rest.get("name") or rest.get("product_id"))):
        heard = memory.hear(text, at=at, session=session, importance=importance)
        if not heard:
            memory.add(text, at=at, importance=importance)
        return max(1, len(heard))
    if kind == "interaction":
        action = str(rest.get("action", "")).lower()
        kind = _ACTIONS.get(action, action or "interaction")
    elif kind == "feedback":
        kind = "review"
        sentiment = str(rest.get("sentiment", "")).lower()
        rest.setdefault("stars", {"positive": 5, "negative": 1}.get(sentiment))
    kind = _KIND_OF.get(kind, kind)
    if "stars" in rest and rest["stars"] is not None and not _is_rating(rest["stars"]):
        raise ValueError(f"stars must be a number from 0 to 5, not {rest['stars']!r}")
    rest = {key: value for key, value in rest.items() if key.isidentifier() and key not in ("turn", "at")}
    memory.log(kind, text, at=at, session=session, importance=importance, **rest)
    return 0


def _text(event: dict[str, Any]) -> str:
    for key in ("text", "content", "statement", "value", "note"):
        if isinstance(event.get(key), str):
            return str(event.pop(key)).strip()
    return ""


def _importance(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"importance must be a number from 0 to 1, not {value!r}")
    return float(value)


def _time(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"time must be an ISO date and time, not {value!r}") from None


def _is_rating(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 5


# --- the onboarding quiz -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the quiz; an empty answer skips it."""

    id: str
    ask: str


def quiz_questions() -> list[Question]:
    """The questions in their order."""
    return [Question(entry["id"], entry["ask"]) for entry in load_toml("memory.toml")["quiz"]["questions"]]


def take_quiz(memory: Memory, answers: Mapping[str, str]) -> list[Entry]:
    """Keep answers by question id, as facts from the quiz. Unknown ids raise ``MisuseError``; empty answers are skipped."""
    questions = {entry["id"]: entry for entry in load_toml("memory.toml")["quiz"]["questions"]}
    unknown = sorted(set(answers) - set(questions))
    if unknown:
        raise MisuseError(f"the quiz has no question {unknown[0]!r}", hint="its ids: " + ", ".join(questions))
    kept: list[Entry] = []
    for id_, entry in questions.items():
        answer = " ".join(str(answers.get(id_, "")).split())
        if not answer:
            continue
        if "attribute" in entry:
            kept += _keep_attribute(memory, entry["attribute"], answer)
            continue
        parts = split_list(answer) if entry.get("each") or entry.get("budgets") else [answer]
        for part in parts:
            sentence = _budget_sentence(part) if entry.get("budgets") else entry["say"].format(answer=part)
            kept += memory.hear(sentence, source=QUIZ) if sentence else []
    return kept


def _budget_sentence(part: str) -> str:
    """ "shoes 20k" or "20k for shoes" as a sentence about a budget."""
    words = [
        word
        for word in part.replace(":", " ").split()
        if word.lower() not in ("for", "on", "up", "to", "max")
    ]
    money = [word for word in words if any(c.isdigit() for c in word)]
    thing = " ".join(word for word in words if word not in money)
    return f"my budget for {thing} is {money[0]}" if money and thing else ""


def _keep_attribute(memory: Memory, name: str, value: str) -> list[Entry]:
    slot = f"{ME}|attribute|{name}"
    fact = Fact(
        "attribute", ME, f"attribute {name}", value, f"{name} is {value}", f"{slot}|0|{canonical_object(value)}", slot,
        words=value, data={"name": name},
    )  # fmt: skip
    with memory.store.writing() as db:
        id_ = memory.store.put(db, fact, at=memory.now(), source=QUIZ)
    entry = memory.store.get(id_) if id_ else None
    return [entry] if entry else []


__all__ = ["Ingested", "ingest", "quiz_questions", "take_quiz"]
