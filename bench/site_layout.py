"""Measure the layout of every page of a break in Chromium.

On a desktop the first code block must begin above the fold. No text may be smaller than 14 px, and
nothing may overflow on a phone.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench._timing import verdict

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

DESKTOP: ViewportSize = {"width": 1366, "height": 768}
PHONE: ViewportSize = {"width": 390, "height": 844}
FOLD = 600
LEAST_ABOVE_FOLD = 0.95
SMALLEST_TEXT = 14

# The top of the first code block that is shown, or null without one.
FIRST_CODE = """() => {
  const tops = [...document.querySelectorAll("main pre")]
    .filter((block) => block.checkVisibility())
    .map((block) => block.getBoundingClientRect().top + scrollY);
  return tops.length ? Math.min(...tops) : null;
}"""
# The text that is smaller than a size, each kind of element once.
SMALL_TEXT = """(least) => {
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.matches("script, style, title, desc")) continue;
    if (!element.checkVisibility()) continue;
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (size < least - 0.01) found.add(`${element.tagName}.${element.className}: ${size}px`);
  }
  return [...found];
}"""
OVERFLOWS = "() => document.documentElement.scrollWidth > innerWidth"


class _Layout(NamedTuple):
    page: str
    # None if the page has no code block.
    first_code: float | None
    small: list[str]
    overflows: bool


def main() -> bool:
    """Build the site of the installed torch and measure it; return whether all targets are met."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("site layout: there is no chromium on the PATH")
        return False
    with tempfile.TemporaryDirectory() as name:
        site = Path(name) / "site"
        command = [sys.executable, "-m", "fullgraph", "site", "build", "-o", str(site)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        breaks = list(_layouts(sorted(site.glob("gb/*.html")), chromium))
    tops = [each.first_code for each in breaks]
    above = [top for top in tops if top is not None and top < FOLD]
    lowest = max(breaks, key=lambda each: each.first_code or 0)
    print(f"site layout: {len(breaks)} breaks, {tops.count(None)} without code")
    print(f"  the first code block is lowest on {lowest.page}: y = {lowest.first_code}")
    for each in [each for each in breaks if each.small or each.overflows][:5]:
        print(f"  {each.page}: {each.small} {'overflows' if each.overflows else ''}")
    below = 1 - len(above) / len(breaks)
    return all(
        [
            verdict("share of breaks with code below the fold", below, 1 - LEAST_ABOVE_FOLD),
            verdict("pages with small text", sum(bool(each.small) for each in breaks), 0),
            verdict("pages that overflow on a phone", sum(each.overflows for each in breaks), 0),
        ]
    )


def _layouts(files: list[Path], chromium: str) -> Iterable[_Layout]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport=DESKTOP)
        yield from (_layout(page, file) for file in files)
        browser.close()


def _layout(page: Page, file: Path) -> _Layout:
    page.set_viewport_size(DESKTOP)
    page.goto(file.as_uri())
    first_code, small = page.evaluate(FIRST_CODE), page.evaluate(SMALL_TEXT, SMALLEST_TEXT)
    page.set_viewport_size(PHONE)
    small += page.evaluate(SMALL_TEXT, SMALLEST_TEXT)
    return _Layout(file.name, first_code, small, page.evaluate(OVERFLOWS))
