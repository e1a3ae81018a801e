"""A real HTTP server on loopback that speaks the protocols of OpenAI, Anthropic and Gemini.

It answers each request with the next step of a script and keeps what it was sent:

    with serve(Says("{...}")) as server:
        ...  # OPENAI_BASE_URL = server.address("openai")
        server.requests[0].user
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_PATHS = {"openai": "/v1", "anthropic": "", "google": ""}
ADDRESS_VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
}


@dataclass
class Says:
    """A complete answer in pieces. `then_waits` keeps the stream open after the first piece.

    `sent` gets the times at which the events were sent: the first one, then one per piece.
    """

    pieces: Sequence[str]
    reason: str = "stop"
    tokens: tuple[int, int] = (1200, 300)
    refusal: str = ""
    then_waits: threading.Event | None = None
    sent: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if isinstance(self.pieces, str):
            self.pieces = [self.pieces]


@dataclass
class Fails:
    """An answer with a status of its own."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Raw:
    """A body that no provider would send."""

    body: bytes
    content_type: str = "text/html"


@dataclass
class Cut:
    """A connection that breaks off after these pieces; `politely` with an end of the stream."""

    pieces: Sequence[str] = ()
    politely: bool = False


@dataclass
class Hangs:
    """No answer until the server stops."""


@dataclass
class Models:
    """The answer to a question for the names of models."""

    names: Sequence[str]


Step = Says | Fails | Raw | Cut | Hangs | Models


@dataclass
class Request:
    """What the server was sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def provider(self) -> str:
        if (
            "generateContent" in self.path.replace("streamGenerate", "generate")
            or "/v1beta" in self.path
        ):
            return "google"
        is_anthropic = "anthropic-version" in self.headers
        return "anthropic" if is_anthropic else "openai"

    @property
    def system(self) -> str:
        if self.provider == "openai":
            return "".join(
                each["content"]
                for each in self.body["messages"]
                if each["role"] in ("system", "developer")
            )
        if self.provider == "anthropic":
            given = self.body["system"]
            return given if isinstance(given, str) else "".join(each["text"] for each in given)
        return "".join(each["text"] for each in self.body["systemInstruction"]["parts"])

    @property
    def user(self) -> str:
        if self.provider == "google":
            return "".join(part["text"] for each in self.body["contents"] for part in each["parts"])
        given = [each["content"] for each in self.body["messages"] if each["role"] == "user"]
        return "".join(
            each if isinstance(each, str) else "".join(part["text"] for part in each)
            for each in given
        )


class Loopback:
    """The server: `script` has the steps that are left; the last one is repeated."""

    def __init__(self, script: Sequence[Step]) -> None:
        self.script = list(script)
        self.requests: list[Request] = []
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def address(self, provider: str) -> str:
        return self.root + _PATHS[provider]

    def environment(self, provider: str = "openai") -> dict[str, str]:
        """Return the variables that lead a command here."""
        return {ADDRESS_VARIABLES[provider]: self.address(provider)}

    def stop(self) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next_step(self, request: Request) -> Step:
        with self._lock:
            self.requests.append(request)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                self._answer(json.loads(body or b"{}"))

            def do_GET(self) -> None:
                self._answer({})

            def _answer(self, body: dict[str, Any]) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.path, headers, body)
                try:
                    _play(self, request, server.next_step(request), server.stopped)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@contextmanager
def serve(*script: Step) -> Iterator[Loopback]:
    """Serve a script until the end of the block."""
    server = Loopback(script)
    try:
        yield server
    finally:
        server.stop()


def _play(http: Any, request: Request, step: Step, stopped: threading.Event) -> None:
    match step:
        case Fails():
            body = json.dumps(step.body if step.body is not None else {"error": {"message": "no"}})
            _send(http, step.status, body.encode(), "application/json", step.headers)
        case Raw():
            _send(http, 200, step.body, step.content_type, {})
        case Models():
            _send(
                http, 200, json.dumps(_models(request, step.names)).encode(), "application/json", {}
            )
        case Hangs():
            stopped.wait()
            http.close_connection = True
        case Cut():
            _start_stream(http)
            events = _events(request.provider, Says(step.pieces))
            # Without the events that end the answer.
            for event in events[: 1 + len(step.pieces)]:
                _chunk(http, event)
            if step.politely:
                _chunk(http, b"")
            http.close_connection = True
        case Says():
            _start_stream(http)
            for number, event in enumerate(_events(request.provider, step)):
                if number == 2 and step.then_waits is not None:
                    step.then_waits.wait()
                step.sent.append(time.perf_counter())
                _chunk(http, event)
            _chunk(http, b"")


def _send(http: Any, status: int, body: bytes, kind: str, headers: dict[str, str]) -> None:
    http.send_response(status)
    for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
        http.send_header(name, value)
    http.end_headers()
    http.wfile.write(body)


def _start_stream(http: Any) -> None:
    http.send_response(200)
    http.send_header("content-type", "text/event-stream")
    http.send_header("transfer-encoding", "chunked")
    http.end_headers()


def _chunk(http: Any, data: bytes) -> None:
    http.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
    http.wfile.flush()


def _models(request: Request, names: Sequence[str]) -> dict[str, Any]:
    if request.provider == "google":
        return {"models": [{"name": f"models/{name}"} for name in names]}
    return {"data": [{"id": name} for name in names]}


def _events(provider: str, step: Says) -> list[bytes]:
    """Return the events of an answer: the first one, one per piece, then those at the end."""
    return {"openai": _openai, "anthropic": _anthropic, "google": _google}[provider](step)


def _event(data: Any, name: str = "") -> bytes:
    start = f"event: {name}\n" if name else ""
    return f"{start}data: {json.dumps(data)}\n\n".encode()


def _openai(step: Says) -> list[bytes]:
    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _event({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                       "choices": [choice], **more})  # fmt: skip

    end: dict[str, Any] = {"refusal": step.refusal} if step.refusal else {}
    usage = {"prompt_tokens": step.tokens[0], "completion_tokens": step.tokens[1],
             "total_tokens": sum(step.tokens)}  # fmt: skip
    counted = _event({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
                      "choices": [], "usage": usage})  # fmt: skip
    return [
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": piece}) for piece in step.pieces),
        chunk(end, step.reason),
        counted,
        b"data: [DONE]\n\n",
    ]


def _anthropic(step: Says) -> list[bytes]:
    message = {"id": "m1", "type": "message", "role": "assistant", "content": [], "model": "m",
               "stop_reason": None, "stop_sequence": None,
               "usage": {"input_tokens": step.tokens[0], "output_tokens": 1}}  # fmt: skip
    reason = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[step.reason]
    start = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    return [
        _event({"type": "message_start", "message": message}, "message_start")
        + _event(start, "content_block_start"),
        *(
            _event(
                {"type": "content_block_delta", "index": 0,
                 "delta": {"type": "text_delta", "text": piece}},
                "content_block_delta",
            )
            for piece in step.pieces
        ),
        _event({"type": "content_block_stop", "index": 0}, "content_block_stop"),
        _event(
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
             "usage": {"output_tokens": step.tokens[1]}},
            "message_delta",
        ),
        _event({"type": "message_stop"}, "message_stop"),
    ]  # fmt: skip


def _google(step: Says) -> list[bytes]:
    reason = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}[step.reason]

    def chunk(text: str, **more: Any) -> bytes:
        candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
        return _event(
            {"candidates": [{**candidate, **more}], "modelVersion": "m", "responseId": "r"}
        )

    usage = {"promptTokenCount": step.tokens[0], "candidatesTokenCount": step.tokens[1],
             "totalTokenCount": sum(step.tokens)}  # fmt: skip
    end = {
        "content": {"role": "model", "parts": [{"text": ""}]},
        "finishReason": reason,
        "index": 0,
    }
    return [
        chunk(""),
        *(chunk(piece) for piece in step.pieces),
        _event(
            {"candidates": [end], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}
        ),
    ]
