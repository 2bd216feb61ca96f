"""What slash commands and keys of the panes do on the screen, one function an action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ego_cli.conversation.commands import Call
    from ego_cli.tui.app import EgoApp


def leave(app: EgoApp, call: Call) -> None:
    app.leave()


ACTIONS: Mapping[str, Callable[[EgoApp, Call], None]] = {"quit": leave}
