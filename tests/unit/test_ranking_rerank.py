"""The optional cross-encoder: it reorders, in time, and adds nothing."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from ego_cli.catalog.product import Product
from ego_cli.catalog.store import Catalogue, memory_catalogue
from ego_cli.conversation.opening import open_assistant
from ego_cli.errors import MisuseError, ServiceAwayError
from ego_cli.ranking import rank, rerank
from ego_cli.ranking.request import Exclusion, Request
from ego_cli.ranking.rerank import judged, load_judge
from ego_cli.settings import RankingSettings, Settings

LAMPS = [
    Product(f"l{n}", f"Lamp {name}", categories=("Lamps",))
    for n, name in enumerate(["oak", "brass", "glass"])
]


@pytest.fixture(scope="module")
def shop() -> Catalogue:
    return memory_catalogue(LAMPS)


def likes(word: str):  # type: ignore[no-untyped-def]
    return lambda query, texts: [float(word in text) for text in texts]


def test_a_judge_reorders_and_is_shown_in_the_breakdown(shop: Catalogue) -> None:
    best = rank(shop, Request(category="lamp"), judge=likes("brass")).items[0]
    assert best.product.id == "l1"
    assert best.terms["cross_encoder"] > 0
    assert sum(best.terms.values()) == pytest.approx(best.total)


def test_a_judge_cannot_bring_back_what_a_rule_took_out(shop: Catalogue) -> None:
    wish = Request(category="lamp", exclusions=(Exclusion("brass"),))
    assert "l1" not in [item.product.id for item in rank(shop, wish, judge=likes("brass")).items]


def test_an_order_that_she_asked_for_is_hers(shop: Catalogue) -> None:
    def never(query: str, texts: Sequence[str]) -> Sequence[float]:
        raise AssertionError("must not be asked")

    rank(shop, Request(category="lamp", sort=("price", 1)), judge=never)


def test_a_late_judgement_is_left_out() -> None:
    ticks = iter([0.0, 0.1, 9.0])
    assert judged("lamp", LAMPS, likes("oak"), budget_s=0.5, clock=lambda: next(ticks)) is None


def test_it_gives_up_as_soon_as_the_time_will_not_do() -> None:
    read: list[str] = []

    def slow(query: str, texts: Sequence[str]) -> Sequence[float]:
        read.extend(texts)
        return [1.0] * len(texts)

    many = [Product(f"m{n}", f"Lamp {n}") for n in range(50)]
    ticks = iter([0.0, 0.1])  # 50 ms each: 2.5 s for all of them
    assert judged("lamp", many, slow, budget_s=0.5, clock=lambda: next(ticks)) is None
    assert len(read) == 2


def test_a_judge_that_fails_or_is_late_leaves_the_list_as_it_was(
    shop: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(query: str, texts: Sequence[str]) -> Sequence[float]:
        raise ServiceAwayError("no memory left")

    wish = Request(category="lamp")
    before = rank(shop, wish).items
    assert rank(shop, wish, judge=broken).items == before
    assert rank(shop, wish, judge=likes("glass")).items != before
    monkeypatch.setattr(rerank, "BUDGET_S", 0.0)
    assert rank(shop, wish, judge=likes("glass")).items == before


def test_a_conversation_without_the_model_that_was_named_goes_on_and_says_so_once(
    ego_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    settings = Settings(ranking=RankingSettings(cross_encoder="some/model"))
    with open_assistant(settings) as assistant:
        first, second = assistant.respond("power bank under 20k"), assistant.respond("cheaper")
    assert first.decision.shown
    assert [n.text for n in first.notices if "second look" in n.text]
    assert not [n.text for n in second.notices if "second look" in n.text]


def test_a_judge_without_opinion_changes_nothing() -> None:
    assert judged("lamp", LAMPS, likes("nothing")) is None


def test_without_the_extra_it_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(MisuseError, match=r"\[sentence-transformers\]"):
        load_judge("some/model")
