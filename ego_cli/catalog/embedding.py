"""A catalogue's vectors for a conversation: opened when they are there, made meanwhile where they are not.

They are made by a child process of low priority, for two reasons: leaving a process while its onnxruntime computes aborts it,
and a chat must not wait for a core. The child ends when it is done, when it is told to, and when its parent is gone, however
that came about; what it made until then stays.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ego_cli.catalog.dense import DenseIndex, VectorFile, embed, open_index, other_model
from ego_cli.catalog.encoders import DEFAULT_ENCODER, load_encoder
from ego_cli.errors import CatalogueError, EgoError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ego_cli.catalog.store import Catalogue

NICENESS = 15  # of the child: everything else goes before it
LEAVE_WITHIN_S = 2.0  # how long a child that was told to end is waited for
# Share of products that must have a vector before the leg is asked: with few of them it would bring up what happens to have one.
ENOUGH = 0.9


class DenseSource:
    """A catalogue's vectors when somebody asks for them: ``source()`` gives the index, or None while there is none.

    Left alone, the first question opens what is embedded (about a second). ``start`` does so beside the conversation, has
    made what is missing, and never makes a question wait. ``progress`` is (products with a vector, products) while vectors
    are being made; ``error`` says why there are none.
    """

    def __init__(self, catalogue: Catalogue, encoder: str = DEFAULT_ENCODER) -> None:
        self._catalogue = catalogue
        self._encoder = encoder
        self._index: DenseIndex | None = None
        self._opened = False
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[str] | None = None
        self._closing = threading.Lock()
        self._closed = False
        self._told = False
        self.progress: tuple[int, int] | None = None
        self.error: EgoError | None = None

    @classmethod
    def of(cls, catalogue: Catalogue, index: DenseIndex) -> DenseSource:
        """A source of vectors that are open already."""
        source = cls(catalogue)
        source._index, source._opened = index, True
        return source

    def __call__(self) -> DenseIndex | None:
        if self._thread is None and not self._opened:
            self._open()
        return self._index

    def start(self, *, embed: bool) -> None:
        """Open the vectors in a thread; with ``embed``, let a child make those that are missing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, args=(embed,), name="ego-vectors", daemon=True)
            self._thread.start()

    def trouble(self) -> str:
        """Why there are no vectors, the first time that it is asked; else ""."""
        if self.error is None or self._told:
            return ""
        self._told = True
        return f"Words only: {self.error}"

    def close(self) -> None:
        """End the child and the thread; what was embedded stays."""
        with self._closing:
            self._closed = True
        if self._child is not None:
            _end(self._child)
        if self._thread is not None:
            self._thread.join(LEAVE_WITHIN_S)

    def _work(self, embed: bool) -> None:
        whole = self._open()
        if embed and not whole and self.error is None and self._embedded():
            self._open()

    def _open(self) -> bool:
        """Whether every product has a vector."""
        index = None
        with self._closing:
            if self._closed:
                return False
        try:
            index = open_index(self._catalogue, self._encoder)
            if index is None and (made_by := VectorFile(self._catalogue.path).model()):
                mine = load_encoder(self._encoder).identity
                if made_by[0] != mine:
                    raise other_model(made_by[0], mine)
        except EgoError as error:
            self.error = error
        self._opened = True
        if index is not None and index.coverage >= ENOUGH:
            self._index = index
        return index is not None and index.coverage == 1.0

    def _embedded(self) -> bool:
        """Run a child until it has embedded everything; False when it did not come to that."""
        with self._closing:
            if self._closed:
                return False
            try:
                self._child = _child(self._catalogue, self._encoder)
            except OSError as error:
                self.error = CatalogueError(f"sentence vectors cannot be made here: {error}")
                return False
        assert self._child.stdout is not None
        told: dict[str, Any] = {}
        for line in self._child.stdout:
            with suppress(ValueError):  # half a line of a child that was ended
                told = json.loads(line)
            if "total" in told:
                self.progress = (int(told["done"]), int(told["total"]))
        self.progress = None
        code = self._child.wait()
        if "error" in told:
            self.error = CatalogueError(str(told["error"]))
        elif code and not self._closed:
            self.error = CatalogueError("sentence vectors could not be made", hint="run `ego catalog embed`")
        return code == 0


def embed_quietly(catalogue: Catalogue, tell: Callable[[dict[str, Any]], None], *, encoder: str) -> None:
    """What the child does: embed at low priority until done, or until standard input ends because the parent is gone.

    ``tell`` is given ``{"done", "total"}`` in products, and ``{"error"}`` when it cannot be done. Does not return.
    """
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    threading.Thread(target=_leave_with_parent, name="ego-parent", daemon=True).start()
    code = 0
    try:
        embed(
            catalogue,
            lambda done, total: tell({"done": done, "total": total}),
            encoder=encoder,
            threads=max(1, (os.cpu_count() or 1) // 2),
        )
    except EgoError as error:
        tell({"error": str(error)})
        code = int(error.exit_code)
    os._exit(code)


def _leave_with_parent() -> None:
    while sys.stdin.buffer.read(1024):
        pass
    os._exit(0)


def _child(catalogue: Catalogue, encoder: str) -> subprocess.Popen[str]:
    # A session of its own: Ctrl-C and a closed terminal are for the chat to answer, which then ends the child.
    apart: dict[str, Any] = (
        {"start_new_session": True}
        if os.name == "posix"
        else {
            "creationflags": subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS  # type: ignore[attr-defined]
        }
    )
    ego = [sys.executable, "-m", "ego_cli", "catalog", "embed"]
    return subprocess.Popen(
        [*ego, "--background", "--encoder", encoder, str(catalogue.path.absolute())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        **apart,
    )


def _end(child: subprocess.Popen[str]) -> None:
    child.terminate()
    try:
        child.wait(LEAVE_WITHIN_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
