"""Whatever ends a load before its last step, the catalogue that was there stays whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ego_cli.catalog import store
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import check_catalogue, load_catalogue, open_catalogue
from ego_cli.errors import CatalogueError

# Loads 3,000 products over and over, saying "loading" before each load and its number after it.
LOADER = """
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import load_catalogue
round = 0
while True:
    round += 1
    goods = (Product(id=str(n), title=f"thing number{n} round{round}", features=("one", "two words")) for n in range(3000))
    print("loading", flush=True)
    load_catalogue("shop", goods, currency=None, source=str(round), update=bool(round % 2))
    print(round, flush=True)
"""


def goods(number: int, note: str = "") -> Iterator[Product]:
    return (Product(id=str(n), title=f"thing number{n} {note}") for n in range(number))


def leftovers() -> list[str]:
    """Files that no catalogue needs."""
    generation = store.read_about(store.path_of("shop"))["generation"]
    expected = {"shop.db", "shop.lock", f"shop.{generation}"}
    return sorted(path.name for path in store.catalogues_folder().iterdir() if path.name not in expected)


def _hear_interrupts() -> None:
    """A background job is started deaf to SIGINT, and its children with it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_load_killed_at_any_moment_leaves_a_whole_catalogue(ego_home: Path, end: signal.Signals) -> None:
    load_catalogue("shop", goods(3_000, "round0"), currency=None, source="0")
    luck = random.Random(int(end))
    for _ in range(8):
        before = int(store.read_about(store.path_of("shop"))["source"])
        loader = subprocess.Popen(
            [sys.executable, "-c", LOADER],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=_hear_interrupts,
        )
        assert loader.stdout is not None and loader.stdout.readline() == "loading\n"
        time.sleep(luck.random() * 1.2)
        loader.send_signal(end)
        said = [line.strip() for line in loader.stdout.read().splitlines() if line.strip().isdigit()]
        loader.wait()
        store._open.clear()
        catalogue = open_catalogue("shop")
        # What was reported done is there; what was not may have been committed just before the end.
        committed = int(said[-1]) if said else None
        assert catalogue.source in ({str(committed), str(committed + 1)} if committed else {str(before), "1"})
        assert catalogue.size == 3_000 and {product.title.split()[-1] for product in catalogue} == {
            f"round{catalogue.source}"
        }
        assert {finding.severity for finding in check_catalogue("shop")} == {"ok"}
        load_catalogue("shop", goods(3_000, "round0"), currency=None, source="0", update=False)
        assert leftovers() == []


def test_a_reader_that_fails_half_way_leaves_the_catalogue_and_no_litter(ego_home: Path) -> None:
    load_catalogue("shop", goods(10), currency=None, source="a")

    def broken() -> Iterator[Product]:
        yield from goods(1_000, "new")
        raise CatalogueError("line 1,001 cannot be read")

    with pytest.raises(CatalogueError):
        load_catalogue("shop", broken(), currency=None, source="b")
    assert open_catalogue("shop").size == 10 and leftovers() == []


def test_two_loads_at_once_take_turns(ego_home: Path) -> None:
    load_catalogue("shop", goods(10), currency=None, source="a")
    script = """
import sys
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import load_catalogue
load_catalogue("shop", (Product(id=f"{sys.argv[1]}-{n}", title="thing") for n in range(500)), currency=None, source="b")
"""
    loaders = [subprocess.Popen([sys.executable, "-c", script, str(n)], env=os.environ) for n in range(3)]
    assert [loader.wait() for loader in loaders] == [0, 0, 0]
    store._open.clear()
    assert open_catalogue("shop").size == 10 + 3 * 500
    assert leftovers() == []


def test_a_reader_sees_one_whole_generation_while_another_process_loads(ego_home: Path) -> None:
    load_catalogue("shop", goods(3_000, "round0"), currency=None, source="0")
    loader = subprocess.Popen(
        [sys.executable, "-c", LOADER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert loader.stdout is not None and loader.stdout.readline() == "loading\n"
        until = time.monotonic() + 3
        while time.monotonic() < until:
            catalogue = open_catalogue("shop")
            rows, _ = catalogue.search("number77")
            assert [product.title for product in catalogue.products(rows)] == [
                f"thing number77 round{catalogue.source}"
            ]
            assert catalogue.facets.count(rows) == {}
    finally:
        loader.kill()
        loader.wait()
