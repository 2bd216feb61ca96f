"""An OpenAI-compatible server on this machine that answers from a script: for cases and tests, over real HTTP.

A step of the script is a mapping, used in order, the last one again and again:

    {"text": …}                        an answer; "usage": False leaves the usage out
    {"stream": [pieces], "end": "cut"} pieces of a stream, and whether it breaks off ("ok" is the default)
    {"http": 429, "retry_after": 1}    a status, with the header
    {"sleep": seconds}                 silence
    {"body": text}                     this instead of what the protocol asks for
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

CHARACTERS_A_PIECE = 12  # how an answer is cut up when a stream is asked for


class ScriptedModel:
    """The server. ``requests`` holds what it was asked: the JSON bodies, with the headers under "headers"."""

    def __init__(
        self, steps: Sequence[Mapping[str, Any]], *, models: Sequence[str] = (), key: str = ""
    ) -> None:
        self.steps = list(steps) or [{"text": ""}]
        self.models = tuple(models)  # () = any name is known
        self.key = key  # "" = any key will do
        self.requests: list[dict[str, Any]] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Self:
        """Begin to listen."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop listening; answers under way are broken off."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The address to configure."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def next_step(self, request: dict[str, Any]) -> Mapping[str, Any]:
        """Note a request and say how it is answered."""
        with self._lock:
            step = self.steps[min(len(self.requests), len(self.steps) - 1)]
            self.requests.append(request)
        return step


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves before the end is part of the script."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def _script(self) -> ScriptedModel:
        return self.server.script

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests read ``requests``."""

    def do_POST(self) -> None:
        """Chat completions, streamed or whole."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
        script = self._script
        step = script.next_step(
            {**body, "headers": {name.lower(): value for name, value in self.headers.items()}}
        )
        if script.key and self.headers.get("Authorization") != f"Bearer {script.key}":
            sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
            self._error(401, f"Incorrect API key provided: {sent}")
        elif script.models and body.get("model") not in script.models:
            self._error(404, f"The model {body.get('model')} does not exist")
        elif "sleep" in step:
            script.closing.wait(step["sleep"])
            self.close_connection = True
        elif "http" in step:
            self._error(step["http"], str(step.get("message", "scripted")), step)
        elif "body" in step:
            self._send(200, str(step["body"]))
        elif body.get("stream"):
            self._stream(body, step)
        else:
            self._whole(body, step)

    def _error(self, status: int, message: str, step: Mapping[str, Any] | None = None) -> None:
        headers = {}
        if step and "retry_after" in step:
            headers["Retry-After"] = str(step["retry_after"])
        if step and "location" in step:
            headers["Location"] = str(step["location"])
        self._send(status, json.dumps({"error": {"message": message, "type": "scripted"}}), headers)

    def _send(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _whole(self, body: Mapping[str, Any], step: Mapping[str, Any]) -> None:
        text = "".join(step.get("stream", ())) or step.get("text", "")
        if step.get("end") == "cut":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
            return
        message = {"role": "assistant", "content": text}
        answer = {
            **_frame(body, "chat.completion"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
        if step.get("usage", True):
            answer["usage"] = usage(body, text)
        self._send(200, json.dumps(answer))

    def _stream(self, body: Mapping[str, Any], step: Mapping[str, Any]) -> None:
        text = step.get("text", "")
        pieces = step.get("stream") or [
            text[i : i + CHARACTERS_A_PIECE] for i in range(0, len(text), CHARACTERS_A_PIECE)
        ]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            self._event(body, choices=[{"index": 0, "delta": {"content": piece}, "finish_reason": None}])
            if self._script.closing.wait(step.get("pause", 0.0)):
                return
        if step.get("end", "ok") == "cut":
            self.close_connection = True
            return
        self._event(body, choices=[{"index": 0, "delta": {}, "finish_reason": step.get("finish", "stop")}])
        wants_usage = (body.get("stream_options") or {}).get("include_usage")
        if wants_usage and step.get("usage", True):
            self._event(body, choices=[], usage=usage(body, "".join(pieces)))
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, body: Mapping[str, Any], **values: Any) -> None:
        frame = {**_frame(body, "chat.completion.chunk"), **values}
        self._chunk(f"data: {json.dumps(frame)}\n\n".encode())

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


def _frame(body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "scripted", "object": kind, "created": 0, "model": body.get("model", "")}


def usage(body: Mapping[str, Any], text: str) -> dict[str, int]:
    """Tokens as this server counts them: words."""
    asked = sum(len(str(message["content"]).split()) for message in body.get("messages", ()))
    said = len(text.split())
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
