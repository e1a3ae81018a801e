"""Shows a site on this machine, builds it again when something changes, and reloads the page.

The builds run in processes of their own: they see what was changed in fullgraph itself, and what
goes wrong in one leaves the last good site in place.
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
from fullgraph.site.settings import Plan
from fullgraph.site.shutdown import Stopper, StopRequested
from fullgraph.site.templating import home_path
from fullgraph.site.watched_files import Stamp, is_address, stamp

Tell = Callable[[str], None]
_CHANGES = "/.fullgraph/changes"
# Only the server adds this; it is in no file.
_SCRIPT = (
    "<script>new EventSource('{changes}?{version}').onmessage = () => location.reload()</script>"
)
_LOOK_EVERY = 0.3
_ASK_ADDRESS_EVERY = 60.0
_SIGN_OF_LIFE_EVERY = 10.0


class Versions:
    """Counts the builds, and lets those wait who want the next one."""

    def __init__(self) -> None:
        self.current = 0
        self._changed = threading.Condition()

    def advance(self) -> None:
        with self._changed:
            self.current += 1
            self._changed.notify_all()

    def differs_from(self, version: int, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.current != version, seconds)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder: Path, port: int, versions: Versions) -> None:
        self.versions = versions
        # Where the site will be on its host: links of the page for what is not found start there.
        self.base = "/"
        handler = partial(_Handler, directory=str(folder))
        try:
            super().__init__(("127.0.0.1", port), handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise FullgraphError(
                f"cannot serve on port {port} ({reason}): name another one with --port"
            ) from None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{self.base}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a browser that hangs up is no news


class _Handler(SimpleHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == _CHANGES:
            self._tell_changes(int(query) if query.isdigit() else 0)
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
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def _redirect(self, target: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        # One slash: two would be another host.
        self.send_header("Location", "/" + target.lstrip("/"))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send_page(self, file: Path, status: HTTPStatus) -> None:
        version = self.server.versions.current
        script = _SCRIPT.format(changes=_CHANGES, version=version).encode()
        try:
            content = file.read_bytes()
        except OSError:
            content = b"<!doctype html><title>Nothing here</title><body>Nothing here</body>"
        content = content.replace(b"</body>", script + b"</body>")
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _tell_changes(self, version: int) -> None:
        """Server-sent events: one as soon as the site is newer than the page."""
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"retry: 500\n\n")
        while not self.server.versions.differs_from(version, _SIGN_OF_LIFE_EVERY):
            self.wfile.write(b":\n\n")
        self.wfile.write(b"data: changed\n\n")

    def log_message(self, *_: object) -> None:
        pass


class Builder:
    """Builds with `fullgraph site build`, as a user would."""

    def __init__(self, options: Sequence[str], folder: Path) -> None:
        self._command = [
            sys.executable, "-m", "fullgraph", "site", "build", "-o", str(folder), *options,
        ]  # fmt: skip

    def build(self) -> tuple[bool, str]:
        """Whether it worked, and what it said."""
        done = subprocess.run(
            self._command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            # Ctrl-C is for the server; a build ends by itself.
            start_new_session=True,
        )
        return done.returncode == 0, done.stdout.strip().removeprefix("fullgraph: ")


def serve(
    make_plan: Callable[[], Plan],
    options: Sequence[str],
    folder: Path,
    port: int,
    tell: Tell,
) -> None:
    """Runs until it is told to stop."""
    stopper = Stopper()
    versions = Versions()
    builder = Builder(options, folder)
    plan = make_plan()
    with Server(folder, port, versions) as server:
        server.base = home_path(plan.settings.address)
        try:
            state = stamp(plan)
            with stopper.interruptible():
                worked, said = builder.build()
            if not worked:
                raise FullgraphError(said)
            tell(said)
            threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
            tell(f"serving {server.address} (Ctrl-C ends it)")
            _rebuild_for_ever(make_plan, state, builder, server, stopper, tell)
        except StopRequested:
            tell("stopped")


def _rebuild_for_ever(
    make_plan: Callable[[], Plan],
    state: Stamp,
    builder: Builder,
    server: Server,
    stopper: Stopper,
    tell: Tell,
) -> None:
    plan = make_plan()
    waited = 0.0
    while True:
        stopper.wait(_LOOK_EVERY)
        waited += _LOOK_EVERY
        # Of settings that cannot be read, the build says what is wrong.
        with suppress(FullgraphError):
            plan = make_plan()
        now = stamp(plan)
        if now == state and not (is_address(plan.release) and waited >= _ASK_ADDRESS_EVERY):
            continue
        state, waited = now, 0.0
        with stopper.interruptible():
            worked, said = builder.build()
        tell(said if worked else f"{said}\nthe last good site stays")
        if worked:
            server.base = home_path(plan.settings.address)
            server.versions.advance()
