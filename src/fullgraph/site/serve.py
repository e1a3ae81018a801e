"""Serve a site on this machine, build it again on changes, and reload the page.

Each build runs in a new process. It picks up changes of fullgraph itself, and a failed build
leaves the last good site in place.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from fullgraph.errors import FullgraphError
from fullgraph.site.policy import HEADERS, POLICY, SERVED_POLICY
from fullgraph.site.settings import BuildPlan
from fullgraph.site.shutdown import Stopper, StopRequested
from fullgraph.site.templating import home_path
from fullgraph.site.watched_files import Stamp, is_url, stamp

Progress = Callable[[str], None]
_CHANGES = "/.fullgraph/changes"
_RELOAD = "/.fullgraph/reload.js"
# The server adds this script to pages; no file contains it.
_SCRIPT = '<script src="{reload}?{version}"></script>'
_RELOAD_SCRIPT = "new EventSource('{changes}?{version}').onmessage = () => location.reload()"
_LOOK_EVERY = 0.3
_ASK_ADDRESS_EVERY = 60.0
_SIGN_OF_LIFE_EVERY = 10.0


class Versions:
    """Counts the builds and lets requests wait for the next one."""

    def __init__(self) -> None:
        self.current = 0
        self._changed = threading.Condition()

    def advance(self) -> None:
        """Count one more build and wake all waiting requests."""
        with self._changed:
            self.current += 1
            self._changed.notify_all()

    def differs_from(self, version: int, seconds: float) -> bool:
        """Wait until the version differs; return the current one."""
        with self._changed:
            return self._changed.wait_for(lambda: self.current != version, seconds)


class Server(ThreadingHTTPServer):
    """An HTTP server for the folder of the site."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int, versions: Versions) -> None:
        self.versions = versions
        # Path of the site on its host; the links of the 404 page start with it.
        self.base = "/"
        handler = partial(_Handler, directory=str(folder))
        try:
            super().__init__(("127.0.0.1", port), handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FullgraphError(
                f"cannot serve on port {port} ({reason}); name another one with --port"
            ) from None

    @property
    def address(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self.server_address[1]}{self.base}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that the browser closed."""
        # A closed connection is not an error.


class _Handler(SimpleHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with a file, the 404 page or server-sent events."""
        path, _, query = self.path.partition("?")
        if path == _CHANGES:
            self._send_changes(int(query) if query.isdigit() else 0)
            return
        if path == _RELOAD:
            version = int(query) if query.isdigit() else 0
            script = _RELOAD_SCRIPT.format(changes=_CHANGES, version=version)
            self._send(script.encode(), "text/javascript", HTTPStatus.OK)
            return
        base = self.server.base
        asked = path
        if f"{path}/".startswith(base):
            self.path = "/" + self.path[len(base) :]
            path = "/" + path[len(base) :]
        file = Path(self.translate_path(path))
        if file.is_dir():
            if not asked.endswith("/"):
                self._redirect(f"{asked}/")
                return
            file /= "index.html"
        if not file.is_file():
            self._send_page(Path(self.directory) / "404.html", HTTPStatus.NOT_FOUND)
        elif file.suffix == ".html":
            self._send_page(file, HTTPStatus.OK)
        else:
            super().do_GET()

    def end_headers(self) -> None:
        """Forbid caching, so that a reload shows the new page."""
        self.send_header("Cache-Control", "no-cache")
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def _redirect(self, target: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        # One slash: two would name another host.
        self.send_header("Location", "/" + target.lstrip("/"))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send_page(self, file: Path, status: HTTPStatus) -> None:
        version = self.server.versions.current
        script = _SCRIPT.format(reload=_RELOAD, version=version).encode()
        try:
            content = file.read_bytes()
        except OSError:
            content = b"<!doctype html><title>Nothing here</title><body>Nothing here</body>"
        content = content.replace(b"</body>", script + b"</body>")
        content = content.replace(POLICY.encode(), SERVED_POLICY.encode(), 1)
        self._send(content, "text/html", status)

    def _send(self, content: bytes, kind: str, status: HTTPStatus) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _send_changes(self, version: int) -> None:
        """Send an event as soon as the site is newer than the page."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"retry: 500\n\n")
        while not self.server.versions.differs_from(version, _SIGN_OF_LIFE_EVERY):
            self.wfile.write(b":\n\n")
        self.wfile.write(b"data: changed\n\n")

    def log_message(self, *_: object) -> None:
        """Write no log."""


class Builder:
    """Builds with `fullgraph site build`, in a new process."""

    def __init__(self, options: Sequence[str], folder: Path) -> None:
        self._command = [
            sys.executable, "-m", "fullgraph", "site", "build", "-o", str(folder), *options,
        ]  # fmt: skip

    def build(self) -> tuple[bool, str]:
        """Return whether the build succeeded, and its output."""
        done = subprocess.run(
            self._command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            # Ctrl-C is for the server; a running build finishes.
            start_new_session=True,
        )
        return done.returncode == 0, done.stdout.strip().removeprefix("fullgraph: ")


def serve(
    make_plan: Callable[[], BuildPlan],
    options: Sequence[str],
    folder: Path,
    port: int,
    progress: Progress,
) -> None:
    """Serve until a signal stops the process."""
    stopper = Stopper()
    versions = Versions()
    builder = Builder(options, folder)
    plan = make_plan()
    with Server(folder, port, versions) as server:
        server.base = home_path(plan.settings.address)
        try:
            state = stamp(plan)
            with stopper.interruptible():
                worked, output = builder.build()
            if not worked:
                raise FullgraphError(output)
            progress(output)
            threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
            progress(f"serving {server.address} (Ctrl-C stops the server)")
            _rebuild_for_ever(make_plan, state, builder, server, stopper, progress)
        except StopRequested:
            progress("stopped")


def _rebuild_for_ever(
    make_plan: Callable[[], BuildPlan],
    state: Stamp,
    builder: Builder,
    server: Server,
    stopper: Stopper,
    progress: Progress,
) -> None:
    plan = make_plan()
    waited = 0.0
    while True:
        stopper.wait(_LOOK_EVERY)
        waited += _LOOK_EVERY
        # If the settings cannot be read, the build reports the error.
        with suppress(FullgraphError):
            plan = make_plan()
        now = stamp(plan)
        if now == state and not (is_url(plan.release) and waited >= _ASK_ADDRESS_EVERY):
            continue
        state, waited = now, 0.0
        with stopper.interruptible():
            worked, output = builder.build()
        progress(output if worked else f"{output}\nthe last good site stays")
        if worked:
            server.base = home_path(plan.settings.address)
            server.versions.advance()
