"""One entry as JSON, with its example (null if there is none) and the names of its fixers."""

from __future__ import annotations

from typing import Any

import msgspec

from fullgraph.catalog.parse import read_example
from fullgraph.fix.declarations import serving_fixers
from fullgraph.registry.pages import Page
from fullgraph.render import _json


def render(page: Page, **_: object) -> str:
    """Return the entry as one object."""
    example = read_example(page.id)
    return _json.render({**entry_fields(page), "example": example.as_json() if example else None})


def entry_fields(page: Page) -> dict[str, Any]:
    """Return the fields of an entry without its example."""
    serving = serving_fixers(page.id, page.category, fixable=page.fixable != "no")
    return {**msgspec.to_builtins(page), "fixers": serving.names}
