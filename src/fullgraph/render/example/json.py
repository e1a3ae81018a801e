"""An example of the catalog as JSON."""

from __future__ import annotations

from fullgraph.catalog.parse import Example
from fullgraph.render import _json


def render(example: Example, **_: object) -> str:
    """Return the example as one object."""
    return _json.render(example.as_json())
