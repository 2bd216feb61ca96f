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
from pathlib import Path
from statistics import median
from typing import Any

from ego_cli import __version__
from ego_cli.errors import MisuseError
from ego_cli.evaluation.runs import read_run
from ego_cli.evaluation.shop import ShopAgent, headline, machine
from ego_cli.evaluation.timing import compared, interleaved_processes, python
from ego_cli.settings import private_folder, user_cache_folder, user_data_folder

GROWTH = (5_000, 50_000, 500_000)  # products

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


def turn(catalogue: str, tell: Callable[[str], None], *, passes: int = 5, synthetic: bool = False) -> Record:
    """A whole turn, stage by stage, with vectors and without, beside an FTS5 search. See `bench_turn`."""
    from ego_cli.evaluation import bench_turn

    return record("turn", **bench_turn.run(catalogue, passes=passes, synthetic=synthetic, tell=tell))


def made_file(rows: int, make: Callable[[Path, int], object]) -> Path:
    """A made catalogue of ``rows`` products in the cache folder; ``make(path, rows)`` writes it if it is not there."""
    path = private_folder(user_cache_folder() / "bench") / f"made-{rows}.jsonl"
    if not path.is_file():
        new = path.with_suffix(".new")
        make(new, rows)
        new.replace(path)
    return path


# --- search, ingestion, memory ---------------------------------------------------------------------------------------


def search(rows: int, progress: Callable[[int, int | None], None]) -> Record:
    """Precomputed impacts beside FTS5's bm25(): wall times of single queries, asked in turn. See `bench_search`."""
    from dataclasses import asdict

    from ego_cli.evaluation import bench_search

    done = bench_search.run(rows, progress)
    return record("search", **{"products": done.rows, **asdict(done)}, ratios=done.ratios)


def ingest(file: Path, *, products: int, rounds: int = 3) -> Record:
    """Loading a file of JSON lines into a catalogue that answers, beside only parsing its lines. See `bench_ingest`."""
    from dataclasses import asdict

    from ego_cli.evaluation import bench_ingest

    spent, starts = bench_ingest.run(file, rounds=rounds)
    figures = compared(spent, bench_ingest.PARSING)
    figures["starts"] = {name: asdict(each) for name, each in starts.items()}
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
    from ego_cli.evaluation import bench_turn
    from ego_cli.evaluation.agent import Agent

    before = time.process_time()
    agent = Agent(path)
    first = time.process_time() - before
    talks = bench_turn.conversations(str(path))
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


def _say_all(agent: ShopAgent, talks: Sequence[Sequence[str]]) -> None:
    for number, talk in enumerate(talks):
        agent.reset(f"bench-{number}", {})
        for turn_number, message in enumerate(talk, 1):
            agent.respond(f"bench-{number}", message, turn_number, 10)


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
