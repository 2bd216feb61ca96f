"""Rows of strangers' files that are no products for sale: drafts and their kind, and lines of totals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ego_cli.catalog.product import Product
from ego_cli.catalog.readers import Reading, read_products
from ego_cli.errors import CatalogueError


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Write a file and read it: (products, reading)."""

    def reader(content: str, name: str = "shop.csv", **how: Any) -> tuple[list[Product], Reading]:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        reading = read_products(path, **how)
        return list(reading), reading

    return reader


def titles(products: list[Product]) -> list[str]:
    return [product.title for product in products]


def test_drafts_of_a_shopify_export_stay_away_with_their_variants(read: Any) -> None:
    products, reading = read(
        "Handle,Title,Vendor,Published,Option1 Name,Option1 Value,Variant Price,Status\n"
        "dress,Ankara Dress,Zuri,true,Size,S,25000,active\n"
        "dress,,,,,M,26000,\n"
        "coat,Winter Coat,Zuri,true,Size,S,40000,draft\n"
        "coat,,,,,M,41000,\n"
        "cap,Aso Oke Cap,Ogbeni,false,,,8000,active\n"
        "shirt,Old Shirt,Ogbeni,true,,,9000,archived\n"
        "bag,Raffia Bag,Zuri,true,,,7000,active\n"
    )
    assert titles(products) == ["Ankara Dress", "Raffia Bag"]
    assert (products[0].sizes, products[0].price_max) == (("S", "M"), 26000)
    assert reading.left_out == {"draft": 1, "unpublished": 1, "archived": 1} and reading.skipped_count == 0


def test_a_woocommerce_export_says_minus_one_and_hidden(read: Any) -> None:
    products, reading = read(
        "ID,Type,SKU,Name,Published,Visibility in catalog,Regular price,Parent,Attribute 1 name,Attribute 1 value(s)\n"
        '10,variable,hoodie,Hoodie,1,visible,,,Color,"Blue, Green"\n'
        "11,variation,hoodie-blue,Hoodie - Blue,1,visible,45,hoodie,Color,Blue\n"
        "12,variation,hoodie-green,Hoodie - Green,0,visible,49,id:10,Color,Green\n"
        "13,variable,scarf,Scarf,-1,visible,18,,Color,Red\n"
        "14,variation,scarf-red,Scarf - Red,1,visible,18,scarf,Color,Red\n"
        "15,simple,gift,Gift wrap,1,hidden,2,,,\n"
        "16,simple,cap,Cap,1,search,16,,,\n"
    )
    assert titles(products) == ["Hoodie", "Cap"] and products[0].price_max is None
    assert reading.left_out == {"draft": 1, "hidden": 1}


def test_objects_say_it_with_booleans(read: Any) -> None:
    rows = [
        {"id": 1, "title": "Lamp", "price": 9, "published": True},
        {"id": 2, "title": "Torch", "price": 5, "published": False},
    ]
    products, reading = read(json.dumps(rows), "shop.json")
    assert titles(products) == ["Lamp"] and reading.left_out == {"unpublished": 1}


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("status", ("In stock", "Out of stock")),
        ("published", ("1999", "2004")),
        ("active", ("ginger", "zinc")),
        ("archived", ("0", "0")),
    ],
)
def test_columns_that_only_sound_like_it_leave_nothing_out(
    read: Any, column: str, cells: tuple[str, str]
) -> None:
    products, reading = read(f"id,title,price,{column}\n1,Lamp,9,{cells[0]}\n2,Torch,5,{cells[1]}\n")
    assert len(products) == 2 and not reading.left_out


def test_a_file_of_drafts_says_so_and_can_be_read_all_the_same(read: Any) -> None:
    drafts = "id,title,price,status\n1,Lamp,9,draft\n2,Torch,5,Draft\n"
    with pytest.raises(CatalogueError, match="no product that its shop shows: 2 draft"):
        read(drafts)
    assert len(read(drafts, mapping={"drop": "status"})[0]) == 2


@pytest.mark.parametrize(
    "footer",
    [
        ",TOTAL,,14",
        "TOTAL,,,14",
        ",Grand total:,,14 USD",
        "Total,2 products,,14",
        ",Sub-total,,$14.00",
        ",Gesamt,,14",
        "Sum,Sum of all items,,14",
    ],
)
def test_a_line_of_totals_is_no_product(read: Any, footer: str) -> None:
    products, reading = read(f"id,name,brand,price\n1,Lamp,Zuri,9\n2,Torch,Zuri,5\n{footer}\n")
    assert titles(products) == ["Lamp", "Torch"] and reading.skipped_count == 1


@pytest.mark.parametrize(
    "row",
    [
        "3,Total,,5",
        ",Total Repair Shampoo,,5",
        ",Grand Piano,,900",
        ",Total,Kellogg,5",
        ",Sub woofer,,50",
        ",Total Gym,,70",
    ],
)
def test_a_product_that_is_called_like_it_is_one(read: Any, row: str) -> None:
    products, _ = read(f"id,name,brand,price\n1,Lamp,Zuri,9\n2,Torch,Zuri,5\n{row}\n")
    assert len(products) == 3
