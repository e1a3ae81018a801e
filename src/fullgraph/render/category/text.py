"""One category for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.registry.taxonomy import Category
from fullgraph.render._lines import joined
from fullgraph.render._markdown import markdown_lines
from fullgraph.terminal import Terminal


def render(category: Category, *, width: int = 80, color: bool = False, **_: object) -> str:
    """Return the page of the category."""
    return joined(_lines(category, Terminal(width, color)))


def _lines(category: Category, terminal: Terminal) -> Iterator[str]:
    yield terminal.style(category.title, "bold")
    yield ""
    yield from terminal.wrapped(category.advice)
    yield ""
    yield from markdown_lines(category.page, terminal)
    yield f"fullgraph registry list --category {category.name} lists its entries."
