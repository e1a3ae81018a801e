"""Count outside of the compiled function: an attribute that it writes itself changes every call.

Move the statement to the code that calls the module, or keep the counter in a buffer.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._rewrites import function_source, stores_of_attribute

TITLE = "a counter moved out of forward"
KIND = "rewrite"
ORDER = 80


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice for a number that the function writes itself."""
    found = function_source(group, context)
    if group.kind not in ("int", "float") or group.place != "attribute" or found is None:
        return
    file, function = found
    for node in stores_of_attribute(function, group.name):
        text = f"move the update of {group.name} out of {group.function}, or make it a buffer"
        yield Candidate(text, where=file.frame(node))
        return
