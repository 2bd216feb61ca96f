"""Avoidances: contains, free, or not said."""

import random

import pytest

from ego_cli.catalog import readers
from ego_cli.catalog.avoidances import avoidances
from ego_cli.catalog.index import index_of
from ego_cli.catalog.product import Product
from ego_cli.catalog.store import memory_catalogue
from ego_cli.ranking import rank
from ego_cli.ranking.polarity import Polarity, carrying, free_of, standing
from ego_cli.ranking.request import Exclusion, Request
from ego_cli.settings import demo_catalogue_file

CONTAINS, FREE, UNKNOWN = Polarity.CONTAINS, Polarity.FREE, Polarity.UNKNOWN


def cream(*features: str, title: str = "Face cream", ingredients: str | None = None) -> Product:
    return Product("x", title, categories=("Moisturizers",), features=features, ingredients=ingredients)


@pytest.mark.parametrize(
    ("avoided", "product", "expected"),
    [
        ("fragrance", cream("fragrance-free"), FREE),
        ("fragrance", cream("unscented"), FREE),
        ("perfume", cream("without added fragrance"), FREE),
        ("fragrance", cream("rose fragrance"), CONTAINS),
        ("fragrance", cream("softly scented"), CONTAINS),
        ("fragrance", cream("rich texture"), UNKNOWN),
        ("fragrance", cream(ingredients="Water, Glycerin, Parfum"), CONTAINS),
        ("fragrance", cream(ingredients="Water, Glycerin, Limonene."), CONTAINS),
        ("fragrance", cream(ingredients="Water, Glycerin"), FREE),
        ("fragrance", cream("fragrance-free", ingredients="Water, Parfum"), CONTAINS),
        ("parabens", cream("free of parabens and sulfates"), FREE),
        ("parabens", cream(ingredients="Water, Methylparaben"), CONTAINS),
        ("alcohol", cream(ingredients="Water, Cetearyl Alcohol, Cetyl Alcohol"), FREE),
        ("alcohol", cream(ingredients="Water, Alcohol Denat., Cetyl Alcohol"), CONTAINS),
        ("sulphates", cream("no sulfates"), FREE),
        ("silicones", cream(ingredients="Water, Dimethicone"), CONTAINS),
        ("niacinamide", cream(ingredients="Water, Niacinamide"), CONTAINS),
        ("niacinamide", cream(ingredients="Water, Glycerin"), FREE),
        ("nuts", Product("n", "Oat biscuits", categories=("Snacks",), features=("may contain traces of nuts",)), CONTAINS),
        ("wires", Product("w", "Wireless mouse"), FREE),
        ("wires", Product("w", "Underwired bra"), CONTAINS),
        ("leather", Product("b", "Canvas bag, no leather"), FREE),
        ("leather", Product("b", "Suede bag"), CONTAINS),
        ("zips", Product("b", "Bag with zip closure"), CONTAINS),
        ("wheat", Product("j", "Wheat coloured jumper", categories=("Sweaters",)), CONTAINS),
        ("gluten", Product("j", "Wheat coloured jumper", categories=("Sweaters",)), UNKNOWN),
        ("gluten", Product("s", "Wheat semolina", categories=("Groceries", "Flour")), CONTAINS),
    ],
)  # fmt: skip
def test_three_answers(avoided: str, product: Product, expected: Polarity) -> None:
    assert standing(product, avoided).polarity is expected


def test_an_answer_names_the_field_that_gives_it() -> None:
    found = standing(cream("rich", "fragrance-free"), "fragrance")
    assert (found.field, found.words) == ("features[1]", "fragrance-free")


def test_the_catalogue_and_the_single_product_agree() -> None:
    products = [
        Product(f"p{n}", title, categories=("Skin care",), features=features, ingredients=listed)
        for n, (title, features, listed) in enumerate(
            [
                ("Rose fragrance lotion", (), None),
                ("Lotion", ("fragrance-free",), None),
                ("Lotion", (), None),
                ("Lotion", (), "Water, Parfum"),
                ("Lotion", ("paraben free",), "Water, Cetyl Alcohol"),
                ("Lotion", ("non-greasy", "no alcohol"), None),
            ]
        )
    ]
    index = index_of(memory_catalogue(products))
    for avoidance in avoidances():
        carried, free = carrying(index, Exclusion(avoidance.name)), free_of(index, avoidance.name)
        for row, product in enumerate(products):
            found = standing(product, avoidance.name).polarity
            assert found is (CONTAINS if carried[row] else FREE if free[row] else UNKNOWN), (
                avoidance.name,
                row,
            )


def test_silence_is_never_sold_as_absence() -> None:
    shop = memory_catalogue([cream("rich texture")])
    (item,) = rank(shop, Request(category="cream", exclusions=(Exclusion("fragrance"),))).items
    assert not any("fragrance" in reason.tag.lower() for reason in item.reasons)


def test_absence_that_is_stated_is_told_with_its_field() -> None:
    shop = memory_catalogue([cream("fragrance-free")])
    (item,) = rank(shop, Request(category="cream", exclusions=(Exclusion("fragrance"),))).items
    assert [(r.tag, r.field) for r in item.reasons] == [("Free of fragrance", "features[0]")]


def test_sephora_and_lookfantastic_have_all_three_answers_and_no_list_is_unknown(shared) -> None:  # type: ignore[no-untyped-def]
    for name in ("sephora_1472_skintype.csv", "lookfantastic_skincare.csv"):
        products = list(readers.read_products(shared / "data" / "catalogues" / name))
        answers = {p: 0 for p in Polarity}
        for product in products:
            found = standing(product, "fragrance")
            answers[found.polarity] += 1
            listed = (product.ingredients or "").lower()
            if not listed and "fragran" not in product.title.lower() and "scent" not in product.title.lower():
                assert found.polarity is not CONTAINS or found.field != "ingredients"
            if "parfum" in listed or "fragrance" in listed.replace("fragrance-free", ""):
                assert found.polarity is CONTAINS
        assert answers[CONTAINS] > 100 and answers[FREE] > 100
        if name.startswith("sephora"):
            assert answers[UNKNOWN] > 50  # "No Info" and the like


def _says(product: Product, word: str) -> bool:
    """Whether a text of the product holds the word undenied: an independent, plain look."""
    fatty = (
        "cetyl",
        "cetearyl",
        "stearyl",
        "behenyl",
        "benzyl",
        "isostearyl",
    )  # their alcohols are not what people avoid
    listed = [x for x in (product.ingredients or "").split(",") if not x.strip().lower().startswith(fatty)]
    texts = [product.title, *product.features, *product.materials, *product.colours, *listed]
    for text in texts:
        lowered = text.lower()
        for denial in (
            f"{word}-free",
            f"{word} free",
            f"no {word}",
            f"no added {word}",
            f"without {word}",
            f"non-{word}",
        ):
            lowered = lowered.replace(denial, " ")
        if f" {word} " in f" {lowered.replace(',', ' ').replace('.', ' ')} ":
            return True
    return False


def test_the_demo_shop_breaks_no_avoidance_in_a_thousand_requests() -> None:
    dice = random.Random(7)
    shop = memory_catalogue(
        [
            p
            for name in ("naija", "boutique")
            for p in readers.read_products(demo_catalogue_file(f"{name}.jsonl"))
        ]
    )
    words = ["fragrance", "leather", "alcohol", "cotton", "black", "polyester", "silicone", "zip", "paraben", "wool", "sugar", "plastic", "nylon", "lace", "bluetooth", "sulfate", "rose", "coconut", "gold", "usb"]  # fmt: skip
    types = [
        "",
        "dress",
        "body lotion",
        "shampoo",
        "bag",
        "shoes",
        "power bank",
        "serum",
        "phone",
        "towel",
        "sofa",
        "watch",
        "protein",
        "earbuds",
    ]
    for _ in range(1000):
        avoided = dice.sample(words, k=dice.choice((1, 1, 2)))
        wish = Request(
            category=dice.choice(types),
            exclusions=tuple(map(Exclusion, avoided)),
            words=dice.choice(["", avoided[0], "soft", "gift"]),
        )
        for item in rank(shop, wish).items:
            assert not any(_says(item.product, word) for word in avoided), (item.product.title, avoided)
