"""`ego bench`: benchmarks with ratios, and the catalogue maker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ego_cli.console import note, out, out_json, progress

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Benchmarks with ratios, and the catalogue maker.",
)


@app.command()
def search(
    rows: Annotated[
        list[int] | None, typer.Option("--rows", min=1_000, help="Products; repeat for more sizes.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines; the last is the summary.")] = False,
) -> None:
    """Precomputed impacts beside FTS5's bm25(), in turn on the same queries."""
    from ego_cli.evaluation import bench

    records = []
    for number in rows or [50_000]:
        with progress(f"{number:,} products") as advance:
            records.append(bench.search(number, advance))
        _print_record(records[-1], as_json=as_json)
    if as_json:
        out_json({"ratios": {str(record["products"]): record["ratios"] for record in records}})


@app.command()
def ingest(
    rows: Annotated[int, typer.Option("--rows", min=1_000, help="Products of the made file.")] = 20_000,
    rounds: Annotated[int, typer.Option(min=1, help="Times that it is loaded.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line.")] = False,
) -> None:
    """A product file until the first answer, at the first start and at the next, beside only parsing its lines."""
    import tempfile

    from ego_cli.evaluation import bench

    with tempfile.TemporaryDirectory(prefix="ego-ingest-") as folder:
        file = Path(folder) / "made.jsonl"
        _write_made(file, rows)
        _print_record(bench.ingest(file, products=rows, rounds=rounds), as_json=as_json)


@app.command()
def memory(as_json: Annotated[bool, typer.Option("--json", help="One JSON line.")] = False) -> None:
    """Writers at once to one memory, and how long a turn waits for it."""
    from ego_cli.evaluation import bench

    _print_record(bench.memory(), as_json=as_json)


@app.command("make-catalog")
def make_catalog(
    number: Annotated[int, typer.Argument(metavar="N", min=1, max=5_000_000, help="Products to write.")],
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; without it, standard output.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed gives another catalogue.")] = None,
) -> None:
    """Write a made catalogue of clothing, shoes and jewelry as JSON lines."""
    from ego_cli.evaluation.make_catalogue import SEED, line_of, rows

    made = map(line_of, rows(number, seed=SEED if seed is None else seed))
    if output is None:
        for line in made:
            out(line)
        return
    with output.open("w", encoding="utf-8") as file, progress(f"writing {output.name}") as advance:
        for place, line in enumerate(made, 1):
            file.write(line + "\n")
            if place % 1000 == 0:
                advance(place, number)
    note(f"{number:,} products in {output}")


@app.command()
def startup(
    rounds: Annotated[int, typer.Option(min=3, help="Times that every command is started.")] = 15,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line.")] = False,
) -> None:
    """CPU time of whole commands beside the bare interpreter's."""
    from ego_cli.evaluation import bench

    _print_record(bench.startup(rounds=rounds), as_json=as_json)


@app.command()
def turn(
    catalog: Annotated[
        list[str] | None, typer.Option("--catalog", "-c", help="A product file or a catalogue; repeat it.")
    ] = None,
    rows: Annotated[
        list[int] | None,
        typer.Option("--rows", min=1_000, help="A made catalogue of so many products; repeat it."),
    ] = None,
    passes: Annotated[int, typer.Option(min=3, help="Passes, each with new customers.")] = 5,
    synthetic: Annotated[
        bool,
        typer.Option("--synthetic", help="Where a catalogue has no vectors, random ones: for their cost."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines; the last is the summary.")] = False,
) -> None:
    """A whole turn, stage by stage, with vectors and without; with several catalogues, its growth."""
    from ego_cli.evaluation import bench, bench_turn
    from ego_cli.settings import load_settings

    catalogues = [*(catalog or []), *(str(bench.made_file(size, _write_made)) for size in rows or [])]
    records = []
    for each in catalogues or [load_settings().catalog]:
        records.append(bench.turn(each, note, passes=passes, synthetic=synthetic))
        _print_record(records[-1], as_json=as_json)
    if len(records) > 1:
        smallest = min(int(record["products"]) for record in records)
        ratios = bench_turn.growth(records)
        _print_record(bench.record("turn-growth", smallest=smallest, ratios=ratios), as_json=as_json)


@app.command()
def growth(
    rows: Annotated[list[int] | None, typer.Option("--rows", min=1_000, help="Products; repeat it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line.")] = False,
) -> None:
    """First start, later start and a turn as a made catalogue grows."""
    from ego_cli.evaluation import bench

    _print_record(bench.growth(_write_made, sizes=rows or bench.GROWTH, tell=note), as_json=as_json)


@app.command()
def docs(
    records: Annotated[list[Path], typer.Argument(help="Records, as `ego bench` and `ego eval` kept them.")],
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; else standard output.")
    ] = None,
) -> None:
    """Make the benchmarks document from records."""
    from ego_cli.evaluation import bench, bench_document

    text = bench_document.document(bench.read_records(records))
    if output is None:
        out(text.rstrip())
    else:
        output.write_text(text, encoding="utf-8")


def _write_made(path: Path, size: int) -> None:
    from ego_cli.evaluation.make_catalogue import line_of, rows

    with path.open("w", encoding="utf-8") as file:
        file.writelines(line_of(row) + "\n" for row in rows(size))


def _print_record(record: dict[str, Any], *, as_json: bool) -> None:
    from ego_cli.evaluation import bench, bench_document

    note(f"kept in {bench.keep(record)}")
    if as_json:
        out_json(record)
    else:
        out(bench_document.document([record]).split("\n\n", 2)[2].rstrip())
