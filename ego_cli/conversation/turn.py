"""One turn, from text to reply: the only place where the stages are composed.

text - understand - state - retrieve - rank - decide - reply - remember
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ego_cli.catalog.product import Product
from ego_cli.conversation import decide, session, talk, traces
from ego_cli.conversation.asking import Recollection, price_bounds, request_for
from ego_cli.conversation.course import (
    Answered,
    Course,
    Outcome,
    Searched,
    Stopwatch,
    after_decision,
    wants_to_show,
)
from ego_cli.conversation.events import (
    Decided,
    Event,
    MemoryUse,
    ModelCalled,
    Notice,
    Question,
    RankedEvent,
    Recalled,
    ReplyDelta,
    StateChanged,
    TurnDone,
    TurnStarted,
    Understood,
)
from ego_cli.conversation.phrasing import fact_sheet, with_words
from ego_cli.conversation.presenting import Presenter
from ego_cli.conversation.references import Resolved, resolve
from ego_cli.conversation.remembering import (
    ABOUT_MEMORY,
    REINFORCED,
    about_memory,
    memory_is_off,
    recollect,
)
from ego_cli.conversation.reply import compose
from ego_cli.conversation.state import Change, Slot, State, Want, apply
from ego_cli.conversation.understand import Context, Lexicon, understand
from ego_cli.conversation.understand.acts import Act, Kind, Understanding
from ego_cli.conversation.update import SEARCHING, update
from ego_cli.conversation.wiping import wiped
from ego_cli.conversation.words import stems
from ego_cli.errors import DamagedMemoryError, EgoError
from ego_cli.llm.cache import clear_cache
from ego_cli.ranking import count, rank
from ego_cli.ranking.fusion import DEFAULT_PLAN, Plan
from ego_cli.ranking.request import Request
from ego_cli.ranking.scored import Ranked, Scored
from ego_cli.settings import Settings, load_settings

if TYPE_CHECKING:
    from ego_cli.catalog.embedding import DenseSource
    from ego_cli.catalog.signals import ShopSignals, SignalStore
    from ego_cli.catalog.store import Catalogue
    from ego_cli.conversation.models import Models
    from ego_cli.llm.telemetry import ModelCall
    from ego_cli.memory.consolidate import Worker
    from ego_cli.memory.entry import Entry
    from ego_cli.memory.memory import Memory
    from ego_cli.ranking.rerank import Judge

Clock = Callable[[], datetime]


def _stopped(cancel: threading.Event | None, changes: Sequence[Change]) -> bool:
    """Whether a turn is to be dropped. One that took something out of memory is past that."""
    return cancel is not None and cancel.is_set() and all(change.kind != "undone" for change in changes)


def utc_now() -> datetime:
    """The clock of the world; tests set another."""
    return datetime.now(UTC)


@dataclass(slots=True)
class Assistant:
    """Holds a conversation over one catalogue. The session's state is the one value ``state``.

    ``show`` is the length of a list by the number of constraints known; ``insist`` asks the universal question whenever
    she has not said that there is nothing more (evaluations); ``profile`` names the weights of ``ranking.score``.
    """

    catalogue: Catalogue
    settings: Settings = field(default_factory=load_settings)
    memory: Memory | None = None
    worker: Worker | None = None  # runs the memory's jobs in the background
    models: Models | None = None  # language models beside the rules
    session: str = ""  # names this conversation in memory
    clock: Clock = utc_now
    show: Sequence[int] = decide.SHOW_BY_EVIDENCE
    insist: bool = False
    lenient: bool = (
        False  # what was said weighs but rules nothing out: for evaluations, where a misreading costs a list
    )
    tags: tuple[str, ...] = ()
    state: State = field(default_factory=State)
    scores: dict[str, Scored] = field(default_factory=dict)
    keep_session: bool = False  # save the state after every turn
    signals: SignalStore | None = None  # the shop's record of what is seen and done
    shop_signals: ShopSignals | None = None  # what ranking reads of it
    dense: DenseSource | None = None  # the catalogue's sentence vectors, where words do not answer
    judge: Judge | None = None  # a cross-encoder for a second look
    plan: Plan = DEFAULT_PLAN  # which legs search; others than the default are for ablations
    troubles: list[str] = field(default_factory=list)  # to be said with the next answer, once
    lexicon: Lexicon = field(init=False)
    _question: Question | None = None

    def __post_init__(self) -> None:
        self.lexicon = Lexicon.from_catalogue(self.catalogue)

    def __enter__(self) -> Assistant:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the memory file. A catalogue is shared by all who talk over it and stays open."""
        if self.models is not None:
            self.models.close()
        if self.dense is not None:
            self.dense.close()
        if self.worker is not None:
            self.worker.stop()
        if self.memory is not None:
            self.memory.close()

    # --- the pipe ----------------------------------------------------------------------------------------------------

    def respond(self, text: str) -> TurnDone:
        """Run a whole turn and give its last event."""
        for event in self.turn(text):
            if isinstance(event, TurnDone):
                return event
        raise AssertionError("a turn ends with TurnDone")

    def turn(self, text: str, cancel: threading.Event | None = None) -> Iterator[Event]:
        """Run one turn. Yields what each stage hands on, and last TurnDone.

        When ``cancel`` is set between two stages the generator ends there, and the state is as before the turn.
        """
        watch = Stopwatch()
        number = self.state.turn + 1
        yield TurnStarted(number, text, self.clock())
        if self.models is not None:
            self.models.begin_turn(cancel)

        understanding = understand(text, self.lexicon, self._context())
        watch.lap("understand")
        try:
            course = yield from self._follow(understanding, number, watch, cancel)
        except DamagedMemoryError as error:
            self._go_on_without_memory(error)
            course = yield from self._follow(understanding, number, watch, cancel)
        if course is None:
            return
        outcome = self._conclude(course, number, watch)
        yield Decided(outcome.decision)
        yield ReplyDelta(outcome.reply.text)

        calls: tuple[ModelCall, ...] = ()
        notices: tuple[Notice, ...] = ()
        if self.models is not None:
            outcome = yield from self._assisted(self.models, outcome, number, watch, cancel)
            watch.lap("model")
            calls = self.models.end_turn(number)
            yield from map(ModelCalled, calls)
            if _stopped(cancel, outcome.changes) and not outcome.course.said.forgotten:
                self._take_back(number)
                return
            if self.models.trouble:
                notices = (Notice(self.models.trouble, "warning"),)
                yield notices[0]

        course, decision = outcome.course, outcome.decision
        self.state = outcome.state
        self._question = decision.question
        self.scores.update({scored.product.id: scored for scored in decision.shown})
        try:
            outcome = self._remember(text, outcome)
        except DamagedMemoryError as error:
            self._go_on_without_memory(error)
        except EgoError as error:
            # The answer stands; that it could not be kept is one visible line.
            self.troubles.append(f"This turn could not be kept: {error}")
        if self.dense is not None and (trouble := self.dense.trouble()):
            self.troubles.append(trouble)
        for trouble in self.troubles:
            notices = (*notices, Notice(trouble, "warning"))
            yield notices[-1]
        self.troubles = []
        watch.lap("remember")
        yield TurnDone(
            turn=number,
            text=text,
            state=outcome.state,
            understanding=course.understanding,
            changes=outcome.changes,
            decision=decision,
            reply=outcome.reply,
            ranked=tuple(search.ranked for search in course.searches),
            memory=course.uses,
            calls=calls,
            timings_ms=watch.timings(),
            notices=notices,
            ended=any(act.kind is Kind.BYE for act in course.understanding.acts),
            private=bool(course.said.forgotten),
        )

    def _follow(
        self, understanding: Understanding, number: int, watch: Stopwatch, cancel: threading.Event | None
    ) -> Generator[Event, None, Course | None]:
        """From what was understood to ranked lists. None when the turn was cancelled on the way."""
        yield Understood(understanding)
        resolved = resolve(understanding.acts, self.state, self.product)
        watch.lap("references")
        state, changes, notes = update(self.state, resolved, turn=number, shelf=self.product, fits=self._fits)
        watch.lap("state")
        yield StateChanged(state, changes)
        if cancel is not None and cancel.is_set():
            return None

        for change in changes:
            if change.kind == "undone":
                self._take_back(change.after)
        recollections = {want.id: self._recollect(state, want) for want in state.wants}
        uses = tuple(dict.fromkeys(use for found in recollections.values() for use in found.uses))
        watch.lap("recall")
        yield Recalled(uses)

        searches = tuple(self._search(state, changes, resolved, recollections, watch))
        for search in searches:
            yield RankedEvent(search.want.id if search.want else 0, search.ranked)
        if _stopped(cancel, changes):
            return None
        said = self._answer(state, resolved, understanding, uses)
        return Course(understanding, tuple(resolved), state, changes, notes, uses, searches, said)

    def _conclude(self, course: Course, number: int, watch: Stopwatch) -> Outcome:
        """From ranked lists to what is shown, and its words."""
        presenter = Presenter(self.catalogue, self._rank, self.scores, self.show, self.insist)
        decision = presenter.decision(
            course.state, course.resolved, course.understanding, course.searches, course.notes, course.said
        )
        after = after_decision(course.state, decision, course.searches, number)
        watch.lap("decide")
        reply = compose(decision, currency=self.catalogue.currency)
        watch.lap("reply")
        return Outcome(course, decision, reply, after.state, (*course.changes, *after.changes))

    def _assisted(
        self,
        models: Models,
        outcome: Outcome,
        number: int,
        watch: Stopwatch,
        cancel: threading.Event | None,
    ) -> Generator[Event, None, Outcome]:
        """Beside the rules, whose answer stands already: a model reads what they left, orders near-ties, words the lead."""
        course = outcome.course
        acts = models.read(course.understanding, self.lexicon, self.catalogue)
        watch.lap("model")
        if acts:
            from ego_cli.conversation.reading import merged  # only where a model reads: it brings pydantic

            understanding = replace(
                course.understanding, acts=merged(course.understanding, acts, self.lexicon)
            )
            course = (yield from self._follow(understanding, number, watch, cancel)) or course
        ranked = [models.rerank(search.ranked, search.request) for search in course.searches]
        watch.lap("model")
        if any(new is not search.ranked for new, search in zip(ranked, course.searches, strict=True)):
            searches = zip(course.searches, ranked, strict=True)
            course = replace(course, searches=tuple(replace(search, ranked=new) for search, new in searches))
        if course is not outcome.course:
            outcome = self._conclude(course, number, watch)
            yield Decided(outcome.decision)
            yield ReplyDelta(outcome.reply.text, restart=True)

        decision, understanding = outcome.decision, course.understanding
        sheet = fact_sheet(
            decision, outcome.reply.cards, said=understanding.text, language=understanding.language
        )
        if sheet is None:
            return outcome
        streamed = False
        for sentence in models.phrase(sheet, self.lexicon):
            yield ReplyDelta(f"{sentence} ", restart=not streamed)
            streamed = True
        if models.phrased:
            decision = with_words(decision, models.phrased)
            reply = replace(compose(decision, currency=self.catalogue.currency), author=models.author)
            return replace(outcome, decision=decision, reply=reply)
        if streamed:
            yield ReplyDelta(outcome.reply.text, restart=True)
        return outcome

    # --- understand --------------------------------------------------------------------------------------------------

    def _context(self) -> Context:
        """What reading the next sentence depends on."""
        state = self.state
        shown = [product for pid in state.last_shown if (product := self.product(pid))]
        pending = state.pending
        held = [(slot.attribute, slot.text) for want in state.wants for slot in want.slots]
        if state.budget is not None:
            held.append(("price", state.budget.text))
        question = self._question
        return Context(
            asked=(pending.attribute or pending.kind)
            if pending
            else (question.attribute if question else ""),
            options=pending.options if pending else (question.options if question else ()),
            shown=tuple(product.title for product in shown),
            shown_words=tuple(
                word for product in shown for word in (*product.colours, product.brand or "") if word
            ),
            categories=tuple(want.category for want in state.wants),
            held=tuple(held),
            basket=tuple(line.title for line in state.basket),
            currency=self.catalogue.currency,
        )

    def product(self, product_id: str) -> Product | None:
        """A product of the catalogue by its id, or None when it is no longer there."""
        row = self.catalogue.row_of(product_id)
        return None if row is None else self.catalogue.product(row)

    def _fits(self, slot: Slot, category: str) -> bool:
        """Whether products of a type state one of the slot's values: sizes of shoes mean nothing for bags."""
        stated = self._rank(Request(category=category, limit=1)).facets.get(slot.attribute, {})
        return any(set(stems(value)) == set(stems(known)) for value in slot.values for known in stated)

    # --- retrieve and rank ---------------------------------------------------------------------------------------------

    def _search(
        self,
        state: State,
        changes: Sequence[Change],
        resolved: Sequence[Resolved],
        recollections: Mapping[int, Recollection],
        watch: Stopwatch,
    ) -> Iterator[Searched]:
        kinds = {item.act.kind for item in resolved}
        if not kinds & SEARCHING or Kind.GO_BACK in kinds:
            return
        wants = wants_to_show(state, changes)
        if not wants and not (state.sort or state.budget or state.like):
            return
        targets: list[Want | None] = [*wants] or [None]
        for want in targets:
            bounds = price_bounds(
                (want.budget if want else None) or state.budget,
                currency=self.catalogue.currency,
                fx=self.settings.fx,
                parts=len(state.wants),
                pieces=(want.quantity if want else None) or 1,
            )
            request = request_for(
                state,
                want,
                bounds=bounds,
                recollection=recollections[want.id] if want else self._recollect(state, None),
                hide_seen=Kind.SHOW_MORE in kinds,
                strict=not self.lenient,
            )
            ranked = self._rank(request)
            relaxed = None
            if ranked.matched == 0 and ranked.type_known and not request.hidden:
                relaxed = decide.relax(request, want, lambda r: count(self.catalogue, r))
            if relaxed is not None:
                ranked = self._rank(relaxed.request)
                request = relaxed.request
            watch.add(ranked.timings_ms)
            yield Searched(
                want, request, ranked, bounds, relaxed.relaxations if relaxed else (), Kind.SHOW_MORE in kinds
            )
        watch.restart()

    def _rank(self, request: Request) -> Ranked:
        settings = self.settings.ranking
        return rank(
            self.catalogue,
            request,
            profile=settings.profile,
            popularity=settings.popularity,
            signals=self.shop_signals,
            dense=self.dense,
            judge=self.judge,
            plan=self.plan,
        )

    # --- memory --------------------------------------------------------------------------------------------------------

    def _recollect(self, state: State, want: Want | None) -> Recollection:
        return recollect(
            self.memory, state, want, currency=self.catalogue.currency, fx=self.settings.fx, tags=self.tags
        )

    def _answer(
        self,
        state: State,
        resolved: Sequence[Resolved],
        understanding: Understanding,
        uses: Sequence[MemoryUse],
    ) -> Answered:
        """Words for the acts that are no search. What is said about memory needs the memory at once."""
        desk = talk.Desk(
            state,
            self.product,
            self.scores,
            self.catalogue.currency,
            understanding.language,
            state.turn,
            tuple(use.text for use in uses if use.how in REINFORCED),
        )
        said = talk.answer(desk, resolved)
        acts = [item.act for item in resolved if item.act.kind in ABOUT_MEMORY]
        if not acts:
            return Answered(said.text, said.question, said.ids, said.table)
        heard = self._hear(understanding.text, state.turn, acts)
        memory_said = about_memory(self.memory, desk, acts, heard)
        if any(act.kind is Kind.FORGET for act in acts) and not memory_said.question:
            session.discard(self.settings.user)
            clear_cache(self.settings.user)
        words = "\n".join(part for part in (said.text, memory_said.text) if part)
        question = said.question or memory_said.question
        return Answered(words, question, said.ids, said.table, heard=True, forgotten=memory_said.forgotten)

    def _go_on_without_memory(self, error: DamagedMemoryError) -> None:
        """The shop stays open over a file that cannot be read; she is told once that nothing will be remembered."""
        if self.worker is not None:
            self.worker.stop()
        if self.memory is not None:
            self.memory.close()
        self.memory = self.worker = None
        self.troubles.append(memory_is_off(error))

    def forgot(self, words: Sequence[str]) -> None:
        """After memory forgot something: neither a file nor an undo holds the words that led to it any longer.

        ``words`` are those of what was forgotten; "all" means everything. What comes from now on is kept as before.
        """
        session.discard(self.settings.user)
        clear_cache(self.settings.user)
        self.state = wiped(self.state, words, everything="all" in words)

    def _take_back(self, turn: object) -> None:
        """What memory heard in a turn goes with it, before memory is asked for the list that follows."""
        if self.memory is None or not isinstance(turn, int):
            return
        told = (
            change.after for change in self.state.log if change.kind == "remembered" and change.turn == turn
        )
        self.memory.take_back(str(next(told, self.session)), turn)

    def _hear(self, text: str, turn: int, acts: Sequence[Act] = ()) -> list[Entry]:
        """Let memory take in the shopper's own words; not those that ask it to forget or to tell."""
        if self.memory is None or any(act.kind in (Kind.FORGET, Kind.RECALL) for act in acts):
            return []
        return self.memory.hear(text, turn=turn, session=self.session, at=self.clock())

    def _remember(self, text: str, outcome: Outcome) -> Outcome:
        """After the answer: keep what she said, what she saw and did, and the conversation itself."""
        now, turn, course, decision = self.clock(), self.state.turn, outcome.course, outcome.decision
        if self.memory is not None:
            if not course.said.heard:
                self._hear(text, turn)
            if self.memory.told(self.session, turn):
                told = Change("remembered", turn, after=self.session)
                self.state = apply(self.state, told)
                outcome = replace(outcome, state=self.state, changes=(*outcome.changes, told))
            self.memory.log_many(
                {**event, "at": now, "turn": turn, "session": self.session}
                for event in traces.events(decision)
            )
            if decision.shown:
                used = [int(use.entry_id) for use in course.uses if use.how in REINFORCED]
                self.memory.used(used, at=now, turn=turn, session=self.session)
        if self.signals is not None:
            if decision.shown:
                self.signals.log_impressions(traces.impressions(decision, self.state, self.session), now)
            if done := list(traces.interactions(outcome.changes, course.resolved)):
                self.signals.log_interactions(done, now, session=self.session)
                self.shop_signals = self.signals.snapshot(now)
        if course.said.forgotten:
            self.forgot(course.said.forgotten)
            outcome = replace(outcome, state=self.state)
        if self.keep_session and not session.save(self.settings.user, self.catalogue.name, self.state, now):
            self.keep_session = False
            self.troubles.append("The conversation cannot be kept on this disk; it goes on all the same.")
        return outcome
