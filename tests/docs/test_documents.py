"""The documents name the commands, options and settings that there are, and no others.

``EGO_WRITE_DOCS=1 pytest -n 0 tests/docs`` writes the generated parts anew.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from ego_cli.cli import COMMANDS, app
from ego_cli.conversation.commands import COMMANDS as SLASH_COMMANDS
from ego_cli.ranking.fusion import WEIGHTS
from ego_cli.ranking.profiles import PROFILES
from ego_cli.settings import Settings, demo_catalogue_file

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
REFERENCE = ROOT / "docs" / "commands.md"
CONFIGURATION = ROOT / "docs" / "configuration.md"

INTRODUCTION = """# Commands

Made from the program itself by `EGO_WRITE_DOCS=1 pytest -n 0 tests/docs`; a test holds it to what the program says.
Without a command, `ego` starts the screen; without a terminal, or with `--plain`, it talks in lines.

With `--json` a command prints JSON lines only, and the last line is a summary object. Exit codes: 0 done, 1 failed,
2 misuse, 3 nothing found, 4 a needed service is away, 130 interrupted.
"""


def commands(command: Any, path: str = "ego") -> Iterator[tuple[str, Any]]:
    """Every command with its full name, groups before what is in them."""
    yield path, command
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from commands(command.get_command(None, name), f"{path} {name}")


def told(command: Any) -> str:
    """The first paragraph of a command's help."""
    return " ".join((command.help or "").split("\n\n")[0].split())


def named(param: Any) -> str:
    """An argument as one types it: `FILE`, `[NAME]`."""
    name = (param.metavar or param.name).upper().strip("_[]{}")
    return name if param.required else f"[{name}]"


def arguments(command: Any) -> list[Any]:
    return [param for param in command.params if param.param_type_name == "argument"]


def options(command: Any) -> list[tuple[str, str]]:
    """Each argument that needs a word of help, and each option, with its help."""
    rows = [(f"`{named(param)}`", param.help) for param in arguments(command) if param.help]
    for param in command.params:
        if (
            param.param_type_name == "option"
            and not param.hidden
            and param.name not in ("help", "install_completion", "show_completion")
        ):
            rows.append((", ".join(f"`{word}`" for word in (*param.opts, *param.secondary_opts)), param.help))
    return [(name, " ".join((text or "").split())) for name, text in rows]


def reference() -> str:
    """`docs/commands.md`."""
    parts = [INTRODUCTION]
    for path, command in commands(get_command(app)):
        rows = options(command)
        if path != "ego" and hasattr(command, "list_commands"):
            parts.append(f"\n## {path}\n\n{told(command)}\n")
            continue
        level = "##" if path.count(" ") < 2 else "###"
        usage = " ".join([path, *map(named, arguments(command))])
        parts.append(f"\n{level} {usage}\n\n{told(command)}\n")
        if rows:
            parts.append("\n| | |\n|---|---|\n" + "".join(f"| {name} | {text} |\n" for name, text in rows))
    parts.append("\n## In the conversation\n\n| | |\n|---|---|\n")
    parts += [f"| `{command.usage}` | {command.help} |\n" for command in SLASH_COMMANDS]
    return "".join(parts)


def overview() -> str:
    """The README's table: every command and its line of help."""
    return "".join(
        ["| | |\n|---|---|\n", *(f"| `ego {name}` | {entry[2]} |\n" for name, entry in COMMANDS.items())]
    )


def held(path: Path, wanted: str) -> None:
    """The document must be this. When asked to, write it."""
    if os.environ.get("EGO_WRITE_DOCS") == "1":
        path.write_text(wanted, encoding="utf-8")
    found = path.read_text(encoding="utf-8") if path.exists() else ""
    assert found == wanted, f"{path.name} is out of date: EGO_WRITE_DOCS=1 pytest -n 0 tests/docs"


def test_every_command_and_option_says_what_it_does() -> None:
    dumb = [path for path, command in commands(get_command(app)) if not told(command)]
    for path, command in commands(get_command(app)):
        dumb += [f"{path} {name}" for name, text in options(command) if not text]
    assert dumb == []


def test_the_reference_is_what_the_program_says() -> None:
    held(REFERENCE, reference())


def test_the_readme_lists_every_command() -> None:
    before, begin, rest = README.read_text(encoding="utf-8").partition("<!-- commands -->\n\n")
    _, end, after = rest.partition("\n<!-- /commands -->")
    assert begin and end
    held(README, before + begin + overview() + end + after)


def documents() -> list[Path]:
    return [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_every_command_that_is_written_down_exists(document: Path) -> None:
    known = {path for path, _ in commands(get_command(app))}
    groups = {path for path, command in commands(get_command(app)) if hasattr(command, "list_commands")}
    written = re.findall(r"(?:^|[`\s/])ego ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?", _code(document), re.M)
    assert written or document.name not in ("README.md", "commands.md")
    for first, second in written:
        assert f"ego {first}" in known, f"ego {first}"
        if f"ego {first}" in groups and second:
            assert f"ego {first} {second}" in known, f"ego {first} {second}"


def _code(document: Path) -> str:
    """What stands between backquotes, and fenced blocks of commands (transcripts are other blocks)."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh)\n(.*?)^```", text, re.S | re.M)
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return "\n".join([*blocks, *(f"`{span}`" for span in re.findall(r"`([^`\n]+)`", text))])


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_every_link_leads_to_a_file(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text) + re.findall(r'src="([^"]+)"', text)
    missing = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert missing == []


def keys(settings: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting by its dotted name, with its default."""
    for field in fields(settings):
        default = getattr(settings, field.name)
        if is_dataclass(default):
            yield from keys(default, f"{path}{field.name}.")
        else:
            yield f"{path}{field.name}", default


def test_every_setting_is_documented_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([\w.]+)` \| (.*?) \|", CONFIGURATION.read_text(encoding="utf-8"), re.M))
    assert {name: rows.get(name) for name, _ in keys(Settings())} == {
        name: shown(value) for name, value in keys(Settings())
    }


def shown(value: Any) -> str:
    """A default as the table writes it."""
    if value == "" or value == () or value == {}:
        return "none"
    if isinstance(value, tuple):
        return ", ".join(f"`{part}`" for part in value)
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def test_the_transcript_shows_products_of_the_demo_at_their_prices() -> None:
    transcript = re.search(r"^```text\n(.*?)^```", README.read_text(encoding="utf-8"), re.S | re.M)
    assert transcript is not None
    told_of = re.findall(r"^\d+\. (.+?) · \$([\d.]+) · ([\d.]+) from ([\d,]+) people", transcript[1], re.M)
    rows = [
        json.loads(line)
        for line in demo_catalogue_file("boutique.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    sold = {(row["title"], float(row["price"])) for row in rows if row.get("price") is not None}
    assert told_of
    assert [title for title, price, _, _ in told_of if (title, float(price)) not in sold] == []


def test_every_term_of_a_score_is_explained() -> None:
    explained = (ROOT / "docs" / "ranking.md").read_text(encoding="utf-8")
    terms = (
        {term for profile in PROFILES.values() for term in profile.terms} | set(WEIGHTS) | {"cross_encoder"}
    )
    assert sorted(term for term in terms if f"`{term}`" not in explained) == []
