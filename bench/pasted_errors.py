"""Paste the error of every catalog example into the search of the site, in a real browser.

Each example of the catalog runs with `fullgraph=True`. The page that its message links to must be
the first result. Some examples raise nothing there, and some raise the message of another break;
both are listed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fullgraph.catalog.parse import example_ids

_RENDER = Path(__file__).parents[1] / "tests" / "site" / "render_messages.py"
_LINK = re.compile(r"/gb/gb(\d{4,})\.html")
# The focus loads the index.
_FIRST = """async texts => {
    while (!window.FullgraphSearch) await new Promise(done => setTimeout(done, 5));
    const search = new FullgraphSearch.Search(FULLGRAPH_INDEX);
    return texts.map(text => search.find(text)[0]?.entry.id ?? "nothing");
}"""


def main() -> bool:
    """Print what is not found; return whether everything is."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("pasted_errors: there is no chromium on the PATH")
        return False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        messages = _messages(folder)
        raised = {identifier: text for identifier, text in messages.items() if text}
        wanted = {identifier: _linked(text) for identifier, text in raised.items()}
        found = dict(zip(raised, _first_results(folder, chromium, [*raised.values()]), strict=True))
    missed = [each for each in raised if found[each] != wanted[each]]
    own = [each for each in raised if wanted[each] == each]
    others = sorted({*raised} - {*own})
    print(
        f"pasted_errors: {len(messages)} examples, {len(raised)} raise with fullgraph=True, "
        f"{len(own)} of them their own break; the page is first for "
        f"{len(raised) - len(missed)} of {len(raised)}, and for "
        f"{sum(found[each] == each for each in own)} of the {len(own)}"
    )
    print(f"  raise nothing: {', '.join(sorted({*messages} - {*raised}))}")
    print("  raise another:", ", ".join(f"{each} ({wanted[each]})" for each in others))
    for each in missed:
        print(f"  MISSED {each}: wanted {wanted[each]}, found {found[each]}")
    return not missed


def _messages(folder: Path) -> dict[str, str]:
    run = subprocess.run(
        [sys.executable, str(_RENDER), *example_ids()],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, str] = json.loads(run.stdout)
    return found


def _linked(message: str) -> str:
    link = _LINK.search(message)
    return f"GB{link[1]}" if link else "no link"


def _first_results(folder: Path, chromium: str, texts: list[str]) -> list[str]:
    """Return the id of the first result for each text."""
    from playwright.sync_api import sync_playwright

    site = folder / "site"
    command = [sys.executable, "-m", "fullgraph", "site", "build", "-o", str(site)]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page()
        page.goto(f"{site.as_uri()}/index.html")
        page.focus("#q")
        found: list[str] = page.evaluate(_FIRST, texts)
        browser.close()
    return found
