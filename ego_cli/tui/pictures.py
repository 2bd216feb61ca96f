"""Pictures of the screen as SVG, taken from the running app: the README's are renewed by one command."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from ego_cli.errors import EgoError
from ego_cli.tui import opening
from ego_cli.tui.app import EgoApp
from ego_cli.tui.themes import DEFAULT

READY_WITHIN_S = 120.0  # a demo catalogue may have to be indexed first
SHOPPER = "ada"
_STEP_S = 0.05
_FONTS = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


@dataclass(frozen=True, slots=True)
class Picture:
    """What is on a picture: ``lines`` are sent one after another, then ``keys`` are pressed."""

    name: str
    columns: int
    rows: int
    lines: tuple[str, ...]
    keys: tuple[str, ...] = ()
    theme: str = DEFAULT
    catalogue: str = "naija"


_HUNT = ("abeg I need 10000mAh power bank wey no pass 30k", "no leather case", "actually make it 20000mAh")
_ABOUT_HER = (
    "remember that I avoid fragrance",
    "remember that my shoe size is 39",
    "my mum can't stand perfume",
    "I like matte black gadgets",
    "I need a fan for a small room under 60k",
)

PICTURES: tuple[Picture, ...] = (
    Picture("chat", 120, 40, _HUNT),
    Picture("chat-light", 120, 40, _HUNT, theme="ego-light"),
    Picture("small-terminal", 80, 24, _HUNT),
    Picture("inspector-over-chat", 80, 24, _HUNT, ("ctrl+o",)),
    Picture(
        "several-wants", 120, 40, ("I need an ankara dress and a bag for a wedding, 60k for everything",)
    ),
    Picture("compare", 120, 40, (*_HUNT, "/compare 1 2 3")),
    Picture("product", 120, 40, (*_HUNT, "/details 1")),
    Picture("catalogue", 120, 40, ("/catalog",), ("p", "o", "w", "e", "r")),
    Picture("memory", 120, 40, (*_ABOUT_HER, "/memory"), ("p", "G")),
    Picture("help", 120, 40, ("/help",)),
)


def take(pictures: Sequence[Picture], folder: Path) -> Iterator[Path]:
    """Take the pictures one after another and write them as ``<name>.svg``; yields each file.

    The shopper's memory and the catalogues' indexes lie in a temporary folder, in force while this runs: nothing of the
    person's own is read, and nothing is left behind. Raises ``EgoError`` when a turn does not come to an end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    before = {name: os.environ.get(name) for name in ("EGO_HOME", "EGO_CONFIG")}
    with tempfile.TemporaryDirectory() as home:
        os.environ.update({"EGO_HOME": home, "EGO_CONFIG": str(Path(home) / "config.toml")})
        try:
            for picture in pictures:
                path = folder / f"{picture.name}.svg"
                path.write_text(without_web_fonts(asyncio.run(_take(picture))), encoding="utf-8")
                yield path
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


async def _take(picture: Picture) -> str:
    app = EgoApp(
        lambda catalogue, user: opening.open_engine(catalogue or picture.catalogue, user or SHOPPER),
        lambda catalogue: opening.open_shop(catalogue or picture.catalogue),
        theme=picture.theme,
    )
    app.animation_level = "none"
    async with app.run_test(size=(picture.columns, picture.rows)) as pilot:
        app.prompt.cursor_blink = False
        await _settle(pilot, app)
        for line in picture.lines:
            app.send(line)
            await _settle(pilot, app)
        for key in picture.keys:
            await pilot.press(key)
            await _settle(pilot, app)
        return app.export_screenshot(title="ego", simplify=True)


async def _settle(pilot: Pilot[Any], app: EgoApp) -> None:
    """Wait until no turn is under way and both lanes are idle."""
    for wait in (
        lambda: app.talk is not None and app.talk.ready,
        lambda: app.talk is not None and not app.talk.busy,
    ):
        await _until(pilot, wait)
    talk = app.talk
    if talk is None or talk.failed:
        raise EgoError(f"the picture cannot be taken: {talk.failed if talk else 'the screen did not open'}")
    for _ in range(2):  # what is found may ask for more
        reached: list[None] = []
        talk.do(lambda engine: None, reached.append)
        talk.look(lambda shop: None, reached.append)
        await _until(pilot, partial(_both, reached))
    await pilot.pause()


def _both(reached: list[None]) -> bool:
    return len(reached) == 2


async def _until(pilot: Pilot[Any], true: Callable[[], bool]) -> None:
    for _ in range(int(READY_WITHIN_S / _STEP_S)):
        if true():
            return
        await pilot.pause(_STEP_S)
    raise EgoError("the picture cannot be taken: the screen did not get there in time")


def without_web_fonts(svg: str) -> str:
    """The picture with fonts that are on every machine instead of ones from the web."""
    local = re.sub(r"@font-face\s*\{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"font-family:\s*Fira Code[^;]*;", f"font-family: {_FONTS};", local)
