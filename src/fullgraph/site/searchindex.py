"""Build the index for the search of the home page, as a script that works from files too."""

from __future__ import annotations

from typing import Any

from msgspec import json

from fullgraph.site.labels import STATUS
from fullgraph.site.model import BreakPage, SiteData

# The order that the script expects.
_FIXABLE = ("yes", "sometimes", "no")


class _Table:
    """Stores each text once and numbers it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text."""
        if text not in self._numbers:
            self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._numbers[text]


def index_of(site: SiteData) -> dict[str, Any]:
    """Return the index. Entries are lists, because field names would repeat hundreds of times."""
    hints = _Table()
    releases = [release.release for release in site.releases]
    categories = [category.name for category in site.categories]
    return {
        "releases": releases,
        "categories": categories,
        "titles": [category.title for category in site.categories],
        "statuses": list(STATUS),
        "fixable": list(_FIXABLE),
        "entries": [
            _entry(site.breaks[identifier], releases, categories, hints)
            for identifier in sorted(site.breaks)
        ],
        "hints": hints.texts,
    }


def _entry(each: BreakPage, releases: list[str], categories: list[str], hints: _Table) -> list[Any]:
    page = each.page
    live = {mark.release for mark in each.history if mark.mark == "live"}
    return [
        each.id,
        page.type,
        page.explanation,
        page.context,
        [hints.number(hint) for hint in page.hints],
        [
            [wording.type, wording.explanation, [hints.number(hint) for hint in wording.hints]]
            for wording in page.earlier_wordings
        ],
        " ".join(each.example.how.split()) if each.example else "",
        categories.index(page.category) if page.category in categories else -1,
        list(STATUS).index(each.status),
        sum(1 << number for number, release in enumerate(releases) if release in live),
        releases.index(page.first_release) if page.first_release in releases else -1,
        _FIXABLE.index(page.fixable) if page.fixable in _FIXABLE else -1,
        int(each.example is not None),
    ]


def script_of(index: dict[str, Any]) -> bytes:
    """Return the index as a script; no text in it can end the script or start a comment."""
    text = json.encode(index).decode()
    for character, written in (("<", "\\u003c"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        text = text.replace(character, written)
    return f"window.FULLGRAPH_INDEX = {text};\n".encode()
