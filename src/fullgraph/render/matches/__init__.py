"""`Matches`: the breaks in a text, and the registry entries that they match."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fullgraph.registry.match import Found
    from fullgraph.registry.pages import Page


class Matches(NamedTuple):
    """The breaks in a text, in their order, and the page of every candidate by its id."""

    found: tuple[Found, ...]
    pages: dict[str, Page]
