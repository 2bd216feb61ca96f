"""Make an assistant quick before anybody speaks to it."""

from __future__ import annotations

import gc
from copy import copy

from ego_cli.conversation.turn import Assistant


def warm(assistant: Assistant) -> None:
    """Make an open shop quick from its first turn on.

    A turn that nobody hears brings in what turns need, and the garbage collector is told that it stays: a full round over it
    takes a tenth of a second in the middle of a conversation.
    """
    unheard = copy(assistant)
    unheard.memory = unheard.worker = unheard.models = unheard.signals = unheard.dense = unheard.judge = None
    unheard.keep_session, unheard.troubles, unheard.scores = False, [], {}
    unheard.respond(next(iter(assistant.catalogue.facets.values("leaf")), "shoes"))
    gc.freeze()
