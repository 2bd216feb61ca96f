from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def quiet_screen(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No animation, no colour setting of the machine, no files but our own."""
    monkeypatch.setenv("EGO_HOME", str(tmp_path))
    monkeypatch.setenv("EGO_CONFIG", "/home/ada/.config/ego/config.toml")  # shown on the settings screen
    monkeypatch.delenv("NO_COLOR", raising=False)
