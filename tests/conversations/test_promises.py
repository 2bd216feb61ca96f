"""Promises that hold whatever is said: an excluded thing is never shown, a bound never broken, nothing shown without being for sale."""

import random
from collections.abc import Iterator

import pytest

from ego_cli.catalog.product import Product
from ego_cli.catalog.store import Catalogue, memory_catalogue
from ego_cli.conversation.turn import Assistant
from ego_cli.settings import Settings

TYPES = ("sneakers", "boots", "dress", "bag", "power bank", "body lotion")
COLOURS = ("red", "black", "white", "blue")
MATERIALS = ("leather", "canvas", "suede", "cotton")
BRANDS = ("Torva", "Kembo", "Oriki")


def shelf() -> Iterator[Product]:
    dice = random.Random(7)
    for number in range(240):
        kind, colour, material, brand = (dice.choice(words) for words in (TYPES, COLOURS, MATERIALS, BRANDS))
        price = None if number % 17 == 0 else float(dice.randrange(4, 60) * 1000)
        yield Product(
            id=f"p{number}",
            title=f"{brand} {colour} {material} {kind}",
            brand=brand,
            categories=(f"{kind}s" if not kind.endswith("s") else kind,),
            price=price,
            currency="NGN",
            rating=round(dice.uniform(3, 5), 1),
            rating_count=dice.randrange(900),
            colours=(colour,),
            materials=(material,),
        )


@pytest.fixture(scope="module")
def shop() -> Iterator[Catalogue]:
    catalogue = memory_catalogue(shelf(), currency="NGN")
    yield catalogue
    catalogue.close()


def sentences(dice: random.Random) -> str:
    kind, colour, material, brand = (dice.choice(words) for words in (TYPES, COLOURS, MATERIALS, BRANDS))
    price = dice.randrange(5, 60)
    return dice.choice(
        (
            f"I want a {colour} {kind}", f"show me {kind}", f"no {material} please", f"anything but {brand}", f"not {colour}",
            f"under {price}k", f"at least {price}k", "something cheaper", "show more", "undo", f"actually {colour}",
            f"I no want {material}", f"abeg I dey find {kind} wey no pass {price}k", "none of these", "the second one",
            "forget the colour", f"a {kind} and a {dice.choice(TYPES)}", f"without {material} or {dice.choice(MATERIALS)}",
            "more like the first", "start over", "ignore the budget", "cheapest", "why number 1?", "compare 1 and 2",
        )
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_what_is_excluded_or_out_of_bounds_is_never_shown(shop: Catalogue, seed: int) -> None:
    dice = random.Random(seed)
    assistant = Assistant(shop, Settings())
    for _ in range(12):
        done = assistant.respond(sentences(dice))
        state = done.state
        for group in done.decision.groups:
            want = next((w for w in state.wants if w.id == group.want), None)
            budget = (want.budget if want else None) or state.budget
            for scored in group.items:
                product = scored.product
                words = f"{product.title} {product.brand}".lower()
                for excluded in state.exclusions:
                    if excluded.want is None or excluded.want == group.want:
                        assert excluded.value.lower() not in words, (done.text, excluded)
                if not done.text.startswith("go back") and budget is not None and budget.per == "each":
                    if budget.maximum is not None:
                        assert product.price is not None and product.price <= budget.maximum, done.text
                    if budget.minimum is not None:
                        assert product.price is not None and product.price >= budget.minimum, done.text


@pytest.mark.parametrize("seed", range(10))
def test_a_conversation_is_rebuilt_from_its_log(shop: Catalogue, seed: int) -> None:
    from ego_cli.conversation.state import rebuild

    dice = random.Random(1000 + seed)
    assistant = Assistant(shop, Settings())
    for _ in range(10):
        assistant.respond(sentences(dice))
    assert rebuild(assistant.state.log) == assistant.state
