"""`site watch` and `site serve` as processes, with a source that is not always reachable."""

from __future__ import annotations

import json
import signal
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fullgraph.site.markers import END, START
from tests.site.sitekit import Registry, SiteCli, files_in, until


class Source(ThreadingHTTPServer):
    """A server with a registry that supports conditional requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.status = 200
        self.data = b""
        self.tag = "1"
        self.answers: list[int] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/registry.json"


class _Answer(BaseHTTPRequestHandler):
    server: Source

    def do_GET(self) -> None:
        status = self.server.status
        if status == 200 and self.headers.get("If-None-Match") == self.server.tag:
            status = 304
        data = self.server.data if status == 200 else b""
        self.server.answers.append(status)
        self.send_response(status)
        self.send_header("ETag", self.server.tag)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def source(registry: Registry) -> Iterator[Source]:
    server = Source()
    server.data = json.dumps(registry).encode()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def builds(cli: SiteCli) -> int:
    return cli.log.count(" breaks, ")


def test_watch_builds_on_change_only_and_survives_its_source(
    tmp_path: Path, site_cli: SiteCli, source: Source, registry: Registry
) -> None:
    folder = tmp_path / "out"
    process = site_cli.start("watch", "-o", "out", "--every", "0.2", "--release", source.address)
    until(lambda: builds(site_cli) == 1, "the first build")
    until(lambda: source.answers.count(304) >= 3, "it asks only for news")
    assert builds(site_cli) == 1
    good = files_in(folder)

    # Unreachable, malformed, incomplete: one line each, and the site stays.
    for status, data, words in (
        (404, b"", "answers 404"),
        (200, b"<html>", "it is not JSON"),
        (200, source.data[: len(source.data) // 2], "it is not JSON"),
        (200, b"[" * 100_000, "nested too deeply"),
    ):
        lines = site_cli.log.count(words)
        source.status, source.tag, whole = status, f"{status}-{len(data)}", source.data
        source.data = data
        until(lambda w=words, n=lines: site_cli.log.count(w) > n, words)
        assert "the site stays unchanged" in site_cli.log
        assert files_in(folder) == good
        source.status, source.data, source.tag = 200, whole, "1"
    assert "Traceback" not in site_cli.log

    registry["GB0124"][0]["Hints"].append("Something new.")
    source.data, source.tag = json.dumps(registry).encode(), "2"
    page = folder / "gb" / "gb0124.html"
    until(lambda: b"Something new." in page.read_bytes(), "the change is shown")
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert site_cli.log.splitlines()[-1].endswith("stopped")
    checked = site_cli("check", "out", "--release", source.address)
    assert checked.returncode == 0, checked.stdout


def test_watch_sees_what_people_write_and_ends_with_ctrl_c(
    tmp_path: Path, site_cli: SiteCli
) -> None:
    process = site_cli.start("watch", "-o", "out", "--every", "0.2")
    until(lambda: builds(site_cli) == 1, "the first build")
    (tmp_path / "info").mkdir()
    (tmp_path / "info" / "gb0124.md").write_text(f"{START}\nFresh words.\n{END}\n")
    page = tmp_path / "out" / "gb" / "gb0124.html"
    until(lambda: b"Fresh words." in page.read_bytes(), "the words are shown")
    (tmp_path / "site.toml").write_text("title = 1\n")
    until(lambda: "title must be a string" in site_cli.log, "settings that are wrong are reported")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


def test_watch_refuses_a_folder_of_somebody_else(tmp_path: Path, site_cli: SiteCli) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("x")
    result = site_cli("watch", "-o", "out")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)


class Reader:
    """Reads pages of the server like a browser."""

    def __init__(self, cli: SiteCli) -> None:
        until(lambda: "serving http" in cli.log, "it serves")
        self.root = cli.log.split("serving ")[-1].split()[0]

    def __call__(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(self.root + path, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


def test_serve_shows_rebuilds_and_tells_the_browser(tmp_path: Path, site_cli: SiteCli) -> None:
    process = site_cli.start("serve", "--port", "0", "-o", "out")
    read = Reader(site_cli)
    status, page = read("gb/gb0124.html")
    assert (status, '<script src="/.fullgraph/reload.js?0">' in page) == (200, True)
    assert "connect-src 'self'" in page
    assert b".fullgraph" not in (tmp_path / "out" / "gb" / "gb0124.html").read_bytes()
    assert read(".fullgraph/reload.js?0") == (
        200,
        "new EventSource('/.fullgraph/changes?0').onmessage = () => location.reload()",
    )
    assert read("")[0] == read("releases")[0] == read("assets/site.css")[0] == 200
    for path in ("nothing.html", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd"):
        status, page = read(path)
        assert (status, "<html" in page, "root:" in page) == (404, True, False)

    changes = urllib.request.urlopen(f"{read.root}.fullgraph/changes?0", timeout=60)
    assert changes.readline() == b"retry: 500\n"
    (tmp_path / "info").mkdir()
    (tmp_path / "info" / "gb0124.md").write_text(f"{START}\nFresh words.\n{END}\n")
    lines = [changes.readline() for _ in range(2)]
    assert lines[-1] == b"data: changed\n"
    assert "Fresh words." in read("gb/gb0124.html")[1]

    (tmp_path / "site.toml").write_text('titel = "x"\n')
    until(lambda: "there is no setting 'titel'" in site_cli.log, "the mistake is reported")
    until(lambda: "the last good site stays" in site_cli.log, "so is what happens")
    assert "Fresh words." in read("gb/gb0124.html")[1]
    (tmp_path / "site.toml").write_text('title = "Renamed"\n')
    until(lambda: "Renamed" in read("")[1], "it recovers")
    (tmp_path / "site.toml").write_text('address = "https://example.org/some/where"\n')
    until(lambda: read("some/where/gb/gb0124.html")[0] == 200, "it is where it will be, too")
    status, page = read("some/where/deep/nothing.html")
    assert (status, 'href="/some/where/index.html"' in page) == (404, True)
    assert read("some/where/index.html")[1] == read("some/where")[1] == read("")[1]
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert site_cli.log.splitlines()[-1] == "stopped"


def test_serve_says_what_is_wrong_before_it_starts(tmp_path: Path, site_cli: SiteCli) -> None:
    taken = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    port = str(taken.server_address[1])
    with taken:
        result = site_cli("serve", "--port", port)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert f"cannot serve on port {port}" in result.stderr
    result = site_cli("serve", "--port", "0", "--release", "nonsense")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "nonsense" in result.stderr
