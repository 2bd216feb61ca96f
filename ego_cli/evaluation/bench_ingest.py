"""From a product file to the first answer, in a process of its own as a user starts it: the first run, and the next one."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ego_cli.evaluation.timing import interleaved, python

PARSING = "parsing its lines as JSON"
READING = "reading it as products"
LOADING = "first start: loading it and one answer, all processes"

# Wall seconds, CPU seconds and peak memory are those of the process and of the one that it starts, its imports included.
_START = """
import json, resource, sys
from ego_cli.evaluation.agent import Agent
agent = Agent(sys.argv[1])
agent.reset("s", {})
agent.respond("s", "shoes", 1, 10)
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
unit = 2**20 if sys.platform == "darwin" else 2**10
print(json.dumps([sum(u.ru_utime + u.ru_stime for u in used), sum(u.ru_maxrss for u in used) / unit]))
"""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of the protocol's agent until its first answer. ``peak_mb`` adds up the peaks of its processes."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def run(file: Path, *, rounds: int) -> tuple[dict[str, list[float]], dict[str, Start]]:
    """CPU milliseconds by what is done with ``file``; and the medians of first and later starts."""
    from ego_cli.catalog.readers import collapse, read_products

    def parse() -> None:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                json.loads(line)

    def read() -> None:
        for _ in collapse(read_products(file)):
            pass

    spent = interleaved({PARSING: parse, READING: read}, rounds=rounds)
    first, later = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="ego-ingest-") as home:
            first.append(start(file, Path(home)))
            later.append(start(file, Path(home)))
    spent[LOADING] = [1000 * each.cpu_s for each in first]
    return spent, {"first": _medians(first), "later": _medians(later)}


def start(file: Path, home: Path) -> Start:
    """Start the agent over ``file`` with everything that ego keeps in ``home``."""
    began = time.perf_counter()
    said = subprocess.run(
        python("-c", _START, str(file.resolve())),
        env={**os.environ, "EGO_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    cpu, peak = json.loads(said.stdout)
    return Start(time.perf_counter() - began, cpu, peak)


def _medians(starts: Sequence[Start]) -> Start:
    return Start(*(median(getattr(each, name) for each in starts) for name in ("wall_s", "cpu_s", "peak_mb")))
