"""The categories for a terminal, and what else `fullgraph explain` explains."""

from __future__ import annotations

from fullgraph.fix.declarations import declarations
from fullgraph.registry.taxonomy import CATEGORIES
from fullgraph.render._lines import joined
from fullgraph.render.categories import CategoryCounts


def render(categories: CategoryCounts, **_: object) -> str:
    """Return one line per category."""
    counts, release = categories.counts, categories.release
    widest = max(len(each.name) for each in CATEGORIES)
    fixers = declarations()
    return joined(
        [
            f"The {sum(counts.values())} graph breaks of torch {release}, by category:",
            "",
            *(f"{counts[e.name]:>5}  {e.name:<{widest}}  {e.title}" for e in CATEGORIES),
            "",
            "fullgraph explain GB0124 explains one break; an error message works too.",
            f"fullgraph explain {CATEGORIES[0].name} explains one category.",
            f"fullgraph explain {fixers[0].name} explains one of the {len(fixers)} fixers of "
            "fullgraph fix.",
        ]
    )
