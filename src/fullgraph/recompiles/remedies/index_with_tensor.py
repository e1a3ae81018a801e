"""Index with a tensor of one dimension instead of a tensor without dimensions.

Dynamo turns a tensor without dimensions into a number when it is used as an index, and guards on
it. An index with one dimension stays a tensor; the added dimension is removed from the result. The
patch is offered only if a tensor is certainly indexed, by integers, and the result only read: it is
no longer a view.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.analysis.user_lines.bindings import parameters_of
from fullgraph.analysis.user_lines.source_file import Function, SourceFile
from fullgraph.fix.source.edits import Edit, FileEdits
from fullgraph.fix.source.text import source_of, span
from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._certain import is_integer_tensor, is_tensor
from fullgraph.recompiles.remedies._reads import is_read
from fullgraph.recompiles.remedies._rewrites import function_source, uses_of
from fullgraph.recompiles.source_changes import PassedArgument, passed_arguments

TITLE = "an index with one dimension"
KIND = "source"
ORDER = 8


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the change of each index that is the argument itself."""
    if not any("0-d tensor" in note for note in group.notes):
        return
    found = function_source(group, context)
    if found is None:
        return
    file, function = found
    name = group.name.removesuffix(".item()").partition(".")[0]
    nodes = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Name)
        and node.slice.id == name
    ]
    if not nodes:
        return
    edits = tuple(
        Edit(*span(file.text, node), f"{source_of(file.text, node.value)}[{name}[None]][0]")
        for node in nodes
    )
    text = f"{source_of(file.text, nodes[0])} → {edits[0].replacement}"
    certain = _CertainArguments(group, context, file, function)
    if certain.are_integers(name) and all(certain.is_read_tensor(node) for node in nodes):
        yield Candidate(text, where=file.frame(nodes[0]), files=(FileEdits(file.path, edits),))
    else:
        text = f"{text}, if {name} is always a tensor of integers and nothing writes to the result"
        yield Candidate(text, where=file.frame(nodes[0]))


class _CertainArguments:
    """What all calls of a function certainly pass."""

    def __init__(
        self, group: RecompileGroup, context: ProgramContext, file: SourceFile, function: Function
    ) -> None:
        self._group = group
        self._context = context
        self._file = file
        self._function = function
        self._names = [each.arg for each in parameters_of(function)]

    def are_integers(self, name: str) -> bool:
        """Return whether each call passes a tensor of integers."""
        passed = self._passed(name)
        return bool(passed) and all(is_integer_tensor(each.file, each.value) for each in passed)

    def is_read_tensor(self, item: ast.Subscript) -> bool:
        """Return whether an item of a tensor is used to compute something else."""
        if not is_read(self._file, item):
            return False
        value = item.value
        if not isinstance(value, ast.Name) or value.id not in self._names:
            return is_tensor(self._file, value)
        passed = self._passed(value.id)
        return bool(passed) and all(is_tensor(each.file, each.value) for each in passed)

    def _passed(self, name: str) -> list[PassedArgument]:
        """Return what all calls in the source pass; nothing if there may be others."""
        uses = uses_of(self._function, name)
        if name not in self._names or any(isinstance(use.ctx, ast.Store) for use in uses):
            return []
        passed = passed_arguments(self._group, self._context, f"L['{name}']")
        own_name = getattr(self._function, "name", "")
        called = uses_of(self._file.tree, own_name)
        is_known = {id(each.call.func) for each in passed} == {id(use) for use in called}
        # Other files can import a function of a module, but not one of the script.
        is_script = self._file.path == self._context.main_file
        return passed if is_known and is_script else []
