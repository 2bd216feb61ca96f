"""`ego catalog` from the outside: files in, lines out, exit codes as designed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SHOP = (
    "id,name,brand,price,color,seller\n"
    'a1,Zuri power bank 20000mAh,Zuri,"₦ 15,500",black,Shop A\n'
    'a2,Zuri power bank 10000mAh,Zuri,"₦ 9,500",white,Shop A\n'
    'a3,Zuri power bank 10000mAh,Zuri,"₦ 9,000",white,Shop B\n'
    "a4,,Zuri,5,,\n"
)


class Ego:
    """Runs the command line in a home of its own."""

    folder: Path | None = None  # where it is run

    def __init__(self, home: Path) -> None:
        self.environment = {**os.environ, "EGO_HOME": str(home), "NO_COLOR": "1"}
        self.environment.pop("EGO_CONFIG", None)
        self.environment.pop("EGO_CATALOG", None)

    def __call__(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "ego_cli", *words],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    def json(self, *words: str, code: int = 0) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self(*words, "--json", code=code).stdout.splitlines()]


@pytest.fixture
def ego(tmp_path: Path) -> Ego:
    return Ego(tmp_path / "home")


@pytest.fixture
def shop(tmp_path: Path) -> str:
    path = tmp_path / "My Shop.csv"
    path.write_text(SHOP, encoding="utf-8")
    return str(path)


def test_add_reports_what_it_loaded_skipped_and_merged(ego: Ego, shop: str) -> None:
    *lines, summary = ego.json("catalog", "add", shop)
    assert (summary["name"], summary["loaded"], summary["skipped"], summary["merged"]) == ("my-shop", 2, 1, 1)
    assert summary["currency"] == "NGN"
    assert [(line["line"], line["skipped"]) for line in lines] == [(5, "no title")]
    (entry,) = [c for c in ego.json("catalog", "list")[-1]["catalogues"] if c["name"] == "my-shop"]
    assert entry["products"] == 2


def test_loading_again_updates_by_id(ego: Ego, shop: str, tmp_path: Path) -> None:
    ego("catalog", "add", shop, "--name", "s")
    again = tmp_path / "again.csv"
    again.write_text(
        'id,name,price\na1,Zuri power bank 20000mAh,"₦ 12,000"\nb1,Kolo fan,"₦ 20,000"\n', encoding="utf-8"
    )
    ego("catalog", "add", str(again), "--name", "s")
    assert ego.json("catalog", "show", "a1", "-n", "s")[-1]["price"] == 12000
    assert ego.json("catalog", "show", "-n", "s")[-1]["products"] == 3


def test_show_prints_a_product_with_offers_and_facets(ego: Ego, shop: str) -> None:
    ego("catalog", "add", shop, "--name", "s")
    product = ego.json("catalog", "show", "a2", "--name", "s")[-1]
    assert (product["title"], product["price"], product["colours"]) == (
        "Zuri power bank 10000mAh",
        9000,
        ["white"],
    )
    assert [offer["seller"] for offer in product["offers"]] == ["Shop A", "Shop B"]
    assert product["facets"]["brand"] == ["Zuri"]
    text = ego("catalog", "show", "a2", "--name", "s").stdout
    assert "Shop B" in text and "₦9,000" in text
    ego("catalog", "show", "nonesuch", "--name", "s", code=3)


def test_a_catalogue_where_a_product_is_wanted_is_told_how_to_ask(ego: Ego, shop: str) -> None:
    ego("catalog", "add", shop, "--name", "s")
    assert "catalog show --name s" in ego("catalog", "show", "s", code=3).stderr


def test_strict_leaves_with_one_after_loading(ego: Ego, shop: str) -> None:
    done = ego("catalog", "add", shop, "--name", "s", "--strict", code=1)
    assert "line 5: no title" in done.stderr
    assert ego.json("catalog", "show", "-n", "s")[-1]["products"] == 2


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty.csv", b"", 1),
        ("binary.csv", bytes(range(256)) * 9, 1),
        ("untitled.csv", b"a,b\n1,2\n3,4\n", 1),
        ("missing.csv", None, 2),
    ],
)
def test_a_useless_file_is_one_line_and_the_old_catalogue_stays(
    ego: Ego, shop: str, tmp_path: Path, name: str, content: bytes | None, code: int
) -> None:
    ego("catalog", "add", shop, "--name", "s")
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    done = ego("catalog", "add", str(path), "--name", "s", code=code)
    assert len(done.stderr.strip().splitlines()) == 1 and name in done.stderr
    assert done.stdout == ""
    assert ego.json("catalog", "show", "-n", "s")[-1]["products"] == 2


def test_a_folder_is_misuse(ego: Ego, tmp_path: Path) -> None:
    assert "folder" in ego("catalog", "add", str(tmp_path), code=2).stderr


def test_map_and_currency_are_obeyed_and_checked(ego: Ego, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("What,How much\nRed lamp,5\nBlue lamp,6\n")
    ego("catalog", "add", str(path), "--map", "title=What,price=How much", "--currency", "ngn", "-n", "odd")
    summary = ego.json("catalog", "show", "-n", "odd")[-1]
    assert (summary["currency"], summary["lowest_price"]) == ("NGN", 5)
    assert "no such column" in ego("catalog", "add", str(path), "--map", "title=Nope", code=2).stderr
    assert "FIELD=COLUMN" in ego("catalog", "add", str(path), "--map", "title", code=2).stderr
    assert "currency" in ego("catalog", "add", str(path), "--currency", "12", code=2).stderr


def test_inspect_explains_and_writes_nothing(ego: Ego, shop: str, tmp_path: Path) -> None:
    text = ego("catalog", "inspect", shop).stdout
    assert "Product 2 as it would be stored" in text
    assert "line 5: no title" in text
    *lines, summary = ego.json("catalog", "inspect", shop)
    assert {line["column"]: line["holds"] for line in lines if "column" in line}["name"] == "title"
    assert all(line["why"] for line in lines if "column" in line)
    assert sum("product" in line for line in lines) == 2
    assert (summary["products"], summary["merged"], summary["skipped"]) == (2, 1, 1)
    assert not (tmp_path / "home").exists()


def test_use_changes_the_default_and_keeps_the_rest_of_the_configuration(
    ego: Ego, shop: str, tmp_path: Path
) -> None:
    config = tmp_path / "home" / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('user = "ada"  # me\n\n[tui]\ntheme = "nord"\n')
    ego("catalog", "add", shop, "--name", "s")
    ego("catalog", "use", "s")
    assert ego.json("catalog", "show")[-1]["name"] == "s"
    assert config.read_text() == 'user = "ada"  # me\ncatalog = "s"\n\n[tui]\ntheme = "nord"\n'
    ego("catalog", "use", "naija")
    assert config.read_text().count("catalog") == 1
    ego("catalog", "use", "nonesuch", code=3)


def test_check_and_remove(ego: Ego, shop: str) -> None:
    ego("catalog", "add", shop, "--name", "s")
    assert ego.json("catalog", "check", "s")[-1] == {"name": "s", "whole": True}
    ego("catalog", "remove", "s")
    ego("catalog", "remove", "s", code=3)
    ego("catalog", "show", "-n", "s", code=3)
    assert Path(shop).exists()


def test_a_demo_catalogue_says_that_it_is_invented(ego: Ego) -> None:
    assert "Illustrative" in ego("catalog", "show", "-n", "naija").stdout
    assert ego.json("catalog", "show", "-n", "boutique")[-1]["illustrative"] is True


def test_every_file_of_the_open_data_loads(ego: Ego, shared: Path) -> None:
    files = sorted(str(p) for p in (shared / "data" / "catalogues").iterdir() if p.suffix != ".md")
    summary = ego.json("catalog", "add", *files, "--name", "all")[-1]
    assert summary["loaded"] + summary["merged"] + summary["skipped"] == 9609
    assert summary["skipped"] == 1
    assert ego.json("catalog", "check", "all")[-1]["whole"]


def test_a_bare_file_name_is_a_file_of_this_folder_unless_a_catalogue_has_the_name(
    ego: Ego, tmp_path: Path
) -> None:
    ego.folder = tmp_path
    (tmp_path / "my shop.csv").write_text(SHOP, encoding="utf-8")
    (tmp_path / "shop.csv").write_text("id,name,price\nb1,Folding lamp,900\n", encoding="utf-8")
    titles = [row["title"] for row in ego.json("ask", "-c", "my shop.csv", "power bank")[-1]["shown"]]
    assert "Zuri power bank 20000mAh" in titles
    assert ego.json("ask", "-c", "shop.csv", "lamp")[-1]["shown"][0]["title"] == "Folding lamp"
    (tmp_path / "stored.csv").write_text("id,name,price\nc1,Standing lamp,800\n", encoding="utf-8")
    ego("catalog", "add", "stored.csv", "--name", "shop.csv")
    assert ego.json("ask", "-c", "shop.csv", "lamp")[-1]["shown"][0]["title"] == "Standing lamp"
    missing = ego("ask", "-c", "absent.csv", "lamp", code=3).stderr
    assert "no such file in this folder" in missing and len(missing.splitlines()) == 1


def test_what_the_shop_does_not_show_is_counted_in_one_line(ego: Ego, tmp_path: Path) -> None:
    rows = "".join(f"{n},Lamp {n},9,{'draft' if n < 4 else 'active'}\n" for n in range(1, 8))
    path = tmp_path / "lamps.csv"
    path.write_text(f"id,title,price,status\n{rows}8,Torch,5,archived\n", encoding="utf-8")
    printed = ego("catalog", "add", str(path), "--currency", "NGN").stdout.splitlines()
    assert printed[0] == "lamps.csv: 4 left out, not shown by the shop: 3 draft, 1 archived"
    assert "4 products loaded" in printed[1] and len(printed) == 2
    assert ego.json("catalog", "inspect", str(path))[-1]["left_out"] == 4


def test_prices_without_a_currency_are_told_with_the_option_that_names_it(ego: Ego, tmp_path: Path) -> None:
    path = tmp_path / "lamps.csv"
    path.write_text("id,title,price\n1,Lamp,9\n2,Torch,5\n", encoding="utf-8")
    hint = "lamps.csv: prices have no currency: pass --currency CODE, such as --currency USD"
    assert ego("catalog", "add", str(path)).stdout.splitlines()[-1] == hint
    assert "no currency" not in ego("catalog", "add", str(path), "--currency", "USD").stdout
    (tmp_path / "names.csv").write_text("id,title,brand\n1,Lamp,Zuri\n2,Torch,Zuri\n", encoding="utf-8")
    assert "no currency" not in ego("catalog", "add", str(tmp_path / "names.csv")).stdout
