"""The screen: a chat beside a live inspector.

What stands in this module is needed for the first frame. The conversation, the inspector's panes and the other
screens are imported once that frame has been painted.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.containers import Horizontal, Vertical

from ego_cli.conversation import commands
from ego_cli.errors import EgoError
from ego_cli.tui import keys, themes
from ego_cli.tui.chat.card import CardView
from ego_cli.tui.chat.log import ChatLog
from ego_cli.tui.chat.prompt import Completions, Prompt
from ego_cli.tui.frame import Footer, Header

if TYPE_CHECKING:
    from textual.screen import Screen

    from ego_cli.tui.engine import Engine, Shop
    from ego_cli.tui.talk import Talk

INSPECTOR_BESIDE = 110  # columns from which the inspector stands beside the chat; below it lies over it
_WIDTHS = [(0, "-narrow"), (INSPECTOR_BESIDE, "-wide")]  # classes of the screen, by columns
_HEIGHTS = [(0, "-low"), (32, "-high")]  # and by rows
LEAVE_WITHIN_S = 2.0  # two presses of Ctrl+C in this time leave
LEAVING = ("quit", "exit")  # typed alone, as in a shell


class EgoApp(App[int]):
    """One conversation on a screen.

    ``open_engine(catalogue, user)`` and ``open_shop(catalogue)`` are called on background threads; "" stands for the
    configured one. What they raise becomes one line in the chat. ``keymap`` maps binding ids to keys.
    """

    TITLE = "ego"
    CSS_PATH = Path(__file__).with_name("ego.tcss")
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS
    BINDINGS = keys.bindings("app")

    def __init__(
        self,
        open_engine: Callable[[str, str], Engine],
        open_shop: Callable[[str], Shop],
        *,
        theme: str = themes.DEFAULT,
        keymap: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        for own in themes.THEMES:
            self.register_theme(own)
        self.theme = theme if theme in self.available_themes else themes.DEFAULT
        self.remapped = {id: key for id, key in (keymap or {}).items() if id in keys.IDS}
        self.unknown_keys = keys.unknown(keymap or {})
        if self.remapped:
            self.set_keymap(self.remapped)
        self.open_engine = open_engine
        self.open_shop = open_shop
        self.talk: Talk | None = None
        self._early: list[str] = []  # lines sent before the conversation was there
        self._interrupted_at = 0.0
        self._alive: Callable[[], bool] | None = None
        self._look_s = 1.0

    # --- layout

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        with Horizontal(id="body"):
            with Vertical(id="talk"):
                yield ChatLog(id="log")
                yield Vertical(id="strip")
                yield Completions(id="completions")
                yield Prompt(id="prompt")
            yield Vertical(id="side")
        yield Footer(id="footer")

    def leave_unless(self, alive: Callable[[], bool], *, every_s: float) -> None:
        """Leave once ``alive`` says no; asked every ``every_s`` seconds. For a child of the web server."""
        self._alive, self._look_s = alive, every_s

    def on_mount(self) -> None:
        self.prompt.focus()
        self._leave_when_told()
        if self._alive is not None:
            self.set_interval(self._look_s, self._look_at_parent)
        self.call_after_refresh(self.start)

    def _leave_when_told(self) -> None:
        """A closed terminal (SIGHUP) and SIGTERM end the program as /quit does: files are put away first."""
        loop = asyncio.get_running_loop()
        for name in ("SIGHUP", "SIGTERM"):
            # Windows has no such handlers, and a loop outside the main thread (a test's) takes none.
            with suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(getattr(signal, name), self.leave)

    def _look_at_parent(self) -> None:
        if self._alive is not None and not self._alive():
            self.leave()

    async def start(self) -> None:
        """The first frame is on the screen: bring in everything else."""
        from ego_cli.tui.inspector import Inspector, Strip
        from ego_cli.tui.talk import Talk

        gc.enable()  # off since start.run
        gc.freeze()
        await self.main.query_one("#side").mount(Inspector(id="inspector"))
        await self.main.query_one("#strip").mount(Strip())
        self.talk = Talk(self, lambda: self.open_engine("", ""), lambda: self.open_shop(""))
        self.talk.open()
        for id in self.unknown_keys:
            self.warn(f"the configuration remaps {id}, which is no key of ego; /settings lists them")
        for line in self._early:
            self.send(line)

    @property
    def main(self) -> Screen[Any]:
        """The screen with chat and inspector, whatever lies on top of it."""
        return self.screen_stack[0]

    @property
    def header(self) -> Header:
        return self.main.query_one(Header)

    @property
    def footer(self) -> Footer:
        return self.main.query_one(Footer)

    @property
    def log_view(self) -> ChatLog:
        return self.main.query_one(ChatLog)

    @property
    def prompt(self) -> Prompt:
        return self.main.query_one(Prompt)

    # --- lines

    def send(self, line: str) -> None:
        """A line as typed: a number of an open question, a slash command, "quit" as in a shell, or talk."""
        if line.strip().lower() in LEAVING:
            self.leave()
            return
        if self.talk is None:
            self._early.append(line)
            return
        options = self.log_view.options
        if line.isascii() and line.isdigit() and 1 <= int(line) <= len(options):
            self.talk.ask(options[int(line) - 1])
        elif not commands.is_command(line):
            self.talk.ask(line)
        else:
            try:
                self.carry_out(commands.parse(line))
            except EgoError as error:
                self.warn(str(error))

    def carry_out(self, call: commands.Call) -> None:
        """Do what a slash command says: the screen's own action, or else the sentence that it stands for."""
        from ego_cli.tui.actions import ACTIONS

        if call.command.action:
            ACTIONS[call.command.action](self, call)
        elif self.talk is not None:
            self.talk.ask(call.sentence)

    def warn(self, words: str) -> None:
        """One line in the chat, and for a while above a screen that covers it."""
        self.log_view.say_notice(words, "warning")
        if self.screen is not self.main:
            self.notify(words, severity="warning")

    def tell(self, words: str) -> None:
        """One quiet line in the chat."""
        self.log_view.say_notice(words)

    def copy(self, words: str) -> None:
        """Put words on the clipboard by OSC 52 and be honest about it: nothing answers whether it arrived."""
        self.copy_to_clipboard(words)
        self.notify(
            "Sent to the clipboard by OSC 52. Some terminals ignore that; /export writes a file.", timeout=4
        )

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The palette: every slash command, and every theme."""
        for command in commands.COMMANDS:
            title = command.usage
            if command.arguments and not command.arguments.startswith("["):
                yield SystemCommand(title, command.help, partial(self._begin, f"/{command.name} "))
            else:
                yield SystemCommand(title, command.help, partial(self.send, f"/{command.name}"))
        yield SystemCommand("Inspector", "show or hide the inspector", self.action_inspector)
        for name in themes.ordered(self.available_themes):
            yield SystemCommand(f"Theme {name}", "change the colours", partial(self.send, f"/theme {name}"))

    def _begin(self, line: str) -> None:
        """A command that needs words is begun on the prompt."""
        self.prompt.focus()
        self.prompt.text = line
        self.prompt.move_cursor(self.prompt.document.end)

    # --- what the parts ask for

    def on_told(self, message: Any) -> None:
        message.then(*message.found)

    def on_prompt_sent(self, message: Prompt.Sent) -> None:
        if self.talk is not None:
            self.talk.play([])  # who writes has seen enough of a demo
        self.send(message.text)

    def on_prompt_typed(self, message: Prompt.Typed) -> None:
        completions = self.main.query_one(Completions)
        completions.choices, completions.choice = message.choices, self.prompt.choice

    def on_prompt_page(self, message: Prompt.Page) -> None:
        if message.step < 0:
            self.log_view.scroll_page_up(animate=False)
        else:
            self.log_view.scroll_page_down(animate=False)

    def on_prompt_help(self) -> None:
        self.send("/help")

    def on_chat_log_step(self, message: ChatLog.Step) -> None:
        self.action_select(message.step)

    def on_chat_log_command(self, message: ChatLog.Command) -> None:
        if self.talk is not None:
            number = f" {self.talk.snapshot.selected + 1}" if message.numbered else ""
            self.send(f"/{message.name}{number}")

    def on_card_view_picked(self, message: CardView.Picked) -> None:
        if message.view.old or self.talk is None:
            return
        self.talk.select(message.view.card.position - 1)
        if message.twice:
            self.action_details()

    def on_erased_pane_restore(self, message: Any) -> None:
        slot = message.erased.slot
        self.send(f"keep the {slot.text or slot.words or slot.attribute} after all")

    def on_memory_pane_asked(self, message: Any) -> None:
        from ego_cli.tui.actions import memory_deed

        memory_deed(self, message.deed, message.row)

    # --- keys

    def on_key(self, event: events.Key) -> None:
        """Letters that mean nothing where the focus is are the beginning of a message."""
        elsewhere = self.screen is self.main and self.focused is not self.prompt
        if elsewhere and event.is_printable and event.character and event.key not in self.active_bindings:
            event.stop()
            self.prompt.focus()
            self.prompt.insert(event.character)

    def action_choose(self, number: int) -> None:
        options = self.log_view.options
        if self.talk is not None and 1 <= number <= len(options):
            self.talk.ask(options[number - 1])

    def action_select(self, step: int) -> None:
        if self.talk is not None:
            self.talk.select(self.talk.snapshot.selected + step)

    def action_details(self) -> None:
        if self.talk is not None and self.talk.snapshot.listed:
            self.send(f"/details {self.talk.snapshot.selected + 1}")

    def action_inspector(self) -> None:
        self.main.toggle_class("-flipped")
        if not self.inspector_open:
            self.prompt.focus()

    @property
    def inspector_open(self) -> bool:
        return self.main.has_class("-wide") != self.main.has_class("-flipped")

    def action_switch(self) -> None:
        """Writing → chat → inspector → writing."""
        focused = self.focused
        if focused is self.prompt:
            self.log_view.focus()
        elif focused is self.log_view and self.inspector_open:
            self.main.query("Pane").first().focus()
        else:
            self.prompt.focus()

    def action_stop(self) -> None:
        if self.talk is not None and self.talk.busy:
            self.talk.stop()
        elif self.main.has_class("-narrow") and self.inspector_open:
            self.action_inspector()
        self.prompt.focus()

    def action_interrupt(self) -> None:
        marked = self.screen.get_selected_text() or (
            self.prompt.selected_text if self.focused is self.prompt else ""
        )
        if marked:
            self.copy(marked)
            self.screen.clear_selection()
            return
        now = time.monotonic()
        if now - self._interrupted_at < LEAVE_WITHIN_S:
            self.leave()
            return
        self._interrupted_at = now
        if self.talk is not None and self.talk.busy:
            self.talk.stop()
        elif self.prompt.text:
            self.prompt.text = ""
        self.notify("Press it again to leave.", timeout=LEAVE_WITHIN_S)

    async def action_quit(self) -> None:
        self.leave()

    def leave(self, code: int = 0) -> None:
        """End the program; what was said is kept already."""
        self.exit(code)

    def on_unmount(self) -> None:
        if self.talk is not None:
            self.talk.close()

    def on_resize(self, event: events.Resize) -> None:
        wide = event.size.width >= INSPECTOR_BESIDE
        if wide != self.main.has_class("-wide"):  # put away or open means the opposite on the other side
            self.main.remove_class("-flipped")
