"""The state of a conversation: a log of typed changes, and the value that folding the log gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

_EMPTY: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Slot:
    """One constraint that is in force. ``operator``, ``unit``, ``hardness`` as in ``understand.acts``.

    ``source``: "said", "memory", "profile" or "model". ``values`` holds words, ``number`` a quantity.
    """

    attribute: str
    operator: str = "is"
    values: tuple[str, ...] = ()
    number: float | None = None
    unit: str | None = None
    hardness: str = "must"
    source: str = "said"
    turn: int = 0
    words: str = ""

    @property
    def text(self) -> str:
        """The value in words, as the inspector prints it."""
        if self.values:
            return " or ".join(self.values) if self.operator == "any_of" else ", ".join(self.values)
        if self.number is None:
            return ""
        sign = {"min": "≥ ", "max": "≤ ", "about": "≈ "}.get(self.operator, "")
        return f"{sign}{self.number:,.6g}{' ' + self.unit if self.unit else ''}"


@dataclass(frozen=True, slots=True)
class Budget:
    """Price bounds as the shopper said them, in ``currency`` (ISO; None = the catalogue's). ``per``: "each" or "all"."""

    minimum: float | None = None
    maximum: float | None = None
    currency: str | None = None
    about: float | None = None
    band: str | None = None  # "lower_half" | "upper_half" | "middle"
    per: str = "each"
    turn: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Want:
    """One thing that is looked for."""

    id: int
    category: str = ""  # product type, in the catalogue's spelling where it knows it
    slots: tuple[Slot, ...] = ()
    budget: Budget | None = None  # None: the conversation's common budget holds
    quantity: int | None = None
    subject: str | None = None  # whom it is for; None = the shopper
    turn: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Excluded:
    """A thing never to be shown. ``want`` None: holds for all wants."""

    value: str
    attribute: str | None = None
    want: int | None = None
    subject: str | None = None
    source: str = "said"
    turn: int = 0
    words: str = ""


@dataclass(frozen=True, slots=True)
class Erased:
    """A constraint that a change of mind took out. ``by``: the words that did it."""

    slot: Slot
    want: int
    turn: int
    by: str


@dataclass(frozen=True, slots=True)
class ShownList:
    """One list that was on the screen: product ids in order of position, with the want each stood for."""

    turn: int
    ids: tuple[str, ...]
    wants: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class BasketLine:
    """A chosen product with its options ("size" -> "42")."""

    product_id: str
    title: str
    quantity: int = 1
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Change:
    """One typed change: what happened to what, on which turn, by which words, and why."""

    kind: str  # set narrowed replaced erased restored excluded readmitted cleared no-preference shown rejected asked basket …
    turn: int
    attribute: str | None = None
    before: object = None
    after: object = None
    want: int | None = None
    words: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """Everything the conversation holds. One value; ``log`` can rebuild it."""

    wants: tuple[Want, ...] = ()
    active: int = 0  # index into wants
    budget: Budget | None = None
    exclusions: tuple[Excluded, ...] = ()
    erased: tuple[Erased, ...] = ()
    shown: tuple[ShownList, ...] = ()  # oldest first
    passed_over: Mapping[str, float] = field(default_factory=lambda: _EMPTY)  # product id -> times
    rejected: frozenset[str] = frozenset()
    asked: tuple[str, ...] = ()  # attributes already asked about
    refused: frozenset[str] = frozenset()  # attributes she has no preference about
    basket: tuple[BasketLine, ...] = ()
    focus: tuple[str, ...] = ()  # product ids last talked about ("it")
    sort: tuple[str, int] | None = None
    turn: int = 0
    log: tuple[Change, ...] = ()
