"""The chain of providers: where their keys are, whether they may be called, and writing a choice into the config file."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from ego_cli.errors import MisuseError
from ego_cli.settings import Price, Provider, config_file, load_toml, private_folder, settings_from

# With this in the environment only models on this machine are called: for tests, and for people who want it so.
ONLY_LOCAL = "EGO_ONLY_LOCAL_MODELS"
KEYRING_SERVICE = "ego"  # `keyring set ego NAME` keeps the key of the provider NAME
KEYRING_WAIT_S = 2.0  # a locked keyring may ask its owner something; nobody waits longer for it


def presets() -> dict[str, dict[str, Any]]:
    """Known providers by name."""
    return load_toml("providers.toml")


def key_of(provider: Provider) -> str | None:
    """The key of a provider, from the environment or the keyring. "" when it needs none, None when it is missing."""
    if not provider.api_key_env:
        return ""
    return os.environ.get(provider.api_key_env, "").strip() or _keyring_key(provider.name)


@cache
def _keyring_key(name: str) -> str | None:
    found: list[str] = []

    def look() -> None:
        import keyring
        import keyring.errors

        try:
            key = keyring.get_password(KEYRING_SERVICE, name)
        except (keyring.errors.KeyringError, RuntimeError, OSError):
            return  # no keyring on this machine, or a locked one: the environment remains
        if key:
            found.append(key)

    thread = threading.Thread(target=look, name="ego-keyring", daemon=True)
    thread.start()
    thread.join(KEYRING_WAIT_S)
    return found[0] if found else None


def is_local(provider: Provider) -> bool:
    """Whether its address is this machine's own."""
    host = urlsplit(provider.base_url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def usable(provider: Provider) -> str:
    """Why a provider cannot be called now; "" when it can."""
    if os.environ.get(ONLY_LOCAL) and not is_local(provider):
        return f"only local models are allowed ({ONLY_LOCAL} is set)"
    if not provider.model:
        return "no model is named"
    if key_of(provider) is None:
        return f"no key: set {provider.api_key_env} or run `keyring set {KEYRING_SERVICE} {provider.name}`"
    return ""


def chosen(names: Iterable[str], configured: Iterable[Provider], **changes: Any) -> list[Provider]:
    """Providers by name, from the configuration, else from the presets, else made of ``changes`` alone.

    ``changes`` (model, base_url, api_key_env) go to the first. Raises ``MisuseError`` for a name that nothing is known of.
    """
    known = {provider.name: provider for provider in configured}
    found = []
    for place, name in enumerate(dict.fromkeys(names)):
        values = {key: value for key, value in changes.items() if value} if place == 0 else {}
        if name in known:
            found.append(replace(known[name], **values))
        elif name in presets() or {"base_url", "model"} <= values.keys():
            found += settings_from({"llm": {"providers": [{"name": name, **values}]}}).llm.providers
        else:
            raise MisuseError(
                f"nothing is known of a provider called {name!r}",
                hint=f"use {', '.join(presets())}, or give --base-url and --model",
            )
    return found


_SECRET = re.compile(r"^(sk|gsk|AIza|key|pk)[-_A-Za-z0-9]{16,}$")


def checked_key_env(name: str) -> str:
    """The name of an environment variable. Raises ``MisuseError`` for what looks like a key: keys are never written."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or _SECRET.match(name):
        raise MisuseError(
            "--key-env takes the name of an environment variable, never a key",
            hint="for example OPENAI_API_KEY",
        )
    return name


def write_choice(providers: Iterable[Provider] | None, *, enabled: bool) -> None:
    """Put a chain into the config file (None: leave the chain alone) and switch models on or off.

    Comments and all other settings stay as they are. Raises ``MisuseError`` when the file is not valid or not writable.
    """
    import tomlkit
    from tomlkit.exceptions import ParseError

    path = config_file()
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
        section = document.setdefault("llm", tomlkit.table())
        section["enabled"] = enabled
        if providers is not None:
            chain = tomlkit.aot()
            for provider in providers:
                entry = tomlkit.table()
                for key in ("name", "base_url", "model", "api_key_env"):
                    if value := getattr(provider, key):
                        entry[key] = value
                if provider.prices != Price():
                    prices = tomlkit.inline_table()
                    prices.update(asdict(provider.prices))
                    entry["prices"] = prices
                chain.append(entry)
            section.pop("providers", None)
            section["providers"] = chain
        private_folder(path.parent)
        temporary = path.with_suffix(".new")
        temporary.write_text(tomlkit.dumps(document), encoding="utf-8")
        temporary.replace(path)
    except ParseError as error:
        raise MisuseError(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise MisuseError(f"cannot write {path}: {error.strerror}") from error
