"""Simulated customers: what is said when. The scenarios of the session protocol, and livelier ones.

Protocol: ``buying``, ``browsing``, ``override``, ``boundary``. Beyond it: ``mind_change`` (in many ways), ``refusal``,
``two_wants``, ``typos``, ``budget``, ``exclusion``, ``reference`` (to shown items).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ego_cli.evaluation.cards import Constraint, Facts, Session, money
from ego_cli.evaluation.speech import ORDINALS, Speech

PROTOCOL = ("buying", "browsing", "override", "boundary")
LIVELY = ("mind_change", "refusal", "two_wants", "typos", "budget", "exclusion", "reference")
CHANGES = ("override", "swap_named", "swap_unnamed", "drop_named", "restart")
BUDGET_ROOM = 1.2  # a customer names a limit of about this many times the price of what she has in mind


class Customer:
    """One session's customer. ``opening`` is her first message, ``answer`` every later one."""

    def __init__(self, session: Session, speech: Speech) -> None:
        self.session = session
        self._speech = speech
        self._left = list(session.card.constraints)
        self._asked = 0
        self._references = 0
        category = speech.category(session.card.parent, session.card.leaf)
        self._category = category
        self._old = speech.need(session.old) if session.old else ""

    def counts(self, turn: int) -> bool:
        """Whether a hit on ``turn`` counts: before a change of mind it does not."""
        return turn >= self.session.change_turn

    def opening(self) -> str:
        """The first message."""
        scenario, card = self.session.scenario, self.session.card
        if self.session.old:
            return self._say("opening_override", category=self._category, old=self._old)
        if scenario in {"browsing", "boundary", "refusal", "exclusion", "reference"} or not card.constraints:
            return self._say("opening_browsing", category=self._category)
        if scenario == "two_wants" and self.session.other:
            other = self._speech.category(*self.session.other)
            return self._say(
                "opening_two", category=self._category, other=other, need=self._tell(self._left[0])
            )
        return self._say("opening_buying", category=self._category, need=self._tell(self._left[0]))

    def answer(self, turn: int, asked: str | None, shown: Sequence[str]) -> str:
        """The message of ``turn`` (2 to 10), given what the agent asked and showed on the turn before.

        ``shown`` are product ids in the order of the list.
        """
        if self.session.change_turn == turn:
            return self._change_of_mind()
        lively = _LIVELY_TURNS.get((self.session.scenario, turn))
        if lively:
            return lively(self, asked, shown)
        if self.session.scenario == "reference" and (pointing := self._point_at(shown)):
            return pointing
        return self._disclose(asked)

    # --- the protocol ------------------------------------------------------------------------------------------------

    def _disclose(self, asked: str | None) -> str:
        if asked is None:
            return self._say("not_asked")
        self._asked += 1
        if self.session.scenario == "boundary" and self._asked == 1:
            return self._say("no_preference", attribute=asked)
        told = [c for c in self._open() if asked in {"other", c.attribute}][:2]
        if not told:
            return self._say("nothing_left", attribute=asked)
        if len(told) == 1:
            return self._say("disclose_one", a=self._tell(told[0]))
        return self._say("disclose_two", a=self._tell(told[0]), b=self._tell(told[1]))

    def _open(self) -> list[Constraint]:
        """What may be disclosed now: the constraint that a change of mind brings stays back until then."""
        held_back = self.session.change_turn and self.session.card.constraints[:1]
        return [c for c in self._left if not held_back or c not in held_back]

    def _tell(self, constraint: Constraint) -> str:
        if constraint in self._left:
            self._left.remove(constraint)
        return self._speech.need(constraint)

    def _change_of_mind(self) -> str:
        new = self.session.card.constraints[0]
        act = self.session.change or "override"
        if act == "restart":
            self._left = list(self.session.card.constraints)  # she will say all of it again when asked
        need = self._tell(new)
        if act == "drop_named":
            return self._say(act, old=self._old) + " " + self._say("disclose_one", a=need)
        return self._say(act, need=need, old=self._old, category=self._category)

    # --- livelier ways -----------------------------------------------------------------------------------------------

    def _refuse_list(self, asked: str | None, shown: Sequence[str]) -> str:
        return self._say("refuse_shown") + " " + self._disclose(asked)

    def _refuse_question(self, asked: str | None, shown: Sequence[str]) -> str:
        return self._say("no_preference", attribute=asked or "other")

    def _name_budget(self, asked: str | None, shown: Sequence[str]) -> str:
        price = self.session.facts.price
        if price is None:
            return self._disclose(asked)
        limit = money(_round_up(price * BUDGET_ROOM), self.session.currency)
        return self._say("budget_max", amount=limit) + " " + self._disclose(asked)

    def _exclude(self, asked: str | None, shown: Sequence[str]) -> str:
        if not self.session.unwanted:
            return self._disclose(asked)
        return self._say("exclude", thing=self.session.unwanted) + " " + self._disclose(asked)

    def _point_at(self, shown: Sequence[str]) -> str | None:
        """A truthful remark about the list: too dear, too cheap, nearly this one, not that one. At most three a session."""
        seen = [(place, self.session.rivals[i]) for place, i in enumerate(shown) if i in self.session.rivals]
        if not seen or self._references == 3:
            return None
        self._references += 1
        price = self.session.facts.price
        prices = [facts.price for _, facts in seen if facts.price is not None]
        if price is not None and prices and len(prices) == len(shown):
            if price < 0.8 * min(prices):
                return self._say("cheaper")
            if price > 1.25 * max(prices):
                return self._say("dearer")
        if not self._left:
            return None
        need = self._tell(self._left[0])
        alike = max(seen, key=lambda item: _alike(item[1], self.session.facts))
        if _alike(alike[1], self.session.facts):
            return self._say("like_item", number=str(alike[0] + 1), ordinal=ORDINALS[alike[0]], need=need)
        place = seen[0][0]
        return self._say("not_item", number=str(place + 1), ordinal=ORDINALS[place], need=need)

    def _say(self, act: str, **slots: str) -> str:
        sentence = self._speech.say(act, **slots)
        return self._speech.slip(sentence) if self.session.scenario == "typos" else sentence


Behaviour = Callable[[Customer, str | None, Sequence[str]], str]
_LIVELY_TURNS: dict[tuple[str, int], Behaviour] = {
    ("refusal", 2): Customer._refuse_list,
    ("refusal", 3): Customer._refuse_question,
    ("budget", 2): Customer._name_budget,
    ("exclusion", 2): Customer._exclude,
}


def _alike(one: Facts, other: Facts) -> int:
    """How many visible facts two products share."""
    pairs = ((one.brand, other.brand), (one.material, other.material), (one.colour, other.colour))
    return sum(a is not None and a == b for a, b in pairs)


def _round_up(amount: float) -> float:
    """To two leading digits, as people name limits: 23.4 -> 24, 15,630 -> 16,000."""
    size = 10 ** max(0, len(str(int(amount))) - 2)
    return float(-(-amount // size) * size)
