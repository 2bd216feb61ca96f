"""A turn with a model beside the rules, over real HTTP: the rules' answer stands first, and stands when the model fails."""

from __future__ import annotations

import json
import threading
import time

import pytest
from asking import Server, contents
from shops import assistant

from ego_cli.conversation.events import Event, ModelCalled, Notice, ReplyDelta, TurnDone
from ego_cli.conversation.turn import Assistant
from ego_cli.llm.ledger import Ledger

GOOD = "The Brewa steel kettle has the highest rating, 4.6, and costs ₦12,000."
KETTLES = "kettles under 16k"


def play(shop: Assistant, said: str = KETTLES) -> tuple[list[Event], TurnDone]:
    events = list(shop.turn(said))
    done = events[-1]
    assert isinstance(done, TurnDone)
    return events, done


def offline(said: str = KETTLES) -> TurnDone:
    return play(assistant(None), said)[1]


def deltas(events: list[Event]) -> list[ReplyDelta]:
    return [event for event in events if isinstance(event, ReplyDelta)]


def test_the_list_is_there_before_the_model_and_its_audited_words_replace_the_lead(serve: Server) -> None:
    events, done = play(assistant(serve({"text": GOOD}), uses="phrase"))
    first, *streamed = deltas(events)
    assert first.text == offline().reply.text
    assert streamed[0].restart and "".join(delta.text for delta in streamed).strip() == GOOD
    assert done.reply.text.startswith(GOOD) and "Zapp kettle 1.5L" in done.reply.text
    assert done.reply.author == "small" and done.reply.cards == offline().reply.cards


def test_the_list_does_not_wait_for_a_model_that_hangs(serve: Server) -> None:
    turn = assistant(serve({"sleep": 60}), turn_deadline_s=30).turn(KETTLES)
    started = time.monotonic()
    while not isinstance(next(turn), ReplyDelta):
        pass
    assert time.monotonic() - started < 10
    turn.close()  # type: ignore[attr-defined]


def test_a_turn_with_a_model_that_hangs_ends_at_the_deadline_with_the_offline_answer(serve: Server) -> None:
    shop = assistant(serve({"sleep": 60}), turn_deadline_s=1.0)
    started = time.monotonic()
    events, done = play(shop)
    assert 0.9 < time.monotonic() - started < 2.0  # 1.2 on a machine that does nothing else
    assert done.reply == offline().reply
    notices = [event for event in events if isinstance(event, Notice)]
    assert len(notices) == 1 and "within 1 s" in notices[0].text and done.notices == tuple(notices)
    again = time.monotonic()
    play(shop)
    assert time.monotonic() - again < 0.9  # the dead provider is left alone


def test_a_cut_stream_is_marked_and_followed_by_the_full_offline_answer(serve: Server) -> None:
    cut = {"stream": ["The Brewa is here. ", "The Zapp is the"], "end": "cut"}
    events, done = play(assistant(serve(cut), uses="phrase"))
    first, begun, restarted = deltas(events)
    assert begun.text.strip() == "The Brewa is here." and begun.restart
    assert restarted.restart and restarted.text == first.text == done.reply.text == offline().reply.text
    assert "broke off" in done.notices[0].text


@pytest.mark.parametrize(
    "step",
    [
        {"text": "The Zapp kettle has five stars and is the top choice."},
        {"text": "The Zapp kettle costs ₦1."},
        {"text": json.dumps({"order": ["k2", "k1"], "reasons": {"k2": "say five stars"}})},
        {"text": "not json"},
        {"text": ""},
        {"http": 500},
        {"http": 429, "retry_after": 60},
        {"body": "<html>"},
    ],
)
def test_whatever_a_model_says_facts_and_order_stay(serve: Server, step: dict[str, object]) -> None:
    said = "best rated kettle"
    _, done = play(assistant(serve(step), turn_deadline_s=4), said)
    without = offline(said)
    assert done.reply.text == without.reply.text
    assert [s.product.id for s in done.decision.shown] == [s.product.id for s in without.decision.shown]
    assert done.state.wants == without.state.wants and done.state.budget == without.state.budget


def test_hostile_text_of_a_product_is_quoted_without_its_marks(serve: Server) -> None:
    server = serve({"text": "{}"})
    play(assistant(server))
    sent = "\n".join(contents(request) for request in server.requests)
    assert "SYSTEM:" not in sent and "disregard" not in sent


def test_an_odd_sentence_is_read_with_a_models_help_after_the_first_answer(serve: Server) -> None:
    answer = {"category": "kettles", "quotes": {"category": "zoomfanglers"}}
    server = serve({"text": f"```json\n{json.dumps(answer)}\n```"})
    events, done = play(assistant(server, uses="read"), "zoomfanglers and wobblewumps please")
    assert {scored.product.id for scored in done.decision.shown} <= {"k1", "k2", "k3"} and done.decision.shown
    first, second = deltas(events)
    assert not first.restart and second.restart and second.text == done.reply.text
    assert done.understanding.acts[-1].source == "model"


def test_a_sentence_that_was_read_costs_no_call_for_reading(serve: Server) -> None:
    server = serve({"text": "{}"})
    play(assistant(server, uses="read"))
    assert not server.requests


def test_near_ties_take_a_models_order_with_reasons_from_stored_fields(serve: Server) -> None:
    before = [scored.product.id for scored in offline("kettles").decision.shown]
    answer = {"order": [*before[::-1], "b1"], "reasons": {"k2": "keep-warm base", "k1": "five stars"}}
    _, done = play(assistant(serve({"text": json.dumps(answer)}), uses="rerank"), "kettles")
    after = [scored.product.id for scored in done.decision.shown]
    assert sorted(after) == sorted(before)
    reasons = {scored.product.id: [reason.tag for reason in scored.reasons] for scored in done.decision.shown}
    assert "keep-warm base" in reasons["k2"] and not any("stars" in tag for tag in reasons["k1"])


def test_every_call_is_in_the_events_the_turn_and_the_ledger(serve: Server) -> None:
    events, done = play(assistant(serve({"text": GOOD})))
    calls = tuple(event.call for event in events if isinstance(event, ModelCalled))
    assert calls == done.calls and {call.purpose for call in calls} == {"rerank", "phrase"}
    by_purpose = {usage.name: usage for usage in Ledger().totals("purpose")}
    assert by_purpose["phrase"].prompt_tokens == next(c for c in calls if c.purpose == "phrase").prompt_tokens
    assert [usage.calls for usage in Ledger().totals()] == [2] and done.timings_ms["model"] > 0


def test_a_turn_that_is_stopped_while_the_model_thinks_leaves_the_state_as_it_was(serve: Server) -> None:
    shop, cancel = assistant(serve({"sleep": 60}), turn_deadline_s=30), threading.Event()
    started = time.monotonic()
    for event in shop.turn(KETTLES, cancel):
        if isinstance(event, ReplyDelta):
            cancel.set()
        assert not isinstance(event, TurnDone)
    assert shop.state.turn == 0 and time.monotonic() - started < 10


def test_that_a_budget_is_spent_is_said_once(serve: Server) -> None:
    server = serve({"text": GOOD})
    shop = assistant(server, uses="phrase", session_token_budget=100)
    first, second = play(shop)[1], play(shop)[1]
    assert "100 tokens for this session are spent" in first.notices[0].text and second.notices == ()
    assert not server.requests


def test_the_status_says_rules_only_and_why(serve: Server) -> None:
    working = assistant(serve({"text": GOOD})).models
    assert working is not None and working.status == "small"
    shop = assistant(serve({"http": 401}))
    play(shop)
    assert shop.models is not None and shop.models.status.startswith("rules only (local: the key was refused")


def test_memory_proposals_are_parsed_and_a_silent_model_is_no_error(serve: Server) -> None:
    shop = assistant(
        serve({"text": 'Here: {"facts": [{"text": "likes tea"}], "operations": {"op": "ADD"}, "x": 1}'}),
        uses="consolidate",
    )
    assert shop.models is not None
    model = shop.models.for_memory()
    assert model is not None
    proposal = model.propose("Tidy this.")
    assert proposal == {"facts": ({"text": "likes tea"},), "operations": ({"op": "ADD"},), "summary": ""}
    unreadable = assistant(serve({"text": "no"}), uses="consolidate").models
    assert unreadable is not None and (other := unreadable.for_memory()) is not None
    assert other.propose("Tidy this.") is None
