"""Name the changing sizes in `TORCH_COMPILE_UNBACKED_SOURCES`, without touching the code.

One compile then fits all sizes, also 0 and 1. Code that decides by such a size breaks or raises,
and the name holds for the arguments of all functions. So it is replayed only if no call can get to
such code and nothing else is compiled, and shown after all other remedies that help.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.features import has_feature
from fullgraph.recompiles.remedies._marking import sizes_are_free
from fullgraph.recompiles.remedies._sources import changing_sources

TITLE = "TORCH_COMPILE_UNBACKED_SOURCES"
KIND = "environment"
ORDER = 57


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the environment variable if a size is 0 or 1 in some call."""
    is_special = group.kind == "size" and {"0", "1"} & set(group.values)
    if not is_special or not has_feature("unbacked_sources"):
        return
    names = changing_sources(group, context, with_dims=has_feature("unbacked_sources:N"))
    value = ",".join(names)
    text = f'TORCH_COMPILE_UNBACKED_SOURCES="{value}"'
    if names and context.compiles_one_function and sizes_are_free(group, context):
        yield Candidate(
            f"{text}  without touching the code",
            config={"torch.compiler.config.unbacked_sources": value},
            needs_free_sizes=True,
            comes_last=True,
        )
    elif names:
        yield Candidate(f"{text}, if no code decides by these sizes")
