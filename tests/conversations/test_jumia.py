"""A conversation over a real, messy file: state and shown products, turn by turn."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ego_cli.catalog.store import Catalogue, open_catalogue
from ego_cli.conversation.events import TurnDone
from ego_cli.conversation.turn import Assistant
from ego_cli.settings import Settings


@pytest.fixture(scope="module")
def jumia(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EGO_HOME", str(tmp_path_factory.mktemp("home")))
        yield open_catalogue(shared / "data" / "catalogues" / "jumia_ng_2026.jsonl")


def prices(done: TurnDone) -> list[float]:
    return [scored.product.price or 0.0 for scored in done.decision.shown]


def titles(done: TurnDone) -> list[str]:
    return [f"{scored.product.brand} {scored.product.title}".lower() for scored in done.decision.shown]


def brand_first(done: TurnDone, brand: str) -> bool:
    """Whether the list opens with the brand, and nothing of another stands before one of its products."""
    own = [brand in title for title in titles(done)]
    return own[:1] == [True] and own == sorted(own, reverse=True)


def test_a_shopper_hunts_for_a_phone_and_changes_her_mind(jumia: Catalogue) -> None:
    assistant = Assistant(jumia, Settings())
    first = assistant.respond("abeg I dey find phone wey no pass 150k")
    assert first.state.budget is not None and first.state.budget.maximum == 150_000
    assert first.decision.shown and max(prices(first)) <= 150_000

    samsung = assistant.respond("make e be Samsung")
    assert samsung.state.want is not None
    assert [(slot.attribute, slot.text) for slot in samsung.state.want.slots] == [("brand", "Samsung")]
    assert brand_first(samsung, "samsung")

    other = assistant.respond("actually, I no want Samsung again")
    assert "samsung" in {excluded.value.lower() for excluded in other.state.exclusions}
    assert other.decision.shown and not any("samsung" in title for title in titles(other))
    assert [erased.slot.text.lower() for erased in other.state.erased] == ["samsung"]

    undone = assistant.respond("undo")
    assert undone.state.exclusions == () and brand_first(undone, "samsung")

    cheaper = assistant.respond("something cheaper")
    assert cheaper.decision.shown and max(prices(cheaper)) < max(prices(undone))

    chosen = assistant.respond("add the first one")
    assert [line.product_id for line in chosen.state.basket] == [cheaper.decision.shown[0].product.id]
