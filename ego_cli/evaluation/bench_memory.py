"""How fast and how safely memory takes in and gives back: concurrent writers, latency of a write, latency of a recall."""

from __future__ import annotations

import multiprocessing
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from ego_cli.memory.memory import open_memory

USER = "bench"
_THINGS = [
    "shoes",
    "bag",
    "dress",
    "phone",
    "cream",
    "soap",
    "serum",
    "kettle",
    "lamp",
    "chair",
    "watch",
    "belt",
    "shirt",
    "rice",
    "tea",
    "coffee",
    "juice",
    "perfume",
    "laptop",
    "charger",
]
_KINDS = [
    "red",
    "blue",
    "green",
    "black",
    "white",
    "cotton",
    "leather",
    "suede",
    "linen",
    "silk",
    "wooden",
    "plastic",
    "glass",
    "cheap",
    "soft",
    "warm",
    "light",
    "heavy",
    "quiet",
    "sweet",
]


def run(
    *,
    processes: int = 8,
    adds: int = 500,
    memories: int = 2_000,
    recalls: int = 300,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Run all three and return one flat object; latencies in ms, rates per second.

    ``lost`` must be 0: adds that were acknowledged and are not there.
    """
    with tempfile.TemporaryDirectory(prefix="ego-bench-", dir=folder) as home:
        root = Path(home)
        result: dict[str, Any] = writers(root / "writers", processes, adds)
        result |= latencies(root / "latency", memories, recalls)
    result["ratios"] = {
        "writes_per_second_over_2000": result["writes_per_second"] / 2_000,
        "recall_p50_ms_over_3": result["recall_p50_ms"] / 3.0,
        "hear_p95_ms_over_2": result["hear_p95_ms"] / 2.0,
    }
    return result


def writers(root: Path, processes: int, adds: int) -> dict[str, Any]:
    """``processes`` at once, each with ``adds`` acknowledged adds to one shopper's memory. The clock runs from the moment
    when all are ready to the last acknowledgement."""
    open_memory(USER, root=root).close()
    context: Any = multiprocessing.get_context(
        "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    )
    ready, go = context.Barrier(processes + 1), context.Event()
    workers = [
        context.Process(target=_writer, args=(root, number, adds, ready, go)) for number in range(processes)
    ]
    for worker in workers:
        worker.start()
    ready.wait()
    begun = time.perf_counter()
    go.set()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - begun
    with open_memory(USER, root=root) as memory:
        there = memory.store.connection().execute("SELECT count(DISTINCT text) FROM entry").fetchone()[0]
        sound = memory.store.integrity()
    return {
        "processes": processes,
        "adds": processes * adds,
        "lost": processes * adds - there,
        "writes_per_second": processes * adds / seconds,
        "integrity": sound,
        "failed_processes": sum(worker.exitcode != 0 for worker in workers),
    }


def _writer(root: Path, number: int, adds: int, ready: Any, go: Any) -> None:
    with open_memory(USER, root=root) as memory:
        memory.add(f"likes warming up {number}")
        with memory.store.writing() as db:
            db.execute("DELETE FROM entry WHERE text LIKE '%warming up%'")
        ready.wait()
        go.wait()
        for i in range(adds):
            memory.add(f"likes colour {number}-{i}")


def latencies(root: Path, memories: int, recalls: int) -> dict[str, Any]:
    """A memory of ``memories`` rows: how long a turn waits for its words to be kept, and for memories to come back."""
    random_ = random.Random(7)
    with open_memory(USER, root=root) as memory:
        memory.log_many(
            {
                "kind": "said",
                "text": f"{_sentence(random_)} number {i}",
                "speaker": random_.choice(("Ada", "Bayo")),
            }
            for i in range(memories - 100)
        )
        for i in range(100):
            memory.hear(f"I like {random_.choice(_KINDS)} {random_.choice(_THINGS)} number {i}")
        memory.recall("warm up")
        hear = [
            _timed(
                lambda i=i: memory.hear(f"I love {random_.choice(_THINGS)} style {i}", turn=i, session="b")
            )
            for i in range(300)
        ]
        memory.recall("warm up")
        recall = [
            _timed(
                lambda: memory.recall(
                    f"which {random_.choice(_KINDS)} {random_.choice(_THINGS)} did Ada like"
                )
            )
            for _ in range(recalls)
        ]
        profile = [_timed(lambda: memory.profile("shoes")) for _ in range(100)]
    return {
        "memories": memories,
        "hear_p50_ms": statistics.median(hear),
        "hear_p95_ms": _p95(hear),
        "recall_p50_ms": statistics.median(recall),
        "recall_p95_ms": _p95(recall),
        "profile_p50_ms": statistics.median(profile),
    }


def _sentence(random_: random.Random) -> str:
    kind, thing = random_.choice(_KINDS), random_.choice(_THINGS)
    return f"Yesterday I saw a {kind} {thing} beside the {random_.choice(_THINGS)} and thought of {random_.choice(_KINDS)} ones"


def _timed(call: Any) -> float:
    begun = time.perf_counter()
    call()
    return (time.perf_counter() - begun) * 1_000


def _p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]
