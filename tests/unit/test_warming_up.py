"""Opening a conversation."""

from pathlib import Path

from ego_cli.catalog.signals import SignalStore
from ego_cli.conversation.opening import open_assistant
from ego_cli.conversation.session import session_file
from ego_cli.conversation.warming import warm
from ego_cli.settings import load_settings


def test_warming_up_leaves_no_trace(ego_home: Path) -> None:
    with open_assistant(load_settings()) as assistant:
        before = assistant.state
        warm(assistant)
        assert assistant.state is before and not assistant.scores and not assistant.troubles
        assert assistant.memory is not None and assistant.memory.facts() == []
        assert not session_file("me").exists()
        assert not list(SignalStore(assistant.catalogue.path).interactions())
        done = assistant.respond("power bank under 20k")
        assert done.turn == 1 and done.decision.shown
