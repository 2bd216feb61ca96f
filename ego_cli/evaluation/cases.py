"""`ego eval cases`: small conversations with a little catalogue each, and facts that must hold after them.

A case is one JSON object a line: ``catalogue`` (products as a stranger's file has them), ``turns`` (texts, or operations on
the memory and the process), ``variants`` (other wordings of a single turn), ``setup`` and ``expect``/``expect_at``. It passes
when every check of every variant holds; results are reported per kind, since kinds differ in how many cases they have.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ego_cli.evaluation.case_checks import Failure, check
from ego_cli.evaluation.case_stage import Stage
from ego_cli.evaluation.labelled import labelled_rows


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one case went. ``skipped`` says which hook it needs that this build does not have."""

    id: str
    kind: str
    passed: bool
    failures: tuple[Failure, ...] = ()
    skipped: str = ""


@dataclass(slots=True)
class KindTally:
    """Cases of one kind."""

    passed: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class CasesReport:
    """All results; ``mean_over_kinds`` is the mean of the pass rates of the kinds."""

    results: tuple[CaseResult, ...]
    kinds: Mapping[str, KindTally] = field(default_factory=dict)

    @property
    def mean_over_kinds(self) -> float:
        rates = [tally.passed / tally.total for tally in self.kinds.values() if tally.total]
        return sum(rates) / len(rates) if rates else 0.0


def read_cases(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """The cases of some files. Raises MisuseError with file and line for a line that is not a case."""
    for path in paths:
        yield from labelled_rows(path, ("id", "kind", "catalogue", "turns", "expect"))


def run_case(case: Mapping[str, Any]) -> CaseResult:
    """Play a case and its variants, each in a fresh store."""
    plays = [list(case["turns"]), *([variant] for variant in case.get("variants", ()))]
    failures: list[Failure] = []
    for turns in plays:
        with tempfile.TemporaryDirectory(prefix="ego-case-") as folder, Stage(case, Path(folder)) as stage:
            if stage.skipped:
                return CaseResult(case["id"], case["kind"], passed=False, skipped=stage.skipped)
            for index, turn in enumerate(turns):
                stage.play(turn)
                expected = case.get("expect_at", {}).get(str(index))
                if expected and turns is plays[0]:
                    failures += check(stage, expected)
            failures += check(stage, case["expect"])
    return CaseResult(case["id"], case["kind"], passed=not failures, failures=tuple(failures))


def run_cases(paths: Iterable[Path], *, kind: str | None = None) -> CasesReport:
    """Run all cases of some files, or those of one kind."""
    results: list[CaseResult] = []
    kinds: dict[str, KindTally] = defaultdict(KindTally)
    for case in read_cases(paths):
        if kind and case["kind"] != kind:
            continue
        result = run_case(case)
        results.append(result)
        if not result.skipped:
            tally = kinds[result.kind]
            tally.total += 1
            tally.passed += result.passed
    return CasesReport(tuple(results), dict(kinds))
