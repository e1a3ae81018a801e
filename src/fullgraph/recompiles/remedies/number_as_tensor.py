"""Pass a number as a tensor without dimensions, so that its value is data and not a constant.

It helps where the function only computes with the number. Where the number decides which code runs,
the graph breaks, and the remedy is not offered. The tensor is as precise as the number, and it does
not change the dtype of results.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.source_changes import passed_arguments

TITLE = "a number as a tensor"
KIND = "source"
ORDER = 55


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change for an argument that is an int or a float."""
    if group.kind not in ("int", "float") or group.place != "argument":
        return
    passed = passed_arguments(group, context, group.source)
    if passed and not passed[0].suffix:
        dtype = ", dtype=torch.float64" if group.kind == "float" else ""
        files = tuple(each.wrapped(f"torch.tensor({{}}{dtype})") for each in passed)
        text = f"pass torch.tensor({passed[0].text}{dtype})"
        yield Candidate(text, where=passed[0].frame, files=files)
