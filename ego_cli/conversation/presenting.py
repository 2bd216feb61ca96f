"""What is put before her: lists with their leads, the question, what was given up, remarks. The rules stand in ``decide``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ego_cli.conversation import decide
from ego_cli.conversation.asking import route_of
from ego_cli.conversation.course import Answered, Searched, wish
from ego_cli.conversation.events import Decision, Question, Relaxation, ShownGroup
from ego_cli.conversation.references import Resolved
from ego_cli.conversation.reply import Search, lead_for
from ego_cli.conversation.state import State
from ego_cli.conversation.understand.acts import Kind, Understanding
from ego_cli.conversation.wording import listed, say
from ego_cli.ranking.request import Request
from ego_cli.ranking.scored import Ranked, Scored

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue


@dataclass(frozen=True, slots=True)
class Presenter:
    """``rank`` orders products for a request; ``scores``: by product id, as last shown; ``show``: how many by the number of
    constraints known; ``insist``: a question however short the list."""

    catalogue: Catalogue
    rank: Callable[[Request], Ranked]
    scores: Mapping[str, Scored]
    show: Sequence[int]
    insist: bool

    def decision(
        self,
        state: State,
        resolved: Sequence[Resolved],
        understanding: Understanding,
        searches: Sequence[Searched],
        notes: Sequence[str],
        said: Answered,
    ) -> Decision:
        """The lists with their leads, the one question, what was given up, and remarks."""
        language = understanding.language
        remarks = [f"Showing results for {read}." for _, read in understanding.corrected if searches]
        if understanding.shortened:
            remarks.append("That was long: I read its beginning and its end.")
        if searches and any(act.kind is Kind.UNCLEAR for act in understanding.acts):
            remarks.append(say("unclear_but", language=language, turn=state.turn))
        remarks += notes
        groups: list[ShownGroup] = []
        relaxations: list[Relaxation] = []
        exhausted = decide.nothing_to_wait_for(state, understanding)
        for search in searches:
            groups.append(self._group(state, search, len(searches), language, exhausted))
            relaxations += search.relaxations
            remarks += [search.bounds.note, search.bounds.refused, *search.ranked.notes]
        if any(search.more for search in searches):
            # Of several things one may be at its end while others go on.
            groups = [group for group in groups if group.items] or groups[:1]
        if any(item.act.kind is Kind.GO_BACK for item in resolved):
            groups = self._earlier_list(state)
        answer, question = said.text, said.question
        main = searches[-1] if searches else None
        if main is not None and question is None:
            question = decide.question_for(
                state, main.want, main.ranked, len(groups[-1].items), language=language, insist=self.insist
            )
        if not answer and not groups and question is None and not said.table:
            answer, question = self._nothing_to_show(understanding, state, language)
        route, why = route_of(state, state.want)
        return Decision(
            route=route,
            route_reason=why,
            groups=tuple(groups),
            question=question,
            relaxations=tuple(relaxations),
            answer=answer,
            referred=said.ids,
            table=said.table,
            notes=tuple(dict.fromkeys(remark for remark in remarks if remark)),
        )

    def _group(
        self, state: State, search: Searched, groups: int, language: str, exhausted: bool
    ) -> ShownGroup:
        want, ranked = search.want, search.ranked
        evidence = decide.Evidence.of(state, want)
        length = decide.how_many(ranked, evidence, groups=groups, schedule=self.show, exhausted=exhausted)
        only = want is not None and any(slot.hardness == "only" for slot in want.slots)
        items = ranked.items[:length] if ranked.type_known else ()
        nearest = None if items or search.more else self._nearest(search.request)
        wished = wish(want)
        label = (want.category or wished) if want and groups > 1 else ""
        lead = lead_for(
            Search(
                wish=wished,
                request=search.request,
                ranked=ranked,
                shown=len(items),
                relaxations=search.relaxations,
                only=only,
                more=search.more,
                types=() if ranked.type_known else self._types(),
                nearest=nearest,
                label=label,
            ),
            currency=self.catalogue.currency,
            language=language,
            turn=state.turn,
        )
        return ShownGroup(
            want=want.id if want else 0,
            label=label,
            items=items,
            matched=ranked.matched,
            lead=lead,
            price_max=search.request.price_max,
            nearest=nearest,
        )

    def _nearest(self, request: Request) -> Scored | None:
        """The product that would fit but for its price, nearest to the bounds."""
        if request.price_max is None and request.price_min is None:
            return None
        direction = 1 if request.price_max is not None else -1
        open_request = replace(request, price_min=None, price_max=None, sort=("price", direction), limit=1)
        items = self.rank(open_request).items
        return items[0] if items and items[0].product.price is not None else None

    def _earlier_list(self, state: State) -> list[ShownGroup]:
        earlier = state.shown[-2] if len(state.shown) > 1 else None
        items = tuple(scored for pid in (earlier.ids if earlier else ()) if (scored := self.scores.get(pid)))
        return [ShownGroup(0, "", items, len(items), say("back"))] if items else []

    def _nothing_to_show(
        self, understanding: Understanding, state: State, language: str
    ) -> tuple[str, Question | None]:
        kinds = {act.kind for act in understanding.acts}
        if Kind.BROWSE in kinds:
            text = say("browse", language=language, turn=state.turn, types=listed(self._types(8)))
        elif kinds & {Kind.YES, Kind.NO, Kind.FACT, Kind.NO_PREFERENCE, Kind.RELAX}:
            return say("ok", language=language), None
        elif (
            understanding.text.strip()
            and any(c.isalnum() for c in understanding.text)
            and Kind.UNCLEAR in kinds
        ):
            text = say("unclear", language=language, turn=state.turn)
        else:
            text = say("empty", language=language, turn=state.turn)
        return "", Question("category", text)

    def _types(self, most: int = 4) -> tuple[str, ...]:
        """The product types that the shop has most of."""
        counts = self.catalogue.facets.values("leaf")
        return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:most])
