"""What a person is told on stderr while she waits."""

from __future__ import annotations

import threading

import pytest

from ego_cli import console


def test_slow_work_says_what_it_is_at_and_quick_work_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    heard = threading.Event()
    monkeypatch.setattr(console, "note", lambda words: (said.append(words), heard.set()))
    with console.said_if_slow("quick", after_s=3600):
        pass
    with console.said_if_slow("slow", after_s=0):
        assert heard.wait(10)
    assert said == ["slow"]
