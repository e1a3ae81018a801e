"""Name a size that does not change in `TORCH_COMPILE_STATIC_SOURCES`, without touching the code.

It does what `mark_static` does, for the arguments of this name of all functions. torch 2.13 does
not have it, torch 2.15 has.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies._sources import equal_sizes

TITLE = "TORCH_COMPILE_STATIC_SOURCES"
KIND = "environment"
ORDER = 51


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the environment variable for a size that was equal to another one at first."""
    del context
    if not has_feature("static_sources"):
        return
    for sizes in equal_sizes(group):
        value = ",".join(f"{source}:{dim}" for source, dims in sizes.items() for dim in dims)
        yield Candidate(
            f'TORCH_COMPILE_STATIC_SOURCES="{value}"  without touching the code',
            config={"torch.compiler.config.static_sources": value},
        )
