from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from asking import Server

from ego_cli.evaluation.scripted_model import ScriptedModel


@pytest.fixture(autouse=True)
def own_home(ego_home: Path) -> None:
    """Cache and usage of a test are its own."""


@pytest.fixture
def serve() -> Iterator[Server]:
    """Starts scripted servers: ``serve({"text": "hello"}, {"http": 500})``."""
    with ExitStack() as stack:
        yield lambda *steps, **values: stack.enter_context(ScriptedModel(steps, **values))
