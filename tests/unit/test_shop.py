"""Sessions are played, kept, compared and explained as the protocol and the reports promise."""

from __future__ import annotations

import json

import pytest

from ego_cli.errors import EgoError, MisuseError, NotFoundError
from ego_cli.evaluation import runs
from ego_cli.evaluation.cards import Card, Constraint, Session
from ego_cli.evaluation.metrics import summarise
from ego_cli.evaluation.report import html_report
from ego_cli.evaluation.runs import Run, diff, outcome_of, read_run, replay, write_run
from ego_cli.evaluation.shop import agent_class, play_session
from ego_cli.evaluation.speech import Speech

CARD = Card("Women", "Dresses", (Constraint("cotton", "material"), Constraint("Machine Wash", "feature")))
CATALOGUE = {f"p{i}" for i in range(40)} | {"target"}


class Scripted:
    """Shows the given lists, one a turn; the last repeats. An exception in the list is raised."""

    def __init__(self, *lists, asks="other"):
        self.lists, self.asks, self.heard = lists, asks, []

    def reset(self, session_id, user_profile):
        self.heard = []

    def respond(self, session_id, user_message, turn, top_k):
        self.heard.append(user_message)
        answer = self.lists[min(turn, len(self.lists)) - 1]
        if isinstance(answer, Exception):
            raise answer
        items = [{"parent_asin": i} for i in answer]
        usage = {"prompt_tokens": 3, "completion_tokens": 1}
        return {"message": "here", "ask_attribute": self.asks, "recommendations": items, "usage": usage}


def session(scenario="buying", **more):
    return Session("s-1", scenario, "target", CARD, **more)


def played(agent, of=None):
    return play_session(agent, of or session(), Speech("wire", "test", "0"), CATALOGUE)


def test_a_session_ends_at_the_hit():
    record = played(Scripted(["p1"], ["p2", "target"], ["p3"]))
    assert (record["hit_turn"], record["rank"], len(record["turns"])) == (2, 2, 2)
    assert record["failure"] is None


def test_a_miss_takes_ten_turns():
    record = played(Scripted(["p1"]))
    assert record["hit_turn"] is None
    assert len(record["turns"]) == 10
    assert record["failure"]["kind"] == "not found"


def test_a_hit_before_the_change_of_mind_does_not_count():
    record = played(
        Scripted(["target"]), session("override", old=Constraint("wool", "material"), change_turn=3)
    )
    assert record["hit_turn"] == 3


def test_unknown_and_repeated_ids_are_dropped_before_ten_are_counted():
    ids = ["nowhere", "p1", "p1", *(f"p{i}" for i in range(2, 10)), "target", "p11"]
    record = played(Scripted(ids))
    assert record["rank"] == 10
    assert len(record["turns"][0]["shown"]) == 10


def test_an_exception_is_an_empty_answer_and_is_kept():
    record = played(Scripted(ValueError("no such luck"), ["target"]))
    assert record["hit_turn"] == 2
    assert record["turns"][0]["error"] == "ValueError: no such luck"
    assert outcome_of(record).errors == 1


def test_an_agent_that_only_fails_is_said_to_fail():
    assert played(Scripted(ValueError("broken")))["failure"] == {
        "kind": "agent failed",
        "why": "ValueError: broken",
    }


def test_answers_without_any_of_the_fields_are_taken():
    class Silent(Scripted):
        def respond(self, *args):
            return {}

    assert played(Silent())["hit_turn"] is None


def test_tokens_are_the_agents_own():
    assert outcome_of(played(Scripted(["p1"], ["target"]))).prompt_tokens == 6


def run(name, *agents_and_sessions):
    records = []
    for number, agent in enumerate(agents_and_sessions):
        record = played(agent)
        records.append(
            {**record, "id": f"standard-{number:03}", "title": "A dress", "titles": {"target": "A dress"}}
        )
    summary = {
        **summarise([outcome_of(r) for r in records]),
        "failures": runs.confusion(records),
        "startup_s": 0.1,
        "peak_mb": 90.0,
    }
    about = {
        "id": name,
        "agent": "x",
        "options": {},
        "suite": "standard",
        "customer": "wire",
        "part": "test",
        "seed": 0,
        "catalogue": "c",
        "products": 41,
        "version": "0",
    }
    return Run(about, tuple(records), summary)


HIT, LATE, MISS = Scripted(["target"]), Scripted(["p1"], ["target"]), Scripted(["p1"])


def test_a_run_file_holds_all_of_a_run(tmp_path):
    before = run("one", HIT, MISS)
    path = write_run(before, tmp_path)
    assert [json.loads(line)["type"] for line in path.read_text().splitlines()] == [
        "run",
        "session",
        "session",
        "summary",
    ]
    after = read_run(str(path))
    assert after.about == before.about
    assert [outcome_of(s) for s in after.sessions] == [outcome_of(s) for s in before.sessions]


def test_runs_are_found_by_a_unique_beginning(tmp_path, monkeypatch):
    monkeypatch.setenv("EGO_HOME", str(tmp_path))
    for name in ("20260101-a", "20260102-b"):
        write_run(run(name, HIT))
    assert read_run("20260101").id == "20260101-a"
    assert read_run("last").id == "20260102-b"
    with pytest.raises(NotFoundError, match="2 runs"):
        read_run("2026")
    with pytest.raises(NotFoundError, match="no run"):
        read_run("nothing")


def test_a_file_that_is_no_run_is_said_so(tmp_path):
    for content in ("not json", '{"a": 1}\n', "[1]\n", ""):
        (tmp_path / "x.jsonl").write_text(content)
        with pytest.raises(EgoError, match="not a run file"):
            read_run(str(tmp_path / "x.jsonl"))


def test_a_comparison_names_what_was_newly_found_and_missed():
    found = diff(run("one", HIT, MISS, LATE), run("two", MISS, HIT, HIT))
    assert found["newly_found"] == ["standard-001"]
    assert found["newly_missed"] == ["standard-000"]
    assert (found["better"], found["worse"]) == (2, 1)
    assert found["differences"]["technical_score"]["difference"] == pytest.approx(0.02 / 3)
    assert found["differences"]["hit_rate_at_10"]["p"] == 1


def test_runs_of_other_sessions_cannot_be_compared():
    one, two = run("one", HIT), run("two", HIT)
    strangers = tuple({**s, "id": "long-tail-000"} for s in two.sessions)
    with pytest.raises(MisuseError, match="share no session"):
        diff(one, Run(two.about, strangers, two.summary))


def test_a_replay_shows_what_was_said_and_where_the_product_stood():
    text = "\n".join(replay(run("one", Scripted(["p1"], ["p2", "target"])), "000"))
    assert "I'm looking for Women Dresses. A key requirement is: cotton." in text
    assert "→  2. A dress [target]" in text
    assert "found on turn 2 in place 2" in text


def test_the_number_of_a_session_is_not_the_ending_of_another():
    played = run("one", *[HIT] * 14)
    assert played.session("3")["id"] == "standard-003"
    assert played.session("013")["id"] == "standard-013"
    assert played.session("0")["id"] == "standard-000"


def test_an_unknown_session_is_named():
    with pytest.raises(NotFoundError, match="999"):
        replay(run("one", HIT), "999")


def test_the_report_stands_alone_and_escapes_what_strangers_wrote():
    hostile = run("one", HIT, MISS, LATE)
    hostile.sessions[1]["title"] = "<script>alert(1)</script>"  # type: ignore[index]
    page = html_report([hostile])
    assert "<script" not in page
    assert "http" not in page
    assert page.count("<svg") == 3


def test_agents_are_named_by_module_and_class():
    assert agent_class("ego_cli.evaluation.baselines:Fts5Or").__name__ == "Fts5Or"
    for wrong in ("nobody", "no.such.module:Agent", "ego_cli.evaluation.baselines:Nobody"):
        with pytest.raises(MisuseError):
            agent_class(wrong)
