"""The screen: a chat beside a live inspector. The engine runs on a thread of its own; nothing here waits for it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen

from ego_cli.conversation import commands
from ego_cli.conversation.events import Decided, Event, Notice, ReplyDelta, TurnDone
from ego_cli.errors import EgoError
from ego_cli.tui import keys, themes
from ego_cli.tui.chat.card import CardView
from ego_cli.tui.chat.log import ChatLog
from ego_cli.tui.chat.prompt import Completions, Prompt
from ego_cli.tui.frame import Footer, Header, Strip
from ego_cli.tui.inspector import Inspector
from ego_cli.tui.inspector.memory import MemoryPane
from ego_cli.tui.inspector.understood import ErasedPane
from ego_cli.tui.lane import Lane
from ego_cli.tui.snapshot import Snapshot, fold

if TYPE_CHECKING:
    from ego_cli.tui.engine import Engine, MemoryRow, Shop

INSPECTOR_BESIDE = 110  # columns from which the inspector stands beside the chat; below it lies over it
LEAVE_WITHIN_S = 2.0  # two presses of Ctrl+C in this time leave
CLOSE_WAIT_S = 1.5  # how long leaving waits for the engine to put its things away


class EgoApp(App[int]):
    """One conversation on a screen.

    ``open_engine`` and ``open_shop`` are called on background threads; what they raise is one line in the chat.
    """

    TITLE = "ego"
    CSS_PATH = "ego.tcss"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS: ClassVar = [(0, "-narrow"), (INSPECTOR_BESIDE, "-wide")]
    VERTICAL_BREAKPOINTS: ClassVar = [(0, "-low"), (32, "-high")]
    BINDINGS: ClassVar[list[Any]] = keys.bindings("app")

    class Came(Message):
        """An event of the turn number ``ticket``."""

        def __init__(self, ticket: int, event: Event) -> None:
            super().__init__()
            self.ticket = ticket
            self.event = event

    class Ended(Message):
        """The turn is over; ``error`` is one line if it failed."""

        def __init__(self, ticket: int, error: str = "") -> None:
            super().__init__()
            self.ticket = ticket
            self.error = error

    class Told(Message):
        """Something that a background job found, and what to do with it on the screen."""

        def __init__(self, then: Callable[..., None], *found: Any) -> None:
            super().__init__()
            self.then = then
            self.found = found

    def __init__(
        self,
        open_engine: Callable[[], Engine],
        open_shop: Callable[[], Shop] | None = None,
        *,
        theme: str = themes.DEFAULT,
        keymap: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        for own in themes.THEMES:
            self.register_theme(own)
        self.theme = theme if theme in self.available_themes else themes.DEFAULT
        self.remapped = dict(keymap or {})
        if self.remapped:
            self.set_keymap({id: key for id, key in self.remapped.items() if id in keys.IDS})
        self.snapshot = Snapshot()
        self.turns: list[TurnDone] = []
        self.engine: Engine | None = None
        self.shop: Shop | None = None
        self._open_engine = open_engine
        self._open_shop = open_shop
        self._talk = Lane("ego-talk")
        self._look = Lane("ego-look")
        self._ticket = 0
        self._pending_words = ""  # the words of the turn under way
        self._cancel = threading.Event()
        self._interrupted_at = 0.0

    # --- layout

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        with Horizontal(id="body"):
            with Vertical(id="talk"):
                yield ChatLog(id="log")
                yield Strip(id="strip")
                yield Completions(id="completions")
                yield Prompt(id="prompt")
            yield Inspector(id="inspector")
        yield Footer(id="footer")

    def on_mount(self) -> None:
        self.query_one(Prompt).focus()
        self._talk.start()
        self._look.start()
        self.call_after_refresh(self._open)

    @property
    def busy(self) -> bool:
        """True while a turn is under way."""
        return bool(self._pending_words)

    @property
    def log_view(self) -> ChatLog:
        return self._main.query_one(ChatLog)

    @property
    def prompt(self) -> Prompt:
        return self._main.query_one(Prompt)

    @property
    def _main(self) -> Screen[Any]:
        return self.screen_stack[0]

    # --- the engine's side

    def _open(self) -> None:
        def job() -> None:
            try:
                engine = self._open_engine()
                found = (engine, engine.history(), engine.nudges(), engine.memories())
            except EgoError as error:
                self.post_message(self.Told(self._not_opened, str(error)))
            except Exception as error:  # whatever breaks while opening, the person gets a line and a way out
                self.post_message(self.Told(self._not_opened, _unexpected(error)))
            else:
                self.post_message(self.Told(self._opened, *found))

        self._talk.put(job)

    def _opened(
        self, engine: Engine, history: tuple[TurnDone, ...], nudges: tuple[str, ...], memory: Any
    ) -> None:
        self.engine = engine
        for done in history:
            self.log_view.say_you(done.text)
            self.log_view.finish(done)
            self.prompt.remember(done.text)
            self.turns.append(done)
            self.snapshot = fold(self.snapshot, done)
        self._show(
            replace(
                self.snapshot,
                nudges=nudges,
                memory=memory,
                model=engine.model,
                token_budget=engine.token_budget,
                state=engine.state(),
            )
        )
        header = self._main.query_one(Header)
        header.catalogue, header.user, header.model, header.ready = (
            engine.catalogue,
            engine.user,
            engine.model,
            True,
        )
        if not history:
            self.log_view.greet(engine.catalogue)
            if nudges:
                self.log_view.say_notice(Notice(nudges[0]))

    def _not_opened(self, error: str) -> None:
        self._main.query_one(Header).failed = True
        self.log_view.say_notice(Notice(error, "error"))

    def ask(self, words: str) -> None:
        """Send one message through the pipe."""
        if self._pending_words:
            self.stop_reply(give_back=False)
        self._ticket += 1
        self._pending_words = words
        self._cancel = threading.Event()
        self.log_view.say_you(words)
        self._show(replace(self.snapshot, busy=True, stage="reading", notices=()))
        self._talk.put(partial(self._turn, words, self._ticket, self._cancel))

    def _turn(self, words: str, ticket: int, cancel: threading.Event) -> None:
        """Runs on the talk lane."""
        error = ""
        try:
            if self.engine is None:
                raise EgoError("the shop did not open", hint="/quit, then see `ego catalog list`")
            for event in self.engine.turn(words, cancel):
                if cancel.is_set():
                    break
                self.post_message(self.Came(ticket, event))
        except EgoError as known:
            error = str(known)
        except Exception as unknown:  # a stage of any kind may break; the talk goes on
            error = _unexpected(unknown)
        self.post_message(self.Ended(ticket, error))

    def on_ego_app_came(self, message: Came) -> None:
        if message.ticket != self._ticket or not self._pending_words:
            return
        event = message.event
        match event:
            case ReplyDelta(text=piece, restart=restart):
                self.log_view.stream(piece, restart)
            case Decided(decision=decision) if decision.groups and self.engine is not None:
                self.log_view.show_cards(self.engine.cards(decision, self.snapshot.state), decision.shown)
            case Notice():
                self.log_view.say_notice(event)
            case TurnDone():
                self.turns.append(event)
                self.log_view.finish(event)
            case _:
                pass
        self._show(fold(self.snapshot, event))
        if isinstance(event, TurnDone):
            self.refresh_memory()

    def on_ego_app_ended(self, message: Ended) -> None:
        if message.ticket != self._ticket or not self._pending_words:
            return
        words, self._pending_words = self._pending_words, ""
        if message.error:
            self.log_view.cut_short()
            self.log_view.say_notice(Notice(message.error, "error"))
            self.prompt.give_back(words)
        self._show(replace(self.snapshot, busy=False, stage=""))

    def on_ego_app_told(self, message: Told) -> None:
        message.then(*message.found)

    def stop_reply(self, *, give_back: bool = True) -> None:
        """Give the prompt back at once; the engine hears of it and drops the turn."""
        self._cancel.set()
        words, self._pending_words = self._pending_words, ""
        self.log_view.cut_short()
        if give_back:
            self.log_view.say_notice(Notice("stopped"))
            self.prompt.give_back(words)
        self._show(replace(self.snapshot, busy=False, stage=""))

    def do(self, work: Callable[[Engine], Any], then: Callable[[Any], None]) -> None:
        """Carry out ``work`` on the talk lane and ``then`` on the screen; a failure is one line."""

        def job() -> None:
            if self.engine is None:
                return
            try:
                self.post_message(self.Told(then, work(self.engine)))
            except EgoError as error:
                self.post_message(self.Told(self.warn, str(error)))
            except Exception as error:  # see _turn
                self.post_message(self.Told(self.warn, _unexpected(error)))

        self._talk.put(job)

    def look(self, work: Callable[[Shop], Any], then: Callable[[Any], None]) -> None:
        """The same for the catalogue, on a lane that no turn holds up."""

        def job() -> None:
            try:
                if self.shop is None:
                    if self._open_shop is None:
                        return
                    self.shop = self._open_shop()
                self.post_message(self.Told(then, work(self.shop)))
            except EgoError as error:
                self.post_message(self.Told(self.warn, str(error)))
            except Exception as error:  # see _turn
                self.post_message(self.Told(self.warn, _unexpected(error)))

        self._look.put(job)

    def warn(self, words: str) -> None:
        """One line in the chat."""
        self.log_view.say_notice(Notice(words, "warning"))

    def tell(self, words: str) -> None:
        """One quiet line in the chat."""
        self.log_view.say_notice(Notice(words))

    # --- the inspector's side

    def _show(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        main = self._main
        main.query_one(Inspector).snapshot = snapshot
        main.query_one(Strip).snapshot = snapshot
        header = main.query_one(Header)
        header.busy, header.stage, header.turn = snapshot.busy, snapshot.stage, snapshot.turn
        main.query_one(Footer).busy = snapshot.busy
        self.log_view.select(snapshot.selected)

    def refresh_memory(self) -> None:
        """Read the memory again: a turn or a key may have changed it."""
        self.do(
            lambda engine: (engine.memories(), engine.nudges()),
            lambda found: self._show(replace(self.snapshot, memory=found[0], nudges=found[1])),
        )

    def on_erased_pane_restore(self, message: ErasedPane.Restore) -> None:
        slot = message.erased.slot
        self.ask(f"keep the {slot.text or slot.words or slot.attribute} after all")

    def on_memory_pane_asked(self, message: MemoryPane.Asked) -> None:
        self.memory_deed(message.deed, message.row)

    def memory_deed(self, deed: str, row: MemoryRow) -> None:
        """Pin, edit or forget a memory, after asking where that is due."""
        if deed == "pin":
            self.do(lambda engine: engine.pin(row.id, not row.pinned), lambda _: self.refresh_memory())

    # --- messages of the parts

    def on_prompt_sent(self, message: Prompt.Sent) -> None:
        self.send(message.text)

    def send(self, line: str) -> None:
        """A line as typed: a number of an open question, a slash command, or talk."""
        options = self.log_view.options
        if line.isascii() and line.isdigit() and 1 <= int(line) <= len(options):
            self.ask(options[int(line) - 1])
        elif commands.is_command(line):
            try:
                self.carry_out(commands.parse(line))
            except EgoError as error:
                self.warn(str(error))
        else:
            self.ask(line)

    def carry_out(self, call: commands.Call) -> None:
        """Do what a slash command says."""
        action = getattr(self, f"command_{call.command.action}", None) if call.command.action else None
        if action is not None:
            action(call)
        else:
            self.ask(call.sentence)

    def on_prompt_typed(self, message: Prompt.Typed) -> None:
        completions = self._main.query_one(Completions)
        completions.choices, completions.choice = message.choices, self.prompt.choice

    def on_prompt_page(self, message: Prompt.Page) -> None:
        log = self.log_view
        log.scroll_page_up(animate=False) if message.step < 0 else log.scroll_page_down(animate=False)

    def on_prompt_help(self) -> None:
        self.command_help()

    def on_chat_log_step(self, message: ChatLog.Step) -> None:
        self.action_select(message.step)

    def on_chat_log_command(self, message: ChatLog.Command) -> None:
        number = self.snapshot.selected + 1
        self.send(f"/{message.name}" if message.name == "copy" else f"/{message.name} {number}")

    def on_card_view_picked(self, message: CardView.Picked) -> None:
        index = message.view.card.position - 1
        if not message.view.old:
            self._show(replace(self.snapshot, selected=index))
            self.log_view.select(index)
        if message.twice:
            self.action_details()

    # --- actions of keys

    def action_choose(self, number: int) -> None:
        options = self.log_view.options
        if 1 <= number <= len(options):
            self.ask(options[number - 1])

    def action_select(self, step: int) -> None:
        count = len(self.snapshot.shown)
        if not count:
            return
        index = max(0, min(count - 1, self.snapshot.selected + step))
        self._show(replace(self.snapshot, selected=index))
        self.log_view.select(index)

    def action_inspector(self) -> None:
        self._main.toggle_class("-flipped")
        if not self._inspector_open:
            self.prompt.focus()

    @property
    def _inspector_open(self) -> bool:
        return self._main.has_class("-wide") != self._main.has_class("-flipped")

    def action_switch(self) -> None:
        """Writing → chat → inspector → writing."""
        focused = self.focused
        if focused is self.prompt:
            self.log_view.focus()
        elif focused is self.log_view and self._inspector_open:
            self._main.query("Inspector Pane").first().focus()
        else:
            self.prompt.focus()

    def action_stop(self) -> None:
        if self._pending_words:
            self.stop_reply()
        elif self._main.has_class("-narrow") and self._inspector_open:
            self.action_inspector()
        self.prompt.focus()

    def action_interrupt(self) -> None:
        if selected := self.screen.get_selected_text():
            self.copy(selected)
            self.screen.clear_selection()
            return
        if self.focused is self.prompt and self.prompt.selected_text:
            self.copy(self.prompt.selected_text)
            return
        now = time.monotonic()
        if now - self._interrupted_at < LEAVE_WITHIN_S:
            self.leave()
            return
        self._interrupted_at = now
        if self._pending_words:
            self.stop_reply()
        elif self.prompt.text:
            self.prompt.text = ""
        self.notify("press again to leave", timeout=LEAVE_WITHIN_S)

    def action_details(self) -> None:
        if chosen := self.snapshot.chosen:
            self.show_product(chosen.product.id)

    def show_product(self, product_id: str) -> None:
        """The screen with everything about one product."""

    def command_help(self, _: commands.Call | None = None) -> None:
        """The screen with commands and keys."""

    def command_quit(self, _: commands.Call | None = None) -> None:
        self.leave()

    def copy(self, words: str) -> None:
        """Put words on the clipboard by OSC 52 and be honest about it: nothing answers whether it arrived."""
        self.copy_to_clipboard(words)
        self.notify(
            "Sent to the clipboard. Should it not arrive, your terminal does not take OSC 52.", timeout=4
        )

    async def action_quit(self) -> None:
        self.leave()

    def leave(self, code: int = 0) -> None:
        """End the program; what was said is kept already."""
        self._cancel.set()
        if self.engine is not None:
            self._talk.put(self.engine.close)
        if self.shop is not None:
            self._look.put(self.shop.close)
        self.exit(code)

    def on_unmount(self) -> None:
        self._talk.stop(CLOSE_WAIT_S)
        self._look.stop(0.2)

    def on_resize(self, _: events.Resize) -> None:
        self._main.remove_class("-flipped") if self._main.has_class("-wide") else None


def _unexpected(error: Exception) -> str:
    """One line for what nobody foresaw; the traceback goes where ``--debug`` asks for it."""
    if os.environ.get("EGO_DEBUG"):
        import logging

        logging.getLogger("ego").exception("in the screen's engine")
    return f"something broke: {type(error).__name__}: {error}. Try again, or start ego with --debug."
