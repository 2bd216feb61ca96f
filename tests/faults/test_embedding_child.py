"""Vectors are made by a child of the chat: it ends with the chat, however that ends, and what it made stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ego_cli.catalog.dense import VectorFile, coverage
from ego_cli.catalog.embedding import DenseSource
from ego_cli.catalog.store import Catalogue, open_catalogue

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and terminals of this kind")
WAIT_S = 60.0  # for what takes a second on an idle machine


def until(true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(") ")[2][:1] != "Z"


def shop(folder: Path, size: int) -> Path:
    words = ("brass", "oak", "glass", "linen", "steel", "cotton", "paper")
    file = folder / "lamps.jsonl"
    rows = [
        {
            "id": f"l{n}",
            "title": f"{words[n % 7]} lamp number {n} with {words[n % 5]} foot",
            "category": "Lamps",
        }
        for n in range(size)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture
def small(ego_home: Path, tmp_path: Path) -> Catalogue:
    return open_catalogue(shop(tmp_path, 30))


@pytest.fixture
def large(ego_home: Path, tmp_path: Path) -> Catalogue:
    return open_catalogue(shop(tmp_path, 2500))  # more than a child gets through in a test


def made(catalogue: Catalogue) -> int:
    return coverage(catalogue)[0]


def child_of(source: DenseSource) -> int:
    until(lambda: source._child is not None, "there is a child")
    assert source._child is not None
    return source._child.pid


def test_a_chat_gets_its_vectors_without_a_restart(small: Catalogue) -> None:
    source = DenseSource(small)
    source.start(embed=True)
    until(lambda: source() is not None, "all is embedded")
    index = source()
    assert index is not None and index.coverage == 1.0 and source.error is None
    until(lambda: source.progress is None, "nothing is told any more")
    source.close()
    assert not alive(child_of(source))


def test_leaving_ends_the_child_and_the_next_one_goes_on(large: Catalogue) -> None:
    source = DenseSource(large)
    source.start(embed=True)
    until(lambda: made(large) > 0, "something is embedded")
    pid = child_of(source)
    assert alive(pid) and source() is None
    source.close()
    assert not alive(pid) and source.error is None
    kept = made(large)
    assert 0 < kept < len(large)
    again = DenseSource(large)
    again.start(embed=True)
    until(lambda: again.progress is not None, "it is told how far it is")
    assert again.progress is not None and again.progress[0] >= kept and again.progress[1] == len(large)
    again.close()


def test_a_killed_child_loses_nothing_that_was_committed(small: Catalogue, large: Catalogue) -> None:
    source = DenseSource(large)
    source.start(embed=True)
    until(lambda: made(large) > 0, "something is embedded")
    os.kill(child_of(source), signal.SIGKILL)
    until(lambda: source.error is not None, "the end is noticed")
    assert "ego catalog embed" in str(source.error)
    assert VectorFile(large.path).load(VectorFile(large.path).model()[0]) is not None  # type: ignore[index]
    source.close()


def test_two_chats_share_one_run(small: Catalogue) -> None:
    both = [DenseSource(small), DenseSource(small)]
    for source in both:
        source.start(embed=True)
    until(lambda: all(source() is not None for source in both), "both have them")
    (matrix,) = small.path.parent.glob("*.f16")
    assert matrix.stat().st_size == len(small) * 384 * 2  # nothing was made twice
    for source in both:
        source.close()


def test_a_parent_that_is_killed_leaves_no_orphan(large: Catalogue) -> None:
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from ego_cli.catalog.embedding import DenseSource\n"
        "from ego_cli.catalog.store import Catalogue\n"
        "source = DenseSource(Catalogue(Path(sys.argv[1])))\n"
        "source.start(embed=True)\n"
        "while source._child is None: time.sleep(0.02)\n"
        "print(source._child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(large.path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        until(lambda: made(large) > 0, "the child is at work")
        parent.kill()
    until(lambda: not alive(pid), "the child has gone too")


class Terminal:
    """`ego chat` on a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self.pid, self._side = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm-256color"  # on a dumb one there is no screen, only lines
            os.execv(sys.executable, [sys.executable, "-m", "ego_cli", *arguments])
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.written = b""

    def children(self) -> list[int]:
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(stat.read_text().rpartition(") ")[2].split()[1]) == self.pid:
                    found.append(int(stat.parent.name))
        return found

    def type(self, text: bytes) -> None:
        os.write(self._side, text)

    def hang_up(self) -> None:
        os.close(self._side)
        self._side = -1

    def ended(self) -> int:
        """Read until it has ended; its exit status, negative for a signal."""
        while self._side >= 0:
            try:
                piece = os.read(self._side, 4096)
            except OSError:  # Linux's word for the end of a terminal
                break
            if not piece:
                break
            self.written += piece
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def chat(large: Catalogue) -> Iterator[tuple[Terminal, int]]:
    if not Path("/proc/self/stat").exists():
        pytest.skip("looks for children in /proc")
    terminal = Terminal("chat", "--catalog", large.source)
    until(terminal.children, "the chat has a child")
    (child,) = terminal.children()
    until(lambda: made(large) > 0, "the child is at work")
    yield terminal, child
    with suppress(ProcessLookupError):
        os.kill(terminal.pid, signal.SIGKILL)


@pytest.mark.parametrize("way", ["/quit", "ctrl-c", "ctrl-d", "SIGTERM", "SIGHUP", "hang up"])
def test_leaving_a_chat_in_any_way_leaves_no_orphan_and_no_traceback(
    chat: tuple[Terminal, int], way: str
) -> None:
    terminal, child = chat
    match way:
        case "/quit":
            terminal.type(b"/quit\n")
        case "ctrl-c":
            terminal.type(b"\x03")
        case "ctrl-d":
            terminal.type(b"\x04")
        case "hang up":
            terminal.hang_up()
        case name:
            os.kill(terminal.pid, getattr(signal, name))
    code = terminal.ended()
    assert code in {"/quit": (0,), "ctrl-d": (0,), "ctrl-c": (130,)}.get(way, (-15, -1))
    until(lambda: not alive(child), "the child has gone")
    assert b"Traceback" not in terminal.written and b"terminate called" not in terminal.written


@pytest.mark.parametrize("way", ["/quit", "SIGTERM", "hang up"])
def test_leaving_the_screen_leaves_no_orphan(large: Catalogue, way: str) -> None:
    screen = Terminal("--catalog", large.source)
    until(screen.children, "the screen has a child")
    (child,) = screen.children()
    until(lambda: made(large) > 0, "the child is at work")
    match way:
        case "/quit":
            screen.type(b"/quit\r")
        case "hang up":
            screen.hang_up()
        case name:
            os.kill(screen.pid, getattr(signal, name))
    assert screen.ended() == 0
    until(lambda: not alive(child), "the child has gone")
    assert b"Traceback" not in screen.written and b"terminate called" not in screen.written


@pytest.mark.parametrize("command", [["ask", "brass lamp"], ["chat"], ["chat", "--json"]])
def test_one_answer_or_a_pipe_embeds_nothing(large: Catalogue, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ego_cli", command[0], "--catalog", large.source, *command[1:]],
        input="brass lamp\n" if command[0] == "chat" else "",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "lamp" in done.stdout and made(large) == 0


def test_it_can_be_switched_off(large: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGO_RANKING__EMBED", "false")
    terminal = Terminal("chat", "--catalog", large.source)
    terminal.type(b"brass lamp\n/quit\n")
    assert terminal.ended() == 0
    assert b"lamp" in terminal.written and made(large) == 0
