"""One message while its clauses are read for acts: where clauses begin and end, what was found, which tokens are explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ego_cli.conversation.understand.acts import Act, Span
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.numbers import Amount
from ego_cli.conversation.understand.tokens import Token

ENDS = frozenset([".", "!", "?", ";", "\n", ":"])
"""Marks that end a clause."""
_JOINS = frozenset(["and", "but", "then", "also", "-", ","])


@dataclass(frozen=True, slots=True)
class Found:
    """Acts and the tokens that they explain."""

    acts: tuple[Act, ...]
    used: frozenset[int]


def with_words(act: Act, text: str, start: int, end: int) -> Act:
    """The act with the shopper's words ``text[start:end]``."""
    return replace(act, words=text[start:end], span=Span(start, end))


@dataclass(slots=True)
class Page:
    """``acts`` and ``used`` (token places) grow while the patterns are tried."""

    text: str
    tokens: Sequence[Token]
    amounts: Sequence[Amount]
    context: Context
    acts: list[Act] = field(default_factory=list)
    used: set[int] = field(default_factory=set)

    def emit(self, start: int, end: int, act: Act) -> int:
        """Keep an act of tokens [start, end); returns ``end``."""
        first, last = self.tokens[start], self.tokens[max(start, end - 1)]
        self.acts.append(with_words(act, self.text, first.start, last.end))
        self.used.update(range(start, end))
        return end

    # --- words ---

    def word(self, index: int) -> str:
        """The word at a place, "" outside."""
        return self.tokens[index].word if 0 <= index < len(self.tokens) else ""

    def words(self, start: int, end: int) -> list[str]:
        """The words of tokens [start, end)."""
        return [token.word for token in self.tokens[start:end]]

    def phrase(self, start: int, end: int) -> str:
        """Tokens [start, end) as one string."""
        return " ".join(self.words(start, end))

    def number(self, index: int) -> float | None:
        """The number at a place, in digits or as one word."""
        if index >= len(self.tokens):
            return None
        token = self.tokens[index]
        return token.number if token.kind == "number" else language().number_words.get(token.word)

    # --- clauses ---

    def clause_start(self, index: int) -> int:
        """Where the part of the sentence around ``index`` begins, commas included."""
        while index > 0 and self.word(index - 1) not in ENDS and self.word(index - 1) != ",":
            index -= 1
        return index

    def clause_end(self, index: int) -> int:
        """Where the sentence around ``index`` ends."""
        while index < len(self.tokens) and self.word(index) not in ENDS:
            index += 1
        return index

    def clauses(self) -> list[tuple[int, int]]:
        """Every sentence of the message as [begin, end)."""
        found, begin = [], 0
        for index in range(len(self.tokens) + 1):
            if index == len(self.tokens) or self.word(index) in ENDS:
                found.append((begin, index))
                begin = index + 1
        return found

    def at_start(self, index: int) -> bool:
        """Only openers ("ok please can you …") or explained words stand before ``index`` in its clause."""
        begin = self.clause_start(index)
        words = self.words(begin, index)
        cut = max((place + 1 for place, word in enumerate(words) if word in _JOINS), default=0)
        openers = language().grammar["openers"]
        return all(word in openers or begin + cut + n in self.used for n, word in enumerate(words[cut:]))

    def is_whole(self, start: int, end: int) -> bool:
        """Nothing but padding and, after a question, the asked attribute outside ("I don't know my size")."""
        outside = [t for t in (*self.tokens[:start], *self.tokens[end:]) if t.kind != "mark"]
        padding = language().grammar["padding"] | language().grammar["openers"] | {self.context.asked}
        return all(token.word in padding for token in outside)

    def is_tail(self, end: int) -> bool:
        """Nothing but padding between ``end`` and the end of its clause."""
        padding = language().grammar["padding"] | language().grammar["openers"]
        rest = [t.word for t in self.tokens[end : self.clause_end(end)] if t.kind != "mark"]
        return all(word in padding for word in rest)
