"""`ego ask`, `chat` and `demo` as a script or a person at a pipe uses them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EGO = [sys.executable, "-m", "ego_cli"]


def run(*arguments: str, stdin: str = "", home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "EGO_HOME": str(home), "NO_COLOR": "1", **environment}
    return subprocess.run(
        [*EGO, *arguments], input=stdin, capture_output=True, text=True, env=env, timeout=120
    )


def test_ask_answers_with_one_json_object_on_the_last_line(ego_home: Path) -> None:
    done = run("ask", "power bank under 20k", "--json", home=ego_home)
    answer = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0
    assert answer["shown"] and all(product["price"] <= 20_000 for product in answer["shown"])
    assert {"reply", "state", "timings_ms", "tokens"} <= answer.keys()
    assert answer["tokens"] == {"prompt": 0, "completion": 0, "cost_usd": 0, "calls": []}


def test_piped_text_and_argument_combine(ego_home: Path) -> None:
    done = run("ask", "power bank", "--json", stdin="under 20k\n", home=ego_home)
    state = json.loads(done.stdout.splitlines()[-1])["state"]
    assert state["budget"]["maximum"] == 20_000 and state["wants"][0]["category"].lower().startswith(
        "power bank"
    )


def test_nothing_to_ask_is_misuse_and_nothing_found_says_so(ego_home: Path) -> None:
    empty = run("ask", home=ego_home)
    assert (empty.returncode, empty.stdout) == (2, "") and len(empty.stderr.splitlines()) == 1
    none = run("ask", "a submarine", home=ego_home)
    assert none.returncode == 3 and "submarine" in none.stdout


def test_a_piped_conversation_is_one_turn_a_line_with_comments_and_commands(ego_home: Path) -> None:
    script = "# a comment\nshow me power banks\n\n/why 1\n/nosuch\n/compare 1 2\nadd the first one\n/basket\n/quit\nnever read\n"
    done = run("chat", "--plain", stdin=script, home=ego_home)
    assert done.returncode == 0 and done.stderr == ""
    assert "Score" in done.stdout and "there is no command /nosuch" in done.stdout
    assert (
        "In your basket" in done.stdout and "comment" not in done.stdout and "never read" not in done.stdout
    )


def test_without_a_terminal_ego_itself_reads_lines_and_goes_on_where_it_was(ego_home: Path) -> None:
    first = run(stdin="I need a fan\nadd the first one\n", home=ego_home)
    again = run("--continue", stdin="what's in my basket?\n", home=ego_home)
    assert first.returncode == again.returncode == 0
    assert "1 ×" in again.stdout


def test_a_reader_that_goes_away_is_no_error(ego_home: Path) -> None:
    command = f"{sys.executable} -m ego_cli demo lagos | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        env={**os.environ, "EGO_HOME": str(ego_home)},
        timeout=120,
    )
    assert done.stdout.startswith("---") and "Traceback" not in done.stderr and done.returncode == 0


@pytest.mark.parametrize("name", ["lagos", "skincare", "wedding"])
def test_demos_play_to_their_end(ego_home: Path, name: str) -> None:
    done = run("demo", name, "--json", home=ego_home)
    turns = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(turns) >= 6
    assert any(turn["shown"] for turn in turns)


def test_a_demo_leaves_nothing_about_anybody(ego_home: Path) -> None:
    run("demo", "skincare", home=ego_home)
    assert not list(ego_home.rglob("*memory*")) and not list(ego_home.rglob("sessions"))


def test_unknown_names_are_one_line_with_what_there_is(ego_home: Path) -> None:
    for arguments in (["demo", "nosuch"], ["ask", "x", "--catalog", "nosuch"]):
        done = run(*arguments, home=ego_home)
        assert (
            done.returncode == 3 and len(done.stderr.splitlines()) == 1 and "naija" in done.stderr
        ) or "lagos" in done.stderr


def test_configuration_precedence_is_flag_environment_file_default(ego_home: Path) -> None:
    config = ego_home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('catalog = "boutique"\n', encoding="utf-8")

    def currency(*flags: str, **environment: str) -> str:
        done = run("ask", "a bag", "--json", *flags, home=ego_home, **environment)
        return str(json.loads(done.stdout.splitlines()[-1])["shown"][0]["currency"])

    assert currency() == "USD"
    assert currency(EGO_CATALOG="naija") == "NGN"
    assert currency("--catalog", "boutique", EGO_CATALOG="naija") == "USD"
    config.write_text("catalog = \n", encoding="utf-8")
    broken = run("ask", "a bag", home=ego_home)
    assert broken.returncode == 2 and "config.toml" in broken.stderr and len(broken.stderr.splitlines()) == 1


def test_after_a_forgetting_the_conversation_goes_on_and_is_kept_without_what_was_forgotten(
    ego_home: Path,
) -> None:
    said = "I need a fan\nI avoid wicker\nforget that I avoid wicker\nadd the first one\n"
    run("chat", "--plain", stdin=said, home=ego_home)
    again = run("chat", "--plain", "--continue", stdin="what's in my basket?\n", home=ego_home)
    assert "1 ×" in again.stdout
    files = [path for path in (ego_home / "data" / "sessions").iterdir()]
    assert files and not any("wicker" in path.read_text() for path in files)


def test_forgetting_everything_leaves_no_conversation_but_what_comes_after(ego_home: Path) -> None:
    said = "a power bank under 20k\nforget everything you know about me\nI need a fan\n"
    run("chat", "--plain", stdin=said, home=ego_home)
    (file,) = (ego_home / "data" / "sessions").glob("*.json")
    assert "20k" not in file.read_text() and "20000" not in file.read_text() and "fan" in file.read_text()
    done = run("chat", "--plain", "--continue", "--json", stdin="show more\n", home=ego_home)
    assert [want["category"] for want in json.loads(done.stdout)["state"]["wants"]] == ["Fans"]
    run("memory", "forget", "all", "--yes", home=ego_home)
    assert not list((ego_home / "data" / "sessions").iterdir())


def test_why_says_what_memory_brought(ego_home: Path) -> None:
    done = run(
        "chat", "--plain", stdin="I avoid leather\nshow me a bag under 20k\nwhy number 1?\n", home=ego_home
    )
    assert "I kept in mind: avoids leather" in done.stdout
