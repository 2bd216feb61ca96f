"""`ego eval` and `ego replay` from the outside: files in, one summary line out, exit codes as designed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

MATERIALS = ("cotton", "wool", "leather", "silk", "linen")
COLOURS = ("red", "blue", "green", "black")


def rows(count: int = 260):
    dice = random.Random(5)
    for i in range(count):
        yield {
            "parent_asin": f"A{i:04}",
            "title": f"Brand{i % 7} {COLOURS[i % 4]} item {i}",
            "features": [f"{MATERIALS[i % 5]} outside", f"Holds {10 + i} things", "Machine Wash"],
            "description": [],
            "price": 5.0 + i % 60,
            "categories": ["Clothing, Shoes & Jewelry", ("Women", "Men")[i % 2], f"Shelf{i % 9}"],
            "details": {"Department": ("womens", "mens")[i % 2]},
            "average_rating": 4.0,
            "rating_number": int(dice.paretovariate(0.9)),
            "store": f"Brand{i % 7}",
        }


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("eval")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    case = {"id": "1", "kind": "odd", "catalogue": [], "turns": ["a bag"], "expect": {"not_shown": ["a"]}}
    (folder / "odd-case.jsonl").write_text(json.dumps(case) + "\n")
    return folder


def ego(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "EGO_HOME": str(place / "home")}
    return subprocess.run(
        [sys.executable, "-m", "ego_cli", *arguments], cwd=place, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def shop(place: Path, *arguments: str) -> list[dict]:
    done = ego(place, "eval", "shop", "--catalog", "rows.jsonl", "--sessions", "12", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_last_line_is_the_summary_and_nothing_else_goes_to_the_streams(place):
    done = ego(
        place, "eval", "shop", "--catalog", "rows.jsonl", "--agent", "fts5", "--sessions", "8", "--json"
    )
    summary = json.loads(done.stdout.splitlines()[-1])
    wanted = {
        "hit_rate_at_10",
        "mrr",
        "mttc",
        "technical_score",
        "total_tokens",
        "p50_ms",
        "p95_ms",
        "startup_s",
    }
    assert wanted <= set(summary)
    assert summary["total_tokens"] == 0
    assert done.stderr == ""


def test_sessions_do_not_depend_on_how_many_are_played_at_a_time(place):
    one, two = (shop(place, "--agent", "fts5", "--jobs", jobs)[-1] for jobs in ("1", "2"))
    assert one["technical_score"] == two["technical_score"]


def test_every_pair_of_suite_and_customer_is_a_run(place):
    lines = shop(place, "--agent", "popularity", "--suite", "standard,long-tail", "--customer", "wire,pidgin")
    assert [(r["suite"], r["customer"]) for r in lines[:-1]] == [
        ("standard", "wire"), ("standard", "pidgin"), ("long-tail", "wire"), ("long-tail", "pidgin"),
    ]  # fmt: skip
    assert len(lines[-1]["runs"]) == 4


def test_a_strangers_agent_is_found_where_one_stands(place):
    (place / "mine.py").write_text(
        "class Agent:\n"
        "    def __init__(self, catalog_path): self.path = catalog_path\n"
        "    def reset(self, session_id, user_profile): pass\n"
        "    def respond(self, session_id, user_message, turn, top_k):\n"
        "        return {'message': 'hm', 'ask_attribute': None, 'recommendations': [], 'usage': {'prompt_tokens': 2}}\n"
    )
    summary = shop(place, "--agent", "mine:Agent", "--sessions", "2")[-1]
    assert summary["technical_score"] == 0
    assert summary["total_tokens"] == 2 * 10 * 2


def test_runs_can_be_compared_and_replayed(place):
    first = shop(place, "--agent", "fts5")[-1]["runs"][0]
    second = shop(place, "--agent", "popularity")[-1]["runs"][0]
    done = ego(place, "eval", "diff", first, second, "--json")
    found = json.loads(done.stdout)
    assert found["sessions"] == 12
    assert found["differs_in"] == ["agent"]
    missed = json.loads(ego(place, "replay", second, "--json").stdout.splitlines()[0])["session"]
    text = ego(place, "replay", second, missed).stdout
    assert "customer" in text and "not found" in text
    compared = ego(place, "eval", "diff", first, second).stdout
    assert f"{second} minus {first}" in compared


def test_the_report_is_one_file(place):
    page = place / "report.html"
    shop(place, "--agent", "fts5", "--report", str(page))
    text = page.read_text()
    assert "<svg" in text and "src=" not in text and "<script" not in text


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("eval", "shop", "--agent", "nobody", "--catalog", "rows.jsonl"), 2),
        (("eval", "shop", "--suite", "odd", "--catalog", "rows.jsonl"), 3),
        (("eval", "shop", "--customer", "klingon", "--catalog", "rows.jsonl", "--agent", "fts5"), 3),
        (("eval", "shop", "--catalog", "./nowhere.jsonl"), 3),
        (("eval", "shop", "--show", "a,b"), 2),
        (("eval", "shop", "--catalog", "rows.jsonl", "--report", "no-folder/report.html"), 2),
        (("eval", "diff", "no-run", "no-other"), 3),
        (("eval", "cases", "odd-case.jsonl"), 2),
        (("replay", "no-run"), 3),
    ],
)
def test_what_cannot_be_done_is_one_line_and_a_code(place, arguments, code):
    done = ego(place, *arguments)
    assert done.returncode == code, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
