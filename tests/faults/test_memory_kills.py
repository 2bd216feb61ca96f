"""Memory under ill treatment: killed at any moment, written by many at once, and made to forget so that nothing is left.

``EGO_KILLS=200`` runs the long form of the kill test.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from ego_cli.evaluation.bench_memory import writers
from ego_cli.memory.consolidate import Worker
from ego_cli.memory.entry import utc_now
from ego_cli.memory.forget import forget as forget_rows
from ego_cli.memory.memory import Memory, open_memory
from ego_cli.memory.store import Store

KILLS = int(os.environ.get("EGO_KILLS", "12"))

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def chat_until_killed(root: Path, first: int, acknowledged: Connection) -> None:
    """One shopper talks without end while her jobs run beside her; each turn is acknowledged after it was kept."""
    memory = open_memory("ada", root=root)
    worker = Worker(memory).start()
    turn = first
    while True:
        memory.hear(f"I collect number {turn} stamps and I like blue", turn=turn, session="s")
        memory.log("shown", turn=turn, session="s", ids=[f"p{turn}"])
        acknowledged.send(turn)
        if turn % 3 == 0:
            worker.wake()
        turn += 1


def start(target: Callable[..., None], *arguments: Any) -> tuple[Any, Connection]:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(*arguments, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def drain(pipe: Connection) -> list[int]:
    received = []
    try:
        while pipe.poll():
            received.append(pipe.recv())
    except EOFError:
        pass
    return received


def test_a_killed_process_loses_no_acknowledged_write_and_does_nothing_twice(tmp_path: Path) -> None:
    chance = random.Random(5)
    delivered = 0  # the last turn that is known to be kept
    for _ in range(KILLS):
        process, pipe = start(chat_until_killed, tmp_path, delivered + 1)
        if chance.random() < 0.5:
            pipe.poll(30)  # at work, however busy the machine; else it may still be opening the file
        time.sleep(chance.uniform(0.02, 0.12))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        delivered = max([delivered, *drain(pipe)])
        pipe.close()
        with open_memory("ada", root=tmp_path) as memory:
            # The sender does not know whether the turn in flight was kept: it sends it again.
            memory.hear(
                f"I collect number {delivered + 1} stamps and I like blue", turn=delivered + 1, session="s"
            )
            delivered += 1
    with open_memory("ada", root=tmp_path, clock=lambda: utc_now() + timedelta(minutes=5)) as memory:
        memory.consolidate()
        assert memory.store.integrity() == "ok"
        rows = memory.facts()
        stamps = [row for row in rows if "stamps" in row.text]
        assert [row.turn for row in sorted(stamps, key=lambda row: row.turn or 0)] == list(
            range(1, delivered + 1)
        )
        assert {row.mentions for row in stamps} == {1}
        (blue,) = [row for row in rows if row.object == "blue"]
        assert blue.mentions == delivered
        assert memory.store.jobs() == []
        assert delivered > KILLS


def test_many_processes_write_at_once_and_all_of_it_is_there(tmp_path: Path) -> None:
    result = writers(tmp_path, processes=8, adds=100)
    assert (result["lost"], result["failed_processes"], result["integrity"]) == (0, 0, "ok")


def contradict(root: Path, number: int, acknowledged: Connection) -> None:
    with open_memory("ada", root=root) as memory:
        for i in range(40):
            memory.hear(f"my shoe size is {36 + (number + i) % 9}")
            memory.recall("shoe size")
        acknowledged.send(number)


def test_contradictions_from_many_processes_leave_one_live_value(tmp_path: Path) -> None:
    started = [start(contradict, tmp_path, number) for number in range(4)]
    for process, _ in started:
        process.join()
        assert process.exitcode == 0
    with open_memory("ada", root=tmp_path) as memory:
        assert len(memory.facts()) == 1
        assert memory.store.integrity() == "ok"


# --- forgetting ----------------------------------------------------------------------------------------------------------------

SECRETS = ("Temisan", "Kolibri", "shellfish", "chartreuse", "periwinkle")


def fill(memory: Memory) -> None:
    for turn, sentence in enumerate(
        ("my name is Temisan and I like beads", "I live at Plot 7 Kolibri Close", "I am allergic to shellfish", "I love chartreuse",
         "I hate chartreuse", "you should know that Temisan sings in the choir on Sundays", "I like linen", "remember that periwinkle opens the gate"),
        start=1,
    ):  # fmt: skip
        memory.hear(sentence, turn=turn, session="s")
    memory.log("search", query="periwinkle scarf for Temisan at Kolibri Close", session="s")
    memory.log(
        "review", "chartreuse is too loud, I itch as from shellfish", name="Scarf", product_id="n1", stars=2
    )
    memory.consolidate()
    memory.snapshot(keep=True)
    memory.hear("I want something for Temisan in chartreuse", turn=20, session="s")


def leftovers(folder: Path, words: tuple[str, ...]) -> list[tuple[str, str]]:
    return [
        (word, path.name)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for word in words
        if word.lower().encode() in path.read_bytes().lower()
    ]


def digests(folder: Path) -> dict[str, str]:
    return {
        str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def test_nothing_is_left_of_what_was_forgotten_in_any_file_and_others_files_are_untouched(
    tmp_path: Path,
) -> None:
    with open_memory("bayo", root=tmp_path) as other:
        fill(other)
        theirs = other.store.folder
    before = digests(theirs)
    with open_memory("ada", root=tmp_path) as memory:
        fill(memory)
        assert {word for word, _ in leftovers(memory.store.folder, SECRETS)} == set(SECRETS)
        there = (
            memory.store.connection()
            .execute("SELECT count(*) FROM entry WHERE tier<>'narrative'")
            .fetchone()[0]
        )
        assert memory.forget("all") == there
        assert leftovers(memory.store.folder, (*SECRETS, "linen", "beads")) == []
        memory.consolidate()
        assert memory.facts() == []
        assert memory.recall("what is my name") == []
        assert memory.summary() == ""
    assert leftovers(memory.store.folder, (*SECRETS, "linen", "beads")) == []
    assert digests(theirs) == before


@pytest.mark.parametrize(
    ("what", "secret"),
    [("my name", "Temisan"), ("my address", "Kolibri"), ("that I am allergic to shellfish", "shellfish"), ("chartreuse", "chartreuse"),
     ("the periwinkle", "periwinkle")],
)  # fmt: skip
def test_forgetting_one_thing_takes_it_from_every_file_and_leaves_the_rest(
    tmp_path: Path, what: str, secret: str
) -> None:
    with open_memory("ada", root=tmp_path) as memory:
        fill(memory)
        assert memory.forget(what) >= 1
        memory.consolidate()
        assert leftovers(memory.store.folder, (secret,)) == []
        assert "likes linen" in [row.text for row in memory.facts()]
        assert "likes beads" in [row.text for row in memory.facts()]
    with open_memory("ada", root=tmp_path) as memory:
        memory.consolidate()
        assert secret.lower() not in " ".join(item.text for item in memory.recall(f"{what} {secret}")).lower()
    assert leftovers(memory.store.folder, (secret,)) == []


def forget_and_die(root: Path, acknowledged: Connection) -> None:
    Store.scrub = lambda self: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
    with open_memory("ada", root=root) as memory:
        acknowledged.send(0)
        forget_rows(memory, "all")


def test_a_forgetting_that_was_killed_is_finished_when_the_memory_is_next_opened(tmp_path: Path) -> None:
    with open_memory("ada", root=tmp_path) as memory:
        fill(memory)
    process, _ = start(forget_and_die, tmp_path)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert leftovers(memory.store.folder, SECRETS)
    with open_memory("ada", root=tmp_path) as memory:
        assert memory.facts() == []
        assert leftovers(memory.store.folder, SECRETS) == []


def test_what_a_page_of_a_hundred_would_miss_is_forgotten_too(tmp_path: Path) -> None:
    with open_memory("ada", root=tmp_path) as memory:
        for i in range(260):
            memory.hear(f"I bought item {i} last year")
        assert memory.forget("everything you know about me") == 260
        assert memory.facts() == []


def test_forgetting_nothing_changes_nothing(tmp_path: Path) -> None:
    with open_memory("ada", root=tmp_path) as memory:
        memory.hear("I like linen")
        assert memory.forget("my budget") == 0
        assert memory.forget("the moon") == 0
        assert [row.text for row in memory.facts()] == ["likes linen"]
