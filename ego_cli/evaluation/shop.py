"""Plays suites of simulated sessions against any agent of the protocol, in parallel by session."""

from __future__ import annotations

import importlib
import os
import platform
import resource
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from ego_cli import __version__
from ego_cli.errors import EgoError, MisuseError
from ego_cli.evaluation import metrics, runs
from ego_cli.evaluation.cards import Session
from ego_cli.evaluation.customers import Customer
from ego_cli.evaluation.metrics import LIST_LENGTH, MAX_TURNS
from ego_cli.evaluation.runs import Run
from ego_cli.evaluation.speech import Speech
from ego_cli.evaluation.suites import SUITES, make_suite, read_products

OURS = "ego"
AGENTS: Mapping[str, str] = {
    OURS: "ego_cli.evaluation.agent:Agent",
    "bm25": "ego_cli.evaluation.baselines:RankBm25",
    "fts5": "ego_cli.evaluation.baselines:Fts5Or",
    "popularity": "ego_cli.evaluation.baselines:PopularityInCategory",
}
PROTOCOL_SUITES = tuple(name for name in SUITES if name != "lively")  # what "all suites" means
HEADLINE = ("run", "technical_score", "hit_rate_at_10", "mrr", "mttc", "p50_ms", "p95_ms", "startup_s")
REPLY_KEPT = 400  # characters of an agent's reply that a run file keeps


class ShopAgent(Protocol):
    """The protocol's agent. Made as ``Agent(catalog_path)``.

    ``respond`` returns ``message``, ``ask_attribute``, ``recommendations`` (each with a ``parent_asin``) and ``usage``.
    An agent may also offer ``diagnose(session_id, product_id) -> {"kind", "why"}``, which explains a miss.
    """

    def reset(self, session_id: str, user_profile: Mapping[str, Any]) -> None: ...

    def respond(self, session_id: str, user_message: str, turn: int, top_k: int) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Setup:
    """What to play: every suite with every way of speaking, by one agent over one catalogue file."""

    catalogue: str  # a file, or the name of a stored catalogue
    suites: tuple[str, ...] = ("standard",)
    customers: tuple[str, ...] = ("plain",)
    agent: str = OURS
    options: Mapping[str, Any] = field(default_factory=dict)
    part: str = "test"
    seed: int = 0
    sessions: int = 200
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class _Task:
    run: tuple[str, str]  # suite, customer
    place: int
    session: Session


def play(setup: Setup, advance: Callable[[int, int], None] | None = None) -> list[Run]:
    """One run for each suite and way of speaking, in that order. ``advance(done, total)`` is told of progress.

    Raises ``MisuseError`` when the agent cannot be loaded and ``CatalogueError`` when the file cannot be read.
    """
    agent_class(setup.agent)  # wrong names are said at once, not after reading the catalogue
    for customer in setup.customers:
        Speech(customer, setup.part, "")
    products = read_products(setup.catalogue)
    started = datetime.now(UTC)
    tasks = [
        _Task((suite, customer), place, session)
        for suite in setup.suites
        for place, session in enumerate(
            make_suite(suite, products, seed=setup.seed, part=setup.part, sessions=setup.sessions)
        )
        for customer in setup.customers
    ]
    titles = {p.id: p.title for p in products}
    del products  # workers hold catalogues of their own
    played: dict[tuple[str, str], dict[int, dict[str, Any]]] = defaultdict(dict)
    workers: dict[int, dict[str, float]] = {}
    for done, (task, record, worker) in enumerate(_play_all(setup, tasks, frozenset(titles)), 1):
        shown = {i for turn in record["turns"] for i in turn["shown"]}
        record["title"] = titles[task.session.target]
        record["titles"] = {i: titles[i] for i in sorted(shown)}
        played[task.run][task.place] = record
        workers[int(worker["pid"])] = worker
        if advance:
            advance(done, len(tasks))
    about = {
        "agent": setup.agent,
        "options": dict(setup.options),
        "part": setup.part,
        "seed": setup.seed,
        "catalogue": Path(setup.catalogue).name,
        "products": len(titles),
        "started": started.isoformat(timespec="seconds"),
        "version": __version__,
        "jobs": setup.jobs,
        "machine": machine(),
    }
    costs = {cost: max(worker[cost] for worker in workers.values()) for cost in ("startup_s", "peak_mb")}
    finished = []
    for suite, customer in ((s, c) for s in setup.suites for c in setup.customers):
        records = [record for _, record in sorted(played[suite, customer].items())]
        summary = metrics.summarise([runs.outcome_of(r) for r in records], seed=setup.seed)
        summary |= {"failures": runs.confusion(records), **costs}
        name = setup.agent.rpartition(":")[2].lower()
        run_id = f"{started:%Y%m%d-%H%M%S}-{name}-{suite}-{customer}"
        finished.append(
            Run({"id": run_id, "suite": suite, "customer": customer, **about}, tuple(records), summary)
        )
    return finished


def headline(run: Run) -> dict[str, Any]:
    """A run in one line: its name and its figures, scenarios and failures left out."""
    figures = {k: v for k, v in run.summary.items() if k not in {"scenarios", "failures"}}
    about = {k: run.about[k] for k in ("agent", "suite", "customer", "part", "seed", "catalogue", "products")}
    return {"run": run.id, **about, **figures}


def summary_of(finished: Sequence[Run], **more: Any) -> dict[str, Any]:
    """The last line of ``ego eval shop --json``. Over several runs quality is a plain mean and costs are the worst.

    Tokens, errors and failures are sums.
    """
    summaries = [run.summary for run in finished]
    failures: Counter[str] = Counter()
    for summary in summaries:
        failures.update(summary["failures"])
    means = ("technical_score", "hit_rate_at_10", "mrr", "mttc", "efficiency")
    return {
        "runs": [run.id for run in finished],
        **{name: metrics.mean_of(summaries, name) for name in means},
        **{name: sum(s[name] for s in summaries) for name in ("sessions", "total_tokens", "errors")},
        **{
            name: max(s[name] for s in summaries)
            for name in ("p50_ms", "p95_ms", "p99_ms", "startup_s", "peak_mb")
        },
        "failures": dict(failures.most_common()),
        **more,
    }


def machine() -> dict[str, Any]:
    """What the figures were measured on, and how busy it was."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count() or 1,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


# --- in the workers --------------------------------------------------------------------------------------------------


_KNOWN: frozenset[str] = frozenset()  # ids of the catalogue, in a worker
_TURNSTILE: Any = None  # agents get ready one after the other: the first makes what the others find


def _start_worker(known: frozenset[str], turnstile: Any) -> None:
    global _KNOWN, _TURNSTILE
    _KNOWN, _TURNSTILE = known, turnstile


def _play_all(
    setup: Setup, tasks: Sequence[_Task], known: frozenset[str]
) -> Iterator[tuple[_Task, dict[str, Any], dict[str, float]]]:
    # Spawned, not forked: a worker starts as a user's process does, so that start-up and memory are the agent's own.
    jobs = min(max(1, setup.jobs), len(tasks))
    spawning = get_context("spawn")
    with ProcessPoolExecutor(jobs, spawning, _start_worker, (known, spawning.Lock())) as pool:
        waiting = {pool.submit(_in_worker, setup, task): task for task in tasks}
        try:
            for future in as_completed(waiting):
                record, worker = future.result()
                yield waiting[future], record, worker
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _in_worker(setup: Setup, task: _Task) -> tuple[dict[str, Any], dict[str, float]]:
    agent, startup = _agent(setup.agent, setup.catalogue, tuple(sorted(setup.options.items())))
    suite, customer = task.run
    speech = Speech(customer, setup.part, f"{suite}|{customer}|{setup.seed}|{task.session.id}")
    record = play_session(agent, task.session, speech, _KNOWN)
    # ru_maxrss is in KiB on Linux and in bytes on macOS
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    return record, {"pid": os.getpid(), "startup_s": startup, "peak_mb": round(peak, 1)}


@cache
def _agent(spec: str, catalogue: str, options: tuple[tuple[str, Any], ...]) -> tuple[ShopAgent, float]:
    """The worker's agent, and the seconds that it took to be ready."""
    made = agent_class(spec)
    with _TURNSTILE:
        started = time.perf_counter()
        agent = made(catalogue, **dict(options))
        return agent, round(time.perf_counter() - started, 3)


def agent_class(spec: str) -> Callable[..., ShopAgent]:
    """The class named by ``module:Class``, or by the short name of an agent that comes with ego."""
    module_name, colon, name = AGENTS.get(spec, spec).partition(":")
    if not colon:
        raise MisuseError(
            f"{spec!r} does not name an agent", hint=f"use module:Class or one of {', '.join(AGENTS)}"
        )
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)  # people keep their agents where they stand
    try:
        found: Callable[..., ShopAgent] = getattr(importlib.import_module(module_name), name)
    except ImportError as error:
        raise MisuseError(f"cannot import {module_name}: {error}") from error
    except AttributeError as error:
        raise MisuseError(f"{module_name} has no class called {name!r}") from error
    return found


def play_session(agent: ShopAgent, session: Session, speech: Speech, known: Container[str]) -> dict[str, Any]:
    """One session, turn by turn, as a run file keeps it. ``known`` are the catalogue's ids.

    As the protocol says: an exception counts as an empty answer, unknown and repeated ids are dropped before the first
    ten are counted.
    """
    customer = Customer(session, speech)
    agent.reset(session.id, dict(session.profile))
    turns: list[dict[str, Any]] = []
    hit_turn: int | None = None
    rank: int | None = None
    said = customer.opening()
    for turn in range(1, MAX_TURNS + 1):
        answer = _respond(agent, session.id, said, turn, known)
        turns.append({"turn": turn, "said": said, **answer})
        if session.target in answer["shown"] and customer.counts(turn):
            hit_turn, rank = turn, answer["shown"].index(session.target) + 1
            break
        if turn < MAX_TURNS:
            said = customer.answer(turn + 1, answer["asked"], answer["shown"])
    return {
        "id": session.id,
        "scenario": session.scenario,
        "target": session.target,
        "category": [session.card.parent, session.card.leaf],
        "constraints": [c.text for c in session.card.constraints],
        "old": session.old.text if session.old else None,
        "change_turn": session.change_turn,
        "hit_turn": hit_turn,
        "rank": rank,
        "turns": turns,
        "failure": None if hit_turn else _why_missed(agent, session, turns),
    }


def _respond(
    agent: ShopAgent, session_id: str, said: str, turn: int, known: Container[str]
) -> dict[str, Any]:
    started = time.perf_counter()
    error = ""
    answer: Mapping[str, Any] = {}
    try:
        answer = agent.respond(session_id, said, turn, LIST_LENGTH)
    except Exception as fault:  # the protocol: an exception of somebody's agent counts as an empty answer
        error = f"{type(fault).__name__}: {fault}"
    spent = (time.perf_counter() - started) * 1000
    usage = answer.get("usage") or {}
    ids = [str(r.get("parent_asin")) for r in answer.get("recommendations") or ()]
    return {
        "reply": str(answer.get("message") or "")[:REPLY_KEPT],
        "asked": answer.get("ask_attribute"),
        "shown": [i for i in dict.fromkeys(ids) if i in known][:LIST_LENGTH],
        "ms": round(spent, 3),
        "tokens": [int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)],
        **({"error": error} if error else {}),
    }


def _why_missed(agent: ShopAgent, session: Session, turns: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    if all(turn.get("error") for turn in turns):
        return {"kind": "agent failed", "why": str(turns[-1]["error"])}
    diagnose = getattr(agent, "diagnose", None)
    if diagnose is None:
        return {"kind": "not found", "why": "this agent does not explain its misses"}
    try:
        return dict(diagnose(session.id, session.target))
    except EgoError as error:
        return {"kind": "not found", "why": f"no diagnosis: {error}"}
