"""One request to a chain of providers, bounded in time, tries and tokens.

The request runs in a thread of its own, so that whoever asked can leave at the deadline whatever a server does. A
provider gets one retry (after what Retry-After says, when that is soon enough), then the next one is tried; one that
failed is left alone for a minute.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from ego_cli.errors import ServiceAwayError
from ego_cli.llm.cache import Cache, Kept
from ego_cli.llm.prompts import Prompt
from ego_cli.llm.providers import key_of, usable
from ego_cli.llm.telemetry import ModelCall, estimate_tokens
from ego_cli.settings import LlmSettings, Provider

if TYPE_CHECKING:
    from openai import OpenAI

BREAK_S = 60.0  # how long a provider that failed is left alone
RETRIES = 1
BACKOFF_S = 0.25  # before the retry, when the server does not say how long to wait
LEAST_ANSWER_TOKENS = 32  # with less than this left of a budget asking is pointless
POLL_S = 0.05  # how soon a stopped turn is noticed
LONGEST_REASON = 160  # characters of a server's own words in an error


class ModelError(ServiceAwayError):
    """No model's answer could be had; the message says why in one line."""


class DeadlineError(ModelError):
    """The time for the whole turn was up."""


class CutError(ModelError):
    """The answer broke off in the middle."""


class BudgetError(ModelError):
    """The tokens of the turn or of the session are spent."""


class StoppedError(ModelError):
    """Whoever asked no longer wants the answer."""


class Deadline:
    """A point in time that everything in a turn shares. ``seconds`` from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._end - time.monotonic())


class Breaker:
    """Which providers are left alone, and why. One may be shared by several clients."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, tuple[float, str]] = {}

    def trip(self, provider: Provider, reason: str, seconds: float = BREAK_S) -> None:
        """Leave a provider alone for some seconds."""
        self._open[_address(provider)] = (self._clock() + seconds, reason)

    def reset(self, provider: Provider) -> None:
        """It has answered."""
        self._open.pop(_address(provider), None)

    def reason(self, provider: Provider) -> str:
        """Why a provider is left alone now; "" when it is not."""
        until, reason = self._open.get(_address(provider), (0.0, ""))
        return reason if self._clock() < until else ""


def _address(provider: Provider) -> str:
    return f"{provider.base_url} {provider.model}"


class Client:
    """Asks models. ``calls`` holds what was asked since ``take_calls``; ``spent`` the session's tokens."""

    def __init__(
        self, settings: LlmSettings, *, cache: Cache | None = None, breaker: Breaker | None = None
    ) -> None:
        self.settings = settings
        self.breaker = breaker or Breaker()
        self.calls: list[ModelCall] = []
        self.spent = 0
        self._turn_spent = 0
        self._cache = cache
        self._clients: dict[str, OpenAI] = {}
        self._plain: set[str] = set()  # providers that refused what goes beyond the plainest request
        self._answered: tuple[Provider, ModelCall] | None = None

    def begin_turn(self) -> None:
        """A new turn has a token budget of its own."""
        self._turn_spent = 0

    def take_calls(self) -> tuple[ModelCall, ...]:
        """The calls since the last time this was asked."""
        calls, self.calls = tuple(self.calls), []
        return calls

    @property
    def author(self) -> str:
        """The model of the last answer, "" before the first."""
        return self._answered[1].model if self._answered else ""

    def close(self) -> None:
        """Let go of the connections."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    # --- asking --------------------------------------------------------------------------------------------------------

    def complete(self, prompt: Prompt, deadline: Deadline, cancel: threading.Event | None = None) -> str:
        """The whole answer as text. Raises a ``ModelError`` when there is none."""
        return "".join(self._ask(prompt, deadline, cancel, streamed=False))

    def stream(
        self, prompt: Prompt, deadline: Deadline, cancel: threading.Event | None = None
    ) -> Generator[str, None, None]:
        """The answer in pieces as they come. Raises ``CutError`` when it breaks off, another ``ModelError`` when none comes."""
        return self._ask(prompt, deadline, cancel, streamed=True)

    def keep(self, prompt: Prompt, text: str) -> None:
        """The last answer was of use: give it again when the same is asked."""
        if self._cache is None or self._answered is None:
            return
        provider, call = self._answered
        if not call.cached:
            kept = Kept(text, call.prompt_tokens, call.completion_tokens, call.cost_usd)
            with suppress(ServiceAwayError):  # a cache that cannot be written is worth nobody's turn
                self._cache.put(provider, prompt, kept)

    def _ask(
        self, prompt: Prompt, deadline: Deadline, cancel: threading.Event | None, *, streamed: bool
    ) -> Generator[str, None, None]:
        if (kept := self._from_cache(prompt)) is not None:
            yield kept
            return
        job = _Job(prompt, deadline, self._affordable(prompt), streamed)
        threading.Thread(target=self._work, args=(job,), name="ego-model", daemon=True).start()
        try:
            yield from self._listen(job, cancel)
        finally:
            job.stopped.set()
            self._settle(job)

    def _listen(self, job: _Job, cancel: threading.Event | None) -> Iterator[str]:
        """What the thread reports, until it ends or nobody wants to wait any more."""
        while True:
            left = job.deadline.left
            if cancel is not None and cancel.is_set():
                job.given_up = "stopped"
                raise StoppedError("stopped")
            if left <= 0:
                job.given_up = f"no answer within {job.deadline.seconds:g} s"
                if job.asking is not None:
                    self.breaker.trip(job.asking, job.given_up)
                raise DeadlineError(f"the model gave {job.given_up}")
            with suppress(Empty):
                told = job.told.get(timeout=min(POLL_S, left))
                if isinstance(told, str):
                    yield told
                elif isinstance(told, ModelCall):
                    self._book(told)
                elif isinstance(told, ModelError):
                    raise told
                else:
                    self._answered = told.answered
                    return

    def _settle(self, job: _Job) -> None:
        """Book what the thread has reported, and a guess at the call that nobody waited for."""
        unread = []
        with suppress(Empty):
            while True:
                unread.append(job.told.get_nowait())
        for told in unread:
            if isinstance(told, ModelCall):
                self._book(told)
        if (provider := job.asking) is not None:
            self._book(job.call(provider, error=job.given_up or "stopped"))

    def _book(self, call: ModelCall) -> None:
        self.calls.append(call)
        self.spent += call.tokens
        self._turn_spent += call.tokens

    def _from_cache(self, prompt: Prompt) -> str | None:
        if self._cache is None:
            return None
        for provider in self.settings.providers:
            started = time.monotonic()
            try:
                kept = self._cache.get(provider, prompt)
            except ServiceAwayError:
                return None  # asking again costs less than failing
            if kept is not None:
                call = ModelCall(
                    prompt.purpose, provider.name, provider.model, cached=True,
                    latency_ms=_ms_since(started), saved_tokens=kept.prompt_tokens + kept.completion_tokens,
                    saved_usd=kept.cost_usd,
                )  # fmt: skip
                self._book(call)
                self._answered = (provider, call)
                return kept.text
        return None

    def _affordable(self, prompt: Prompt) -> int:
        """How many tokens the answer may have. Raises ``BudgetError`` when that is too few."""
        asked = estimate_tokens(" " * prompt.characters)
        room = prompt.max_tokens
        for budget, spent, name in (
            (self.settings.turn_token_budget, self._turn_spent, "turn"),
            (self.settings.session_token_budget, self.spent, "session"),
        ):
            if budget > 0:  # 0: no bound
                left = budget - spent - asked
                if left < min(LEAST_ANSWER_TOKENS, prompt.max_tokens):
                    raise BudgetError(f"the model's {budget:,} tokens for this {name} are spent")
                room = min(room, left)
        return room

    # --- in the thread -----------------------------------------------------------------------------------------------

    def _work(self, job: _Job) -> None:
        failures: list[str] = []
        waiting = list(self.settings.providers)
        while waiting:
            provider = waiting.pop(0)
            reason = usable(provider) or self.breaker.reason(provider)
            if not reason:
                able = [other for other in waiting if not self.breaker.reason(other)]
                # With another one to turn to, no provider may use up all the time.
                job.patience = min(self.settings.read_timeout_s, job.deadline.left / (1 + len(able)))
                job.begin(provider, fallback=bool(failures))
                try:
                    reason = self._try(job, provider)
                except CutError as cut:
                    job.report(provider, error=str(cut))
                    job.told.put(cut)
                    return
                if job.stopped.is_set():
                    return
                call = job.report(provider, error=reason)
                if not reason:
                    self.breaker.reset(provider)
                    job.told.put(_Ended((provider, call)))
                    return
            failures.append(f"{provider.name}: {reason}")
        job.told.put(ModelError("; ".join(failures) or "no model is configured"))

    def _try(self, job: _Job, provider: Provider) -> str:
        """Ask one provider, twice if need be. Returns why it failed, or "" when the answer is complete.

        Raises ``CutError`` when it broke off after the first words were handed on.
        """
        while True:
            try:
                for piece in self._request(job, provider):
                    job.told.put(piece)
                    if job.stopped.is_set():
                        return "stopped"
            except Exception as error:
                # Whatever a server or the HTTP library does, it becomes one line for the turn and never ends this thread.
                failure = _failure(error, provider)
            else:
                return ""
            if job.text:
                raise CutError(f"the answer of {provider.name} broke off") from None
            if job.stopped.is_set():
                return "stopped"
            if failure.refused_form and provider.name not in self._plain:
                self._plain.add(provider.name)
                job.retries += 1
                continue
            wait = BACKOFF_S if failure.wait is None else failure.wait
            if not failure.passing or job.retries >= RETRIES or wait >= job.deadline.left:
                if failure.dead:
                    self.breaker.trip(provider, failure.reason, max(wait, BREAK_S))
                return failure.reason
            job.retries += 1
            if job.stopped.wait(wait):
                return "stopped"

    def _request(self, job: _Job, provider: Provider) -> Iterator[str]:
        """One HTTP request. Yields pieces of text and leaves the usage in ``job``; raises what the client raises."""
        import openai

        client = self._connected(provider)
        timeout = openai.Timeout(
            connect=min(self.settings.connect_timeout_s, job.patience),
            read=job.patience, write=job.patience, pool=job.patience,
        )  # fmt: skip
        values = _parameters(job, provider, plain=provider.name in self._plain)
        completions: Any = client.chat.completions
        if not job.streamed:
            answer = completions.create(**values, timeout=timeout)
            job.usage = answer.usage
            choice = answer.choices[0]
            if choice.finish_reason == "content_filter" or not choice.message.content:
                raise _EmptyAnswerError
            job.text = choice.message.content
            yield job.text
            return
        finished = False
        with completions.create(**values, stream=True, timeout=timeout) as chunks:
            for chunk in chunks:
                job.usage = chunk.usage or job.usage
                for choice in chunk.choices[:1]:
                    finished = finished or bool(choice.finish_reason)
                    if piece := choice.delta.content:
                        job.text += piece
                        yield piece
                if job.stopped.is_set():
                    return
        if not finished:
            raise _BrokenOffError
        if not job.text:
            raise _EmptyAnswerError

    def _connected(self, provider: Provider) -> OpenAI:
        address = _address(provider)
        if address not in self._clients:
            self._clients[address] = connect(provider)
        return self._clients[address]


@dataclass(slots=True)
class _Job:
    """One request under way: what its thread reports, and what is known of the attempt at hand."""

    prompt: Prompt
    deadline: Deadline
    max_tokens: int
    streamed: bool
    told: SimpleQueue[str | ModelCall | ModelError | _Ended] = field(default_factory=SimpleQueue)
    stopped: threading.Event = field(default_factory=threading.Event)
    asking: Provider | None = None
    given_up: str = ""
    patience: float = 0.0  # seconds that the server may be silent
    started: float = 0.0
    fallback: bool = False
    retries: int = 0
    text: str = ""
    usage: Any = None  # what the server says about tokens

    def begin(self, provider: Provider, *, fallback: bool) -> None:
        """A new provider is asked."""
        self.asking, self.fallback = provider, fallback
        self.started, self.retries, self.text, self.usage = time.monotonic(), 0, "", None

    def report(self, provider: Provider, error: str = "") -> ModelCall:
        """Tell that the attempt at hand is over."""
        call = self.call(provider, error)
        self.asking = None
        self.told.put(call)
        return call

    def call(self, provider: Provider, error: str = "") -> ModelCall:
        """The attempt at hand as telemetry."""
        call = ModelCall(
            self.prompt.purpose, provider.name, provider.model, latency_ms=_ms_since(self.started),
            retries=self.retries, error=error, fallback=self.fallback,
        )  # fmt: skip
        if self.usage is not None:
            call = replace(
                call,
                prompt_tokens=self.usage.prompt_tokens or 0,
                completion_tokens=self.usage.completion_tokens or 0,
            )
        elif self.text or not error or error == self.given_up:
            # Nothing was said about tokens: what was sent and what came is counted here.
            asked = estimate_tokens(" " * self.prompt.characters)
            call = replace(
                call, prompt_tokens=asked, completion_tokens=estimate_tokens(self.text), estimated=True
            )
        prices = provider.prices
        cost = (call.prompt_tokens * prices.prompt + call.completion_tokens * prices.completion) / 1e6
        return replace(call, cost_usd=cost)


@dataclass(frozen=True, slots=True)
class _Ended:
    """The answer is complete."""

    answered: tuple[Provider, ModelCall]


def connect(provider: Provider) -> OpenAI:
    """The official client for one provider. Its key and its address are the given ones, whatever the environment holds
    for OpenAI itself, and it follows no redirect to another address."""
    import os

    import openai

    ambient: Mapping[str, Any] = {
        line.partition(":")[0].strip(): openai.Omit()
        for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
        if ":" in line and not line.lower().startswith("authorization")
    }
    client = openai.OpenAI(
        api_key=key_of(provider) or "none-needed",
        admin_api_key="",
        webhook_secret="",
        base_url=provider.base_url,
        max_retries=0,
        default_headers=ambient,
        http_client=openai.DefaultHttpxClient(follow_redirects=False),
    )
    client.organization = client.project = None
    return client


def _parameters(job: _Job, provider: Provider, *, plain: bool) -> dict[str, Any]:
    """The request. ``plain``: without what some servers refuse."""
    values: dict[str, Any] = {
        "model": provider.model,
        "messages": [{"role": role, "content": text} for role, text in job.prompt.messages],
    }
    if plain:
        return {**values, "max_completion_tokens": job.max_tokens}
    values |= {"max_tokens": job.max_tokens, "temperature": job.prompt.temperature}
    if job.prompt.json:
        values["response_format"] = {"type": "json_object"}
    if job.streamed:
        values["stream_options"] = {"include_usage": True}
    return values


# --- what went wrong -------------------------------------------------------------------------------------------------


class _EmptyAnswerError(Exception):
    """The server answered without words."""


class _BrokenOffError(Exception):
    """A stream ended before its end."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """One failed request. ``passing``: trying again can help; ``wait``: seconds that the server asks for; ``dead``: the
    next request would fare no better; ``refused_form``: a plainer request may pass."""

    reason: str
    passing: bool = False
    wait: float | None = None
    dead: bool = True
    refused_form: bool = False


def _failure(error: Exception, provider: Provider) -> _Failure:
    import openai

    if isinstance(error, openai.APIStatusError):
        return _status_failure(error, provider)
    if isinstance(error, openai.APITimeoutError):
        return _Failure("no answer in time")
    if isinstance(error, openai.APIConnectionError):
        return _Failure("cannot be reached", passing=True)
    if isinstance(error, _EmptyAnswerError):
        return _Failure("an empty answer", dead=False)
    if isinstance(error, _BrokenOffError):
        return _Failure("the answer broke off", passing=True)
    return _Failure(f"not an answer of this kind of server ({type(error).__name__})")


def _status_failure(error: Any, provider: Provider) -> _Failure:
    status = int(error.status_code)
    if status in (401, 403):
        return _Failure(f"the key was refused ({status})")  # its words may hold the key
    if status == 404:
        return _Failure(f"no model {provider.model!r} at {provider.base_url} (404)")
    if status == 429:
        return _Failure("too many requests (429)", passing=True, wait=_retry_after(error.response.headers))
    if status >= 500 or status in (408, 409):
        return _Failure(
            f"the server failed ({status})", passing=True, wait=_retry_after(error.response.headers)
        )
    words = str(error.message)
    if key := key_of(provider):
        words = words.replace(key, "•••")
    words = " ".join("".join(c if c.isprintable() else " " for c in words).split())[:LONGEST_REASON]
    reason = f"the request was refused ({status}): {words}"
    return _Failure(reason, dead=False, refused_form=status in (400, 422))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that ``Retry-After`` asks for, which is a number or a date (RFC 9110, 10.2.3)."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _ms_since(started: float) -> float:
    return (time.monotonic() - started) * 1000
