"""Always pass the tensor that is sometimes None, such as a mask of ones.

Both forms are compiled otherwise, which is right if there are only two, and doubles every other
recompile.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext

TITLE = "a mask that is always passed"
KIND = "rewrite"
ORDER = 80


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice for an argument that is sometimes None."""
    del context
    if group.kind == "none" and group.place == "argument":
        text = f"always pass a tensor for {group.name}, such as a mask of ones"
        yield Candidate(text, where=group.called_at)
