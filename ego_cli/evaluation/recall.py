"""How well memory finds the evidence for a question, in files of conversations; and two public benchmarks of memory.

``ego eval recall FILE`` reads JSON lines ``{user, events: [{id, time, speaker, text}], questions: [{query, time, evidence:
[ids]}]}``. Each user gets a memory of its own into which the events go as turns; each question is put to it as any front
end would. Recall@k is the share of a question's evidence among the first k results, averaged over questions.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ego_cli.errors import MisuseError, ServiceAwayError
from ego_cli.evaluation.memory_suites import SuiteResult, precision_report, preference_report
from ego_cli.memory.entry import Embedder, as_utc
from ego_cli.memory.memory import Memory, open_memory
from ego_cli.memory.tokens import words_of

TOKENS = 1_000
SESSION_GAP = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class Question:
    """One question's result: the ids that came back, best first, and how much of its evidence was among them."""

    user: str
    query: str
    evidence: tuple[str, ...]
    found: tuple[str, ...]
    at_5: float
    at_10: float
    in_tokens: float


@dataclass(frozen=True, slots=True)
class RecallReport:
    """All questions and the means over them; ``baseline_…`` is plain BM25 over the turns' own words."""

    questions: tuple[Question | SuiteResult, ...]
    summary: Mapping[str, Any] = field(default_factory=dict)


def evaluate_recall(
    path: Path,
    *,
    embedder: Embedder | None = None,
    dense: bool = True,
    advance: Callable[[int, int | None], None] | None = None,
) -> RecallReport:
    """Score a file of conversations, or one of the two suites when ``path`` is its folder.

    ``dense`` searches by the bundled sentence model as well (or by ``embedder``); without the model's weights, by words
    alone. ``MisuseError`` names the first line that has not the form.
    """
    if embedder is None and dense:
        embedder = _sentence_model()
    if path.is_dir():
        return _suite(path, embedder)
    conversations = list(_read(path))
    results: list[Question] = []
    plain: list[tuple[float, float]] = []
    for number, conversation in enumerate(conversations):
        with tempfile.TemporaryDirectory(prefix="ego-recall-") as home:
            memory = open_memory(str(conversation["user"]), root=Path(home), embedder=embedder)
            results += _ask_all(memory, conversation)
            memory.close()
        plain += _baseline(conversation)
        if advance:
            advance(number + 1, len(conversations))
    n = max(1, len(results))
    summary = {
        "questions": float(len(results)),
        "recall_at_5": sum(q.at_5 for q in results) / n,
        "recall_at_10": sum(q.at_10 for q in results) / n,
        "recall_1000_tokens": sum(q.in_tokens for q in results) / n,
        "baseline_recall_at_5": sum(a for a, _ in plain) / n,
        "baseline_recall_at_10": sum(b for _, b in plain) / n,
    }
    return RecallReport(tuple(results), summary)


def _sentence_model() -> Embedder | None:
    from ego_cli.catalog.encoders import load_encoder

    try:
        return load_encoder()
    except ServiceAwayError:
        return None


def _suite(folder: Path, embedder: Embedder | None) -> RecallReport:
    """One of the two suites, told by what is in the folder."""
    if (folder / "beliefs.seed.json").is_file():
        report = precision_report(folder)
    elif any(folder.glob("explicit_*.jsonl")):
        report = preference_report(folder, embedder=embedder)
    else:
        raise MisuseError(
            f"{folder} holds no suite that is known",
            hint="precisionMemBench or PrefEval, or a JSON lines file",
        )
    return RecallReport(report.results, report.summary)


def _read(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MisuseError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            row["events"], row["questions"], row["user"]
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise MisuseError(
                f"{path}, line {number}: not a conversation with user, events and questions ({error})"
            ) from error
        yield row


def read_time(text: Any) -> datetime:
    """A time as such files write it: ISO, seconds since 1970, or "1:56 pm on 8 May, 2023"."""
    if isinstance(text, (int, float)):
        return datetime.fromtimestamp(text, UTC)
    words = str(text).strip()
    try:
        return as_utc(datetime.fromisoformat(words))
    except ValueError:
        pass
    for form in (
        "%I:%M %p on %d %B, %Y",
        "%Y/%m/%d (%a) %H:%M",
        "%Y/%m/%d %H:%M",
        "%d %B, %Y",
        "%d %B %Y",
        "%B %d, %Y",
    ):
        try:
            return datetime.strptime(words, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise MisuseError(f"{words!r} is not a time", hint="use ISO, such as 2023-05-08T13:56")


def load_events(memory: Memory, events: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Put events into a memory as turns; returns the event id of each row. A silence of two hours begins a new session."""
    rows = []
    session, before = 0, None
    for event in events:
        at = read_time(event["time"])
        if before is not None and abs(at - before) > SESSION_GAP:
            session += 1
        before = at
        rows.append(
            {"kind": "said", "text": str(event["text"]), "speaker": event.get("speaker"), "at": at, "session": str(session),
             "event_id": str(event["id"])}
        )  # fmt: skip
    ids = [str(event["id"]) for event in events]
    return dict(zip(memory.log_many(rows), ids, strict=True))


def _ask_all(memory: Memory, conversation: Mapping[str, Any]) -> Iterator[Question]:
    events = conversation["events"]
    event_of = load_events(memory, events)
    last = read_time(events[-1]["time"]) if events else datetime.now(UTC)
    for question in conversation["questions"]:
        evidence = tuple(str(id_) for id_ in question.get("evidence") or ())
        if not evidence:
            continue
        at = read_time(question["time"]) if question.get("time") else last
        query = str(question["query"])
        best = memory.recall(query, at=at, max_results=10, max_tokens=None)
        packed = memory.recall(query, at=at, max_results=None, max_tokens=TOKENS)
        found = tuple(event_of.get(item.entry.id, "") for item in best)
        yield Question(
            str(conversation["user"]), query, evidence, found, _share(evidence, found[:5]), _share(evidence, found),
            _share(evidence, [event_of.get(item.entry.id, "") for item in packed]),
        )  # fmt: skip


def _share(evidence: Sequence[str], found: Sequence[str]) -> float:
    return len(set(evidence) & set(found)) / len(set(evidence))


def _baseline(conversation: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """Plain BM25 (k1 1.5, b 0.75) over the turns as they stand: what memory must beat."""
    events = conversation["events"]
    documents = [Counter(words_of(str(event["text"]))) for event in events]
    lengths = [sum(document.values()) for document in documents]
    mean = sum(lengths) / max(1, len(lengths))
    frequency = Counter(word for document in documents for word in document)
    for question in conversation["questions"]:
        evidence = [str(id_) for id_ in question.get("evidence") or ()]
        if not evidence:
            continue
        scores = []
        for i, document in enumerate(documents):
            score = 0.0
            for word in words_of(str(question["query"])):
                if count := document.get(word):
                    n = frequency[word]
                    weight = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
                    score += weight * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * lengths[i] / mean))
            scores.append((-score, i))
        found = [str(events[i]["id"]) for _, i in sorted(scores)[:10]]
        yield _share(evidence, found[:5]), _share(evidence, found)
