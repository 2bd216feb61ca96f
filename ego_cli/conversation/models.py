"""Language models as a turn sees them: four uses, one deadline, and nothing but silence when they fail.

Every use has its twin in the rules, which has answered already when a model is asked. What a model says is a proposal:
``reading``, ``phrasing`` and ``ranking.persona`` check it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ego_cli.conversation.phrasing import AuditError, FactSheet, audited
from ego_cli.conversation.reading import Proposal, checked, reading_prompt, worth_asking
from ego_cli.conversation.understand.tokens import tokenise
from ego_cli.errors import ServiceAwayError
from ego_cli.llm.cache import Cache
from ego_cli.llm.client import Breaker, BudgetError, Client, Deadline, ModelError, StoppedError
from ego_cli.llm.ledger import Ledger
from ego_cli.llm.parsing import UnreadableError, shaped, without_thinking
from ego_cli.llm.prompts import data_block, prompt, quoted
from ego_cli.llm.providers import usable
from ego_cli.ranking.persona import Order, Persona, second_look
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue
    from ego_cli.conversation.understand import Lexicon
    from ego_cli.conversation.understand.acts import Act, Understanding
    from ego_cli.llm.telemetry import ModelCall
    from ego_cli.ranking.request import Request
    from ego_cli.ranking.scored import Ranked, Scored
    from ego_cli.settings import LlmSettings

RULES_ONLY = "rules only"
LEAST_S = 0.3  # with less time left than this nothing is begun
MEMORY_S = 60.0  # what consolidation, which nobody waits for, may take
DESCRIBED_FEATURES = 3  # of each product that an expert is shown


class Models:
    """What may be asked of models in one conversation.

    ``trouble`` is the one line to show for this turn, "" while all goes well. ``phrased`` is the whole of the last wording
    that passed, "" when it broke off or did not hold. ``calls`` are the last turn's.
    """

    def __init__(self, settings: LlmSettings, *, user: str = "me", ledger: Ledger | None = None) -> None:
        self.settings = settings
        self.breaker = Breaker()
        cache = Cache(user, days=settings.cache_days, megabytes=settings.cache_mb) if settings.cache else None
        self._client = Client(settings, cache=cache, breaker=self.breaker)
        self._ledger = ledger
        self._deadline = Deadline(settings.turn_deadline_s)
        self._cancel: threading.Event | None = None
        self._spent: set[str] = set()  # budgets of which she has been told that they are spent
        self.calls: tuple[ModelCall, ...] = ()
        self.trouble = ""
        self.phrased = ""

    # --- which ---------------------------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The first model of the chain that can be asked now, or ""."""
        if not self.settings.enabled:
            return ""
        able = (p.model for p in self.settings.providers if not usable(p) and not self.breaker.reason(p))
        return next(able, "")

    @property
    def status(self) -> str:
        """For a status line: the model's name, or "rules only" with the reason when one was chosen."""
        if model := self.model:
            return model
        if not self.settings.enabled or not self.settings.providers:
            return RULES_ONLY
        first = self.settings.providers[0]
        return f"{RULES_ONLY} ({first.name}: {usable(first) or self.breaker.reason(first)})"

    @property
    def author(self) -> str:
        """Which model gave the last answer."""
        return self._client.author

    # --- a turn --------------------------------------------------------------------------------------------------------

    def begin_turn(self, cancel: threading.Event | None = None) -> None:
        """The deadline and the token budget of a turn begin to run."""
        self._deadline = Deadline(self.settings.turn_deadline_s)
        self._cancel = cancel
        self._client.begin_turn()
        self.calls, self.trouble, self.phrased = (), "", ""

    def end_turn(self, turn: int) -> tuple[ModelCall, ...]:
        """Put the turn's calls on record."""
        self.calls = self._client.take_calls()
        if self._ledger is not None:
            with suppress(ServiceAwayError):  # a full disk costs the record, not the answer
                self._ledger.add(self.calls, turn=turn)
        return self.calls

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _may(self, use: str) -> bool:
        stopped = self._cancel is not None and self._cancel.is_set()
        return (
            use in self.settings.uses and self._deadline.left >= LEAST_S and not stopped and bool(self.model)
        )

    # --- use 1: reading ------------------------------------------------------------------------------------------------

    def read(self, understanding: Understanding, lexicon: Lexicon, catalogue: Catalogue) -> tuple[Act, ...]:
        """Acts for what the grammar left unread; () when it left little, or nothing that was proposed holds."""
        if not worth_asking(understanding, lexicon) or not self._may("read"):
            return ()
        request = reading_prompt(understanding, catalogue)
        try:
            text = self._client.complete(request, self._deadline, self._cancel)
            proposal = shaped(text, Proposal)
        except UnreadableError:
            return ()
        except ModelError as error:
            self._failed(error)
            return ()
        self._client.keep(request, text)
        return checked(proposal, understanding, lexicon, catalogue)

    # --- use 2: a second look --------------------------------------------------------------------------------------------

    def rerank(self, ranked: Ranked, request: Request) -> Ranked:
        """The list with its near-ties in a model's order; as it was when the model has nothing usable to say."""
        if not self._may("rerank"):
            return ranked
        return second_look(ranked, request, lambda persona, items: self._order(persona, items, request))

    def _order(self, persona: Persona, items: Sequence[Scored], request: Request) -> Order | None:
        asked = prompt(
            "rerank",
            persona=persona.name,
            criteria=persona.criteria,
            wish=quoted(" ".join([request.category, request.words, *_wishes(request)]).strip())
            or "something",
            shopper=quoted(
                "; ".join([*request.personal.tags, *request.personal.goals, *request.personal.concerns])
            )
            or "nothing",
            products=data_block([_described(scored) for scored in items]),
        )
        try:
            text = self._client.complete(asked, self._deadline, self._cancel)
            answer = shaped(text, _OrderAnswer)
        except UnreadableError:
            return None
        except ModelError as error:
            self._failed(error)
            return None
        self._client.keep(asked, text)
        return Order(answer.order, {key: words for key, words in answer.reasons.items() if _is_plain(words)})

    # --- use 3: memory ---------------------------------------------------------------------------------------------------

    def for_memory(self) -> MemoryModel | None:
        """What consolidates a memory in the background, or None. It has a token budget of its own."""
        if "consolidate" not in self.settings.uses or not self.model:
            return None
        return MemoryModel(Client(self.settings, breaker=self.breaker), self._ledger)

    # --- use 4: phrasing -------------------------------------------------------------------------------------------------

    def phrase(self, sheet: FactSheet, lexicon: Lexicon) -> Iterator[str]:
        """Audited sentences for above the list, as they come; all of them are in ``phrased`` when the last one has passed."""
        if not self._may("phrase"):
            return
        request = sheet.prompt()
        said: list[str] = []
        try:
            with closing(self._client.stream(request, self._deadline, self._cancel)) as pieces:
                for sentence in audited(_spoken(pieces), sheet, lambda text: firm_names(lexicon, text)):
                    said.append(sentence)
                    yield sentence
        except AuditError as error:
            self.trouble = f"The model's wording was not used: {error}."
            return
        except ModelError as error:
            self._failed(error)
            return
        self.phrased = " ".join(said)
        self._client.keep(request, self.phrased)

    def _failed(self, error: ModelError) -> None:
        if isinstance(error, BudgetError):
            if str(error) in self._spent:
                return  # said once
            self._spent.add(str(error))
        if not isinstance(error, StoppedError):
            self.trouble = f"No help from a model this time ({error}): this is the shop's own answer."


class MemoryModel:
    """A memory's consolidator asks this; see ``memory.consolidate.Model``."""

    def __init__(self, client: Client, ledger: Ledger | None = None) -> None:
        self._client = client
        self._ledger = ledger

    def propose(self, request: str) -> Mapping[str, Any] | None:
        """A parsed object, or None when the answer cannot be read. Raises a ``ModelError`` when there is none."""
        self._client.begin_turn()
        try:
            text = self._client.complete(prompt("consolidate", request=request), Deadline(MEMORY_S))
            return shaped(text, _MemoryAnswer).model_dump(by_alias=True)
        except UnreadableError:
            return None
        finally:
            calls = self._client.take_calls()
            if self._ledger is not None:
                with suppress(ServiceAwayError):  # as in a turn
                    self._ledger.add(calls, turn=0)


# --- what models answer ------------------------------------------------------------------------------------------------


class _OrderAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    order: tuple[str, ...]
    reasons: dict[str, str] = Field(default_factory=dict)

    @field_validator("order", mode="before")
    @classmethod
    def _ids(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return value
        ids = (item.get("id") if isinstance(item, dict) else item for item in value)
        return tuple(str(item) for item in ids if isinstance(item, (str, int)))

    @field_validator("reasons", mode="before")
    @classmethod
    def _words(cls, value: Any) -> dict[str, str]:
        if not isinstance(value, dict):
            return {}
        return {str(key): words for key, words in value.items() if isinstance(words, str)}


class _MemoryAnswer(BaseModel):
    """Lists where lists belong; what the memory cannot use it rejects by name."""

    model_config = ConfigDict(extra="ignore")

    facts: tuple[Any, ...] = ()
    operations: tuple[Any, ...] = ()
    summary: str = ""

    @field_validator("facts", "operations", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return value if isinstance(value, (list, tuple)) else [value] if isinstance(value, dict) else ()

    @field_validator("summary", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        return " ".join(value.split()) if isinstance(value, str) else ""


# --- helpers of the prompts --------------------------------------------------------------------------------------------


def _wishes(request: Request) -> Iterable[str]:
    for wish in request.requirements:
        yield wish.words or " ".join(wish.values)


def _described(scored: Scored) -> dict[str, Any]:
    product = scored.product
    return {
        "id": product.id,
        "name": product.title,
        "price": product.price,
        "rating": product.rating,
        "rated by": product.rating_count,
        "features": list(product.features[:DESCRIBED_FEATURES]),
        "details": dict(list(product.details.items())[:DESCRIBED_FEATURES]),
    }


def _is_plain(words: str) -> bool:
    """Whether words copied from a product may stand beside it: none that judge it or tell anybody what to do."""
    judging = load_toml("prompts", "rerank.toml")["check"]["judging"]
    return not any(token.word in judging for token in tokenise(words))


def firm_names(lexicon: Lexicon, text: str) -> Iterator[str]:
    """The brands, colours and materials that a text names beyond doubt."""
    for span in lexicon.find(tokenise(text)):
        for name in span.names:
            if name.kind in ("brand", "colour", "material") and not name.weak:
                yield name.value


def _spoken(pieces: Iterable[str]) -> Iterator[str]:
    """A stream less what a reasoning model thinks aloud before it answers."""
    held: str | None = ""
    for piece in pieces:
        if held is None:
            yield piece
            continue
        held += piece
        begun = held.lstrip()
        if begun and not "<think>".startswith(begun[:7]):
            yield held
            held = None
        elif "</think>" in held:
            rest = without_thinking(held)
            held = None
            if rest:
                yield rest
    if held and (rest := without_thinking(held)):
        yield rest
