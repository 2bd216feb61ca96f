"""``docs/benchmarks.md`` from the records that benchmarks, ablations and runs of shops left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any


def document(records: Sequence[Mapping[str, Any]]) -> str:
    """``docs/benchmarks.md`` from records. Shop runs are records too (``bench`` is "shop")."""
    parts = [
        "# Benchmarks",
        "",
        "Made by `ego bench docs` from the records that `ego bench` and `ego eval` wrote. Times are CPU time in medians of",
        "interleaved runs unless a section says otherwise; ratios carry 95 % bootstrap intervals where one is given. Compare",
        "ratios, not milliseconds: machines differ.",
    ]
    for entry in records:
        writer = _WRITERS.get(entry["bench"], _plain_section)
        parts += ["", *writer(entry)]
    return "\n".join(parts) + "\n"


def _heading(entry: Mapping[str, Any], title: str) -> list[str]:
    m = entry["machine"]
    where = f"{m['system']} {m['processor']}, {m['cores']} cores, Python {m['python']}, load {m['load']}"
    return [f"## {title}", "", f"{entry['at']}, version {entry['version']}; {where}.", ""]


def _plain_section(entry: Mapping[str, Any]) -> list[str]:
    size = f", {entry['products']:,} products" if "products" in entry else ""
    lines = _heading(entry, f"{entry['bench'].capitalize()}{size}")
    lines += [f"| | CPU ms | times {entry['reference']} |", "|---|---:|---:|"]
    for name, ms in entry["cpu_ms"].items():
        ratio = entry["ratios"].get(name)
        shown = f"{ratio['ratio']:.2f} ({ratio['ci'][0]:.2f} – {ratio['ci'][1]:.2f})" if ratio else "1"
        lines.append(f"| {name} | {ms:.2f} | {shown} |")
    if "heavy_imports" in entry:
        lines += [
            "",
            f"Heavy modules imported by `ego --help`: {', '.join(entry['heavy_imports']) or 'none'}.",
        ]
    return lines


def _ingest_section(entry: Mapping[str, Any]) -> list[str]:
    lines = _plain_section(entry)
    if "starts" not in entry:  # a record of an earlier version
        return lines
    lines += [
        "",
        "A process of its own until its first answer, imports included:",
        "",
        "| start | wall s | CPU s, all processes | peak memory, MB, all processes |",
        "|---|---:|---:|---:|",
    ]
    for name, start in entry["starts"].items():
        lines.append(f"| {name} | {start['wall_s']:.2f} | {start['cpu_s']:.2f} | {start['peak_mb']:.0f} |")
    return lines


def _growth_section(entry: Mapping[str, Any]) -> list[str]:
    lines = [
        *_heading(entry, "Growth"),
        "| products | first start, s | later start, s | a turn, ms |",
        "|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {p['products']:,} | {p['first_start_s']:.2f} | {p['later_start_s']:.2f} | {p['turn_ms']:.2f} |"
        for p in entry["points"]
    ]
    return lines


def _search_section(entry: Mapping[str, Any]) -> list[str]:
    lines = _heading(entry, f"Search, {entry['products']:,} products")
    lines += [
        f"{entry['queries']} OR queries, each matching {entry['matched']:.0%} of the rows on average; the same ten rows in the",
        f"same order in {entry['identical']} of them. Wall time, medians of turns taken one after the other.",
        "",
        "| | p50 ms | p99 ms |",
        "|---|---:|---:|",
    ]
    for name, key in (("FTS5 bm25()", "fts5"), ("precomputed impacts", "impacts")):
        lines.append(f"| {name} | {entry[key]['p50']:.2f} | {entry[key]['p99']:.2f} |")
    ratios = entry["ratios"]
    lines.append(f"| times faster | {ratios['p50']:.1f} | {ratios['p99']:.1f} |")
    return lines


def _memory_section(entry: Mapping[str, Any]) -> list[str]:
    lines = _heading(entry, "Memory")
    figures = {
        "processes that write at once": f"{entry['processes']}",
        "acknowledged writes": f"{entry['adds']:,}",
        "of them lost": f"{entry['lost']}",
        "writes a second, together": f"{entry['writes_per_second']:,.0f}",
        f"hearing a turn, ms (p50, p95; {entry['memories']:,} memories)": f"{entry['hear_p50_ms']:.2f}, {entry['hear_p95_ms']:.2f}",
        "recall, ms (p50, p95)": f"{entry['recall_p50_ms']:.2f}, {entry['recall_p95_ms']:.2f}",
        "profile for a search, ms (p50)": f"{entry['profile_p50_ms']:.2f}",
    }
    return [
        *lines,
        "Wall time.",
        "",
        "| | |",
        "|---|---:|",
        *(f"| {name} | {value} |" for name, value in figures.items()),
    ]


def _shop_section(entry: Mapping[str, Any]) -> list[str]:
    """Score by agent and way of speaking (rows) and suite (columns), for one catalogue."""
    lines = _heading(entry, f"Simulated shopping, {entry['catalogue']} ({entry['products']:,} products)")
    suites = list(dict.fromkeys(row["suite"] for row in entry["rows"]))
    lines += ["Technical score, by suite.", ""]
    lines += [
        "| agent | customers | sessions each | " + " | ".join(suites) + " | p50 ms |",
        "|---|---|---:|" + "---:|" * (len(suites) + 1),
    ]
    rows: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in entry["rows"]:
        rows.setdefault((_agent_in_words(row), row["customer"]), {})[row["suite"]] = row
    for (agent, customer), cells in rows.items():
        scores = [f"{cells[suite]['technical_score']:.3f}" if suite in cells else "" for suite in suites]
        times = median(cell["p50_ms"] for cell in cells.values())
        sessions = max(cell["sessions"] for cell in cells.values())
        lines.append(f"| {agent} | {customer} | {sessions} | {' | '.join(scores)} | {times:.1f} |")
    return lines


def _agent_in_words(row: Mapping[str, Any]) -> str:
    """ "ego", or "ego (popularity off)": an agent with other options is another line."""
    options = dict(row.get("options") or {})
    parts = ["popularity off"] if options.get("popularity") is False else []
    if options.get("show"):
        parts.append("showing " + ",".join(map(str, options["show"])))
    return f"{row['agent']} ({'; '.join(parts)})" if parts else str(row["agent"])


def _turn_section(entry: Mapping[str, Any]) -> list[str]:
    from ego_cli.evaluation.bench_turn import FTS5, PARTS, PERCENTS, STAGES

    ways = {way: figures for way, figures in entry["ways"].items() if "total" in figures["stages_ms"]}
    made = " Vectors are random ones of the right size, for their cost." if entry["synthetic"] else ""
    lines = _heading(entry, f"Turn, {entry['products']:,} products")
    lines += [
        f"{entry['turns']:,} turns of plain and pidgin customers, none heard before, no model.{made} CPU "
        "time, but for one line.",
        "",
        "| ms (" + ", ".join(f"p{percent}" for percent in PERCENTS) + ") | " + " | ".join(ways) + " |",
        "|---|" + "---:|" * len(ways),
    ]
    names = [row for stage in STAGES for row in (stage, *PARTS.get(stage, ()))]
    inner = {part for parts in PARTS.values() for part in parts}
    for name in names:
        cells = [figures["stages_ms"].get(name) for figures in ways.values()]
        if any(cells):
            label = f"· {name}" if name in inner else name
            lines.append(f"| {label} | " + " | ".join(_three(cell) for cell in cells) + " |")
    rows: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "**whole turn**": lambda figures: _three(figures["cpu_ms"]),
        "whole turn, wall time": lambda figures: _three(figures["wall_ms"]),
        "whole turn where vectors were asked": lambda figures: _three(figures["asked_cpu_ms"]),
        "turns where vectors were asked": lambda figures: f"{figures['asked']:,}",
        "peak memory of the process, MB": lambda figures: f"{figures['peak_mb']:.0f}",
    }
    for label, cell in rows.items():
        lines.append(f"| {label} | " + " | ".join(cell(figures) for figures in ways.values()) + " |")
    ratios = [_ratio(entry["ratios"].get(way)) for way in ways]
    lines.append(f"| mean, times {FTS5} ({entry['cpu_ms'][FTS5]:.1f} ms) | " + " | ".join(ratios) + " |")
    return lines


def _three(values: Sequence[float] | None) -> str:
    return ", ".join(f"{value:.2f}" for value in values) if values else ""


def _ratio(ratio: Mapping[str, Any] | None) -> str:
    return f"{ratio['ratio']:.2f} ({ratio['ci'][0]:.2f} – {ratio['ci'][1]:.2f})" if ratio else "1"


def _turn_growth_section(entry: Mapping[str, Any]) -> list[str]:
    ways = list(dict.fromkeys(way for cells in entry["ratios"].values() for way in cells))
    lines = [
        *_heading(entry, "Turn, growth"),
        f"Mean CPU time of a turn, times that at {entry['smallest']:,} products.",
        "",
        "| products | " + " | ".join(ways) + " |",
        "|---:|" + "---:|" * len(ways),
    ]
    for products, cells in entry["ratios"].items():
        shown = [f"{cells[way]:.2f}" if way in cells else "" for way in ways]
        lines.append(f"| {products} | " + " | ".join(shown) + " |")
    return lines


def _known_item_section(entry: Mapping[str, Any]) -> list[str]:
    lines = _heading(entry, f"Legs and fusions on known items, {entry['queries_file']}")
    lines += [
        f"{entry['queries']} queries among {entry['products']:,} products; means with 95 % bootstrap intervals, the last column "
        "paired.",
        "",
        "| leg | R@1 | R@10 | R@100 | MRR | R@10 − bm25 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for leg in entry["legs"]:
        cells = [
            _with_interval([leg[name], *leg["intervals"][name]]) for name in ("r1", "r10", "r100", "mrr")
        ]
        gain = _with_interval(leg.get("r10_gain"), signed=True)
        lines.append(f"| {leg['leg']} | " + " | ".join([*cells, gain]) + " |")
    return lines


def _ablation_section(entry: Mapping[str, Any]) -> list[str]:
    lines = _heading(
        entry,
        f"Legs and fusions with customers who speak their own words, {entry['catalogue']} ({entry['products']:,} products)",
    )
    lines += [
        f"Suite {entry['suite']}, {entry['sessions']} sessions each, the same for all; 95 % bootstrap intervals, differences "
        "paired. A leg or a fusion alone shows its own order, with the hard rules and without any term of the score.",
        "",
        "| customers | leg | technical score | hit rate@10 | score − bm25 | hit rate − bm25 |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in sorted(entry["rows"], key=lambda row: str(row["customer"])):
        cells = [_with_interval(row[name]) for name in ("technical_score", "hit_rate_at_10")]
        cells += [
            _with_interval(row.get(name), signed=True) for name in ("technical_score_gain", "hit_rate_gain")
        ]
        lines.append(f"| {row['customer']} | {row['leg']} | " + " | ".join(cells) + " |")
    for name, what in (("vectors_gain", "vectors"), ("tags_gain", "preference tags")):
        told = [f"{r['customer']} {_with_interval(r[name], signed=True)}" for r in entry["rows"] if name in r]
        if told:
            lines += [
                "",
                f"What {what} add to the technical score of the default, paired: {'; '.join(told)}.",
            ]
    return lines


def _with_interval(values: Sequence[float] | None, *, signed: bool = False) -> str:
    if not values:
        return ""
    mean, low, high = (f"{value:+.3f}" if signed else f"{value:.3f}" for value in values)
    return f"{mean} [{low}, {high}]"


_WRITERS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "growth": _growth_section,
    "ingest": _ingest_section,
    "memory": _memory_section,
    "search": _search_section,
    "shop": _shop_section,
    "turn": _turn_section,
    "turn-growth": _turn_growth_section,
    "known-item": _known_item_section,
    "ablation": _ablation_section,
}
