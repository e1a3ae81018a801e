"""One entry as JSON, with its example (null if there is none) and the names of its fixers."""

from __future__ import annotations

from typing import Any

import msgspec

from fullgraph.catalog.parse import read_example, read_variants
from fullgraph.catalog.verdicts import verdicts_of
from fullgraph.fix.declarations import serving_fixers
from fullgraph.registry.pages import Page
from fullgraph.render import _json


def render(page: Page, **_: object) -> str:
    """Return the entry as one object."""
    examples = _examples(page.id)
    shown = {"example": examples[0] if examples else None, "variants": examples[1:]}
    return _json.render({**entry_fields(page), **shown})


def _examples(identifier: str) -> list[dict[str, Any]]:
    """Return the example of an entry and its variants, with the verdicts by release."""
    example = read_example(identifier)
    if example is None:
        return []
    shown = (example, *read_variants(identifier))
    return [
        {**each.as_json(), "verdicts": msgspec.to_builtins(verdicts_of(each.key))} for each in shown
    ]


def entry_fields(page: Page) -> dict[str, Any]:
    """Return the fields of an entry without its example."""
    serving = serving_fixers(page.id, page.category, fixable=page.fixable != "no")
    return {**msgspec.to_builtins(page), "fixers": serving.names}
