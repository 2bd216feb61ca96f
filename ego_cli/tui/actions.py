"""What slash commands and keys of the panes do on the screen, one function an action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ego_cli.conversation import transcript
from ego_cli.errors import MisuseError
from ego_cli.places import config_file, data_file

if TYPE_CHECKING:
    from ego_cli.conversation.commands import Call
    from ego_cli.tui.app import EgoApp
    from ego_cli.tui.engine import MemoryRow
    from ego_cli.tui.talk import Talk


def _talk(app: EgoApp) -> Talk:
    if app.talk is None:
        raise MisuseError("the shop is not open yet")
    return app.talk


def _shown_id(app: EgoApp, number: int) -> str:
    shown = _talk(app).snapshot.listed
    if not 1 <= number <= len(shown):
        raise MisuseError(
            f"there is no number {number} on the list",
            hint=f"it has {len(shown)}" if shown else "it is empty",
        )
    return shown[number - 1].product.id


def details(app: EgoApp, call: Call) -> None:
    from ego_cli.tui.screens.product import ProductScreen

    app.push_screen(ProductScreen(_shown_id(app, call.numbers[0])))


def compare(app: EgoApp, call: Call) -> None:
    from ego_cli.tui.screens.compare import CompareScreen

    app.push_screen(CompareScreen([_shown_id(app, number) for number in dict.fromkeys(call.numbers)]))


def memory(app: EgoApp, call: Call) -> None:
    from ego_cli.tui.screens.memory import MemoryScreen

    app.push_screen(MemoryScreen())


def quiz(app: EgoApp, call: Call) -> None:
    from ego_cli.tui.screens.quiz import QuizScreen

    app.push_screen(QuizScreen())


def runs(app: EgoApp, call: Call) -> None:
    from ego_cli.tui.screens.runs import RunsScreen

    app.push_screen(RunsScreen())


def settings(app: EgoApp, call: Call) -> None:
    from ego_cli.tui.screens.settings import SettingsScreen

    app.push_screen(SettingsScreen())


def help_(app: EgoApp, call: Call) -> None:
    from ego_cli.tui.screens.help import HelpScreen

    app.push_screen(HelpScreen())


def catalog(app: EgoApp, call: Call) -> None:
    """Without a name the browser; with one, a conversation over that catalogue."""
    if call.words:
        talk = _talk(app)
        user = talk.engine.user if talk.engine else ""
        talk.reopen(lambda: app.open_engine(call.words, user), lambda: app.open_shop(call.words))
        return
    from ego_cli.tui.screens.catalogue import CatalogueScreen

    app.push_screen(CatalogueScreen())


def user(app: EgoApp, call: Call) -> None:
    """Without a name who there is; with one, a conversation as that shopper."""
    talk = _talk(app)
    name = talk.engine.catalogue if talk.engine else ""
    if call.words:
        talk.reopen(lambda: app.open_engine(name, call.words), lambda: app.open_shop(name))
        return

    def told(users: tuple[str, ...]) -> None:
        here = talk.engine.user if talk.engine else ""
        others = ", ".join(other for other in users if other != here)
        app.tell(
            f"you shop as {here}"
            + (f"; there are also {others}" if others else "")
            + ". /user NAME changes that"
        )

    talk.do(lambda engine: engine.users(), told)


def demo(app: EgoApp, call: Call) -> None:
    """Plays a script of ``data/demos`` over the catalogue that it names."""
    scripts = {path.stem: path for path in sorted(data_file("demos").glob("*.txt"))}
    name = call.words or next(iter(scripts), "")
    if name not in scripts:
        raise MisuseError(f"there is no demo {name}", hint=f"there are {', '.join(scripts)}")
    lines = scripts[name].read_text(encoding="utf-8").splitlines()
    catalogue = next((line.split(maxsplit=1)[1] for line in lines if line.startswith("@catalog ")), "")
    spoken = [line for line in lines if line.strip() and not line.startswith(("#", "@"))]
    talk = _talk(app)
    user = talk.engine.user if talk.engine else ""
    talk.reopen(lambda: app.open_engine(catalogue, user), lambda: app.open_shop(catalogue))
    talk.play(spoken)


def nudges(app: EgoApp, call: Call) -> None:
    waiting = _talk(app).snapshot.nudges
    for nudge in waiting:
        app.tell(nudge)
    if not waiting:
        app.tell("nothing to bring up")


def usage(app: EgoApp, call: Call) -> None:
    snapshot = _talk(app).snapshot
    spent = snapshot.spending
    if not spent.calls:
        app.tell("no tokens used: rules only")
        return
    app.tell(
        f"{spent.prompt_tokens:,} tokens in, {spent.completion_tokens:,} out, ${spent.cost_usd:.4f}"
        f" in {spent.calls} calls; {spent.cached} from the cache, {spent.fallbacks} fallbacks"
    )


def export(app: EgoApp, call: Call) -> None:
    talk = _talk(app)
    if not talk.turns:
        raise MisuseError("nothing was said yet")
    path = Path(call.words or "ego-chat.md").expanduser()
    where = talk.engine.catalogue if talk.engine else "ego"
    transcript.write(talk.turns, path, title=f"A conversation in {where}")
    app.tell(f"written to {path.resolve()}")


def copy(app: EgoApp, call: Call) -> None:
    talk = _talk(app)
    if not talk.turns:
        raise MisuseError("there is no reply yet")
    app.copy(talk.turns[-1].reply.text)


def theme(app: EgoApp, call: Call) -> None:
    """Without a name the settings; with one, those colours from now on."""
    if not call.words:
        settings(app, call)
        return
    if call.words not in app.available_themes:
        raise MisuseError(f"there is no theme {call.words}", hint="/theme lists them")
    from ego_cli.tui.remembered import remember_theme

    app.theme = call.words
    app.tell(remember_theme(config_file(), call.words))


def leave(app: EgoApp, call: Call) -> None:
    app.leave()


ACTIONS: Mapping[str, Callable[[EgoApp, Call], None]] = {
    "demo": demo,
    "details": details,
    "compare": compare,
    "memory": memory,
    "nudges": nudges,
    "quiz": quiz,
    "catalog": catalog,
    "user": user,
    "usage": usage,
    "export": export,
    "copy": copy,
    "runs": runs,
    "theme": theme,
    "settings": settings,
    "help": help_,
    "quit": leave,
}


def memory_deed(app: EgoApp, deed: str, row: MemoryRow) -> None:
    """Pin, edit or forget a memory from the inspector; forgetting asks first."""
    from ego_cli.tui.screens.dialogs import Confirm, Edit

    talk = _talk(app)
    if deed == "pin":
        talk.do(lambda engine: engine.pin(row.id, not row.pinned), lambda _: talk.refresh_memory())
    elif deed == "edit":

        def edited(words: str | None) -> None:
            if words and words != row.text:
                talk.do(lambda engine: engine.edit(row.id, words), lambda _: talk.refresh_memory())

        app.push_screen(Edit("What should ego remember instead?", row.text), edited)
    else:

        def sure(answer: str | None) -> None:
            if answer:
                talk.do(lambda engine: engine.forget(row.id), lambda _: talk.refresh_memory())

        app.push_screen(Confirm(f"Forget “{row.text}” for good?"), sure)
