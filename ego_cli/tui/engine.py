"""What the screen asks of everything behind it, as plain protocols: talk, shop window, memory book."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from ego_cli.catalog.product import Product
from ego_cli.conversation.events import Decision, Event, Reply, TurnDone
from ego_cli.conversation.state import State


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One memory as the screen shows it. ``retention`` is 0-1 now; ``days`` since it was last used or made."""

    id: str
    text: str
    kind: str = ""
    retention: float = 1.0
    days: float = 0.0
    uses: int = 0
    pinned: bool = False
    subject: str = ""  # "" = the shopper
    confidence: str = ""  # "high", "medium", "low"
    source: str = ""  # "declared", "inferred", ...
    # Retention for each day from today on, if nothing happens; worked out for the one memory that is looked at.
    curve: Callable[[], tuple[float, ...]] = field(default=tuple, compare=False)


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """All that is remembered about one shopper, under one named retention policy."""

    rows: tuple[MemoryRow, ...] = ()
    policy: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Shelf:
    """One node of the taxonomy tree: ``path`` from broad to narrow, and how many products lie at or below it."""

    path: tuple[str, ...]
    products: int


@dataclass(frozen=True, slots=True)
class Browse:
    """What the catalogue browser asks for: words typed so far, a taxonomy path, chosen facet values."""

    words: str = ""
    path: tuple[str, ...] = ()
    facets: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    limit: int = 60


@dataclass(frozen=True, slots=True)
class Window:
    """An answer to ``Browse``: products, how many there are in all, and counted facet values among them."""

    products: tuple[Product, ...] = ()
    total: int = 0
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class QuizQuestion:
    """One question of the onboarding quiz. ``options`` may be chosen by number; free words are taken too if ``free``."""

    id: str
    text: str
    options: tuple[str, ...] = ()
    free: bool = True
    many: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """One stored evaluation run: figures by name, and per-session series for plots."""

    id: str
    title: str
    started: str
    done: int
    total: int
    figures: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    series: Mapping[str, tuple[float, ...]] = field(default_factory=lambda: MappingProxyType({}))


class Engine(Protocol):
    """One conversation with what stands behind it. Called from one thread only."""

    @property
    def catalogue(self) -> str: ...
    @property
    def user(self) -> str: ...
    @property
    def model(self) -> str:
        """The language model in use, or "" for rules only."""

    @property
    def token_budget(self) -> int:
        """Tokens that a session may spend; 0 = none needed."""

    def turn(self, text: str, cancel: threading.Event | None = None) -> Iterator[Event]: ...
    def reply(self, decision: Decision) -> Reply:
        """The rules' words and cards for a decision, for a screen that shows them before a model has phrased them."""

    def history(self) -> tuple[TurnDone, ...]:
        """Turns of the conversation that is resumed, oldest first."""

    def state(self) -> State: ...
    def nudges(self) -> tuple[str, ...]: ...
    def memories(self) -> MemoryPage: ...
    def pin(self, entry: str, pinned: bool) -> None: ...
    def edit(self, entry: str, text: str) -> None: ...
    def forget(self, entry: str) -> int:
        """Forget for good; returns how many stored things went."""

    def quiz(self) -> tuple[QuizQuestion, ...]: ...
    def answer_quiz(self, answers: Mapping[str, str]) -> int:
        """Keep the answers; returns how many memories they made."""

    def catalogues(self) -> tuple[tuple[str, int], ...]:
        """Names and sizes of the catalogues on this machine."""

    def users(self) -> tuple[str, ...]: ...
    def runs(self) -> tuple[Run, ...]:
        """Stored evaluation runs, newest first."""

    def play_run(self, advance: Callable[[int, int], None]) -> None:
        """Play a short evaluation of this catalogue; ``advance(done, total)`` is told of progress. Takes a while:
        the only method that may be called from another thread than the others."""

    def work(self) -> str:
        """What goes on behind the conversation, in a few words; "" = nothing. May be called from any thread, often."""

    def settings(self) -> tuple[tuple[str, str], ...]:
        """What is configured, as (name, value), most asked for first."""

    def close(self) -> None: ...


class Shop(Protocol):
    """A catalogue to look around in. Called from one thread only, not the conversation's."""

    def product(self, product_id: str) -> Product | None: ...
    def products(self, ids: Sequence[str]) -> tuple[Product, ...]: ...
    def similar(self, product_id: str, limit: int = 5) -> tuple[Product, ...]: ...
    def shelves(self) -> tuple[Shelf, ...]: ...
    def browse(self, browse: Browse) -> Window: ...
    def close(self) -> None: ...
