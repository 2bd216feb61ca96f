"""Two public benchmarks of memory, put to ours: precisionMemBench (what must not come back) and PrefEval (what must)."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ego_cli.errors import MisuseError
from ego_cli.memory.entry import Embedder
from ego_cli.memory.memory import Memory, open_memory
from ego_cli.memory.tokens import terms

TOKENS = 1_000  # of packed context, in PrefEval
MANY = 1_000


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """One case: whether it passed, and what was wrong."""

    id: str
    group: str
    passed: bool
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteReport:
    """All cases and the summary figures."""

    results: tuple[SuiteResult, ...]
    summary: Mapping[str, Any] = field(default_factory=dict)


# --- precisionMemBench -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Context:
    """The four tiers that the benchmark looks at."""

    prelude: str
    pinned: tuple[str, ...]
    relevant: tuple[str, ...]
    questions: tuple[str, ...]


def precision_report(folder: Path) -> SuiteReport:
    """Every retrieval case and every turn of the session cases, with mean precision over the cases that expect or give any.

    A belief becomes a row that is found by its name and aliases (the benchmark's content is no search path); superseded
    and resolved ones become history; the session cases' created and updated beliefs are written when their turn comes.
    """
    beliefs = _json(folder / "beliefs.seed.json")
    results: list[SuiteResult] = []
    precisions: list[float] = []
    with tempfile.TemporaryDirectory(prefix="ego-precision-") as home:
        memories = _seeded(beliefs, Path(home) / "single")
        for case in _json(folder / "retrieval.cases.json"):
            user = case.get("userId", "test-user")
            memory = memories.get(user) or memories.setdefault(
                user, open_memory(user, root=Path(home) / "single")
            )
            context = _context(
                memory, case["scope"], case["query"], (case.get("budget") or {}).get("maxBeliefs")
            )
            results.append(_judged(case["caseId"], case["category"], case["expect"], context))
            _count_precision(precisions, case["expect"], context)
        memories = _seeded(beliefs, Path(home) / "sessions")
        for case in _json(folder / "session-retrieval.cases.json"):
            for turn in case["turns"]:
                memory = memories["test-user"]
                context = _context(memory, turn["scope"], turn["userMessage"], None)
                results.append(
                    _judged(f"{case['caseId']}#{turn['turnIndex']}", "Session", turn["expect"], context)
                )
                _count_precision(precisions, turn["expect"], context)
                _apply_turn(memory, turn)
    groups = _by_group(results)
    passed = sum(result.passed for result in results)
    summary = {
        "cases": len(results),
        "passed": passed,
        "share_passed": passed / max(1, len(results)),
        "mean_precision": sum(precisions) / max(1, len(precisions)),
        "groups": groups,
    }
    return SuiteReport(tuple(results), summary)


def _seeded(beliefs: Iterable[Mapping[str, Any]], root: Path) -> dict[str, Memory]:
    rows = defaultdict(list)
    for belief in beliefs:
        rows[belief["user_id"]].append(_row(belief))
    memories = {}
    for user, own in rows.items():
        memories[user] = open_memory(user, root=root)
        memories[user].import_rows(own)
    return memories


def _row(belief: Mapping[str, Any]) -> dict[str, Any]:
    ended = belief.get("resolved_at") or (belief["updated_at"] if belief.get("superseded_by") else None)
    kind = belief["type"]
    return {
        "text": belief["content"],
        "kind": kind,
        "slot": f"me|belief|{belief['_id']}",
        "key": f"me|belief|{belief['_id']}",
        "scope": belief["scope"][0],
        "pinned": belief["pinned"],
        "valid_from": belief["created_at"],
        "confirmed": belief["last_reinforced_at"],
        "valid_to": ended,
        "names": [belief["canonical_name"].replace("_", " "), *belief["aliases"]],
        "ref": belief["_id"],
        "links": belief.get("participants") or [],
    }


def _context(memory: Memory, scopes: Sequence[str], query: str, most: int | None) -> _Context:
    rows = [row for row in memory.facts() if row.data.get("ref")]
    universal = "user:universal"
    prelude = " ".join(row.text for row in rows if row.scope == universal)
    pinned = [row for row in rows if row.pinned and row.scope in scopes and row.scope != universal]
    questions = [str(row.data["ref"]) for row in pinned if row.kind == "open_question"]
    facts = [str(row.data["ref"]) for row in pinned if row.kind != "open_question"][:most]
    left = None if most is None else max(0, most - len(facts))
    found = (
        memory.recall(query, scopes=frozenset(scopes), max_tokens=None, max_results=MANY)
        if query.strip()
        else []
    )
    relevant = [
        str(item.entry.data["ref"])
        for item in found
        if not item.entry.pinned and item.entry.kind != "open_question" and item.entry.scope != universal
    ]
    return _Context(prelude, tuple(facts), tuple(relevant[:left]), tuple(questions))


def _apply_turn(memory: Memory, turn: Mapping[str, Any]) -> None:
    if "createBeliefAtTurn" in turn:
        memory.import_rows([_row(turn["createBeliefAtTurn"])])
    if "updateBeliefAtTurn" in turn:
        update = turn["updateBeliefAtTurn"]
        row = next(row for row in memory.facts() if row.data.get("ref") == update["beliefId"])
        memory.name(row.id, update["addAliases"])


def _judged(id_: str, group: str, expect: Mapping[str, Any], context: _Context) -> SuiteResult:
    failures = []
    relevant, pinned, questions = set(context.relevant), set(context.pinned), set(context.questions)
    wanted = expect.get("relevantBeliefs") or {}
    if "shouldOnlyInclude" in wanted:
        only = set(wanted["shouldOnlyInclude"])
        failures += [f"unexpected: {id_}" for id_ in sorted(relevant - only)]
        failures += [f"missing: {id_}" for id_ in sorted(only - relevant)]
    union = relevant | pinned
    failures += [f"forbidden: {id_}" for id_ in wanted.get("mustExclude", ()) if id_ in union]
    for name, there in (("pinnedFacts", pinned), ("openQuestions", questions)):
        part = expect.get(name) or wanted.get(name) or {}
        failures += [f"{name} lacks {id_}" for id_ in part.get("mustInclude", ()) if id_ not in there]
        failures += [f"{name} must not have {id_}" for id_ in part.get("mustExclude", ()) if id_ in there]
    noise = (expect.get("noiseCheck") or {}).get("mustNotSurface", ())
    failures += [f"noise: {id_}" for id_ in noise if id_ in union]
    prelude = expect.get("personaPrelude") or {}
    if prelude.get("nonEmpty") and not context.prelude:
        failures.append("prelude is empty")
    if prelude.get("isNull") and context.prelude:
        failures.append("prelude is not empty")
    failures += [
        f"prelude lacks {word!r}" for word in prelude.get("contains", ()) if word not in context.prelude
    ]
    failures += [
        f"prelude has {word!r}" for word in prelude.get("mustNotContain", ()) if word in context.prelude
    ]
    return SuiteResult(id_, group, not failures, tuple(failures))


def _count_precision(precisions: list[float], expect: Mapping[str, Any], context: _Context) -> None:
    only = (expect.get("relevantBeliefs") or {}).get("shouldOnlyInclude")
    if only is None or not (only or context.relevant):
        return
    hits = len(set(only) & set(context.relevant))
    precisions.append(hits / len(context.relevant) if context.relevant else 0.0)


# --- PrefEval -----------------------------------------------------------------------------------------------------------------


def preference_report(folder: Path, *, embedder: Embedder | None = None, tokens: int = TOKENS) -> SuiteReport:
    """Is the preference in the packed context of the question?

    ``own``: one shopper, her one preference told some time before. ``pooled``: one shopper with all preferences of all
    files. ``persona``: one shopper, her own turns of a conversation in which she reveals it; the turn must be there
    that shares most words with the preference.
    """
    explicit = [(path.stem, row) for path in sorted(folder.glob("explicit_*.jsonl")) for row in _lines(path)]
    persona = [
        (path.stem, row) for path in sorted(folder.glob("implicit_persona*.jsonl")) for row in _lines(path)
    ]
    results: list[SuiteResult] = []
    with tempfile.TemporaryDirectory(prefix="ego-preferences-") as home:
        root = Path(home)
        with open_memory("pooled", root=root, embedder=embedder) as pooled:
            for number, (_, row) in enumerate(explicit):
                pooled.hear(row["preference"], turn=number, session="pooled")
            for number, (name, row) in enumerate(explicit):
                found = pooled.recall(row["question"], max_tokens=tokens, max_results=None)
                there = any(item.entry.turn == number for item in found)
                results.append(
                    SuiteResult(f"{name}-{number}", "pooled", there, () if there else (row["preference"],))
                )
        for number, (name, row) in enumerate(explicit):
            with open_memory(f"own {number}", root=root, embedder=embedder) as memory:
                memory.hear(row["preference"], turn=1, session="own")
                there = bool(memory.recall(row["question"], max_tokens=tokens, max_results=None))
                results.append(
                    SuiteResult(f"{name}-{number}", "own", there, () if there else (row["preference"],))
                )
        for number, (name, row) in enumerate(persona):
            with open_memory(f"persona {number}", root=root, embedder=embedder) as memory:
                there = _persona(memory, row, tokens)
                results.append(
                    SuiteResult(f"{name}-{number}", "persona", there, () if there else (row["preference"],))
                )
    groups = _by_group(results)
    return SuiteReport(
        tuple(results), {"tokens": tokens, "groups": groups, **{g: v["share"] for g, v in groups.items()}}
    )


def _persona(memory: Memory, row: Mapping[str, Any], tokens: int) -> bool:
    turns = [turn["user"] for _, turn in sorted(row["conversation"].items(), key=lambda pair: int(pair[0]))]
    for number, text in enumerate(turns):
        memory.hear(text, turn=number, session="persona")
    preference = set(terms(row["preference"]))
    revealing = max(range(len(turns)), key=lambda i: len(preference & set(terms(turns[i]))))
    found = memory.recall(row["question"], max_tokens=tokens, max_results=None)
    return any(item.entry.turn == revealing for item in found)


def _by_group(results: Iterable[SuiteResult]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[bool]] = defaultdict(list)
    for result in results:
        groups[result.group].append(result.passed)
    return {
        name: {"passed": sum(passed), "cases": len(passed), "share": sum(passed) / len(passed)}
        for name, passed in sorted(groups.items())
    }


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise MisuseError(f"cannot read {path}: {error}") from error


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)
