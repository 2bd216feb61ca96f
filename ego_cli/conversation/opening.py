"""Put an assistant together from the settings: its catalogue, its memory, the last conversation."""

from __future__ import annotations

from uuid import uuid4

from ego_cli.catalog.store import open_catalogue
from ego_cli.conversation import session
from ego_cli.conversation.turn import Assistant
from ego_cli.settings import Settings


def open_assistant(settings: Settings, *, resume: bool = False, remember: bool = True) -> Assistant:
    """An assistant over ``settings.catalog`` for ``settings.user``.

    ``resume`` goes on with the user's last conversation over that catalogue; ``remember=False`` keeps nothing (demos).
    """
    catalogue = open_catalogue(settings.catalog)
    memory = None
    if remember and settings.memory.enabled:
        from ego_cli.memory.memory import open_memory

        memory = open_memory(settings.user, settings=settings)
    assistant = Assistant(catalogue, settings, memory=memory, session=uuid4().hex[:12])
    if resume and (state := session.load(settings.user, catalogue.name)):
        assistant.state = state
    return assistant
