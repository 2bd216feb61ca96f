"""What the client promises, over real HTTP against a server on this machine."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from asking import ASK, Server, client, provider, settings, soon

from ego_cli.llm.cache import Cache
from ego_cli.llm.client import (
    BudgetError,
    Client,
    CutError,
    Deadline,
    DeadlineError,
    ModelError,
    StoppedError,
)
from ego_cli.llm.providers import ONLY_LOCAL
from ego_cli.settings import LlmSettings, Provider


def test_an_answer_comes_with_its_tokens_and_cost(serve: Server) -> None:
    asking = client(serve({"text": "hello there"}))
    assert asking.complete(ASK, soon()) == "hello there"
    (call,) = asking.take_calls()
    assert (call.prompt_tokens, call.completion_tokens, call.estimated) == (4, 2, False)
    assert call.cost_usd == pytest.approx((4 * 1.0 + 2 * 2.0) / 1e6)
    assert call.latency_ms > 0 and not call.error


def test_a_stream_arrives_in_pieces_with_its_usage(serve: Server) -> None:
    asking = client(serve({"stream": ["hello", " there"]}))
    assert list(asking.stream(ASK, soon())) == ["hello", " there"]
    (call,) = asking.take_calls()
    assert (call.prompt_tokens, call.completion_tokens, call.estimated) == (4, 2, False)


def test_tokens_are_estimated_and_marked_where_a_server_gives_none(serve: Server) -> None:
    asking = client(serve({"stream": ["hello", " there"], "usage": False}))
    list(asking.stream(ASK, soon()))
    (call,) = asking.take_calls()
    assert call.estimated and call.prompt_tokens > 0 and call.completion_tokens == 4


def test_too_many_requests_is_tried_once_more_after_what_the_server_asks(serve: Server) -> None:
    server = serve({"http": 429, "retry_after": 0.4}, {"text": "hello"})
    asking = client(server)
    started = time.monotonic()
    assert asking.complete(ASK, soon()) == "hello"
    assert time.monotonic() - started >= 0.4
    assert [call.retries for call in asking.take_calls()] == [1]


def test_retry_after_may_be_a_date(serve: Server) -> None:
    past = format_datetime(datetime.now(UTC) - timedelta(minutes=1), usegmt=True)
    asking = client(serve({"http": 503, "retry_after": past}, {"text": "hello"}))
    assert asking.complete(ASK, soon(2)) == "hello"


def test_a_wait_beyond_the_deadline_goes_to_the_next_provider_at_once(serve: Server) -> None:
    first, second = serve({"http": 429, "retry_after": 60}), serve({"text": "from the second"})
    asking = client(first, second)
    assert asking.complete(ASK, soon(10)) == "from the second"
    failed, answered = asking.take_calls()
    assert len(first.requests) == 1 and "429" in failed.error
    assert answered.fallback and answered.provider == "p1"


@pytest.mark.parametrize("status", [500, 502, 429])
def test_a_failing_server_gets_one_retry_then_the_next_provider_answers(serve: Server, status: int) -> None:
    first, second = serve({"http": status}), serve({"text": "hello"})
    assert client(first, second).complete(ASK, soon()) == "hello"
    assert (len(first.requests), len(second.requests)) == (2, 1)


def test_a_dead_provider_costs_nothing_for_a_while(serve: Server) -> None:
    first, second = serve({"http": 500}), serve({"text": "hello"})
    asking = client(first, second)
    for _ in range(4):
        asking.complete(ASK, soon())
    assert (len(first.requests), len(second.requests)) == (2, 4)


def test_a_provider_that_hangs_leaves_time_for_the_next(serve: Server) -> None:
    first, second = serve({"sleep": 60}), serve({"text": "hello"})
    assert client(first, second).complete(ASK, soon(3)) == "hello"


def test_a_hanging_server_is_left_at_the_deadline(serve: Server) -> None:
    asking = client(serve({"sleep": 60}))
    with pytest.raises(DeadlineError, match=r"within 0\.4 s"):
        asking.complete(ASK, Deadline(0.4))
    (call,) = asking.take_calls()
    assert call.error and call.estimated


def test_a_server_that_dribbles_is_left_at_the_deadline(serve: Server) -> None:
    asking = client(serve({"stream": ["word "] * 200, "pause": 0.05}))
    pieces = []
    with pytest.raises(DeadlineError):
        pieces += asking.stream(ASK, Deadline(1.5))
    assert asking.spent > 0


def test_a_cut_stream_is_told_apart_from_a_finished_one(serve: Server) -> None:
    second = serve({"text": "never asked"})
    asking = client(serve({"stream": ["We have the Pexel L"], "end": "cut"}), second)
    pieces = []
    with pytest.raises(CutError):
        for piece in asking.stream(ASK, soon()):
            pieces.append(piece)
    assert pieces == ["We have the Pexel L"] and not second.requests
    assert "broke off" in asking.take_calls()[0].error


def test_an_answer_cut_before_its_first_word_goes_to_the_next_provider(serve: Server) -> None:
    asking = client(serve({"text": "x", "end": "cut"}), serve({"text": "hello"}))
    assert asking.complete(ASK, soon()) == "hello"


def test_an_answer_that_is_no_json_goes_to_the_next_provider(serve: Server) -> None:
    broken = serve({"body": "<html>gateway</html>"})
    assert client(broken, serve({"text": "hello"})).complete(ASK, soon()) == "hello"


def test_an_unknown_model_is_named_in_the_error(serve: Server) -> None:
    asking = client(serve({"text": "hello"}, models=["other"]))
    with pytest.raises(ModelError, match=r"no model 'small'.*404"):
        asking.complete(ASK, soon())


def test_a_refused_key_is_never_shown(serve: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sk-very-secret-1234567890")
    server = serve({"text": "hello"}, key="another")
    asking = Client(LlmSettings(providers=(provider(server, api_key_env="SHOP_KEY"),)))
    with pytest.raises(ModelError, match=r"key was refused \(401\)") as refused:
        asking.complete(ASK, soon())
    assert server.requests[0]["headers"]["authorization"] == "Bearer sk-very-secret-1234567890"
    assert "secret" not in str(refused.value) + repr(asking.take_calls())


def test_a_key_echoed_in_an_error_is_masked(serve: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sk-very-secret-1234567890")
    server = serve({"http": 400, "message": "bad request by sk-very-secret-1234567890"})
    asking = Client(LlmSettings(providers=(provider(server, api_key_env="SHOP_KEY"),)))
    with pytest.raises(ModelError, match="bad request by •••"):
        asking.complete(ASK, soon())


def test_without_its_key_a_provider_is_not_called(serve: Server) -> None:
    server = serve({"text": "hello"})
    asking = Client(LlmSettings(providers=(provider(server, api_key_env="NO_SUCH_KEY_HERE"),)))
    with pytest.raises(ModelError, match="set NO_SUCH_KEY_HERE"):
        asking.complete(ASK, soon())
    assert not server.requests


def test_what_the_environment_holds_for_openai_goes_to_nobody_else(
    serve: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "OPENAI_API_KEY": "sk-openai-only",
        "OPENAI_ADMIN_KEY": "sk-admin-only",
        "OPENAI_ORG_ID": "org-only",
        "OPENAI_PROJECT_ID": "project-only",
        "OPENAI_CUSTOM_HEADERS": "X-Secret: header-only",
        "OPENAI_BASE_URL": "https://openai.example/v1",
    }.items():
        monkeypatch.setenv(name, value)
    server = serve({"text": "hello"})
    client(server).complete(ASK, soon())
    assert "only" not in str(server.requests[0]["headers"])


def test_a_redirect_is_not_followed(serve: Server) -> None:
    elsewhere = serve({"text": "hello"})
    moved = serve({"http": 307, "location": f"{elsewhere.url}/chat/completions"})
    with pytest.raises(ModelError):
        client(moved).complete(ASK, soon())
    assert not elsewhere.requests


def test_only_local_models_are_called_while_the_switch_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ONLY_LOCAL, "1")
    far = Provider(name="far", base_url="https://model.example/v1", model="big")
    with pytest.raises(ModelError, match="only local models"):
        Client(LlmSettings(providers=(far,))).complete(ASK, soon())


def test_a_server_that_refuses_extras_is_asked_plainly(serve: Server) -> None:
    server = serve({"http": 400, "message": "unknown field stream_options"}, {"text": "hello"})
    asking = client(server)
    assert "".join(asking.stream(ASK, soon())) == "hello"
    assert "stream_options" in server.requests[0] and "stream_options" not in server.requests[1]
    list(asking.stream(ASK, soon()))
    assert "stream_options" not in server.requests[2]


def test_the_turn_and_the_session_have_token_budgets(serve: Server) -> None:
    server = serve({"text": "word " * 50})
    asking = client(server, turn_token_budget=120, session_token_budget=190)
    asking.complete(ASK, soon())
    asking.complete(ASK, soon())
    with pytest.raises(BudgetError, match="120 tokens for this turn"):
        asking.complete(ASK, soon())
    asking.begin_turn()
    asking.complete(ASK, soon())
    asking.begin_turn()
    with pytest.raises(BudgetError, match="190 tokens for this session"):
        asking.complete(ASK, soon())
    assert len(server.requests) == 3


def test_an_answer_is_never_longer_than_the_budget_allows(serve: Server) -> None:
    server = serve({"text": "hello"})
    client(server, turn_token_budget=50).complete(ASK, soon())
    assert server.requests[0]["max_tokens"] < ASK.max_tokens


def test_a_stopped_turn_is_left_at_once(serve: Server) -> None:
    asking, cancel = client(serve({"sleep": 60})), threading.Event()
    threading.Timer(0.2, cancel.set).start()
    with pytest.raises(StoppedError):
        asking.complete(ASK, soon(30), cancel)
    assert not asking.breaker.reason(asking.settings.providers[0])


def test_the_same_request_is_answered_once_and_the_saving_shown(serve: Server) -> None:
    server = serve({"text": "hello there"})
    asking = Client(settings(server), cache=Cache("ada"))
    asking.keep(ASK, asking.complete(ASK, soon()))
    assert asking.complete(ASK, soon()) == "hello there"
    assert list(asking.stream(ASK, soon())) == ["hello there"]
    asked, again, _ = asking.take_calls()
    assert len(server.requests) == 1 and again.cached
    assert (again.tokens, again.cost_usd, again.saved_tokens, again.saved_usd) == (0, 0, 6, asked.cost_usd)


def test_an_answer_that_was_of_no_use_is_asked_for_again(serve: Server) -> None:
    server = serve({"text": "nonsense"})
    asking = Client(settings(server), cache=Cache("ada"))
    asking.complete(ASK, soon())
    asking.complete(ASK, soon())
    assert len(server.requests) == 2
