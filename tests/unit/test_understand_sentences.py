"""Sentences of every kind keep the promises written beside them in ``tests/conversations/understanding.jsonl``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conversations"))
from sentences import broken, rows

ROWS = list(rows())


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_sentence_keeps_its_promises(row: dict[str, Any]) -> None:
    assert broken(row) == []


def test_there_are_sentences_in_english_pidgin_and_both() -> None:
    from sentences import read

    languages = {read(row).language for row in ROWS}
    assert languages == {"en", "pcm", "mixed"}
