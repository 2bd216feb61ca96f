"""`ego llm` and `ego usage` as a person or a script uses them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ego_cli.evaluation.scripted_model import ScriptedModel


def run(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "EGO_HOME": str(home), "NO_COLOR": "1", **environment}
    return subprocess.run(
        [sys.executable, "-m", "ego_cli", *arguments],
        capture_output=True,
        text=True,
        env=env,
        timeout=120,
        input="",
    )


def last_line(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return value


def test_without_a_choice_everything_is_rules_only(ego_home: Path) -> None:
    done = run("llm", "list", home=ego_home)
    assert done.returncode == 0 and done.stdout.rstrip().endswith("Now: rules only.")
    assert {"dashscope", "gemini", "openai", "ollama"} <= set(done.stdout.split())
    none = run("llm", "test", home=ego_home)
    assert none.returncode == 2 and "ego llm use" in none.stderr


def test_a_key_in_the_environment_chooses_nothing(ego_home: Path) -> None:
    done = run("llm", "list", "--json", home=ego_home, OPENAI_API_KEY="sk-not-for-us")
    assert last_line(done) == {"status": "rules only", "enabled": True, "chain": []}


def test_a_choice_keeps_the_rest_of_the_file_and_holds_no_key(ego_home: Path) -> None:
    config = ego_home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        '# mine\nuser = "ada"  # that is me\n\n[llm]\nturn_deadline_s = 5.0\n\n[tui]\ntheme = "ansi-dark"\n'
    )
    done = run("llm", "use", "dashscope", "gemini", home=ego_home, DASHSCOPE_API_KEY="sk-secret")
    text = config.read_text()
    assert done.returncode == 0 and "secret" not in text + done.stdout + done.stderr
    assert "# mine" in text and "# that is me" in text
    read = tomllib.loads(text)
    assert (read["user"], read["tui"], read["llm"]["turn_deadline_s"]) == ("ada", {"theme": "ansi-dark"}, 5.0)
    assert [provider["name"] for provider in read["llm"]["providers"]] == ["dashscope", "gemini"]
    run("llm", "off", home=ego_home)
    assert last_line(run("llm", "list", "--json", home=ego_home))["status"] == "rules only"
    assert run("llm", "use", home=ego_home).returncode == 0
    assert tomllib.loads(config.read_text())["llm"]["enabled"] is True


def test_a_key_typed_where_its_name_belongs_is_refused_and_not_repeated(ego_home: Path) -> None:
    done = run("llm", "use", "openai", "--key-env", "sk-proj-1234567890abcdef", home=ego_home)
    assert done.returncode == 2 and "1234567890" not in done.stdout + done.stderr
    assert not (ego_home / "config" / "config.toml").exists()


def test_a_presets_key_does_not_go_to_another_address(ego_home: Path) -> None:
    run("llm", "use", "openai", "--base-url", "http://127.0.0.1:9/v1", home=ego_home)
    (provider,) = tomllib.loads((ego_home / "config" / "config.toml").read_text())["llm"]["providers"]
    assert "api_key_env" not in provider and "prices" in provider


def test_a_working_model_is_tested_asked_and_accounted_for(ego_home: Path) -> None:
    with ScriptedModel([{"text": "ready"}]) as server:
        run("llm", "use", "local", "--base-url", server.url, "--model", "small", home=ego_home)
        tested = run("llm", "test", home=ego_home)
        assert tested.returncode == 0 and "local (small): answered in" in tested.stdout
        asked = run("ask", "power bank under 20k", "--json", home=ego_home)
    calls = last_line(asked)["tokens"]["calls"]
    used = last_line(run("usage", "--json", home=ego_home))
    assert asked.returncode == 0 and used["calls"] == len(calls) > 0
    assert used["prompt_tokens"] == sum(call["prompt_tokens"] for call in calls)
    assert "phrase" in run("usage", home=ego_home).stdout


def test_a_model_that_is_away_exits_with_4_and_one_line(ego_home: Path) -> None:
    run("llm", "use", "local", "--base-url", "http://127.0.0.1:9/v1", "--model", "small", home=ego_home)
    done = run("llm", "test", home=ego_home)
    assert done.returncode == 4 and done.stderr == "ego: local: cannot be reached\n"


@pytest.mark.parametrize("chain", ["dashscope,gemini", '[{"name": "dashscope"}, {"name": "gemini"}]'])
def test_the_chain_can_stand_in_the_environment(ego_home: Path, chain: str) -> None:
    done = run("llm", "list", "--json", home=ego_home, EGO_LLM__PROVIDERS=chain)
    assert last_line(done)["chain"] == ["dashscope", "gemini"]


def test_nothing_of_openai_is_imported_without_a_model() -> None:
    code = "import sys, ego_cli.conversation.opening, ego_cli.cli.llm; print([m for m in ('openai', 'keyring', 'tomlkit') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


LIST_FIRST = {"EGO_LLM__USES": "phrase", "EGO_LLM__CACHE": "false"}


def ask_through(
    server: ScriptedModel, home: Path, *options: str, **environment: str
) -> subprocess.Popen[str]:
    run("llm", "use", "local", "--base-url", server.url, "--model", "small", home=home)
    talk = subprocess.Popen(
        [sys.executable, "-m", "ego_cli", "chat", "--plain", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "EGO_HOME": str(home), **LIST_FIRST, **environment},
    )
    assert talk.stdin is not None
    talk.stdin.write("power bank under 20k\n")
    talk.stdin.close()
    talk.stdin = None
    return talk


def test_lines_do_not_wait_for_a_slow_model_and_end_with_one_notice(ego_home: Path) -> None:
    with ScriptedModel([{"sleep": 120}]) as server:
        talk = ask_through(server, ego_home, EGO_LLM__TURN_DEADLINE_S="3")
        assert talk.stdout is not None
        before = [talk.stdout.readline() for _ in range(3)]
        assert "1. " in before[1] and talk.poll() is None  # the list is there while the model is waited for
        rest, errors = talk.communicate(timeout=60)
    assert rest.rstrip().splitlines()[-1].startswith("No help from a model this time")
    assert rest.count("No help") == 1 and errors == ""


def test_the_words_of_a_model_follow_the_list_of_the_rules(ego_home: Path) -> None:
    offline = last_line(run("ask", "power bank under 20k", "--json", home=ego_home))
    words = f"{offline['shown'][0]['title']} is for you."
    with ScriptedModel([{"text": words}]) as server:
        printed, _ = ask_through(server, ego_home).communicate(timeout=60)
        as_json, _ = ask_through(server, ego_home, "--json").communicate(timeout=60)
    assert printed.rstrip() == f"{offline['reply']}\n{words}"
    (line,) = as_json.splitlines()
    assert json.loads(line)["reply"].startswith(words)
