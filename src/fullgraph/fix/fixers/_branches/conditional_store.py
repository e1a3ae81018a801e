"""In-place updates of tensors, and how to make one of them conditional.

An update under a test becomes an update that always runs, and stores the old value if the test is
false.
"""

from __future__ import annotations

import ast
from typing import NoReturn

from fullgraph.fix.fixers._branches.branch import TensorBranch
from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.codegen import ATOMS, indented, one_line, room_at, where_lines
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.inference.function import FunctionInference
from fullgraph.fix.source.inference.scope import self_attribute

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


def mutated_names(function: ast.FunctionDef) -> set[str]:
    """Return the names and the attributes of self whose tensors a function mutates."""
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.AugAssign(target=target):
                found.add(_base_name(target))
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                found.add(_base_name(value))
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                if torch_ops.is_in_place(name):
                    found.add(_base_name(value))
            case ast.keyword(arg="out", value=value):
                found.add(_base_name(value))
    return found - {""}


def _base_name(node: ast.expr) -> str:
    """Return `x` for `x[0]` and `x.view(-1)`, `self.x` for `self.x[0]`; empty without a name."""
    while True:
        if isinstance(node, ast.Name) or self_attribute(node):
            return ast.unparse(node)
        match node:
            case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Call(func=value):
                node = value
            case _:
                return ""


def is_store(statement: ast.stmt) -> bool:
    """Return whether a statement has the form of an in-place update that can be conditional."""
    match statement:
        case ast.Assign(targets=[ast.Subscript()]):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return name.endswith("_")
        case ast.AugAssign(target=ast.Attribute()):
            return True
    return False


class ConditionalStore:
    """Rewrites the in-place update of one branch."""

    def __init__(self, branch: TensorBranch, inference: FunctionInference, condition: str) -> None:
        self._branch = branch
        self._inference = inference
        self._condition = condition

    def lines(self, statement: ast.stmt) -> list[str]:
        """Return an update as one that stores the old value if the condition is false.

        Declined is raised for an update that cannot be made conditional.
        """
        match statement:
            case ast.Assign(targets=[ast.Subscript() as target], value=value):
                return [self._masked(target, value)]
            case ast.Expr(value=ast.Call(func=ast.Attribute()) as call):
                return self._chained(call)
            case ast.AugAssign(target=ast.Attribute() as target, op=op, value=value):
                return self._augmented(target, op, value)
        raise Declined("a branch does more than update one buffer", statement)

    def _augmented(self, target: ast.Attribute, op: ast.operator, value: ast.expr) -> list[str]:
        """Return `self.x += y` with a condition."""
        self._require_buffer(target)
        operator = _OPERATORS.get(type(op))
        if operator is None:
            raise Declined(
                f"{quoted(target)} is updated by another operator than +, - and *", value
            )
        self._require_safe(value)
        name, written = ast.unparse(target), self._source(value)
        operand = written if isinstance(value, (ast.Constant, *ATOMS)) else f"({written})"
        return self._copied(name, f"{name} {operator} {operand}")

    def _chained(self, call: ast.Call) -> list[str]:
        """Return `self.x.mul_(0.9).add_(y)` with a condition, and the same operators in order."""
        steps: list[tuple[str, ast.Call]] = []
        node: ast.expr = call
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            steps.insert(0, (node.func.attr, node))
            node = node.func.value
        self._require_buffer(node)
        for _, step in steps:
            for argument in (*step.args, *(keyword.value for keyword in step.keywords)):
                self._require_safe(argument)
        name = ast.unparse(node)
        value = name
        for method, step in steps:
            value = self._out_of_place(method, name, value, step)
        return self._copied(name, value)

    def _out_of_place(self, method: str, buffer: str, value: str, call: ast.Call) -> str:
        """Return what an in-place method stores, as an expression of the value before."""
        arguments = self._arguments(call)
        if method in torch_ops.IN_PLACE:
            return f"{value}.{method[:-1]}({arguments})"
        if value == buffer and method == "zero_" and not arguments:
            return f"torch.zeros_like({buffer})"
        if value == buffer and len(call.args) == 1 and not call.keywords:
            if method == "fill_":
                return f"torch.full_like({buffer}, {arguments})"
            if method == "copy_":
                # The stored values have the dtype of the buffer.
                return f"({arguments}).to({buffer}.dtype)"
        raise Declined(f"`{method}` has no known equivalent that is not in place", call)

    def _arguments(self, call: ast.Call) -> str:
        values = [self._source(each) for each in call.args]
        values += [f"{each.arg}={self._source(each.value)}" for each in call.keywords]
        return ", ".join(values)

    def _copied(self, name: str, value: str) -> list[str]:
        """Return the statement that stores a value in a buffer, or the buffer in itself."""
        room = room_at(self._branch.text, self._branch.statement)
        line = f"{name}.copy_(torch.where({self._condition}, {value}, {name}))"
        if len(line) <= room:
            return [line]
        inner = where_lines("", self._condition, value, name, room - 4)
        return [f"{name}.copy_(", *indented(inner), ")"]

    def _masked(self, target: ast.Subscript, value: ast.expr) -> str:
        """Return `x[mask] = 1` with a mask that is false everywhere if the condition is."""
        mask = self._inference.read(target.slice)
        if not mask.is_bool:
            raise Declined(f"{quoted(target.slice)} is not known to be a boolean mask", target)
        self._require_safe(target.slice)
        if not isinstance(value, ast.Constant) or not isinstance(value.value, int | float):
            raise Declined(f"{quoted(value)} is not a number", value)
        if not isinstance(target.value, ast.Name):
            raise Declined(f"{quoted(target.value)} is not a variable", target)
        name = target.value.id
        if _is_used_before(self._branch, name):
            _decline_used_before(target, name)
        written = self._source(target.slice)
        mask_text = written if isinstance(target.slice, ast.Call | ast.Name) else f"({written})"
        return f"{name}[{mask_text} & ({self._condition})] = {self._source(value)}"

    def _source(self, node: ast.expr) -> str:
        return one_line(self._branch.text, node)

    def _require_safe(self, node: ast.expr) -> None:
        if self._inference.read(node).risk == "unsafe":
            reason = "may raise or have side effects if the test is false"
            raise Declined(f"{quoted(node)} {reason}", node)

    def _require_buffer(self, node: ast.expr) -> None:
        """Decline a target that is not a buffer, or whose old values a gradient may need."""
        name = self_attribute(node)
        if not name or name not in self._branch.scope.buffers:
            raise Declined(f"{quoted(node)} is not known to be a buffer", node)
        name = ast.unparse(node)
        if not _is_without_gradients(self._branch) and _is_used_before(self._branch, name):
            _decline_used_before(node, name)


def _decline_used_before(node: ast.AST, name: str) -> NoReturn:
    raise Declined(f"a gradient may need `{name}` as it is before the update", node)


def _is_used_before(branch: TensorBranch, name: str) -> bool:
    """Return whether a tensor is used in front of a branch, other than for its own new value."""
    for node in ast.walk(branch.scope.function):
        if not isinstance(node, ast.stmt) or isinstance(node, ast.FunctionDef):
            continue
        if node.lineno >= branch.statement.lineno or hasattr(node, "body"):
            continue
        binds = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
        uses = any(
            isinstance(each, ast.expr) and ast.unparse(each) == name for each in ast.walk(node)
        )
        if uses and not binds:
            return True
    return False


def _is_without_gradients(branch: TensorBranch) -> bool:
    """Return whether a branch runs under `torch.no_grad()`."""
    function = branch.scope.function
    if any("no_grad" in ast.unparse(each) for each in function.decorator_list):
        return True
    return any(
        isinstance(node, ast.With)
        and any("no_grad" in ast.unparse(item.context_expr) for item in node.items)
        and node.lineno <= branch.statement.lineno <= (node.end_lineno or 0)
        for node in ast.walk(function)
    )
