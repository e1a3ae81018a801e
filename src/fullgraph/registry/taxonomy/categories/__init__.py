"""The categories: one Markdown file per category, found by walking this folder.

A file starts with facts between two lines of `---`, one `name: value` per line:

    title    what the category is called in reports
    advice   one sentence that says how to fix such a break
    fixable  can a user usually fix it: yes, sometimes or no
    cost     usual cost: one line, local rewrite, restructure or not by you
    order    position in lists: the most frequent categories come first

The rest is the page of the category. The name of the file is the name of the category.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_FENCE = "---\n"


class Category(NamedTuple):
    """One category and its page, as Markdown."""

    name: str
    title: str
    advice: str
    fixable: str
    cost: str
    order: int
    page: str


def read_categories() -> tuple[Category, ...]:
    """Return all categories in the order of lists."""
    files = Path(__file__).parent.glob("*.md")
    categories = [_read(file.stem, file.read_text(encoding="utf-8")) for file in files]
    return tuple(sorted(categories, key=lambda category: category.order))


def _read(name: str, text: str) -> Category:
    # A few lines need no parser of a format, which would have to be imported.
    _, head, page = text.split(_FENCE, 2)
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    return Category(
        name=name,
        title=facts["title"],
        advice=facts["advice"],
        fixable=facts["fixable"],
        cost=facts["cost"],
        order=int(facts["order"]),
        page=page.strip() + "\n",
    )
