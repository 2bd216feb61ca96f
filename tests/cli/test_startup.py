"""Nothing heavy is imported before it is needed."""

import json
import subprocess
import sys

import pytest

HEAVY = (
    "numpy",
    "onnxruntime",
    "openai",
    "textual",
    "rich",
    "pydantic",
    "sentence_transformers",
    "fastapi",
    "tokenizers",
)

PROBE = """
import json, sys
sys.argv = ["ego", *{arguments!r}]
try:
    from ego_cli.__main__ import main
    main()
except SystemExit:
    pass
print(json.dumps([name for name in {heavy!r} if name in sys.modules]))
"""


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["paths"], ["recall", "a linen shirt", "--json"]]
)
def test_light_commands_import_nothing_heavy(arguments: list[str]) -> None:
    code = PROBE.format(arguments=arguments, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout.splitlines()[-1]) == [], done.stdout


def test_version_does_not_even_import_the_command_line() -> None:
    code = "import sys; sys.argv=['ego','--version']; from ego_cli.__main__ import main; main(); print('typer' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False"
