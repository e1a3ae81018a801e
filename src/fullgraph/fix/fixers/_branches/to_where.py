"""A branch on a tensor as `torch.where`: one function per form of the branch."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fullgraph.fix.fixers._branches.branch import TensorBranch
from fullgraph.fix.fixers._branches.conditional_store import ConditionalStore, is_store
from fullgraph.fix.fixers._branches.predicate import (
    MIXED_TEST,
    PredicateWriter,
    opposite,
    require_pure_tensor_test,
    require_tensor_test,
    tensor_predicate,
)
from fullgraph.fix.fixers._branches.side import Side, names_outside, read_names, side_of
from fullgraph.fix.fixers._branches.where_checks import WhereChecks
from fullgraph.fix.source.codegen import (
    dedented,
    indented,
    new_expression,
    one_line,
    replace_statements,
    room_at,
    statement_lines,
    where_lines,
)
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import INDENT, Edit, replace_node
from fullgraph.fix.source.inference.function import FunctionInference
from fullgraph.fix.source.locate import body_around
from fullgraph.fix.source.names import fresh_name, names_in
from fullgraph.fix.source.text import split_lines

# A number with four binary digits behind the point is exact in every floating-point dtype.
_LARGEST_EXACT, _EXACT_FRACTION = 256, 16


def where_rewrite(branch: TensorBranch) -> Edit:
    """Return the edit that replaces an `if` or a ternary with `torch.where`.

    Declined is raised for a branch whose two sides cannot both be computed, or not be selected.
    """
    rewrite = _WhereRewrite(branch)
    node = branch.node
    if isinstance(node, ast.IfExp):
        return _rewrite_ternary(rewrite, node)
    assert isinstance(node, ast.If)
    if isinstance(node.body[-1], ast.Return):
        return _rewrite_early_return(rewrite, node)
    if len(node.body) == 1 and is_store(node.body[0]):
        return _rewrite_store(rewrite, node)
    return _rewrite_assignments(rewrite, node)


class _WhereRewrite:
    """A branch with its test as a tensor; what the four rewrites share."""

    def __init__(self, branch: TensorBranch) -> None:
        self.branch = branch
        self.text = branch.text
        self.function = branch.scope.function
        self.inference = FunctionInference(branch.scope, branch.statement)
        self.predicate = tensor_predicate(branch, self.inference)
        self.checks = WhereChecks(branch, self.inference)
        require_tensor_test(branch, self.inference)

    def in_order(self, one: ast.expr, other: ast.expr) -> tuple[str, str]:
        """Return the values for a true and for a false test, in the order of `torch.where`."""
        written = one_line(self.text, one), one_line(self.text, other)
        return written[::-1] if self.predicate.negated else written

    def named_condition(self) -> tuple[str, list[str]]:
        """Return a new name for the condition, and the line that assigns it."""
        name = fresh_name("condition", self.function)
        return name, [f"{name} = {self.predicate.tensor}"]

    def replace_branch(self, node: ast.If, lines: Sequence[str]) -> Edit:
        """Return the edit that puts lines in the place of an `if`, under its Python test."""
        lines = list(lines)
        if self.predicate.python_test:
            lines = [f"if {self.predicate.python_test}:", *indented(lines)]
            if node.orelse:
                if isinstance(node.orelse[0], ast.If) and len(node.orelse) == 1:
                    raise Declined(f"{MIXED_TEST}, and an `elif` follows", node)
                lines += ["else:", *indented(statement_lines(self.text, node.orelse))]
        return replace_statements(self.text, [node], lines)


# a = x if t else y


def _rewrite_ternary(rewrite: _WhereRewrite, node: ast.IfExp) -> Edit:
    require_pure_tensor_test(rewrite.predicate, node)
    statement = rewrite.branch.statement
    target = _assigned_name(statement, node)
    sides = (node.body, node.orelse)
    if all(map(_is_exact_number, sides)):
        _require_only_arithmetic(rewrite, node, target)
    else:
        rewrite.checks.require_selectable(*sides, target)
        if target or isinstance(statement, ast.Return):
            rewrite.checks.require_copy_unnoticed(target, *sides)
        else:
            rewrite.checks.require_no_alias(*sides)
    on_true, on_false = rewrite.in_order(*sides)
    new = f"torch.where({rewrite.predicate.tensor}, {on_true}, {on_false})"
    return replace_node(rewrite.text, node, new)


def _assigned_name(statement: ast.stmt, value: ast.expr) -> str:
    """Return the name that a statement assigns a value to; empty for any other statement."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=assigned) if assigned is value:
            return name
    return ""


def _is_exact_number(node: ast.expr) -> bool:
    """Return whether a node is a float that a tensor of any floating-point dtype holds exactly."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not isinstance(node, ast.Constant) or not isinstance(node.value, float):
        return False
    scaled = node.value * _EXACT_FRACTION
    return abs(node.value) <= _LARGEST_EXACT and scaled == int(scaled)


def _require_only_arithmetic(rewrite: _WhereRewrite, node: ast.IfExp, name: str) -> None:
    """Decline a number that is used for more than a sum or a product with a tensor."""
    if not name:
        raise Declined("the branches are Python numbers", node)
    uses = [n for n in ast.walk(rewrite.function) if isinstance(n, ast.Name) and n.id == name]
    loads = [each for each in uses if isinstance(each.ctx, ast.Load)]
    operands = [
        operand
        for each in ast.walk(rewrite.function)
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult | ast.Add | ast.Sub)
        for operand, other in ((each.left, each.right), (each.right, each.left))
        if rewrite.inference.read(other).is_tensor
    ]
    if len(uses) - len(loads) != 1:
        raise Declined(f"`{name}` is assigned elsewhere too", node)
    for load in loads:
        if not any(load is operand for operand in operands):
            reason = "is a Python number, and not only added to tensors or multiplied with them"
            raise Declined(f"`{name}` {reason}", load)


# if t: a = x
# else: a = y


def _rewrite_assignments(rewrite: _WhereRewrite, node: ast.If) -> Edit:
    writer = PredicateWriter(rewrite.text, rewrite.inference)
    sides = side_of(node.body, writer), side_of(node.orelse, writer)
    _make_temporaries(rewrite, node, *sides)
    targets = list(dict.fromkeys(name for side in sides for name in side.values))
    if not targets:
        raise Declined("the branches assign nothing that is used after them", node)
    _require_independent(node, targets, *sides)
    choices = [(target, *_values_of(rewrite, node, target, *sides)) for target in targets]
    for target, body_value, else_value in choices:
        rewrite.checks.require_selectable(body_value, else_value, target)
        rewrite.checks.require_copy_unnoticed(target, body_value, else_value)
    lines = [line for side in sides for line in side.temporary_lines(rewrite.text)]
    return rewrite.replace_branch(node, lines + _choice_lines(rewrite, choices))


def _make_temporaries(rewrite: _WhereRewrite, node: ast.If, *sides: Side) -> None:
    """Turn the names that only one side uses into temporaries, which are always assigned."""
    outside = names_outside(rewrite.function, node)
    others = [set(side.values) for side in reversed(sides)]
    for side, other in zip(sides, others, strict=True):
        for name in list(side.values):
            if name in outside or name in other or "." in name:
                continue
            rewrite.checks.require_safe(side.values[name])
            rewrite.inference.assume(name, rewrite.inference.read(side.values[name]))
            side.make_temporary(name)


def _require_independent(node: ast.If, targets: list[str], *sides: Side) -> None:
    """Decline values that use a name which the same branch assigns before."""
    for number, target in enumerate(targets):
        before = set(targets[:number])
        for side in sides:
            value = side.values.get(target)
            if value is not None and before & read_names(value):
                raise Declined(f"`{target}` depends on a name that the same branch assigns", node)
    if not all(side.can_assign_temporaries_first() for side in sides):
        raise Declined("a temporary depends on a name that the same branch assigns", node)


def _values_of(
    rewrite: _WhereRewrite, node: ast.If, target: str, *sides: Side
) -> tuple[ast.expr, ast.expr]:
    """Return the values of a name on both sides; where a side assigns none, its old value."""
    has_value = "." in target or rewrite.inference.is_bound(target)
    if not has_value and not all(target in side.values for side in sides):
        raise Declined(f"`{target}` has no value if the other branch is taken", node)
    one, other = (side.values.get(target) or new_expression(target) for side in sides)
    return one, other


def _choice_lines(
    rewrite: _WhereRewrite, choices: Sequence[tuple[str, ast.expr, ast.expr]]
) -> list[str]:
    """Return one assignment of `torch.where` per name."""
    condition, lines = rewrite.predicate.tensor, list[str]()
    if len(choices) > 1:
        condition, lines = rewrite.named_condition()
    room = room_at(rewrite.text, rewrite.branch.statement)
    room -= len(INDENT) if rewrite.predicate.python_test else 0
    for target, one, other in choices:
        lines += where_lines(f"{target} = ", condition, *rewrite.in_order(one, other), room)
    return lines


# if t: return x
# return y


def _rewrite_early_return(rewrite: _WhereRewrite, node: ast.If) -> Edit:
    require_pure_tensor_test(rewrite.predicate, node)
    between, last = _rest_after(rewrite, node)
    match node.body, last:
        case [ast.Return(value=ast.expr() as one)], ast.Return(value=ast.expr() as other):
            pass
        case [ast.Return(value=ast.expr())], _:
            raise Declined("the other branch does not return a value", node)
        case _:
            raise Declined("a branch does more than return a value", node.body[0])
    rebound = _assume_between(rewrite, between) & names_in(one)
    if rebound:
        raise Declined(f"`{min(rebound)}` has another value at the second return", other)
    pairs = _pairs(node, one, other)
    for pair in pairs:
        rewrite.checks.require_selectable(*pair)
        rewrite.checks.require_copy_unnoticed("", *pair)
    condition, lines = rewrite.predicate.tensor, list[str]()
    if between or len(pairs) > 1:
        condition, lines = rewrite.named_condition()
        lines += _lines_between(rewrite, node, last) if between else []
    lines += _return_lines(rewrite, condition, pairs)
    replaced: list[ast.stmt] = [node] if node.orelse else [node, *between, last]
    return replace_statements(rewrite.text, replaced, lines)


def _rest_after(rewrite: _WhereRewrite, node: ast.If) -> tuple[list[ast.stmt], ast.stmt]:
    """Return the statements that run if the test is false, and the last of them by itself."""
    body = body_around(rewrite.function, node)
    rest = node.orelse or body[body.index(node) + 1 :]
    if not rest:
        raise Declined("the other branch does not return a value", node)
    return rest[:-1], rest[-1]


def _assume_between(rewrite: _WhereRewrite, statements: Sequence[ast.stmt]) -> set[str]:
    """Return the names that assignments between the returns bind, and take note of their values."""
    bound: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                rewrite.checks.require_safe(value)
            case _:
                reason = "the code before the second return does more than assign names"
                raise Declined(reason, statement)
        read = rewrite.inference.read(value)
        if not read.is_tensor:
            raise Declined(f"{quoted(value)} is not known to be a tensor", statement)
        rewrite.inference.assume(name, read)
        bound.add(name)
    return bound


def _pairs(node: ast.If, one: ast.expr, other: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return the values of two returns in pairs, element by element for tuples."""
    if not isinstance(one, ast.Tuple) or not isinstance(other, ast.Tuple):
        return [(one, other)]
    if not one.elts or len(one.elts) != len(other.elts):
        raise Declined("the branches return different numbers of values", node)
    return list(zip(one.elts, other.elts, strict=True))


def _lines_between(rewrite: _WhereRewrite, node: ast.If, last: ast.stmt) -> list[str]:
    """Return the lines between the two returns as they are written, comments included."""
    start = (node.orelse[0].lineno - 1 if node.orelse else node.end_lineno) or 0
    lines = split_lines(rewrite.text)[start : last.lineno - 1]
    return dedented(lines) if lines else []


def _return_lines(
    rewrite: _WhereRewrite, condition: str, pairs: Sequence[tuple[ast.expr, ast.expr]]
) -> list[str]:
    if len(pairs) == 1:
        room = room_at(rewrite.text, rewrite.branch.statement)
        return where_lines("return ", condition, *rewrite.in_order(*pairs[0]), room)
    chosen = [", ".join((condition, *rewrite.in_order(*pair))) for pair in pairs]
    return [f"return {', '.join(f'torch.where({each})' for each in chosen)}"]


# if t: self.seen.add_(1)


def _rewrite_store(rewrite: _WhereRewrite, node: ast.If) -> Edit:
    if node.orelse:
        raise Declined("an in-place update has an `else`", node.orelse[0])
    predicate = rewrite.predicate
    condition = opposite(predicate.tensor) if predicate.negated else predicate.tensor
    store = ConditionalStore(rewrite.branch, rewrite.inference, condition)
    return rewrite.replace_branch(node, store.lines(node.body[0]))
