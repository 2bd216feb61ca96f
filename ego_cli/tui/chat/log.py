"""The list of messages: it grows at the end, follows only a reader who is there, and keeps only so much on the screen."""

from __future__ import annotations

from textual import events
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from ego_cli.conversation.events import Card, Notice, Question, Reply, TurnDone
from ego_cli.ranking.scored import Scored
from ego_cli.tui import keys
from ego_cli.tui.chat.card import CardView
from ego_cli.tui.drawing import MUTED, stack, table, text, wrap

_NAME = 6  # cells of the speaker's column
NEAR_END = 3  # lines from the end within which a reader is followed
MESSAGES_KEPT = 400  # widgets on the screen; the transcript keeps everything


class Said(Widget):
    """Someone's words, with the speaker's name at the left of the first line."""

    words: reactive[str] = reactive("", layout=True)

    def __init__(self, who: str, words: str, *, style: str = "", classes: str = "") -> None:
        super().__init__(classes=classes)
        self.who = who
        self.style_of_words = style
        self.set_reactive(Said.words, words)

    def _lines(self, width: int) -> list[Content]:
        name = text(self.who.ljust(_NAME), "bold $accent" if self.who == "you" else "bold $primary")
        pieces = wrap(text(self.words, self.style_of_words), max(width - _NAME, 10))
        return [name + pieces[0], *(Content(" " * _NAME) + piece for piece in pieces[1:])]

    def render(self) -> Content:
        return stack(self._lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))


class Table(Widget):
    """A comparison in columns."""

    def __init__(self, rows: tuple[tuple[str, ...], ...]) -> None:
        super().__init__()
        self.rows = rows

    def render(self) -> Content:
        return stack(table(self.rows, self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows)


class Chips(Widget):
    """The answers of a question, to be chosen by number, Alt+number or click."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question

    def render(self) -> Content:
        chips = []
        for number, option in enumerate(self.question.options[:9], start=1):
            chips.append(
                Content.from_markup(
                    f"[@click=app.choose({number})][$accent bold]{number}[/] $option[/]", option=option
                )
            )
        return Content("   ").join(chips)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.render().get_height({}, max(width, 1)) if self.question.options else 0


class ChatLog(VerticalScroll, can_focus=True):
    """All messages of the conversation."""

    BINDINGS = keys.bindings("chat")

    class Command(Message):
        """A key in the list asks for a slash command about the selected product."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Step(Message):
        """Move the selection."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._reply: Said | None = None
        self._cards: list[CardView] = []
        self._chips: Chips | None = None
        self._at_end = True

    # --- adding

    @property
    def near_end(self) -> bool:
        """True while the reader is at the end, give or take a few lines: then new words are followed."""
        return self.max_scroll_y - self.scroll_y <= NEAR_END

    def _follow(self) -> None:
        self.scroll_end(animate=False)

    def on_resize(self, event: events.Resize) -> None:
        if self._at_end:
            self._follow()

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self._at_end = self.near_end

    def _add(self, *widgets: Widget) -> None:
        follow = self._at_end
        self.mount(*widgets)
        if follow:
            self._follow()
        surplus = len(self.children) - MESSAGES_KEPT
        if surplus > 0:
            self.remove_children(list(self.children)[:surplus])

    def greet(self, catalogue: str) -> None:
        """The first words of a new conversation."""
        self._add(Said("ego", f"Hello. What are you looking for in {catalogue}?", classes="ego"))

    def say_you(self, words: str) -> None:
        """The shopper's message; what was on the screen before steps back."""
        self.close_question()
        for card in self._cards:
            card.old = True
            card.selected = False
        self._reply = None
        self._at_end = True  # who writes wants to see the answer
        self._add(Said("you", words, classes="you"))

    def stream(self, words: str, restart: bool) -> None:
        """A piece of the reply that is being written."""
        if self._reply is None:
            self._reply = Said("ego", words, classes="ego")
            self._add(self._reply)
        else:
            self._reply.words = words if restart else self._reply.words + words
            if self._at_end:
                self._follow()

    def show_cards(self, cards: tuple[Card, ...], shown: tuple[Scored, ...]) -> None:
        """The list, as soon as it is decided; again with the same cards changes nothing."""
        if [view.card for view in self._cards if not view.old] == list(cards):
            return
        by_id = {scored.product.id: scored for scored in shown}
        self._cards = [CardView(card, by_id.get(card.id)) for card in cards]
        widgets: list[Widget] = []
        group = None
        for view in self._cards:
            if view.card.group and view.card.group != group:
                group = view.card.group
                widgets.append(Said("", group, style="bold $secondary", classes="group"))
            widgets.append(view)
        self._add(*widgets)

    def finish(self, done: TurnDone) -> None:
        """The whole reply: words above the cards, cards, table, words below, and the question's answers."""
        reply = done.reply
        lead = _lead(reply)
        if lead:
            self._say_lead(lead)
        if reply.cards:
            self.show_cards(reply.cards, done.decision.shown)
        widgets: list[Widget] = []
        if done.decision.table:
            widgets.append(Table(done.decision.table))
        if reply.tail and reply.tail != lead:
            widgets.append(Said("" if lead or reply.cards else "ego", reply.tail, classes="ego tail"))
        question = done.decision.question
        if question and question.options:
            self._chips = Chips(question)
            widgets.append(self._chips)
        self._add(*widgets)
        self._reply = None

    def _say_lead(self, lead: str) -> None:
        if self._reply is not None:
            self._reply.words = lead
            return
        self._reply = Said("ego", lead, classes="ego")
        fresh = [view for view in self._cards if not view.old]
        if fresh:
            self.mount(self._reply, before=fresh[0])
        else:
            self._add(self._reply)

    def say_notice(self, notice: Notice) -> None:
        """One line beside the talk: a fallback, a failed stage, a result of a command."""
        mark = {"warning": "!", "error": "✗"}.get(notice.level, "·")
        style = {"warning": "$warning", "error": "$error"}.get(notice.level, MUTED)
        self._add(Said(f"  {mark}", notice.text, style=style, classes="notice"))

    def cut_short(self) -> None:
        """The reply was stopped: what is there stays, marked."""
        if self._reply is not None and self._reply.words:
            self._reply.words += " …"
        self._reply = None
        self._cards = [view for view in self._cards if view.is_attached]

    # --- question and selection

    def close_question(self) -> None:
        """Answers of an old question can no longer be chosen."""
        if self._chips is not None:
            self._chips.remove()
            self._chips = None

    @property
    def options(self) -> tuple[str, ...]:
        """The answers that a number chooses now."""
        return self._chips.question.options if self._chips else ()

    def select(self, index: int) -> None:
        """Mark the card at this 0-based position of the newest list."""
        for number, view in enumerate(self._cards):
            view.selected = number == index
            if number == index and self.has_focus:
                view.scroll_visible(animate=False)

    def action_step(self, step: int) -> None:
        if self._cards:
            self.post_message(self.Step(step))
        else:
            self.scroll_relative(y=step, animate=False)

    def action_edge(self, step: int) -> None:
        if step < 0:
            self.scroll_home(animate=False)
        else:
            self.scroll_end(animate=False)

    def action_open(self) -> None:
        self.post_message(self.Command("details"))

    def action_why(self) -> None:
        self.post_message(self.Command("why"))

    def action_copy(self) -> None:
        self.post_message(self.Command("copy"))


def _lead(reply: Reply) -> str:
    if reply.lead:
        return reply.lead
    return "" if reply.cards else (reply.text if not reply.tail else "")
