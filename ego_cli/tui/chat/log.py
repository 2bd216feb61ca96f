"""The list of messages: it grows at the end, follows only a reader who is there, and keeps only so much on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from ego_cli.tui import keys
from ego_cli.tui.chat.card import CardView
from ego_cli.tui.drawing import MUTED, stack, table, text, wrap

if TYPE_CHECKING:
    from ego_cli.conversation.events import Card, Decision, Question, Reply, TurnDone

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
    FOCUS_ON_CLICK = False  # who clicks a card goes on writing

    class Command(Message):
        """A key in the list asks for a slash command about the selected product."""

        def __init__(self, name: str, numbered: bool = True) -> None:
            super().__init__()
            self.name = name
            self.numbered = numbered

    class Step(Message):
        """Move the selection."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lead: Said | None = None  # the words of the reply that is being given
        self._streaming = False
        self._list: list[Widget] = []  # the list of the reply that is being given: headings and cards
        self._cards: list[CardView] = []  # what "number 2" means
        self._before: list[CardView] = []  # what it meant before this reply
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

    def start_over(self) -> None:
        """An empty list, for another conversation."""
        self.remove_children()
        self._lead, self._list, self._cards, self._chips, self._at_end = None, [], [], None, True

    def greet(self, catalogue: str) -> None:
        """The first words of a new conversation."""
        self._add(Said("ego", f"Hello. What are you looking for in {catalogue}?", classes="ego"))

    def say_you(self, words: str) -> None:
        """The shopper's message; answers of an open question step back."""
        self.close_question()
        self._lead, self._streaming, self._list = None, False, []
        self._at_end = True  # who writes wants to see the answer
        self._add(Said("you", words, classes="you"))

    def stream(self, words: str, restart: bool) -> None:
        """A piece of the words above the list, as a model writes them."""
        if self._lead is None:
            self._say_lead(words)
        else:
            self._lead.words = words if restart or not self._streaming else self._lead.words + words
        self._streaming = True
        if self._at_end:
            self._follow()

    def show_reply(self, reply: Reply, decision: Decision) -> None:
        """Words above the list and the list, as soon as they are decided."""
        if words := _above(reply, decision):
            self._say_lead(words)
        if reply.cards:
            self._show_cards(reply.cards, decision)

    def finish(self, done: TurnDone) -> None:
        """The whole reply: what ``show_reply`` shows, a table, the words below, and the question's answers."""
        reply, decision = done.reply, done.decision
        self.show_reply(reply, decision)
        widgets: list[Widget] = []
        if decision.table:
            widgets.append(Table(decision.table))
        tail = _below(reply, decision.question)
        if tail and _above(reply, decision) != reply.tail:
            alone = self._lead is None and not reply.cards
            widgets.append(Said("ego" if alone else "", tail, classes="ego"))
        if decision.question and decision.question.options:
            self._chips = Chips(decision.question)
            widgets.append(self._chips)
        self._add(*widgets)
        self._lead, self._list = None, []

    def _show_cards(self, cards: tuple[Card, ...], decision: Decision) -> None:
        if self._list and [view.card for view in self._cards] == list(cards):
            return
        self._before = self._cards
        for view in self._before:
            view.old, view.selected = True, False
        by_id = {scored.product.id: scored for scored in decision.shown}
        self._cards = [CardView(card, by_id.get(card.id)) for card in cards]
        widgets: list[Widget] = []
        for group in decision.groups if len(decision.groups) > 1 else ():
            widgets.append(Said("", group.lead or group.label, style="bold $secondary", classes="group"))
            widgets += [view for view in self._cards if view.card.group == group.label]
        self._list = widgets or [*self._cards]
        self._add(*self._list)

    def _say_lead(self, words: str) -> None:
        if self._lead is not None:
            self._lead.words = words
            return
        self._lead = Said("ego", words, classes="ego")
        if self._list:
            self.mount(self._lead, before=self._list[0])
        else:
            self._add(self._lead)

    def say_notice(self, words: str, level: str = "info") -> None:
        """One line beside the talk: a fallback, a failed stage, a result of a command."""
        mark = {"warning": "!", "error": "✗"}.get(level, "·")
        style = {"warning": "$warning", "error": "$error"}.get(level, MUTED)
        self._add(Said(f"  {mark}", words, style=style, classes="notice"))

    def cut_short(self) -> None:
        """The reply ended before its time: a list that came with it goes again, words that were written stay, marked."""
        if self._list:
            self.remove_children(self._list)
            self._cards, self._list = self._before, []
            for view in self._cards:
                view.old = False
        if self._lead is not None and self._streaming:
            self._lead.words += " …"
        elif self._lead is not None:
            self._lead.remove()
        self._lead = None

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
        self.post_message(self.Command("copy", numbered=False))


def _above(reply: Reply, decision: Decision) -> str:
    """The words above the list; all of them where there is no list."""
    groups = decision.groups
    if not reply.cards and not groups:
        return reply.lead or ("" if decision.table else reply.text)
    own = groups[0].lead if len(groups) == 1 else ""
    return "\n".join(dict.fromkeys(words for words in (reply.lead, own) if words))


def _below(reply: Reply, question: Question | None) -> str:
    """The words below the list; a question's answers are left to its chips."""
    if question is None or not question.options:
        return reply.tail
    before, asked, _ = reply.tail.partition(question.text)
    return f"{before}{asked}" if asked else reply.tail
