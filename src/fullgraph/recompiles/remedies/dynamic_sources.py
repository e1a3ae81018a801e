"""Name the changing values in `TORCH_COMPILE_DYNAMIC_SOURCES`, without touching the code.

It overrides `dynamic=False` and works for values that no line of the user's code holds, such as
those below a graph break. The names are Dynamo's own: `L['x']` is the argument `x`.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies._sources import changing_sources

TITLE = "TORCH_COMPILE_DYNAMIC_SOURCES"
KIND = "environment"
ORDER = 50
DYNAMIC = True


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the environment variable with everything that changes in a group."""
    if not has_feature("dynamic_sources"):
        return
    names = changing_sources(group, context, with_dims=has_feature("dynamic_sources:N"))
    if names:
        value = ",".join(names)
        yield Candidate(
            f'TORCH_COMPILE_DYNAMIC_SOURCES="{value}"  without touching the code',
            config={"torch.compiler.config.dynamic_sources": value},
        )
