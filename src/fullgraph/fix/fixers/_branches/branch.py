"""The branch that a graph break is about."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec import Struct

from fullgraph.fix.source.break_ids import (
    DATA_DEPENDENT_BRANCH,
    DATA_DEPENDENT_OPERATOR,
    TENSOR_ITEM,
)
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.locate import byte_column, covers, parents_of, statement_of

# Statements and expressions with a test.
BranchNode = ast.If | ast.IfExp | ast.Assert | ast.While
# The breaks at a test on a tensor: of the test, of `.item()` in it, of `torch.allclose` in it.
BRANCH_IDS = (DATA_DEPENDENT_BRANCH, TENSOR_ITEM, DATA_DEPENDENT_OPERATOR)
# The lines of breaks for which reports offer a fixer of branches with two sides.
TWO_SIDED_BRANCH = r"(?m)^\s*(if|elif|while|assert)\b| if .+ else |branching"


class TensorBranch(Struct, frozen=True):
    """A statement or an expression with a test on a tensor."""

    node: BranchNode
    # The branch itself, or the statement that contains it.
    statement: ast.stmt
    scope: Scope
    text: str
    # The operand of the test at which Dynamo stopped.
    operand: ast.expr
    # Whether the test is on an unbacked symbol instead of a tensor.
    is_symbol: bool


def tensor_branch(context: BreakContext) -> TensorBranch | None:
    """Return the innermost branch whose test contains the break; None without one."""
    if context.function is None:
        return None
    node = _branch_at(context, context.function)
    if node is None:
        return None
    if any(isinstance(each, ast.Lambda) for each in parents_of(context.function, node)):
        # The arguments of a lambda hide names of the function.
        raise Declined("the branch is in a lambda", node)
    return TensorBranch(
        node=node,
        statement=node if isinstance(node, ast.stmt) else statement_of(context.tree, node),
        scope=Scope(context.tree, context.function),
        text=context.text,
        operand=_operand_at(context, node.test),
        is_symbol="SymNode" in context.cause.context,
    )


def two_sided_branch(context: BreakContext) -> TensorBranch | None:
    """Return the branch of the break if it chooses between two computations; None otherwise."""
    branch = tensor_branch(context)
    if branch is None:
        decline_operator_value(context.expressions)
    if branch is None or not isinstance(branch.node, ast.If | ast.IfExp) or is_check(branch.node):
        return None
    return branch


def decline_operator_value(nodes: Iterable[ast.AST]) -> None:
    """Decline the first `and` or `or` among some nodes that are not tests; do nothing without."""
    for node in nodes:
        if isinstance(node, ast.BoolOp):
            operator = "or" if isinstance(node.op, ast.Or) else "and"
            raise Declined(f"the value of `{operator}` is used, not only whether it is true", node)


def is_check(node: BranchNode) -> bool:
    """Return whether a branch only raises: `assert ok`, or `if bad: raise` without `else`."""
    if isinstance(node, ast.If):
        return isinstance(node.body[-1], ast.Raise) and not node.orelse
    return isinstance(node, ast.Assert)


def _branch_at(context: BreakContext, function: ast.FunctionDef) -> BranchNode | None:
    line, column = _start(context)
    branches = [node for node in ast.walk(function) if isinstance(node, BranchNode)]
    around = [node for node in branches if covers(node.test, line, column)]
    if around:
        return max(around, key=lambda node: (node.test.lineno, node.test.col_offset))
    # Dynamo reports `if not x` at the start of the statement.
    starting = [node for node in branches if (node.lineno, node.col_offset) == (line, column)]
    return starting[0] if starting else None


def _operand_at(context: BreakContext, test: ast.expr) -> ast.expr:
    """Return the operand of `and` and `or` that contains the break; the test itself without one."""
    first, last = _start(context), _last(context)
    while isinstance(test, ast.BoolOp):
        inside = [each for each in test.values if covers(each, *first) and covers(each, *last)]
        if not inside:
            return test
        test = inside[0]
    return test


def _start(context: BreakContext) -> tuple[int, int]:
    """Return the line and the byte column at which the break starts."""
    line, column = context.cause.line, context.cause.column or 1
    return line, byte_column(context.text, line, column)


def _last(context: BreakContext) -> tuple[int, int]:
    """Return the line and the byte column of the last character of the break."""
    cause = context.cause
    line = cause.end_line or cause.line
    column = cause.end_column - 1 if cause.end_column else (cause.column or 1)
    return line, byte_column(context.text, line, column)
