"""`ego llm`: choose, test and switch off language models; `ego usage`: what their calls took."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from ego_cli.console import out, out_json, table, warn

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.command("list")
def list_(as_json: Annotated[bool, typer.Option("--json", help="JSON lines.")] = False) -> None:
    """The chain in force and the providers that are known by name."""
    from ego_cli.conversation.models import Models
    from ego_cli.llm.providers import presets, usable
    from ego_cli.settings import load_settings

    settings = load_settings().llm
    models = Models(settings)
    rows: list[dict[str, Any]] = [
        {
            "name": provider.name,
            "model": provider.model,
            "address": provider.base_url,
            "use": str(place),
            "state": usable(provider) or "ready",
        }
        for place, provider in enumerate(settings.providers, 1)
    ]
    chosen = [row["name"] for row in rows]
    rows += [
        {
            "name": name,
            "model": preset["model"],
            "address": preset["base_url"],
            "use": "-",
            "state": preset["label"],
        }
        for name, preset in presets().items()
        if name not in chosen
    ]
    if as_json:
        for row in rows:
            out_json(row)
        out_json({"status": models.status, "enabled": settings.enabled, "chain": chosen})
        return
    table(rows, ("use", "name", "model", "address", "state"))
    out(f"\nNow: {models.status}.")


@app.command()
def test(
    name: Annotated[str | None, typer.Argument(help="A provider; without one: the chain in force.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines.")] = False,
) -> None:
    """Ask a model one short question. Exits with 4 when it does not answer."""
    from ego_cli.conversation.events import jsonable
    from ego_cli.errors import MisuseError
    from ego_cli.llm.client import Client, Deadline, ModelError
    from ego_cli.llm.prompts import Prompt
    from ego_cli.llm.providers import chosen
    from ego_cli.settings import load_settings

    settings = load_settings().llm
    if name is not None:
        settings = replace(settings, providers=tuple(chosen([name], settings.providers)))
    if not settings.providers:
        raise MisuseError("no model is chosen", hint="ego llm use NAME; `ego llm list` shows the names")
    asking = Client(settings)
    question = Prompt("test", 1, (("user", "Answer with the one word: ready"),), max_tokens=200)
    failed: ModelError | None = None
    answer = ""
    try:
        answer = "".join(asking.stream(question, Deadline(settings.read_timeout_s)))
    except ModelError as error:
        failed = error
    calls = asking.take_calls()
    if as_json:
        for call in calls:
            out_json(jsonable(call))
        out_json({"ok": failed is None, "answer": answer.strip(), "calls": len(calls)})
    else:
        for call in calls:
            tokens = (
                f"{'about ' if call.estimated else ''}{call.prompt_tokens} + {call.completion_tokens} tokens"
            )
            told = call.error or f"answered in {call.latency_ms:,.0f} ms, {tokens}, ${call.cost_usd:.6f}"
            out(f"{call.provider} ({call.model}): {told}")
    if failed is not None:
        raise failed


@app.command()
def use(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Providers, in the order in which they are tried; none: the chain that was switched off."
        ),
    ] = None,
    model: Annotated[str, typer.Option(help="The first one's model.")] = "",
    base_url: Annotated[str, typer.Option(help="The first one's address, up to and including /v1.")] = "",
    key_env: Annotated[
        str, typer.Option(help="The environment variable that holds the first one's key; never the key.")
    ] = "",
) -> None:
    """Use these providers from now on. Writes the config file, never a key."""
    from ego_cli.errors import MisuseError
    from ego_cli.llm.providers import checked_key_env, chosen, usable, write_choice
    from ego_cli.settings import config_file, load_settings

    configured = load_settings().llm.providers
    names = names or [provider.name for provider in configured]
    if not names:
        raise MisuseError("no provider is named", hint="`ego llm list` shows the names")
    changes = {
        "model": model,
        "base_url": base_url,
        "api_key_env": checked_key_env(key_env) if key_env else "",
    }
    providers = chosen(names, configured, **changes)
    write_choice(providers, enabled=True)
    for provider in providers:
        out(f"{provider.name}: {provider.model} at {provider.base_url}")
        if reason := usable(provider):
            warn(f"{provider.name}: {reason}")
    out(f"Written to {config_file()}.")


@app.command()
def off() -> None:
    """Rules only, from now on. The chain stays in the config file for `ego llm use`."""
    from ego_cli.llm.providers import write_choice
    from ego_cli.settings import config_file

    write_choice(None, enabled=False)
    out(f"Rules only. Written to {config_file()}.")


def usage(
    by: Annotated[str, typer.Option(help="purpose, model, session, turn or day.")] = "purpose",
    last: Annotated[int, typer.Option(help="How many groups, the latest first.")] = 20,
    as_json: Annotated[
        bool, typer.Option("--json", help="JSON lines; the last one holds the totals.")
    ] = False,
) -> None:
    """Tokens, cost, latency, retries, fallbacks and savings of model calls."""
    from dataclasses import asdict

    from ego_cli.llm.ledger import Ledger, Usage

    ledger = Ledger()
    groups = ledger.totals(by, last=last)
    whole = next(iter(ledger.totals()), Usage("all"))
    if as_json:
        for group in groups:
            out_json(asdict(group))
        out_json(asdict(whole))
        return
    if not whole.calls:
        out("No model has been asked yet.")
        return
    columns = (
        "name",
        "calls",
        "tokens",
        "cost $",
        "mean ms",
        "retries",
        "fallbacks",
        "failed",
        "cached",
        "saved $",
    )
    table(map(_row, [*groups, whole]), columns)
    if whole.estimated:
        out(f"\n≈ {whole.estimated:,} of the calls had their tokens counted here: their servers gave none.")


def _row(group: Any) -> dict[str, Any]:
    tokens = f"{group.prompt_tokens + group.completion_tokens:,}"
    return {
        "name": group.name,
        "calls": group.calls,
        "tokens": f"≈{tokens}" if group.estimated else tokens,
        "cost $": f"{group.cost_usd:.4f}",
        "mean ms": round(group.mean_ms),
        "retries": group.retries,
        "fallbacks": group.fallbacks,
        "failed": group.failed,
        "cached": group.cached,
        "saved $": f"{group.saved_usd:.4f}",
    }
