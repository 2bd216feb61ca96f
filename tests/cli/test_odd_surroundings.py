"""The command line where something around it is missing, full or broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EGO = [sys.executable, "-m", "ego_cli"]
SHOP = "id,title,price,brand\n" + "".join(f"{n},Desk lamp number {n},{n + 5},Bo\n" for n in range(30))


@pytest.fixture
def lamps(ego_home: Path, tmp_path: Path) -> Path:
    """A home with a catalogue of lamps; returns the folder of catalogues."""
    file = tmp_path / "lamps.csv"
    file.write_text(SHOP)
    assert run("catalog", "add", str(file)).returncode == 0
    return ego_home / "data" / "catalogs"


def run(*words: str, **how: object) -> subprocess.CompletedProcess[str]:
    given = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 120, **how}
    done: subprocess.CompletedProcess[str] = subprocess.run([*EGO, *words], **given)  # type: ignore[call-overload]
    return done


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'"$0" -m ego_cli {command}', sys.executable],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_closed_input_is_no_input(lamps: Path) -> None:
    done = shell("-c lamps ask lamp <&-")
    assert (done.returncode, done.stderr) == (0, "") and "Desk lamp" in done.stdout
    assert shell("-c lamps chat <&-").returncode == 0
    assert shell("-c lamps ask <&-").returncode == 2


def test_a_closed_output_is_the_callers_choice(lamps: Path) -> None:
    done = shell("-c lamps ask lamp >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize("command", ["--version", "--help", "catalog list --json", "-c lamps ask lamp"])
def test_a_full_disk_behind_the_output_is_one_line(lamps: Path, command: str) -> None:
    done = shell(f"{command} >/dev/full")
    assert done.returncode == 1
    assert (
        "Traceback" not in done.stderr
        and "internal error" not in done.stderr
        and "ignored" not in done.stderr
    )


def test_bytes_that_are_no_text_do_not_end_a_conversation(lamps: Path) -> None:
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(
        [*EGO, "-c", "lamps", "chat"],
        input=b"\xff\xfe lamp\ndesk lamp\n",
        env=strict,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0 and b"Desk lamp" in done.stdout, done.stderr


def test_the_marks_around_a_paste_are_not_words(lamps: Path) -> None:
    done = run("-c", "lamps", "chat", "--json", stdin=None, input="\x1b[200~lamp\x1b[31m under 20\x1b[201~\n")
    assert json.loads(done.stdout.splitlines()[-1])["text"] == "lamp under 20"


def test_json_keeps_every_character_where_the_terminal_cannot_show_it(lamps: Path) -> None:
    plain = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = run("-c", "lamps", "ask", "₦ lamp", "--json", env=plain)
    assert json.loads(done.stdout.splitlines()[-1])["text"] == "₦ lamp"


def test_an_empty_variable_is_none(lamps: Path) -> None:
    assert run("-c", "lamps", "ask", "lamp", env={**os.environ, "EGO_USER": ""}).returncode == 0


@pytest.mark.parametrize("weight", ["nan", "inf", "-1"])
def test_a_weight_that_cannot_be_is_said(lamps: Path, weight: str) -> None:
    done = run("-c", "lamps", "ask", "lamp", env={**os.environ, "EGO_SEARCH__TITLE": weight})
    assert done.returncode == 2 and "search.title" in done.stderr


def test_what_stands_beside_a_catalogue_is_not_listed_as_one(lamps: Path) -> None:
    run("-c", "lamps", "ask", "lamp")
    (lamps / "lamps.vectors.db").touch()
    listed = json.loads(run("catalog", "list", "--json").stdout.splitlines()[-1])["catalogues"]
    assert (lamps / "lamps.signals.db").exists()
    assert {entry["name"] for entry in listed} == {"lamps", "naija", "boutique"}
    assert run("catalog", "show", "--name", "lamps.signals").returncode == 2


def test_damaged_signals_close_no_shop(lamps: Path) -> None:
    (lamps / "lamps.signals.db").write_bytes(b"damaged" * 1000)
    done = run("-c", "lamps", "chat", stdin=None, input="lamp\ncheaper\n")
    assert "did not work" not in done.stdout and "Desk lamp" in done.stdout


def test_a_catalogue_damaged_while_open_is_named(ego_home: Path) -> None:
    from ego_cli.catalog.product import Product
    from ego_cli.catalog.store import load_catalogue, open_catalogue
    from ego_cli.errors import CatalogueError

    goods = [Product(id=str(n), title=f"thing {n}", description="words " * 50) for n in range(3_000)]
    load_catalogue("shop", goods, currency=None, source="here")
    catalogue = open_catalogue("shop")
    os.truncate(catalogue.path, 20_000)
    with pytest.raises(CatalogueError, match="can no longer be read"):
        catalogue.products(range(3_000))


@pytest.mark.parametrize("given", ["₦", "naira", "ngn"])
def test_a_currency_may_be_named_as_people_do(lamps: Path, tmp_path: Path, given: str) -> None:
    done = run("catalog", "add", str(tmp_path / "lamps.csv"), "--name", "n", "--currency", given)
    assert done.returncode == 0
    assert json.loads(run("catalog", "show", "--name", "n", "--json").stdout)["currency"] == "NGN"


@pytest.mark.parametrize("name", ["", "a/b", "x.signals"])
def test_a_name_that_cannot_be_is_refused_before_anything_is_read(
    lamps: Path, tmp_path: Path, name: str
) -> None:
    done = run("catalog", "add", str(tmp_path / "missing.csv"), "--name", name)
    assert done.returncode == 2 and "cannot name a catalogue" in done.stderr


def test_a_shoppers_name_is_never_a_path_and_forgetting_hers_leaves_others(ego_home: Path) -> None:
    from datetime import UTC, datetime

    from ego_cli.conversation import session
    from ego_cli.conversation.state import State

    for user in ("../../elsewhere", "ada", "ada.obi", "*"):
        assert session.save(user, "lamps", State(), datetime.now(UTC))
    sessions = ego_home / "data" / "sessions"
    assert len(list(sessions.iterdir())) == 4
    assert not [path for path in ego_home.rglob("elsewhere*")]
    session.discard("*")
    session.discard("ada")
    assert session.load("ada.obi", "lamps") is not None and session.load("ada", "lamps") is None


def test_a_conversation_that_cannot_be_read_is_set_aside(lamps: Path, ego_home: Path) -> None:
    run("-c", "lamps", "ask", "lamp")
    (file,) = (ego_home / "data" / "sessions").glob("*.json")
    for damage in (
        "",
        "{",
        "[]",
        '{"version": 2}',
        '{"version": 2, "catalogue": "lamps"}\n[[]]\n',
        "[" * 100_000,
    ):
        file.write_text(damage)
        done = run("-c", "lamps", "chat", "--continue", stdin=None, input="lamp\n")
        assert done.returncode == 0 and "Desk lamp" in done.stdout, done.stderr
        assert file.with_suffix(".unreadable").exists()
        file.with_suffix(".unreadable").unlink()


def test_a_long_conversation_is_appended_to_and_comes_back_whole(ego_home: Path) -> None:
    from datetime import UTC, datetime

    from ego_cli.conversation import session
    from ego_cli.conversation.state import Change, State, fold

    state, now = State(), datetime.now(UTC)
    for turn in range(1, 60):
        state = fold(state, [Change("turn", turn=turn)])
        session.save("ada", "lamps", state, now)
    file = session.session_file("ada")
    assert session.load("ada", "lamps") == state
    kept = file.read_bytes()
    assert len(kept.splitlines()) == 60
    file.write_bytes(kept[:-5])  # a crash in the middle of the last line
    assert session.load("ada", "lamps") is not None
    session.save("ada", "lamps", state, now)  # not what this process left: replaced whole
    assert session.load("ada", "lamps") == state
    session.discard("ada")
    session.save("ada", "lamps", state, now)
    assert session.load("ada", "lamps") == state


def test_the_list_of_demos_is_json_when_json_is_asked_for(ego_home: Path) -> None:
    (line,) = run("demo", "--list", "--json").stdout.splitlines()
    assert all(entry["name"] and entry["title"] for entry in json.loads(line)["demos"])
