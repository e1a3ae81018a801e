"""Turns checks of a number read from a tensor into `torch._check`.

What it does: `n = lengths.max().item()` becomes an unbacked symbol (`capture_scalar_outputs`), and
in compiled code each `if n > limit: raise` or `assert` of it becomes `torch._check`. In eager mode
the original checks run.

Why it breaks: `.item()` has no value while Dynamo traces. With an unbacked symbol instead, Python
cannot branch on `n > limit`. One side of that branch raises, so tracing can continue with the other
side. `torch._check` checks it at run time, and tells Dynamo that it is true, which sizes and slices
made from the number may need.

Safety: exact in eager mode. In compiled code the exception is a `RuntimeError`, and its message has
no values.

Not applied when: the number decides a branch that does not raise, because that break would remain.
The number is assigned again. A check is inside `try`, or does more than raise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers._branches.branch import BranchNode, TensorBranch, decline_operator_value
from fullgraph.fix.fixers._branches.to_assert import assert_rewrite
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import TENSOR_ITEM
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import Edit
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.names import names_in, stored_names

TITLE = "checked number from a tensor → torch._check (RuntimeError in compiled code)"
KIND = "rewrite"
SAFETY = "other_exception"
IDS = (TENSOR_ITEM,)
CATEGORIES = ()
ORDER = 1


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield all checks of the number as `torch._check`, with the setting for the symbol."""
    function = context.function
    name = _number_at(context)
    if function is None or not name:
        return
    tests = [
        node
        for node in ast.walk(function)
        if isinstance(node, BranchNode) and name in names_in(node.test)
    ]
    if not tests:
        uses = (node for node in ast.walk(function) if name in names_in(node))
        decline_operator_value(uses)
        return
    _require_assigned_once(context, function, name)
    scope = Scope(context.tree, function)
    edits = [_rewrite_check(context, scope, name, node) for node in tests]
    yield Candidate(
        context.file_edits(edits, imports=("import torch",)),
        settings={"capture_scalar_outputs": True},
    )


def _number_at(context: BreakContext) -> str:
    """Return the name in `n = x.item()` or `n = int(x)`; empty for any other statement."""
    match context.statements[:1]:
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function))]:
            pass
        case _:
            return ""
    match function:
        case ast.Attribute(attr="item") | ast.Name(id="int" | "float"):
            return name
    return ""


def _require_assigned_once(context: BreakContext, function: ast.FunctionDef, name: str) -> None:
    """Decline a number that has other values elsewhere."""
    statement = context.statements[0]
    if not any(each is statement for each in function.body):
        raise Declined(f"`{name}` is assigned inside a block", statement)
    for other in function.body:
        if other is not statement and name in stored_names(other):
            raise Declined(f"`{name}` is assigned again", other)
    if name in {argument.arg for argument in function.args.args}:
        raise Declined(f"`{name}` is an argument as well", statement)


def _rewrite_check(context: BreakContext, scope: Scope, name: str, node: BranchNode) -> Edit:
    if isinstance(node, ast.If | ast.Assert):
        branch = TensorBranch(node, node, scope, context.text, node.test, is_symbol=True)
        edit = assert_rewrite(branch)
        if edit is not None:
            return edit
    raise Declined(f"`{name}` decides a branch that does not raise", node)
