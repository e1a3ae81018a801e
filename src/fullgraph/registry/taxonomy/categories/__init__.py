"""The categories: one Markdown file each, found by walking this folder.

A file starts with facts between two lines of `---`, each a name, a colon and a value on one line:

    title    what the category is called in reports
    advice   one sentence: what to do; shown under a break
    fixable  can a user usually fix it: yes, sometimes or no
    cost     usually at what cost: one line, local rewrite, restructure or not by you
    order    where it stands in lists: what people meet most comes first

The rest is its page. The name of the file is the name of the category.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_FENCE = "---\n"


class Category(NamedTuple):
    name: str
    title: str
    advice: str
    fixable: str
    cost: str
    order: int
    page: str


def read_categories() -> tuple[Category, ...]:
    files = Path(__file__).parent.glob("*.md")
    categories = [_read(file.stem, file.read_text(encoding="utf-8")) for file in files]
    return tuple(sorted(categories, key=lambda category: category.order))


def _read(name: str, text: str) -> Category:
    # A handful of lines and a page need no parser of a format, and none has to be imported.
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
