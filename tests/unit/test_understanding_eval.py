"""`ego eval understanding`: the score says what the labels say, on small files whose figures are known by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ego_cli.errors import MisuseError
from ego_cli.evaluation.understanding import run


def gold(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def row(utterance: str, expected: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    known = more.pop("known_before", [])
    return {
        "domain": "running_shoes",
        "agent_before": "",
        "utterance": utterance,
        "known_before": known,
        "expected": expected,
        "erased": [],
        "refers_to": None,
        **more,
    }


def fact(attribute: str, op: str, value: Any, polarity: str = "want") -> dict[str, Any]:
    return {"attribute": attribute, "op": op, "value": value, "polarity": polarity}


def test_a_change_that_is_there_counts_for_precision_and_recall(tmp_path: Path) -> None:
    report = run(
        gold(
            tmp_path,
            row("black ones under 20k", [fact("colour", "set", "black"), fact("price", "max", 20_000)]),
        )
    )
    assert (report.summary()["precision"], report.summary()["recall"]) == (1.0, 1.0)


def test_a_change_that_is_missing_costs_recall(tmp_path: Path) -> None:
    report = run(
        gold(tmp_path, row("black ones", [fact("colour", "set", "black"), fact("size", "set", "42")]))
    )
    assert report.summary()["recall"] == 0.5


def test_the_wrong_polarity_costs_precision(tmp_path: Path) -> None:
    report = run(gold(tmp_path, row("no leather", [fact("material", "set", "leather")])))
    assert report.summary()["precision"] == 0.0


def test_an_erasure_is_the_fact_itself_being_gone(tmp_path: Path) -> None:
    black = fact("colour", "set", "black")
    erased = [{"attribute": "colour", "value": "black"}]
    gone = row("make it white", [fact("colour", "set", "white")], known_before=[black], erased=erased)
    stays = row("with a hood", [fact("hood", "set", "hood")], known_before=[black], erased=erased)
    assert run(gold(tmp_path, gone)).summary()["erasure_recall"] == 1.0
    assert run(gold(tmp_path, gone, stays)).summary()["erasure_recall"] == 0.5


def test_a_known_fact_that_is_lost_costs_precision_of_erasures(tmp_path: Path) -> None:
    known = [fact("colour", "set", "black"), fact("feature", "set", "waterproof")]
    kept = run(
        gold(
            tmp_path,
            row(
                "forget the colour",
                [],
                known_before=known,
                erased=[{"attribute": "colour", "value": "black"}],
            ),
        )
    )
    assert kept.summary()["erasure_precision"] == 1.0
    lost = run(
        gold(
            tmp_path,
            row("start over", [], known_before=known, erased=[{"attribute": "colour", "value": "black"}]),
        )
    )
    assert lost.summary()["erasure_precision"] == 0.5


def test_what_no_label_speaks_of_counts_in_the_strict_precision_only(tmp_path: Path) -> None:
    summary = run(gold(tmp_path, row("black, with pockets", [fact("colour", "set", "black")]))).summary()
    assert summary["precision"] == 1.0
    assert summary["precision_strict"] == 0.5


def test_a_file_that_is_no_gold_file_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="line 1"):
        run(gold(tmp_path, {"text": "hello"}))


def test_real_shoppers_are_understood(shared: Path) -> None:
    """The promise to real shoppers: most of what they change is found, and hardly anything is held the wrong way round."""
    summary = run(shared / "data" / "recquest" / "gold_turns.jsonl").summary()
    assert summary["precision"] >= 0.85
    assert summary["recall"] >= 0.75
