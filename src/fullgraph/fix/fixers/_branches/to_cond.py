"""A branch on a tensor as `torch.cond`: one function per form of the branch."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fullgraph.fix.fixers._branches.branch import TensorBranch
from fullgraph.fix.fixers._branches.cond_branch import CondBranch, cond_branch
from fullgraph.fix.fixers._branches.conditional_store import mutated_names
from fullgraph.fix.fixers._branches.movable import assigned_names, require_movable
from fullgraph.fix.fixers._branches.predicate import (
    MIXED_TEST,
    require_pure_tensor_test,
    require_tensor_test,
    tensor_predicate,
)
from fullgraph.fix.fixers._branches.side import names_outside, not_an_assignment
from fullgraph.fix.fixers._branches.where_checks import unbounded_gradient_reason
from fullgraph.fix.source.codegen import (
    call_lines,
    indented,
    new_expression,
    replace_statements,
    room_at,
)
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import INDENT, Edit, insert_lines, replace_node
from fullgraph.fix.source.inference.function import FunctionInference
from fullgraph.fix.source.inference.value import BOOL, UNKNOWN, AbstractValue
from fullgraph.fix.source.locate import body_around
from fullgraph.fix.source.names import fresh_name, names_in
from fullgraph.fix.source.text import indent_of, owns_its_lines, source_line
from fullgraph.fix.source.torch_ops import CASTS

_COMMENT = "# in eager mode, a Python bool makes torch.cond a plain branch"
_DTYPES = CASTS | BOOL


def cond_rewrite(branch: TensorBranch) -> tuple[Edit, ...]:
    """Return the edits that replace an `if` or a ternary with `torch.cond`.

    Declined is raised for a branch that `torch.cond` cannot hold.
    """
    rewrite = _CondRewrite(branch)
    node = branch.node
    if isinstance(node, ast.IfExp):
        return _rewrite_ternary(rewrite, node)
    assert isinstance(node, ast.If)
    if isinstance(node.body[-1], ast.Return):
        return (_rewrite_early_return(rewrite, node),)
    return (_rewrite_assignments(rewrite, node),)


class _CondRewrite:
    """A branch with its test as a tensor; what the three rewrites share."""

    def __init__(self, branch: TensorBranch) -> None:
        self.branch = branch
        self.text = branch.text
        self.function = branch.scope.function
        self.inference = FunctionInference(branch.scope, branch.statement)
        self.predicate = tensor_predicate(branch, self.inference, zero_dim=False)
        self._mutated = mutated_names(self.function)
        require_tensor_test(branch, self.inference)

    def require_valid(self, one: CondBranch, other: CondBranch, targets: Sequence[str]) -> None:
        """Decline two sides that `torch.cond` cannot hold, or whose copies can be noticed."""
        for side in (one, other):
            require_movable(self.branch.scope, side.statements, side.results)
        if len(one.results) != len(other.results):
            raise Declined("the branches return different numbers of values", self.branch.node)
        self._require_similar_tensors(one, other)
        operators = one.unbounded_gradient_ops(self.inference)
        operators ^= other.unbounded_gradient_ops(self.inference)
        if operators:
            raise Declined(unbounded_gradient_reason(operators), self.branch.node)
        sides = [(side, result) for side in (one, other) for result in side.results]
        aliases = {ast.unparse(result) for side, result in sides if side.may_alias(result)}
        mutated = {*aliases, *targets} & self._mutated if aliases else set()
        if mutated:
            reason = "is mutated in place, and torch.cond makes a copy of it"
            raise Declined(f"`{min(mutated)}` {reason}", self.branch.node)

    def _require_similar_tensors(self, one: CondBranch, other: CondBranch) -> None:
        for side in (one, other):
            constant = side.non_tensor()
            if constant is not None:
                raise Declined(f"{quoted(constant)} is not a tensor", self.branch.node)
        values, others = one.values(self.inference), other.values(self.inference)
        if any(value.plain for value in (*values, *others)):
            raise Declined("a branch computes a Python value", self.branch.node)
        if any(map(_has_other_shape, values, others)):
            raise Declined("the branches differ in shape", self.branch.node)
        if any(map(_has_other_dtype, values, others)):
            raise Declined("the branches differ in dtype", self.branch.node)

    def function_lines(
        self, one: CondBranch, other: CondBranch, operands: Sequence[str] = ()
    ) -> tuple[list[str], list[str]]:
        """Return the lines of both functions and of the condition; the arguments of `cond`."""
        condition = fresh_name("condition", self.function)
        names = [fresh_name("on_true", self.function), fresh_name("on_false", self.function)]
        sides = (other, one) if self.predicate.negated else (one, other)
        lines = [""] if self._needs_blank_line() else []
        for name, side in zip(names, sides, strict=True):
            lines += [*side.function_lines(self.text, name, operands), ""]
        lines += [
            f"{condition} = {self.predicate.tensor}",
            "if not torch.compiler.is_compiling():",
            f"{INDENT}{_COMMENT}",
            f"{INDENT}{condition} = bool({condition})",
        ]
        comma = "," if len(operands) == 1 else ""
        passed = [f"({', '.join(operands)}{comma})"] if operands else []
        return lines, [condition, *names, *passed]

    def _needs_blank_line(self) -> bool:
        above = source_line(self.text, self.branch.statement.lineno - 1).strip()
        is_apart = not above or above.startswith("#") or above.endswith(":")
        return not is_apart and not self.predicate.python_test


def _has_other_shape(one: AbstractValue, other: AbstractValue) -> bool:
    """Return whether exactly one of two values surely has no dimension."""
    return _is_known(one, other) and bool(one.shape) != bool(other.shape)


def _has_other_dtype(one: AbstractValue, other: AbstractValue) -> bool:
    """Return whether two values surely differ in dtype."""
    return _is_known(one, other) and one.dtype & _DTYPES != other.dtype & _DTYPES


def _is_known(one: AbstractValue, other: AbstractValue) -> bool:
    return not UNKNOWN & (one.shape | other.shape | one.dtype | other.dtype)


def _operands(one: CondBranch, other: CondBranch) -> list[str]:
    return sorted(one.operands() | other.operands())


# a = x if t else y


def _rewrite_ternary(rewrite: _CondRewrite, node: ast.IfExp) -> tuple[Edit, ...]:
    require_pure_tensor_test(rewrite.predicate, node)
    text, statement = rewrite.text, rewrite.branch.statement
    if not isinstance(statement, ast.Assign | ast.Return | ast.AnnAssign):
        raise Declined("the ternary is in a larger statement", node)
    if not owns_its_lines(text, statement):
        raise Declined("another statement is on the same line", statement)
    sides = CondBranch((), (node.body,)), CondBranch((), (node.orelse,))
    rewrite.require_valid(*sides, _targets_of(statement))
    lines, arguments = rewrite.function_lines(*sides)
    indent = indent_of(text, statement)
    above = [f"{indent}{line}" if line else "" for line in lines]
    call = f"torch.cond({', '.join(arguments)})"
    return insert_lines(text, statement.lineno, above), replace_node(text, node, call)


def _targets_of(statement: ast.Assign | ast.AnnAssign | ast.Return) -> list[str]:
    """Return the names and attributes that a statement assigns to."""
    if isinstance(statement, ast.Return):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = {name for target in targets for name in (ast.unparse(target), *names_in(target))}
    return sorted(names)


# if t: a = x
# else: a = y


def _rewrite_assignments(rewrite: _CondRewrite, node: ast.If) -> Edit:
    if rewrite.predicate.python_test and node.orelse:
        raise Declined(f"{MIXED_TEST}, and there is an `else`", node)
    names = _results_of(rewrite, node)
    body_side, else_side = (
        cond_branch(rewrite.text, body, [new_expression(name) for name in names])
        for body in (node.body, node.orelse)
    )
    rewrite.require_valid(body_side, else_side, names)
    body_side, else_side = body_side.shortened(), else_side.shortened()
    lines, arguments = rewrite.function_lines(body_side, else_side, _operands(body_side, else_side))
    is_nested = bool(rewrite.predicate.python_test)
    room = room_at(rewrite.text, node) - len(INDENT) * is_nested
    lines += call_lines(f"{', '.join(names)} = ", "torch.cond", arguments, room)
    if is_nested:
        lines = [f"if {rewrite.predicate.python_test}:", *indented(lines)]
    return replace_statements(rewrite.text, [node], lines)


def _results_of(rewrite: _CondRewrite, node: ast.If) -> list[str]:
    """Return the names that a branch assigns and that the function uses elsewhere."""
    sides = [assigned_names(node.body), assigned_names(node.orelse)]
    outside = names_outside(rewrite.function, node)
    names = [n for n in dict.fromkeys([*sides[0], *sides[1]]) if n in outside]
    if not names:
        for statement in (*node.body, *node.orelse):
            if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Pass):
                raise not_an_assignment(statement)
        raise Declined("the branches assign no variable that is used after them", node)
    for name in names:
        if not all(name in side for side in sides) and not rewrite.inference.is_bound(name):
            raise Declined(f"`{name}` has no value if the other branch is taken", node)
    return names


# if t: return x
# return y


def _rewrite_early_return(rewrite: _CondRewrite, node: ast.If) -> Edit:
    require_pure_tensor_test(rewrite.predicate, node)
    body = body_around(rewrite.function, node)
    after = node.orelse or body[body.index(node) + 1 :]
    body_side, else_side = (_returning_side(rewrite, node, part) for part in (node.body, after))
    rewrite.require_valid(body_side, else_side, [])
    lines, arguments = rewrite.function_lines(body_side, else_side, _operands(body_side, else_side))
    lines += call_lines("return ", "torch.cond", arguments, room_at(rewrite.text, node))
    replaced = [node] if node.orelse else [node, *after]
    return replace_statements(rewrite.text, replaced, lines)


def _returning_side(
    rewrite: _CondRewrite, node: ast.If, statements: Sequence[ast.stmt]
) -> CondBranch:
    """Return a side that ends with the return of a value."""
    match statements:
        case [*before, ast.Return(value=ast.expr() as value) as last]:
            results = value.elts if isinstance(value, ast.Tuple) else [value]
            if results:
                return cond_branch(rewrite.text, before, results, last)
    raise Declined("a branch does not return a value", node)
