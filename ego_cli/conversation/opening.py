"""Put an assistant together from the settings: its catalogue, its memory, the last conversation."""

from __future__ import annotations

from contextlib import suppress
from uuid import uuid4

from ego_cli.catalog.signals import SignalStore
from ego_cli.catalog.store import open_catalogue
from ego_cli.conversation import session
from ego_cli.conversation.remembering import memory_is_off
from ego_cli.conversation.turn import Assistant
from ego_cli.errors import CatalogueError, EgoError, MemoryStoreError
from ego_cli.settings import Settings


def open_assistant(settings: Settings, *, resume: bool = False, remember: bool = True) -> Assistant:
    """An assistant over ``settings.catalog`` for ``settings.user``.

    ``resume`` goes on with the user's last conversation over that catalogue; ``remember=False`` keeps nothing on disk
    (demos).
    """
    catalogue = open_catalogue(settings.catalog)
    if not remember:
        return Assistant(catalogue, settings)
    assistant = Assistant(catalogue, settings, session=uuid4().hex[:12], keep_session=True)
    signals = SignalStore(catalogue.path)
    with suppress(
        CatalogueError
    ):  # what others looked at is a nicety: a full disk or a damaged file closes no shop
        assistant.shop_signals = signals.snapshot(assistant.clock())
        assistant.signals = signals
    if settings.ranking.dense:
        from ego_cli.catalog.embedding import DenseSource

        assistant.dense = DenseSource(catalogue, settings.ranking.encoder)
    if settings.ranking.cross_encoder:
        from ego_cli.ranking.rerank import load_judge

        try:
            assistant.judge = load_judge(settings.ranking.cross_encoder)
        except EgoError as error:
            assistant.troubles.append(f"No second look at the best: {error}")
    if settings.llm.enabled and settings.llm.providers:
        from ego_cli.conversation.models import Models
        from ego_cli.llm.ledger import Ledger

        assistant.models = Models(settings.llm, user=settings.user, ledger=Ledger())
    if settings.memory.enabled:
        from ego_cli.memory.consolidate import Worker
        from ego_cli.memory.memory import open_memory

        try:
            memory = open_memory(settings.user, settings=settings)
            memory.profile()  # the first turn reads it all; a damaged page is met here, where it costs nothing else
            assistant.memory = memory
            model = assistant.models.for_memory() if assistant.models else None
            assistant.worker = Worker(assistant.memory, model).start()
        except MemoryStoreError as error:
            # The shop stays open: she is told once that nothing will be remembered.
            assistant.troubles.append(memory_is_off(error))
    if resume and (state := session.load(settings.user, catalogue.name)):
        assistant.state = state
    return assistant
