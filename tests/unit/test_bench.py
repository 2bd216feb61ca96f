"""Benchmarks compare fairly, and the document says what the records say."""

from __future__ import annotations

import json

import pytest

from ego_cli.errors import MisuseError
from ego_cli.evaluation import bench, bench_document, bench_ingest, bench_search, bench_turn
from ego_cli.evaluation.make_catalogue import line_of, rows
from ego_cli.evaluation.timing import compared, interleaved


def test_every_case_runs_once_to_warm_up_and_then_once_a_round():
    calls: list[str] = []
    spent = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=4)
    assert calls.count("a") == calls.count("b") == 5
    assert {name: len(values) for name, values in spent.items()} == {"a": 4, "b": 4}


def test_rounds_are_interleaved():
    calls: list[str] = []
    interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=6)
    assert all(set(calls[i : i + 2]) == {"a", "b"} for i in range(0, len(calls), 2))


def test_ratios_are_of_medians_and_carry_an_interval():
    figures = compared({"slow": [20.0, 22.0, 24.0], "fast": [10.0, 11.0, 12.0]}, "fast")
    assert figures["cpu_ms"] == {"slow": 22.0, "fast": 11.0}
    ratio = figures["ratios"]["slow"]
    assert ratio["ratio"] == 2
    assert ratio["ci"][0] <= 2 <= ratio["ci"][1]


RECORD = {
    "bench": "startup", "at": "2026-01-01T00:00:00+00:00", "version": "1", "products": 1200,
    "machine": {"python": "3.11", "system": "Linux", "processor": "x", "cores": 2, "load": 0.5},
    **compared({"ours": [2.0, 2.0], "theirs": [1.0, 1.0]}, "theirs"),
}  # fmt: skip


def test_the_document_is_made_from_records(tmp_path):
    path = bench.keep(RECORD, tmp_path)
    assert path.name == "startup-1200.json"
    text = bench_document.document(bench.read_records([path]))
    assert "| ours | 2.00 | 2.00 (2.00 – 2.00) |" in text
    assert "1,200 products" in text and "load 0.5" in text


def test_the_table_of_legs_and_the_effect_of_tags_become_a_section():
    row = {"leg": "default", "customer": "plain", "technical_score": [0.9, 0.85, 0.95], "hit_rate_at_10": [1, 1, 1],
           "technical_score_gain": [0.1, 0.05, 0.15], "hit_rate_gain": [0.2, 0.1, 0.3], "tags_gain": [0.01, -0.01, 0.03]}  # fmt: skip
    done = bench.record("ablation", catalogue="made", products=9, suite="standard", sessions=2, rows=[row])
    text = bench_document.document([done])
    assert "| plain | default | 0.900 [0.850, 0.950] |" in text and "+0.100 [+0.050, +0.150]" in text
    assert "plain +0.010 [-0.010, +0.030]" in text


def test_a_turn_is_told_stage_by_stage_with_its_legs_and_growth(ego_home, monkeypatch, tmp_path):
    monkeypatch.setattr(bench_turn, "SESSIONS", 2)
    file = tmp_path / "made.jsonl"
    file.write_text("".join(f"{line_of(row)}\n" for row in rows(400)))
    done = bench.turn(str(file), lambda _: None, passes=3, synthetic=True)
    assert done["synthetic"] and set(done["ways"]) == {*bench_turn._VARIANTS, bench_turn.FTS5}
    always = done["ways"][bench_turn.ALWAYS]
    assert always["asked"] > 0 and done["ways"][bench_turn.WORDS]["asked"] == 0
    assert {
        "understand",
        "references",
        "state",
        "retrieve",
        "lexical",
        "dense",
        "score",
        "decide",
        "reply",
    } <= set(always["stages_ms"])
    assert always["peak_mb"] > 10 and always["cpu_ms"][0] > 0
    text = bench_document.document([json.loads(json.dumps(done))])
    assert "## Turn, 400 products" in text and "| · dense |  | " in text and "random ones" in text
    larger = {**done, "products": 4000}
    grown = bench_turn.growth([larger, done])
    assert grown["4,000"][bench_turn.WORDS] == 1.0
    told = bench_document.document([bench.record("turn-growth", smallest=400, ratios=grown)])
    assert "times that at 400 products" in told


def test_a_strangers_file_is_no_record(tmp_path):
    (tmp_path / "x.json").write_text("no")
    with pytest.raises(MisuseError, match="not a record"):
        bench.read_records([tmp_path / "x.json"])
    (tmp_path / "y.json").write_text(json.dumps([1]))
    with pytest.raises(MisuseError, match="not a record"):
        bench.read_records([tmp_path / "y.json"])


def test_growth_is_told_as_ratios_to_the_smallest(monkeypatch):
    monkeypatch.setattr(
        bench,
        "_grown",
        lambda path, size: {
            "products": size,
            "first_start_s": size / 1000,
            "turn_ms": 2.0,
            "later_start_s": 0.1,
        },
    )
    done = bench.growth(lambda path, size: None, sizes=(1000, 5000))
    assert done["ratios"] == {"5,000": {"first_start_s": 5.0, "turn_ms": 1.0}}
    assert "| 5,000 | 5.00 | 0.10 | 2.00 |" in bench_document.document([done])


def test_a_search_run_becomes_a_record_and_a_section(monkeypatch):
    monkeypatch.setattr(
        bench_search,
        "run",
        lambda rows, progress: bench_search.SearchBench(
            rows=rows, queries=200, identical=200, matched=0.4, fts5=bench_search.Timing(20.0, 50.0),
            impacts=bench_search.Timing(2.0, 4.0), build_s=1.0, cache_build_s=1.0, open_ms=1.0, peak_mb=1.0,
        ),
    )  # fmt: skip
    done = bench.search(5000, lambda done, total: None)
    assert done["ratios"] == {"p50": 10.0, "p99": 12.5}
    text = bench_document.document([json.loads(json.dumps(done))])
    assert "## Search, 5,000 products" in text
    assert "| times faster | 10.0 | 12.5 |" in text


def test_ingest_is_told_as_ratios_to_parsing(tmp_path):
    file = tmp_path / "made.jsonl"
    file.write_text("".join(f'{{"title": "Lamp {n}", "price": {n + 1}}}\n' for n in range(50)))
    done = bench.ingest(file, products=50, rounds=1)
    assert set(done["ratios"]) == {bench_ingest.READING, bench_ingest.LOADING}
    assert all(ratio["ratio"] > 1 for ratio in done["ratios"].values())
    assert done["starts"]["first"]["peak_mb"] > 10 and done["starts"]["later"]["cpu_s"] > 0
    text = bench_document.document([json.loads(json.dumps(done))])
    assert "## Ingest, 50 products" in text and "\n| later |" in text


def test_memory_figures_are_told_with_what_was_lost():
    done = bench.record(
        "memory", processes=8, adds=4000, lost=0, writes_per_second=1000.0, memories=2000, hear_p50_ms=0.4,
        hear_p95_ms=2.0, recall_p50_ms=3.0, recall_p95_ms=5.0, profile_p50_ms=0.01,
    )  # fmt: skip
    text = bench_document.document([done])
    assert "| of them lost | 0 |" in text
    assert "| hearing a turn, ms (p50, p95; 2,000 memories) | 0.40, 2.00 |" in text
