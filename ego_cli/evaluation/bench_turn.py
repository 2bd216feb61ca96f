"""What a whole turn costs, stage by stage: on words only, with vectors, and with vectors asked on every turn.

Every way is measured in a process of its own, so that its peak memory is its own; the ways take turns, pass by pass. Each
pass has new customers, so that nothing is answered from a cache that has heard the sentence before; a first pass that is
not counted warms up what a shop that is open has warm. All is CPU time, which a busy machine does not blur; the wall time
of whole turns stands beside it.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from ego_cli.evaluation.timing import compared

if TYPE_CHECKING:
    from ego_cli.catalog.dense import DenseIndex

WORDS, VECTORS, ALWAYS = "words only", "with vectors", "vectors asked on every turn"
FTS5 = "FTS5 OR, a search"
_VARIANTS = {WORDS: "ranking, words only", VECTORS: "default", ALWAYS: "ranking, vectors always"}
SESSIONS = 12  # conversations a pass and way of speaking
SPOKEN = ("plain", "pidgin")  # ways of speaking
TURNS = 3  # of each conversation
PERCENTS = (50, 95, 99)
# In the order of a turn; retrieve and rank are sums of the parts that follow them.
STAGES = (
    "understand",
    "references",
    "state",
    "recall",
    "retrieve",
    "rank",
    "decide",
    "reply",
    "remember",
    "total",
)
PARTS = {
    "retrieve": ("rules", "lexical", "kind", "like", "sort", "collaborative", "dense", "prior", "fuse"),
    "rank": ("score", "explain"),
}

Talks = Sequence[Sequence[str]]


@dataclass(slots=True)
class Said:
    """One turn as it was measured: milliseconds."""

    cpu: float
    wall: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)
    asked: bool = False  # whether the vectors were


def conversations(catalogue: str, *, seed: int = 0, sessions: int = SESSIONS) -> list[list[str]]:
    """What customers say in the first turns when they are asked openly, in plain words and in pidgin."""
    from ego_cli.evaluation.customers import Customer
    from ego_cli.evaluation.speech import Speech
    from ego_cli.evaluation.suites import make_suite, read_products

    talks = []
    products = read_products(catalogue)
    for way in SPOKEN:
        for session in make_suite("standard", products, seed=seed, sessions=sessions):
            customer = Customer(session, Speech(way, "test", f"{seed}|{session.id}"))
            talk = [customer.opening()]
            talk += [customer.answer(turn, "other", []) for turn in range(2, TURNS + 1)]
            talks.append(talk)
    return talks


def run(
    catalogue: str,
    *,
    passes: int = 5,
    seed: int = 0,
    synthetic: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure every way that can be. Without vectors of the catalogue, those that need them are left out, unless
    ``synthetic``: then random ones of the right size stand in, whose cost is the same."""
    tell("reading the products")
    talks = conversations(catalogue, seed=seed, sessions=SESSIONS * (passes + 1))
    dice = random.Random(seed)
    dice.shuffle(talks)
    each = len(talks) // (passes + 1)
    rounds = [talks[n * each : (n + 1) * each] for n in range(passes + 1)]
    said: dict[str, list[list[Said]]] = {}
    about: dict[str, dict[str, Any]] = {}
    spawning = get_context("spawn")
    pools = {way: ProcessPoolExecutor(1, spawning) for way in (WORDS, VECTORS, ALWAYS, FTS5)}
    try:
        for way, pool in pools.items():
            tell(f"opening: {way}")
            opened = pool.submit(_open, way, catalogue, synthetic).result()
            if opened is not None:
                about[way], said[way] = opened, []
        for number, some in enumerate(rounds):
            order = list(said)
            dice.shuffle(order)
            for way in order:
                turns = pools[way].submit(_pass, number, some).result()
                if number:
                    said[way].append(turns)
            tell(f"pass {number} of {passes}")
        peaks = {way: pools[way].submit(_peak_mb).result() for way in said}
    finally:
        for pool in pools.values():
            pool.shutdown()
    ways = {
        way: {
            **about[way],
            **_figures([turn for turns in said[way] for turn in turns]),
            "peak_mb": peaks[way],
        }
        for way in said
    }
    means = {way: [fmean(turn.cpu for turn in turns) for turns in passes_] for way, passes_ in said.items()}
    return {
        "products": about[WORDS]["products"],
        "turns": each * TURNS * passes,
        "passes": passes,
        "synthetic": any(entry.get("synthetic") for entry in about.values()),
        "ways": ways,
        **compared(means, FTS5),
    }


def growth(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """How many times the turn of the smallest catalogue one over a larger catalogue costs: products -> way -> ratio of CPU."""
    first, *larger = sorted(records, key=lambda entry: int(entry["products"]))
    return {
        f"{entry['products']:,}": {
            way: figures["cpu_mean_ms"] / first["ways"][way]["cpu_mean_ms"]
            for way, figures in entry["ways"].items()
            if way in first["ways"]
        }
        for entry in larger
    }


def _figures(turns: Sequence[Said]) -> dict[str, Any]:
    names = dict.fromkeys(name for turn in turns for name in turn.stages)
    stages = {
        name: _percentiles([turn.stages[name] for turn in turns if name in turn.stages]) for name in names
    }
    asked = [turn for turn in turns if turn.asked]
    return {
        "stages_ms": stages,
        "cpu_ms": _percentiles([turn.cpu for turn in turns]),
        "cpu_mean_ms": fmean(turn.cpu for turn in turns),
        "wall_ms": _percentiles([turn.wall for turn in turns]),
        "asked": len(asked),
        "asked_cpu_ms": _percentiles([turn.cpu for turn in asked]) if asked else None,
    }


def _percentiles(values: Sequence[float]) -> list[float]:
    return [round(float(value), 3) for value in np.percentile(values, PERCENTS)]


# --- in a process of its own -----------------------------------------------------------------------------------------

_AGENT: Any = None


def _open(way: str, catalogue: str, synthetic: bool) -> dict[str, Any] | None:
    """Make the agent of this process; None when the way needs vectors and there are none."""
    global _AGENT
    if way == FTS5:
        from ego_cli.evaluation.baselines import Fts5Or

        _AGENT = Fts5Or(catalogue)
        return {}
    from ego_cli.evaluation.ablation import Variant
    from ego_cli.ranking import laps

    laps.now = time.thread_time
    agent = Variant(catalogue, variant=_VARIANTS[way])
    _AGENT = agent
    about: dict[str, Any] = {"products": len(agent)}
    if way == WORDS:
        return about
    there = agent.vectors() is not None
    if not there and synthetic:
        agent.serve_with(_synthetic(len(agent)))
        return about | {"synthetic": True}
    return about if there else None


def _synthetic(rows: int) -> DenseIndex:
    """Random unit vectors of the bundled model's size, in a file that is mapped as the real ones are."""
    import tempfile

    from ego_cli.catalog.dense import DenseIndex
    from ego_cli.catalog.encoders import MINILM_SIZE, load_encoder

    file = tempfile.TemporaryFile()  # noqa: SIM115 - the map below keeps it
    luck = np.random.default_rng(0)
    for start in range(0, rows, 10_000):
        some = luck.standard_normal((min(10_000, rows - start), MINILM_SIZE), dtype=np.float32)
        some /= np.linalg.norm(some, axis=1, keepdims=True)
        file.write(some.astype(np.float16).tobytes())
    file.flush()
    matrix = np.memmap(file, dtype=np.float16, mode="r", shape=(rows, MINILM_SIZE))
    return DenseIndex(load_encoder(), matrix, np.arange(rows, dtype=np.int32))


def _pass(number: int, talks: Talks) -> list[Said]:
    turns = []
    for place, talk in enumerate(talks):
        session = f"bench-{number}-{place}"
        _AGENT.reset(session, {})
        for turn, message in enumerate(talk, 1):
            cpu, wall = time.process_time(), time.perf_counter()
            _AGENT.respond(session, message, turn, 10)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            turns.append(_measured(session, cpu * 1000, wall * 1000))
    return turns


def _measured(session: str, cpu: float, wall: float) -> Said:
    if not hasattr(_AGENT, "last"):
        return Said(cpu, wall)
    done = _AGENT.last(session)
    stages = dict(done.timings_ms)
    for ranked in done.ranked:
        for part, ms in ranked.parts_ms.items():
            stages[part] = stages.get(part, 0.0) + ms
    return Said(cpu, wall, stages, any("dense" in ranked.parts_ms for ranked in done.ranked))


def _peak_mb() -> float:
    """The most memory that this process ever held, code and mapped files included."""
    status = Path(f"/proc/{os.getpid()}/status")
    if status.exists():  # after a spawn, getrusage may still know the parent's size
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return round(int(line.split()[1]) / 1024, 1)
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)
