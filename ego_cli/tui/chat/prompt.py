"""Where one writes: several lines, history, completion of slash commands; a paste of many lines is one message."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets._text_area import TextArea

from ego_cli.conversation.commands import Command, complete, is_name
from ego_cli.tui import keys
from ego_cli.tui.drawing import MUTED, cut, fit, stack, text

HISTORY_KEPT = 200  # messages that the arrow keys reach


class Prompt(TextArea):
    """The input. Enter sends, Ctrl+J makes a new line."""

    BINDINGS = keys.bindings("prompt")

    class Sent(Message):
        """One message, however many lines."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Typed(Message):
        """The words changed; ``choices`` are the commands that they can become."""

        def __init__(self, choices: tuple[Command, ...]) -> None:
            super().__init__()
            self.choices = choices

    class Page(Message):
        """Scroll the chat by a page."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Help(Message):
        """A question mark on an empty line."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(
            id=id,
            compact=True,
            highlight_cursor_line=False,
            placeholder="What are you looking for?  / for commands, ? for help",
        )
        self.sent: list[str] = []
        self.choices: tuple[Command, ...] = ()
        self.choice = 0
        self._at: int | None = None
        self._draft = ""

    def remember(self, line: str) -> None:
        """Put a sent message at the end of the history."""
        if line and (not self.sent or self.sent[-1] != line):
            self.sent = [*self.sent, line][-HISTORY_KEPT:]
        self._at = None

    def give_back(self, line: str) -> None:
        """Return the words of a message that was not answered, unless something else was typed meanwhile."""
        if not self.text.strip():
            self.text = line
            self.move_cursor(self.document.end)

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self._enter()
        elif event.key in ("tab", "up", "down") and self.choices:
            event.stop()
            event.prevent_default()
            self._choose(event.key)
        elif event.key == "up" and self.cursor_at_first_line:
            event.stop()
            event.prevent_default()
            self.action_history(-1)
        elif event.key == "down" and self.cursor_at_last_line:
            event.stop()
            event.prevent_default()
            self.action_history(1)
        elif event.key == "question_mark" and not self.text:
            event.stop()
            event.prevent_default()
            self.post_message(self.Help())
        else:
            await super()._on_key(event)

    def _enter(self) -> None:
        # Asked of the text itself: Enter may come before the message that the text has changed.
        choices = complete(self.text)
        if choices and not is_name(self.text[1:]):
            chosen = choices[self.choice if choices == self.choices else 0]
            self._fill(chosen)
            if chosen.arguments and not chosen.arguments.startswith("["):
                return  # it needs words: let her write them
        line = self.text.strip()
        if line:
            self.text = ""
            self.remember(line)
            self.post_message(self.Sent(line))

    def _choose(self, key: str) -> None:
        if key == "tab":
            choices = complete(self.text)
            if choices:
                self._fill(choices[self.choice if choices == self.choices else 0])
        else:
            self.choice = (self.choice + (1 if key == "down" else -1)) % len(self.choices)
            self.post_message(self.Typed(self.choices))

    def _fill(self, command: Command) -> None:
        self.text = f"/{command.name}" + (" " if command.arguments else "")
        self.move_cursor(self.document.end)

    def on_text_area_changed(self) -> None:
        choices = complete(self.text)
        if choices != self.choices:
            self.choice = 0
        self.choices = choices
        self.post_message(self.Typed(choices))

    async def _on_paste(self, event: events.Paste) -> None:
        # Carriage returns inside a paste are line ends, never "send".
        event.prevent_default()
        event.stop()
        words = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if result := self._replace_via_keyboard(words, *self.selection):
            self.move_cursor(result.end_location)
            self.focus()

    def action_newline(self) -> None:
        self.insert("\n")

    def action_history(self, step: int) -> None:
        if not self.sent:
            return
        if self._at is None:
            if step > 0:
                return
            self._draft, self._at = self.text, len(self.sent)
        goal = self._at + step
        if goal < 0:
            return
        if goal >= len(self.sent):
            self.text, self._at = self._draft, None
        else:
            self._at = goal
            self.text = self.sent[goal]
        self.move_cursor(self.document.end)

    def action_page(self, step: int) -> None:
        self.post_message(self.Page(step))

    def action_choose(self, number: int) -> None:
        self.app.call_later(self.app.run_action, f"choose({number})")


class Completions(Widget):
    """The commands that can be meant, above the prompt."""

    ROWS = 8

    choices: reactive[tuple[Command, ...]] = reactive((), layout=True)
    choice: reactive[int] = reactive(0)

    def render(self) -> Content:
        first = max(0, min(self.choice - self.ROWS + 1, len(self.choices) - self.ROWS))
        width = self.size.width
        lines = []
        for number, command in enumerate(self.choices[first : first + self.ROWS], start=first):
            usage = fit(text(command.usage, "bold $accent" if number == self.choice else "$primary"), 19)
            mark = text("› " if number == self.choice else "  ", "bold $accent")
            lines.append(cut(mark + usage + text(command.help, MUTED), width))
        return stack(lines)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return min(len(self.choices), self.ROWS)

    def watch_choices(self, choices: tuple[Command, ...]) -> None:
        self.display = bool(choices)
