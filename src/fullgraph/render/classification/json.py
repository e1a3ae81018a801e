"""A model's categories next to ours as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullgraph.render import _json

if TYPE_CHECKING:
    from fullgraph.ai.classify import Comparison


def render(comparison: Comparison, **_: object) -> str:
    """Return the counts and every entry."""
    from fullgraph.ai.classify import FORMAT

    return _json.render(
        {
            "format": FORMAT,
            "release": comparison.release,
            "agree": comparison.agreeing,
            "categories": comparison.by_category,
            "entries": comparison.entries,
            "usage": comparison.usage,
        }
    )
