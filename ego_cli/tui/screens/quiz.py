"""The onboarding quiz: one question at a time, each can be skipped."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets._input import Input
from textual.widgets._static import Static

from ego_cli.tui.drawing import FAINT, MUTED, bar, stack, text
from ego_cli.tui.engine import QuizQuestion
from ego_cli.tui.screens.frame import FullScreen, KeyLine, Title


class QuizScreen(FullScreen):
    """Options by number (several where that makes sense) or own words; an empty line skips."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: tuple[QuizQuestion, ...] = ()
        self.answers: dict[str, str] = {}
        self.at = 0

    def compose(self) -> ComposeResult:
        yield Title("a short quiz")
        with VerticalScroll(classes="main quiz", can_focus=False):
            yield Static(id="question")
            yield Input(compact=True)
            yield Static(id="said")
        yield KeyLine("screen")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.talk.do(lambda engine: engine.quiz(), self._begin)

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape":
            event.stop()
            self._end()

    def _begin(self, questions: tuple[QuizQuestion, ...]) -> None:
        if not questions:
            self.dismiss()
            self.ego.tell("there is nothing to ask")
            return
        self.questions = questions
        self._show()

    def _show(self) -> None:
        question = self.questions[self.at]
        self.query_one(Title).remark = f"{self.at + 1} of {len(self.questions)}"
        lines = [
            bar(self.at / len(self.questions), 30),
            Content(""),
            text(question.text, "bold"),
            Content(""),
        ]
        lines += [
            text(f" {number}  ", "bold $accent") + text(option)
            for number, option in enumerate(question.options, 1)
        ]
        if question.many and question.options:
            lines += [Content(""), text("several: 1 3", MUTED)]
        own = "a number, your own words" if question.options else "your own words"
        self.query_one(Input).placeholder = f"{own}, or Enter to skip"
        self.query_one("#question", Static).update(stack(lines))
        said = [
            text(f"{q.text}  ", FAINT) + text(self.answers[q.id])
            for q in self.questions
            if q.id in self.answers
        ]
        self.query_one("#said", Static).update(stack(said))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        question = self.questions[self.at]
        if missing := unknown_number(question, event.value):
            self.notify(f"There is no {missing}: 1 to {len(question.options)}, or your own words.")
            return
        if answer := chosen(question, event.value):
            self.answers[question.id] = answer
        event.input.value = ""
        self.at += 1
        if self.at < len(self.questions):
            self._show()
        else:
            self._end()

    def _end(self) -> None:
        answers, ego, talk = dict(self.answers), self.ego, self.talk
        self.dismiss()
        if not answers:
            ego.tell("nothing kept")
            return

        def kept(count: int) -> None:
            ego.tell(f"kept {count} {'memory' if count == 1 else 'memories'}; /memory shows them")
            talk.refresh_memory()

        talk.do(lambda engine: engine.answer_quiz(answers), kept)


def chosen(question: QuizQuestion, typed: str) -> str:
    """The answer that was typed: numbers stand for options, anything else for itself."""
    numbers = _numbers(question, typed)
    if not numbers:
        return typed.strip()
    picked = [question.options[number - 1] for number in numbers if 1 <= number <= len(question.options)]
    return ", ".join(picked if question.many else picked[:1])


def unknown_number(question: QuizQuestion, typed: str) -> int | None:
    """A typed number that stands for no option, or None."""
    numbers = _numbers(question, typed)
    return next((number for number in numbers if not 1 <= number <= len(question.options)), None)


def _numbers(question: QuizQuestion, typed: str) -> list[int]:
    parts = typed.replace(",", " ").split()
    if not question.options or not all(part.isascii() and part.isdigit() for part in parts):
        return []
    return [int(part) for part in parts]
