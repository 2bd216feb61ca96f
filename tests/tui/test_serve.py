"""The web server of the screen: only its own page may talk to it, and no child outlives its visitor or the server."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="needs the extra [server]")
pytest.importorskip("textual_serve", reason="needs the extra [server]")

PATIENCE_S = 60.0


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def server(port: int, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`ego serve --web`, with a home of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ego_cli", "serve", "--web", "--port", str(port)],
        env={**os.environ, "EGO_HOME": str(tmp_path)},
        stderr=subprocess.DEVNULL,
    )
    yield process
    if process.poll() is None:
        process.kill()
    process.wait()


def children(of: int) -> list[int]:
    """Process ids of the direct children."""
    try:
        return [int(pid) for pid in Path(f"/proc/{of}/task/{of}/children").read_text().split()]
    except FileNotFoundError:
        return []


def runs(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def until(true: Any, seconds: float = PATIENCE_S) -> None:
    for _ in range(int(seconds / 0.05)):
        if true():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not come to that")


@asynccontextmanager
async def visit(port: int, **headers: str) -> AsyncIterator[Any]:
    """A websocket as the page opens it."""
    async with aiohttp.ClientSession() as session:
        for _ in range(int(PATIENCE_S / 0.1)):
            try:
                async with session.ws_connect(
                    f"http://localhost:{port}/ws?width=100&height=30", headers=headers
                ) as visitor:
                    yield visitor
                    return
            except aiohttp.ClientConnectorError:
                await asyncio.sleep(0.1)
        raise AssertionError("the server did not come up")


async def first_bytes(visitor: Any) -> bytes:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            message = await visitor.receive()
            if message.type is aiohttp.WSMsgType.BINARY:
                return bytes(message.data)


pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads /proc")


async def test_a_visitors_process_ends_with_the_visit(server: subprocess.Popen[bytes], port: int) -> None:
    async with visit(port) as visitor:
        assert await first_bytes(visitor)
        (child,) = children(server.pid)
    await until(lambda: not runs(child))
    assert server.poll() is None


async def test_no_process_outlives_a_server_that_is_told_to_end(
    server: subprocess.Popen[bytes], port: int
) -> None:
    async with visit(port) as one, visit(port) as two:
        await first_bytes(one)
        await first_bytes(two)
        there = children(server.pid)
        assert len(there) == 2
        server.send_signal(signal.SIGTERM)
        await until(lambda: server.poll() is not None)
        assert server.returncode == 0
        assert not any(runs(child) for child in there)


async def test_no_process_outlives_a_server_that_is_killed(
    server: subprocess.Popen[bytes], port: int
) -> None:
    async with visit(port) as visitor:
        await first_bytes(visitor)
        (child,) = children(server.pid)
        server.kill()
        await until(lambda: not runs(child))


async def test_another_site_cannot_talk_to_it(server: subprocess.Popen[bytes], port: int) -> None:
    async with visit(port) as visitor:  # it is up
        await first_bytes(visitor)
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with visit(port, Origin="http://elsewhere.example"):
            pass
    assert refused.value.status == 403
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{port}/"
        async with session.get(url, headers={"Host": "elsewhere.example"}) as response:
            assert response.status == 403
        async with session.get(url) as response:
            page = await response.text()
    assert "http://" not in page and "https://" not in page  # nothing from the web, fonts included
