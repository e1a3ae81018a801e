"""Count outside of the compiled function: an attribute that it writes itself changes every call.

Move the statement to the code that calls the module, or keep the counter in a buffer.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._rewrites import (
    function_source,
    stores_of_attribute,
    updates_container,
)

TITLE = "a counter moved out of forward"
KIND = "rewrite"
ORDER = 80


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice for a number or a container that the function writes itself."""
    found = function_source(group, context)
    if group.place != "attribute" or found is None:
        return
    file, function = found
    text = f"move the update of {group.name} out of {group.function}"
    if group.kind in ("int", "float"):
        for node in stores_of_attribute(function, group.name):
            yield Candidate(f"{text}, or make it a buffer", where=file.frame(node))
            return
    if updates_container(group, context):
        yield Candidate(text, where=group.written_at)
