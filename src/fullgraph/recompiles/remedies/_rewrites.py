"""What remedies that are only described have in common."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.context import ProgramContext


def function_source(
    group: RecompileGroup, context: ProgramContext
) -> tuple[SourceFile, Function] | None:
    """Return the function of a group in the user's source; None if it is not there."""
    file = context.source(group.file) if context.is_yours(group.file) else None
    function = file.function_of(context.code_of(group)) if file is not None else None
    return None if file is None or function is None else (file, function)


def stores_of_attribute(function: Function, name: str) -> Iterator[ast.Attribute]:
    """Yield the places of a function that write an attribute of `self`."""
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and f"{node.value.id}.{node.attr}" == name
        ):
            yield node


def updates_container(group: RecompileGroup, context: ProgramContext) -> bool:
    """Return whether the compiled function itself changes the container that a group is about."""
    found = function_source(group, context)
    written = group.written_at
    if group.kind not in ("length", "keys") or written is None or found is None:
        return False
    file, function = found
    return written.file == file.path and any(
        node.lineno <= written.line <= (node.end_lineno or node.lineno)
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node is not function
    )


def uses_of(function: ast.AST, name: str) -> list[ast.Name]:
    """Return where a function or module reads or binds a name."""
    return [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
