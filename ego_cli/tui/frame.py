"""The lines above and below everything: header and footer."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from ego_cli.tui import keys
from ego_cli.tui.drawing import MUTED, cut, spread, text

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_S = 0.1


class Header(Widget):
    """Catalogue and shopper at the left; what the engine is at, or else what goes on behind it and the model, on the right."""

    catalogue: reactive[str] = reactive("")
    user: reactive[str] = reactive("")
    model: reactive[str] = reactive("")
    stage: reactive[str] = reactive("")
    work: reactive[str] = reactive("")
    busy: reactive[bool] = reactive(False)
    ready: reactive[bool] = reactive(False)
    failed: reactive[bool] = reactive(False)
    frame: reactive[int] = reactive(0)

    def on_mount(self) -> None:
        self._ticking = self.set_interval(_FRAME_S, self._tick, pause=True)

    def _tick(self) -> None:
        self.frame = (self.frame + 1) % len(_FRAMES)

    def watch_busy(self, busy: bool) -> None:
        if busy and self.app.animation_level != "none":
            self._ticking.resume()
        else:
            self._ticking.pause()

    def render(self) -> Content:
        left = text(" ego ", "bold $primary")
        if self.ready:
            left += text(f"{self.catalogue} · {self.user}", MUTED)
        if self.failed:
            right = text("not open ", "$error")
        elif not self.ready:
            right = text("opening the shop… ", MUTED)
        elif self.busy:
            right = text(f"{_FRAMES[self.frame]} {self.stage or 'working'} ", "$accent")
        else:
            right = text(" · ".join(filter(None, (self.work, self.model or "rules only"))) + " ", MUTED)
        return spread(left, right, self.size.width)


class Footer(Widget):
    """The few keys that matter now, as they are mapped."""

    busy: reactive[bool] = reactive(False)
    pane: reactive[str] = reactive(
        ""
    )  # where the focus is, if it is in the inspector: a place of the table of keys

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self._look)

    def _look(self, focused: Widget | None) -> None:
        self.pane = str(getattr(focused, "PLACE", ""))

    def render(self) -> Content:
        mapped = keys.in_force(getattr(self.app, "remapped", {}))
        if self.pane:
            here = [key for key in keys.KEYS if key.where in ("pane", self.pane) and key.short]
            parts = [(mapped[key.id], key.short) for key in here] + [(mapped["app.stop"], "write")]
        else:
            parts = [(mapped["app.stop"], "stop")] if self.busy else []
            parts += [(mapped[key.id], key.short) for key in keys.KEYS if key.where == "app" and key.short]
            parts += [("?", "help"), ("/why 2", ""), ("/undo", "")]
        return key_line(parts, self.size.width)


def key_line(parts: Iterable[tuple[str, str]], width: int) -> Content:
    """Keys (the first of each, where there are several) with a word for what they do."""
    line = Content(" ")
    for key, word in parts:
        spelled = key if key.startswith(("/", "?")) else keys.spell(key.split(",")[0])
        line += text(spelled, "bold $primary") + text(f" {word}  " if word else "  ", MUTED)
    return cut(line, width)
