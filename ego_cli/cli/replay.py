"""`ego replay`: walk through a recorded evaluation session."""

from __future__ import annotations

from typing import Annotated

import typer

from ego_cli.console import out, out_json


def replay(
    run: Annotated[str, typer.Argument(help="A run: its id, the beginning of it, its file, or `last`.")],
    session: Annotated[
        str | None,
        typer.Argument(help="A session, such as standard-017 or 017; without it: those that failed."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The session as one JSON line.")] = False,
) -> None:
    """Walk through a recorded evaluation session."""
    from ego_cli.evaluation import runs

    found = runs.read_run(run)
    if session is not None:
        if as_json:
            out_json(found.session(session))
            return
        for line in runs.replay(found, session):
            out(line)
        return
    missed = runs.failures(found)
    for record in missed:
        failure = record["failure"]
        if as_json:
            out_json({"session": record["id"], **failure})
        else:
            out(f"{record['id']}  {failure['kind']}: {failure['why']}  ({record['title'][:60]})")
    if as_json:
        out_json({"run": found.id, "failures": found.summary.get("failures", {})})
    elif not missed:
        out("every product was found")
