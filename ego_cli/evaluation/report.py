"""A run as one HTML file: figures, plots, and every failed session to read. No scripts, no outside files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ego_cli.evaluation.metrics import MAX_TURNS, Outcome, bootstrap_interval
from ego_cli.evaluation.runs import Record, Run, failures, outcome_of, replay

WIDTH, HEIGHT, MARGIN = 460, 220, 44  # of a plot, in pixels
MOST_TRANSCRIPTS = 60  # failed sessions written out in full, per run

_STYLE = """
:root{color-scheme:light dark;--ink:#1d2733;--soft:#66727f;--line:#d8dee5;--back:#fff;--bar:#3b7dd8;--bad:#c8553d}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaef;--soft:#9aa5b1;--line:#3a444f;--back:#14191f;--bar:#6ea8fe;--bad:#ef8a73}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:1000px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.2rem;border-top:1px solid var(--line);padding-top:1.2rem;margin-top:2.2rem}
table{border-collapse:collapse;margin:.6rem 0}td,th{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:right}
td:first-child,th:first-child{text-align:left}.soft{color:var(--soft)}.plots{display:flex;flex-wrap:wrap;gap:1rem}
figure{margin:0}figcaption{color:var(--soft);font-size:.9rem}pre{overflow-x:auto;font-size:.82rem;line-height:1.35;background:#8881;padding:.7rem}
svg text{fill:var(--ink);font-size:11px}svg .soft{fill:var(--soft)}svg .bar{fill:var(--bar)}svg .axis{stroke:var(--line)}
svg .curve{fill:none;stroke:var(--bar);stroke-width:2}svg .whisker{stroke:var(--ink)}summary{cursor:pointer}.bad{color:var(--bad)}
"""


def html_report(runs: Sequence[Run]) -> str:
    """The report of one run or several, as a complete HTML document."""
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>",
        f"<title>ego eval: {escape(runs[0].id)}</title><style>{_STYLE}</style>",
        "<h1>Simulated shopping sessions</h1>",
        _overview(runs),
    ]
    parts += [_section(run) for run in runs]
    return "\n".join(parts)


def _overview(runs: Sequence[Run]) -> str:
    columns = [
        "agent",
        "suite",
        "customer",
        "score",
        "95 % interval",
        "HR@10",
        "MRR",
        "MTTC",
        "p50 ms",
        "p95 ms",
        "tokens",
    ]
    rows = []
    for run in runs:
        s, (low, high) = run.summary, run.summary["technical_score_ci"]
        link = f"<a href='#{escape(run.id)}'>{escape(str(run.about['agent']))}</a>"
        cells = [
            escape(str(run.about["suite"])),
            escape(str(run.about["customer"])),
            f"<b>{s['technical_score']:.4f}</b>",
        ]
        cells += [
            f"{low:.3f} – {high:.3f}",
            f"{s['hit_rate_at_10']:.3f}",
            f"{s['mrr']:.3f}",
            f"{s['mttc']:.2f}",
        ]
        cells += [f"{s['p50_ms']:.1f}", f"{s['p95_ms']:.1f}", f"{s['total_tokens']:,}"]
        rows.append([link, *cells])
    return _table(columns, rows)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _section(run: Run) -> str:
    about = run.about
    outcomes = [outcome_of(session) for session in run.sessions]
    machine = about.get("machine", {})
    return "\n".join(
        [
            f"<h2 id='{escape(run.id)}'>{escape(str(about['suite']))}, {escape(str(about['customer']))} customers</h2>",
            f"<p class='soft'>{escape(run.id)} · {escape(str(about['agent']))} {escape(_options(about['options']))} · "
            f"{escape(str(about['catalogue']))}, {about['products']:,} products · {escape(str(about['part']))} wordings, "
            f"seed {about['seed']} · version {escape(str(about['version']))} · Python {escape(str(machine.get('python')))}, "
            f"{machine.get('cores')} cores, load {machine.get('load')} · ready after {run.summary['startup_s']:.2f} s, "
            f"peak {run.summary['peak_mb']:,.0f} MB</p>",
            _scenario_table(run),
            "<div class='plots'>",
            _figure(_bars(outcomes), "Technical score by scenario, with 95 % intervals"),
            _figure(_found_by_turn(outcomes), "Share of products found by turn"),
            _figure(_times([ms for o in outcomes for ms in o.ms]), "Time of a response in ms (log scale)"),
            "</div>",
            _failure_part(run),
        ]
    )


def _options(options: Mapping[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in options.items())


def _scenario_table(run: Run) -> str:
    rows = [
        [
            escape(name),
            f"{s['sessions']}",
            f"{s['technical_score']:.4f}",
            f"{s['hit_rate_at_10']:.3f}",
            f"{s['mrr']:.3f}",
            f"{s['mttc']:.2f}",
        ]
        for name, s in run.summary["scenarios"].items()
    ]
    return _table(["scenario", "sessions", "score", "HR@10", "MRR", "MTTC"], rows)


def _failure_part(run: Run) -> str:
    missed = failures(run)
    if not missed:
        return "<p>Every product was found.</p>"
    kinds = _table(
        ["way of failing", "sessions"], [[escape(k), str(n)] for k, n in run.summary["failures"].items()]
    )
    parts = [f"<p class='bad'>{len(missed)} of {len(run.sessions)} products were not found.</p>", kinds]
    parts += [_transcript(run, session) for session in missed[:MOST_TRANSCRIPTS]]
    if len(missed) > MOST_TRANSCRIPTS:
        parts.append(
            f"<p class='soft'>{len(missed) - MOST_TRANSCRIPTS} more: <code>ego replay {escape(run.id)} SESSION</code></p>"
        )
    return "\n".join(parts)


def _transcript(run: Run, session: Record) -> str:
    head = f"{session['id']}: {session['failure']['kind']}, {session['title']}"
    lines = "\n".join(replay(run, session["id"]))
    command = f"ego replay {run.id} {session['id']}"
    return (
        f"<details><summary>{escape(head)}</summary><pre>{escape(lines)}\n\n{escape(command)}</pre></details>"
    )


# --- plots -----------------------------------------------------------------------------------------------------------


def _figure(plot: str, caption: str) -> str:
    return f"<figure>{plot}<figcaption>{caption}</figcaption></figure>"


def _frame(inside: Sequence[str], *, top: float = 1.0, percent: bool = False) -> str:
    """A plot's axes: values from 0 to ``top`` upwards."""
    lines = []
    for step in range(5):
        value = top * step / 4
        y = _y(value / top)
        label = f"{value:.0%}" if percent else f"{value:.2f}"
        lines.append(f"<line class='axis' x1='{MARGIN}' x2='{WIDTH - 8}' y1='{y:.1f}' y2='{y:.1f}'/>")
        lines.append(f"<text class='soft' x='{MARGIN - 6}' y='{y + 4:.1f}' text-anchor='end'>{label}</text>")
    body = "".join([*lines, *inside])
    return f"<svg viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}' role='img'>{body}</svg>"


def _y(share: float) -> float:
    return HEIGHT - 30 - share * (HEIGHT - 45)


def _slots(count: int) -> Callable[[float], float]:
    """Places along the plot's width for ``count`` things."""
    step = (WIDTH - MARGIN - 8) / max(1, count)
    return lambda place: MARGIN + step * place


def _bars(outcomes: Sequence[Outcome]) -> str:
    names = list(dict.fromkeys(o.scenario for o in outcomes))
    x = _slots(len(names))
    drawn = []
    for place, name in enumerate(names):
        scores = [o.score for o in outcomes if o.scenario == name]
        mean, (low, high) = sum(scores) / len(scores), bootstrap_interval(scores)
        left, right, middle = x(place + 0.18), x(place + 0.82), x(place + 0.5)
        drawn += [
            f"<rect class='bar' x='{left:.1f}' width='{right - left:.1f}' y='{_y(mean):.1f}' height='{_y(0) - _y(mean):.1f}'/>",
            f"<line class='whisker' x1='{middle:.1f}' x2='{middle:.1f}' y1='{_y(low):.1f}' y2='{_y(high):.1f}'/>",
            f"<text x='{middle:.1f}' y='{HEIGHT - 14}' text-anchor='middle'>{escape(name)}</text>",
            f"<text class='soft' x='{middle:.1f}' y='{HEIGHT - 2}' text-anchor='middle'>{mean:.3f}</text>",
        ]
    return _frame(drawn)


def _found_by_turn(outcomes: Sequence[Outcome]) -> str:
    x = _slots(MAX_TURNS)
    shares = [
        sum((o.hit_turn or 99) <= turn for o in outcomes) / len(outcomes) for turn in range(1, MAX_TURNS + 1)
    ]
    points = " ".join(f"{x(i + 0.5):.1f},{_y(share):.1f}" for i, share in enumerate(shares))
    ticks = [
        f"<text x='{x(i + 0.5):.1f}' y='{HEIGHT - 14}' text-anchor='middle'>{i + 1}</text>"
        for i in range(MAX_TURNS)
    ]
    return _frame([f"<polyline class='curve' points='{points}'/>", *ticks], percent=True)


def _times(times: Sequence[float]) -> str:
    bins = 24
    values = np.maximum(np.asarray(times or [0.1]), 0.01)
    edges = np.geomspace(values.min(), max(values.max(), values.min() * 1.01), bins + 1)
    counts, _ = np.histogram(values, edges)
    x = _slots(bins)
    top = counts.max() / counts.sum()
    drawn = [
        f"<rect class='bar' x='{x(i + 0.1):.1f}' width='{x(0.8) - x(0):.1f}' y='{_y(n / counts.max()):.1f}' "
        f"height='{_y(0) - _y(n / counts.max()):.1f}'/>"
        for i, n in enumerate(counts)
    ]
    ticks = [
        f"<text x='{x(i):.1f}' y='{HEIGHT - 14}' text-anchor='middle'>{edges[i]:.3g}</text>"
        for i in range(0, bins + 1, 6)
    ]
    return _frame([*drawn, *ticks], top=float(top), percent=True)
