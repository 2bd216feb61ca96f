"""Made catalogues have the published shape, are hard but not hopeless, and are the same for everyone."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest
from typer.testing import CliRunner

from ego_cli.cli.bench import app
from ego_cli.evaluation.make_catalogue import rows, rows_per_shelf, shelves

FIELDS = ["parent_asin", "title", "features", "description", "price", "categories", "details", "average_rating", "rating_number", "store"]  # fmt: skip


@pytest.fixture(scope="module")
def made() -> list[dict[str, Any]]:
    return list(rows(12_000))


def test_shelves_are_spread_as_published() -> None:
    assert len({shelf.pair for shelf in shelves()}) == 1_115
    assert (sum(rows_per_shelf()), median(rows_per_shelf()), max(rows_per_shelf())) == (50_000, 8, 1_354)


def test_rows_have_the_published_fields_and_shares(made: list[dict[str, Any]]) -> None:
    assert all(list(row) == FIELDS for row in made)
    assert mean(row["price"] is not None for row in made) == pytest.approx(0.21, abs=0.02)
    assert mean(bool(row["description"]) for row in made) == pytest.approx(0.52, abs=0.02)
    assert mean(len(row["features"]) >= 5 for row in made) == pytest.approx(0.65, abs=0.02)
    assert median(row["rating_number"] for row in made) == pytest.approx(12, abs=1)
    assert 120 < mean(row["rating_number"] for row in made) < 480  # 241 with a heavy tail
    assert all(1 <= row["average_rating"] <= 5 for row in made)


def test_no_template_is_left_unfilled(made: list[dict[str, Any]]) -> None:
    texts = [
        text
        for row in made
        for text in (row["title"], *row["features"], *row["description"], *row["details"].values())
    ]
    assert not [text for text in texts if "{" in text or "None" in text]


def test_products_can_be_told_apart_and_have_siblings(made: list[dict[str, Any]]) -> None:
    assert len({row["parent_asin"] for row in made}) == len(made)
    assert len({(row["title"], *row["features"]) for row in made}) == len(made)
    lines = [len(list(line)) for _, line in groupby(made, key=lambda row: (row["store"], *row["categories"]))]
    assert sum(size for size in lines if size > 1) > len(made) / 2


def test_words_are_shared_by_many_products(made: list[dict[str, Any]]) -> None:
    words = Counter(word for row in made for word in {*" ".join(row["features"]).lower().split()})
    assert sum(count > 120 for count in words.values()) > 200


def test_the_same_seed_gives_the_same_rows_and_more_rows_continue_fewer() -> None:
    assert list(rows(300)) == list(rows(700))[:300]
    assert list(rows(50, seed=1)) != list(rows(50, seed=2))


def test_the_command_writes_json_lines(tmp_path: Path) -> None:
    runner = CliRunner()
    file = tmp_path / "made.jsonl"
    assert runner.invoke(app, ["make-catalog", "25", "--out", str(file)]).exit_code == 0
    assert [json.loads(line) for line in file.read_text().splitlines()] == list(rows(25))
    assert runner.invoke(app, ["make-catalog", "3"]).stdout.splitlines() == file.read_text().splitlines()[:3]
    assert runner.invoke(app, ["make-catalog", "0"]).exit_code == 2


def test_the_search_bench_compares_every_query(ego_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ego_cli.evaluation import bench_search

    monkeypatch.setattr(bench_search, "QUERIES", 20)
    result = CliRunner().invoke(app, ["search", "--rows", "5000", "--json"])
    assert result.exit_code == 0, result.output
    figures, summary = map(json.loads, result.stdout.splitlines())
    assert figures["identical"] == figures["queries"] > 0
    assert 0.3 <= figures["matched"] <= 0.5
    assert set(summary["ratios"]["5000"]) == {"p50", "p99"}
