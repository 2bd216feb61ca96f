"""`ego eval`: how well it works, by measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ego_cli.console import note, out, out_json, progress, table, warn
from ego_cli.errors import MisuseError

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", help="JSON lines; the last one is the summary.")]
ALL = "all"


@app.command()
def shop(
    suite: Annotated[
        str,
        typer.Option(
            help="standard, buying-heavy, browsing-heavy, override-heavy, long-tail, lively; several by commas, or all."
        ),
    ] = "standard",
    customer: Annotated[
        str,
        typer.Option(help="How customers speak: wire, reworded, plain, pidgin; several by commas, or all."),
    ] = "plain",
    catalog: Annotated[
        str | None, typer.Option("--catalog", "-c", help="A product file or the name of a catalogue.")
    ] = None,
    agent: Annotated[str, typer.Option(help="ego, bm25, fts5, popularity, or module:Class.")] = "ego",
    sessions: Annotated[int, typer.Option(min=1, help="Sessions of each suite.")] = 200,
    part: Annotated[
        str, typer.Option(help="Wordings and targets: test (to measure) or tuning (to look at).")
    ] = "test",
    seed: Annotated[int, typer.Option(help="Which sessions.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Sessions played at the same time.")] = 1,
    show: Annotated[
        str | None, typer.Option(help="Only ego: how many to show as constraints come in, such as 3,3,3,10.")
    ] = None,
    popularity: Annotated[
        bool | None, typer.Option("--popularity/--no-popularity", help="Only ego: let review counts weigh.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Where to write the HTML report.")] = None,
    as_json: Json = False,
) -> None:
    """Simulated customers look for hidden products."""
    from ego_cli.evaluation import runs as run_files
    from ego_cli.evaluation import shop as shopping
    from ego_cli.evaluation.report import html_report
    from ego_cli.evaluation.speech import WAYS
    from ego_cli.settings import load_settings

    if report is not None and not report.absolute().parent.is_dir():  # said before the sessions, not after
        raise MisuseError(f"there is no folder {report.parent} for the report")
    options: dict[str, Any] = {}
    if show is not None:
        options["show"] = _lengths(show)
    if popularity is not None:
        options["popularity"] = popularity
    setup = shopping.Setup(
        catalogue=catalog or load_settings().catalog,
        suites=_names(suite, shopping.PROTOCOL_SUITES),
        customers=_names(customer, WAYS),
        agent=agent,
        options=options,
        part=part,
        seed=seed,
        sessions=sessions,
        jobs=jobs,
    )
    note(f"opening {setup.catalogue}…")  # a file that is new is read first, before any session
    with progress("sessions") as advance:
        finished = shopping.play(setup, advance)
    for run in finished:
        path = run_files.write_run(run)
        note(f"run: {path}")
    target = report or run_files.runs_folder() / f"{finished[0].id}.html"
    target.write_text(html_report(finished), encoding="utf-8")
    note(f"report: {target}")
    summary = shopping.summary_of(finished, report=str(target))
    if as_json:
        for run in finished:
            out_json(
                {
                    **shopping.headline(run),
                    "scenarios": run.summary["scenarios"],
                    "failures": run.summary["failures"],
                }
            )
        out_json(summary)
        return
    table([shopping.headline(run) for run in finished], shopping.HEADLINE)
    for kind, count in summary["failures"].items():
        out(f"{count:>4}  {kind}")
    missed = next((run for run in finished if run_files.failures(run)), None)
    if missed is not None:
        out(f"what failed, and why: ego replay {missed.id}")
    else:
        out(f"one session, step by step: ego replay {finished[0].id} {finished[0].sessions[0]['id']}")


def _names(text: str, every: tuple[str, ...]) -> tuple[str, ...]:
    return every if text == ALL else tuple(name.strip() for name in text.split(",") if name.strip())


def _lengths(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise MisuseError(f"--show wants numbers, not {text!r}", hint="such as 1,1,1,3,10") from None


@app.command()
def diff(
    first: Annotated[str, typer.Argument(help="A run: id, beginning of it, or file.")],
    second: Annotated[str, typer.Argument(help="The run to compare with it.")],
    as_json: Json = False,
) -> None:
    """Compare two runs of the same sessions with paired tests: second minus first."""
    from ego_cli.evaluation import runs as run_files

    found = run_files.diff(run_files.read_run(first), run_files.read_run(second))
    if as_json:
        out_json(found)
        return
    if found["differs_in"]:
        warn("these runs differ in " + ", ".join(found["differs_in"]))
    out(f"{found['sessions']} sessions: {found['second']} minus {found['first']}, with 95 % intervals")
    rows = [
        {
            "figure": name,
            "difference": f"{d['difference']:+.4f}",
            "lowest": f"{d['ci'][0]:+.4f}",
            "highest": f"{d['ci'][1]:+.4f}",
            "p": f"{d['p']:.4f}",
        }
        for name, d in found["differences"].items()
    ]
    table(rows, ["figure", "difference", "lowest", "highest", "p"])
    out(f"better in {found['better']} sessions, worse in {found['worse']}")
    for name in ("newly_found", "newly_missed"):
        if found[name]:
            out(f"{name.replace('_', ' ')}: " + ", ".join(found[name]))


@app.command()
def cases(
    files: Annotated[list[Path], typer.Argument(help="Files of cases, one JSON object a line.")],
    kind: Annotated[str | None, typer.Option(help="Only cases of this kind.")] = None,
    as_json: Json = False,
) -> None:
    """Play small conversations and check the facts that must hold after them; results are per kind."""
    from ego_cli.conversation.events import jsonable
    from ego_cli.evaluation.cases import run_cases

    report = run_cases(files, kind=kind)
    kinds = {
        name: {"passed": tally.passed, "total": tally.total} for name, tally in sorted(report.kinds.items())
    }
    failed = [result for result in report.results if not result.passed]
    if as_json:
        for result in failed:
            out_json(jsonable(result))
        out_json({"mean_over_kinds": report.mean_over_kinds, "kinds": kinds})
        return
    table([{"kind": name, **counts} for name, counts in kinds.items()], ["kind", "passed", "total"])
    for result in failed:
        found = [
            f"{f.check}: expected {f.expected!r}, found {f.found!r} after {f.words!r}"
            for f in result.failures
        ]
        out(f"{result.id}: {result.skipped or '; '.join(found)}")
    out(f"mean over kinds: {report.mean_over_kinds:.3f}")


@app.command()
def understanding(
    file: Annotated[Path, typer.Argument(help="Turns labelled by hand, one JSON object a line.")],
    as_json: Json = False,
) -> None:
    """What turns of real shoppers change, against labels made by hand."""
    from ego_cli.evaluation import understanding as scoring

    report = scoring.run(file)
    if as_json:
        for result in report.results:
            out_json(scoring.jsonable(result))
        out_json(report.summary())
        return
    table([{"figure": name, "value": value} for name, value in report.summary().items()], ["figure", "value"])


@app.command()
def recall(
    file: Annotated[Path, typer.Argument(help="Conversations with questions, one JSON object a line.")],
    as_json: Json = False,
) -> None:
    """How well memory finds the evidence for questions."""
    from ego_cli.conversation.events import jsonable
    from ego_cli.evaluation.recall import evaluate_recall

    with progress("conversations") as advance:
        report = evaluate_recall(file, advance=advance)
    if as_json:
        for question in report.questions:
            out_json(jsonable(question))
        out_json(dict(report.summary))
        return
    table([{"figure": name, "value": value} for name, value in report.summary.items()], ["figure", "value"])


@app.command("known-item")
def known_item(
    products: Annotated[Path, typer.Argument(help="A product file in any readable form.")],
    queries: Annotated[
        Path,
        typer.Argument(
            help="JSON lines: q (or query) and target (or targets, products), the ids it asks for."
        ),
    ],
    among: Annotated[
        list[Path] | None,
        typer.Option(help="Files, or folders of files, whose titles stand among the products."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Whether searches for one known product find it: every leg, every fusion, with 95 % intervals."""
    from ego_cli.evaluation import bench
    from ego_cli.evaluation import known_item as finding

    files = [file for path in among or () for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    catalogue = finding.open_haystack(products, [file for file in files if file.is_file()])
    asked = finding.read_queries(queries, (product.id for product in catalogue))
    with progress("embedding") as advance:
        results = finding.run(catalogue, asked, progress=advance)
    summary = finding.summary(results, len(asked), len(catalogue))
    note(f"kept in {bench.keep(bench.record('known-item', queries_file=queries.parent.name, **summary))}")
    if as_json:
        for result in results:
            out_json(result.as_row())
        out_json(summary)
        return
    rows = [finding.printed(result) for result in results]
    table(rows, list(rows[0]))
    out(f"{len(asked)} queries among {len(catalogue):,} products; 95 % bootstrap intervals in brackets")


@app.command()
def ablation(
    catalog: Annotated[
        str | None, typer.Option("--catalog", "-c", help="A product file or the name of a catalogue.")
    ] = None,
    suite: Annotated[str, typer.Option(help="The suite of sessions.")] = "standard",
    customer: Annotated[str, typer.Option(help="How customers speak; several by commas.")] = "plain,pidgin",
    sessions: Annotated[int, typer.Option(min=1, help="Sessions of each way of speaking.")] = 100,
    leg: Annotated[
        list[str] | None, typer.Option("--leg", help="Only this row of the table; repeat it.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Which sessions.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Sessions played at the same time.")] = 1,
    as_json: Json = False,
) -> None:
    """What each leg and fusion, the vectors and preference tags bring: the same customers, served by each alone."""
    from ego_cli.catalog.dense import coverage
    from ego_cli.catalog.store import open_catalogue
    from ego_cli.evaluation import ablation as legs
    from ego_cli.evaluation import bench
    from ego_cli.evaluation.speech import WAYS
    from ego_cli.settings import load_settings

    name = catalog or load_settings().catalog
    variants = tuple(leg or legs.VARIANTS)
    if unknown := [each for each in variants if each not in legs.VARIANTS]:
        raise MisuseError(f"there is no leg called {unknown[0]!r}", hint="; ".join(legs.VARIANTS))
    opened = open_catalogue(name)
    if coverage(opened)[0] < len(opened):
        warn(
            f"{opened.name} is not wholly embedded: rows that need vectors are left out (`ego catalog embed`)"
        )
        variants = tuple(each for each in variants if each not in legs.NEED_VECTORS)
    with progress("sessions") as advance:
        rows = legs.run(
            name,
            suite=suite,
            customers=_names(customer, WAYS),
            variants=variants,
            sessions=sessions,
            seed=seed,
            jobs=jobs,
            advance=advance,
        )
    record = bench.record(
        "ablation", catalogue=opened.name, products=len(opened), suite=suite, sessions=sessions, rows=rows
    )
    note(f"kept in {bench.keep(record)}")
    if as_json:
        for row in rows:
            out_json(row)
        out_json(record)
        return
    cells = [legs.printed(row) for row in rows]
    table(cells, list(cells[0]) if cells else ())
    for row in rows:
        for name, what in (("vectors_gain", "vectors"), ("tags_gain", "preference tags")):
            if name in row:
                gain, low, high = row[name]
                out(f"{what} add {gain:+.4f} [{low:+.4f}, {high:+.4f}] for {row['customer']} customers")
