"""`ego catalog`: product files in, catalogues looked at, chosen and removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ego_cli.console import Advance, out, out_json, progress, table, warn

if TYPE_CHECKING:
    from ego_cli.catalog.product import Product
    from ego_cli.catalog.readers import Reading
    from ego_cli.catalog.reading.records import Skip
    from ego_cli.catalog.store import Catalogue

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

_SKIPS_SHOWN = 10  # bad rows named one by one for a person
_SHOWN_AS_STORED = 3  # products that `inspect` shows
_TOLD_EVERY = 200  # products between two looks at the progress bar
_FACET_VALUES = 8  # values of a facet in a summary

Json = Annotated[bool, typer.Option("--json", help="JSON lines; the last one is the summary.")]
Map = Annotated[
    str | None,
    typer.Option("--map", metavar="FIELD=COLUMN,…", help="Which column holds what: title=Name,price=Price."),
]
Currency = Annotated[
    str | None,
    typer.Option("--currency", metavar="CODE", help="Currency of prices that carry no mark, such as NGN."),
]


@app.command()
def add(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="CSV, TSV, JSON or JSON lines, also .gz.")
    ],
    name: Annotated[
        str | None, typer.Option("--name", "-n", help="Name of the catalogue; else the first file's.")
    ] = None,
    currency: Currency = None,
    mapping: Map = None,
    strict: Annotated[bool, typer.Option("--strict", help="Leave with 1 if any row was skipped.")] = False,
    as_json: Json = False,
) -> None:
    """Load product files into a catalogue; products that are there already are updated by id."""
    from ego_cli.catalog.readers import collapse
    from ego_cli.catalog.store import load_catalogue, path_of
    from ego_cli.conversation.wording import plural
    from ego_cli.errors import ExitCode

    name = _name_of(files[0]) if name is None else name
    path_of(name)  # a name that cannot be is said before a long file is read
    readings = [_read(file, mapping, currency) for file in files]
    products = collapse(*readings)
    with progress(f"Loading {name}") as advance:
        report = load_catalogue(
            name,
            _telling(products, readings, advance),
            currency=_currency(currency) or _shared_currency(readings),
            source=", ".join(str(file.resolve()) for file in files),
            progress=lambda stage, done, total: advance(done, total) if stage != "reading" else None,
        )
    loaded = report.loaded - products.merged
    merged = products.merged + sum(reading.folded for reading in readings)
    skipped = sum(reading.skipped_count for reading in readings) + report.skipped
    summary = {
        "name": name,
        "loaded": loaded,
        "skipped": skipped,
        "merged": merged,
        "left_out": sum(reading.left_out.total() for reading in readings),
        "currency": _shared_currency(readings),
        "seconds": round(report.seconds, 3),
    }
    _report_skips(readings, as_json)
    if as_json:
        out_json(summary)
    else:
        for line in _left_out_lines(readings):
            out(line)
        out(
            f"{name}: {plural(loaded, 'product')} loaded, {plural(merged, 'row')} merged into others, {skipped:,} skipped "
            f"({report.seconds:.1f} s)"
        )
        for reading in readings:
            if reading.currency is None and any(column.role == "price" for column in reading.columns):
                out(
                    f"{reading.path.name}: prices have no currency: pass --currency CODE, such as --currency USD"
                )
    if strict and skipped:
        raise typer.Exit(int(ExitCode.FAILED))


@app.command("list")
def list_(as_json: Json = False) -> None:
    """The catalogues of this machine, the embedded ones included."""
    from ego_cli.catalog.store import list_catalogues
    from ego_cli.settings import load_settings

    default = load_settings().catalog
    rows = [
        {
            "name": entry.name,
            "products": entry.products,
            "currency": entry.currency,
            "default": entry.name == default,
            "source": entry.source,
        }
        for entry in list_catalogues()
    ]
    if as_json:
        out_json({"catalogues": rows})
        return
    table([{**row, "default": "*" if row["default"] else ""} for row in rows], rows[0] if rows else ("name",))


@app.command()
def show(
    product_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="A product; without it, the catalogue.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", "-n", help="Catalogue; else the default one.")] = None,
    as_json: Json = False,
) -> None:
    """A product as stored, with its facets and features; or a catalogue's summary."""
    from ego_cli.catalog.store import list_catalogues, open_catalogue
    from ego_cli.errors import NotFoundError
    from ego_cli.settings import load_settings

    catalogue = open_catalogue(name or load_settings().catalog)
    if product_id is None:
        _show_catalogue(catalogue, as_json)
        return
    row = catalogue.row_of(product_id)
    if row is None:
        raise NotFoundError(
            f"{catalogue.name} has no product {product_id!r}",
            hint=f"a catalogue's summary: `ego catalog show --name {product_id}`"
            if product_id in {entry.name for entry in list_catalogues()}
            else "ids stand in `ego ask … --json`",
        )
    stored = _as_fields(catalogue.product(row))
    facets: dict[str, list[str]] = {}
    for attribute, value in catalogue.facets.of_row(row):
        facets.setdefault(attribute, []).append(value)
    features = _features_of(catalogue, row)
    if as_json:
        out_json({"catalogue": catalogue.name, **stored, "facets": facets, "features": features})
        return
    _print_fields(stored)
    found: Mapping[str, Any]
    for heading, found in (("facets", facets), ("features", features)):
        if found:
            out(f"{heading}:")
            for key, held in found.items():
                out(f"  {key}: {', '.join(held) if isinstance(held, list) else held}")


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    currency: Currency = None,
    mapping: Map = None,
    as_json: Json = False,
) -> None:
    """How a product file would be understood: columns, three products as stored, what would be dropped. Writes nothing."""
    from ego_cli.catalog.readers import collapse
    from ego_cli.conversation.wording import plural

    reading = _read(file, mapping, currency)
    products = collapse(reading)
    first: dict[str, Product] = {}
    count = 0
    with progress(f"Reading {file.name}") as advance:
        for product in _telling(products, [reading], advance):
            count += 1
            if len(first) < _SHOWN_AS_STORED or product.id in first:
                first[product.id] = product
    kept, merged = count - products.merged, products.merged + reading.folded
    columns = [{"column": c.name, "holds": _in_words(c.role), "why": c.why} for c in reading.columns]
    summary = {
        "file": str(file),
        "format": reading.format,
        "encoding": reading.encoding,
        "currency": reading.currency,
        "currency_from": reading.currency_origin,
        "products": kept,
        "merged": merged,
        "skipped": reading.skipped_count,
        "left_out": reading.left_out.total(),
    }
    if as_json:
        for column in columns:
            out_json(column)
        for product in first.values():
            out_json({"product": _as_fields(product)})
        _report_skips([reading], as_json=True)
        out_json(summary)
        return
    money = (
        f"{reading.currency}, from {reading.currency_origin}"
        if reading.currency
        else "not known; say --currency CODE"
    )
    out(f"{file.name}: {reading.format}, {reading.encoding}; prices in {money}")
    out(
        f"{plural(kept, 'product')}, {plural(merged, 'row')} merged into others, "
        f"{plural(reading.skipped_count, 'row')} skipped"
    )
    for line in _left_out_lines([reading]):
        out(line)
    out()
    table([c for c in columns if c["holds"] != "dropped"], ("column", "holds", "why"))
    dropped = [c for c in columns if c["holds"] == "dropped"]
    if dropped:
        out()
        out("Columns that would be dropped:")
        for column in dropped:
            out(f"  {column['column']}: {column['why']}")
    if reading.skipped_count:
        out()
        out(f"Rows that would be skipped ({reading.skipped_count:,}):")
        for line in _skip_lines([reading]):
            out(f"  {line}")
    for number, product in enumerate(first.values(), 1):
        out()
        out(f"Product {number} as it would be stored:")
        _print_fields(_as_fields(product), indent="  ")


@app.command()
def check(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Catalogue; else the default one.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Whether a catalogue's file and its search index are whole; leaves with 1 if not."""
    from ego_cli.catalog.store import check_catalogue, open_catalogue
    from ego_cli.errors import ExitCode
    from ego_cli.settings import load_settings

    name = name or load_settings().catalog
    open_catalogue(name)  # an embedded catalogue is built at first use
    findings = check_catalogue(name)
    broken = any(finding.severity == "error" for finding in findings)
    if as_json:
        for finding in findings:
            out_json({"severity": finding.severity, "message": finding.message})
        out_json({"name": name, "whole": not broken})
    else:
        for finding in findings:
            out(f"{finding.severity:<7}  {finding.message}")
    if broken:
        raise typer.Exit(int(ExitCode.FAILED))


@app.command()
def embed(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Catalogue; else the default one.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="minilm-int8, or a path or hub name for [sentence-transformers].")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Throw away what stands there, such as another model's.")
    ] = False,
    background: Annotated[
        bool, typer.Option("--background", hidden=True, help="For a chat: quiet, and ends with its parent.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Give products sentence vectors, for questions in words that no product uses. Can be stopped and goes on later."""
    from ego_cli.catalog import dense, embedding
    from ego_cli.catalog.store import open_catalogue
    from ego_cli.settings import load_settings

    settings = load_settings()
    catalogue = open_catalogue(name or settings.catalog)
    if background:
        embedding.embed_quietly(catalogue, out_json, encoder=encoder or settings.ranking.encoder)
    with progress(f"embedding {catalogue.name}") as advance:
        done = dense.embed(catalogue, advance, encoder=encoder or settings.ranking.encoder, again=again)
    if as_json:
        out_json(
            {"name": catalogue.name, "embedded": done.embedded, "kept": done.kept, "removed": done.removed}
        )
        return
    out(f"{catalogue.name}: {done.embedded:,} embedded, {done.kept:,} had a vector ({done.seconds:.0f} s)")


@app.command()
def remove(name: Annotated[str, typer.Argument(metavar="NAME")], as_json: Json = False) -> None:
    """Delete a catalogue (never the file that it was loaded from)."""
    from ego_cli.catalog.store import list_catalogues, remove_catalogue
    from ego_cli.settings import load_settings

    remove_catalogue(name)
    left = [entry.name for entry in list_catalogues()]
    if as_json:
        out_json({"removed": name})
    elif load_settings().catalog == name and name not in left:
        out(
            f"{name} is removed; it was the default: choose another with `ego catalog use` ({', '.join(left)})"
        )
    else:
        out(f"{name} is removed")


@app.command()
def use(name: Annotated[str, typer.Argument(metavar="NAME")], as_json: Json = False) -> None:
    """Make a catalogue the one that is shopped in by default."""
    from ego_cli.catalog.store import list_catalogues
    from ego_cli.errors import NotFoundError
    from ego_cli.settings import save_setting

    known = [entry.name for entry in list_catalogues()]
    if name not in known:
        raise NotFoundError(f"no catalogue named {name!r}", hint=f"there are {', '.join(known)}")
    path = save_setting("catalog", name)
    if as_json:
        out_json({"catalog": name, "config": str(path)})
    else:
        out(f"{name} is now the default catalogue ({path})")


# -- reading


def _read(file: Path, mapping: str | None, currency: str | None) -> Reading:
    from ego_cli.catalog.readers import read_products

    return read_products(file, mapping=_mapping(mapping), currency=_currency(currency))


def _mapping(text: str | None) -> dict[str, str] | None:
    """``title=Name,price=Price``; a column's name may hold commas if no ``=`` follows before the next one."""
    import re

    from ego_cli.errors import MisuseError

    if not text:
        return None
    pairs = [part.partition("=") for part in re.split(r",(?=\s*[\w-]+\s*=)", text)]
    if any(not between or not column.strip() for _, between, column in pairs):
        raise MisuseError(
            f"--map {text!r} is not FIELD=COLUMN,…", hint="such as --map title=Name,price=Price"
        )
    return {field.strip(): column.strip() for field, _, column in pairs}


def _currency(text: str | None) -> str | None:
    from ego_cli.catalog.readers import currency_code
    from ego_cli.errors import MisuseError

    if text is None:
        return None
    code = currency_code(text)
    if code is None:
        raise MisuseError(f"{text!r} is not a currency", hint="give its code, such as NGN or USD")
    return code


def _name_of(file: Path) -> str:
    """A catalogue's name from a file's: ``Jumia NG (2026).csv.gz`` -> ``jumia-ng-2026``."""
    import re

    stem = file.name.split(".")[0] or file.name.strip(".")
    return re.sub(r"[^\w]+", "-", stem.casefold()).strip("-_")[:64] or "catalogue"


def _telling(products: Iterable[Product], readings: list[Reading], advance: Advance) -> Iterator[Product]:
    """Products passed on, with the share of bytes read so far told now and then."""
    size = sum(reading.path.stat().st_size for reading in readings)
    for number, product in enumerate(products):
        if number % _TOLD_EVERY == 0:
            advance(sum(reading.position() for reading in readings), size)
        yield product


def _shared_currency(readings: list[Reading]) -> str | None:
    """What all files that know their currency agree on."""
    known = {reading.currency for reading in readings if reading.currency}
    return known.pop() if len(known) == 1 else None


def _report_skips(readings: list[Reading], as_json: bool) -> None:
    if as_json:
        for reading in readings:
            for skip in _in_order(reading):
                out_json({"file": str(reading.path), "line": skip.line, "skipped": skip.reason})
        return
    for line in _skip_lines(readings):
        warn(line)


def _left_out_lines(readings: list[Reading]) -> Iterator[str]:
    """What the shop itself does not show, counted: "shop.csv: 12 left out: 9 draft, 3 archived"."""
    for reading in readings:
        if reading.left_out:
            states = ", ".join(f"{count:,} {state}" for state, count in reading.left_out.most_common())
            yield f"{reading.path.name}: {reading.left_out.total():,} left out, not shown by the shop: {states}"


def _in_order(reading: Reading) -> list[Skip]:
    """Bad rows by line: those that cannot be parsed are met before those that hold no product."""
    return sorted(reading.skipped, key=lambda skip: skip.line)


def _skip_lines(readings: list[Reading]) -> Iterator[str]:
    for reading in readings:
        for skip in _in_order(reading)[:_SKIPS_SHOWN]:
            where = f" line {skip.line}" if skip.line else ""
            yield f"{reading.path.name}{where}: {skip.reason}"
        if (more := reading.skipped_count - _SKIPS_SHOWN) > 0:
            yield f"{reading.path.name}: and {more:,} more"


# -- showing

_ROLE_WORDS = {
    "drop": "dropped",
    "status": "whether the shop shows it",
    "published": "whether the shop shows it",
    "hidden": "whether the shop hides it",
    "detail": "a detail",
    "details": "details",
    "key_value": "details, each with its name",
    "flag": "a yes or no",
    "pair": "a detail's name",
    "rating_and_count": "rating and its count",
    "rating_count": "number of ratings",
    "price_list": "price before discounts",
    "price_max": "upper price",
    "group": "which rows belong together",
    "objects": "details",
    "url": "link",
}


def _in_words(role: str) -> str:
    return _ROLE_WORDS.get(role, role.replace("_", " "))


def _as_fields(product: Product) -> dict[str, Any]:
    """A product's stored fields by name, the empty ones left out."""
    from dataclasses import asdict, fields

    found: dict[str, Any] = {}
    for field in fields(product):
        value = getattr(product, field.name)
        if value in (None, "", (), 0) or (isinstance(value, Mapping) and not value):
            continue
        if field.name == "offers":
            value = [asdict(offer) for offer in value]
        elif isinstance(value, tuple):
            value = list(value)
        elif isinstance(value, Mapping):
            value = dict(value)
        found[field.name] = value
    return found


def _print_fields(fields: Mapping[str, Any], indent: str = "") -> None:
    from ego_cli.catalog.money import format_money

    for name, value in fields.items():
        if name in ("price", "price_max"):
            value = format_money(value, fields.get("currency"))
        if name == "offers":
            out(f"{indent}offers:")
            for offer in value:
                price = (
                    format_money(offer["price"], offer["currency"])
                    if offer["price"] is not None
                    else "no price"
                )
                out(f"{indent}  {'  '.join(part for part in (offer['seller'], price, offer['url']) if part)}")
        elif isinstance(value, dict):
            out(f"{indent}{name}:")
            for key, text in value.items():
                out(f"{indent}  {key}: {text}")
        elif isinstance(value, list) and name in ("features", "reviews"):
            out(f"{indent}{name}:")
            for text in value:
                out(f"{indent}  - {text}")
        else:
            joiner = " > " if name == "categories" else ", "
            out(f"{indent}{name}: {joiner.join(value) if isinstance(value, list) else value}")


def _features_of(catalogue: Catalogue, row: int) -> dict[str, Any]:
    """What ranking knows of a product beyond its own fields: its kind, quality, brand tier, popularity, percentile, signals."""
    import math
    from datetime import UTC, datetime

    from ego_cli.catalog.enrich import signals_of
    from ego_cli.catalog.index import index_of
    from ego_cli.catalog.signals import SignalStore
    from ego_cli.catalog.taxonomy import taxonomy

    index = index_of(catalogue)
    product = catalogue.product(row)
    popularity = SignalStore(catalogue.path).snapshot(datetime.now(UTC)).popularity.get(product.id, 0.0)
    numbers = {**index.features.of(row), "popularity": popularity}
    found: dict[str, Any] = {"kind": str(taxonomy().tags[index.types.tag_of_row[row]])}
    found |= {name: round(value, 4) for name, value in sorted(numbers.items()) if math.isfinite(value)}
    found["signals"] = [f"{signal.type}: {signal.name} ({signal.field})" for signal in signals_of(product)]
    return found


def _show_catalogue(catalogue: Catalogue, as_json: bool) -> None:
    import numpy as np

    from ego_cli.catalog import dense
    from ego_cli.catalog.money import format_money
    from ego_cli.catalog.store import DEMOS
    from ego_cli.conversation.wording import plural
    from ego_cli.places import demo_catalogue_file

    prices = catalogue.columns["price"]
    priced = prices[~np.isnan(prices)]
    rated = int(np.count_nonzero(~np.isnan(catalogue.columns["rating"])))
    illustrative = catalogue.name in DEMOS and catalogue.source == str(
        demo_catalogue_file(f"{catalogue.name}.jsonl")
    )
    embedded, model = dense.coverage(catalogue)
    facets = {
        attribute: dict(list(catalogue.facets.values(attribute).items())[:_FACET_VALUES])
        for attribute in ("category", "brand", "colour", "material", "size", "gender")
        if catalogue.facets.values(attribute)
    }
    summary: dict[str, Any] = {
        "name": catalogue.name,
        "products": len(catalogue),
        "currency": catalogue.currency,
        "source": catalogue.source,
        "illustrative": illustrative,
        "with_price": int(priced.size),
        "lowest_price": float(priced.min()) if priced.size else None,
        "median_price": float(np.median(priced)) if priced.size else None,
        "highest_price": float(priced.max()) if priced.size else None,
        "with_rating": rated,
        "with_vector": embedded,
        "vectors_by": model,
        "facets": facets,
    }
    if as_json:
        out_json(summary)
        return
    out(f"{catalogue.name}: {plural(len(catalogue), 'product')}, from {catalogue.source}")
    if illustrative:
        out("Illustrative: brands, models, ratings and reviews of this catalogue are invented.")
    if priced.size:
        lowest, median, highest = (
            format_money(summary[f"{which}_price"], catalogue.currency)
            for which in ("lowest", "median", "highest")
        )
        out(f"prices: {lowest} to {highest}, median {median}; {priced.size:,} products have one")
    out(f"ratings: {rated:,} products have one")
    out(f"sentence vectors: {embedded:,} products have one" + (f", by {model}" if model else ""))
    for attribute, values in facets.items():
        out(f"{attribute}: " + ", ".join(f"{value} ({count:,})" for value, count in values.items()))
