"""The stage on which a case is played: its catalogue, its shoppers with their memories, its clock and its model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from ego_cli.catalog.readers import product_from_mapping
from ego_cli.catalog.store import memory_catalogue
from ego_cli.conversation.events import TurnDone
from ego_cli.conversation.models import Models
from ego_cli.conversation.state import State
from ego_cli.conversation.turn import Assistant
from ego_cli.errors import EgoError
from ego_cli.evaluation.case_memory import Shoppers
from ego_cli.evaluation.case_model import served, settings_for
from ego_cli.settings import LlmSettings, Settings

DEFAULT_USER = "u1"


class Stage:
    """Plays the turns of one case and keeps what the checks ask about."""

    def __init__(self, case: Mapping[str, Any], folder: Path) -> None:
        self._setup: Mapping[str, Any] = case.get("setup") or {}
        self._folder = folder
        self._now: datetime | None = None
        products = [product_from_mapping(row) for row in case["catalogue"]]
        currencies = [product.currency for product in products if product.currency]
        currency = max(set(currencies), key=currencies.count) if currencies else None
        self.catalogue = memory_catalogue(products, currency=currency)
        stubs = [] if self._setup.get("llm_off") else self._setup.get("llm", [])
        self._server = served(stubs).start() if stubs else None
        self._settings = Settings(
            fx=self._setup.get("fx", {}),
            timezone=self._setup.get("timezone", "Africa/Lagos"),
            llm=settings_for(self._server) if self._server else LlmSettings(),
        )
        self._shoppers = Shoppers(folder, self._settings, self._clock, self._setup.get("embedder_dim"))
        self._assistants: dict[str, Assistant] = {}
        self._turns: list[TurnDone | None] = []
        self.skipped = ""
        self.last_words = ""
        self.errors: list[str] = []
        self.seconds = 0.0
        self.recalled = ""
        self.model_calls = 0
        for earlier in self._setup.get("memory", ()):
            self._shoppers.of(earlier["user"]).hear(earlier["text"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shoppers.close()
        if self._server is not None:
            self._server.close()
        self.catalogue.close()

    # --- playing -----------------------------------------------------------------------------------------------------

    def play(self, turn: str | Mapping[str, Any]) -> None:
        """Carry out one turn or operation."""
        if isinstance(turn, str):
            turn = {"text": turn}
        if "op" in turn:
            self._turns.append(None)
            getattr(self, f"_op_{turn['op']}")(turn)
        else:
            self._say(turn.get("user", DEFAULT_USER), turn["text"], turn.get("at"))

    def _say(self, user: str, text: str, at: str | None) -> None:
        self.last_words = text
        self._now = datetime.fromisoformat(at) if at else None
        started, asked = time.monotonic(), self._requests
        try:
            done = self._assistant(user).respond(text)
        except EgoError as error:
            self.errors.append(str(error))
            self._turns.append(None)
            return
        finally:
            self.seconds = time.monotonic() - started
            self.model_calls = self._requests - asked
        self._turns.append(done)

    def _assistant(self, user: str) -> Assistant:
        if user not in self._assistants:
            self._assistants[user] = Assistant(
                self.catalogue,
                self._settings,
                memory=self._shoppers.of(user),
                models=self._models(),
                clock=self._clock,
            )
        return self._assistants[user]

    def _models(self) -> Models | None:
        return Models(self._settings.llm) if self._server else None

    @property
    def _requests(self) -> int:
        """How often the model was asked so far."""
        return len(self._server.requests) if self._server else 0

    def _clock(self) -> datetime:
        return self._now or datetime.now(UTC)

    # --- operations --------------------------------------------------------------------------------------------------

    def _op_new_session(self, _: Mapping[str, Any]) -> None:
        self._assistants.clear()

    def _op_restart(self, _: Mapping[str, Any]) -> None:
        self._assistants.clear()
        self._shoppers.close()

    def _op_reopen(self, operation: Mapping[str, Any]) -> None:
        self._assistants.clear()
        self._shoppers.reopen(operation.get("embedder_dim"))

    def _op_kill(self, _: Mapping[str, Any]) -> None:
        self._assistants.clear()
        self._shoppers.kill()

    def _op_consolidate(self, operation: Mapping[str, Any]) -> None:
        models = self._models()
        model = models.for_memory() if models else None
        self._shoppers.of(operation.get("user", DEFAULT_USER)).consolidate(model)

    def _op_recall(self, operation: Mapping[str, Any]) -> None:
        self.last_words = operation["query"]
        at = datetime.fromisoformat(operation["at"]) if "at" in operation else None
        found = self._shoppers.of(operation["user"]).recall(operation["query"], at=at)
        self.recalled = "\n".join(f"{one.entry.text} ({one.entry.words})" for one in found)

    def _op_forget(self, operation: Mapping[str, Any]) -> None:
        self._shoppers.of(operation["user"]).forget(operation["what"])

    def _op_seed(self, operation: Mapping[str, Any]) -> None:
        memory = self._shoppers.of(operation["user"])
        for i in range(1, operation["count"] + 1):
            memory.hear(operation["template"].replace("{i}", str(i)))

    def _op_import_row(self, operation: Mapping[str, Any]) -> None:
        self._shoppers.of(operation["user"]).import_rows([operation["row"]])

    def _op_extract(self, operation: Mapping[str, Any]) -> None:
        self._shoppers.of(operation.get("user", DEFAULT_USER)).hear(operation["text"], by="context")

    def _op_parallel(self, operation: Mapping[str, Any]) -> None:
        self._assistants.clear()
        self.errors += self._shoppers.parallel(operation)

    # --- what the checks read ----------------------------------------------------------------------------------------

    @property
    def _last(self) -> TurnDone | None:
        return next((done for done in reversed(self._turns) if done is not None), None)

    @property
    def state(self) -> State:
        """The state after the last turn."""
        return self._last.state if self._last else State()

    @property
    def shown(self) -> list[str]:
        """Product ids offered in the last answer, best first."""
        return [scored.product.id for scored in self._last.decision.shown] if self._last else []

    @property
    def reply(self) -> str:
        """The text that the shopper read last."""
        return self._last.reply.text if self._last else ""

    @property
    def referred(self) -> list[str]:
        """The products that the last answer was about."""
        return list(self._last.decision.referred) if self._last else []

    def shown_at(self, turn: int) -> list[str]:
        """Product ids offered at a 0-based turn."""
        done = self._turns[turn]
        return [scored.product.id for scored in done.decision.shown] if done else []

    def title(self, product_id: str) -> str:
        """A product's title."""
        row = self.catalogue.row_of(product_id)
        return self.catalogue.product(row).title if row is not None else ""

    def live_facts(self, user: str, any_of: Sequence[str], polarity: str | None) -> list[str]:
        """Texts of live facts about or by a user that contain one of some strings, of one polarity if given."""
        sign = {"like": 1, "dislike": -1, None: 0}[polarity]
        return [
            row.text
            for row in self._shoppers.of(user).facts()
            if any(word.lower() in f"{row.text} {row.object}".lower() for word in any_of)
            and (not sign or row.polarity == sign)
        ]

    def spans(self, user: str, any_of: Sequence[str]) -> int:
        """How many separate spans the store can show in which such a fact was true."""
        rows = [row for word in any_of for row in self._shoppers.of(user).history(word)]
        return len({row.valid_from for row in rows})

    def files_holding(self, word: str) -> list[str]:
        """Files of the store that contain a word."""
        return self._shoppers.files_holding(word)

    def lost_writes(self) -> list[str]:
        """Acknowledged writes that are gone."""
        return self._shoppers.lost_writes()
