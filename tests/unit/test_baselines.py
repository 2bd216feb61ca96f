"""The baselines are what they say they are."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ego_cli.evaluation import baselines
from ego_cli.evaluation.baselines import Fts5Or, PopularityInCategory, RankBm25

ROWS = [
    {"parent_asin": "a", "title": "Red cotton shirt", "features": ["Machine wash", "Soft cotton"], "description": [], "price": 9.0, "categories": ["Clothing", "Men", "Shirts"], "details": {}, "average_rating": 4.1, "rating_number": 12, "store": "Acme"},
    {"parent_asin": "b", "title": "Blue wool jumper", "features": ["Dry clean only"], "description": ["Warm wool for winter"], "price": None, "categories": ["Clothing", "Men", "Sweaters"], "details": {"Color": "Blue"}, "average_rating": 4.5, "rating_number": 90, "store": "Bee"},
    {"parent_asin": "c", "title": "Leather boots", "features": ["Rubber sole", "Lace up closure"], "description": [], "price": 80.0, "categories": ["Clothing", "Shoes", "Boots"], "details": {}, "average_rating": 3.9, "rating_number": 700, "store": "Cee"},
    {"parent_asin": "d", "title": "White cotton shirt", "features": ["Machine wash"], "description": [], "price": 11.0, "categories": ["Clothing", "Men", "Shirts"], "details": {}, "average_rating": 4.0, "rating_number": 300, "store": "Dee"},
]  # fmt: skip


@pytest.fixture
def catalogue(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def shown(agent, *messages):
    agent.reset("s", {})
    for turn, message in enumerate(messages, 1):
        answer = agent.respond("s", message, turn, 10)
    return [r["parent_asin"] for r in answer["recommendations"]]


@pytest.mark.parametrize("kind", [RankBm25, Fts5Or])
def test_words_of_all_turns_find_the_product(kind, catalogue):
    assert shown(kind(catalogue), "I need something warm", "made of wool")[0] == "b"
    assert shown(kind(catalogue), "boots with rubber sole")[0] == "c"


@pytest.mark.parametrize("kind", [RankBm25, Fts5Or, PopularityInCategory])
def test_nothing_said_is_not_an_error(kind, catalogue):
    assert isinstance(shown(kind(catalogue), "?!"), list)


def test_scores_are_those_of_rank_bm25(catalogue):
    from rank_bm25 import BM25Okapi

    agent = RankBm25(catalogue)
    texts = [" ".join(baselines._fields(p)).split() for p in baselines.read_products(catalogue)]
    question = ["red", "cotton", "shirt", "cotton", "wash", "nowhere"]
    assert np.allclose(agent.scores(question), BM25Okapi(texts).get_scores(question))


def test_the_most_reviewed_of_the_named_shelf_come_first(catalogue):
    assert shown(PopularityInCategory(catalogue), "I'm looking for Men Shirts.") == ["d", "a"]


def test_a_miss_is_explained(catalogue):
    agent = RankBm25(catalogue)
    shown(agent, "red shirt")
    assert agent.diagnose("s", "c")["kind"] == "never retrieved"
    assert agent.diagnose("s", "a")["kind"] == "outranked"
