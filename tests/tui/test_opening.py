"""The real assistant, memory and catalogue behind the screen, over a small shop of our own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from staging import idle, settle

from ego_cli.conversation.events import TurnDone
from ego_cli.tui import opening
from ego_cli.tui.app import EgoApp
from ego_cli.tui.chat.card import CardView
from ego_cli.tui.chat.log import Said
from ego_cli.tui.engine import Browse
from ego_cli.tui.inspector import Inspector

WARES = [
    {
        "id": "a",
        "title": "Voltara 10000mAh Power Bank, Black",
        "brand": "Voltara",
        "price": 9_500,
        "colour": "black",
    },
    {
        "id": "b",
        "title": "Voltara 20000mAh Power Bank, White",
        "brand": "Voltara",
        "price": 18_500,
        "colour": "white",
    },
    {
        "id": "c",
        "title": "Kolo 20000mAh Power Bank, White",
        "brand": "Kolo",
        "price": 16_900,
        "colour": "white",
    },
    {
        "id": "d",
        "title": "Kolo 30000mAh Power Bank, Blue",
        "brand": "Kolo",
        "price": 31_000,
        "colour": "blue",
    },
    {
        "id": "e",
        "title": "Breeza 16 inch Standing Fan",
        "brand": "Breeza",
        "price": 28_000,
        "colour": "white",
    },
]


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """A product file, as somebody would bring it."""
    path = tmp_path / "wares.jsonl"
    rows = [
        {
            **ware,
            "currency": "NGN",
            "categories": ["Appliances", "Fans"] if ware["id"] == "e" else ["Phones", "Power banks"],
            "rating": 4.0,
            "rating_count": 10 * n,
        }
        for n, ware in enumerate(WARES, start=1)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def app(shop: str) -> Callable[..., EgoApp]:
    """Makes the screen over that shop; ``resume`` as `ego --continue` does."""

    def make(resume: bool = False) -> EgoApp:
        return EgoApp(
            lambda catalogue, user: opening.open_engine(catalogue or shop, user or "ada", resume=resume),
            lambda catalogue: opening.open_shop(catalogue or shop),
        )

    return make


async def test_a_wish_is_answered_with_cards_and_the_inspector_tells_why(app: Callable[..., EgoApp]) -> None:
    screen = app()
    async with screen.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        screen.send("power bank under 20k")
        await settle(pilot)
        shown = {view.card.id for view in screen.log_view.query(CardView)}
        assert shown and shown <= {"a", "b", "c"}
        snapshot = screen.query_one(Inspector).snapshot
        assert snapshot.state.budget is not None and snapshot.state.budget.maximum == 20_000
        assert snapshot.chosen is not None and snapshot.chosen.terms
        assert set(snapshot.timings[-1]) >= {"understand", "total"}


async def test_a_resumed_conversation_shows_what_was_said_and_goes_on_from_there(
    app: Callable[..., EgoApp],
) -> None:
    screen = app()
    async with screen.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        screen.send("power bank under 20k")
        await settle(pilot)
        cards = [view.card for view in screen.log_view.query(CardView)]
        state = screen.talk.snapshot.state  # type: ignore[union-attr]
    again = app(resume=True)
    async with again.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert [said.words for said in again.log_view.query(".you").results(Said)] == ["power bank under 20k"]
        assert [view.card for view in again.log_view.query(CardView)] == cards
        assert again.talk.snapshot.state.budget == state.budget  # type: ignore[union-attr]
        again.send("show more")
        await settle(pilot)
        assert again.talk.turns[-1].turn == 2  # type: ignore[union-attr]


async def test_a_memory_that_is_forgotten_on_the_screen_is_in_no_file_any_more(
    app: Callable[..., EgoApp],
) -> None:
    screen = app()
    async with screen.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        screen.send("remember that I avoid leather")
        await settle(pilot)
        await idle(pilot)
        row = next(row for row in screen.talk.snapshot.memory.rows if "leather" in row.text)  # type: ignore[union-attr]
        assert len(row.curve()) == opening.CURVE_DAYS + 1
        screen.send("/memory")
        await idle(pilot)
        await pilot.press("d", "y")
        await idle(pilot)
        assert not any("leather" in row.text for row in screen.talk.snapshot.memory.rows)  # type: ignore[union-attr]
        screen.send("power bank")
        await settle(pilot)
    home = Path(os.environ["EGO_HOME"])
    assert not [path for path in home.rglob("*") if path.is_file() and b"leather" in path.read_bytes()]


def test_the_browser_finds_by_half_a_word_by_shelf_and_by_facet(shop: str) -> None:
    room = opening.open_shop(shop)
    assert room.browse(Browse("pow")).total == 4
    assert {product.id for product in room.browse(Browse("kolo")).products} == {"c", "d"}
    assert {product.id for product in room.browse(Browse(path=("Appliances",))).products} == {"e"}
    white = room.browse(Browse(path=("Phones",), facets={"colour": "white"}))
    assert {product.id for product in white.products} == {"b", "c"}
    assert white.facets["brand"] == {"Voltara": 1, "Kolo": 1}
    assert room.browse(Browse("nothing of the kind")).products == ()
    assert room.browse(Browse("NOT leather* (")).products == ()


def test_shelves_come_before_what_lies_on_them_the_largest_first(shop: str) -> None:
    paths = [shelf.path for shelf in opening.open_shop(shop).shelves()]
    assert paths == [("Phones",), ("Phones", "Power banks"), ("Appliances",), ("Appliances", "Fans")]


def test_similar_products_are_of_the_same_kind_and_not_the_product_itself(shop: str) -> None:
    similar = opening.open_shop(shop).similar("b")
    assert similar and {product.id for product in similar} <= {"a", "c", "d"}
    assert opening.open_shop(shop).similar("no such product") == ()


async def test_a_run_that_is_begun_on_the_screen_is_played(
    app: Callable[..., EgoApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "RUN_SESSIONS", 2)
    screen = app()
    async with screen.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen.send("/runs")
        await settle(pilot)
        await pilot.press("n")
        for _ in range(1200):  # processes have to start
            await pilot.pause(0.1)
            if screen.screen.runs:  # type: ignore[attr-defined]
                break
        assert [run.total for run in screen.screen.runs] == [2]  # type: ignore[attr-defined]
        await pilot.press("enter", "end")  # the plots below the edge can be reached
        await pilot.pause()
        assert screen.screen.query_one(".beside").scroll_y > 0


def test_the_quiz_asks_and_keeps_what_is_answered(shop: str) -> None:
    engine = opening.open_engine(shop, "ada")
    asked = {question.id: question for question in engine.quiz()}
    assert "oily" in asked["skin_type"].options
    assert engine.answer_quiz({"skin_type": "oily", "avoid": "perfume, leather"}) >= 3
    assert any("oily" in row.text for row in engine.memories().rows)
    engine.close()


def test_memory_that_is_switched_off_is_no_obstacle(shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGO_MEMORY__ENABLED", "false")
    engine = opening.open_engine(shop, "ada")
    assert engine.memories().rows == () and engine.nudges() == () and engine.quiz() == ()
    assert isinstance(list(engine.turn("power bank"))[-1], TurnDone)
    engine.close()
