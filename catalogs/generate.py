"""Writes naija.jsonl, boutique.jsonl and reviews.jsonl from the tables. Same tables, same bytes.

python catalogs/generate.py            write beside this file
python catalogs/generate.py DIRECTORY  write somewhere else
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import shelves
import shoppers


def shop_rows(name: str) -> list[dict]:
    """All products of one shop with their ids, in shelf order."""
    shop = shelves.load("shops.toml")[name]
    names = shelves.load("brands.toml")
    brands = {b: {"lift": names["lift"].get(b, 0.0)} for group in names[name].values() for b in group}
    rows = [row for table in shop["tables"] for row in shelves.rows_of(table, shop, brands)]
    return [{"id": f"{shop['prefix']}-{n:04d}"} | row for n, row in enumerate(rows, 1)]


def write_lines(path: Path, rows: list[dict]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8", newline="\n")


def main(directory: Path) -> None:
    stock = {name: shop_rows(name) for name in ("naija", "boutique")}
    for name, rows in stock.items():
        write_lines(directory / f"{name}.jsonl", rows)
    write_lines(directory / "reviews.jsonl", shoppers.reviews(stock))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
