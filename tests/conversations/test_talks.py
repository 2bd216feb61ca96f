"""Whole conversations of ``talks.jsonl``: what is held and what is shown after every turn.

A turn is {"say": words, "then": promises}. Promises: ``types`` the wants in order; ``slots`` attribute -> value of the
active want; ``soft`` attributes held as a preference and ``firm`` as an "only"; ``without`` attributes it does not hold;
``excluded``/``not_excluded`` words; ``max``/``min`` price bounds (null: none); ``erased`` values; ``basket`` pieces of each
line; ``refers`` how many products the answer is about; ``shown`` whether products are shown; ``every``/``none``: a word that
each, or no, shown title has; ``asks`` whether something is asked.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ego_cli.catalog.store import open_catalogue
from ego_cli.conversation.events import TurnDone
from ego_cli.conversation.turn import Assistant
from ego_cli.settings import Settings

FILE = Path(__file__).with_name("talks.jsonl")
TALKS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EGO_HOME", str(tmp_path_factory.mktemp("home")))
        yield


def found(done: TurnDone, promise: str) -> Any:
    state, want = done.state, done.state.want
    slots = want.slots if want else ()
    budget = (want.budget if want else None) or state.budget
    titles = [scored.product.title.lower() for scored in done.decision.shown]
    match promise:
        case "types":
            return [w.category.lower() for w in state.wants]
        case "slots":
            return {slot.attribute: slot.text.lower() for slot in slots}
        case "soft" | "firm":
            hardness = {"soft": "prefer", "firm": "only"}[promise]
            return [slot.text.lower() for slot in slots if slot.hardness == hardness]
        case "without":
            return [slot.attribute for slot in slots]
        case "excluded" | "not_excluded":
            return [excluded.value.lower() for excluded in state.exclusions]
        case "max":
            return budget.maximum if budget else None
        case "min":
            return budget.minimum if budget else None
        case "erased":
            return [erased.slot.text.lower() for erased in state.erased]
        case "basket":
            return [line.quantity for line in state.basket]
        case "refers":
            return len(done.decision.referred)
        case "shown":
            return bool(titles)
        case "every" | "none":
            return titles
        case "asks":
            return done.decision.question is not None
    raise AssertionError(f"unknown promise {promise}")


def kept(promise: str, promised: Any, value: Any) -> bool:
    match promise:
        case "slots":
            return all(value.get(name) == text for name, text in promised.items())
        case "excluded" | "erased" | "soft" | "firm":
            return set(promised) <= set(value)
        case "not_excluded" | "without":
            return not set(promised) & set(value)
        case "every":
            return bool(value) and all(promised in title for title in value)
        case "none":
            return not any(promised in title for title in value)
    return bool(value == promised)


@pytest.mark.parametrize("talk", TALKS, ids=[talk["id"] for talk in TALKS])
def test_a_conversation_keeps_its_promises(talk: dict[str, Any]) -> None:
    assistant = Assistant(open_catalogue(talk["catalogue"]), Settings())
    for turn in talk["turns"]:
        done = assistant.respond(turn["say"])
        for promise, promised in turn.get("then", {}).items():
            value = found(done, promise)
            assert kept(promise, promised, value), f"{turn['say']!r}: {promise} is {value}"


def test_of_two_things_one_at_its_end_says_nothing_while_the_other_goes_on() -> None:
    assistant = Assistant(open_catalogue("naija"), Settings())
    for said in ("I need an ankara dress and a bag for a wedding, 60k for everything", "no leather bag"):
        assistant.respond(said)
    for _ in range(12):
        groups = assistant.respond("show more").decision.groups
        assert len(groups) == 1 or all(group.items for group in groups)
