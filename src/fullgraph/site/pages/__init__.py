"""The kinds of pages, found by walking this folder.

A file has one function, `outputs(site)`, which yields its outputs. An output is rendered only if
its `facts` differ from those of the last build, so they must contain everything that it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

from fullgraph.site.model import SiteData


class Output(NamedTuple):
    """A file of the site: its path, the facts it shows, and how to render it."""

    # Relative to the site, with `/`.
    path: str
    # Anything that msgspec can encode.
    facts: Any
    render: Callable[[], bytes]


def all_outputs(site: SiteData) -> Iterator[Output]:
    """Yield the outputs of all kinds."""
    for module in iter_modules(__path__):
        yield from import_module(f"{__name__}.{module.name}").outputs(site)
