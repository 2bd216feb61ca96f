"""What tests of every area share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is slow, not wrong: no example is judged by the clock.
settings.register_profile("ego", deadline=None)
settings.load_profile("ego")

# No test calls a language model over a network, whatever the machine has configured; child processes inherit it.
os.environ["EGO_ONLY_LOCAL_MODELS"] = "1"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of open data beside the repository; tests that need it are skipped where it is absent."""
    folder = Path(__file__).resolve().parents[1].parent / "shared"
    if not folder.is_dir():
        pytest.skip("the shared data folder is not here")
    return folder


@pytest.fixture
def ego_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of ego's own for one test: data, configuration and cache below a temporary folder."""
    home = tmp_path / "ego"
    monkeypatch.setenv("EGO_HOME", str(home))
    monkeypatch.delenv("EGO_CONFIG", raising=False)
    monkeypatch.delenv("EGO_CATALOG", raising=False)
    return home
