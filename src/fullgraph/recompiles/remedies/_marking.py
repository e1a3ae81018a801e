"""Statements that mark the sizes of arguments, in front of the calls of a compiled function."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from fullgraph.analysis.user_lines.bindings import parameters_of
from fullgraph.fix.source.torch_ops import TENSOR_TUPLES
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._certain import (
    certain_rank,
    is_tensor,
    only_binding,
)
from fullgraph.recompiles.remedies._operands import needs_tensor
from fullgraph.recompiles.remedies._paths import calls_in, has_one_path
from fullgraph.recompiles.remedies._rewrites import function_source, uses_of
from fullgraph.recompiles.source_changes import (
    PassedArgument,
    argument_sizes,
    is_plain,
    passed_arguments,
    statements_before,
)

_ARGUMENT = re.compile(r"L\['(\w+)'\](.*)")


def marked_sizes(
    group: RecompileGroup,
    context: ProgramContext,
    function: str,
    options: str = "",
    sizes: dict[str, list[int]] | None = None,
) -> Iterator[Candidate]:
    """Yield the candidate that marks all sizes of arguments that change in a group, or others.

    `options` follow the dimensions in each call of the function.
    """
    if group.kind not in ("size", "int") or group.place != "argument":
        return
    sizes = argument_sizes(group, context) if sizes is None else sizes
    if group.kind == "int" and not sizes:
        return
    marked: list[tuple[PassedArgument, Callable[[str], list[str]]]] = []
    statements: list[str] = []
    for source, dims in sizes.items():
        passed = passed_arguments(group, context, source)
        if not passed:
            return
        is_needed = _is_needed(group, context, source)
        for each in passed:
            is_certain = is_needed or (not each.suffix and is_tensor(each.file, each.value))
            if each.suffix and not is_certain:
                # Another call may pass a container without this item.
                return
            marking = _marking(function, each.suffix, dims, options)
            marked.append((each, marking if is_certain else _if_tensor(marking)))
            name = each.text if is_plain(each.value) else _name(source)
            statements += marking(name)
    files = statements_before(marked, ["import torch._dynamo"])
    if not files:
        return
    shown = "; ".join(dict.fromkeys(statements))
    yield Candidate(f"{shown}  before the call", where=marked[0][0].frame, files=files)


def _is_needed(group: RecompileGroup, context: ProgramContext, source: str) -> bool:
    """Return whether each call certainly passes a tensor: the function fails without one."""
    found = function_source(group, context)
    match = _ARGUMENT.fullmatch(source)
    if found is None or match is None:
        return False
    collecting = (found[1].args.vararg, found[1].args.kwarg)
    is_collected = match[1] in [each.arg for each in collecting if each is not None]
    return not is_collected and needs_tensor(*found, f"{match[1]}{match[2]}")


def _if_tensor(marking: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Mark only tensors: other calls may pass None."""
    return lambda expression: [
        f"if isinstance({expression}, torch.Tensor):",
        *(f"    {each}" for each in marking(expression)),
    ]


def sizes_are_free(group: RecompileGroup, context: ProgramContext) -> bool:
    """Return whether certainly no call gets to code that needs a particular size of an argument.

    The argument must be the only one, of a certain number of dimensions, and must go nowhere else:
    a marked tensor is marked for all compiled functions.
    """
    found = function_source(group, context)
    if found is None or not has_one_path(*found):
        return False
    function = found[1]
    names = [each.arg for each in parameters_of(function) if each.arg != "self"]
    if len(names) != 1 or any(_gives_tensors(call) for call in calls_in(function)):
        return False
    passed = passed_arguments(group, context, f"L['{names[0]}']")
    return bool(passed) and all(_goes_nowhere_else(each) for each in passed)


def _gives_tensors(call: ast.Call) -> bool:
    """Return whether a call returns as many tensors as a size says."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in TENSOR_TUPLES


def _goes_nowhere_else(passed: PassedArgument) -> bool:
    file, value = passed.file, passed.value
    if not isinstance(value, ast.Name):
        return certain_rank(file, value) is not None
    bound = only_binding(file, value)
    reads = [node for node in uses_of(file.tree, value.id) if isinstance(node.ctx, ast.Load)]
    others = [node for node in reads if node is not value and only_binding(file, node) is bound]
    return certain_rank(file, value) is not None and not others


def _marking(
    function: str, suffix: str, dims: Sequence[int], options: str
) -> Callable[[str], list[str]]:
    return lambda expression: [f"{function}({expression}{suffix}, {_dims(dims)}{options})"]


def _dims(dims: Sequence[int]) -> str:
    return str(dims[0]) if len(dims) == 1 else str(list(dims))


def _name(source: str) -> str:
    """Return the parameter in Dynamo's name of a value."""
    return source.partition("L['")[2].partition("']")[0]
