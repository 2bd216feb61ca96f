"""The tables that the screen works from: commands, keys, colours, and what it remembers of itself."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.conversation.commands import COMMANDS, complete, is_command, parse
from ego_cli.errors import MisuseError
from ego_cli.tui import keys
from ego_cli.tui.actions import ACTIONS
from ego_cli.tui.remembered import first_look, remember_theme, with_theme


def test_commands_become_the_sentences_that_they_stand_for() -> None:
    assert parse("/why 2").sentence == "why number 2?"
    assert parse("/why").sentence == "why these?"
    assert parse("/compare 1, 3").sentence == "compare 1 and 3"
    assert parse("/forget that I like red").sentence == "forget that I like red"
    assert parse("/exit").command.name == "quit"


@pytest.mark.parametrize("line", ["/wyh", "/compare 1", "/undo 2", "/forget", "/why x", "/why 0", "/details"])
def test_a_command_that_cannot_be_carried_out_says_so_in_one_line(line: str) -> None:
    with pytest.raises(MisuseError) as said:
        parse(line)
    assert "\n" not in str(said.value) and said.value.hint != ""


def test_every_command_does_something_and_every_action_has_its_command() -> None:
    for command in COMMANDS:
        assert command.sentence or command.bare or command.action
        if command.action:
            assert command.action in ACTIONS
    assert set(ACTIONS) == {command.action for command in COMMANDS if command.action}


@given(st.text(max_size=40))
def test_no_line_breaks_the_reading_of_commands(line: str) -> None:
    complete(line)
    if is_command(line):
        try:
            parse(line)
        except MisuseError as said:
            assert str(said)


def test_completion_offers_what_a_slash_can_become_and_nothing_after_the_name() -> None:
    assert [command.name for command in complete("/re")] == ["restore", "remember"]
    assert len(complete("/")) == len(COMMANDS)
    assert complete("/why 2") == () == complete("power bank")


def test_ids_of_keys_are_unique_and_no_two_in_one_place_share_a_key() -> None:
    assert len(keys.IDS) == len(keys.KEYS)
    for where in keys.PLACES:
        here = [key for entry in keys.KEYS if entry.where == where for key in entry.key.split(",")]
        assert len(here) == len(set(here)), where


def test_keys_that_editors_terminals_keep_are_never_the_only_way() -> None:
    taken = {"f1", "f5", "ctrl+e", "ctrl+j", "ctrl+k", "ctrl+q"}
    for key in keys.KEYS:
        if key.id != "app.quit":  # /quit, and Ctrl+C twice
            assert set(key.key.split(",")) - taken, key.id


def test_keys_are_spelled_as_people_write_them() -> None:
    assert keys.spell("ctrl+o") == "^O"
    assert keys.spell("shift+enter") == "Shift+Enter"
    assert keys.spell("alt+down") == "Alt+↓"


def test_a_theme_is_kept_and_the_rest_of_the_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        '# mine\ncatalog = "naija"\n\n[tui]\ntheme = "nord" # blue\nkeys = { "app.stop" = "f9" }\n'
    )
    assert "kept" in remember_theme(path, "ego-light")
    assert path.read_text().startswith('# mine\ncatalog = "naija"\n')
    assert first_look(path) == ("ego-light", {"app.stop": "f9"})
    assert "kept" in remember_theme(tmp_path / "new" / "config.toml", "ansi-dark")


@given(
    st.sampled_from(
        ["", "a = 1\n", "[tui]\n", "[tui]\nkeys = {}\n[llm]\ntheme = 1\n", "[tui.keys]\nx = 'y'\n", "oops ="]
    )
)
def test_setting_a_theme_changes_nothing_else_or_nothing_at_all(text: str) -> None:
    new = with_theme(text, "nord")
    if new is not None:
        before = tomllib.loads(text)
        before.setdefault("tui", {})["theme"] = "nord"
        assert tomllib.loads(new) == before


def test_a_broken_configuration_does_not_keep_the_first_frame_away(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    for text in ("oops =", "tui = 3", "[tui]\ntheme = 4\nkeys = 5", '[tui.keys]\n"app.stop" = 1'):
        path.write_text(text)
        assert first_look(path) == ("", {})


def test_nothing_heavy_is_imported_before_the_first_frame() -> None:
    heavy = "numpy pydantic openai onnxruntime tokenizers typer sqlite3 fastapi ego_cli.settings ego_cli.conversation.turn"
    code = (
        "import sys; import ego_cli.tui.start, ego_cli.tui.app, ego_cli.tui.remembered;"
        f"print([name for name in {heavy.split()} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"
