"""One category for a terminal."""

from __future__ import annotations

from fullgraph.registry.taxonomy import Category
from fullgraph.render._lines import joined


def render(category: Category, **_: object) -> str:
    """Return the page of the category."""
    lines = [category.title, "", category.advice, "", *category.page.splitlines()]
    entries = f"fullgraph registry list --category {category.name} lists its entries."
    return joined([*lines, "", entries])
