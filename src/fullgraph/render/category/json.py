"""One category as JSON."""

from __future__ import annotations

from fullgraph.registry.taxonomy import Category
from fullgraph.render import _json


def render(category: Category, **_: object) -> str:
    """Return the category as one object."""
    return _json.render(category._asdict())
