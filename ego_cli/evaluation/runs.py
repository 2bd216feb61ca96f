"""Run files: what was said, asked and shown in every session of an evaluation, as JSON lines.

First line ``{"type": "run", …}`` (what was run), then one ``{"type": "session", …}`` each, last ``{"type": "summary", …}``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ego_cli.errors import EgoError, MisuseError, NotFoundError
from ego_cli.evaluation.metrics import Outcome, mcnemar, paired_difference
from ego_cli.settings import private_folder, user_data_folder

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """One agent, one suite, one way of speaking. ``about``, ``sessions`` and ``summary`` are the file's lines."""

    about: Record
    sessions: tuple[Record, ...]
    summary: Record

    @property
    def id(self) -> str:
        """The name of the run, which is also that of its file."""
        return str(self.about["id"])

    def session(self, session_id: str) -> Record:
        """One session; its number ("17") or a unique ending of its name will do. Raises ``NotFoundError``."""
        exact = [s for s in self.sessions if s["id"] == session_id]
        if session_id.isdecimal():
            number = session_id.lstrip("0")
            exact = [s for s in self.sessions if str(s["id"]).rpartition("-")[2].lstrip("0") == number]
        found = exact or [s for s in self.sessions if str(s["id"]).endswith(session_id)]
        if len(found) != 1:
            what = "no session" if not found else f"{len(found)} sessions"
            raise NotFoundError(
                f"{what} of {self.id} fit {session_id!r}", hint="sessions are called " + self._examples()
            )
        return found[0]

    def _examples(self) -> str:
        return ", ".join(str(s["id"]) for s in self.sessions[:3]) + ", …"


def outcome_of(session: Record) -> Outcome:
    """The figures of a session record."""
    turns = session["turns"]
    return Outcome(
        session=session["id"],
        scenario=session["scenario"],
        hit_turn=session["hit_turn"],
        rank=session["rank"],
        ms=tuple(turn["ms"] for turn in turns),
        prompt_tokens=sum(turn["tokens"][0] for turn in turns),
        completion_tokens=sum(turn["tokens"][1] for turn in turns),
        errors=sum(bool(turn.get("error")) for turn in turns),
    )


def runs_folder() -> Path:
    """Where run files and their reports are kept."""
    return private_folder(user_data_folder() / "runs")


def write_run(run: Run, folder: Path | None = None) -> Path:
    """Write a run as ``<id>.jsonl`` and return the file."""
    path = (folder or runs_folder()) / f"{run.id}.jsonl"
    lines = [{"type": "run", **run.about}, *({"type": "session", **s} for s in run.sessions)]
    lines.append({"type": "summary", **run.summary})
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def read_run(name: str) -> Run:
    """A run by the path of its file, by its id or a unique beginning of it, or ``last``.

    Raises ``NotFoundError`` when there is none, and ``EgoError`` when the file is not a run.
    """
    path = _find(name)
    about: Record = {}
    summary: Record = {}
    sessions: list[Record] = []
    try:
        for line in _lines(path):
            kind = line.pop("type", None)
            if kind == "run":
                about = line
            elif kind == "session":
                sessions.append(line)
            elif kind == "summary":
                summary = line
    except (ValueError, AttributeError, TypeError) as error:
        raise EgoError(
            f"{path} is not a run file", hint="run files are written by `ego eval shop`"
        ) from error
    if not about or not sessions:
        raise EgoError(f"{path} is not a run file", hint="run files are written by `ego eval shop`")
    return Run(about, tuple(sessions), summary)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as handle:
        for line in handle:
            yield json.loads(line)


def _find(name: str) -> Path:
    if (path := Path(name)).is_file():
        return path
    kept = sorted(runs_folder().glob("*.jsonl"))
    if name == "last" and kept:
        return max(kept, key=lambda file: file.stat().st_mtime_ns)
    exact = [file for file in kept if file.stem == name]
    found = exact or [file for file in kept if file.stem.startswith(name)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(f"there is no run called {name!r}", hint=f"runs are kept in {runs_folder()}")
    raise NotFoundError(
        f"{len(found)} runs begin with {name!r}", hint=", ".join(file.stem for file in found[:4])
    )


# --- one run against another -----------------------------------------------------------------------------------------


def diff(first: Run, second: Run) -> dict[str, Any]:
    """Second minus first over the sessions that both played: paired intervals and tests, and which sessions changed sides.

    Raises ``MisuseError`` when the two share no session (another suite, seed or part).
    """
    ours, theirs = ({s["id"]: s for s in run.sessions} for run in (first, second))
    common = [i for i in ours if i in theirs and ours[i]["target"] == theirs[i]["target"]]
    if not common:
        raise MisuseError(
            f"{first.id} and {second.id} share no session", hint="compare runs of one suite, seed and part"
        )
    a = [outcome_of(ours[i]) for i in common]
    b = [outcome_of(theirs[i]) for i in common]
    won = [o.session for o, p in zip(a, b, strict=True) if o.hit_turn is None and p.hit_turn is not None]
    lost = [o.session for o, p in zip(a, b, strict=True) if o.hit_turn is not None and p.hit_turn is None]
    figures: dict[str, Any] = {}
    for name, value in _FIGURES.items():
        paired = paired_difference([value(o) for o in a], [value(o) for o in b])
        figures[name] = {"difference": paired.difference, "ci": paired.interval, "p": paired.p}
    figures["hit_rate_at_10"]["p"] = mcnemar(
        len(lost), len(won)
    )  # exact, where the sign-flip test is a sample
    return {
        "first": first.id,
        "second": second.id,
        "sessions": len(common),
        "technical_score": [_mean(o.score for o in a), _mean(o.score for o in b)],
        "differences": figures,
        "newly_found": won,
        "newly_missed": lost,
        "better": sum(p.score > o.score for o, p in zip(a, b, strict=True)),
        "worse": sum(p.score < o.score for o, p in zip(a, b, strict=True)),
        "differs_in": [k for k in _SETUP if first.about.get(k) != second.about.get(k)],
    }


_SETUP = ("agent", "options", "suite", "customer", "part", "seed", "catalogue", "version")
_FIGURES: Mapping[str, Callable[[Outcome], float]] = {
    "technical_score": lambda o: o.score,
    "hit_rate_at_10": lambda o: float(o.hit_turn is not None),
    "mrr": lambda o: 1 / o.rank if o.rank else 0.0,
    "mttc": lambda o: float(o.hit_turn or 11),
}


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


# --- failures --------------------------------------------------------------------------------------------------------


def failures(run: Run) -> list[Record]:
    """The sessions in which the product was not found, worst kind first."""
    counts = Counter(s["failure"]["kind"] for s in run.sessions if s.get("failure"))
    missed = [s for s in run.sessions if s.get("failure")]
    return sorted(missed, key=lambda s: (-counts[s["failure"]["kind"]], s["id"]))


def confusion(sessions: Sequence[Record]) -> dict[str, int]:
    """How many sessions failed in which way."""
    return dict(Counter(s["failure"]["kind"] for s in sessions if s.get("failure")).most_common())


def replay(run: Run, session_id: str) -> list[str]:
    """A session as lines of text: who the customer was, then every message, question and list."""
    session = run.session(session_id)
    titles: Mapping[str, str] = session.get("titles", {})
    lines = [
        f"{session['id']}  {session['scenario']}  {run.about['customer']} customer, {run.about['agent']}",
        f"looking for: {session['title']} [{session['target']}]",
        "what she knows: " + " | ".join(session["constraints"]),
    ]
    if session.get("old"):
        lines.append(f"gives up on turn {session['change_turn']}: {session['old']}")
    for turn in session["turns"]:
        lines += ["", f"{turn['turn']:>2} customer  {turn['said']}"]
        reply = " ".join(str(turn["reply"]).split())
        lines.append(f"   agent     {reply if len(reply) <= 200 else reply[:199] + '…'}")
        lines += [
            f"   {'→' if i == session['target'] else ' '} {place:>2}. {titles.get(i, i)[:90]} [{i}]"
            for place, i in enumerate(turn["shown"], 1)
        ]
        if turn["asked"]:
            lines.append(f"   asks about: {turn['asked']}")
        if turn.get("error"):
            lines.append(f"   error: {turn['error']}")
    lines.append("")
    if session["hit_turn"]:
        lines.append(f"found on turn {session['hit_turn']} in place {session['rank']}")
    else:
        failure = session.get("failure") or {"kind": "not found", "why": ""}
        lines.append(f"not found: {failure['kind']}. {failure['why']}".rstrip())
    return lines
