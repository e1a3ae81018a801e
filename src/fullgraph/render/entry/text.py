"""One entry for a terminal, with its example from the catalog if there is one."""

from __future__ import annotations

from fullgraph.catalog.parse import read_example
from fullgraph.registry.pages import Page
from fullgraph.render._lines import joined
from fullgraph.render.entry._page import page_lines
from fullgraph.render.example.text import example_lines
from fullgraph.terminal import Terminal


def render(page: Page, *, width: int = 80, color: bool = False, **_: object) -> str:
    """Return the entry, then its example."""
    terminal = Terminal(width, color)
    lines = list(page_lines(page, terminal))
    example = read_example(page.id)
    if example is not None:
        lines += ["", *example_lines(example, terminal)]
    return joined(lines)
