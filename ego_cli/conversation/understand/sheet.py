"""The acts of one message under way: what the assembly writes on, and what it asks about what was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ego_cli.conversation.understand.acts import Act, Hardness, Kind, Span
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.items import Item
from ego_cli.conversation.understand.lexicon import Lexicon, stems_of
from ego_cli.conversation.understand.numbers import Amount
from ego_cli.conversation.understand.scopes import Scoped
from ego_cli.conversation.understand.tokens import Token


@dataclass(slots=True)
class Group:
    """A want of this message: its number, the place of its NEED in the acts, and the sentence that names it."""

    index: int
    act: int
    clause: int


@dataclass(slots=True)
class Sheet:
    """``explained``: tokens that an act accounts for; ``taste``: tokens that only state what somebody likes, whose nouns are
    no wants; ``told``: sentences that have described something already; ``subject``: whom the message is about; ``pending_count``: "two" before its noun."""

    text: str
    tokens: Sequence[Token]
    lexicon: Lexicon
    context: Context
    taste: frozenset[int] = frozenset()
    acts: list[Act] = field(default_factory=list)
    explained: set[int] = field(default_factory=set)
    groups: list[Group] = field(default_factory=list)
    told: set[int] = field(default_factory=set)
    pending_count: Amount | None = None
    subject: str | None = None

    # --- writing ---

    def add(self, act: Act, start: int, end: int, run: Scoped, group: int | None) -> None:
        """Write a wish of tokens [start, end) under the mode of its run: wanted, avoided, given up or welcome again."""
        polarity = -1 if run.mode in ("avoid", "readmit", "not_only") else 1
        kind = act.kind
        if run.mode in ("relax", "readmit", "not_only") and kind is Kind.CONSTRAIN:
            kind = Kind.RELAX
        self.write(
            replace(
                act,
                kind=kind,
                polarity=polarity,
                hardness=run.hardness if act.hardness is Hardness.MUST else act.hardness,
                group=group,
                subject=self.subject,
                note=act.note or ("or" if run.joined == "or" else ""),
            ),
            start,
            end,
        )

    def write(self, act: Act, start: int, end: int) -> None:
        """Write any act of tokens [start, end) as it is."""
        self.explain(start, end)
        span = Span(self.tokens[start].start, self.tokens[end - 1].end)
        self.acts.append(replace(act, words=act.words or self.slice(start, end), span=span))

    def explain(self, start: int, end: int) -> None:
        """Tokens [start, end) are accounted for."""
        self.explained.update(range(start, end))

    def about(self, subject: str) -> None:
        """The message is for somebody: said of the acts so far and of those to come."""
        self.subject = subject
        self.acts = [
            replace(act, subject=subject)
            if act.kind in (Kind.NEED, Kind.CONSTRAIN) and act.subject is None
            else act
            for act in self.acts
        ]

    # --- reading ---

    def slice(self, start: int, end: int) -> str:
        """The text of tokens [start, end) as typed."""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def words(self, start: int, end: int) -> str:
        """Tokens [start, end) as read."""
        return " ".join(token.word for token in self.tokens[start:end])

    def core(self, items: Sequence[Item]) -> str:
        """The words of some items; what is written in one piece ("USB-C") stays as typed."""
        return " ".join(
            self.slice(item.start, item.end).lower()
            if self._in_one_piece(item)
            else self.words(item.start, item.end)
            for item in items
        )

    def _in_one_piece(self, item: Item) -> bool:
        return item.end - item.start > 1 and all(t.glue for t in self.tokens[item.start + 1 : item.end])

    def group_for(self, run: Scoped) -> int | None:
        """The want that a run without a noun of its own belongs to: the last one of its sentence, or the only one."""
        same = [group for group in self.groups if group.clause == run.clause]
        if same:
            return same[-1].index
        return self.groups[-1].index if len(self.groups) == 1 else None

    def types(self) -> list[str]:
        """Product types that are looked for: those in force and those of this message."""
        return [*self.context.categories, *(self.acts[group.act].value or "" for group in self.groups)]

    def looks_for(self, value: str) -> bool:
        """Whether a product word names a want that is in force."""
        named = set(stems_of(value))
        return any(named & set(stems_of(category)) for category in self.types())
