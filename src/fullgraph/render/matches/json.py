"""The breaks in a text as JSON."""

from __future__ import annotations

from typing import Any

from fullgraph.registry.match import Found
from fullgraph.registry.pages import Page
from fullgraph.render import _json
from fullgraph.render.entry.json import entry_fields
from fullgraph.render.matches import Matches


def render(matches: Matches, **_: object) -> str:
    """Return the best entry with the fields that it has for an id, and all matches."""
    best = matches.pages[matches.found[0].candidates[0].id]
    shown = [_match(each, matches.pages) for each in matches.found]
    return _json.render({**entry_fields(best), "matches": shown})


def _match(found: Found, pages: dict[str, Page]) -> dict[str, Any]:
    return {
        "ambiguous": found.ambiguous,
        "candidates": [
            {
                "id": candidate.id,
                "type": pages[candidate.id].type,
                "found_by": candidate.by,
                "wording": candidate.wording,
            }
            for candidate in found.candidates
        ],
    }
