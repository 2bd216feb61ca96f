"""What the screen promises while one talks: held with a pilot's keys against a scripted engine."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted import (
    DECISION,
    FIRST,
    QUESTION,
    SCORED,
    SECOND,
    STATE_TWO,
    ScriptedEngine,
    ScriptedShop,
    broken,
    turn_done,
)
from staging import idle, make_app, settle, until
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Input

from ego_cli.conversation.events import Decision, Event, Notice, TurnDone
from ego_cli.tui.app import EgoApp
from ego_cli.tui.chat.card import CardView
from ego_cli.tui.chat.log import ChatLog, Chips, Said, Table
from ego_cli.tui.inspector import Inspector
from ego_cli.tui.inspector.understood import ErasedPane
from ego_cli.tui.listing import Item, Listing
from ego_cli.tui.screens.memory import MemoryScreen
from ego_cli.tui.screens.product import ProductScreen

WIDE = (120, 40)
NARROW = (80, 24)


def said(app: EgoApp, who: str) -> list[str]:
    """What ``who`` said, oldest first."""
    return [widget.words for widget in app.log_view.query(Said) if widget.who.strip() == who]


def notices(app: EgoApp) -> list[str]:
    """The lines beside the talk."""
    return [widget.words for widget in app.log_view.query(".notice").results(Said)]


async def type_line(pilot: Pilot[Any], words: str) -> None:
    """Type on the prompt, key by key, and send."""
    app = pilot.app
    assert isinstance(app, EgoApp)
    app.prompt.focus()
    for letter in words:
        await pilot.press({" ": "space", "/": "slash"}.get(letter, letter))
    await pilot.press("enter")
    await settle(pilot)


async def test_work_behind_the_conversation_is_one_quiet_line() -> None:
    engine = ScriptedEngine(beside="sentence vectors 12%")
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await until(pilot, lambda: "sentence vectors 12% · " in str(app.header.render()))
        engine.beside = ""
        await until(pilot, lambda: "vectors" not in str(app.header.render()))


async def test_leaving_while_something_goes_on_behind_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ego_cli.tui.talk.BEHIND_S", 0.002)
    for _ in range(5):  # the clock strikes while the screen is taken down
        app = make_app(ScriptedEngine(beside="sentence vectors 12%"))
        async with app.run_test(size=WIDE) as pilot:
            await settle(pilot)


async def test_ten_turns_with_override_undo_restore_why_compare_and_forget() -> None:
    compared = replace(
        DECISION, question=None, groups=(), table=(("", "1", "3"), ("price", "₦18,500", "₦19,950"))
    )
    script = (
        FIRST,
        SECOND,  # the override: 10000 mAh goes, 20000 mAh comes
        turn_done(3, "", state=replace(STATE_TWO, erased=(), turn=3), lead="Back to 10000 mAh."),  # undo
        turn_done(4, "", lead="Understood: at least 20000 mAh."),
        turn_done(5, "", state=replace(STATE_TWO, erased=(), turn=5), lead="10000 mAh is back."),  # restore
        turn_done(
            6, "", lead="Number 2 is under your budget and white.", decision=Decision(answer="…")
        ),  # why
        turn_done(7, "", lead="Here they are side by side:", decision=compared),
        turn_done(8, "", lead="Forgotten.", decision=Decision()),
        turn_done(9, "", lead="The next three:"),
        turn_done(10, "", lead="In your basket.", decision=Decision()),
    )
    engine = ScriptedEngine(script)
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank under 20k")
        await type_line(pilot, "actually make it bigger")
        await idle(pilot)
        erased = app.query_one(ErasedPane)
        assert erased.snapshot.state.erased[0].by == "actually make it bigger"
        await type_line(pilot, "/undo")
        assert app.query_one(ErasedPane).snapshot.state.erased == ()
        await type_line(pilot, "make it bigger")
        erased.focus()
        await pilot.press("r")
        await settle(pilot)
        await type_line(pilot, "/why 2")
        await type_line(pilot, "compare 1 and 3")
        assert app.log_view.query(Table)
        await type_line(pilot, "/forget that I like white")
        await type_line(pilot, "/more")
        await type_line(pilot, "add the second")
    assert engine.heard == [
        "power bank under 20k",
        "actually make it bigger",
        "undo",
        "make it bigger",
        "keep the 10,000 mAh after all",
        "why number 2?",
        "compare 1 and 3",
        "forget that I like white",
        "show more",
        "add the second",
    ]
    assert engine.closed


async def test_words_cards_and_question_come_in_the_order_in_which_they_are_read() -> None:
    app = make_app(ScriptedEngine((SECOND,)))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        kinds = [type(widget).__name__ for widget in app.log_view.children]
        assert kinds[-6:] == ["Said", "CardView", "CardView", "CardView", "Said", "Chips"]
        assert said(app, "ego")[-1] == "Understood: at least 20000 mAh, white. Three of nine:"


async def test_words_are_shown_while_they_are_written_and_above_the_list() -> None:
    pieces = ("Three ", "white ones ", "of 20,000 mAh:")
    app = make_app(ScriptedEngine((SECOND,), pieces=pieces, pause=0.3))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.send("power bank")
        await until(pilot, lambda: said(app, "ego")[-1:] == ["Three white ones "])
        assert len(app.log_view.query(CardView)) == 3  # the list does not wait for the words
        kinds = [type(widget).__name__ for widget in app.log_view.children]
        assert kinds[-4:] == ["Said", "CardView", "CardView", "CardView"]
        await settle(pilot)
        assert said(app, "ego")[-1] == SECOND.reply.lead


async def test_a_question_is_answered_by_its_number() -> None:
    engine = ScriptedEngine((SECOND, FIRST))
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        await type_line(pilot, "2")
        assert engine.heard[-1] == QUESTION.options[1]
        assert not app.log_view.query(Chips)
        await type_line(pilot, "2")  # no question is open now: it is talk
        assert engine.heard[-1] == "2"


async def test_a_question_is_answered_by_alt_and_its_number_at_once() -> None:
    engine = ScriptedEngine((SECOND, FIRST))
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        await pilot.press("alt+3")
        await settle(pilot)
        assert engine.heard[-1] == QUESTION.options[2]


async def test_a_paste_of_many_lines_is_one_message() -> None:
    from textual.events import Paste

    engine = ScriptedEngine()
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.prompt.post_message(Paste("a dress\r\nshoes\rand a bag"))
        await pilot.pause()
        assert engine.heard == []
        await pilot.press("enter")
        await settle(pilot)
    assert engine.heard == ["a dress\nshoes\nand a bag"]


async def test_ctrl_j_makes_a_new_line_and_enter_sends() -> None:
    engine = ScriptedEngine()
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("a", "ctrl+j", "b")
        assert app.prompt.text == "a\nb"
        await pilot.press("enter")
        await settle(pilot)
    assert engine.heard == ["a\nb"]


async def test_arrows_bring_back_what_was_sent_and_then_the_draft() -> None:
    app = make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "one")
        await type_line(pilot, "two")
        await pilot.press("d", "up")
        assert app.prompt.text == "two"
        await pilot.press("up")
        assert app.prompt.text == "one"
        await pilot.press("down", "down")
        assert app.prompt.text == "d"


async def test_a_slash_is_completed_and_a_slip_is_answered_with_the_nearest_command() -> None:
    engine = ScriptedEngine()
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("slash", "u", "n", "tab")
        assert app.prompt.text == "/undo"
        await pilot.press("enter")
        await settle(pilot)
        assert engine.heard == ["undo"]
        app.send("/wyh 2")
        assert "did you mean /why?" in notices(app)[-1]


async def test_escape_stops_a_reply_and_gives_the_words_back() -> None:
    engine = ScriptedEngine((2.0,))
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.send("a slow question")
        await until(pilot, lambda: bool(engine.heard))
        await pilot.press("escape")
        assert not app.talk.busy  # type: ignore[union-attr]
        assert app.prompt.text == "a slow question"
        assert notices(app)[-1] == "stopped"
        await asyncio.sleep(2.2)  # what the engine says afterwards is not shown
        await pilot.pause()
        assert not app.log_view.query(CardView)


class DoneAsItIsStopped(ScriptedEngine):
    """Has put the turn away when the stop arrives."""

    def turn(self, text: str, cancel: threading.Event | None = None) -> Iterator[Event]:
        for event in super().turn(text, cancel):
            if isinstance(event, TurnDone) and cancel is not None:
                cancel.wait(10)
            yield event


async def test_a_turn_that_was_done_when_it_was_stopped_is_shown() -> None:
    engine = DoneAsItIsStopped((FIRST,))
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.send("power bank")
        await until(pilot, lambda: bool(app.log_view.query(CardView)))
        await pilot.press("escape")
        await until(pilot, lambda: "too late to stop: power bank" in notices(app))
        assert app.log_view.query(CardView) and app.prompt.text == ""
        assert app.talk.snapshot.state == FIRST.state  # type: ignore[union-attr]


async def test_what_the_ranking_has_to_tell_is_told_once() -> None:
    told = tuple(replace(ranked, notes=("nothing here says purple",)) for ranked in FIRST.ranked)
    app = make_app(ScriptedEngine((replace(FIRST, ranked=told), replace(SECOND, ranked=told))))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        for line in ("purple power bank", "bigger"):
            app.send(line)
            await until(pilot, lambda: not app.talk.busy)  # type: ignore[union-attr]
        await pilot.pause()
        assert notices(app).count("nothing here says purple") == 1


async def test_a_list_of_a_reply_that_was_stopped_is_not_what_numbers_mean() -> None:
    only_kolo = replace(DECISION, groups=(replace(DECISION.groups[0], items=SCORED[1:2]),))
    script = (FIRST, turn_done(2, "", decision=only_kolo))
    engine = ScriptedEngine(script)
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        engine.pieces, engine.pause = ("One ", "moment "), 0.5
        app.send("a white one")
        await until(pilot, lambda: len(app.log_view.query(CardView)) == 4)
        await pilot.press("escape")
        await pilot.pause()
        assert [view.card.id for view in app.log_view.query(CardView)] == ["p1", "p2", "p3"]
        assert not any(view.old for view in app.log_view.query(CardView))
        assert app.query_one(Inspector).snapshot.state == FIRST.state
        assert len(app.query_one(Inspector).snapshot.listed) == 3


async def test_what_is_stopped_never_answers_for_the_next_message() -> None:
    engine = ScriptedEngine((0.5, SECOND))
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.send("slow")
        await until(pilot, lambda: engine.heard == ["slow"])
        app.send("quick")
        await settle(pilot)
        assert [done.text for done in app.talk.turns] == ["quick"]  # type: ignore[union-attr]


async def test_keys_are_answered_while_a_turn_takes_five_seconds() -> None:
    engine = ScriptedEngine((5.0,))
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.send("slow")
        await until(pilot, lambda: bool(engine.heard))
        await pilot.press(*"hello")
        assert app.prompt.text == "hello"
        assert app.talk.busy  # type: ignore[union-attr]
        await pilot.press("escape")


async def test_a_failing_stage_is_one_line_and_the_prompt_comes_back() -> None:
    engine = ScriptedEngine((broken(), FIRST))
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        assert notices(app)[-1] == "the memory file is locked (close the other ego)"
        assert app.prompt.text == "power bank"
        await pilot.press("enter")
        await settle(pilot)
        assert len(app.log_view.query(CardView)) == 3


async def test_something_unforeseen_is_one_line_too() -> None:
    app = make_app(ScriptedEngine((ZeroDivisionError("division by zero"), FIRST)))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        assert notices(app)[-1].startswith("something broke: ZeroDivisionError")
        await pilot.press("enter")
        await settle(pilot)
        assert app.log_view.query(CardView)


async def test_a_shop_that_does_not_open_is_one_line_and_one_can_still_leave() -> None:
    def no_shop(catalogue: str, user: str) -> Any:
        raise broken("there is no catalogue called nowhere")

    app = EgoApp(no_shop, no_shop)  # type: ignore[arg-type]
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert notices(app) == ["there is no catalogue called nowhere (close the other ego)"]
        await type_line(pilot, "power bank")
        assert "did not open" in notices(app)[-1]
        app.send("/quit")
        await pilot.pause()
    assert app.return_code == 0


async def test_a_notice_of_a_stage_is_shown_beside_the_reply() -> None:
    fallback = Notice("the model did not answer in 8 s; this is the answer of the rules", "warning")
    app = make_app(ScriptedEngine((replace(FIRST, notices=(fallback,)),)))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        assert fallback.text in notices(app)


async def test_the_chat_follows_only_a_reader_who_is_at_its_end() -> None:
    app = make_app(ScriptedEngine((FIRST,) * 8))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for n in range(4):
            await type_line(pilot, f"turn {n}")
        log = app.query_one(ChatLog)
        assert log.max_scroll_y - log.scroll_y <= 3
        log.scroll_home(animate=False)
        await pilot.pause()
        app.tell("something beside the talk")
        await pilot.pause()
        assert log.scroll_y == 0


async def test_the_selected_product_is_the_one_whose_score_is_taken_apart() -> None:
    app = make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        await pilot.press("ctrl+n")
        assert app.query_one(Inspector).snapshot.chosen.product.id == "p2"  # type: ignore[union-attr]
        await pilot.click(list(app.log_view.query(CardView))[2])
        assert app.query_one(Inspector).snapshot.selected == 2
        await pilot.press("ctrl+t")
        await idle(pilot)
        assert isinstance(app.screen, ProductScreen) and app.screen.product_id == "p3"
        await pilot.press("escape")
        assert not isinstance(app.screen, ProductScreen)


async def test_a_memory_is_pinned_edited_and_forgotten_from_the_inspector() -> None:
    engine = ScriptedEngine()
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await idle(pilot)
        app.query_one("#memory").focus()
        await pilot.press("j", "j", "j", "p")  # past the pinned ones: the least faded of the rest
        await idle(pilot)
        assert engine.deeds[0][0] == "pin"
        await pilot.press("d", "y")
        await idle(pilot)
        assert engine.deeds[1][0] == "forget"
        await pilot.press("e", "end", "exclamation_mark", "enter")
        await idle(pilot)
        assert engine.deeds[2][0] == "edit" and engine.deeds[2][2].endswith("!")


async def test_forgetting_asks_first() -> None:
    engine = ScriptedEngine()
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.send("/memory")
        await idle(pilot)
        assert isinstance(app.screen, MemoryScreen)
        await pilot.press("d", "escape")
        await idle(pilot)
        assert engine.deeds == []
        await pilot.press("d", "y")
        await idle(pilot)
        assert [deed[0] for deed in engine.deeds] == ["forget"]


async def test_a_resumed_conversation_stands_where_it_was() -> None:
    app = make_app(ScriptedEngine(past=(FIRST, SECOND)))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert said(app, "you") == [FIRST.text, SECOND.text]
        assert app.query_one(Inspector).snapshot.state == SECOND.state
        await pilot.press("up")
        assert app.prompt.text == SECOND.text


async def test_export_writes_what_can_be_read_and_what_can_be_replayed(tmp_path: Path) -> None:
    from ego_cli.conversation.transcript import spoken

    app = make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        app.send(f"/export {tmp_path / 'talk.md'}")
        app.send(f"/export {tmp_path / 'talk.jsonl'}")
        await pilot.pause()
    text = (tmp_path / "talk.md").read_text(encoding="utf-8")
    assert "> power bank" in text and "1. **Voltara 20000mAh 22.5W Fast-Charge Power Bank** — ₦18,500" in text
    lines = (tmp_path / "talk.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(spoken(lines)) == ["power bank"]
    assert json.loads(lines[0])["shown"] == ["p1", "p2", "p3"]


async def test_copying_goes_to_the_clipboard_and_says_that_it_may_not_arrive() -> None:
    app = make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        await type_line(pilot, "/copy")
        assert app.clipboard.startswith("9 fit. The best three:")
        assert any("ignore" in str(note.message) for note in app._notifications)


async def test_keys_are_remapped_by_their_ids_and_an_unknown_id_is_named() -> None:
    app = make_app(keymap={"app.inspector": "f7", "app.no_such": "x"})
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        assert app.inspector_open
        await pilot.press("ctrl+o")
        assert app.inspector_open
        await pilot.press("f7")
        assert not app.inspector_open
        assert any("app.no_such" in line for line in notices(app))


@pytest.mark.parametrize(("columns", "beside"), [(80, False), (109, False), (110, True), (200, True)])
async def test_the_inspector_stands_beside_from_110_columns(columns: int, beside: bool) -> None:
    app = make_app()
    async with app.run_test(size=(columns, 30)) as pilot:
        await settle(pilot)
        assert app.inspector_open is beside


async def test_a_resize_in_the_middle_of_a_reply_loses_nothing() -> None:
    app = make_app(ScriptedEngine((0.6,)))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.send("power bank")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        await pilot.resize_terminal(40, 12)
        await settle(pilot)
        assert len(app.log_view.query(CardView)) == 3
        assert not app.inspector_open


async def test_ctrl_c_stops_then_empties_and_leaves_only_when_pressed_twice() -> None:
    app = make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("a", "ctrl+c")
        assert app.prompt.text == "" and app.is_running
        await pilot.press("ctrl+c")
        await pilot.pause()
    assert app.return_code == 0


async def test_quit_typed_as_in_a_shell_leaves() -> None:
    app = make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "Quit")
        await pilot.pause()
    assert app.return_code == 0


async def test_a_goodbye_says_how_to_leave() -> None:
    bye = replace(turn_done(1, "bye", lead="Goodbye, and happy shopping.", decision=Decision()), ended=True)
    app = make_app(ScriptedEngine((bye,)))
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "bye")
        assert notices(app)[-1].startswith("/quit leaves")
        assert app.is_running


async def test_a_catalogue_that_does_not_open_leaves_the_conversation_as_it_is() -> None:
    engine = ScriptedEngine()

    def open_engine(catalogue: str, user: str) -> Any:
        if catalogue:
            raise broken("no catalogue named 'nowhere'")
        return engine

    app = EgoApp(open_engine, lambda catalogue: None)  # type: ignore[arg-type, return-value]
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        app.send("/catalog nowhere")
        await settle(pilot)
        assert "no catalogue named 'nowhere'" in notices(app)[-1]
        await type_line(pilot, "make it bigger")
        assert engine.heard == ["power bank", "make it bigger"] and not engine.closed


async def test_another_catalogue_begins_another_conversation() -> None:
    first, second = ScriptedEngine(), ScriptedEngine(catalogue="boutique", waiting=())
    asked: list[tuple[str, str]] = []

    def open_engine(catalogue: str, user: str) -> Any:
        asked.append((catalogue, user))
        return second if catalogue == "boutique" else first

    app = EgoApp(open_engine, lambda catalogue: None)  # type: ignore[arg-type, return-value]
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        app.send("/catalog boutique")
        await until(pilot, lambda: app.talk.engine is second)  # type: ignore[union-attr]
        assert asked == [("", ""), ("boutique", "ada")]
        assert first.closed
        assert said(app, "you") == []


async def test_a_click_on_the_chat_does_not_take_the_keys_away() -> None:
    app = make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await type_line(pilot, "power bank")
        await pilot.click(app.log_view.query(CardView).first())
        await pilot.press("w", "h", "y")
        assert app.prompt.text == "why"


async def test_writing_begins_wherever_the_focus_is() -> None:
    app = make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.query_one("#timings").focus()
        await pilot.press("s", "o", "f", "a")
        assert app.prompt.text == "sofa" and app.focused is app.prompt


async def test_a_demo_is_played_line_by_line_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ego_cli.tui.talk.READ_AT_LEAST_S", 0.05)
    monkeypatch.setattr("ego_cli.tui.talk.WORDS_READ_PER_S", 1e6)
    engine = ScriptedEngine((FIRST, SECOND, 1.0))
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.send("/demo")
        await until(pilot, lambda: len(engine.heard) == 3)
        await pilot.press("escape")
        heard = list(engine.heard)
        await asyncio.sleep(1.3)
        await pilot.pause()
        assert engine.heard == heard


async def test_an_evaluation_is_started_from_its_screen() -> None:
    engine = ScriptedEngine()
    app = make_app(engine)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.send("/runs")
        await idle(pilot)
        await pilot.press("n")
        await until(pilot, lambda: ("run",) in engine.deeds)


async def test_a_command_typed_fast_is_the_one_that_was_typed() -> None:
    app = make_app()
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        await pilot.press("slash", "q", "u")
        app.prompt.insert("it")  # "/quiz" comes first among what "/qu" can become
        app.prompt._enter()
        await pilot.pause()
    assert app.return_code == 0


async def test_a_number_that_no_answer_has_asks_again() -> None:
    engine = ScriptedEngine()
    app = make_app(engine)
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        app.send("/quiz")
        await settle(pilot)
        first = app.screen.at  # type: ignore[attr-defined]
        await pilot.press("9", "enter")
        assert app.screen.at == first and app.screen.query_one(Input).value == "9"  # type: ignore[attr-defined]
        await pilot.press("backspace", "1", "enter")
        assert app.screen.at == first + 1  # type: ignore[attr-defined]


async def test_ten_thousand_memories_are_as_quick_to_move_in_as_ten() -> None:
    drawn: list[int] = []

    def line(width: int) -> list[Content]:
        drawn.append(width)
        return [Content("a memory")]

    class Long(App[None]):
        CSS = "Listing { height: auto; }"

        def compose(self) -> ComposeResult:
            with VerticalScroll(can_focus=False):
                yield Listing()

    app = Long()
    async with app.run_test(size=NARROW) as pilot:
        listing = app.query_one(Listing)
        listing.focus()
        listing.fill([Item(str(number), line, height=1) for number in range(10_000)])
        await pilot.pause()
        drawn.clear()
        await pilot.press("G")
        await pilot.pause()
        assert listing.current == "9999" and app.query_one(VerticalScroll).scroll_y > 9_000
        assert len(drawn) < 200


async def test_a_screen_that_is_opened_before_the_shop_is_filled_when_it_opens() -> None:
    ready = threading.Event()

    def slow(catalogue: str, user: str) -> ScriptedEngine:
        ready.wait(20)
        return ScriptedEngine()

    app = EgoApp(slow, lambda catalogue: ScriptedShop())
    async with app.run_test(size=NARROW) as pilot:
        app.send("/memory")
        await pilot.pause(0.2)
        assert app.screen.page.rows == ()  # type: ignore[attr-defined]
        ready.set()
        await until(pilot, lambda: bool(app.screen.page.rows))  # type: ignore[attr-defined]
