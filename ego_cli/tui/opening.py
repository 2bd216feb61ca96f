"""The real things behind the screen's protocols: an assistant with its memory, a catalogue, evaluation runs.

Imported on background threads only: everything heavy comes in here.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ego_cli import ranking
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import Catalogue, list_catalogues, open_catalogue
from ego_cli.catalog.text import query_terms
from ego_cli.conversation import session, transcript
from ego_cli.conversation.events import Decision, Event, Reply, TurnDone
from ego_cli.conversation.opening import open_assistant
from ego_cli.conversation.reply import compose
from ego_cli.conversation.state import State
from ego_cli.conversation.turn import Assistant
from ego_cli.conversation.warming import warm
from ego_cli.errors import EgoError, MisuseError
from ego_cli.memory.entry import ME, Entry
from ego_cli.memory.forgetting import elapsed_days
from ego_cli.memory.layout import known_users
from ego_cli.memory.memory import Memory
from ego_cli.ranking.request import Request
from ego_cli.settings import Settings, load_settings, load_toml
from ego_cli.tui.engine import Browse, MemoryPage, MemoryRow, QuizQuestion, Run, Shelf, Window

CURVE_DAYS = 180  # of the forgetting curve
RUNS_LISTED = 20
RUN_SESSIONS = 60  # of a run that is started from the screen
FACETS = ("brand", "colour", "material", "size", "gender")  # of the browser, before details
MORE_FACETS = 4  # details that most of the products share
MATCHES_MOST = 5_000  # products that a search in the browser counts
WORDS_MOST = 30  # endings that a half-typed word is tried with


def open_engine(catalogue: str, user: str, *, resume: bool = False) -> Conversation:
    """A conversation over a catalogue for a shopper; "" stands for the configured one."""
    settings = load_settings(catalog=catalogue or None, user=user or None)
    assistant = open_assistant(settings, resume=resume)
    warm(assistant)
    return Conversation(assistant, settings, resume)


def open_shop(catalogue: str) -> Showroom:
    """A catalogue to look around in; "" stands for the configured one."""
    return Showroom(open_catalogue(catalogue or load_settings().catalog))


class Conversation:
    """An assistant as the screen's ``Engine``."""

    def __init__(self, assistant: Assistant, settings: Settings, resume: bool) -> None:
        self._assistant = assistant
        self._settings = settings
        self._chat = session.session_file(settings.user).with_suffix(".chat.jsonl")
        self._past = transcript.kept(self._chat, assistant.state) if resume else ()

    # --- talk

    @property
    def _memory(self) -> Memory | None:
        return self._assistant.memory  # a damaged file switches it off on the way

    @property
    def catalogue(self) -> str:
        return self._assistant.catalogue.name

    @property
    def user(self) -> str:
        return self._settings.user

    @property
    def model(self) -> str:
        return self._assistant.models.model if self._assistant.models else ""

    @property
    def token_budget(self) -> int:
        return self._settings.llm.session_token_budget if self.model else 0

    def turn(self, text: str, cancel: threading.Event | None = None) -> Iterator[Event]:
        for event in self._assistant.turn(text, cancel):
            # What was forgotten must not come back by another file.
            if isinstance(event, TurnDone) and self._assistant.keep_session and not event.private:
                transcript.keep(self._chat, event)
            yield event

    def reply(self, decision: Decision) -> Reply:
        return compose(decision, currency=self._assistant.catalogue.currency)

    def history(self) -> tuple[TurnDone, ...]:
        return self._past

    def state(self) -> State:
        return self._assistant.state

    # --- memory

    def nudges(self) -> tuple[str, ...]:
        if self._memory is None or not self._settings.memory.nudges:
            return ()
        return tuple(nudge.text for nudge in self._memory.nudges(self._assistant))

    @property
    def _kept(self) -> Memory:
        if self._memory is None:
            raise MisuseError("memory is switched off", hint="memory.enabled in the configuration")
        return self._memory

    def memories(self) -> MemoryPage:
        if self._memory is None:
            return MemoryPage(policy="switched off")
        rows = tuple(self._row(self._memory, entry) for entry in self._memory.facts())
        return MemoryPage(rows, self._memory.policy.name, self._memory.summary())

    @staticmethod
    def _row(memory: Memory, entry: Entry) -> MemoryRow:
        now, policy = memory.now(), memory.policy

        def ahead() -> tuple[float, ...]:
            return tuple(policy.retention(entry, now + timedelta(days=day)) for day in range(CURVE_DAYS + 1))

        return MemoryRow(
            id=str(entry.id),
            text=entry.text,
            kind=entry.kind,
            retention=policy.retention(entry, now),
            days=elapsed_days(entry, now),
            uses=entry.uses,
            pinned=entry.pinned,
            subject="" if entry.subject == ME else entry.subject,
            confidence=str(entry.confidence),
            source=entry.source,
            curve=ahead,
        )

    def pin(self, entry: str, pinned: bool) -> None:
        self._kept.pin(int(entry), pinned)

    def edit(self, entry: str, text: str) -> None:
        self._kept.edit(int(entry), text)

    def forget(self, entry: str) -> int:
        gone = self._kept.forgotten(f"#{entry}")
        self._assistant.forgot(gone.texts)  # what was said in this conversation holds the words as well
        return gone.count

    def quiz(self) -> tuple[QuizQuestion, ...]:
        entries = load_toml("memory.toml")["quiz"]["questions"] if self._memory is not None else ()
        return tuple(_question(entry) for entry in entries)

    def answer_quiz(self, answers: Mapping[str, str]) -> int:
        from ego_cli.memory.ingest import take_quiz

        return len(take_quiz(self._kept, answers))

    # --- around it

    def catalogues(self) -> tuple[tuple[str, int], ...]:
        return tuple((entry.name, entry.products or 0) for entry in list_catalogues())

    def users(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.user, *known_users())))

    def embed(self) -> None:
        """Open the catalogue's vectors beside the conversation, and have those made that are missing."""
        if self._assistant.dense is not None:
            self._assistant.dense.start(embed=self._settings.ranking.embed)

    def work(self) -> str:
        source = self._assistant.dense
        if source is None or source.progress is None:
            return ""
        done, total = source.progress
        return f"sentence vectors {done / max(total, 1):.0%}"

    def settings(self) -> tuple[tuple[str, str], ...]:
        told = asdict(self._settings)
        del told["tui"]["keys"], told["llm"]["providers"]
        rows = [(name, _plain(value)) for name, value in _flat(told)]
        names = ", ".join(provider.name for provider in self._settings.llm.providers)
        return (*rows, ("llm.providers", names or "none: rules only"))

    def runs(self) -> tuple[Run, ...]:
        from ego_cli.evaluation.runs import runs_folder

        files = sorted(runs_folder().glob("*.jsonl"), key=lambda file: -file.stat().st_mtime_ns)[:RUNS_LISTED]
        found = (_run(str(file), file.stat().st_mtime_ns) for file in files)
        return tuple(run for run in found if run is not None)

    def play_run(self, advance: Callable[[int, int], None]) -> None:
        from ego_cli.evaluation.runs import write_run
        from ego_cli.evaluation.shop import Setup, play

        # Workers are processes; starting one asks standard error for its file, and what stands in for it on the screen has none.
        with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):
            runs = play(Setup(self._settings.catalog, sessions=RUN_SESSIONS), advance)
        for run in runs:
            write_run(run)

    def close(self) -> None:
        self._assistant.close()


def _question(entry: Mapping[str, Any]) -> QuizQuestion:
    options = tuple(entry.get("options", ()))
    text = re.sub(r"\s*\([^)]*\)", "", entry["ask"]) if options else entry["ask"]  # they are listed below it
    return QuizQuestion(entry["id"], text, options, many=bool(entry.get("each")))


def _flat(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{above}{name}.")
        elif value != {}:
            yield f"{above}{name}", value


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) or "–"
    return "–" if value == "" else f"{value:g}" if isinstance(value, float) else str(value)


@cache
def _run(path: str, changed: int) -> Run | None:
    """A stored run; kept in memory while its file does not change. A file that is no run is left out."""
    from ego_cli.evaluation.runs import outcome_of, read_run

    try:
        run = read_run(path)
    except EgoError:
        return None
    outcomes = [outcome_of(record) for record in run.sessions]
    about, total = run.about, len(outcomes)
    turns = max((len(outcome.ms) for outcome in outcomes), default=0)
    found = [
        sum(1 for o in outcomes if o.hit_turn and o.hit_turn <= turn) / total for turn in range(1, turns + 1)
    ]
    times = sorted(ms for outcome in outcomes for ms in outcome.ms)
    figures = {
        name: float(run.summary[name])
        for name in (
            "technical_score",
            "hit_rate_at_10",
            "mrr",
            "efficiency",
            "mttc",
            "p50_ms",
            "p95_ms",
            "total_tokens",
        )
        if isinstance(run.summary.get(name), (int, float))
    }
    return Run(
        id=run.id,
        title=" · ".join(str(about[name]) for name in ("suite", "customer", "catalogue") if name in about),
        started=str(about.get("started", ""))[:16].replace("T", " "),
        done=total,
        total=total,
        figures=figures,
        series={
            "found by turn (share of sessions)": tuple(found),
            "response times in ms, sorted": tuple(times),
        },
    )


class Showroom:
    """A catalogue as the screen's ``Shop``."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def product(self, product_id: str) -> Product | None:
        row = self._catalogue.row_of(product_id)
        return None if row is None else self._catalogue.product(row)

    def products(self, ids: Sequence[str]) -> tuple[Product, ...]:
        return tuple(product for id in ids if (product := self.product(id)) is not None)

    def similar(self, product_id: str, limit: int = 5) -> tuple[Product, ...]:
        product = self.product(product_id)
        if product is None:
            return ()
        kind = product.categories[-1] if product.categories else ""
        ranked = ranking.rank(self._catalogue, Request(category=kind, like=(product_id,), limit=limit + 1))
        return tuple(item.product for item in ranked.items if item.product.id != product_id)[:limit]

    def shelves(self) -> tuple[Shelf, ...]:
        counts: dict[tuple[str, ...], int] = {}
        for path, count in self._catalogue.facets.category_paths.items():
            for depth in range(1, len(path) + 1):
                counts[path[:depth]] = counts.get(path[:depth], 0) + count
        return tuple(Shelf(path, counts[path]) for path in _by_size(counts))

    def browse(self, browse: Browse) -> Window:
        catalogue = self._catalogue
        mask = np.ones(len(catalogue), dtype=np.bool_)
        if browse.path:
            mask &= self._below(browse.path)
        for attribute, value in browse.facets.items():
            mask &= self._having(attribute, value)
        if terms := self._terms(browse.words):
            rows, _ = catalogue.lexical.search(terms, k=MATCHES_MOST, mask=mask)
        else:
            rows = self._best_known(np.flatnonzero(mask))
        counts = catalogue.facets.count(rows) if len(rows) else {}
        details = sorted(
            (name for name in counts if name.startswith("details.") and len(counts[name]) > 1),
            key=lambda name: (-sum(counts[name].values()), name),
        )
        names = [name for name in FACETS if name in counts] + details[:MORE_FACETS]
        return Window(
            tuple(catalogue.products(rows[: browse.limit].tolist())),
            len(rows),
            {name: counts[name] for name in names},
        )

    def _below(self, path: tuple[str, ...]) -> Any:
        mask = np.zeros(len(self._catalogue), dtype=np.bool_)
        names = list(self._catalogue.facets.values("path"))
        paths = list(self._catalogue.facets.category_paths)
        wanted = [
            number for number, full in enumerate(paths) if full[: len(path)] == path and number < len(names)
        ]
        mask[np.isin(self._catalogue.facets.codes("path"), wanted)] = True
        return mask

    def _having(self, attribute: str, value: str) -> Any:
        mask = np.zeros(len(self._catalogue), dtype=np.bool_)
        mask[self._catalogue.facets.rows(attribute, value)] = True
        return mask

    def _terms(self, words: str) -> Mapping[str, float]:
        """Search terms with weights; the last word may be half typed."""
        terms = query_terms(words)
        if not terms:
            return {}
        wanted = dict(self._catalogue.lexical.expand(terms))
        vocabulary = getattr(self._catalogue.lexical, "vocabulary", None)
        if vocabulary is not None and not words.endswith(" "):
            endings = sorted(vocabulary.starting_with(terms[-1]), key=lambda word: -vocabulary[word])
            for word in endings[:WORDS_MOST]:
                wanted.setdefault(word, 0.7)  # below the word as typed, should that exist
        return wanted

    def _best_known(self, rows: Any) -> Any:
        """Rows with the most ratings first."""
        counts = self._catalogue.columns["rating_count"][rows]
        return rows[np.lexsort((rows, -counts))]

    def close(self) -> None:
        """The catalogue is the conversation's too, and is closed with that."""


def _by_size(counts: Mapping[tuple[str, ...], int]) -> list[tuple[str, ...]]:
    """Paths as a tree reads: a shelf before what lies on it, the largest first among neighbours."""
    return sorted(
        counts,
        key=lambda path: [(-counts[path[:depth]], path[depth - 1]) for depth in range(1, len(path) + 1)],
    )
