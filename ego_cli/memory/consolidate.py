"""Keeping memory tidy in the background: merge, infer, summarise, prune. Rules first; a model may propose, rules decide.

A pass is one transaction together with the end of its job, so it has happened as a whole or not at all, and running it
twice changes nothing more. Nobody's turn waits for it.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol

from ego_cli.errors import EgoError
from ego_cli.memory.entry import EPISODIC, INFERRED, ME, NARRATIVE, SEMANTIC, Entry, Fact, stamp
from ego_cli.memory.extract import read_row
from ego_cli.memory.forgetting import is_protected
from ego_cli.memory.profile import signal_weight
from ego_cli.memory.things import canonical_object, read_amount
from ego_cli.memory.tokens import terms
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.memory.memory import Memory

SAME_WORDS = 0.8  # Jaccard overlap of terms from which two notes of one kind say the same
GROUNDED = 0.75  # share of a proposed text's terms that must be the shopper's own
INFER_FROM = 2  # purchases or ratings from which a price range or a brand preference is inferred
TURNS_READ = 60  # newest unread turns that a model is shown
POLL_S = 5.0  # how often the background thread looks for jobs of other processes


class Model(Protocol):
    """Something that reads a prompt and returns a parsed object, or None when it has nothing usable to say.

    The object may hold ``facts`` (list of {text, polarity}), ``operations`` (list of {op: ADD|UPDATE|MERGE|DELETE, id or
    ids, text}) and ``summary`` (text). It may raise an ``EgoError``.
    """

    def propose(self, prompt: str) -> Mapping[str, Any] | None: ...


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What a pass did. ``rejected`` names each proposal that was not carried out, and why."""

    merged: int = 0
    added: int = 0
    updated: int = 0
    archived: int = 0
    deleted: int = 0
    rejected: tuple[str, ...] = ()
    summary: str = ""
    by: str = "rules"


def consolidate(memory: Memory, model: Model | None = None, *, job: int | None = None) -> Consolidated:
    """One pass over everything that is new, then pruning."""
    store = memory.store
    epoch = store.meta("epoch", "0")
    proposal = _proposal(memory, model) if model is not None else None
    added = updated = 0
    rejected: list[str] = []
    with store.writing() as db:
        read_up_to = db.execute("SELECT coalesce(max(id), 0) FROM pending").fetchone()[0]
        own_words = " ".join(row[0] for row in db.execute("SELECT text FROM pending"))
        merged = _merge_duplicates(memory, db)
        added += _infer(memory, db)
        if (
            proposal is not None and store.meta("epoch", "0") == epoch
        ):  # else something was forgotten meanwhile
            for number, operation in enumerate(_operations(proposal), 1):
                done, why = _carry_out(memory, db, operation, own_words)
                added, updated = added + (done == "added"), updated + (done == "updated")
                merged += done == "merged"
                if why:
                    rejected.append(f"operation {number}: {why}")
        else:
            proposal = None
        summary = _summary(memory, db, proposal, failed=model is not None and proposal is None)
        db.execute("DELETE FROM pending WHERE id<=?", (read_up_to,))
        store.set_meta(db, "consolidated", stamp(memory.now()))
        for line in rejected:
            store.set_meta(db, "last_rejected", line)
        if job is not None:
            store.finish_job(db, job)
        else:
            db.execute("DELETE FROM job WHERE kind='consolidate'")
    plan = memory.prune()
    return Consolidated(
        merged, added, updated, len(plan.archive), len(plan.delete), tuple(rejected), summary,
        "rules" if proposal is None else "model",
    )  # fmt: skip


# --- rules -------------------------------------------------------------------------------------------------------------------


def _merge_duplicates(memory: Memory, db: Any) -> int:
    """Rows of one person, kind and polarity that say the same in nearly the same words become one; its counter rises."""
    # Rows that differ in a number never say the same, so they need not meet.
    groups: dict[tuple[object, ...], list[tuple[Entry, frozenset[str]]]] = defaultdict(list)
    for row in memory.facts():
        if row.tier == SEMANTIC:
            own = frozenset(terms(row.object or row.text))
            numbers = frozenset(term for term in own if any(c.isdigit() for c in term))
            groups[(row.subject, row.kind, row.polarity, numbers)].append((row, own))
    merged = 0
    for rows in groups.values():
        by_term: dict[str, list[int]] = defaultdict(list)
        gone: set[int] = set()
        spread = Counter(term for _, own in rows for term in own)
        for i, (row, own) in enumerate(rows):
            telling = telling_terms(own, spread)
            for j in sorted({j for term in telling for j in by_term[term]} - gone):
                if same_words(own, rows[j][1]):
                    first = rows[j][0]
                    kept = replace(
                        first,
                        mentions=first.mentions + row.mentions,
                        confirmed=max(first.confirmed, row.confirmed),
                    )
                    memory.store.save(db, kept)
                    rows[j] = (kept, rows[j][1])
                    memory.store.end(db, row.id, stamp(memory.now()), f"merged into {first.id}")
                    gone.add(i)
                    merged += 1
                    break
            else:
                for term in telling:
                    by_term[term].append(i)
    return merged


def telling_terms(own: frozenset[str], spread: Mapping[str, int]) -> list[str]:
    """The rarest terms of a row, so many that two rows which say the same must share one of them (prefix filtering, as in
    Bayardo, Ma and Srikant 2007)."""
    most_common_last = sorted(own, key=lambda term: (spread[term], term))
    shared = ceil(SAME_WORDS * len(own) - 1e-9)  # that any other must have of these
    return most_common_last[: len(own) - shared + 1]


def same_words(a: frozenset[str], b: frozenset[str]) -> bool:
    return len(a & b) >= SAME_WORDS * len(a | b)


def _infer(memory: Memory, db: Any) -> int:
    """Price ranges by category and brand preferences from what was bought and rated: inferred, so never over a statement."""
    prices: dict[tuple[str, str | None], list[float]] = defaultdict(list)
    brands: dict[str, list[Entry]] = defaultdict(list)
    for row in memory.store.rows(
        "valid_to IS NULL AND tier=? AND kind IN ('purchase','rate','review')", (EPISODIC,)
    ):
        price, category = row.data.get("price"), row.data.get("category")
        if row.kind == "purchase" and isinstance(price, (int, float)) and category:
            prices[(str(category), row.data.get("currency"))].append(float(price))
        stars = row.data.get("stars")
        if row.data.get("brand") and (
            row.kind == "purchase" or (isinstance(stars, (int, float)) and stars >= 4)
        ):
            brands[str(row.data["brand"])].append(row)
    for row in memory.store.rows("valid_to IS NULL AND kind='want'"):
        if found := re.search(
            r"(?i)^(?P<thing>.+?)\s+(?:under|below|less than|at most|max(?:imum)?|up to|within)\s+(?P<money>.*\d.*)$",
            row.object,
        ):
            amount = read_amount(found["money"])
            if amount is not None:
                prices[(found["thing"], amount[1])] += [0.0, amount[0]]
    made = 0
    for (category, currency), seen in prices.items():
        if len(seen) >= INFER_FROM:
            made += _put_inferred(memory, db, _range_fact(category, currency, min(seen), max(seen)))
    for brand, rows in brands.items():
        if len(rows) >= INFER_FROM:
            canonical = canonical_object(brand)
            slot = f"{ME}|attitude|{canonical}"
            fact = Fact("like", ME, "attitude", brand, f"likes {brand}", f"{slot}|1|{canonical}", slot, 1)
            made += _put_inferred(memory, db, fact)
    return made


def _range_fact(category: str, currency: str | None, low: float, high: float) -> Fact:
    name = canonical_object(category)
    slot = f"{ME}|budget|{name}"
    text = (
        f"usually pays {low:,.0f} to {high:,.0f} for {category}"
        if low
        else f"looks for {category} up to {high:,.0f}"
    )
    return Fact(
        "budget", ME, f"budget {name}", f"{low:g}-{high:g}", text, f"{slot}|{low:g}|{high:g}", slot,
        data={"min": low, "max": high, "currency": currency, "category": name},
    )  # fmt: skip


def _put_inferred(memory: Memory, db: Any, fact: Fact) -> int:
    standing = memory.store.rows("slot=? AND valid_to IS NULL", (fact.slot,))
    if standing and (standing[0].source != INFERRED or standing[0].key == fact.key):
        return 0
    memory.store.put(db, fact, at=memory.now(), source=INFERRED, confidence="medium")
    return 1


# --- the summary ---------------------------------------------------------------------------------------------------------------


def template_summary(entries: Iterable[Entry]) -> str:
    """A summary of live facts in at most 300 words, strongest first in each section."""
    table = load_toml("memory.toml")["summary"]
    left = int(table["max_words"])
    by_kind: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_kind[entry.kind].append(entry)
    lines = []
    for section in table["sections"]:
        rows = [row for kind in section["kinds"] for row in by_kind.get(kind, ())]
        rows.sort(key=lambda row: (-signal_weight(row), -row.confirmed.timestamp(), row.id))
        left -= len(section["title"].split())
        texts = []
        for row in rows:
            cost = len(row.text.split())
            if cost <= left:
                texts.append(row.text)
                left -= cost
        if texts:
            lines.append(f"{section['title']}: " + "; ".join(texts) + ".")
    return "\n".join(lines)


def write_summary(memory: Memory) -> None:
    """Make the summary anew by template, from what is there now."""
    with memory.store.writing() as db:
        _write_summary(memory, db, template_summary(memory.facts()), "rules")


def _summary(memory: Memory, db: Any, proposal: Mapping[str, Any] | None, *, failed: bool) -> str:
    if failed and (last := memory.summary()):
        return last  # the last good one stays
    words = str((proposal or {}).get("summary") or "").split()
    most = int(load_toml("memory.toml")["summary"]["max_words"])
    text = " ".join(words[:most]) if words else template_summary(memory.facts())
    _write_summary(memory, db, text, "model" if words else "rules")
    return text


def _write_summary(memory: Memory, db: Any, text: str, author: str) -> None:
    """Written over in place: a summary has no history, so that nothing forgotten can linger in one."""
    db.execute("DELETE FROM entry WHERE tier=?", (NARRATIVE,))
    if text:
        fact = Fact(
            "summary", ME, "summary", "", text, "summary", "summary", tier=NARRATIVE, data={"author": author}
        )
        memory.store.put(db, fact, at=memory.now())


# --- a model's proposals ------------------------------------------------------------------------------------------------------------


def prompt_for(memory: Memory) -> str:
    """What a model is told: the rows with their ids, the newest unread turns of the shopper, and what may come back."""
    rows = "\n".join(f"{row.id}\t{row.kind}\t{row.text}" for row in memory.facts())
    turns = memory.store.read("SELECT text FROM pending ORDER BY id DESC LIMIT ?", (TURNS_READ,))
    said = "\n".join(f"- {row[0]}" for row in reversed(turns))
    table = load_toml("memory.toml")["consolidate"]
    return str(table["prompt"]).format(
        rows=rows, turns=said, words=load_toml("memory.toml")["summary"]["max_words"]
    )


def _proposal(memory: Memory, model: Model) -> Mapping[str, Any] | None:
    try:
        answer = model.propose(prompt_for(memory))
    except EgoError:
        return None  # rules go on alone
    return answer if isinstance(answer, Mapping) else None


def _operations(proposal: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for fact in _list(proposal.get("facts")):
        yield {"op": "ADD", **fact} if isinstance(fact, Mapping) else {"op": "ADD", "text": fact}
    for operation in _list(proposal.get("operations")):
        yield operation if isinstance(operation, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _carry_out(memory: Memory, db: Any, operation: Mapping[str, Any], own_words: str) -> tuple[str, str]:
    """Carry out one proposal; returns what was done, or why not."""
    kind = str(operation.get("op", "")).upper()
    text = str(operation.get("text") or "").strip()
    ids = operation.get("ids") if kind == "MERGE" else [operation.get("id")]
    if kind == "ADD":
        return _add(memory, db, text, operation, own_words)
    if kind not in ("UPDATE", "DELETE", "MERGE") or not isinstance(ids, (list, tuple)) or not ids:
        return "", f"unknown operation {kind or '(none)'}"
    rows = [memory.store.get(id_) if type(id_) is int else None for id_ in ids]
    there = [row for row in rows if row is not None and row.live and row.tier == SEMANTIC]
    if len(there) != len(ids):
        missing = [id_ for id_, row in zip(ids, rows, strict=True) if row is None or row not in there]
        return "", f"{kind} of a memory that does not exist: {missing}"
    if kind == "DELETE":
        if any(is_protected(row) for row in there):
            return "", f"{kind} of a protected memory {ids}"
        for row in there:
            memory.store.save(
                db, replace(row, archived=True)
            )  # a model may put away, only the shopper deletes
        return "updated", ""
    evidence = f"{own_words} {' '.join(f'{row.text} {row.words}' for row in there)}"
    if not _grounded(text, evidence):
        return "", f"{kind} says what the shopper never said: {text[:60]!r}"
    fact = read_row(text)
    if kind == "UPDATE":
        row = there[0]
        if fact.polarity * row.polarity < 0 or (is_protected(row) and fact.slot != row.slot):
            return "", f"UPDATE would turn {row.text!r} round"
        memory.store.save(db, replace(row, text=text))
        return "updated", ""
    if (
        len(there) < 2
        or len({(row.subject, row.polarity) for row in there}) > 1
        or len({row.kind for row in there}) > 1
    ):
        return "", f"MERGE of memories that differ in person, kind or polarity: {ids}"
    first, *others = there
    memory.store.save(
        db,
        replace(
            first, text=text or first.text, mentions=sum(row.mentions for row in there),
            confirmed=max(row.confirmed for row in there),
        ),
    )  # fmt: skip
    for row in others:
        memory.store.end(db, row.id, stamp(memory.now()), f"merged into {first.id}")
    return "merged", ""


def _add(memory: Memory, db: Any, text: str, operation: Mapping[str, Any], own_words: str) -> tuple[str, str]:
    if not text or not _grounded(text, own_words):
        return "", f"ADD says what the shopper never said: {text[:60]!r}"
    fact = read_row(text)
    polarity = {"like": 1, "dislike": -1}.get(str(operation.get("polarity", "")), fact.polarity)
    if polarity * fact.polarity < 0:
        return "", f"ADD contradicts itself: {text[:60]!r} is not {operation.get('polarity')}"
    if memory.store.rows("slot=? AND valid_to IS NULL", (fact.slot,)):
        return "", ""  # the rules have it already
    memory.store.put(db, fact, at=memory.now(), source=INFERRED, confidence="medium")
    return "added", ""


def _grounded(text: str, evidence: str) -> bool:
    """Whether a text is made of the shopper's own words: a model may rephrase, not invent."""
    own = set(terms(text))
    if not own:
        return False
    there = set(terms(evidence))
    numbers = {term for term in own if any(c.isdigit() for c in term)}
    content = own - _framing()
    return numbers <= there and (not content or len(content & there) >= max(1, GROUNDED * len(content)))


def _framing() -> set[str]:
    return set(terms(load_toml("memory.toml")["consolidate"]["framing"]))


# --- the background thread ----------------------------------------------------------------------------------------------------------


class Worker:
    """Runs a memory's jobs in a thread of its own until it is stopped; jobs left by a killed process are taken up."""

    def __init__(self, memory: Memory, model: Model | None = None) -> None:
        self._memory = memory
        self._model = model
        self._wake = threading.Event()
        self._stop = False
        self._thread = threading.Thread(target=self._run, name="ego-memory", daemon=True)
        self.failed: str = ""

    def start(self) -> Worker:
        """Begin working."""
        self._thread.start()
        return self

    def wake(self) -> None:
        """Look for jobs now."""
        self._wake.set()

    def stop(self, timeout: float | None = 5.0) -> None:
        """Finish the job at hand and end the thread; what is left stays in the file for the next start."""
        self._stop = True
        self._wake.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stop:
            try:
                done = run_next_job(self._memory, self._model)
            except (
                EgoError
            ) as error:  # the lease runs out, somebody tries again; the reason is kept for `ego memory show`
                done, self.failed = False, str(error)
            if not done:
                self._wake.wait(POLL_S)
                self._wake.clear()


def run_next_job(memory: Memory, model: Model | None = None) -> bool:
    """Take one job and run it to its end; False when none waits."""
    job = memory.store.take_job(memory.now())
    if job is None:
        return False
    id_, kind = job
    if kind == "consolidate":
        consolidate(memory, model, job=id_)
    else:  # a newer version's job: leave its work to it
        return False
    return True
