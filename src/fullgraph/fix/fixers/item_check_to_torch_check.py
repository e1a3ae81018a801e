"""A number that is read out of a tensor and then checked becomes a symbol with known limits.

`n = lengths.max().item()` breaks, as there is no value while tracing. `capture_scalar_outputs`
makes it a symbol, but then `if n > limit: raise` breaks: Python cannot branch on a symbol. Only
because one side of that branch raises, tracing can go on: `torch._check` has the graph check it at
run time, and tells Dynamo that it is true, which a slice or a size made of the number may need. A
number that leads to a branch of any other kind is left alone, as nothing is gained.

Exact in eager, where the check is the one that it was. While compiled, what is raised is a
`RuntimeError`, and values that its message shows are left out. A check inside a `try`, or one that
does anything else besides raising, is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers._branches.branch import Place, Tested, function_at
from fullgraph.fix.fixers._branches.cases_tests import CHANGES as CHANGES
from fullgraph.fix.fixers._branches.cases_tests import REFUSES as REFUSES
from fullgraph.fix.fixers._branches.to_assert import check_as_operator
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import patched, statements_at, tree_of
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.names import names_in, stored_names

TITLE = "a number that is checked → a symbol with torch._check (a RuntimeError while compiled)"
KIND = "rewrite"
SAFETY = "exact"
ORDER = 1

_ITEM = "GB0124"


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.id != _ITEM:
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    text = _with_checks(spot, Scope(tree, function))
    if text is not None:
        file = patched(spot, text, "import torch")
        settings = {"capture_scalar_outputs": True}
        yield Candidate(
            "item_check_to_torch_check", TITLE, "rewrite", "exact", file=file, settings=settings
        )


def _with_checks(spot: Spot, scope: Scope) -> str | None:
    """All tests of the number as checks; None if one of them is none."""
    name = _bound_at(spot, scope.function)
    if name is None:
        return None
    tested = [
        node
        for node in ast.walk(scope.function)
        if isinstance(node, Tested) and name in names_in(node.test)
    ]
    text = spot.text
    # From the end, so that the places of the others stay what they are.
    for node in sorted(tested, key=lambda node: node.lineno, reverse=True):
        if not isinstance(node, ast.If | ast.Assert):
            return None
        new = check_as_operator(Place(node, node, scope, text, node.test, symbol=True))
        if new is None:
            return None
        text = new
    return text if tested else None


def _bound_at(spot: Spot, function: ast.FunctionDef) -> str | None:
    """The name that the number gets, if it gets no other value anywhere."""
    statement = next(iter(statements_at(function, spot.cause.line)), None)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as value):
            if not _reads_out(value):
                return None
            others = [s for s in function.body if s is not statement and name in stored_names(s)]
            is_own = name in {argument.arg for argument in function.args.args}
            return None if others or is_own else name
    return None


def _reads_out(node: ast.Call) -> bool:
    match node.func:
        case ast.Attribute(attr="item") | ast.Name(id="int" | "float"):
            return True
    return False
