"""Memory by commands: events in, questions, forgetting, exports, the quiz; exit codes and JSON lines."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def ego(home: Path, *arguments: str, said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ego_cli", *arguments],
        input=said, capture_output=True, text=True, env={**os.environ, "EGO_HOME": str(home)}, check=False,
    )  # fmt: skip


def lines(result: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


EVENTS = '{"type": "preference", "text": "I avoid wool", "importance": 0.9}\nnot json\n{"type": "rating", "product": "Torva sneakers", "stars": 5}\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    ego(tmp_path, "ingest", "-", said=EVENTS)
    return tmp_path


def test_ingest_keeps_good_lines_and_names_bad_ones(tmp_path: Path) -> None:
    result = ego(tmp_path, "ingest", "-", "--json", said=EVENTS)
    assert result.returncode == 0
    assert lines(result)[-1] == {"kept": 2, "facts": 1, "bad": 1, "bad_lines": [2]}
    assert result.stderr.startswith("line 2: not JSON")


def test_recall_prints_json_lines_and_says_why(home: Path) -> None:
    result = ego(home, "recall", "show me a jumper", "--json")
    *found, summary = lines(result)
    assert found[0]["text"] == "avoids wool"
    assert "bears on the request" in found[0]["why"]
    assert summary["results"] == len(found)
    assert summary["tokens"] == sum(item["tokens"] for item in found)
    assert "[avoidance that bears on the request]" in ego(home, "recall", "show me a jumper", "--why").stdout


def test_recall_of_nothing_leaves_with_3(home: Path) -> None:
    assert ego(home, "recall", "the moon").returncode == 3
    assert ego(home, "recall", "wool", "--max-tokens", "0").returncode == 3


def test_recall_imports_nothing_heavy(home: Path) -> None:
    code = (
        "import sys\nfrom ego_cli.__main__ import main\nsys.argv=['ego','recall','wool','--json']\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([m for m in ('numpy','onnxruntime','openai','textual','rich','ego_cli.memory.schema','ego_cli.memory.extract') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "EGO_HOME": str(home)},
        check=True,
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_forget_reports_the_true_number_and_asks_before_everything(home: Path) -> None:
    assert ego(home, "memory", "forget", "all").returncode == 2
    assert lines(ego(home, "memory", "forget", "wool", "--json")) == [{"forgotten": 1}]
    assert ego(home, "memory", "forget", "wool").returncode == 3
    assert ego(home, "memory", "forget", "everything", "--yes").stdout == "forgotten: 2 memories\n"


def test_show_pin_edit_restore(home: Path) -> None:
    ego(home, "ingest", "-", said='{"type": "preference", "text": "I love wool"}')
    rows = lines(ego(home, "memory", "show", "--history", "--json"))
    ended = next(row for row in rows[:-1] if row["until"])
    assert ended["text"] == "avoids wool"
    assert ego(home, "memory", "restore", str(ended["id"])).returncode == 0
    live = next(
        row for row in lines(ego(home, "memory", "show", "--json"))[:-1] if row["kind"] == "avoidance"
    )
    assert ego(home, "memory", "pin", str(live["id"])).stdout == "pinned: avoids wool\n"
    assert (
        ego(home, "memory", "edit", str(live["id"]), "avoids silk").stdout == f"{live['id']}: avoids silk\n"
    )
    assert ego(home, "memory", "pin", "99").returncode == 3


def test_export_to_a_file_is_private_and_comes_back(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    assert ego(home, "memory", "export", "--format", "podium", "--out", str(path)).returncode == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["schemaVersion"] == 2
    assert ego(home, "memory", "import", str(path), "--user", "bayo").stdout == "imported: 2\n"
    assert ego(home, "memory", "users").stdout == "bayo\nme\n"
    assert ego(home, "memory", "import", str(tmp_path / "none")).returncode == 2


def test_the_quiz_takes_answers_from_a_file_and_never_prompts_without_a_terminal(home: Path) -> None:
    assert ego(home, "memory", "quiz").returncode == 2
    result = ego(home, "memory", "quiz", "--file", "-", said='{"shoe_size": "42", "name": null}')
    assert result.stdout == "noted: wears size 42 shoe\n"
    assert ego(home, "memory", "quiz", "--file", "-", said='{"star_sign": "lion"}').returncode == 2


def test_prune_consolidate_snapshot_and_curve_run(home: Path) -> None:
    assert ego(home, "prune", "--policy", "ego-v1", "--dry-run").stdout.endswith("(dry run)\n")
    assert ego(home, "prune", "--policy", "none").returncode == 2
    assert lines(ego(home, "memory", "consolidate", "--json"))[-1]["summary"].startswith(
        "Avoids: avoids wool"
    )
    assert lines(ego(home, "memory", "snapshot"))[0]["agentMemory"]["schemaVersion"] == 2
    assert lines(ego(home, "memory", "curve", "--json"))[-1]["days"] == 180
    assert "ego-v1" in ego(home, "memory", "curve").stdout
    assert lines(ego(home, "nudges", "--json"))[-1]["nudges"] >= 0
