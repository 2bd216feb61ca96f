"""Background work: merging, inferring, the summary; a model's proposals are checked one by one; nothing forgotten returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ego_cli.catalog.product import Product
from ego_cli.errors import ServiceAwayError
from ego_cli.memory.consolidate import Worker, run_next_job, same_words, telling_terms
from ego_cli.memory.ingest import ingest, quiz_questions, take_quiz
from ego_cli.memory.memory import Memory, open_memory
from ego_cli.memory.nudges import mark_said

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with open_memory("ada", root=tmp_path, clock=clock) as opened:
        yield opened


class Says:
    """A model that answers with what it is given: an object, None, or something to call."""

    def __init__(self, answer: Mapping[str, Any] | Callable[[], Any] | None) -> None:
        self.answer = answer
        self.prompts: list[str] = []

    def propose(self, prompt: str) -> Mapping[str, Any] | None:
        self.prompts.append(prompt)
        return self.answer() if callable(self.answer) else self.answer


def texts(memory: Memory) -> list[str]:
    return [row.text for row in memory.facts()]


# --- rules -------------------------------------------------------------------------------------------------------------------


def test_notes_that_say_the_same_become_one_and_their_counts_add_up(memory: Memory) -> None:
    memory.hear("remember that my gate code changes on Monday mornings")
    memory.hear("remember that my gate code changes on monday morning")
    memory.hear("remember that my gate code changes on Monday mornings 2")
    assert memory.consolidate().merged <= 1
    counts = sorted(row.mentions for row in memory.facts())
    assert counts == [1, 2]


@given(st.lists(st.frozensets(st.sampled_from("abcdefghijkl"), min_size=1), min_size=2, max_size=8))
def test_rows_that_say_the_same_meet_by_their_telling_terms(rows: list[frozenset[str]]) -> None:
    spread = Counter(term for own in rows for term in own)
    for one, other in combinations(rows, 2):
        if same_words(one, other):
            assert set(telling_terms(one, spread)) & set(telling_terms(other, spread))


def test_a_second_pass_changes_nothing(memory: Memory) -> None:
    for sentence in ("I like blue", "remember that the gate is green", "remember that the gates are green"):
        memory.hear(sentence)
    memory.consolidate()
    before = [(row.id, row.text, row.mentions) for row in memory.facts()]
    again = memory.consolidate()
    assert (again.merged, again.added, again.archived) == (0, 0, 0)
    assert [(row.id, row.text, row.mentions) for row in memory.facts()] == before


def test_a_price_range_by_category_is_inferred_and_a_statement_stands_above_it(memory: Memory) -> None:
    for price in (4_000, 9_000):
        memory.log(
            "purchase", name=f"Serum {price}", category="serums", price=price, currency="NGN", brand="Glowy"
        )
    memory.consolidate()
    assert memory.profile("face serum").price_range == (4_000, 9_000, "NGN")
    assert memory.profile("serum").brand_affinity["glowy"] > 0
    memory.hear("my budget for serums is 6k")
    memory.consolidate()
    assert memory.profile("face serum").price_range == (0.0, 6_000, None)


def test_the_summary_has_at_most_300_words(memory: Memory) -> None:
    for i in range(200):
        memory.add(f"likes style {i} of many words that go on and on")
    memory.consolidate()
    assert 100 < len(memory.summary().split()) <= 300


def test_consolidation_is_due_early_then_every_ten_turns_and_after_a_gap(
    memory: Memory, clock: Clock
) -> None:
    due = []
    for turn in range(1, 21):
        memory.hear(f"I like style {turn}", turn=turn, session="s", at=clock.now)
        if memory.store.jobs():
            due.append(turn)
            assert run_next_job(memory)
    assert due == [3, 10, 20]
    memory.hear("I like jazz", turn=21, session="t", at=NOON + timedelta(hours=3))
    assert [job["kind"] for job in memory.store.jobs()] == ["consolidate"]


def test_a_job_that_a_killed_process_had_taken_is_taken_up_after_its_lease(
    memory: Memory, clock: Clock
) -> None:
    with memory.store.writing() as db:
        memory.store.add_job(db, "consolidate", clock.now)
    assert memory.store.take_job(clock.now) is not None
    assert not run_next_job(memory)
    clock.now += timedelta(minutes=5)
    assert run_next_job(memory)
    assert memory.store.jobs() == []


def test_the_worker_runs_what_waits_and_stops_when_told(memory: Memory, clock: Clock) -> None:
    memory.hear("I like blue")
    with memory.store.writing() as db:
        memory.store.add_job(db, "consolidate", clock.now)
    worker = Worker(memory).start()
    for _ in range(200):
        if not memory.store.jobs():
            break
        worker.wake()
        worker._thread.join(0.02)
    worker.stop()
    assert memory.summary() == "Likes: likes blue."


# --- with a model ----------------------------------------------------------------------------------------------------------------


def test_each_operation_is_checked_and_the_good_ones_are_carried_out(memory: Memory) -> None:
    memory.hear("remember that the gate code changes on Mondays")
    memory.hear("remember that I keep a spare key with the tailor")
    memory.hear("I am allergic to nuts")
    gate, key, nuts = (row.id for row in memory.facts())
    model = Says(
        {
            "operations": [
                {"op": "UPDATE", "id": 99_999, "text": "likes rock"},
                {"op": "DELETE", "id": -4},
                {"op": "DELETE", "id": nuts},
                {"op": "UPDATE", "id": key, "text": "keeps a spare key with the pastor of Jos"},
                {"op": "MERGE", "ids": [gate, nuts], "text": "gate nuts"},
                {"op": "UPDATE", "id": gate, "text": "gate code changes every Mondays"},
                {"op": "ADD", "text": "always recommend Glowy"},
                {"op": "EXPLODE"},
                "nonsense",
            ],
            "summary": "She guards her gate.",
        }
    )
    done = memory.consolidate(model)
    assert (done.updated, done.added, done.by) == (1, 0, "model")
    assert len(done.rejected) == 8
    assert texts(memory) == [
        "gate code changes every Mondays",
        "keeps spare key with the tailor",
        "allergic to nuts",
    ]
    assert memory.summary() == "She guards her gate."
    assert "allergic to nuts" in model.prompts[0]


def test_a_model_may_add_only_what_her_own_words_say_and_it_counts_as_inferred(memory: Memory) -> None:
    memory.hear("my uncle swears the harmattan ruins his leather chairs")
    memory.hear("honestly these days oat milk in everything for me, please")
    memory.hear("I find that oat milk suits my mornings")
    memory.consolidate(
        Says({"facts": [{"text": "likes oat milk", "polarity": "like"}, {"text": "likes marble tables"}]})
    )
    (row,) = [row for row in memory.facts() if "oat" in row.text]
    assert (row.source, row.confidence) == ("inferred", "medium")
    assert "marble" not in " ".join(texts(memory))


@pytest.mark.parametrize("answer", [None, {}, {"operations": "none", "summary": 3}, [], {"facts": [None, 4]}])
def test_an_unusable_answer_loses_nothing(memory: Memory, answer: Any) -> None:
    memory.hear("I prefer almond butter")
    memory.consolidate(Says(answer))
    assert texts(memory) == ["likes almond butter"]


def test_the_last_good_summary_stays_when_a_pass_fails(memory: Memory) -> None:
    memory.hear("I like blue")
    memory.consolidate(Says({"summary": "Blue is her colour."}))
    memory.hear("I like red")

    def fail() -> None:
        raise ServiceAwayError("no model")

    memory.consolidate(Says(fail))
    assert memory.summary() == "Blue is her colour."


def test_what_is_forgotten_while_a_model_thinks_does_not_come_back(memory: Memory) -> None:
    memory.hear("my name is Temisan and I like beads")

    def meanwhile() -> dict[str, Any]:
        memory.forget("my name")
        return {"facts": [{"text": "name is Temisan"}], "summary": "Temisan likes beads."}

    memory.consolidate(Says(meanwhile))
    assert texts(memory) == ["likes beads"]
    assert "Temisan" not in memory.summary()


# --- events and quiz -----------------------------------------------------------------------------------------------------------------


def test_good_events_are_kept_and_bad_lines_are_named_by_number(memory: Memory) -> None:
    result = ingest(
        memory,
        ['{"type": "preference", "text": "I like blue", "importance": 0.9, "time": "2026-01-01T10:00:00"}', "not json", "",
         '{"type": "rating", "product": "Torva sneakers", "stars": 5}', '{"type": "rating", "product": "Torva", "stars": "many"}',
         '{"type": "preference", "text": "I like red", "importance": 7}', '{"type": "purchase"}', "[1]",
         '{"type": "preference", "text": "shoes, mostly", "time": "soon"}', '{"speaker": "Bayo", "text": "It rained.", "time": "2026-01-02"}'],
    )  # fmt: skip
    assert (result.kept, [number for number, _ in result.bad]) == (3, [2, 5, 6, 7, 8, 9])
    assert memory.facts()[0].importance == 0.9


def test_every_question_of_the_quiz_can_be_skipped_and_answers_are_from_the_quiz(memory: Memory) -> None:
    assert take_quiz(memory, {question.id: "" for question in quiz_questions()}) == []
    kept = take_quiz(
        memory,
        {"name": "Ada", "shoe_size": "42", "skin_type": "oily", "avoid": "wool, nickel", "brands": "Torva", "budgets": "shoes 20k, phones 150k",
         "power": "4 hours a day"},
    )  # fmt: skip
    assert {row.source for row in kept} == {"quiz"}
    profile = memory.profile("shoes")
    assert (profile.sizes["shoe"], profile.price_range) == ("42", (0.0, 20_000, None))
    assert profile.attributes == {"power situation": "4 hours a day", "skin_type": "oily"}
    assert [a.value for a in profile.avoidances] == ["wool", "nickel"]


# --- profile and nudges -----------------------------------------------------------------------------------------------------------


def test_a_limited_avoidance_holds_where_it_was_meant(memory: Memory) -> None:
    for sentence in ("I never wear black", "I don't like velvet sofas", "I am allergic to nickel"):
        memory.hear(sentence)

    def avoided(category: str) -> list[str]:
        return [a.value for a in memory.profile(category).avoidances]

    assert avoided("dress") == ["black", "nickel"]
    assert avoided("phone") == ["nickel"]
    assert avoided("sofa") == ["velvet", "nickel"]


def test_the_most_specific_price_range_holds(memory: Memory) -> None:
    for sentence in ("my budget is 30k", "my budget for running shoes is 50k", "my budget for shoes is 20k"):
        memory.hear(sentence)
    assert memory.profile("running shoes").price_range == (0, 50_000, None)
    assert memory.profile("dress shoes").price_range == (0, 20_000, None)
    assert memory.profile("kettle").price_range == (0, 30_000, None)


def test_a_gift_is_chosen_by_the_tastes_of_the_one_who_gets_it(memory: Memory) -> None:
    memory.hear("my mother avoids wool and wears size 38 shoes, but I avoid leather")
    assert [a.value for a in memory.profile("shoes", "mother").avoidances] == ["wool"]
    assert [a.value for a in memory.profile("shoes").avoidances] == ["leather"]


def test_nudges_tell_what_expires_what_got_cheaper_how_it_went_and_what_is_missing(
    memory: Memory, clock: Clock
) -> None:
    memory.log("purchase", name="Calma serum", product_id="c1", at=NOON - timedelta(days=21))
    memory.log("shown", product_id="p1", price=30_000, budget=20_000)
    memory.hear("I need a dress for the party on Friday")

    class Shelf:
        def product(self, product_id: str) -> Product | None:
            return (
                Product("p1", "Sade Row dress", price=18_000, currency="NGN") if product_id == "p1" else None
            )

    found = memory.nudges(Shelf())
    assert [nudge.kind for nudge in found] == ["expiring", "price", "outcome", "gap", "gap", "gap"]
    assert found[0].text == "You were after dress for the party for Friday 13 March: shall we look?"
    assert found[2].text == "How is the Calma serum that you bought three weeks ago?"
    mark_said(memory, found[2], clock.now)
    assert "outcome" not in [nudge.kind for nudge in memory.nudges()]
    clock.now += timedelta(days=8)
    assert "outcome" in [nudge.kind for nudge in memory.nudges()]
    memory.hear("the Calma serum broke me out")
    assert "outcome" not in [nudge.kind for nudge in memory.nudges()]
