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
            yield Input(placeholder="a number, your own words, or Enter to skip", compact=True)
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
        if question.many:
            lines += [Content(""), text("several: 1 3", MUTED)]
        self.query_one("#question", Static).update(stack(lines))
        said = [
            text(f"{q.text}  ", FAINT) + text(self.answers[q.id])
            for q in self.questions
            if q.id in self.answers
        ]
        self.query_one("#said", Static).update(stack(said))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        question = self.questions[self.at]
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
    words = typed.strip()
    parts = words.replace(",", " ").split()
    if question.options and parts and all(part.isascii() and part.isdigit() for part in parts):
        picked = [
            question.options[int(part) - 1] for part in parts if 1 <= int(part) <= len(question.options)
        ]
        return ", ".join(picked if question.many else picked[:1])
    return words
