"""Make an argument contiguous where it is passed, so that one layout reaches the compiled code.

A tensor that already is contiguous is not copied. The result is the same up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.source_changes import passed_arguments

TITLE = ".contiguous() where the argument is passed"
KIND = "source"
ORDER = 10


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change for an argument whose strides change."""
    if group.kind != "stride" or group.place != "argument":
        return
    passed = passed_arguments(group, context, group.source)
    if passed and not passed[0].suffix:
        files = tuple(each.wrapped("{}.contiguous()") for each in passed)
        text = f"pass {passed[0].text}.contiguous()"
        yield Candidate(text, where=passed[0].frame, files=files)
