"""`ego bench`: benchmarks with ratios, and the catalogue maker."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ego_cli.console import note, out, out_json, progress, table

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Benchmarks with ratios, and the catalogue maker."
)


@app.command()
def search(
    rows: Annotated[
        list[int] | None, typer.Option("--rows", min=1_000, help="Products; repeat for more sizes.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines; the last is the summary.")] = False,
) -> None:
    """Precomputed impacts against FTS5's bm25(), in turn on the same queries."""
    from dataclasses import asdict

    from ego_cli.evaluation import bench_search

    lines = []
    summary = {}
    for number in rows or [50_000]:
        with progress(f"{number:,} products") as advance:
            done = bench_search.run(number, advance)
        ratios = {name: round(value, 1) for name, value in done.ratios.items()}
        summary[str(number)] = ratios
        lines.append(
            {
                "products": number,
                "queries": done.queries,
                "same top 10": done.identical,
                "rows matched": f"{done.matched:.0%}",
                "FTS5 p50 ms": round(done.fts5.p50, 2),
                "impacts p50 ms": round(done.impacts.p50, 3),
                "p50 ratio": ratios["p50"],
                "FTS5 p99 ms": round(done.fts5.p99, 2),
                "impacts p99 ms": round(done.impacts.p99, 3),
                "p99 ratio": ratios["p99"],
                "load s": round(done.build_s, 1),
                "cache cpu s": round(done.cache_build_s, 1),
                "open ms": round(done.open_ms),
                "peak MB": round(done.peak_mb),
            }
        )
        if as_json:
            out_json(asdict(done))
    if as_json:
        out_json({"ratios": summary, "machine": bench_search.machine()})
        return
    columns = [
        {"": name, **{f"{line['products']:,}": line[name] for line in lines}} for name in list(lines[0])[1:]
    ]
    table(columns, columns[0])
    out(", ".join(f"{name} {value}" for name, value in bench_search.machine().items()))


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
        str | None, typer.Option("--catalog", "-c", help="A product file or a catalogue.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=3, help="Times that every conversation is held.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line.")] = False,
) -> None:
    """A whole turn of the assistant beside one plain full-text search over the same products."""
    from ego_cli.evaluation import bench
    from ego_cli.settings import load_settings

    _print_record(bench.turn(catalog or load_settings().catalog, rounds=rounds), as_json=as_json)


@app.command()
def growth(
    rows: Annotated[list[int] | None, typer.Option("--rows", min=1_000, help="Products; repeat it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON line.")] = False,
) -> None:
    """First start, later start and a turn as a made catalogue grows."""
    from ego_cli.evaluation import bench
    from ego_cli.evaluation.make_catalogue import line_of
    from ego_cli.evaluation.make_catalogue import rows as made_rows

    def make(path: Path, size: int) -> None:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(line_of(row) + "\n" for row in made_rows(size))

    _print_record(bench.growth(make, sizes=rows or bench.GROWTH, tell=note), as_json=as_json)


@app.command()
def docs(
    records: Annotated[
        list[Path], typer.Argument(help="Records, as `ego bench` and `ego eval shop` kept them.")
    ],
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="File to write; else standard output.")
    ] = None,
) -> None:
    """Make the benchmarks document from records."""
    from ego_cli.evaluation import bench

    text = bench.document(bench.read_records(records))
    if output is None:
        out(text.rstrip())
    else:
        output.write_text(text, encoding="utf-8")


def _print_record(record: dict[str, Any], *, as_json: bool) -> None:
    from ego_cli.evaluation import bench

    note(f"kept in {bench.keep(record)}")
    if as_json:
        out_json(record)
    else:
        out(bench.document([record]).split("\n\n", 2)[2].rstrip())
