"""The categories as JSON."""

from __future__ import annotations

from fullgraph.registry.taxonomy import CATEGORIES
from fullgraph.render import _json
from fullgraph.render.categories import CategoryCounts


def render(categories: CategoryCounts, **_: object) -> str:
    """Return one object per category."""
    return _json.render(
        [
            {"category": each.name, "title": each.title, "entries": categories.counts[each.name]}
            for each in CATEGORIES
        ]
    )
