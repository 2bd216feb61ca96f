"""Known-item search is measured as it is found."""

import json
from pathlib import Path

import pytest

from ego_cli.catalog.product import Product
from ego_cli.catalog.store import memory_catalogue
from ego_cli.errors import MisuseError, ServiceAwayError
from ego_cli.evaluation import known_item


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_queries_are_read_in_both_forms_and_unknown_products_left_out(tmp_path: Path) -> None:
    file = lines(
        tmp_path / "q.jsonl",
        {"q": "a lamp", "target": "1"},
        {"query": "beds", "products": ["2", "9"]},
        {"q": "x", "target": "9"},
    )
    found = known_item.read_queries(file, ["1", "2"])
    assert [(query.text, query.targets) for query in found] == [("a lamp", ("1",)), ("beds", ("2",))]


@pytest.mark.parametrize("row", [{"q": "x", "target": "9"}, ["no", "object"]])
def test_a_file_that_asks_nothing_is_one_clear_line(tmp_path: Path, row: object) -> None:
    with pytest.raises(MisuseError):
        known_item.read_queries(lines(tmp_path / "q.jsonl", row), ["1"])


def test_every_leg_has_its_figures_and_the_last_is_what_a_shopper_gets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away(*_: object, **__: object) -> None:
        raise ServiceAwayError("no model here")

    monkeypatch.setattr(known_item, "embed", away)
    shop = memory_catalogue([Product("1", "Brass lamp"), Product("2", "Oak bed"), Product("3", "Glass vase")])
    results = known_item.run(
        shop, [known_item.Query("lamp of brass", ("1",)), known_item.Query("sofa", ("2",))]
    )
    assert [result.name for result in results] == ["bm25", "lexical", "ranking, words only"]
    assert results[0].figures["r1"][0] == 0.5 and results[0].r10_gain is None
    summary = known_item.summary(results, 2, 3)
    assert summary["queries"] == 2 and 0.5 <= summary["r10"] <= 1
