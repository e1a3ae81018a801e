"""Pass a number as a tensor without dimensions, so that its value is data and not a constant.

It is offered where the function only computes with the number, on one path: elsewhere, a tensor
would decide which code runs, or be returned in place of a number. The tensor is as precise as the
number, and it does not change the dtype of results.
"""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.analysis.user_lines.bindings import parameters_of
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._certain import is_number
from fullgraph.recompiles.remedies._operands import FloatOperands
from fullgraph.recompiles.remedies._paths import has_branches
from fullgraph.recompiles.remedies._rewrites import function_source
from fullgraph.recompiles.source_changes import passed_arguments

TITLE = "a number as a tensor"
KIND = "source"
ORDER = 55


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change for an argument that is an int or a float."""
    if group.kind not in ("int", "float") or group.place != "argument":
        return
    passed = passed_arguments(group, context, group.source)
    if not passed or passed[0].suffix or not _only_computes(group, context):
        return
    is_int = group.kind == "int"
    # A tensor that another call passes stays as it is.
    template = "torch.as_tensor({})" if is_int else "torch.tensor({}, dtype=torch.float64)"
    text = f"pass {template.replace('{}', passed[0].text)}"
    if is_int or all(is_number(each.file, each.value) for each in passed):
        files = tuple(each.wrapped(template) for each in passed)
        yield Candidate(text, where=passed[0].frame, files=files)
    else:
        text = f"{text}, if it is a number in every call"
        yield Candidate(text, where=passed[0].frame)


def _only_computes(group: RecompileGroup, context: ProgramContext) -> bool:
    """Return whether the function certainly only computes with the number."""
    found = function_source(group, context)
    if found is None or has_branches(found[1]):
        return False
    names = [each.arg for each in parameters_of(found[1])]
    passed = {name: passed_arguments(group, context, f"L['{name}']") for name in names}
    operands = FloatOperands(*found, passed)
    # An integer among integers does not change the dtype, a float without dimensions would.
    return operands.is_computed_with(group.name, floating=group.kind == "float")
