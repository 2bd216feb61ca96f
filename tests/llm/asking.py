"""Short ways to ask a scripted server something."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ego_cli.evaluation.scripted_model import ScriptedModel
from ego_cli.llm.client import Client, Deadline
from ego_cli.llm.prompts import Prompt
from ego_cli.settings import LlmSettings, Price, Provider

ASK = Prompt("test", 1, (("system", "be brief"), ("user", "say hello")), max_tokens=50)

Server = Callable[..., ScriptedModel]


def provider(server: ScriptedModel, name: str = "local", **values: Any) -> Provider:
    return Provider(name=name, base_url=server.url, model=values.pop("model", "small"), **values)


def settings(*servers: ScriptedModel, **values: Any) -> LlmSettings:
    chain = tuple(
        provider(server, f"p{place}", prices=Price(prompt=1.0, completion=2.0))
        for place, server in enumerate(servers)
    )
    return LlmSettings(providers=chain, **values)


def client(*servers: ScriptedModel, **values: Any) -> Client:
    return Client(settings(*servers, **values))


def soon(seconds: float = 20.0) -> Deadline:
    return Deadline(seconds)


def contents(request: Mapping[str, Any]) -> str:
    """All that one request said."""
    return "\n".join(message["content"] for message in request["messages"])
