"""What the rest of the program talks to: one shopper's memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ego_cli.errors import MisuseError, NotFoundError
from ego_cli.memory.entry import (
    DECLARED,
    EPISODIC,
    HIGH,
    INFERRED,
    ME,
    NARRATIVE,
    SEMANTIC,
    Clock,
    Embedder,
    Entry,
    Fact,
    as_utc,
    stamp,
    utc_now,
)
from ego_cli.memory.events import PRODUCT_EVENTS, event_fact, tried_fact
from ego_cli.memory.forgetting import EgoV1, Policy, Pruning, policy_named
from ego_cli.memory.index import Index
from ego_cli.memory.profile import Profile, profile_of
from ego_cli.memory.recall import Answering, Question, Recalled
from ego_cli.memory.store import Store
from ego_cli.memory.times import windows, zone
from ego_cli.memory.tokens import Counter, estimate_tokens, terms, words_of
from ego_cli.memory.undoing import note_change, noting
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.memory.consolidate import Consolidated, Model
    from ego_cli.memory.forget import Forgotten
    from ego_cli.memory.nudges import Nudge

DEFAULT_TOKENS = 1_000
DEFAULT_RESULTS = 20

# When consolidation is due (the Podium seed's three triggers)
EARLY_TURNS = (3, 5)
EVERY_TURNS = 10
SESSION_GAP = timedelta(hours=2)


def open_memory(
    user: str,
    *,
    clock: Clock = utc_now,
    settings: Any = None,
    embedder: Embedder | None = None,
    root: Path | None = None,
    count_tokens: Counter = estimate_tokens,
) -> Memory:
    """Open (or make) the memory of a shopper.

    ``settings`` is the Settings in force; without it the defaults hold. ``root`` puts the files elsewhere than in the
    user's data folder. Raises ``MisuseError`` for a name that nobody can have, ``MemoryStoreError`` for a broken file.
    """
    enabled = settings.memory.enabled if settings else True
    policy = policy_named(settings.memory.policy if settings else "shop-v2")
    local = zone(settings.timezone if settings else "Africa/Lagos")
    return Memory(Store(user, root=root), clock, policy, local, embedder, enabled, count_tokens)


class Memory:
    """One shopper's memory. Every method may be called from any thread, and by several processes on one file."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        policy: Policy,
        local: Any,
        embedder: Embedder | None,
        enabled: bool,
        count_tokens: Counter,
    ) -> None:
        self.store = store
        self.user = store.user
        self.policy = policy
        self.local = local
        self.enabled = enabled
        self.embedder = embedder
        self._clock = clock
        self._count = count_tokens
        self._guard = threading.RLock()
        self._index: Index | None = None
        self._seen: tuple[int, tuple[int, int, int]] | None = (
            None  # thread, version of the file that the index shows
        )
        self._last_query: tuple[list[str], Any] | None = None
        self._rev = 0
        self._epoch = 0
        self._profiles: dict[tuple[str | None, str], Profile] = {}
        self._spoken_of: dict[str, str | None] = {}
        self._people: dict[str, str] | None = None
        if store.meta("scrub"):
            store.scrub()  # a forgetting was killed after its commit: finish it before anything is read

    # --- taking in -------------------------------------------------------------------------------------------------------

    def hear(
        self,
        text: str,
        *,
        turn: int | None = None,
        session: str = "",
        at: datetime | None = None,
        by: str = "shopper",
        source: str = DECLARED,
        importance: float = 0.5,
    ) -> list[Entry]:
        """Keep what the shopper says about herself and others; returns the rows that her words made or confirmed.

        Only her own words write memory: anything ``by`` someone else (model, product, recalled text) writes nothing. The
        same turn of a session heard twice changes nothing the second time.
        """
        if not self.enabled or by != "shopper":
            return []
        from ego_cli.memory.extract import extract, without_unseen

        text = without_unseen(text)
        moment = as_utc(at) if at else self._clock()
        reading = extract(text, people=self._known_people(), spoken_of=self._spoken_of.get(session))
        self._spoken_of[session] = reading.spoken_of
        confidence = HIGH if source != INFERRED else "medium"
        ids: list[int] = []
        with self.store.writing() as db:
            if turn is not None and session:  # a turn is the same turn only within a named session
                fresh = db.execute("INSERT OR IGNORE INTO heard VALUES(?,?)", (session, turn)).rowcount
                if not fresh:
                    return self.store.rows("session=? AND turn=?", (session, turn))
            dated = [self._dated(fact, moment) for fact in reading.facts]
            with noting(self.store, db, session, turn, (fact for fact, _, _ in dated)):
                for fact, told_at, expires in dated:
                    id_ = self.store.put(
                        db, fact, at=told_at, turn=turn, session=session, source=source, confidence=confidence,
                        importance=importance, expires=expires,
                    )  # fmt: skip
                    if id_ is not None:
                        ids.append(id_)
                if not reading.facts and reading.statement and len(words_of(text)) >= 4:
                    said = event_fact("said", text.strip(), moment, turn, session, {})
                    self.store.put(db, said, at=moment, turn=turn, session=session, importance=importance)
            if reading.facts or reading.statement:
                db.execute(
                    "INSERT INTO pending(session, turn, at, text) VALUES(?,?,?,?)",
                    (session, turn, stamp(moment), text),
                )
            self._count_turn(db, moment)
        if reading.facts:
            self._people = None
        return self.store.rows(f"id IN ({','.join('?' * len(ids))})", ids) if ids else []

    def add(
        self, text: str, *, at: datetime | None = None, source: str = DECLARED, importance: float = 0.5
    ) -> int:
        """Keep one fact in the words of a row ("likes beads", "mother wears size 38"); what no rule reads becomes a note."""
        from ego_cli.memory.extract import read_row

        with self.store.writing() as db:
            moment = as_utc(at) if at else self._clock()
            return self.store.put(db, read_row(text), at=moment, source=source, importance=importance) or 0

    def log(
        self,
        kind: str,
        text: str = "",
        *,
        at: datetime | None = None,
        turn: int | None = None,
        session: str = "",
        importance: float = 0.5,
        **payload: Any,
    ) -> int:
        """Keep that something happened (search, shown, rate, review, purchase, skip, said, …); returns the row's id.

        ``payload`` may hold ``product_id``, ``name``, ``brand``, ``price``, ``currency``, ``stars``, ``speaker``, …. A
        purchase, rating or review of a product also keeps it among the products tried.
        """
        if not self.enabled:
            return 0
        moment = as_utc(at) if at else self._clock()
        with self.store.writing() as db:
            event = event_fact(kind, text, moment, turn, session, payload)
            id_ = self.store.put(db, event, at=moment, turn=turn, session=session, importance=importance)
            tried = tried_fact(kind, text, payload) if kind in PRODUCT_EVENTS else None
            if tried is not None:
                self.store.put(db, tried, at=moment, turn=turn, session=session, importance=importance)
        return id_ or 0

    def log_many(self, events: Iterable[Mapping[str, Any]]) -> list[int]:
        """Keep many events in one transaction; each is a mapping of the arguments of ``log``."""
        ids = []
        with self.store.writing() as db:
            for event in events:
                rest = dict(event)
                kind, text = rest.pop("kind"), rest.pop("text", "")
                turn, session = rest.pop("turn", None), rest.pop("session", "")
                importance, at = rest.pop("importance", 0.5), rest.pop("at", None)
                moment = as_utc(at) if at else self._clock()
                fact = event_fact(kind, text, moment, turn, session, rest)
                id_ = self.store.put(db, fact, at=moment, turn=turn, session=session, importance=importance)
                ids.append(id_ or 0)
        return ids

    def _dated(self, fact: Fact, moment: datetime) -> tuple[Fact, datetime, datetime | None]:
        """When what was told happened, and until when it matters ("for Friday")."""
        ahead = fact.kind == "want"
        named = windows(fact.words, moment, self.local, ahead=ahead) if ahead or fact.kind in _told() else []
        if fact.kind in _told():
            past = next((w for w in named if w.start < moment), None)
            if past is not None and not past.holds(moment):
                moment = past.start + (past.end - past.start) / 2
            day = as_utc(moment).astimezone(self.local).date().isoformat()
            if fact.tier == EPISODIC:
                fact = replace(fact, slot=f"{fact.slot}|{day}", key=f"{fact.key}|{day}")
        expires = max((w.end for w in named if w.end > moment), default=None) if ahead else None
        return fact, moment, expires

    def _count_turn(self, db: Any, moment: datetime) -> None:
        turns = int(self.store.meta("turns", "0")) + 1
        before = self.store.meta("last_conversation")
        self.store.set_meta(db, "turns", str(turns))
        self.store.set_meta(db, "last_conversation", max(stamp(moment), before) if before else stamp(moment))
        early = EARLY_TURNS[0] <= turns <= EARLY_TURNS[1] and not self.store.meta("consolidated")
        gap = bool(before) and moment - datetime.fromisoformat(before) > SESSION_GAP
        if early or turns % EVERY_TURNS == 0 or gap:
            self.store.add_job(db, "consolidate", moment)

    def _known_people(self) -> dict[str, str]:
        people = self._people
        if people is None:
            rows = self.store.rows("kind='name' AND subject<>? AND valid_to IS NULL", (ME,))
            people = self._people = {" ".join(words_of(row.object)): row.subject for row in rows}
        return people

    # --- giving back -----------------------------------------------------------------------------------------------------

    def facts(self, subject: str | None = None) -> list[Entry]:
        """Live facts and preferences about the shopper and her people, not the log of what happened."""
        told = _told()
        rows = self.store.rows(
            f"valid_to IS NULL AND (tier=? OR (tier=? AND kind IN ({','.join('?' * len(told))}) AND slot NOT LIKE 'event|%'))",
            (SEMANTIC, EPISODIC, *told),
        )
        return [row for row in rows if subject is None or row.subject == subject]

    def history(self, words: str = "") -> list[Entry]:
        """All spans, ended ones too, of the facts that contain these words, oldest first."""
        wanted = set(terms(words))
        rows = self.store.rows("tier<>? AND slot NOT LIKE 'event|%'", (NARRATIVE,))
        kept = [r for r in rows if wanted <= set(terms(f"{r.text} {r.object} {r.words}"))]
        return sorted(kept, key=lambda row: (row.valid_from, row.id))

    def summary(self) -> str:
        """The rolling summary; "" before the first consolidation."""
        rows = self.store.rows("tier=? AND valid_to IS NULL", (NARRATIVE,))
        return rows[-1].text if rows else ""

    def profile(self, category: str | None = None, subject: str | None = None) -> Profile:
        """What bears on a request for ``category`` by or for ``subject`` (None: the shopper). Cached until a write."""
        who = subject or ME
        with self._guard:
            index = self._fresh_index()
            found = self._profiles.get((category, who))
            if found is None:
                found = profile_of(index.entries(), category, who, self.policy, self._clock())
                self._profiles[(category, who)] = found
            return found

    def recall(
        self,
        query: str,
        *,
        max_tokens: int | None = DEFAULT_TOKENS,
        max_results: int | None = DEFAULT_RESULTS,
        at: datetime | None = None,
        category: str | None = None,
        scopes: frozenset[str] | None = None,
    ) -> list[Recalled]:
        """The memories that a question or request is about, best first, each with why it came.

        Avoidances, sizes and budgets that bear on the request come first and always (within their share of the tokens);
        the rest by relevance, times retention as the policy says. Nothing that was superseded comes back, and with
        ``scopes`` nothing that is limited to another one. A row brings those along that it is linked to.
        """
        question = Question(
            query, as_utc(at) if at else self._clock(), max_tokens, max_results, category, scopes
        )
        answering = Answering(self.policy, self.local, self._count, by_meaning=self.embedder is not None)
        encode = vectors = None
        if self.embedder is not None and query.strip():
            encode, vectors = self._query_vectors, self._row_vectors
        with self._guard:
            packed = answering.answer(question, self._fresh_index(), encode=encode, vectors=vectors)
        if isinstance(self.policy, EgoV1):
            self.used([item.entry.id for item in packed], at=question.now)
        return packed

    def used(
        self, ids: Sequence[int], *, at: datetime | None = None, turn: int | None = None, session: str = ""
    ) -> None:
        """These memories took part in an answer (of this turn of a session): they fade more slowly from now on."""
        now = as_utc(at) if at else self._clock()
        with self.store.writing() as db:
            for id_ in ids:
                entry = self.store.get(id_)
                if entry is not None and entry.live:
                    stronger = self.policy.reinforced(entry, now)
                    self.store.save(db, stronger)
                    if turn is not None and session:
                        note_change(db, session, turn, entry, stronger)

    def _fresh_index(self) -> Index:
        """The index as of now: rows that changed since it was last looked at are put in, all of them after a forgetting."""
        version = (threading.get_ident(), self.store.version())
        if self._index is not None and version == self._seen:
            return self._index
        epoch = version[1][2]
        if self._index is None or epoch != self._epoch:
            self._index, self._rev, self._epoch = Index(self.local), 0, epoch
        rows = self.store.read("SELECT id, rev FROM entry WHERE rev>? ORDER BY id", (self._rev,))
        if rows:
            fresh = self.store.rows("rev>?", (self._rev,))
            self._rev = max(rev for _, rev in rows)
            for entry in fresh:
                if entry.live and entry.tier != NARRATIVE:
                    self._index.add(entry)
                else:
                    self._index.remove(entry.id)
        self._profiles.clear()
        self._people = None
        self._seen = version
        return self._index

    def _query_vectors(self, phrasings: list[str]) -> Any:
        """Vectors of a query; the last one's are kept, since one question is often asked of a memory more than once."""
        assert self.embedder is not None
        if self._last_query is None or self._last_query[0] != phrasings:
            self._last_query = (phrasings, self.embedder.encode(phrasings))
        return self._last_query[1]

    def _row_vectors(self, ids: Sequence[int]) -> Any:
        from ego_cli.memory.vectors import row_vectors

        assert self.embedder is not None
        return row_vectors(self.store, self.embedder, ids)

    # --- the shopper's own hand ----------------------------------------------------------------------------------------------

    def forget(self, what: str) -> int:
        """Forget for good; ``what`` is "all" or words ("my name", "that I like red", "perfume"). Returns the true number
        of memories that are gone."""
        return self.forgotten(what).count

    def forgotten(self, what: str) -> Forgotten:
        """As ``forget``, with the texts of what went, so that an answer can name them once."""
        from ego_cli.memory.forget import forget

        with self._guard:
            result = forget(self, what)
            self._index, self._seen, self._people = None, None, None
            self._spoken_of.clear()
            self._profiles.clear()
            return result

    def told(self, session: str, turn: int) -> bool:
        """Whether a turn of a session changed any fact, so that there is something to take back."""
        fact = (
            "SELECT 1 FROM turn_change JOIN entry ON entry.id=turn_change.entry"
            " WHERE turn_change.session=? AND turn_change.turn=? AND slot NOT LIKE 'event|%'"
        )
        return bool(self.store.read(fact, (session, turn)))

    def take_back(self, session: str, turn: int) -> int:
        """Undo what a turn of a session told memory; returns how many rows it had made or changed. What it alone stored is
        gone for good, what it ended holds again, what it confirmed or used goes back."""
        from ego_cli.memory.undoing import take_back

        with self._guard:
            count = take_back(self, session, turn)
            self._people = None
            self._spoken_of.pop(session, None)
            return count

    def pin(self, id_: int, pinned: bool = True) -> Entry:
        """A pinned memory never fades and no quota takes it."""
        return self._change(id_, pinned=pinned)

    def name(self, id_: int, names: Sequence[str]) -> Entry:
        """Give a memory more names by which it is to be found."""
        row = self._row(id_)
        known = [*row.data.get("names", ()), *names]
        return self._change(id_, data={**row.data, "names": list(dict.fromkeys(known))})

    def edit(self, id_: int, text: str) -> Entry:
        """Put a memory in other words; they count as said now, and what was there before is gone."""
        from ego_cli.memory.extract import read_row

        old = self._row(id_)
        fact = read_row(text)
        now = self._clock()
        with self.store.writing() as db:
            clash = db.execute(
                "SELECT id FROM entry WHERE slot=? AND valid_to IS NULL AND id<>?", (fact.slot, id_)
            ).fetchone()
            if clash:
                raise MisuseError(
                    f"memory {clash[0]} says something about that already", hint=f"edit or forget {clash[0]}"
                )
            self.store.save(
                db,
                replace(
                    old, kind=fact.kind, predicate=fact.predicate, object=fact.object, text=fact.text,
                    polarity=fact.polarity, words=fact.words, scope=fact.scope, key=fact.key, slot=fact.slot,
                    confirmed=now, confidence=HIGH, source=DECLARED, data={**old.data, **fact.data},
                ),
            )  # fmt: skip
            for table in ("vector", "turn_change"):
                db.execute(f"DELETE FROM {table} WHERE entry=?", (id_,))
            self.store.new_epoch(db)
        self.store.scrub()
        return self._row(id_)

    def restore(self, id_: int) -> Entry:
        """Bring back a memory that was archived or superseded; what took its place ends."""
        if self._row(id_).live:
            return self._change(id_, archived=False)
        now = self._clock()
        with self.store.writing() as db:
            old = self._row(id_)
            for (other,) in db.execute(
                "SELECT id FROM entry WHERE slot=? AND valid_to IS NULL", (old.slot,)
            ).fetchall():
                self.store.end(db, other, stamp(now), "restored")
            new = self.store.insert_row(
                db, replace(old, valid_from=now, confirmed=now, valid_to=None, archived=False, ended_by="")
            )
        return self._row(new)

    def _change(self, id_: int, **changes: Any) -> Entry:
        with self.store.writing() as db:
            entry = replace(self._row(id_), **changes)
            self.store.save(db, entry)
        return entry

    def _row(self, id_: int) -> Entry:
        entry = self.store.get(id_)
        if entry is None:
            raise NotFoundError(f"there is no memory {id_}", hint="`ego memory show` lists them")
        return entry

    # --- keeping house -------------------------------------------------------------------------------------------------------

    def prune(self, policy: str | Policy | None = None, *, dry_run: bool = False) -> Pruning:
        """Let the policy delete and archive what it would; with ``dry_run`` only say what."""
        chosen = (
            self.policy if policy is None else policy_named(policy) if isinstance(policy, str) else policy
        )
        now = self._clock()
        plan = chosen.pruning(self.store.rows("tier<>?", (NARRATIVE,)), now)
        if dry_run or not (plan.delete or plan.archive):
            return plan
        with self.store.writing() as db:
            if plan.delete:
                self.store.delete(db, plan.delete)
                self.store.new_epoch(db)
            for id_ in plan.archive:
                entry = self.store.get(id_)
                if entry is not None:
                    self.store.save(db, replace(entry, archived=True))
        if plan.delete:
            self.store.scrub()
        return plan

    def consolidate(self, model: Model | None = None) -> Consolidated:
        """Run the background work to its end, here and now."""
        from ego_cli.memory.consolidate import consolidate

        return consolidate(self, model)

    def nudges(self, catalogue: Any = None, *, at: datetime | None = None) -> list[Nudge]:
        """Things worth saying unasked, most useful first."""
        from ego_cli.memory.nudges import nudges

        return nudges(self, catalogue, as_utc(at) if at else self._clock())

    def now(self) -> datetime:
        """The moment by this memory's clock."""
        return self._clock()

    # --- moving out and in -----------------------------------------------------------------------------------------------------

    def export(self, format: str = "jsonl") -> str:
        """Everything as text: ``jsonl`` (each row with history, one a line) or ``podium`` (AgentMemory version 2)."""
        from ego_cli.memory.transfer import export

        return export(self, format)

    def import_text(self, text: str) -> int:
        """Read back an export of either format; rows that stand already are not doubled. Returns how many were read."""
        from ego_cli.memory.transfer import import_text

        return import_text(self, text)

    def import_rows(self, rows: Iterable[Mapping[str, Any]]) -> int:
        """Put raw rows in. Missing fields get their usual values, unknown keys are kept and exported again."""
        from ego_cli.memory.transfer import import_rows

        return import_rows(self, rows)

    def snapshot(self, *, keep: bool = False) -> dict[str, Any]:
        """The present state as one value; ``keep`` also writes it into the shopper's folder, where forgetting finds it."""
        from ego_cli.memory.transfer import snapshot

        return snapshot(self, keep=keep)

    def close(self) -> None:
        """Close the file."""
        self.store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _told() -> tuple[str, ...]:
    return tuple(load_toml("memory.toml")["kinds"]["told"])
