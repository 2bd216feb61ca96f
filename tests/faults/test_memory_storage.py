"""What a memory says and keeps when its file cannot be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ego_cli.errors import MemoryStoreError
from ego_cli.memory.memory import Memory, open_memory
from ego_cli.memory.store import Store


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory("ada", root=tmp_path) as opened:
        opened.hear("I avoid fragrance")
        yield opened


def test_a_full_disk_is_one_line_and_what_was_there_stays(memory: Memory) -> None:
    db = memory.store.connection()
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(MemoryStoreError, match="full"):
        for number in range(500):
            memory.hear(f"I love colour number {number}")
    assert "avoids fragrance" in [row.text for row in memory.facts()]
    db.execute(f"PRAGMA max_page_count={pages + 1_000}")
    memory.hear("I love linen")
    assert "likes linen" in [row.text for row in memory.facts()]
    assert memory.store.integrity() == "ok"


def test_a_file_that_may_only_be_read_is_one_line_and_can_be_read(memory: Memory) -> None:
    memory.store.connection().execute("PRAGMA query_only=1")
    with pytest.raises(MemoryStoreError, match="readonly"):
        memory.hear("I love linen")
    assert [found.text for found in memory.recall("a perfume without fragrance")] == ["avoids fragrance"]


def test_tidying_on_a_full_disk_leaves_all_as_it_was_and_is_done_later(memory: Memory) -> None:
    for number in range(40):
        memory.hear(f"I love colour number {number} {'x' * 60}")
    before = memory.facts()
    db = memory.store.connection()
    db.execute(f"PRAGMA max_page_count={db.execute('PRAGMA page_count').fetchone()[0]}")
    while True:  # to the last byte
        try:
            memory.hear("we are planning a picnic with all of the children " + "y" * 900)
        except MemoryStoreError:
            break
    with pytest.raises(MemoryStoreError, match="full"):
        memory.consolidate()
    assert memory.facts() == before and memory.summary() == "" and memory.store.jobs()
    db.execute("PRAGMA max_page_count=100000")
    memory.consolidate()
    assert memory.facts() == before and memory.summary() and memory.store.jobs() == []


def test_where_nothing_may_be_put_beside_the_file_it_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory("ada", root=tmp_path) as before:
        before.hear("I avoid fragrance")
    plain = Store._connect

    def no_room(where: str) -> sqlite3.Connection:
        if not where.startswith("file:"):
            raise sqlite3.OperationalError("disk I/O error")  # what SQLite says on a disk without a free byte
        return plain(where)

    monkeypatch.setattr(Store, "_connect", staticmethod(no_room))
    with open_memory("ada", root=tmp_path) as memory:
        assert [avoided.value for avoided in memory.profile().avoidances] == ["fragrance"]
        with pytest.raises(MemoryStoreError):
            memory.hear("I avoid wicker")
    with pytest.raises(MemoryStoreError):  # there is no file yet to read
        open_memory("bayo", root=tmp_path)
