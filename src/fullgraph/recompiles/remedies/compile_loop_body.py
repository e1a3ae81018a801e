"""Compile the body of a loop instead of the function around it.

A loop whose number of rounds is an argument is unrolled, so each number compiles again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.model.report import RecompileGroup
from fullgraph.recompiles.candidate import Candidate
from fullgraph.recompiles.context import ProgramContext
from fullgraph.recompiles.remedies._rewrites import function_source

TITLE = "compile the loop's body"
KIND = "rewrite"
ORDER = 75


def propose(group: RecompileGroup, context: ProgramContext) -> Iterator[Candidate]:
    """Yield the advice where `for … in range(n)` uses the number that changes."""
    found = function_source(group, context)
    if group.kind != "int" or found is None:
        return
    file, function = found
    for node in ast.walk(function):
        if isinstance(node, ast.For) and _repeats(node.iter, group.name):
            text = f"compile the body of the loop over range({group.name}) instead"
            yield Candidate(text, where=file.frame(node))
            return


def _repeats(node: ast.expr, name: str) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return node.func.id == "range" and any(ast.unparse(each) == name for each in node.args)
