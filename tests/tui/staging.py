"""Setting the stage for screen tests: the app over a script, and waiting until it has settled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from scripted import ScriptedEngine, ScriptedShop
from textual.pilot import Pilot

from ego_cli.tui.app import EgoApp

SIZES = [(80, 24), (120, 40)]


def make_app(engine: ScriptedEngine | None = None, **options: Any) -> EgoApp:
    """The app over a scripted engine; nothing blinks or spins."""
    chosen = engine or ScriptedEngine()
    app = EgoApp(lambda catalogue, user: chosen, lambda catalogue: ScriptedShop(), **options)
    app.animation_level = "none"
    return app


async def until(pilot: Pilot[Any], true: Callable[[], bool], seconds: float = 10.0) -> None:
    """Let the app run until something holds; fail if it never does."""
    for _ in range(int(seconds / 0.02)):
        if true():
            await pilot.pause()
            return
        await pilot.pause(0.02)
    raise AssertionError("the screen did not get there")


async def settle(pilot: Pilot[Any]) -> None:
    """The engine is open and no turn is under way."""
    app = pilot.app
    assert isinstance(app, EgoApp)
    app.prompt.cursor_blink = False
    await until(pilot, lambda: app.talk is not None and app.talk.ready and not app.talk.busy)


async def idle(pilot: Pilot[Any]) -> None:
    """Both lanes have nothing left to do, and what they found is on the screen."""
    app = pilot.app
    assert isinstance(app, EgoApp) and app.talk is not None
    for _ in range(2):  # what is found may ask for more
        reached: list[None] = []
        app.talk.do(lambda engine: None, reached.append)
        app.talk.look(lambda shop: None, reached.append)
        await until(pilot, lambda reached=reached: len(reached) == 2)  # type: ignore[misc]
    await pilot.pause()


def after(says: Sequence[str] = (), then: Callable[[Pilot[Any]], Awaitable[None]] | None = None) -> Any:
    """A ``run_before`` for snapshots: say these lines one after another, then do something more."""

    async def run(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        app = pilot.app
        assert isinstance(app, EgoApp)
        for line in says:
            app.send(line)
            await settle(pilot)
        await idle(pilot)
        if then is not None:
            await then(pilot)
            await settle(pilot)

    return run
