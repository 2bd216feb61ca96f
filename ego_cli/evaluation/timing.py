"""How benchmarks measure: interleaved runs, CPU time, ratios. Wall time alone says little on a busy machine."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

RESAMPLES = 1_000  # bootstrap draws for the interval of a ratio

Timed = Callable[[], object]


def interleaved(cases: Mapping[str, Timed], *, rounds: int, seed: int = 0) -> dict[str, list[float]]:
    """CPU milliseconds of each case, ``rounds`` times, in a new random order each round after one round to warm up.

    Interleaving gives every case the same share of a noisy machine's good and bad moments.
    """
    dice = random.Random(seed)
    spent: dict[str, list[float]] = {name: [] for name in cases}
    for round_number in range(rounds + 1):
        names = list(cases)
        dice.shuffle(names)
        for name in names:
            started = time.process_time_ns()
            cases[name]()
            if round_number:
                spent[name].append((time.process_time_ns() - started) / 1e6)
    return spent


def process_cpu_ms(command: Sequence[str]) -> float:
    """CPU milliseconds (user and system) of a whole process. Raises ``CalledProcessError`` when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def interleaved_processes(
    commands: Mapping[str, Sequence[str]], *, rounds: int, seed: int = 0
) -> dict[str, list[float]]:
    """As ``interleaved``, for whole processes."""
    dice = random.Random(seed)
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for round_number in range(rounds + 1):
        names = list(commands)
        dice.shuffle(names)
        for name in names:
            used = process_cpu_ms(commands[name])
            if round_number:
                spent[name].append(used)
    return spent


def compared(spent: Mapping[str, Sequence[float]], reference: str) -> dict[str, Any]:
    """Medians in CPU ms, and every case's ratio to ``reference`` with a 95 % bootstrap interval."""
    medians = {name: median(values) for name, values in spent.items()}
    dice = np.random.default_rng(0)
    ratios = {}
    for name, values in spent.items():
        if name == reference or not medians[reference]:
            continue
        ours, base = np.asarray(values), np.asarray(spent[reference])
        draws = [
            np.median(dice.choice(ours, len(ours))) / max(1e-9, np.median(dice.choice(base, len(base))))
            for _ in range(RESAMPLES)
        ]
        low, high = np.percentile(draws, [2.5, 97.5])
        ratios[name] = {"ratio": medians[name] / medians[reference], "ci": [float(low), float(high)]}
    return {"reference": reference, "cpu_ms": medians, "ratios": ratios}


def python(*arguments: str) -> list[str]:
    """A command line for this interpreter."""
    return [sys.executable, *arguments]
