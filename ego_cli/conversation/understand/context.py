"""What the dialogue knows that the reading of a sentence depends on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Context:
    """Everything outside the message that changes what it means.

    ``asked``/``options``: the attribute and the numbered answers of the last question ("" = none was asked). ``shown``:
    titles of the latest list, in order; ``shown_words`` the colours and brands of its items, by which "the black one"
    can be told. ``categories``: product types of the active wants. ``held``: (attribute, value) pairs in force, price
    bounds included ("price", "max"). ``basket``: titles of its lines. ``currency``: the catalogue's, ISO code.
    """

    asked: str = ""
    options: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    shown_words: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    basket: tuple[str, ...] = ()
    currency: str | None = None

    def holds(self, attribute: str) -> bool:
        """Whether a constraint on ``attribute`` is in force."""
        return any(name == attribute for name, _ in self.held)
