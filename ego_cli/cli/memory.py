"""`ego ingest`, `ego recall`, `ego prune`, `ego nudges`, `ego memory …`: the shopper's memory in her own hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ego_cli.console import note, out, out_json, out_raw, table, warn
from ego_cli.errors import EgoError, MisuseError, NotFoundError

if TYPE_CHECKING:
    from ego_cli.memory.entry import Entry
    from ego_cli.memory.memory import Memory

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

User = Annotated[
    str | None, typer.Option("--user", "-u", help="Whose memory; without it, the configured shopper's.")
]
Json = Annotated[bool, typer.Option("--json", help="JSON lines; the last one is the summary.")]
PolicyName = Annotated[
    str | None, typer.Option("--policy", help="ego-v1 or shop-v2; without it, the configured one.")
]


def _memory(user: str | None) -> Memory:
    from ego_cli.memory.memory import open_memory
    from ego_cli.settings import load_settings

    settings = load_settings(user=user)
    return open_memory(settings.user, settings=settings)


def _input(file: str) -> str:
    """The text of a file, or of standard input for "-"."""
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MisuseError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from error


def ingest(
    file: Annotated[str, typer.Argument(help="Events as JSON lines; - reads standard input.")],
    user: User = None,
    as_json: Json = False,
) -> None:
    """Put events into a memory from JSON lines."""
    from ego_cli.memory.ingest import ingest as take_in

    with _memory(user) as memory:
        result = take_in(memory, _input(file).splitlines())
    for number, reason in result.bad:
        warn(f"line {number}: {reason}")
    summary = {
        "kept": result.kept,
        "facts": result.facts,
        "bad": len(result.bad),
        "bad_lines": [n for n, _ in result.bad],
    }
    if as_json:
        out_json(summary)
    else:
        out(f"{result.kept} events kept, {result.facts} facts read, {len(result.bad)} bad lines")
    if result.bad and not result.kept:
        raise EgoError("no line could be used")


def recall(
    query: Annotated[str, typer.Argument(help="A question or a request, in any words.")],
    max_tokens: Annotated[int, typer.Option(min=0, help="Most tokens that the answer may cost.")] = 1_000,
    max_results: Annotated[int, typer.Option(min=0, help="Most memories.")] = 20,
    why: Annotated[bool, typer.Option("--why", help="Say why each one came.")] = False,
    dense: Annotated[
        bool,
        typer.Option("--dense", help="Search by meaning too, with the sentence model (half a second more)."),
    ] = False,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Ask a memory what it knows."""
    with _memory(user) as memory:
        if dense:
            from ego_cli.catalog.encoders import load_encoder

            memory.embedder = load_encoder()
        found = memory.recall(query, max_tokens=max_tokens, max_results=max_results)
    if as_json:
        for item in found:
            out_json(
                {**_plain(item.entry), "score": round(item.score, 4), "why": item.why, "tokens": item.tokens,
                 "retention": round(item.retention, 4)}
            )  # fmt: skip
        out_json({"query": query, "results": len(found), "tokens": sum(item.tokens for item in found)})
    else:
        for item in found:
            out(f"{item.entry.id:>5}  {item.text}" + (f"   [{item.why}]" if why else ""))
    if not found and not as_json:
        raise NotFoundError("nothing in memory bears on that")
    if not found:
        raise typer.Exit(NotFoundError.exit_code)


def prune(
    policy: PolicyName = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Let go of what has faded."""
    with _memory(user) as memory:
        texts = {row.id: row.text for row in memory.store.rows()} if dry_run else {}
        plan = memory.prune(policy, dry_run=dry_run)
        name = policy or memory.policy.name
    for id_ in plan.delete if dry_run else ():
        out_json({"id": id_, "text": texts[id_], "would": "delete"}) if as_json else out(
            f"delete   {id_:>5}  {texts[id_]}"
        )
    for id_ in plan.archive if dry_run else ():
        out_json({"id": id_, "text": texts[id_], "would": "archive"}) if as_json else out(
            f"archive  {id_:>5}  {texts[id_]}"
        )
    summary = {"policy": name, "deleted": len(plan.delete), "archived": len(plan.archive), "dry_run": dry_run}
    if as_json:
        out_json(summary)
    else:
        out(
            f"{name}: {len(plan.delete)} deleted, {len(plan.archive)} archived"
            + (" (dry run)" if dry_run else "")
        )


def nudges(user: User = None, as_json: Json = False) -> None:
    """What is worth asking or saying next."""
    with _memory(user) as memory:
        found = memory.nudges()
    for nudge in found:
        if as_json:
            out_json({"kind": nudge.kind, "text": nudge.text, "memory": nudge.entry_id})
        else:
            out(nudge.text)
    if as_json:
        out_json({"nudges": len(found)})


@app.command()
def show(
    subject: Annotated[
        str | None, typer.Option(help="Only what is known about this person, such as mother.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Also what no longer holds, with its time.")
    ] = False,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Everything that is known, with where it came from."""
    with _memory(user) as memory:
        rows = (
            [r for r in memory.history() if subject in (None, r.subject)]
            if history
            else memory.facts(subject)
        )
        summary = memory.summary()
        retention = {row.id: memory.policy.retention(row, memory.now()) for row in rows}
    if as_json:
        for row in rows:
            out_json({**_plain(row), "retention": round(retention[row.id], 4)})
        out_json({"memories": len(rows), "summary": summary})
        return
    table(
        [
            {
                "id": row.id, "about": row.subject, "memory": row.text, "since": row.valid_from.date(),
                "until": row.valid_to.date() if row.valid_to else None, "said": row.mentions, "source": row.source,
                "kept": f"{retention[row.id]:.2f}", "": "pinned" if row.pinned else "",
            }
            for row in rows
        ],
        ["id", "about", "memory", "since", *(["until"] if history else []), "said", "source", "kept", ""],
    )  # fmt: skip


@app.command()
def pin(
    id_: Annotated[int, typer.Argument(metavar="ID")],
    off: Annotated[bool, typer.Option("--off", help="Take the pin out.")] = False,
    user: User = None,
) -> None:
    """Keep a memory from ever fading."""
    with _memory(user) as memory:
        entry = memory.pin(id_, not off)
    out(f"{'unpinned' if off else 'pinned'}: {entry.text}")


@app.command()
def edit(
    id_: Annotated[int, typer.Argument(metavar="ID")],
    text: Annotated[str, typer.Argument(help="What it should say, such as: likes linen")],
    user: User = None,
) -> None:
    """Put a memory in other words."""
    with _memory(user) as memory:
        entry = memory.edit(id_, text)
    out(f"{entry.id}: {entry.text}")


@app.command()
def forget(
    what: Annotated[list[str], typer.Argument(help="Words (my shoe size), an id (#12), or all.")],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before forgetting everything.")
    ] = False,
    user: User = None,
    as_json: Json = False,
) -> None:
    """Forget for good: rows, indexes, summary, jobs, log, kept copies, the last conversation, models' kept answers."""
    from ego_cli.conversation import session
    from ego_cli.llm.cache import clear_cache

    words = " ".join(what)
    if words.strip().lower() in ("all", "everything") and not yes:
        if not sys.stdin.isatty():
            raise MisuseError("forgetting everything needs a yes", hint="add --yes")
        typer.confirm("Forget everything?", abort=True)
    with _memory(user) as memory:
        gone = memory.forgotten(words)
        clear_cache(memory.store.user)
        if gone.count:
            session.discard(memory.store.user)
    if as_json:
        out_json({"forgotten": gone.count})
    elif gone.count:
        out(f"forgotten: {gone.count} " + ("memory" if gone.count == 1 else "memories"))
    if not gone.count and words.strip().lower() not in ("all", "everything"):
        raise NotFoundError(f"nothing in memory is about {words!r}")


@app.command()
def restore(
    id_: Annotated[int, typer.Argument(metavar="ID", help="As `show --history` lists it.")], user: User = None
) -> None:
    """Bring back a memory that was superseded or archived."""
    with _memory(user) as memory:
        entry = memory.restore(id_)
    out(f"{entry.id}: {entry.text}")


@app.command("export")
def export_(
    format_: Annotated[
        str, typer.Option("--format", help="jsonl (everything) or podium (AgentMemory version 2).")
    ] = "jsonl",
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; without it, standard output.")
    ] = None,
    user: User = None,
) -> None:
    """Take a memory out as text."""
    with _memory(user) as memory:
        text = memory.export(format_)
    if output is None:
        out_raw(text)
        return
    from ego_cli.memory.forget import write_private

    write_private(output, text)
    note(f"written: {output}. It is yours: forgetting does not reach it.")


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(help="An export of either format; - reads standard input.")],
    user: User = None,
    as_json: Json = False,
) -> None:
    """Read an export back."""
    with _memory(user) as memory:
        count = memory.import_text(_input(file))
    out_json({"imported": count}) if as_json else out(f"imported: {count}")


@app.command()
def snapshot(
    keep: Annotated[
        bool, typer.Option("--keep", help="Also keep it beside the memory, where forgetting finds it.")
    ] = False,
    user: User = None,
) -> None:
    """The present state as one JSON object."""
    with _memory(user) as memory:
        out_json(memory.snapshot(keep=keep))


@app.command()
def consolidate(user: User = None, as_json: Json = False) -> None:
    """Merge, infer, summarise and prune now, by the rules."""
    with _memory(user) as memory:
        done = memory.consolidate()
    if as_json:
        out_json(
            {
                "merged": done.merged,
                "added": done.added,
                "archived": done.archived,
                "deleted": done.deleted,
                "summary": done.summary,
            }
        )
        return
    out(f"merged {done.merged}, inferred {done.added}, archived {done.archived}, deleted {done.deleted}")
    if done.summary:
        out(done.summary)


@app.command()
def quiz(
    file: Annotated[
        str | None,
        typer.Option("--file", help="Answers as a JSON object by question id; - reads standard input."),
    ] = None,
    user: User = None,
    as_json: Json = False,
) -> None:
    """A few questions to begin with; Enter skips one."""
    from ego_cli.memory.ingest import quiz_questions, take_quiz

    answers = _answers_of(file) if file is not None else _ask(quiz_questions())
    with _memory(user) as memory:
        kept = take_quiz(memory, answers)
    if as_json:
        for entry in kept:
            out_json(_plain(entry))
        out_json({"kept": len(kept)})
        return
    for entry in kept:
        out(f"noted: {entry.text}")


def _answers_of(file: str) -> dict[str, str]:
    import json

    try:
        value = json.loads(_input(file))
    except json.JSONDecodeError as error:
        raise MisuseError(f"{file} is not JSON: {error.msg}") from error
    if not isinstance(value, dict):
        raise MisuseError(f"{file} must hold one JSON object of answers by question id")
    return {str(key): "" if answer is None else str(answer) for key, answer in value.items()}


def _ask(questions: list[Any]) -> dict[str, str]:
    if not sys.stdin.isatty():
        raise MisuseError("the quiz needs a terminal", hint="or --file ANSWERS.json")
    return {question.id: typer.prompt(question.ask, default="", show_default=False) for question in questions}


@app.command()
def curve(
    policy: PolicyName = None,
    days: Annotated[int, typer.Option(min=1, max=3_650, help="How far to look.")] = 180,
    as_json: Json = False,
) -> None:
    """How memories fade under both policies, as a table and a plot."""
    from ego_cli.memory.curve import curves, plot, table_rows
    from ego_cli.memory.forgetting import policy_named

    found = curves(days=days)
    if policy is not None:
        found = [c for c in found if c.policy == policy_named(policy).name]
    if as_json:
        for c in found:
            out_json(
                {
                    "policy": c.policy,
                    "kind": c.kind,
                    "uses": c.uses,
                    "retention": [round(r, 4) for r in c.retention],
                }
            )
        out_json({"curves": len(found), "days": days})
        return
    rows = table_rows(found)
    table(rows, list(rows[0]))
    for name, kind in dict.fromkeys((c.policy, c.kind) for c in found):
        out()
        out(plot(found, name, kind))


@app.command()
def users(as_json: Json = False) -> None:
    """Whose memories are kept here."""
    from ego_cli.memory.layout import known_users

    names = known_users()
    if as_json:
        out_json({"users": names})
        return
    for name in names:
        out(name)


def _plain(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "text": entry.text,
        "kind": entry.kind,
        "subject": entry.subject,
        "polarity": entry.polarity,
        "words": entry.words,
        "source": entry.source,
        "confidence": entry.confidence,
        "mentions": entry.mentions,
        "since": entry.valid_from.isoformat(),
        "until": entry.valid_to.isoformat() if entry.valid_to else None,
        "pinned": entry.pinned,
    }
