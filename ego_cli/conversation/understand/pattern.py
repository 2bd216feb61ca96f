"""One entry of ``acts.toml``, as the functions that carry it out see it."""

from __future__ import annotations

from typing import NamedTuple

from ego_cli.conversation.understand.acts import Kind


class Pattern(NamedTuple):
    """``takes``: what follows the phrase; ``where``: "start", "any", "whole" or "tail"; ``needs``: "shown", "target", …"""

    kind: Kind
    takes: str
    where: str
    needs: str
    note: str
