"""What is kept in the repository says nothing about the machine that it was made on, or about how it was made."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Written in pieces, so that this file may be read by its own test.
MACHINE = ("/wo" + "rk/", "/ro" + "ot/", "/t" + "mp/", "/o" + "pt/")
REGISTRIES = (
    "pypi" + ".org",
    "python" + "hosted",
    "npmjs" + ".",
    "deb." + "debian",
    "hugging" + "face.co",
    "conda" + ".org",
)
WORKING = (
    r"\bissue" + r"s? #?\d",
    r"\b[Pp]art" + r" \d+\b",
    r"(?:DESIGN|STYLE|LESSONS)" + r"\.md",
    r"\bbrie" + r"f\.md",
    r"\bsub" + r"-?agents?\b",
    r"\bas-a-" + r"stranger\b",
    r"\bCla" + r"ude\b",
)
PATH = re.compile("|".join(rf"(?<![\w.~/]){re.escape(folder)}" for folder in MACHINE))
NOT_PROSE = {"vocab.txt"}  # a model's vocabulary: single words


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Every text file that is kept, by its name."""
    try:
        names = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    found = {}
    for name in filter(None, names):
        path = ROOT / name
        if path.is_file() and path.name not in NOT_PROSE:
            data = path.read_bytes()
            if b"\0" not in data:
                found[name] = data.decode("utf-8")
    return found


def lines_with(texts: dict[str, str], pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in texts.items()
        if pattern.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_there_is_something_to_read(texts: dict[str, str]) -> None:
    assert {"README.md", "pyproject.toml", ".ci/run"} <= set(texts)


def test_no_file_names_a_path_of_one_machine(texts: dict[str, str]) -> None:
    assert lines_with(texts, PATH) == []


def test_no_file_names_a_package_registrys_host(texts: dict[str, str]) -> None:
    assert lines_with(texts, re.compile("|".join(map(re.escape, REGISTRIES)), re.I)) == []


def test_no_file_tells_how_it_came_to_be(texts: dict[str, str]) -> None:
    assert lines_with(texts, re.compile("|".join(WORKING))) == []


def test_no_generated_or_private_file_is_kept(texts: dict[str, str]) -> None:
    private = re.compile(r"(^|/)(\.env|\.venv|node_modules|__pycache__|.*\.(db|sqlite|pyc|pem|key))(/|$)")
    assert [name for name in texts if private.search(name)] == []
