"""A built site, a server for it and a real browser, shared by several tests."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from fullgraph.registry.sources import snapshot_named
from fullgraph.site.gather import gather
from fullgraph.site.model import Settings, SiteData
from fullgraph.site.pages import all_outputs

SUB_PATH = "docs/breaks"
INFO = """<!-- ADDITIONAL INFORMATION START -->
## What helped

Read the number *after* the compiled step, see [the docs](https://example.com/docs).

```python
loss = step(x)
print(loss.item())
```

| way | cost |
| --- | --- |
| rewrite | `torch.where(condition, one, other)` |

| setting | default |
| --- | --- |
| capture_scalar_outputs | False |
<!-- ADDITIONAL INFORMATION END -->
"""

Visit = Callable[..., Page]


def write(site: SiteData, folder: Path, only: tuple[str, ...] = ("",)) -> None:
    """Write the pages of a site, or those whose paths start with a prefix."""
    for output in all_outputs(site):
        if not output.path.startswith(only):
            continue
        file = folder / output.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(output.render())


@pytest.fixture(scope="session")
def hosted(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a site of the installed torch, under a path on its host."""
    root = tmp_path_factory.mktemp("host")
    info = tmp_path_factory.mktemp("info")
    (info / "gb0124.md").write_text(INFO)
    (info / "gb9999.md").write_text(INFO)  # no release has this id
    settings = Settings(address=f"http://localhost/{SUB_PATH}/", repository="owner/name")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FULLGRAPH_HOME", str(home))
        site = gather(snapshot_named(None), settings, info)
    folder = root / SUB_PATH
    write(site, folder)
    return folder


class _Handler(SimpleHTTPRequestHandler):
    """Serves a folder like a host of static pages, with the site's own 404 page."""

    def log_message(self, *args: Any) -> None:
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory) / SUB_PATH / "404.html"
        if code != 404 or not page.exists():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture(scope="session")
def address(hosted: Path) -> Iterator[str]:
    root = hosted.parents[len(Path(SUB_PATH).parts) - 1]
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/{SUB_PATH}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no chromium on the PATH")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    """Return a function that opens pages; script errors and external requests fail the test."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def watch(page: Page, home: str) -> None:
        page.on("pageerror", lambda error: problems.append(f"script error: {error}"))
        page.on(
            "console",
            lambda message: (
                message.type == "error"
                # The browser reports the status of the requested page as an error.
                and "404 (Not Found)" not in message.text
                and problems.append(f"console: {message.text}")
            ),
        )
        page.on(
            "request",
            lambda request: (
                request.url.startswith(home) or problems.append(f"asks for {request.url}")
            ),
        )

    def open_page(path: str, *, at: str = "", width: int = 1280, **options: Any) -> Page:
        home = at or address
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        watch(page, home)
        page.goto(home + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not problems
