"""Products come back as they went in, loads add up by id, and facets tell products apart."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ego_cli.catalog import store
from ego_cli.catalog.product import Offer, Product
from ego_cli.catalog.store import (
    check_catalogue,
    list_catalogues,
    load_catalogue,
    memory_catalogue,
    open_catalogue,
    rebuild_catalogue,
    remove_catalogue,
)
from ego_cli.catalog.stored import decode_product, encode_product
from ego_cli.errors import CatalogueError, MisuseError, NotFoundError

DRESS = Product(
    id="d1",
    title="Ankara dress",
    brand="Ade Cut",
    categories=("Women", "Dresses"),
    price=25_000.0,
    currency="NGN",
    rating=4.5,
    rating_count=12,
    colours=("Navy Blue",),
    details={"Closure": "Zip"},
)
SHOE = Product(
    id="s1",
    title="Red canvas shoe, size 42",
    categories=("Men", "Shoes"),
    features=("Canvas upper", "Leather-free"),
    details={"Closure": "Zip"},
)


def test_loading_again_keeps_old_products_and_replaces_equal_ids(ego_home: Path) -> None:
    load_catalogue("shop", [DRESS, SHOE], currency=None, source="a.csv")
    report = load_catalogue(
        "shop",
        [Product(id="s1", title="Blue shoe"), Product(id="n1", title="New hat")],
        currency=None,
        source="b.csv",
    )
    catalogue = open_catalogue("shop")
    assert (report.loaded, report.merged, report.skipped) == (2, 1, 0)
    assert [catalogue.id_of(row) for row in range(3)] == ["d1", "s1", "n1"]
    assert catalogue.product(1).title == "Blue shoe"
    assert catalogue.currency == "NGN"
    assert [catalogue.id_of(row) for row in catalogue.search("canvas")[0]] == []


def test_loading_without_update_starts_afresh(ego_home: Path) -> None:
    load_catalogue("shop", [DRESS], currency=None, source="a.csv")
    load_catalogue("shop", [SHOE], currency="USD", source="b.csv", update=False)
    assert [product.id for product in open_catalogue("shop")] == ["s1"]


def test_an_open_catalogue_stays_as_it_was_while_a_new_one_is_loaded(ego_home: Path) -> None:
    load_catalogue("shop", [DRESS], currency=None, source="a")
    old = open_catalogue("shop")
    load_catalogue("shop", [SHOE], currency=None, source="b", update=False)
    assert old.product(0) == DRESS
    assert [old.id_of(row) for row in old.search("ankara")[0]] == ["d1"]
    assert open_catalogue("shop").generation != old.generation


def test_a_load_of_nothing_leaves_the_catalogue_alone(ego_home: Path) -> None:
    load_catalogue("shop", [DRESS], currency=None, source="a")
    with pytest.raises(CatalogueError):
        load_catalogue("shop", [], currency=None, source="b", update=False)
    assert open_catalogue("shop").product(0) == DRESS


def test_products_without_title_or_id_are_skipped(ego_home: Path) -> None:
    report = load_catalogue(
        "shop", [DRESS, Product(id="x", title=" "), Product(id="", title="y")], currency=None, source="a"
    )
    assert (report.loaded, report.skipped) == (1, 2)


TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
PRODUCTS = st.builds(
    Product,
    id=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8).filter(
        str.strip
    ),
    title=st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip),
    brand=st.none() | TEXT.filter(bool),
    categories=st.lists(TEXT, max_size=3).map(tuple),
    price=st.none() | st.floats(0.01, 1e9),
    rating=st.none() | st.floats(0, 5),
    rating_count=st.integers(0, 10**9),
    features=st.lists(TEXT, max_size=3).map(tuple),
    description=TEXT,
    details=st.dictionaries(TEXT, TEXT, max_size=3),
    colours=st.lists(TEXT, max_size=2).map(tuple),
    gender=st.none() | TEXT.filter(bool),
    ingredients=st.none() | TEXT.filter(bool),
    offers=st.lists(
        st.builds(Offer, seller=st.none() | TEXT, price=st.none() | st.floats(1, 9)), max_size=2
    ).map(tuple),
    flags=st.lists(TEXT, max_size=2).map(tuple),
)


@given(PRODUCTS)
def test_a_product_is_stored_as_it_is(product: Product) -> None:
    assert decode_product(encode_product(product)) == product


@settings(max_examples=25, deadline=None)
@given(st.lists(PRODUCTS, max_size=6, unique_by=lambda product: product.id))
def test_any_products_make_a_catalogue(products: list[Product]) -> None:
    catalogue = memory_catalogue(products)
    assert list(catalogue) == products
    for row, product in enumerate(products):
        assert catalogue.row_of(product.id) == row
        assert np.isnan(catalogue.columns["price"][row]) == (product.price is None)
        catalogue.facets.of_row(row)


def test_unlisted_prices_and_ratings_are_not_numbers_and_doubts_are_flagged() -> None:
    doubtful = Product(id="q", title="Fan", price=3.35, flags=("price_ambiguous",))
    columns = memory_catalogue([DRESS, SHOE, doubtful]).columns
    assert columns["price"].tolist()[::2] == [25_000.0, 3.35] and np.isnan(columns["price"][1])
    assert np.isnan(columns["rating"][1]) and columns["rating_count"].tolist() == [12, 0, 0]
    assert columns["price_ambiguous"].tolist() == [False, False, True]


def test_facets_are_found_in_columns_and_in_titles() -> None:
    facets = memory_catalogue([DRESS, SHOE]).facets
    assert facets.rows("brand", "ade cut").tolist() == [0]
    assert facets.rows("colour", "navy blue").tolist() == facets.rows("colour", "blue").tolist() == [0]
    assert facets.rows("colour", "red").tolist() == [1]
    assert facets.rows("gender", "women").tolist() == [0]
    assert facets.rows("category", "shoes").tolist() == [1]
    assert facets.rows("details.closure", "zip").tolist() == [0, 1]
    assert dict(facets.category_paths) == {("Women", "Dresses"): 1, ("Men", "Shoes"): 1}
    assert list(facets.detail_keys) == ["closure"]
    assert facets.rows("colour", "green").size == facets.rows("no such attribute", "x").size == 0


def test_what_a_product_is_free_of_is_not_its_material() -> None:
    assert [v for a, v in memory_catalogue([SHOE]).facets.of_row(0) if a == "material"] == ["canvas"]


@pytest.mark.parametrize(
    ("title", "colours"),
    [
        ("Redmi 15C 4GB -Midnight Black", {"midnight black", "black"}),
        ("Rose gold bracelet", {"rose gold"}),
        ("Olive oil 1 litre", set()),
        ("Canvas bag (olive)", {"olive", "green"}),
        ("Orange squash 2L", set()),
    ],
)
def test_colours_of_a_title_are_the_longest_names_where_a_colour_is_meant(
    title: str, colours: set[str]
) -> None:
    found = memory_catalogue([Product(id="x", title=title)]).facets.of_row(0)
    assert {value for attribute, value in found if attribute == "colour"} == colours


def test_a_brand_that_names_a_colour_gives_no_colour() -> None:
    boots = Product(id="x", title="Red Wing boots", brand="Red Wing")
    assert not memory_catalogue([boots]).facets.values("colour")


def test_facets_of_some_rows_are_counted() -> None:
    facets = memory_catalogue([DRESS, SHOE, SHOE_2]).facets
    assert facets.count(np.array([1, 2]), ["category", "details.closure"]) == {
        "category": {"Men": 2, "Shoes": 2},
        "details.closure": {"Zip": 1},
    }
    assert facets.codes("leaf").tolist() == [1, 0, 0]


SHOE_2 = Product(id="s2", title="Green shoe", categories=("Men", "Shoes"))


def test_free_text_details_are_no_facets() -> None:
    products = [
        Product(id=str(n), title="x", details={"Note": f"note number {n}", "Fit": "slim"}) for n in range(30)
    ]
    assert list(memory_catalogue(products).facets.detail_keys) == ["fit"]


def test_a_catalogue_can_be_read_from_several_threads() -> None:
    catalogue = memory_catalogue(Product(id=str(n), title=f"thing number{n}") for n in range(300))
    wrong: list[int] = []

    def read() -> None:
        for n in range(300):
            rows, _ = catalogue.search(f"number{n}")
            if catalogue.products(rows)[0].id != str(n) or catalogue.row_of(str(n)) != n:
                wrong.append(n)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- catalogues of a user -------------------------------------------------------------------------------------------


def test_an_unknown_name_is_one_clear_line(ego_home: Path) -> None:
    with pytest.raises(NotFoundError, match="no catalogue named 'nowhere'"):
        open_catalogue("nowhere")
    with pytest.raises(MisuseError):
        load_catalogue("../evil", [DRESS], currency=None, source="a")


def test_removed_catalogues_leave_nothing_readable(ego_home: Path) -> None:
    load_catalogue("shop", [DRESS], currency=None, source="a")
    remove_catalogue("shop")
    assert "shop" not in [entry.name for entry in list_catalogues()]
    assert not [
        path for path in store.catalogues_folder().rglob("*") if path.is_file() and path.suffix != ".lock"
    ]
    with pytest.raises(NotFoundError):
        remove_catalogue("shop")


@pytest.mark.parametrize("name", store.DEMOS)
def test_the_demos_are_built_at_first_use_and_then_reused(ego_home: Path, name: str) -> None:
    first = open_catalogue(name)
    assert first.size >= 900
    store._open.clear()  # as in another process
    assert open_catalogue(name).generation == first.generation
    assert {finding.severity for finding in check_catalogue(name)} == {"ok"}


def test_a_product_file_is_indexed_at_first_use_and_again_when_it_changes(
    ego_home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "goods.csv"
    file.write_text("id,title,price\n1,Clay pot,5\n2,Wooden spoon,3\n", encoding="utf-8")
    first = open_catalogue(file)
    assert open_catalogue(file) is first
    file.write_text("id,title,price\n1,Clay pot,5\n2,Wooden spoon,3\n3,Iron pan,9\n", encoding="utf-8")
    assert open_catalogue(file).size == 3
    with pytest.raises(NotFoundError):
        open_catalogue(tmp_path / "absent.csv")


def test_other_field_weights_fall_back_to_fts5_until_the_cache_is_made_anew(
    ego_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_catalogue("shop", [DRESS, SHOE], currency=None, source="a")
    monkeypatch.setenv("EGO_SEARCH__TITLE", "3")
    store._open.clear()
    catalogue = open_catalogue("shop")
    assert catalogue.stale and [catalogue.id_of(row) for row in catalogue.search("ankara dresses")[0]] == [
        "d1"
    ]
    assert [finding.severity for finding in check_catalogue("shop")] == ["ok", "warning"]
    rebuild_catalogue("shop")
    assert open_catalogue("shop").stale is None and open_catalogue("shop").size == 2


def test_a_missing_cache_is_noticed_and_searches_stay_right(ego_home: Path) -> None:
    load_catalogue("shop", [DRESS, SHOE], currency=None, source="a")
    (open_catalogue("shop").folder / "postings.rows.npy").unlink()
    store._open.clear()
    assert [open_catalogue("shop").id_of(row) for row in open_catalogue("shop").search("ankara")[0]] == ["d1"]
    assert "warning" in {finding.severity for finding in check_catalogue("shop")}


def test_a_damaged_cache_is_found_by_a_check(ego_home: Path) -> None:
    load_catalogue("shop", [DRESS, SHOE, SHOE_2], currency=None, source="a")
    array = open_catalogue("shop").folder / "postings.frequencies.npy"
    np.save(array, np.load(array) + 3)
    assert "error" in {finding.severity for finding in check_catalogue("shop")}


def test_a_damaged_file_is_one_clear_line(ego_home: Path) -> None:
    load_catalogue("shop", [DRESS], currency=None, source="a")
    store.path_of("shop").write_bytes(b"not a database, but long enough to be read as one" * 100)
    store._open.clear()
    with pytest.raises(CatalogueError):
        open_catalogue("shop")
    assert [finding.severity for finding in check_catalogue("shop")] == ["error"]
    assert load_catalogue("shop", [SHOE], currency=None, source="b", update=False).loaded == 1


def test_folders_and_files_are_for_their_owner_only(ego_home: Path) -> None:
    load_catalogue("shop", [DRESS], currency=None, source="a")
    path = store.path_of("shop")
    assert path.stat().st_mode & 0o077 == 0 and path.parent.stat().st_mode & 0o077 == 0
