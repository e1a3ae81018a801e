"""Statements that mark the sizes of arguments, in front of the calls of a compiled function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.source_changes import (
    PassedArgument,
    argument_sizes,
    is_plain,
    passed_arguments,
    statements_before,
)


def marked_sizes(
    group: RecompileGroup, context: ProgramContext, function: str
) -> Iterator[Candidate]:
    """Yield the candidate that marks all sizes of arguments that change in a group."""
    if group.kind not in ("size", "int") or group.place != "argument":
        return
    sizes = argument_sizes(group, context)
    if group.kind == "int" and not sizes:
        return
    marked: list[tuple[PassedArgument, Callable[[str], list[str]]]] = []
    statements: list[str] = []
    for source, dims in sizes.items():
        passed = passed_arguments(group, context, source)
        if not passed:
            return
        for each in passed:
            marking = _marking(function, each.suffix, dims)
            marked.append((each, marking))
            name = each.text if is_plain(each.value) else _name(source)
            statements += marking(name)
    files = statements_before(marked, ["import torch._dynamo"])
    if not files:
        return
    shown = "; ".join(dict.fromkeys(statements))
    yield Candidate(f"{shown}  before the call", where=marked[0][0].frame, files=files)


def _marking(function: str, suffix: str, dims: Sequence[int]) -> Callable[[str], list[str]]:
    return lambda expression: [f"{function}({expression}{suffix}, {_dims(dims)})"]


def _dims(dims: Sequence[int]) -> str:
    return str(dims[0]) if len(dims) == 1 else str(list(dims))


def _name(source: str) -> str:
    """Return the parameter in Dynamo's name of a value."""
    return source.partition("L['")[2].partition("']")[0]
