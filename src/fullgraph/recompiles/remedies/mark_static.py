"""Mark a size that does not change as static before the call, where all sizes are dynamic.

With `dynamic=True`, Dynamo uses one symbol for sizes that are equal in the first call, and compiles
again when they are not. A size that is static has no symbol. Code that is compiled for it fits no
other value of this size.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._marking import marked_sizes
from fullgraph.recompiles.remedies._sources import equal_sizes

TITLE = "torch._dynamo.mark_static before the call"
KIND = "source"
ORDER = 27


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the marking of a size that was equal to another one in the first call."""
    for sizes in equal_sizes(group):
        yield from marked_sizes(group, context, "torch._dynamo.mark_static", sizes=sizes)
