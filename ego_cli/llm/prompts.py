"""Versioned prompts of ``data/prompts``, and how strangers' words go into them: as data between marks, never as marks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from ego_cli.places import load_toml

LONGEST_QUOTE = 300  # characters of one stranger's text

# What chat templates, fences and role labels look like; taken out of every text that goes in as data.
_MARKERS = re.compile(
    r"<\|[^|>]{0,40}\|>|<</?SYS>>|\[/?(?:INST|SYS|SYSTEM)\]|</?s>|</?(?:data|system|user|assistant|think|tool_call)>"
    r"|`{3,}|~{3,}|^#{1,6}\s"
    r"|\b(?:system|assistant|user|developer|human|ai)\s*(?:prompt|message|note)?\s*:",
    re.IGNORECASE | re.MULTILINE,
)
_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent for one purpose. ``json``: the answer is to be one JSON object."""

    purpose: str
    version: int
    messages: tuple[tuple[str, str], ...]  # (role, text)
    max_tokens: int
    temperature: float = 0.0
    json: bool = False

    @property
    def characters(self) -> int:
        """Length of all messages together."""
        return sum(len(text) for _, text in self.messages)


def prompt(name: str, **values: str) -> Prompt:
    """The prompt ``data/prompts/<name>.toml`` with its ``$names`` filled in. Values are put in as they are."""
    table = load_toml("prompts", f"{name}.toml")
    messages = tuple((role, Template(table[role]).substitute(values).strip()) for role in ("system", "user"))
    return Prompt(
        name,
        table["version"],
        messages,
        table["max_tokens"],
        table.get("temperature", 0.0),
        table.get("json", False),
    )


def quoted(text: str, limit: int = LONGEST_QUOTE) -> str:
    """A stranger's text as data: one line, nothing unprintable, no marks that a model could take for a turn of talk."""
    plain = "".join(
        character if character.isprintable() or character == "\n" else " "
        for character in _TERMINAL.sub(" ", text)
    )
    plain = _unmarked(_unmarked(plain).replace("<", " ").replace(">", " "))
    plain = _unmarked(" ".join(plain.split()))
    return plain if len(plain) <= limit else plain[: limit - 1].rstrip() + "…"


def _unmarked(text: str) -> str:
    """Without marks; what is left of one, or stands at the beginning of a line now, may make another."""
    before = ""
    while before != text:
        before = text
        text = _MARKERS.sub(" ", "\n".join(line.strip() for line in text.splitlines())).strip()
    return text


def data_block(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Facts as JSON in which every text has been ``quoted``."""
    return json.dumps(_quoted(value), ensure_ascii=False, separators=(", ", ": "))


def _quoted(value: Any) -> Any:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return {str(key): _quoted(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_quoted(item) for item in value]
    return value
