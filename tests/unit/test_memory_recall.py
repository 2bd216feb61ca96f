"""What comes back: by words, meaning, person and day; what bears on a request always; what is over never."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ego_cli.evaluation.memory_suites import precision_report, preference_report
from ego_cli.evaluation.recall import evaluate_recall
from ego_cli.memory.index import one_slip
from ego_cli.memory.memory import Memory, open_memory
from ego_cli.memory.recall import Recalled, pack
from ego_cli.memory.tokens import estimate_tokens, query_terms, stem, token_counter

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory("ada", root=tmp_path, clock=lambda: NOON) as opened:
        yield opened


def found(memory: Memory, query: str, **limits: int) -> list[str]:
    return [item.entry.text for item in memory.recall(query, **limits)]  # type: ignore[arg-type]


class Stub:
    """Random but fixed vectors of a size."""

    def __init__(self, size: int) -> None:
        self.size, self.identity = size, f"stub-{size}"

    def encode(self, texts: list[str]) -> object:
        import numpy as np

        rows = []
        for text in texts:
            source = random.Random(text)
            rows.append([source.gauss(0, 1) for _ in range(self.size)])
        made = np.array(rows, dtype=np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


# --- words -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("I like ankara", "NEAR ankara^ -plain"),
        ("I need good wi-fi and a 5G phone", 'wi-fi "5G" AND* (offer)'),
        ("my sister is called Ọmọlará", "omolara"),
        ("my sister is called Ọmọlará", "Ọmọlará"),
        ("I like the brand 小米", "小米"),
        ("I like the brand 小米手机", "小米"),
        ("I collect cufflinks", "cufflink"),
        ("I like colour number 7", "color number 7"),
        ("I like 🍕 pizza", "🍕"),
        ("I avoid perfume", "fragrance"),
    ],
)
def test_a_memory_is_found_by_its_words_in_any_script(memory: Memory, said: str, query: str) -> None:
    memory.hear(said)
    memory.hear("I like tables")
    assert memory.recall(query)[0].entry.words in said


def test_names_come_back_letter_by_letter(memory: Memory) -> None:
    memory.hear("my guy name na Chukwuebuka, him like sneakers")
    assert "Chukwuebuka" in " ".join(found(memory, "my guy"))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=80))
def test_any_text_is_a_query(memory: Memory, query: str) -> None:
    memory.hear("I like green tea", turn=1, session="s")
    memory.recall(query)
    assert len(query_terms(query)) == len(set(query_terms(query)))


@pytest.mark.parametrize(
    ("word", "expected"),
    [("running", "run"), ("ponies", "poni"), ("relational", "relat"), ("caresses", "caress"), ("hopping", "hop"), ("hoping", "hope"),
     ("agreed", "agre"), ("generalizations", "gener"), ("oscillators", "oscil"), ("sky", "sky"), ("happy", "happi"), ("adoption", "adopt")],
)  # fmt: skip
def test_stems_are_porters(word: str, expected: str) -> None:
    assert stem(word) == expected


# --- what must and what must not --------------------------------------------------------------------------------------------


def test_what_was_superseded_does_not_come_back(memory: Memory) -> None:
    memory.hear("I love suede", at=NOON - timedelta(days=9))
    memory.hear("I hate suede", at=NOON)
    assert found(memory, "suede shoes") == ["dislikes suede"]


def test_avoidances_sizes_and_budgets_come_with_a_request_they_share_no_word_with(memory: Memory) -> None:
    for sentence in (
        "I never wear leather",
        "my shoe size is 42",
        "my budget for sneakers is 30k",
        "I avoid gluten in food",
        "my budget for phones is 200k",
    ):
        memory.hear(sentence)
    came = found(memory, "show me sneakers")
    assert set(came) == {"never wears leather", "wears size 42 shoe", "budget for sneaker is 30k"}
    assert all("bears on the request" in item.why for item in memory.recall("show me sneakers"))


def test_avoidances_are_in_even_when_hundreds_of_other_memories_match(memory: Memory) -> None:
    memory.hear("I am allergic to nickel")
    for i in range(300):
        memory.log("said", f"I saw a watch number {i} in the shop")
    came = memory.recall("I am looking for a watch", max_tokens=100)
    assert came[0].entry.text == "allergic to nickel"
    assert sum(item.tokens for item in came) <= 100


def test_an_old_allergy_is_as_near_as_a_new_one(memory: Memory) -> None:
    memory.hear("I am allergic to nickel jewellery", at=NOON - timedelta(days=900))
    (item,) = memory.recall("nickel allergy")
    assert (item.entry.text, item.retention) == ("allergic to nickel jewellery", 1.0)


def test_each_result_says_why_it_came(memory: Memory) -> None:
    memory.hear("I like green tea")
    assert memory.recall("green tea")[0].why == "words in common: green, tea"


# --- days --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "thing"),
    [("today", "kettle"), ("yesterday", "doormat"), ("on Sunday", "basin"), ("3 days ago", "lamp")],
)
def test_a_day_is_a_calendar_day_of_the_shop(memory: Memory, day: str, thing: str) -> None:
    bought = {
        "doormat": "2026-03-09T22:30:00+00:00",  # 23:30 on the 9th in Lagos
        "kettle": "2026-03-09T23:30:00+00:00",  # 00:30 on the 10th in Lagos
        "basin": "2026-03-08T12:00:00+00:00",
        "lamp": "2026-03-07T12:00:00+00:00",
    }
    for what, at in bought.items():
        memory.hear(f"I bought a {what}", at=datetime.fromisoformat(at))
    assert found(memory, f"what did I buy {day}") == [f"bought {thing}"]


def test_a_day_told_counts_for_the_day_it_means(memory: Memory) -> None:
    memory.hear("I bought a kettle yesterday", at=NOON)
    assert found(memory, "what did I buy on 9 March 2026") == ["bought kettle"]


# --- conversations ---------------------------------------------------------------------------------------------------------------


def test_who_spoke_and_the_turn_before_point_at_the_answer(memory: Memory) -> None:
    talk = [
        ("Ada", "What breed is your dog?"), ("Bayo", "A mix, they think part Basenji."), ("Ada", "Lovely. I had a dog once."),
        ("Bayo", "The weather is awful."), ("Ada", "It rains all week."), ("Bayo", "I will stay in and read."),
    ]  # fmt: skip
    memory.log_many({"kind": "said", "speaker": who, "text": text, "session": "1"} for who, text in talk)
    assert found(memory, "What breed is Bayo's dog?")[0] == "A mix, they think part Basenji."


def test_turns_of_different_conversations_are_no_neighbours(memory: Memory) -> None:
    memory.log_many(
        [{"kind": "said", "speaker": "Ada", "text": "Have you seen the giraffe?", "session": "1"},
         {"kind": "said", "speaker": "Bayo", "text": "It rained all day here.", "session": "2"}]
    )  # fmt: skip
    assert found(memory, "giraffe") == ["Have you seen the giraffe?"]


# --- vectors ------------------------------------------------------------------------------------------------------------------------


def test_another_embedder_or_none_at_all_never_stops_a_recall(tmp_path: Path) -> None:
    for embedder in (Stub(384), Stub(768), None, Stub(16), Stub(384)):
        with open_memory("ada", root=tmp_path, embedder=embedder) as memory:  # type: ignore[arg-type]
            memory.hear("I like green tea")
            assert "likes green tea" in found(memory, "green tea")
            sizes = {
                row[0]
                for row in memory.store.connection().execute("SELECT length(value)/4 - size FROM vector")
            }
            assert sizes <= {0}


# --- packing ----------------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 60)), st.integers(0, 100), st.integers(0, 12))
def test_packing_never_goes_over_and_stops_only_when_nothing_more_fits(
    costs: list[int], budget: int, most: int
) -> None:
    items = [Recalled(None, 0.0, "", cost, 1.0) for cost in costs]  # type: ignore[arg-type]
    packed = pack(items, budget, most)
    assert sum(item.tokens for item in packed) <= budget
    assert len(packed) <= most
    left = budget - sum(item.tokens for item in packed)
    if len(packed) < most:
        last = max((i for i, item in enumerate(items) if any(item is p for p in packed)), default=-1)
        assert all(item.tokens > left for item in items[last + 1 :])


def test_tokens_are_counted_by_a_tokenizer_where_there_is_one() -> None:
    class Words:
        def encode(self, text: str) -> list[str]:
            return text.split()

    assert token_counter(Words())("likes green tea") == 3
    assert token_counter()("likes green tea") == estimate_tokens("likes green tea") >= 3
    assert estimate_tokens("") == 0
    assert estimate_tokens("小米手机") >= 4


def test_one_slip_is_one_letter_behind_the_first_two() -> None:
    assert one_slip("mongod", "mongo")
    assert one_slip("typsecript", "typescript")
    assert not one_slip("mango", "mongo")
    assert not one_slip("k9s", "k8s")


# --- measures --------------------------------------------------------------------------------------------------------------------


def test_evidence_recall_is_scored_by_hand_computable_shares(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(
        '{"user": "a", "events": ['
        '{"id": "1", "time": "2023-05-08T13:56", "speaker": "Ada", "text": "I adopted a grey kitten yesterday."},'
        '{"id": "2", "time": "1:58 pm on 8 May, 2023", "speaker": "Bayo", "text": "How sweet! I am repairing my bicycle."}],'
        '"questions": [{"query": "What did Ada adopt?", "time": "2023-06-01", "evidence": ["1"]},'
        '{"query": "What is Bayo repairing?", "evidence": ["2", "none"]}, {"query": "Unanswerable?", "evidence": []}]}\n'
    )
    report = evaluate_recall(path, dense=False)
    assert report.summary["questions"] == 2
    assert report.summary["recall_at_5"] == pytest.approx(0.75)
    assert report.questions[0].found[0] == "1"  # type: ignore[union-attr]


def test_precision_mem_bench_returns_nothing_that_it_must_not(shared: Path) -> None:
    report = precision_report(shared / "data" / "memory" / "precisionmembench")
    assert report.summary["cases"] == 89
    assert report.summary["share_passed"] >= 0.95
    assert report.summary["mean_precision"] >= 0.95


def test_preferences_are_in_the_context_of_the_question_that_needs_them(shared: Path) -> None:
    report = preference_report(shared / "data" / "memory" / "prefeval")
    assert report.summary["own"] >= 0.9
    assert report.summary["pooled"] >= 0.9
