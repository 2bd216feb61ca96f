"""Forgetting for good, on the shopper's word: rows, what was made from them, and every copy that we keep."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ego_cli.errors import MemoryStoreError
from ego_cli.memory.entry import EPISODIC, ME, NARRATIVE, Entry, Fact
from ego_cli.memory.tokens import fold, terms, words_of
from ego_cli.settings import load_toml, private_folder

if TYPE_CHECKING:
    from ego_cli.memory.memory import Memory

TELLING_LETTERS = 4  # shorter words of a name or address give nobody away
_VAGUE = "type details info information"
COPIES = "copies"  # folder beside the memory file with the exports and snapshots that we keep

_EVERYTHING = re.compile(
    r"(?i)\s*(?:all|everything|every thing|all of it|me|everything (?:that )?(?:you|u) (?:know|remember|have)(?: (?:about|on) me)?|"
    r"all (?:my |the |your )?(?:memor(?:y|ies)|data|information|facts|preferences)(?: (?:of|about|on) me)?|my (?:data|memory|profile))\s*[.!]*\s*"
)
_LEAD = re.compile(
    r"(?i)^\s*(?:please\s+)?(?:(?:forget|delete|erase|remove)\s+)?(?:everything\s+|anything\s+|all\s+)?(?:about\s+|that\s+|(?:what |that )?(?:i|you) (?:said|told you|know|remember)\s+|the (?:bit|part|thing|fact)\s+)*"
)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went: the number of memories (facts, events and their history), the texts of the facts among them, and
    whether it was all there is."""

    count: int
    texts: tuple[str, ...] = ()
    everything: bool = False


def forget(memory: Memory, what: str) -> Forgotten:
    """Forget ``what`` ("all" or words) and everything that was made from it. Nothing found: count 0, nothing changes."""
    store = memory.store
    everything = _EVERYTHING.fullmatch(what) is not None
    with store.writing() as db:
        if everything:
            rows = store.rows()
            for table in ("entry", "pending", "job", "vector", "turn_change"):
                db.execute(f"DELETE FROM {table}")
            db.execute("DELETE FROM meta WHERE name NOT IN ('user', 'epoch')")
            store.new_epoch(db)
            drop_copies(store.folder, None)
            gone = [row for row in rows if row.tier != NARRATIVE]
        else:
            gone, asked = _meant(memory, what)
            if not gone:  # "my name and my address"
                parts = [_meant(memory, part) for part in re.split(r"(?i)\s*,\s*|\s+and\s+", what)]
                gone, asked = (
                    [row for rows, _ in parts for row in rows],
                    [word for _, words in parts for word in words],
                )
            if not gone:
                return Forgotten(0)
            telling = [*_values_of(gone), *_parts_of(gone), *asked]
            gone += _logs_with(store.rows(), gone, telling)
            store.delete(db, {row.id for row in gone})
            _clean_pending(db, gone, telling)
            _clean_neighbours(memory, db, telling)
            db.execute("DELETE FROM turn_change")  # an undo must not bring any of it back
            db.execute("DELETE FROM entry WHERE tier=?", (NARRATIVE,))
            store.new_epoch(db)
            drop_copies(store.folder, [fold(value) for value in telling])
    store.scrub()
    if not everything:
        from ego_cli.memory.consolidate import write_summary

        write_summary(memory)
    facts = tuple(
        dict.fromkeys(row.text for row in gone if row.live and not row.slot.startswith("event|") and row.text)
    )
    return Forgotten(len({row.id for row in gone}), facts, everything)


# --- which rows are meant ------------------------------------------------------------------------------------------------


def _meant(memory: Memory, what: str) -> tuple[list[Entry], list[str]]:
    """The rows that the shopper's words point at: a kind of fact ("my shoe size"), a statement, a person, or words.

    Words that point at rows by standing in them are returned too: nothing may be left that holds them.
    """
    rows = [row for row in memory.store.rows("tier<>?", (NARRATIVE,))]
    facts = [row for row in rows if not row.slot.startswith("event|")]
    words = _LEAD.sub("", what).strip(" .!?\"'")
    if match := re.fullmatch(r"#?(\d+)", words):
        return _with_history(facts, [row for row in rows if row.id == int(match.group(1))]), []
    if said := _stated(memory, words):
        slots, turned = {fact.slot for fact in said}, {_turn(fact) for fact in said if fact.polarity}
        found = [row for row in facts if row.slot in slots] or [row for row in facts if _turn(row) in turned]
        if found:
            return _with_history(facts, found), []
    subjects = {row.subject for row in rows}
    subject, rest = _owner(words, subjects)
    # "my daughter" is the daughter with a name as well, while none goes without
    own = [
        row
        for row in facts
        if row.subject == subject or (subject not in subjects and row.subject.startswith(f"{subject} "))
    ]
    if subject != ME and not terms(rest):
        return own, []
    kind = _kind_named(rest, own)
    if kind:
        return _with_history(facts, kind), []
    wanted = set(terms(rest))
    if not wanted:
        return [], []
    pool = own if subject != ME else facts
    in_facts = [row for row in pool if wanted <= set(terms(f"{row.text} {row.object} {row.words}"))]
    if in_facts:
        return _with_history(facts, in_facts), [rest]
    return [row for row in rows if wanted <= set(terms(row.text))], [rest]


def _stated(memory: Memory, words: str) -> list[Fact]:
    from ego_cli.memory.extract import extract

    return [fact for fact in extract(words, people=memory._known_people()).facts if fact.kind != "note"]


def _turn(fact: Fact | Entry) -> tuple[str, bool, str]:
    """Who turns to or from what: an allergy to nuts and "I can't eat nuts" say the same to who wants it forgotten."""
    return fact.subject, fact.polarity < 0, fact.key.rsplit("|", 1)[-1]


def _owner(words: str, subjects: Iterable[str]) -> tuple[str, str]:
    """Whose fact it is: "my mum's size" -> ("mother", "size")."""
    from ego_cli.memory.extract import relation_in

    return relation_in(words, subjects)


def _kind_named(words: str, rows: list[Entry]) -> list[Entry]:
    """Rows of the kind of fact that words name: "name", "shoe size", "address", "favourite drink", "allergies"."""
    names = load_toml("memory.toml")["kinds"]["named"]
    asked = set(words_of(words))
    wanted = set(terms(words))
    found: list[Entry] = []
    for kind, spoken in names.items():
        if not asked & set(spoken.split()):
            continue
        of_kind = [row for row in rows if row.kind == kind or row.predicate.partition(" ")[0] == kind]
        several = kind in (
            "attribute",
            "measure",
        )  # "skin" and "age" are two of them: the word itself must be there
        rest = wanted - set(terms(_VAGUE)) - (set() if several else set(terms(spoken)))
        found += (
            [row for row in of_kind if rest <= set(terms(f"{row.predicate} {row.text}"))] if rest else of_kind
        )
    return found


def _with_history(rows: Iterable[Entry], found: list[Entry]) -> list[Entry]:
    """The same facts at other times: everything that ever stood in their slots."""
    slots = {row.slot for row in found}
    return list({row.id: row for row in [*found, *(row for row in rows if row.slot in slots)]}.values())


# --- what else holds the same words ------------------------------------------------------------------------------------------


def _values_of(rows: Iterable[Entry]) -> list[str]:
    values = {row.object for row in rows if words_of(row.object)}
    return sorted(
        values | {row.text for row in rows if not row.object and words_of(row.text)}, key=len, reverse=True
    )


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fold(value))}(?!\w)", fold(text)) is not None


def _parts_of(rows: Iterable[Entry]) -> list[str]:
    """Single words that give away what identifies a person: "Kolibri" of "Plot 7 Kolibri Close"."""
    table = load_toml("memory.toml")["kinds"]
    plain = set(table["place_words"].split())
    found = {
        word
        for row in rows
        if row.kind in table["identifying"]
        for word in words_of(row.object)
        if len(word) >= TELLING_LETTERS and word not in plain
    }
    return sorted(found)


def _logs_with(rows: list[Entry], gone: list[Entry], telling: list[str]) -> list[Entry]:
    """Log rows that tell the same, and any row that names what identifies a person."""
    identifying = load_toml("memory.toml")["kinds"]["identifying"]
    names = [row.object for row in gone if row.kind in identifying and row.object]
    turns = {(row.session, row.turn) for row in gone if row.turn is not None}
    ids = {row.id for row in gone}
    more = []
    for row in rows:
        if row.id in ids or row.tier == NARRATIVE:
            continue
        is_log = row.tier == EPISODIC and row.slot.startswith("event|")
        text = f"{row.text} {row.object} {_flat(row.data)}"
        if (
            is_log and ((row.session, row.turn) in turns or any(_holds(text, value) for value in telling))
        ) or (not is_log and any(_holds(text, name) for name in names)):
            more.append(row)
    return more


def _flat(data: Any) -> str:
    return " ".join(str(value) for value in data.values()) if data else ""


def _clean_pending(db: Any, gone: list[Entry], values: list[str]) -> None:
    turns = {(row.session, row.turn) for row in gone if row.turn is not None}
    for id_, session, turn, text in db.execute("SELECT id, session, turn, text FROM pending").fetchall():
        if (session, turn) in turns or any(_holds(text, value) for value in values):
            db.execute("DELETE FROM pending WHERE id=?", (id_,))


def _clean_neighbours(memory: Memory, db: Any, telling: list[str]) -> None:
    """Other rows keep their fact but not a quotation that tells what was forgotten."""
    for row in memory.store.rows():
        told = [value for value in telling if not _holds(row.object, value)]
        changed = row
        if any(_holds(f"{row.text} {_flat(row.data)}", value) for value in told):
            # Only free words about a thing can hold it: an outcome, a review.
            kept = {
                key: value for key, value in row.data.items() if not any(_holds(str(value), t) for t in told)
            }
            changed = replace(
                changed, text=row.object or row.kind, data=kept, key=f"{row.slot}|{row.polarity}|"
            )
        if any(_holds(changed.words, value) for value in told):
            changed = replace(changed, words=changed.text)
        if any(_holds(changed.ended_by, value) for value in telling):
            changed = replace(changed, ended_by="")
        if changed is not row:
            memory.store.save(db, changed)


# --- copies -----------------------------------------------------------------------------------------------------------------


def keep_copy(folder: Path, name: str, text: str) -> Path:
    """Write an export or snapshot where forgetting finds it (0600 in 0700)."""
    path = private_folder(folder / COPIES) / name.replace(":", "-")
    write_private(path, text)
    return path


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise MemoryStoreError(f"cannot write {path}: {error.strerror}") from error


def drop_copies(folder: Path, values: list[str] | None) -> None:
    """Delete kept copies: all of them, or those that hold one of these folded values."""
    for path in (folder / COPIES).glob("*"):
        text = fold(path.read_text(encoding="utf-8", errors="replace"))
        if values is None or any(value in text for value in values):
            with suppress(FileNotFoundError):
                path.unlink()
