"""The model of a case: its stub replies, translated to what ego asks of a model, behind a real server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ego_cli.evaluation.scripted_model import ScriptedModel
from ego_cli.settings import LlmSettings, Provider

_OTHER_NAMES = {"color": "colour", "exclusions": "exclude", "exclusion": "exclude", "feature": "features"}
_EXTRA_KEYS = {"confidence": 0.93, "notes": {"by": "model"}, "version": "2"}


def served(stubs: Sequence[Mapping[str, Any]]) -> ScriptedModel:
    """A server that gives these replies in order, the last one again and again."""
    return ScriptedModel(list(map(_step, stubs)))


def settings_for(server: ScriptedModel) -> LlmSettings:
    """One provider, everything else as a shopper has it; nothing is answered from an earlier case."""
    return LlmSettings(providers=(Provider(name="stub", base_url=server.url, model="stub"),), cache=False)


def _step(stub: Mapping[str, Any]) -> Mapping[str, Any]:
    if stub.keys() & {"sleep", "http", "stream"}:
        return stub
    if "text" in stub:
        return {"text": stub["text"]}
    return {"text": _wrapped(json.dumps(_answer(stub), ensure_ascii=False), stub.get("wrap", "none"))}


def _answer(stub: Mapping[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {
        _OTHER_NAMES.get(name, name): value for name, value in stub.get("fields", {}).items()
    }
    if "memory_facts" in stub:
        answer["facts"] = stub["memory_facts"]
    if "memory_ops" in stub:
        answer["operations"] = stub["memory_ops"]
    return {**answer, **(_EXTRA_KEYS if stub.get("extra_keys") else {})}


def _wrapped(text: str, wrap: str) -> str:
    match wrap:
        case "fence":
            return f"```json\n{text}\n```"
        case "prose+fence":
            return f"Here is what I understood:\n```json\n{text}\n```\nTell me if I should look further."
        case "truncated":
            return text[: len(text) // 2]
        case _:
            return text
