"""ego as an agent of the session protocol, so that anyone's evaluator of that protocol can run it.

One assistant a session over one opened catalogue; no memory, no language model, no token.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from ego_cli import ranking
from ego_cli.catalog.store import open_catalogue
from ego_cli.conversation.asking import price_bounds, request_for
from ego_cli.conversation.events import TurnDone
from ego_cli.conversation.turn import Assistant
from ego_cli.conversation.warming import warm
from ego_cli.evaluation.metrics import LIST_LENGTH
from ego_cli.ranking.request import Request
from ego_cli.settings import LlmSettings, MemorySettings, load_settings

# How many are shown by the number of constraints known, or by the turns gone when that is more. With little to go by, ten
# guesses cost rank; from the eighth constraint or turn on, or when she has nothing more to say, the whole list is shown.
SHOW = (1, 1, 1, 1, 2, 3, 5, 10)
# From this turn on what was said weighs but rules nothing out: a target that is still hidden was perhaps misread.
LENIENT_FROM = 4
# The protocol's names for what we ask about; everything else is its universal probe.
ASKED = {
    "category": "category",
    "material": "material",
    "colour": "color",
    "size": "size",
    "style": "style",
    "brand": "brand",
    "price": "budget",
    "feature": "feature",
    "occasion": "use_case",
}
PROBE = "other"
MOST_SESSIONS = 512  # open at the same time; the protocol never says that one has ended


class Agent:
    """The protocol's agent over a catalogue file in any readable form, or a stored catalogue's name.

    The file is indexed at first use; the index is kept by the content of the file. ``show`` is as ``SHOW``;
    ``popularity`` False leaves review counts out of the ranking (None: as configured).
    """

    def __init__(
        self, catalog_path: str | Path, *, show: Sequence[int] = SHOW, popularity: bool | None = None
    ) -> None:
        configured = load_settings()
        ranks = configured.ranking
        if popularity is not None:
            ranks = replace(ranks, popularity=popularity)
        self._settings = replace(
            configured, memory=MemorySettings(enabled=False), llm=LlmSettings(enabled=False), ranking=ranks
        )
        self._catalogue = open_catalogue(catalog_path)
        self._show = tuple(show)
        # Never spoken to: sessions are copies of it, so that the catalogue's words are read once and not for each.
        self._fresh = Assistant(self._catalogue, self._settings, insist=True, lenient=True)
        warm(self._fresh)
        self._sessions: OrderedDict[str, Assistant] = OrderedDict()
        self._last: dict[str, TurnDone] = {}

    def __len__(self) -> int:
        """Products in the catalogue."""
        return len(self._catalogue)

    def reset(self, session_id: str, user_profile: Mapping[str, Any]) -> None:
        """Begin a session; of the profile the preference tags are read."""
        tags = tuple(str(tag) for tag in (user_profile or {}).get("preference_tags") or ())
        assistant = copy(self._fresh)
        assistant.tags, assistant.scores = tags, {}
        self._sessions[session_id] = assistant
        self._last.pop(session_id, None)
        while len(self._sessions) > MOST_SESSIONS:
            ended, _ = self._sessions.popitem(last=False)
            self._last.pop(ended, None)

    def respond(self, session_id: str, user_message: str, turn: int, top_k: int) -> dict[str, Any]:
        """The protocol's answer to one message: at most ``top_k`` products, and what is asked."""
        if session_id not in self._sessions:
            self.reset(session_id, {})
        assistant = self._sessions[session_id]
        assistant.lenient = turn >= LENIENT_FROM
        longest = len(self._show) - 1
        assistant.show = [self._show[min(max(known, turn - 1), longest)] for known in range(len(self._show))]
        done = assistant.respond(user_message)
        self._last[session_id] = done
        question = done.decision.question
        shown = done.decision.shown[:top_k]
        return {
            "message": done.reply.text,
            # A customer of the protocol says nothing unless asked, so a turn without a question asks openly.
            "ask_attribute": ASKED.get(question.attribute, PROBE) if question else PROBE,
            "recommendations": [{"parent_asin": scored.product.id} for scored in shown],
            "usage": {
                "prompt_tokens": sum(call.prompt_tokens for call in done.calls),
                "completion_tokens": sum(call.completion_tokens for call in done.calls),
            },
        }

    def diagnose(self, session_id: str, product_id: str) -> dict[str, str]:
        """Why a product is not on the list, by asking again for it with one rule after another left out.

        ``kind`` is "excluded wrongly" (an exclusion, a rejection or a price bound hides it), "constraint misread" (a
        requirement read from her words that it is known not to meet), "not listed" (it ranks among the ten, but the last turn
        showed fewer), "outranked" or "never retrieved".
        """
        assistant, done = self._sessions[session_id], self._last[session_id]
        product = assistant.product(product_id)
        if product is None:
            return {"kind": "never retrieved", "why": "the catalogue does not hold it"}
        state = done.state
        want = state.want
        bounds = price_bounds(
            (want.budget if want else None) or state.budget,
            currency=self._catalogue.currency,
            fx=self._settings.fx,
        )
        full = request_for(state, want, bounds=bounds, limit=len(self._catalogue))
        place = self._place(full, product_id)
        if place:
            kind = "not listed" if place <= LIST_LENGTH else "outranked"
            listed = f"; the last reply listed {len(done.decision.shown)}" if kind == "not listed" else ""
            return {"kind": kind, "why": f"it stands in place {place:,} for {_asked_for(full)}{listed}"}
        for exclusion in full.exclusions:
            less = tuple(e for e in full.exclusions if e is not exclusion)
            if self._place(replace(full, exclusions=less), product_id):
                return {"kind": "excluded wrongly", "why": f"the exclusion of {exclusion.value!r} hides it"}
        if product_id in full.hidden:
            return {"kind": "excluded wrongly", "why": "it was taken to be rejected"}
        if self._place(replace(full, price_min=None, price_max=None, price_band=None), product_id):
            why = f"the price bounds {full.price_min} to {full.price_max} hide it (it costs {product.price})"
            return {"kind": "excluded wrongly", "why": why}
        for index, requirement in enumerate(full.requirements):
            less_asked = full.requirements[:index] + full.requirements[index + 1 :]
            if self._place(replace(full, requirements=less_asked), product_id):
                words = f"{requirement.attribute} {requirement.operator} {', '.join(requirement.values) or requirement.number}"
                return {
                    "kind": "constraint misread",
                    "why": f"{words} (from {requirement.words!r}) rules it out",
                }
        soft = tuple(replace(r, hard=False) for r in full.requirements)
        if self._place(replace(full, requirements=soft), product_id):
            return {
                "kind": "constraint misread",
                "why": f"several requirements together rule it out: {_asked_for(full)}",
            }
        if self._place(replace(full, category="", requirements=soft), product_id):
            return {"kind": "constraint misread", "why": f"it is not taken for a {full.category!r}"}
        return {"kind": "never retrieved", "why": f"no leg of the search finds it for {_asked_for(full)}"}

    def _place(self, request: Request, product_id: str) -> int | None:
        ranked = ranking.rank(self._catalogue, request, profile=self._settings.ranking.profile)
        return next((n for n, scored in enumerate(ranked.items, 1) if scored.product.id == product_id), None)


def _asked_for(request: Request) -> str:
    wishes = [
        f"{r.attribute}: {', '.join(r.values) or r.number}{'!' if r.hard else ''}"
        for r in request.requirements
    ]
    return f"{request.category!r} ({'; '.join(wishes) or 'nothing else'})"
