"""Break the graph around the part that changes, so that only a small part compiles again.

The rest of the function keeps its compiled code. It is worth it if the part is small. Under
`fullgraph=True` a break is an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._rewrites import updates_container

TITLE = "a deliberate break that makes recompiling cheap"
KIND = "rewrite"
ORDER = 95


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice where torch names the line that needs the value."""
    frame = group.specialized_at
    is_value = group.kind in ("str", "int", "float", "length", "keys", "type")
    if context.has_fullgraph(group) or updates_container(group, context):
        return
    if frame is not None and is_value and context.is_yours(frame.file):
        text = f"torch._dynamo.graph_break() around the part that needs {group.name}"
        yield Candidate(text, where=frame)
