"""Facts over time: contradictions, intervals, one row for one fact, other people, export and import, other users."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from threading import Barrier, Thread

import pytest

from ego_cli.errors import MemoryStoreError, MisuseError, NotFoundError
from ego_cli.memory.ingest import ingest
from ego_cli.memory.layout import MIGRATIONS, known_users, user_folder
from ego_cli.memory.memory import Memory, open_memory

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory("ada", root=tmp_path) as opened:
        yield opened


def say(memory: Memory, *sentences: str) -> None:
    for i, sentence in enumerate(sentences):
        memory.hear(sentence, at=NOON + timedelta(days=i))


def texts(memory: Memory) -> list[str]:
    return [row.text for row in memory.facts()]


# --- contradictions and intervals ------------------------------------------------------------------------------------------


def test_a_contradiction_ends_the_old_fact_and_keeps_it_as_history(memory: Memory) -> None:
    say(memory, "I love suede", "I hate suede now")
    assert texts(memory) == ["dislikes suede"]
    old, new = memory.history("suede")
    assert (old.text, old.valid_to, old.ended_by) == ("likes suede", new.valid_from, "I hate suede now")


def test_going_there_and_back_again_is_three_spans(memory: Memory) -> None:
    say(
        memory,
        "my favourite drink is malt",
        "my favourite drink is zobo now",
        "I am back to malt as my favourite drink",
    )
    assert texts(memory) == ["favourite drink is malt"]
    assert [row.object for row in memory.history("favourite drink")] == ["malt", "zobo", "malt"]


def test_unrelated_facts_never_retire_each_other(memory: Memory) -> None:
    say(
        memory,
        "I want black shoes",
        "I want white shirts",
        "I like red",
        "I like blue",
        "my shoe size is 42",
        "my shirt size is L",
    )
    assert len(texts(memory)) == 6


def test_who_turns_against_a_thing_has_it_as_a_favourite_no_longer(memory: Memory) -> None:
    say(memory, "my favourite material is suede", "I hate suede")
    assert texts(memory) == ["dislikes suede"]


def test_what_was_said_earlier_but_heard_later_is_filed_as_history(memory: Memory) -> None:
    memory.hear("I hate suede", at=NOON)
    memory.hear("I love suede", at=NOON - timedelta(days=30))
    assert texts(memory) == ["dislikes suede"]
    assert [row.text for row in memory.history("suede")] == ["likes suede", "dislikes suede"]


def test_the_same_fact_again_raises_its_count_and_is_one_row(memory: Memory) -> None:
    say(memory, "I like blue", "I prefer blue", "blue is what I prefer")
    (row,) = memory.facts()
    assert (row.mentions, row.created, row.confirmed) == (3, NOON, NOON + timedelta(days=2))


def test_a_dislike_that_grows_into_an_avoidance_takes_the_firmer_kind(memory: Memory) -> None:
    say(memory, "I don't like wool", "I avoid wool")
    assert [(row.kind, row.text) for row in memory.facts()] == [("avoidance", "avoids wool")]


def test_the_same_turn_heard_twice_counts_once(memory: Memory) -> None:
    for _ in range(3):
        memory.hear("I like blue", turn=1, session="s", at=NOON)
    assert memory.facts()[0].mentions == 1


def test_only_her_own_words_write(memory: Memory) -> None:
    say(memory, "I like canvas shoes")
    assert (
        memory.hear("[recalled memory] I like canvas shoes [assistant] I like marble tables", by="context")
        == []
    )
    assert texts(memory) == ["likes canvas shoes"]


def test_the_source_of_a_fact_is_its_turn_and_her_words(memory: Memory) -> None:
    (row,) = memory.hear("well, my shoe size is 42 after all", turn=7, session="monday", at=NOON)
    assert (row.turn, row.session, row.words, row.source) == (
        7,
        "monday",
        "my shoe size is 42 after all",
        "declared",
    )


def test_she_means_the_sister_of_the_turn_before(memory: Memory) -> None:
    memory.hear("my sister is called Ọmọlará", turn=1, session="s")
    memory.hear("she likes beads", turn=2, session="s")
    memory.hear("Ọmọlará hates wool", turn=3, session="s")
    assert [(row.subject, row.text) for row in memory.facts("sister")] == [
        ("sister", "sister's name is Ọmọlará"), ("sister", "sister likes beads"), ("sister", "sister dislikes wool"),
    ]  # fmt: skip


def test_a_gift_for_friday_expires_after_friday(memory: Memory) -> None:
    memory.hear("I need a gift for Friday", at=NOON)  # a Tuesday
    (row,) = memory.facts()
    assert row.expires == datetime(2026, 3, 13, 23, tzinfo=UTC)  # midnight in Lagos


# --- concurrency -------------------------------------------------------------------------------------------------------------


def test_one_fact_from_parallel_turns_is_one_row(memory: Memory) -> None:
    start = Barrier(8)

    def tell() -> None:
        start.wait()
        memory.hear("I am allergic to shellfish")

    threads = [Thread(target=tell) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (row,) = memory.facts()
    assert row.mentions == 8


# --- files and users -----------------------------------------------------------------------------------------------------------


def test_files_are_readable_by_their_owner_only(memory: Memory, tmp_path: Path) -> None:
    say(memory, "I like blue")
    for path in [memory.store.folder, *memory.store.folder.iterdir()]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "a/b", "C:\\x", "..", "0f8fad5b-d9cb-469f-a165-70867728950e", "Ọmọlará", "小米"],
)
def test_no_name_of_a_user_is_a_piece_of_a_path(name: str, tmp_path: Path) -> None:
    with open_memory(name, root=tmp_path) as memory:
        memory.hear("I like blue")
        assert memory.store.path.parent.parent == tmp_path
    assert known_users(tmp_path) == [name]


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "x" * 200, "\0"])
def test_names_that_nobody_has_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(MisuseError):
        open_memory(name, root=tmp_path)


def test_one_users_memory_never_reaches_another(tmp_path: Path) -> None:
    with open_memory("amara", root=tmp_path) as amara, open_memory("bayo", root=tmp_path) as bayo:
        amara.hear("I adore mangoes")
        bayo.hear("I adore football")
        assert [item.entry.text for item in amara.recall("what do I adore")] == ["likes mangoes"]


def test_a_broken_file_is_one_clear_error(tmp_path: Path) -> None:
    folder = user_folder("ada", tmp_path)
    folder.mkdir(parents=True)
    (folder / "memory.db").write_bytes(b"this is no database, however long it may be" * 50)
    with pytest.raises(MemoryStoreError, match="move it away"):
        open_memory("ada", root=tmp_path)


def test_migrations_are_recorded_and_a_copy_is_made_before_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory("ada", root=tmp_path) as memory:
        say(memory, "I like blue")
        folder = memory.store.folder

    def _m999_mood(db: sqlite3.Connection) -> None:
        db.execute("ALTER TABLE entry ADD COLUMN mood TEXT")

    monkeypatch.setattr("ego_cli.memory.store.MIGRATIONS", (*MIGRATIONS, _m999_mood))
    with open_memory("ada", root=tmp_path) as memory:
        assert texts(memory) == ["likes blue"]
        names = [row[0] for row in memory.store.connection().execute("SELECT name FROM migration")]
        assert names[-1] == "_m999_mood"
    copy = sqlite3.connect(folder / "memory.before_m999_mood.db")
    assert copy.execute("SELECT text FROM entry").fetchall() == [("likes blue",)]
    copy.close()


def test_columns_of_a_newer_version_survive_an_export(tmp_path: Path) -> None:
    with open_memory("ada", root=tmp_path) as memory:
        say(memory, "I like blue")
        with memory.store.writing() as db:
            db.execute("ALTER TABLE entry ADD COLUMN mood TEXT")
            db.execute("UPDATE entry SET mood='calm'")
        assert json.loads(memory.export().splitlines()[1])["mood"] == "calm"


# --- by her own hand --------------------------------------------------------------------------------------------------------------


def test_pin_edit_and_restore(memory: Memory) -> None:
    say(memory, "I like blue", "I love suede", "I hate suede")
    blue = next(row for row in memory.facts() if row.object == "blue")
    assert memory.pin(blue.id).pinned
    assert memory.edit(blue.id, "likes teal").text == "likes teal"
    assert memory.history("blue") == []
    loved = next(row for row in memory.history("suede") if not row.live)
    memory.restore(loved.id)
    assert sorted(texts(memory)) == ["likes suede", "likes teal"]
    with pytest.raises(NotFoundError):
        memory.pin(999)


def test_editing_into_what_is_known_already_is_refused(memory: Memory) -> None:
    say(memory, "I like blue", "I like red")
    with pytest.raises(MisuseError, match="already"):
        memory.edit(memory.facts()[0].id, "likes red")


# --- out and in -----------------------------------------------------------------------------------------------------------------

EVERYTHING = (
    "my skin is oily", "I avoid wool", "I hate suede", "I am allergic to peanuts", "my budget is 30k", "my budget for shoes is ₦20,000",
    "my favourite drink is malt", "I am vegan", "my mother wears size 38 shoes", "my name is Ada", "the Calma cream broke me out",
    "I suffer from acne", "my goal is to lose weight", "I like jazz", "I never wear black", "I only buy unscented soap", "I love suede",
)  # fmt: skip


@pytest.mark.parametrize("format_", ["jsonl", "podium"])
def test_an_export_read_back_gives_the_same_agent_memory(
    memory: Memory, tmp_path: Path, format_: str
) -> None:
    say(memory, *EVERYTHING)
    with open_memory("other", root=tmp_path) as other:
        other.import_text(memory.export(format_))
        assert json.loads(other.export("podium")) == json.loads(memory.export("podium"))
        other.import_text(memory.export(format_))
        assert json.loads(other.export("podium")) == json.loads(memory.export("podium"))


def test_an_export_of_rows_read_back_keeps_history(memory: Memory, tmp_path: Path) -> None:
    say(memory, "I love suede", "I hate suede", "I love suede")
    with open_memory("other", root=tmp_path) as other:
        assert other.import_text(memory.export()) == 3
        assert [(r.text, r.valid_from, r.valid_to) for r in other.history("suede")] == [
            (r.text, r.valid_from, r.valid_to) for r in memory.history("suede")
        ]
        assert other.import_text(memory.export()) == 0


def test_an_agent_memory_of_a_stranger_comes_back_without_loss(memory: Memory) -> None:
    signal = {
        "confidence": "medium",
        "firstMentioned": "2025-11-02",
        "lastConfirmed": "2026-01-05T08:00:00+01:00",
        "mentionCount": 4,
    }
    view = {
        "schemaVersion": 2,
        "attributes": {
            "skin_type": {"value": "oily", "confidence": "high", "source": "quiz", "lastConfirmed": "2026-01-05T08:00:00.000Z"},
            "undertone": {"value": "warm", "confidence": "low", "source": "inferred", "lastConfirmed": "2026-01-05T08:00:00.000Z", "note": "?"},
        },
        "goals": [{"text": "Glow by June", **signal}],
        "concerns": [{"text": "large pores", **signal}],
        "avoidances": [{"text": "fragrance", **signal}, {"text": "Parabens, and anything that smells", **signal}],
        "productsTried": [
            {"name": "Glowy serum", "brand": "Glowy", "productId": "x1", "sentiment": "negative", "outcome": "broke me out",
             "dateSurfaced": "2026-01-01T00:00:00.000Z"},
            {"name": "Calma", "brand": "", "productId": None, "sentiment": "neutral", "outcome": None, "dateSurfaced": "2026-01-02"},
        ],
        "priceRange": {
            "overall": None,
            "byCategory": {"serums": {"min": 10, "max": 50.5, "lastUpdated": "2026-01-03T00:00:00.000Z"}},
        },
        "lastConversationDate": "2026-01-05",
    }  # fmt: skip
    memory.import_text(json.dumps(view))
    back = json.loads(memory.export("podium"))
    assert {key: back[key] for key in view} == view


def test_what_is_no_agent_memory_names_its_first_fault(memory: Memory) -> None:
    with pytest.raises(MemoryStoreError, match="goals"):
        memory.import_text('{"schemaVersion": 2, "attributes": {}}')


def test_rows_without_newer_fields_and_with_unknown_keys_are_taken(memory: Memory) -> None:
    memory.import_rows(
        [{"text": "likes brown belts", "mood": "calm", "schema_v": 0}, {"text": "likes cane baskets"}]
    )
    assert texts(memory) == ["likes brown belts", "likes cane baskets"]
    assert json.loads(memory.export().splitlines()[1])["data"]["mood"] == "calm"
    assert memory.recall("belts")[0].entry.polarity == 1


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I'm allergic to nuts", "that I can't eat nuts"),
        ("I can't eat nuts", "that I'm allergic to nuts"),
        ("My daughter Zoë loves pink", "what I said about my daughter"),
        ("My daughter loves pink", "what you know about my daughter"),
        ("I love linen", "the bit about linen"),
    ],
)
def test_a_memory_is_forgotten_by_other_words_too(memory: Memory, said: str, asked: str) -> None:
    say(memory, said, "I love ankara")
    assert memory.forgotten(asked).count == 1
    assert [row.text for row in memory.facts()] == ["likes ankara"]


def test_the_same_said_of_an_earlier_time_is_one_row(memory: Memory) -> None:
    memory.hear("I love velvet", at=NOON)
    memory.hear("I hate velvet", at=NOON + timedelta(days=400))
    memory.hear("I love velvet", at=NOON + timedelta(days=100))
    spans = [(row.polarity, row.valid_from, row.valid_to, row.mentions) for row in memory.history("velvet")]
    turned = NOON + timedelta(days=400)
    assert sorted(spans) == [(-1, turned, None, 1), (1, NOON, turned, 2)]


def test_what_was_true_in_between_takes_its_place_between(memory: Memory) -> None:
    days = {"I love velvet": 0, "I hate velvet": 400}
    for sentence, day in days.items():
        memory.hear(sentence, at=NOON + timedelta(days=day))
    memory.hear("I hate velvet", at=NOON + timedelta(days=-10))
    starts = sorted((row.valid_from, row.valid_to, row.polarity) for row in memory.history("velvet"))
    for (_, ended, _), (begun, _, _) in pairwise(starts):
        assert ended is not None and ended <= begun


def test_signs_that_nobody_sees_are_not_kept(memory: Memory) -> None:
    say(memory, "I hate \u202eedeus\u202c", "I avoid fragrance\x00", "I love silk \ud800")
    assert {row.text for row in memory.facts()} == {"dislikes edeus", "avoids fragrance", "likes silk"}


def test_a_line_with_half_a_character_is_a_bad_line_and_the_next_is_kept(memory: Memory) -> None:
    lines = [
        '{"type": "review", "text": "\\ud800 nice", "product": "x"}',
        '{"type": "preference", "text": "I love silk"}',
    ]
    result = ingest(memory, lines)
    assert [number for number, _ in result.bad] == [1] and result.kept == 1
    with pytest.raises(MisuseError):
        memory.import_text('{"text": "likes \\ud800 silk"}')
