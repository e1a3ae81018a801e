"""A small fake torch: a registry with invented entries, source that raises them, a server."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ENTRIES: dict[str, list[dict[str, Any]]] = {
    "GB0001": [
        {
            "Gb_type": "Cannot juggle",
            "Context": "juggle {thing}",
            "Explanation": "Nobody taught the tracer how to juggle {type(thing).__name__} objects.",
            "Hints": ["Put the balls down before ", "you compile."],
        }
    ],
    "GB0002": [
        {"Gb_type": "Lost a sock", "Context": "", "Explanation": "msg", "Hints": []},
        {"Gb_type": "Lost one sock", "Context": "", "Explanation": "A sock is gone.", "Hints": []},
    ],
    "GB0003": [{"Gb_type": "Retired clown", "Context": "", "Explanation": "It left.", "Hints": []}],
}
SOURCE = """
from . import graph_break_hints

def juggle(thing):
    unimplemented(
        gb_type="Cannot juggle",
        context=f"juggle {thing}",
        explanation=f"Nobody taught the tracer how to juggle {type(thing).__name__} objects.",
        hints=["Put the balls down before you compile."],
    )

class Drawer:
    kind = "Lost a sock"

    def find(self, sock):
        msg = f"The sock {sock} is in none of the drawers."
        hints = [*graph_break_hints.SEARCH]
        if sock.red:
            hints.append("Look for something red.")
        unimplemented(gb_type=self.kind, context="", explanation=msg, hints=hints)

def surprise():
    unimplemented(gb_type="Nobody registered this", context="", explanation="", hints=[])
"""
HINTS = 'SEARCH = ["Search in the " "other drawer."]\n'


def registry_bytes(entries: object = ENTRIES) -> bytes:
    return json.dumps(entries).encode()


def torch_files() -> dict[str, bytes]:
    return {
        "torch/_dynamo/graph_break_registry.json": registry_bytes(),
        "torch/_dynamo/graph_break_hints.py": HINTS.encode(),
        "torch/_dynamo/variables/fake_torch.py": SOURCE.encode(),
    }


def wheel_bytes(padding: int = 3_000_000) -> bytes:
    """Return a wheel in which the needed files are a small part in the middle."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as wheel:
        wheel.writestr("torch/lib/before.bin", b"\0" * padding)
        for name, content in torch_files().items():
            wheel.writestr(name, content, zipfile.ZIP_DEFLATED)
        wheel.writestr("torch/lib/after.bin", b"\0" * padding)
    return buffer.getvalue()


Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        answer = self.server.pages.get(self.path)
        if answer is None:
            self.reply(404, b"nothing here")
        else:
            answer(self)

    def do_CONNECT(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        self.reply(403, b"")

    def reply(self, status: int, data: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.server.sent += len(data)

    def log_message(self, *_: object) -> None:
        pass


class Site(ThreadingHTTPServer):
    """A local HTTP server; `pages` maps a path to its answer."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages: dict[str, Answer] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.sent = 0

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


def whole(data: bytes, **headers: str) -> Answer:
    """Answer with the whole file, whatever part is requested."""
    return lambda handler: handler.reply(200, data, **headers)


def ranged(data: bytes) -> Answer:
    """Answer with parts of the file, like a server that supports ranges."""

    def answer(handler: Handler) -> None:
        wanted = handler.headers.get("Range")
        if wanted is None:
            handler.reply(200, data)
            return
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, len(data) - int(last))
        end = int(last) + 1 if first and last else len(data)
        part = data[start:end]
        span = f"bytes {start}-{start + len(part) - 1}/{len(data)}"
        handler.reply(206, part, Content_Range=span)

    return answer
