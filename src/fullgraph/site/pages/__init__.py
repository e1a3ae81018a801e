"""The kinds of pages, found by walking this folder.

A file has one function, `outputs(site)`, which yields what it contributes. An output is rendered
only when its `facts` differ from those of the last build, so they must hold all that it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

from fullgraph.site.model import Site


class Output(NamedTuple):
    # Relative to the site, with `/`.
    path: str
    # Anything that msgspec can encode.
    facts: Any
    render: Callable[[], bytes]


def all_outputs(site: Site) -> Iterator[Output]:
    for module in iter_modules(__path__):
        yield from import_module(f"{__name__}.{module.name}").outputs(site)
