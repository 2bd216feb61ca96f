"""Labelled rows from JSON lines: what every evaluation over a file begins with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ego_cli.errors import MisuseError


def labelled_rows(path: Path, needed: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The objects of a file, one a line; blank lines are passed over.

    Raises ``MisuseError`` with file and line for what is not JSON or lacks one of the ``needed`` keys.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MisuseError(f"cannot read {path}: {error.strerror}") from error
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise MisuseError(f"{path}, line {number}: not JSON: {error.msg}") from error
        if not isinstance(row, dict) or any(key not in row for key in needed):
            raise MisuseError(f"{path}, line {number}: {' and '.join(needed)} are needed")
        yield row
