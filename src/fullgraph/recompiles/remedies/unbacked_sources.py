"""Name the changing sizes in `TORCH_COMPILE_UNBACKED_SOURCES`, without touching the code.

One compile then fits all sizes, also 0 and 1. Code that decides by such a size breaks or raises,
and the name holds for the arguments of all functions, so it is neither replayed nor verified.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies._sources import changing_sources

TITLE = "TORCH_COMPILE_UNBACKED_SOURCES"
KIND = "rewrite"
ORDER = 87


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the environment variable if a size is 0 or 1 in some call."""
    is_special = group.kind == "size" and {"0", "1"} & set(group.values)
    if not is_special or not has_feature("unbacked_sources"):
        return
    names = changing_sources(group, context, with_dims=has_feature("unbacked_sources:N"))
    if names:
        value = ",".join(names)
        yield Candidate(
            f'TORCH_COMPILE_UNBACKED_SOURCES="{value}", if no code decides by these sizes'
        )
