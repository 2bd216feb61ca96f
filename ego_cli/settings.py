"""Where things live and what was configured.

Precedence: a typed flag (passed by the caller) > environment (``EGO_…``) > ``config.toml`` > the defaults here.
Environment names are the upper-cased path joined by ``__``: ``EGO_MEMORY__POLICY``, ``EGO_CATALOG``, ``EGO_FX__NGN_PER_USD``.

What is given is checked by pydantic, which takes longer to import than most commands take to run: it is only asked
where more is given than the names of a catalogue, a shopper and a time zone.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from ego_cli.errors import MisuseError
from ego_cli.places import (
    config_file,
    data_file,
    demo_catalogue_file,
    load_toml,
    private_folder,
    user_cache_folder,
    user_config_folder,
    user_data_folder,
)

__all__ = [
    "Settings",
    "config_file",
    "data_file",
    "demo_catalogue_file",
    "load_settings",
    "load_toml",
    "private_folder",
    "save_setting",
    "settings_from",
    "user_cache_folder",
    "user_config_folder",
    "user_data_folder",
]


class Section:
    """A part of the configuration; an unknown key is an error that names itself."""

    __slots__ = ()
    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - a ClassVar would be looked up as a field


@dataclass(frozen=True, slots=True)
class SearchSettings(Section):
    """Lexical search. Field weights are the Sivle seed's."""

    title: float = 12.0
    category: float = 12.0
    features: float = 9.0
    details: float = 2.0
    store: float = 1.0
    description: float = 1.0


@dataclass(frozen=True, slots=True)
class RankingSettings(Section):
    """Second stage of retrieval."""

    profile: str = "default"  # a named weight profile of ranking/score.py: "default" or "sivle"
    dense: bool = True  # use sentence vectors when a catalogue has them
    embed: bool = True  # make those that are missing while somebody chats
    encoder: str = "minilm-int8"  # or a path or hub name for the extra [sentence-transformers]
    cross_encoder: str = ""  # a path or hub name; empty: no cross-encoder
    popularity: bool = True


@dataclass(frozen=True, slots=True)
class MemorySettings(Section):
    """What is remembered and how it fades."""

    enabled: bool = True
    policy: str = "shop-v2"  # or "ego-v1"
    nudges: bool = True


@dataclass(frozen=True, slots=True)
class Price(Section):
    """What a model costs, in US dollars per million tokens."""

    prompt: float = 0.0
    completion: float = 0.0


@dataclass(frozen=True, slots=True)
class Provider(Section):
    """One OpenAI-compatible endpoint. The key itself never stands here: only the name of its environment variable.

    What a preset of ``data/providers.toml`` with the same name says holds where nothing else is given.
    """

    name: str
    base_url: str
    model: str
    api_key_env: str = ""  # "": no key is needed
    prices: Price = Price()


@dataclass(frozen=True, slots=True)
class LlmSettings(Section):
    """Optional language models: a chain of providers, tried in order. Without one, rules do everything.

    In the environment the chain is a list of names (``EGO_LLM__PROVIDERS=dashscope,gemini``) or JSON.
    """

    enabled: bool = True
    providers: tuple[Provider, ...] = ()
    uses: tuple[str, ...] = ("read", "rerank", "consolidate", "phrase")  # what they may be asked for
    turn_deadline_s: float = 8.0
    connect_timeout_s: float = 3.0
    read_timeout_s: float = 20.0
    turn_token_budget: int = 6_000
    session_token_budget: int = 60_000
    cache: bool = True
    cache_days: float = 14.0
    cache_mb: float = 20.0


@dataclass(frozen=True, slots=True)
class TuiSettings(Section):
    """The screen."""

    theme: str = "ego-dark"  # or ego-light, ansi-dark, ansi-light, any theme of Textual
    keys: dict[str, str] = field(default_factory=dict)  # binding id -> key


@dataclass(frozen=True, slots=True)
class Settings(Section):
    """All of ``config.toml``."""

    catalog: str = "naija"
    user: str = "me"
    timezone: str = "Africa/Lagos"
    fx: dict[str, float] = field(default_factory=dict)  # "NGN_per_USD" = 1500: naira for one dollar
    search: SearchSettings = SearchSettings()
    ranking: RankingSettings = RankingSettings()
    memory: MemorySettings = MemorySettings()
    llm: LlmSettings = LlmSettings()
    tui: TuiSettings = TuiSettings()


_NAMES = frozenset(each.name for each in fields(Settings))
_TEXTS = frozenset(each.name for each in fields(Settings) if isinstance(each.default, str))


def _from_environment() -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, text in os.environ.items():
        if not key.startswith("EGO_") or key in {"EGO_HOME", "EGO_CONFIG", "EGO_DEBUG"}:
            continue
        path = key[4:].lower().split("__")
        if not text and len(path) == 1:
            continue  # `EGO_CATALOG= ego …` is how a shell unsets it
        if path[0] not in _NAMES:
            continue  # not ours, or a newer version's: an environment is shared, a file is not
        if path[0] == "fx" and len(path) == 2:
            base, _, quote = path[1].partition("_per_")
            path[1] = f"{base.upper()}_per_{quote.upper()}"
        node = tree
        for part in path[:-1]:
            node = node.setdefault(part, {})
        node[path[-1]] = text
    return tree


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def load_settings(**flags: Any) -> Settings:
    """Read the configuration in force. ``flags`` are typed options; ``None`` means "not given".

    Raises ``MisuseError`` with the file and the key when the file is not valid.
    """
    path = config_file()
    tree: dict[str, Any] = {}
    try:
        with path.open("rb") as handle:
            tree = tomllib.load(handle)
    except FileNotFoundError:
        pass
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MisuseError(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise MisuseError(f"cannot read {path}: {error.strerror}") from error
    return settings_from(
        _merge(_merge(tree, _from_environment()), {k: v for k, v in flags.items() if v is not None})
    )


def settings_from(tree: Mapping[str, Any]) -> Settings:
    """Settings as a file or the environment would give them, the rest by default.

    Raises ``MisuseError`` with the key for an unknown key or a value of the wrong kind.
    """
    if all(key in _TEXTS and isinstance(value, str) for key, value in tree.items()):
        return Settings(**tree)
    from pydantic import ValidationError

    if isinstance(llm := tree.get("llm"), dict):
        tree = {**tree, "llm": _spelled_out(llm)}
    try:
        checked: Settings = _checker().validate_python(tree)
    except ValidationError as error:
        first = error.errors()[0]
        _refuse(".".join(str(part) for part in first["loc"]), first["msg"])
    return checked


@cache
def _checker() -> Any:
    """pydantic's reading of ``Settings``."""
    from pydantic import TypeAdapter

    return TypeAdapter(Settings)


def _refuse(key: str, reason: str) -> NoReturn:
    raise MisuseError(f"{config_file()} or the environment: {key}: {reason}")


def _spelled_out(llm: dict[str, Any]) -> dict[str, Any]:
    """A model section with its lists as lists and each provider with what its preset says."""
    spelled = dict(llm)
    if isinstance(uses := llm.get("uses"), str):
        spelled["uses"] = [name.strip() for name in uses.split(",") if name.strip()]
    chain = llm.get("providers")
    if isinstance(chain, str):
        try:
            chain = json.loads(chain) if chain.lstrip().startswith("[") else chain.split(",")
        except json.JSONDecodeError as error:
            _refuse("llm.providers", f"not JSON: {error.msg}")
    if isinstance(chain, (list, tuple)):
        named = [{"name": item.strip()} if isinstance(item, str) else item for item in chain if item]
        spelled["providers"] = [_with_preset(item) if isinstance(item, dict) else item for item in named]
    return spelled


def _with_preset(given: dict[str, Any]) -> dict[str, Any]:
    known = load_toml("providers.toml").get(str(given.get("name")), {})
    preset = {key: value for key, value in known.items() if key != "label"}
    if given.get("base_url", preset.get("base_url")) != preset.get("base_url"):
        preset.pop("api_key_env", None)  # a key goes to the address that it was made for, and nowhere else
    if given.get("model", preset.get("model")) != preset.get("model"):
        preset.pop("prices", None)
    return {**preset, **given}


def save_setting(key: str, value: str) -> Path:
    """Write one top-level text setting into ``config.toml``, the rest of which stays as it is; returns the file.

    Raises ``MisuseError`` when the file cannot be written or would not be valid TOML.
    """
    path = config_file()
    try:
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        line = f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        tables = re.search(r"^\s*\[", old, re.M)
        top, rest = (old[: tables.start()], old[tables.start() :]) if tables else (old, "")
        known = re.compile(rf"^[ \t]*{re.escape(key)}[ \t]*=.*(?:\n|\Z)", re.M)
        if known.search(top):
            new = known.sub(lambda _: line, top, count=1) + rest
        else:
            new = top + ("\n" if top and not top.endswith("\n") else "") + line + rest
        tomllib.loads(new)
        private_folder(path.parent)
        beside = path.with_suffix(".new")
        beside.write_text(new, encoding="utf-8")
        beside.replace(path)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MisuseError(f"cannot write {path}: {error}", hint=f"set {key} there yourself") from error
    return path
