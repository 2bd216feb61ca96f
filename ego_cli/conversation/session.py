"""A conversation kept over restarts: its state, as the log of changes, in one file a user.

The file holds what ``state.rebuild`` needs and nothing else: a line that says whose it is, then a line of changes for each
save, so that a turn costs the same after five hundred others. A line that a crash cut short is left out; a file that
cannot be read is set aside, never an error in a shopper's way.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ego_cli.conversation import state as values
from ego_cli.conversation.state import Change, State, rebuild
from ego_cli.memory.layout import user_folder
from ego_cli.settings import private_folder, user_data_folder

_VERSION = 2
_CLASSES = {
    cls.__name__: cls
    for cls in (
        values.BasketLine,
        values.Budget,
        values.Erased,
        values.Excluded,
        values.Pending,
        values.ShownList,
        values.Slot,
        values.Want,
    )
}


def session_file(user: str) -> Path:
    """Where the last conversation of a user lies: under the name of their memory folder, never their own words."""
    return user_data_folder() / "sessions" / f"{user_folder(user).name}.json"


def save(user: str, catalogue: str, state: State, at: datetime) -> bool:
    """Keep the conversation: what is new is appended, and anything else replaces the file in one step.

    False when the disk takes nothing: an answer is worth more than the chance to go on with it another day.
    """
    path = session_file(user)
    try:
        if not _append(path, catalogue, state.log):
            _write(path, catalogue, state.log, at)
        _kept[path] = _Kept(catalogue, state.log, path.stat().st_size)
    except OSError:
        _kept.pop(path, None)
        return False
    return True


@dataclasses.dataclass(frozen=True, slots=True)
class _Kept:
    """What this process left in a file of ``size`` bytes."""

    catalogue: str
    log: tuple[Change, ...]
    size: int


_kept: dict[Path, _Kept] = {}


def _append(path: Path, catalogue: str, log: tuple[Change, ...]) -> bool:
    """Add what is new in ``log``; False when the file does not hold its beginning."""
    before = _kept.get(path)
    if before is None or before.catalogue != catalogue or len(before.log) > len(log):
        return False
    if any(old is not new for old, new in zip(before.log, log, strict=False)):
        return False
    try:
        with path.open("r+b") as handle:  # never made anew: another process may have discarded it
            if handle.seek(0, os.SEEK_END) != before.size:
                return False
            if new := log[len(before.log) :]:
                handle.write(_line([encode(change) for change in new]))
    except FileNotFoundError:
        return False
    return True


def _write(path: Path, catalogue: str, log: tuple[Change, ...], at: datetime) -> None:
    private_folder(path.parent)
    temporary = path.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(
            _line({"version": _VERSION, "catalogue": catalogue, "saved": at.astimezone(UTC).isoformat()})
        )
        handle.write(_line([encode(change) for change in log]))
    temporary.replace(path)


def _line(value: Any) -> bytes:
    # A lone surrogate of a broken keyboard cannot be written as UTF-8; escaped, everything can.
    return json.dumps(value).encode("ascii") + b"\n"


def load(user: str, catalogue: str) -> State | None:
    """The saved conversation over this catalogue, or None."""
    path = session_file(user)
    try:
        head, *lines = path.read_text(encoding="utf-8").split("\n")
        record = json.loads(head)
        if record["version"] != _VERSION or record["catalogue"] != catalogue:
            return None
        whole = lines[:-1]  # every finished line ends in a line end; what stands after the last was cut short
        return rebuild([decode_change(item) for line in whole for item in json.loads(line)])
    except OSError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError):
        # Written by another version or damaged: keep it for whoever wants to look, begin afresh.
        with suppress(OSError):
            path.replace(path.with_suffix(".unreadable"))
        return None


def discard(user: str) -> bool:
    """Delete the saved conversation of a user; whether there was one."""
    found = False
    file = session_file(user)
    for path in file.parent.glob(f"{file.stem}.*"):
        path.unlink(missing_ok=True)
        found = True
    return found


def encode(value: Any) -> Any:
    """A value of the state as JSON types; dataclasses carry their class name under "$"."""
    if isinstance(value, Change):
        return {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"$": type(value).__name__, **parts}
    if isinstance(value, Mapping):
        return {"$": "map", "items": {str(key): encode(item) for key, item in value.items()}}
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    return value


def decode_change(record: Mapping[str, Any]) -> Change:
    """The change that ``encode`` wrote."""
    return Change(**{name: _decode(value) for name, value in record.items()})


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    name = value["$"]
    if name == "map":
        return MappingProxyType({key: _decode(item) for key, item in value["items"].items()})
    parts = {key: _decode(item) for key, item in value.items() if key != "$"}
    return _CLASSES[name](**parts)
