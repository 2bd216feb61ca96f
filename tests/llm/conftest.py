from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from asking import Server

from ego_cli.evaluation.scripted_model import ScriptedModel


@pytest.fixture
def serve() -> Iterator[Server]:
    """Starts scripted servers: ``serve({"text": "hello"}, {"http": 500})``."""
    with ExitStack() as stack:
        yield lambda *steps, **values: stack.enter_context(ScriptedModel(steps, **values))
