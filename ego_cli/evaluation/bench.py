"""Benchmarks of the program itself. Each gives one JSON record: CPU medians, ratios to something that stays put, machine.

Ratios are what may be compared between machines and from day to day; ``docs/benchmarks.md`` is made from these records.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from ego_cli import __version__
from ego_cli.errors import MisuseError
from ego_cli.evaluation.runs import read_run
from ego_cli.evaluation.shop import ShopAgent, headline, machine
from ego_cli.evaluation.timing import compared, interleaved, interleaved_processes, python
from ego_cli.settings import private_folder, user_data_folder

GROWTH = (5_000, 50_000, 500_000)  # products
PARSING = "parsing its lines as JSON"
CONVERSATIONS = 20  # sessions whose messages are said in the benchmark of a turn

Record = dict[str, Any]


def benchmarks_folder() -> Path:
    """Where records are kept."""
    return private_folder(user_data_folder() / "benchmarks")


def record(name: str, **results: Any) -> Record:
    """A benchmark's record: what, when, where, and how busy the machine was."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return {"bench": name, "at": at, "version": __version__, "machine": machine(), **results}


def keep(result: Record, folder: Path | None = None) -> Path:
    """Write a record as ``<bench>.json``, replacing the one before."""
    size = f"-{result['products']}" if "products" in result else ""
    path = (folder or benchmarks_folder()) / f"{result['bench']}{size}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return path


# --- start-up --------------------------------------------------------------------------------------------------------

STARTS: Mapping[str, Sequence[str]] = {
    "ego --version": ("-m", "ego_cli", "--version"),
    "ego --help": ("-m", "ego_cli", "--help"),
    "ego paths": ("-m", "ego_cli", "paths"),
    "ego recall --json": ("-m", "ego_cli", "recall", "shoes", "--json"),
}
BARE = "python -c pass"


def startup(*, rounds: int = 15) -> Record:
    """CPU time of whole processes beside the bare interpreter's, and which heavy modules ``ego --help`` imports."""
    commands = {BARE: python("-c", "pass")} | {name: python(*arguments) for name, arguments in STARTS.items()}
    spent = interleaved_processes(_that_work(commands), rounds=rounds)
    figures = compared(spent, BARE)
    bare = figures["cpu_ms"][BARE]
    over = {name: ms - bare for name, ms in figures["cpu_ms"].items() if name != BARE}
    return record("startup", rounds=rounds, over_bare_ms=over, heavy_imports=heavy_imports(), **figures)


def _that_work(commands: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Without those that end with an error here (an empty memory, say): their time would mean nothing."""
    done = {
        n: subprocess.run(c, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        for n, c in commands.items()
    }
    return {name: commands[name] for name, end in done.items() if end.returncode == 0}


def heavy_imports() -> list[str]:
    """Heavy modules in ``sys.modules`` after ``ego --help``; there should be none."""
    heavy = ("numpy", "openai", "onnxruntime", "textual", "fastapi", "sentence_transformers", "tokenizers")
    script = (
        "import sys, io, contextlib\n"
        "sys.argv = ['ego', '--help']\n"
        "from ego_cli.__main__ import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main()\n"
        f"print(*[m for m in {heavy!r} if m in sys.modules])"
    )
    said = subprocess.run(
        python("-c", script), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    return said.stdout.split()


# --- a turn ----------------------------------------------------------------------------------------------------------


def turn(catalogue: str, *, rounds: int = 5, seed: int = 0) -> Record:
    """A whole turn of the assistant beside a plain FTS5 search for the same words, over the same products."""
    from ego_cli.evaluation.agent import Agent
    from ego_cli.evaluation.baselines import Fts5Or

    talks = conversations(catalogue, seed=seed)
    ours = Agent(catalogue)
    agents: dict[str, ShopAgent] = {"ego, a turn": ours, "FTS5 OR, a search": Fts5Or(catalogue)}
    spent = interleaved(
        {name: partial(_say_all, agent, talks) for name, agent in agents.items()}, rounds=rounds
    )
    turns = sum(len(talk) for talk in talks)
    each = {name: [ms / turns for ms in values] for name, values in spent.items()}
    return record(
        "turn",
        products=len(ours),
        turns=turns,
        rounds=rounds,
        **compared(each, "FTS5 OR, a search"),
    )


def conversations(catalogue: str, *, seed: int = 0, sessions: int = CONVERSATIONS) -> list[list[str]]:
    """What plain customers say in the first three turns when they are asked openly."""
    from ego_cli.evaluation.customers import Customer
    from ego_cli.evaluation.speech import Speech
    from ego_cli.evaluation.suites import make_suite, read_products

    talks = []
    for session in make_suite("standard", read_products(catalogue), seed=seed, sessions=sessions):
        customer = Customer(session, Speech("plain", "test", session.id))
        talks.append([customer.opening(), customer.answer(2, "other", []), customer.answer(3, "other", [])])
    return talks


def _say_all(agent: ShopAgent, talks: Sequence[Sequence[str]]) -> None:
    for number, talk in enumerate(talks):
        agent.reset(f"bench-{number}", {})
        for turn_number, message in enumerate(talk, 1):
            agent.respond(f"bench-{number}", message, turn_number, 10)


# --- search, ingestion, memory ---------------------------------------------------------------------------------------


def search(rows: int, progress: Callable[[int, int | None], None]) -> Record:
    """Precomputed impacts beside FTS5's bm25(): wall times of single queries, asked in turn. See `bench_search`."""
    from dataclasses import asdict

    from ego_cli.evaluation import bench_search

    done = bench_search.run(rows, progress)
    return record("search", **{"products": done.rows, **asdict(done)}, ratios=done.ratios)


def ingest(file: Path, *, products: int, rounds: int = 3) -> Record:
    """Loading a file of JSON lines into a catalogue that answers, beside only parsing its lines."""
    from ego_cli.catalog.readers import collapse, read_products
    from ego_cli.catalog.store import refresh

    def parse() -> None:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                json.loads(line)

    def read() -> None:
        for _ in collapse(read_products(file)):
            pass

    def load() -> None:
        with tempfile.TemporaryDirectory(prefix="ego-ingest-") as folder:
            refresh(Path(folder) / "made.db", file, "made")

    cases = {PARSING: parse, "reading it as products": read, "loading it, index and all": load}
    figures = compared(interleaved(cases, rounds=rounds), PARSING)
    return record("ingest", products=products, rounds=rounds, **figures)


def memory() -> Record:
    """Writers at once, and how long a turn waits for memory. See `bench_memory`."""
    from ego_cli.evaluation import bench_memory

    return record("memory", **bench_memory.run())


# --- growth ----------------------------------------------------------------------------------------------------------


def growth(
    make: Callable[[Path, int], object],
    *,
    sizes: Iterable[int] = GROWTH,
    tell: Callable[[str], None] = lambda _: None,
) -> Record:
    """First start, later start and a turn as the catalogue grows. ``make(path, rows)`` writes a catalogue file."""
    points = []
    with tempfile.TemporaryDirectory(prefix="ego-growth-") as folder:
        for size in sizes:
            path = Path(folder) / f"made-{size}.jsonl"
            make(path, size)
            tell(f"{size:,} rows made")
            points.append(_grown(path, size))
            tell(f"{size:,} rows: {points[-1]}")
    smallest = points[0]
    ratios = {
        f"{point['products']:,}": {
            name: point[name] / max(1e-9, smallest[name]) for name in ("first_start_s", "turn_ms")
        }
        for point in points[1:]
    }
    return record("growth", points=points, ratios=ratios)


def _grown(path: Path, size: int) -> dict[str, float]:
    from ego_cli.evaluation.agent import Agent

    before = time.process_time()
    agent = Agent(path)
    first = time.process_time() - before
    talks = conversations(str(path))
    later = median(_ready_again(path) for _ in range(3))
    _say_all(agent, talks)  # warm
    started = time.process_time()
    _say_all(agent, talks)
    each = (time.process_time() - started) * 1000 / sum(len(talk) for talk in talks)
    return {
        "products": size,
        "first_start_s": round(first, 2),
        "later_start_s": round(later, 3),
        "turn_ms": round(each, 2),
    }


def _ready_again(path: Path) -> float:
    """CPU seconds until a new process has answered its first message, the bare interpreter and imports included."""
    from ego_cli.evaluation.timing import process_cpu_ms

    script = f"from ego_cli.evaluation.agent import Agent; a = Agent({str(path)!r}); a.reset('s', {{}}); a.respond('s', 'shoes', 1, 10)"
    return process_cpu_ms(python("-c", script)) / 1000


def read_records(paths: Sequence[Path]) -> list[Record]:
    """Records of benchmarks, in the given order; run files of shops are gathered into one record for each catalogue.

    Raises ``MisuseError`` for a file that is neither.
    """
    found: list[Record] = []
    shops: dict[str, Record] = {}
    for path in paths:
        if path.suffix == ".jsonl":
            run = read_run(str(path))
            shop = shops.get(run.about["catalogue"])
            if shop is None:
                kept = ("catalogue", "products", "version", "machine")
                shop = {
                    "bench": "shop",
                    "at": run.about["started"],
                    **{k: run.about[k] for k in kept},
                    "rows": [],
                }
                shops[run.about["catalogue"]] = shop
                found.append(shop)
            shop["rows"].append({**headline(run), "options": run.about.get("options")})
            continue
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            found.append({"machine": {}, **entry, "bench": entry["bench"]})
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise MisuseError(f"{path} is not a record of a benchmark: {error}") from error
    return found


# --- the document ----------------------------------------------------------------------------------------------------


def document(records: Sequence[Mapping[str, Any]]) -> str:
    """``docs/benchmarks.md`` from records. Shop runs are records too (``bench`` is "shop")."""
    parts = [
        "# Benchmarks",
        "",
        "Made by `ego bench docs` from the records that `ego bench` and `ego eval shop` wrote. Times are CPU time in medians of",
        "interleaved runs unless a section says otherwise; ratios carry 95 % bootstrap intervals where one is given. Compare",
        "ratios, not milliseconds: machines differ.",
    ]
    for entry in records:
        writer = _WRITERS.get(entry["bench"], _plain_section)
        parts += ["", *writer(entry)]
    return "\n".join(parts) + "\n"


def _heading(entry: Mapping[str, Any], title: str) -> list[str]:
    m = entry["machine"]
    where = f"{m['system']} {m['processor']}, {m['cores']} cores, Python {m['python']}, load {m['load']}"
    return [f"## {title}", "", f"{entry['at']}, version {entry['version']}; {where}.", ""]


def _plain_section(entry: Mapping[str, Any]) -> list[str]:
    size = f", {entry['products']:,} products" if "products" in entry else ""
    lines = _heading(entry, f"{entry['bench'].capitalize()}{size}")
    lines += [f"| | CPU ms | times {entry['reference']} |", "|---|---:|---:|"]
    for name, ms in entry["cpu_ms"].items():
        ratio = entry["ratios"].get(name)
        shown = f"{ratio['ratio']:.2f} ({ratio['ci'][0]:.2f} – {ratio['ci'][1]:.2f})" if ratio else "1"
        lines.append(f"| {name} | {ms:.2f} | {shown} |")
    if "heavy_imports" in entry:
        lines += [
            "",
            f"Heavy modules imported by `ego --help`: {', '.join(entry['heavy_imports']) or 'none'}.",
        ]
    return lines


def _growth_section(entry: Mapping[str, Any]) -> list[str]:
    lines = [
        *_heading(entry, "Growth"),
        "| products | first start, s | later start, s | a turn, ms |",
        "|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {p['products']:,} | {p['first_start_s']:.2f} | {p['later_start_s']:.2f} | {p['turn_ms']:.2f} |"
        for p in entry["points"]
    ]
    return lines


def _search_section(entry: Mapping[str, Any]) -> list[str]:
    lines = _heading(entry, f"Search, {entry['products']:,} products")
    lines += [
        f"{entry['queries']} OR queries, each matching {entry['matched']:.0%} of the rows on average; the same ten rows in the",
        f"same order in {entry['identical']} of them. Wall time, medians of turns taken one after the other.",
        "",
        "| | p50 ms | p99 ms |",
        "|---|---:|---:|",
    ]
    for name, key in (("FTS5 bm25()", "fts5"), ("precomputed impacts", "impacts")):
        lines.append(f"| {name} | {entry[key]['p50']:.2f} | {entry[key]['p99']:.2f} |")
    ratios = entry["ratios"]
    lines.append(f"| times faster | {ratios['p50']:.1f} | {ratios['p99']:.1f} |")
    return lines


def _memory_section(entry: Mapping[str, Any]) -> list[str]:
    lines = _heading(entry, "Memory")
    figures = {
        "processes that write at once": f"{entry['processes']}",
        "acknowledged writes": f"{entry['adds']:,}",
        "of them lost": f"{entry['lost']}",
        "writes a second, together": f"{entry['writes_per_second']:,.0f}",
        f"hearing a turn, ms (p50, p95; {entry['memories']:,} memories)": f"{entry['hear_p50_ms']:.2f}, {entry['hear_p95_ms']:.2f}",
        "recall, ms (p50, p95)": f"{entry['recall_p50_ms']:.2f}, {entry['recall_p95_ms']:.2f}",
        "profile for a search, ms (p50)": f"{entry['profile_p50_ms']:.2f}",
    }
    return [
        *lines,
        "Wall time.",
        "",
        "| | |",
        "|---|---:|",
        *(f"| {name} | {value} |" for name, value in figures.items()),
    ]


def _shop_section(entry: Mapping[str, Any]) -> list[str]:
    """Score by agent and way of speaking (rows) and suite (columns), for one catalogue."""
    lines = _heading(entry, f"Simulated shopping, {entry['catalogue']} ({entry['products']:,} products)")
    suites = list(dict.fromkeys(row["suite"] for row in entry["rows"]))
    lines += ["Technical score, by suite.", ""]
    lines += [
        "| agent | customers | sessions each | " + " | ".join(suites) + " | p50 ms |",
        "|---|---|---:|" + "---:|" * (len(suites) + 1),
    ]
    rows: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in entry["rows"]:
        rows.setdefault((_agent_in_words(row), row["customer"]), {})[row["suite"]] = row
    for (agent, customer), cells in rows.items():
        scores = [f"{cells[suite]['technical_score']:.3f}" if suite in cells else "" for suite in suites]
        times = median(cell["p50_ms"] for cell in cells.values())
        sessions = max(cell["sessions"] for cell in cells.values())
        lines.append(f"| {agent} | {customer} | {sessions} | {' | '.join(scores)} | {times:.1f} |")
    return lines


def _agent_in_words(row: Mapping[str, Any]) -> str:
    """ "ego", or "ego (popularity off)": an agent with other options is another line."""
    options = dict(row.get("options") or {})
    parts = ["popularity off"] if options.get("popularity") is False else []
    if options.get("show"):
        parts.append("showing " + ",".join(map(str, options["show"])))
    return f"{row['agent']} ({'; '.join(parts)})" if parts else str(row["agent"])


_WRITERS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "growth": _growth_section,
    "memory": _memory_section,
    "search": _search_section,
    "shop": _shop_section,
}
