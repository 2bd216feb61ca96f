"""A conversation kept over restarts: its state, as the log of changes, in one file a user.

The file holds what ``state.rebuild`` needs and nothing else; a file that cannot be read is set aside, never an error in a
shopper's way.
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
from ego_cli.memory.store import user_folder
from ego_cli.settings import private_folder, user_data_folder

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
    """Write the conversation in one step: a crash leaves the old file whole.

    False when the disk takes nothing: an answer is worth more than the chance to go on with it another day.
    """
    try:
        _write(session_file(user), catalogue, state, at)
    except OSError:
        return False
    return True


def _write(path: Path, catalogue: str, state: State, at: datetime) -> None:
    private_folder(path.parent)
    record = {
        "version": 1,
        "catalogue": catalogue,
        "saved": at.astimezone(UTC).isoformat(),
        "log": [encode(change) for change in state.log],
    }
    temporary = path.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        json.dump(record, handle, ensure_ascii=False)
    temporary.replace(path)


def load(user: str, catalogue: str) -> State | None:
    """The saved conversation over this catalogue, or None."""
    path = session_file(user)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["version"] != 1 or record["catalogue"] != catalogue:
            return None
        return rebuild([decode_change(item) for item in record["log"]])
    except FileNotFoundError:
        return None
    except OSError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError):
        # Written by another version or cut short by a full disk: keep it for whoever wants to look, begin afresh.
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
