"""Every leg is measured on the same customers, and only it."""

from pathlib import Path

import pytest

from ego_cli.evaluation import ablation
from ego_cli.evaluation.make_catalogue import line_of, rows
from ego_cli.ranking.fusion import DEFAULT_PLAN


@pytest.fixture
def file(ego_home: Path, tmp_path: Path) -> str:
    path = tmp_path / "made.jsonl"
    path.write_text("".join(f"{line_of(row)}\n" for row in rows(300)))
    return str(path)


def test_a_leg_alone_lists_what_it_found_in_its_order(file: str) -> None:
    agent = ablation.Variant(file, variant="bm25")
    agent.reset("s", {})
    agent.respond("s", "cotton dress", 1, 10)
    (ranked,) = agent.last("s").ranked
    assert [item.legs for item in ranked.items] == [{"lexical": n + 1} for n in range(len(ranked.items))]
    assert all(set(item.terms) == {"fused"} for item in ranked.items)


def test_preference_tags_reach_the_ranking_unless_they_are_off(file: str) -> None:
    told = {}
    for name in (ablation.WORDS_ONLY, ablation.WITHOUT_TAGS):
        agent = ablation.Variant(file, variant=name)
        agent.reset("s", {"preference_tags": ["comfort"]})
        told[name] = agent._sessions["s"].tags
    assert told == {ablation.WORDS_ONLY: ("comfort",), ablation.WITHOUT_TAGS: ()}


def test_rows_carry_intervals_and_paired_gains(file: str) -> None:
    found = ablation.run(file, customers=("plain",), variants=("bm25", ablation.WORDS_ONLY), sessions=4)
    assert [row["leg"] for row in found] == ["bm25", ablation.WORDS_ONLY]
    for row in found:
        mean, low, high = row["technical_score"]
        assert low <= mean <= high
    base, words = found
    gain = words["technical_score"][0] - base["technical_score"][0]
    assert words["technical_score_gain"][0] == pytest.approx(gain) and "technical_score_gain" not in base


def test_the_default_is_what_a_shopper_gets() -> None:
    served = ablation.VARIANTS[ablation.DEFAULT]
    assert served.plan is DEFAULT_PLAN and served.vectors and served.tags
