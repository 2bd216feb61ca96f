"""The conversation as the screen holds it: lines go to the engine, its events come back as messages and are shown.

Everything here runs on the screen's own thread, except what is marked as running on a lane.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.message import Message

from ego_cli.conversation.events import Decided, Event, Notice, Reply, ReplyDelta, TurnDone
from ego_cli.errors import EgoError
from ego_cli.tui.inspector import Inspector, Strip
from ego_cli.tui.lane import Lane
from ego_cli.tui.snapshot import Snapshot, fold

if TYPE_CHECKING:
    from ego_cli.tui.app import EgoApp
    from ego_cli.tui.engine import Engine, MemoryPage, Shop
    from ego_cli.tui.frame import Header

WORDS_READ_PER_S = 8.0  # a list is skimmed: about twice the speed of prose
READ_AT_LEAST_S = 2.5
LOOK_AGAIN_S = 0.1
BEHIND_S = 1.0  # between two looks at what goes on behind the conversation
CLOSE_WAIT_S = 1.5  # how long leaving waits for the engine to put its things away


class Told(Message):
    """Something that a lane found, and what the screen does with it."""

    def __init__(self, then: Callable[..., None], *found: Any) -> None:
        super().__init__()
        self.then = then
        self.found = found


class Talk:
    """One conversation on the screen. ``snapshot`` is the value that the inspector shows."""

    def __init__(self, app: EgoApp, open_engine: Callable[[], Engine], open_shop: Callable[[], Shop]) -> None:
        self.app = app
        self.snapshot = Snapshot()
        self.turns: list[TurnDone] = []
        self.engine: Engine | None = None
        self.shop: Shop | None = None
        self.failed = ""  # why the engine did not open
        self._open_engine = open_engine
        self._open_shop = open_shop
        self._talk = Lane("ego-talk")
        self._look = Lane("ego-look")
        self._reopening = False
        self._ticket = 0
        self._asked = ""  # the words of the turn under way
        self._cancel = threading.Event()
        self._composed = Reply("")
        self._before = self.snapshot  # what stood before the turn under way
        self._script: list[str] = []  # lines of a demo that are still to come

    @property
    def busy(self) -> bool:
        """True while a turn is under way."""
        return bool(self._asked)

    @property
    def ready(self) -> bool:
        """True when the engine is open, or known not to open."""
        return not self._reopening and (self.engine is not None or bool(self.failed))

    # --- opening and leaving

    def open(self) -> None:
        """Open the engine on its lane."""
        self._talk.start()
        self._look.start()

        def job() -> None:
            engine = self._open_engine()
            found = engine.history(), engine.nudges(), engine.memories(), engine.state()
            self.app.post_message(Told(self._opened, engine, *found))

        self._talk.put(self._guarded(job, self._not_opened))
        header = (
            self.app.header
        )  # the clock is its own and goes with it: while one leaves there is nothing to find
        header.set_interval(BEHIND_S, partial(self._look_behind, header))

    def _look_behind(self, header: Header) -> None:
        header.work = self.engine.work() if self.engine is not None else ""

    def _opened(
        self,
        engine: Engine,
        history: tuple[TurnDone, ...],
        nudges: tuple[str, ...],
        memory: MemoryPage,
        state: Any,
    ) -> None:
        self.engine, self.failed = engine, ""
        log = self.app.log_view
        for done in history:
            log.say_you(done.text)
            log.finish(done)
            self.app.prompt.remember(done.text)
            self.turns.append(done)
            self.snapshot = fold(self.snapshot, done)
        header = self.app.header
        header.catalogue, header.user, header.model = engine.catalogue, engine.user, engine.model
        header.ready, header.failed = True, False
        if not history:
            log.greet(engine.catalogue)
            if nudges:
                log.say_notice(nudges[0])
        self.show(
            replace(
                self.snapshot,
                nudges=nudges,
                memory=memory,
                model=engine.model,
                token_budget=engine.token_budget,
                state=state,
            )
        )

    def _not_opened(self, error: str) -> None:
        self.failed = error
        self.app.header.failed = True
        self.app.log_view.say_notice(error, "error")

    def reopen(self, open_engine: Callable[[], Engine], open_shop: Callable[[], Shop]) -> None:
        """Talk over another catalogue, or as another shopper. The conversation stays as it is if that does not open."""
        if self.busy:
            self.stop(give_back=False)
        self._reopening = True
        self.app.header.ready = False

        def job() -> None:
            engine = open_engine()
            found = engine.history(), engine.nudges(), engine.memories(), engine.state()
            self.app.post_message(Told(self._reopened, open_shop, engine, *found))

        self._talk.put(self._guarded(job, self._not_reopened))

    def _reopened(self, open_shop: Callable[[], Shop], engine: Engine, *found: Any) -> None:
        self._reopening = False
        if self.engine is not None:
            self._talk.put(self.engine.close)
        if self.shop is not None:
            self._look.put(self.shop.close)
        self.shop, self._open_shop = None, open_shop
        self.snapshot, self.turns = Snapshot(), []
        self.app.log_view.start_over()
        self._opened(engine, *found)

    def _not_reopened(self, error: str) -> None:
        self._reopening = False
        self._script = []
        self.app.header.ready = self.engine is not None
        self.app.warn(error)

    def close(self) -> None:
        """Stop what runs and put everything away, within ``CLOSE_WAIT_S`` seconds."""
        self._cancel.set()
        if self.engine is not None:
            self._talk.put(self.engine.close)
        if self.shop is not None:
            self._look.put(self.shop.close)
        self._talk.stop(CLOSE_WAIT_S)
        self._look.stop(0.2)

    # --- turns

    def ask(self, words: str) -> None:
        """Send one message through the pipe; one that is being answered is stopped first."""
        if self.busy:
            self.stop(give_back=False)
        self._ticket += 1
        self._asked = words
        self._cancel = threading.Event()
        self._before = self.snapshot
        self.app.log_view.say_you(words)
        self.show(replace(self.snapshot, busy=True, stage="reading", notices=()))
        self._talk.put(partial(self._turn, words, self._ticket, self._cancel))

    def _turn(self, words: str, ticket: int, cancel: threading.Event) -> None:
        """Runs on the talk lane."""

        def job() -> None:
            if cancel.is_set():
                return
            if self.engine is None:
                raise EgoError("the shop did not open", hint="see `ego catalog list`")
            for event in self.engine.turn(words, cancel):
                if cancel.is_set() and not isinstance(event, TurnDone):
                    return
                self.app.post_message(
                    Told(self._came, ticket, event)
                )  # a turn that is done counts, stopped or not

        self._guarded(job, partial(self._broke, ticket))()
        self.app.post_message(Told(self._ended, ticket))

    def _came(self, ticket: int, event: Event) -> None:
        log = self.app.log_view
        if ticket != self._ticket or not self.busy:
            if not isinstance(event, TurnDone):
                return
            log.say_notice(f"too late to stop: {event.text}")
            if self.app.prompt.text == event.text:
                self.app.prompt.text = ""
        match event:
            case Decided(decision=decision) if self.engine is not None:
                self._composed = self.engine.reply(decision)
                log.show_reply(self._composed, decision)
            case ReplyDelta(text=piece, restart=restart):
                if restart or piece != self._composed.text:  # the rules' words stand there already
                    log.stream(piece, restart)
            case Notice(text=words, level=level):
                log.say_notice(words, level)
            case TurnDone():
                log.finish(event)
                told = _notes(self.turns[-1]) if self.turns else ()
                for note in _notes(event):
                    if note not in told:
                        log.say_notice(note, "info")
                if event.ended:
                    log.say_notice("/quit leaves; the conversation is kept")
                self.turns.append(event)
        self.show(fold(self.snapshot, event))
        if isinstance(event, TurnDone):
            self._before = self.snapshot  # what a stop from here on goes back to
            self.refresh_memory()

    def _broke(self, ticket: int, error: str) -> None:
        if ticket != self._ticket or not self.busy:
            return
        self.app.log_view.cut_short()
        self.app.log_view.say_notice(error, "error")
        self.app.prompt.give_back(self._asked)
        self.show(self._before)

    def _ended(self, ticket: int) -> None:
        if ticket == self._ticket and self.busy:
            self._asked = ""
            self.show(replace(self.snapshot, busy=False, stage=""))

    def stop(self, *, give_back: bool = True) -> None:
        """Give the prompt back at once; the engine hears of it and drops the turn."""
        self._cancel.set()
        self._script = []
        words, self._asked = self._asked, ""
        self.app.log_view.cut_short()
        if give_back:
            self.app.log_view.say_notice("stopped")
            self.app.prompt.give_back(words)
        self.show(self._before)  # the engine's state is as before the turn, too

    def play(self, lines: Sequence[str]) -> None:
        """Say these lines one after another, each when the reply before it could be read. Stopping a reply ends it."""
        self._script = list(lines)
        self._next_line()

    def _next_line(self) -> None:
        """Looks again and again until the engine is open and no turn is under way, then says the next line."""
        if not self._script:
            return
        if self.busy or not self.ready:
            self.app.set_timer(LOOK_AGAIN_S, self._next_line)
        else:
            line, *self._script = self._script
            self.ask(line)
            self.app.set_timer(LOOK_AGAIN_S, self._read_then_next)

    def _read_then_next(self) -> None:
        if self.busy:
            self.app.set_timer(LOOK_AGAIN_S, self._read_then_next)
        else:
            words = len(self.turns[-1].reply.text.split()) if self.turns else 0
            self.app.set_timer(max(READ_AT_LEAST_S, words / WORDS_READ_PER_S), self._next_line)

    # --- other work behind the screen

    def do(self, work: Callable[[Engine], Any], then: Callable[[Any], None]) -> None:
        """Carry out ``work`` on the talk lane and ``then`` on the screen, once the engine is open; a failure is one line."""
        if not self.ready:
            self.app.set_timer(LOOK_AGAIN_S, partial(self.do, work, then))
            return

        def job() -> None:
            if self.engine is not None:
                self.app.post_message(Told(then, work(self.engine)))

        self._talk.put(self._guarded(job, self.app.warn))

    def look(self, work: Callable[[Shop], Any], then: Callable[[Any], None]) -> None:
        """The same for the catalogue, on a lane that no turn holds up."""

        def job() -> None:
            if self.shop is None:
                self.shop = self._open_shop()
            self.app.post_message(Told(then, work(self.shop)))

        self._look.put(self._guarded(job, self.app.warn))

    def evaluate(self, advance: Callable[[int, int], None], then: Callable[[], None]) -> None:
        """Play an evaluation on a lane of its own; ``advance`` and ``then`` are called on the screen."""
        if self.engine is None:
            return
        engine, lane = self.engine, Lane("ego-evaluate")

        def told(done: int, total: int) -> None:
            self.app.post_message(Told(advance, done, total))

        def job() -> None:
            try:
                engine.play_run(told)
            finally:
                self.app.post_message(Told(then))

        lane.start()
        lane.put(self._guarded(job, self.app.warn))

    def _guarded(self, job: Callable[[], None], failed: Callable[[str], None]) -> Callable[[], None]:
        """``job`` for a lane: what it raises becomes one line on the screen."""

        def guarded() -> None:
            try:
                job()
            except EgoError as known:
                self.app.post_message(Told(failed, str(known)))
            except Exception as unknown:  # whatever breaks behind the screen, the screen stays and says so
                self.app.post_message(Told(failed, unexpected(unknown)))

        return guarded

    # --- the inspector

    def show(self, snapshot: Snapshot) -> None:
        """Make ``snapshot`` what is on the screen."""
        self.snapshot = snapshot
        main = self.app.main
        for view in (*main.query(Inspector), *main.query(Strip)):
            view.snapshot = snapshot
        header = self.app.header
        header.busy, header.stage = snapshot.busy, snapshot.stage
        self.app.footer.busy = snapshot.busy
        self.app.log_view.select(snapshot.selected)

    def select(self, index: int) -> None:
        """Take the score of the product at this 0-based position apart."""
        if self.snapshot.listed:
            self.show(replace(self.snapshot, selected=max(0, min(len(self.snapshot.listed) - 1, index))))

    def refresh_memory(self) -> None:
        """Read the memory again: a turn or a key may have changed it."""
        self.do(
            lambda engine: (engine.memories(), engine.nudges()),
            lambda found: self.show(replace(self.snapshot, memory=found[0], nudges=found[1])),
        )


def _notes(turn: TurnDone) -> tuple[str, ...]:
    """What the ranking of a turn has to tell, such as a word that no product of the kind has."""
    return tuple(dict.fromkeys(note for ranked in turn.ranked for note in ranked.notes))


def unexpected(error: Exception) -> str:
    """One line for what nobody foresaw; with ``--debug`` the traceback goes to a file beside the data."""
    line = f"something broke: {type(error).__name__}: {error}"
    if not os.environ.get("EGO_DEBUG"):
        return f"{line}. Try again, or start ego with --debug."
    import traceback

    from ego_cli.places import private_folder, user_data_folder

    path = private_folder(user_data_folder()) / "screen.log"
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(traceback.format_exception(error)) + "\n")
    return f"{line}. The traceback is in {path}"
