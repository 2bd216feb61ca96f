"""A turn that is undone is taken back out of memory as well, wholly and once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ego_cli.catalog.readers import product_from_mapping
from ego_cli.catalog.store import memory_catalogue
from ego_cli.conversation.state import rebuild
from ego_cli.conversation.turn import Assistant
from ego_cli.memory.entry import NARRATIVE, Entry
from ego_cli.memory.memory import Memory, open_memory
from ego_cli.memory.store import Store
from ego_cli.ranking.scored import Ranked
from ego_cli.settings import settings_from

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory("ada", root=tmp_path, clock=lambda: NOON) as opened:
        yield opened


def say(memory: Memory, *sentences: str, first: int = 1) -> None:
    for turn, sentence in enumerate(sentences, first):
        memory.hear(sentence, turn=turn, session="s", at=NOON + timedelta(days=turn))


def rows(memory: Memory) -> list[Entry]:
    """All that is stored, numbers of rows aside."""
    found = [replace(row, id=0) for row in memory.store.rows("tier<>?", (NARRATIVE,))]
    return sorted(found, key=lambda row: (row.slot, row.valid_from, row.key))


def texts(memory: Memory) -> list[str]:
    return [row.text for row in memory.facts()]


def test_what_a_turn_alone_stored_is_gone_from_every_file(memory: Memory) -> None:
    say(memory, "I like linen", "my name is Temisan")
    memory.consolidate()
    memory.take_back("s", 2)
    assert texts(memory) == ["likes linen"] and "Temisan" not in memory.summary()
    files = [path.read_bytes() for path in memory.store.folder.iterdir()]
    assert not any(b"temisan" in data.lower() for data in files)


def test_what_a_turn_superseded_holds_again(memory: Memory) -> None:
    say(memory, "my shoe size is 42", "my shoe size is 44")
    memory.take_back("s", 2)
    (row,) = memory.history("shoe size")
    assert (row.object, row.live, row.ended_by) == ("42", True, "")
    assert [found.entry.object for found in memory.recall("shoe size")] == ["42"]


def test_what_a_turn_superseded_holds_until_what_came_later(memory: Memory) -> None:
    say(memory, "my shoe size is 42", "my shoe size is 44", "my shoe size is 43")
    memory.take_back("s", 2)
    first, last = memory.history("shoe size")
    assert (first.object, last.object, first.valid_to) == ("42", "43", last.valid_from)


def test_what_a_turn_confirmed_goes_back_and_others_confirmations_stay(memory: Memory) -> None:
    say(memory, "I don't like wool", "I avoid wool", "I avoid wool")
    memory.take_back("s", 3)
    (row,) = memory.facts()
    assert (row.mentions, row.confirmed, row.kind) == (2, NOON + timedelta(days=2), "avoidance")
    memory.take_back("s", 2)
    (row,) = memory.facts()
    assert (row.mentions, row.confirmed, row.kind) == (1, NOON + timedelta(days=1), "dislike")


def test_what_was_said_twice_outlives_the_undoing_of_either(memory: Memory) -> None:
    say(memory, "I like linen", "I like linen")
    memory.take_back("s", 1)
    assert texts(memory) == ["likes linen"]
    memory.take_back("s", 2)
    assert texts(memory) == []


def test_what_an_answer_used_fades_as_before(memory: Memory) -> None:
    say(memory, "I avoid wool")
    before = rows(memory)
    memory.used([row.id for row in memory.facts()], turn=2, session="s")
    assert rows(memory) != before
    memory.take_back("s", 2)
    assert rows(memory) == before


def test_a_fact_that_was_only_ended_holds_again(memory: Memory) -> None:
    say(memory, "my favourite material is suede", "I hate suede")
    memory.take_back("s", 2)
    assert texts(memory) == ["favourite material is suede"]


def test_taking_back_twice_changes_nothing_more_and_strangers_turns_stay(memory: Memory) -> None:
    say(memory, "I like linen", "I like linen")
    memory.take_back("s", 2)
    before = rows(memory)
    assert memory.take_back("s", 2) == memory.take_back("other", 1) == 0
    assert rows(memory) == before


def test_what_she_pinned_or_put_in_other_words_since_stays(memory: Memory) -> None:
    say(memory, "I like linen", "I like suede")
    linen, suede = memory.facts()
    memory.pin(linen.id)
    memory.edit(suede.id, "likes soft suede")
    memory.take_back("s", 1)
    memory.take_back("s", 2)
    assert texts(memory) == ["likes linen", "likes soft suede"]


def test_an_undo_brings_back_nothing_that_was_forgotten(memory: Memory) -> None:
    say(memory, "my shoe size is 42", "my shoe size is 44")
    memory.forget("my shoe size")
    memory.take_back("s", 2)
    assert memory.history() == []


SENTENCES = (
    "I like linen", "I hate linen", "I avoid wool", "I don't like wool", "my shoe size is 42", "my shoe size is 44",
    "my favourite drink is malt", "my favourite drink is zobo now", "I hate malt", "I am vegan", "I stopped being vegan",
    "we are planning a picnic with the children", "my mum wears size 38 and I wear size 42",
)  # fmt: skip


@settings(max_examples=40)
@given(st.lists(st.sampled_from(SENTENCES), max_size=6), st.sampled_from(SENTENCES))
def test_a_turn_that_is_taken_back_at_once_leaves_what_was(said: list[str], last: str) -> None:
    with TemporaryDirectory() as folder, open_memory("ada", root=Path(folder), clock=lambda: NOON) as memory:
        say(memory, *said)
        before = rows(memory)
        say(memory, last, first=50)
        memory.take_back("s", 50)
        assert rows(memory) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_a_taking_back_that_was_killed_is_finished_when_memory_is_next_opened(tmp_path: Path) -> None:
    with open_memory("ada", root=tmp_path) as memory:
        say(memory, "I like linen", "my name is Temisan")
    if not (child := os.fork()):
        Store.scrub = lambda self: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
        open_memory("ada", root=tmp_path).take_back("s", 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    with open_memory("ada", root=tmp_path) as memory:
        assert texts(memory) == ["likes linen"] and memory.take_back("s", 2) == 0
        assert not any(b"Temisan" in path.read_bytes() for path in memory.store.folder.iterdir())


# --- in a conversation -------------------------------------------------------------------------------------------------

BAGS = [
    {"id": "b1", "title": "Leather tote bag", "category": "bags", "price": 9000, "material": "leather"},
    {"id": "b2", "title": "Canvas tote bag", "category": "bags", "price": 8000, "material": "canvas"},
]


def shop(memory: Memory, session: str = "s") -> Assistant:
    catalogue = memory_catalogue([product_from_mapping(row) for row in BAGS], currency="NGN")
    return Assistant(catalogue, settings_from({}), memory=memory, session=session)


def shown(assistant: Assistant, text: str) -> set[str]:
    return {scored.product.id for scored in assistant.respond(text).decision.shown}


def test_undo_takes_back_the_avoidance_and_the_list_that_follows_knows(memory: Memory) -> None:
    assistant = shop(memory)
    assert shown(assistant, "show me a bag") == {"b1", "b2"}
    assistant.respond("I am allergic to leather")
    assert shown(assistant, "show me more bags") == {"b2"}
    assert shown(assistant, "undo") == {"b1", "b2"}
    assert "allergic to leather" not in texts(memory)


def test_undo_after_a_fact_alone_leaves_the_wish_before_it(memory: Memory) -> None:
    assistant = shop(memory)
    assistant.respond("show me a bag")
    assistant.respond("my shoe size is 42")
    done = assistant.respond("undo")
    assert "shoe size" not in " ".join(texts(memory))
    assert [want.category for want in done.state.wants] == ["bags"]


def test_undo_reaches_what_was_said_before_a_restart(memory: Memory) -> None:
    first = shop(memory)
    first.respond("my shoe size is 42")
    later = shop(memory, session="another")
    later.state = rebuild(first.state.log)
    later.respond("undo")
    assert texts(memory) == []


def test_a_turn_that_was_stopped_was_not_heard_and_the_next_one_is(memory: Memory) -> None:
    class Slow:
        """Stands for models that are being waited for when she stops the turn."""

        trouble = ""

        def __init__(self, cancel: threading.Event) -> None:
            self.cancel = cancel

        def begin_turn(self, cancel: threading.Event | None = None) -> None: ...
        def end_turn(self, number: int) -> tuple[()]:
            return ()

        def read(self, *_: object) -> tuple[()]:
            self.cancel.set()
            return ()

        def rerank(self, ranked: Ranked, _: object) -> Ranked:
            return ranked

        def phrase(self, *_: object) -> tuple[()]:
            return ()

        phrased = ""

    cancel = threading.Event()
    assistant = shop(memory)
    assistant.models = Slow(cancel)  # type: ignore[assignment]
    list(assistant.turn("my shoe size is 42", cancel))
    assert texts(memory) == []
    assistant.models = None
    assistant.respond("my shoe size is 44")
    assert texts(memory) == ["wears size 44 shoe"]
