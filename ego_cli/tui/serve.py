"""The screen in a browser, on this machine only: textual-serve with our own page and one child process a visitor.

A child ends with its visitor's connection, and all of them with the server, however it ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from string import Template
from typing import Any

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from ego_cli.console import warn
from ego_cli.errors import ServiceAwayError
from ego_cli.tui.start import SERVED_BY

HOST = "127.0.0.1"
STOP_WITHIN_S = 4.0  # for a child that was told to quit; then it is killed
FONT_SIZE = (16, 8, 40)  # pixels: default, least, most

_PAGE = Path(__file__).with_suffix(".html")


class Visitor(AppService):
    """One child process. It leads a process group of its own, so that nothing that it started outlives it."""

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        environment = self._build_environment(width=width, height=height)
        environment[SERVED_BY] = str(os.getpid())
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ego_cli.tui.start"),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            start_new_session=True,
        )
        assert process.stdin is not None
        self._stdin = process.stdin
        return process

    async def stop(self) -> None:
        try:
            await asyncio.wait_for(super().stop(), STOP_WITHIN_S)
        except (TimeoutError, ConnectionError):
            pass
        finally:
            self.kill()
            if self._process is not None:
                await self._process.wait()

    def kill(self) -> None:
        """End the child's process group if it is still there."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


class WebScreen(Server):
    """Serves the page, the terminal's script and one websocket a visitor."""

    def __init__(self, port: int) -> None:
        super().__init__("ego", host=HOST, port=port, title="ego")
        self._visitors: set[Visitor] = set()
        self._sockets: set[web.WebSocketResponse] = set()

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._from_here])
        app.add_routes(
            [
                web.get("/", self._index),
                web.get("/ws", self.handle_websocket),
                web.static("/static", self.statics_path),
            ]
        )
        app.on_shutdown.append(self.on_shutdown)
        app.on_startup.append(self.on_startup)
        return app

    async def on_startup(self, app: web.Application) -> None:
        warn(f"ego is at http://localhost:{self.port} (this machine only; Ctrl+C ends it)")

    async def on_shutdown(self, app: web.Application) -> None:
        """Close every connection and end every child before the server goes."""
        for socket in list(self._sockets):
            with suppress(ConnectionError, RuntimeError):
                await socket.close()
        await asyncio.gather(*(visitor.stop() for visitor in list(self._visitors)), return_exceptions=True)

    @web.middleware
    async def _from_here(self, request: web.Request, handler: Any) -> web.StreamResponse:
        """Only pages of this very server may talk to it: not another site that resolves to or connects to localhost."""
        here = {f"{name}:{self.port}" for name in ("localhost", "127.0.0.1")}
        origin = request.headers.get("Origin")
        if request.headers.get("Host") not in here or (
            origin and origin not in {f"http://{name}" for name in here}
        ):
            raise web.HTTPForbidden(text="ego answers only to its own page on this machine")
        response: web.StreamResponse = await handler(request)
        return response

    async def _index(self, request: web.Request) -> web.Response:
        usual, least, most = FONT_SIZE
        size = min(max(to_int(request.query.get("fontsize", ""), usual), least), most)
        page = Template(_PAGE.read_text(encoding="utf-8"))
        text = page.substitute(websocket=f"ws://{request.headers['Host']}/ws", font_size=size)
        return web.Response(text=text, content_type="text/html", headers={"Cache-Control": "no-store"})

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(heartbeat=15)
        await socket.prepare(request)
        visitor = Visitor(
            self.command,
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=socket.close,
            download_manager=self.download_manager,
        )
        self._sockets.add(socket)
        self._visitors.add(visitor)
        try:
            await visitor.start(
                to_int(request.query.get("width", ""), 80), to_int(request.query.get("height", ""), 24)
            )
            await self._process_messages(socket, visitor)
        finally:
            try:
                await asyncio.shield(visitor.stop())
            finally:
                visitor.kill()
                self._visitors.discard(visitor)
                self._sockets.discard(socket)
        return socket

    def run(self) -> None:
        """Serve until SIGINT or SIGTERM. Raises ``ServiceAwayError`` when the port is taken."""
        loop = asyncio.new_event_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, self.request_exit)
        try:
            web.run_app(
                self._make_app(),
                host=self.host,
                port=self.port,
                handle_signals=False,
                loop=loop,
                print=None,
                access_log=None,
                shutdown_timeout=STOP_WITHIN_S + 1,
            )
        except OSError as error:
            raise ServiceAwayError(
                f"cannot serve on port {self.port}: {error.strerror}", hint="try --port"
            ) from error
