"""The state as it grows while one sentence is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ego_cli.conversation.references import Shelf
from ego_cli.conversation.state import CHANGED_MIND, Change, Slot, State, apply
from ego_cli.conversation.understand.acts import Act

# Whether the shop has products of a type to which a slot can apply.
Fits = Callable[[Slot, str], bool]


@dataclass(slots=True)
class Draft:
    """A state under way, with the changes that led to it and remarks for the reply."""

    state: State
    turn: int
    shelf: Shelf
    fits: Fits
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    wishes: list[Act] = field(default_factory=list)  # the constraints of this sentence
    new_wish: bool = False  # the sentence says what she wants, beside whatever else it does
    carried: list[str] = field(default_factory=list)  # slots that a change of topic kept, in words
    let_go: list[str] = field(default_factory=list)  # and those that it did not
    reference: tuple[str, ...] = ()  # what a bare "cheaper" or "lighter" is measured against
    new_wants: dict[int, int] = field(default_factory=dict)  # group in this sentence -> want id

    def emit(self, kind: str, **values: object) -> None:
        """Apply one change now and keep it."""
        change = Change(kind=kind, turn=self.turn, **values)  # type: ignore[arg-type]
        self.state = apply(self.state, change)
        self.changes.append(change)

    def take_out(
        self, want: int, slot: Slot, words: str, *, kind: str = "erased", reason: str = CHANGED_MIND
    ) -> None:
        """Take a wish out of a want by one change: "erased" keeps it on the list of what can come back, "cleared" does not."""
        self.emit(kind, want=want, attribute=slot.attribute, before=slot, words=words, reason=reason)

    @property
    def next_want_id(self) -> int:
        """An id that no want of this conversation has had."""
        return 1 + max((change.want or 0 for change in self.state.log), default=0)
