"""A memory file with a page that cannot be read: one line, the right exit code, the file as it was, and the shop stays open."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ego_cli.errors import DamagedMemoryError
from ego_cli.memory.memory import open_memory
from ego_cli.tui.opening import open_engine

PAGE = 4096


def damage(path: Path, table: str) -> bytes:
    """Flip bytes all over the first page of a table; returns the file as it is then."""
    with open_memory("me", root=path.parent.parent) as memory:
        memory.store.scrub()
    db = sqlite3.connect(path)
    (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name=?", (table,)).fetchone()
    assert db.execute("PRAGMA page_size").fetchone() == (PAGE,)
    db.close()
    data = bytearray(path.read_bytes())
    for at in range((page - 1) * PAGE, page * PAGE, 7):
        data[at] ^= 0xFF
    path.write_bytes(data)
    return bytes(data)


@pytest.fixture
def memory_file(ego_home: Path) -> Path:
    with open_memory("me") as memory:
        for number in range(300):
            memory.hear(f"I love colour number {number}")
        return memory.store.path


def ego(*words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ego_cli", *words], input=typed, capture_output=True, text=True,
        env={**os.environ, "NO_COLOR": "1"}, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("table", ["entry", "meta"])
def test_a_damaged_page_is_one_line_and_the_file_stays_as_it_is(memory_file: Path, table: str) -> None:
    damaged = damage(memory_file, table)
    for words in (
        ["memory", "show"],
        ["recall", "colour"],
        ["memory", "export"],
        ["prune"],
        ["memory", "forget", "colour"],
    ):
        done = ego(*words)
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert f"{memory_file} is damaged" in line and "move it away" in line
    assert memory_file.read_bytes() == damaged


@pytest.mark.parametrize("table", ["entry", "meta", "heard", "turn_change"])
def test_the_shop_stays_open_and_says_once_that_memory_is_off(memory_file: Path, table: str) -> None:
    damage(memory_file, table)
    done = ego("chat", "--plain", "--json", typed="I need a fan\nI avoid wicker\nadd the first one\n")
    turns = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(turns) == 3 and turns[0]["shown"] and turns[-1]["state"]["basket"]
    told = [notice for turn in turns for notice in turn["notices"]]
    assert len(told) == 1 and told[0].startswith("Memory is off: ") and "is damaged" in told[0]
    in_lines = ego("chat", "--plain", typed="I need a fan\n")
    assert (in_lines.returncode, in_lines.stderr) == (0, "") and in_lines.stdout.count("is damaged") <= 1


def test_the_screen_opens_over_a_damaged_memory(memory_file: Path) -> None:
    damage(memory_file, "entry")
    engine = open_engine("naija", "me", resume=False)
    assert (engine.nudges(), engine.memories().rows) == ((), ())
    engine.close()


@pytest.mark.parametrize(
    "read",
    [
        lambda memory: memory.facts(),
        lambda memory: memory.profile("bags"),
        lambda memory: memory.recall("colour"),
        lambda memory: memory.export(),
        lambda memory: memory.hear("I love linen"),
        lambda memory: memory.consolidate(),
        lambda memory: memory.forget("linen"),
    ],
)
def test_no_reading_or_writing_meets_a_bare_error_of_the_database(
    memory_file: Path, read: Callable[..., object]
) -> None:
    damage(memory_file, "entry")
    with open_memory("me") as memory, pytest.raises(DamagedMemoryError):
        read(memory)
