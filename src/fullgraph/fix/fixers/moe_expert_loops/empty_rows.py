"""Check that the body of a loop has no effect if an expert has no rows.

Such an expert need not be skipped: its results are empty, and adding nothing to a tensor changes
nothing. The check reads the source, and declines code that may have an effect.
"""

from __future__ import annotations

import ast

from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.names import names_in

# Functions and methods of Python that have side effects.
_PYTHON_EFFECTS = frozenset((
    "append", "extend", "insert", "add", "update", "pop", "remove", "clear", "setdefault", "write",
    "print", "register_buffer", "record",
))  # fmt: skip
# They have side effects, draw random numbers, or need a value.
_EFFECTS = (
    torch_ops.READ_VALUES
    | torch_ops.SAMPLERS
    | torch_ops.UNINITIALIZED
    | torch_ops.AUTOGRAD_EFFECTS
    | _PYTHON_EFFECTS
)
_RESHAPING = ("view", "reshape")
_COUNTS = ("numel", "size", "shape", "len")


def row_names(body: list[ast.stmt]) -> set[str]:
    """Return the names of the row indices that `torch.where(mask)` and similar calls return."""
    found: set[str] = set()
    for node in (node for statement in body for node in ast.walk(statement)):
        if isinstance(node, ast.Assign) and _finds_rows(node.value):
            for target in node.targets:
                found |= names_in(target)
    return found


def _finds_rows(value: ast.expr) -> bool:
    match value:
        case ast.Subscript(value=inner, slice=ast.Constant()):
            return _finds_rows(inner)
        case ast.Call(func=ast.Attribute(attr="where"), args=[_], keywords=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="nonzero"), keywords=[ast.keyword(arg="as_tuple")]):
            return True
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=ast.Attribute(attr="nonzero"), keywords=[]),
                               attr="flatten" | "squeeze")
        ):  # fmt: skip
            return True
    return False


def require_noop_when_empty(
    tree: ast.Module,
    function: ast.FunctionDef,
    loop: ast.For,
    body: list[ast.stmt],
    rows: set[str],
) -> None:
    """Decline a body, in this loop, that may have an effect where `rows` select nothing."""
    if loop.orelse:
        raise Declined("the loop has an `else` clause", loop)
    if not rows:
        raise Declined("the rows of an expert are not found with `torch.where` or `nonzero`", loop)
    check = _EmptyRowsCheck(rows, names_in(loop.target), _functions_with_side_effects(tree))
    for statement in body:
        check.require_noop(statement)
    kept = check.bound & _loaded_outside(function, loop)
    if kept:
        raise Declined(f"`{min(kept)}` is used outside the loop", loop)


def _loaded_outside(function: ast.FunctionDef, loop: ast.For) -> set[str]:
    inside = {id(node) for node in ast.walk(loop)}
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in inside
    }


def _functions_with_side_effects(tree: ast.Module) -> set[str]:
    """Return the functions of a file that assign attributes or globals, or only call others."""
    found: set[str] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name == "__init__":
            continue
        for node in ast.walk(function):
            stores = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
            calls = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
            if stores or calls or isinstance(node, ast.Global | ast.Nonlocal):
                found.add(function.name)
    return found - {"forward"}


class _EmptyRowsCheck:
    """Checks the statements of a loop's body, in order."""

    def __init__(self, rows: set[str], bound: set[str], with_side_effects: set[str]) -> None:
        self._rows = rows
        self._with_side_effects = _EFFECTS | with_side_effects
        # Names that the loop has bound so far, and names that it has read.
        self.bound = set(bound)
        self._read: set[str] = set()

    def require_noop(self, statement: ast.stmt) -> None:
        """Decline a statement that may have an effect without rows."""
        match statement:
            case ast.With(items=items, body=body) if all(map(_only_sets_grad_mode, items)):
                for inner in body:
                    self.require_noop(inner)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._is_add(name, value):
                self._require_pure(value)
            case ast.Assign(targets=[target], value=value):
                self._require_pure(value)
                self._bind(target)
            case ast.AugAssign(target=ast.Subscript() as target, value=value):
                self._require_pure(value)
                self._require_rows(target)
            case ast.Expr(value=ast.Call() as call) if self._adds_in_place(call):
                for argument in call.args:
                    self._require_pure(argument)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                raise Declined(
                    f"{quoted(statement)} must not run for experts without tokens", statement
                )

    def _is_add(self, name: str, value: ast.expr) -> bool:
        """Return whether a value is `out.index_add(0, rows, values)`, for the name `out`."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=old), attr=method), args=[_, at, _]):
                return old == name and method in torch_ops.ROW_UPDATES and self._selects_rows(at)
        return False

    def _adds_in_place(self, call: ast.Call) -> bool:
        """Return whether a call is `out.index_add_(0, rows, values)`."""
        match call:
            case ast.Call(func=ast.Attribute(attr=method), args=[_, at, _], keywords=[]):
                return method in torch_ops.ROW_UPDATES_IN_PLACE and self._selects_rows(at)
        return False

    def _selects_rows(self, index: ast.expr) -> bool:
        first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
        return isinstance(first, ast.Name) and first.id in self._rows

    def _require_rows(self, target: ast.Subscript) -> None:
        if not self._selects_rows(target.slice):
            raise Declined(f"{quoted(target)} is assigned without tokens too", target)

    def _bind(self, target: ast.expr) -> None:
        """Record the names of a target; decline names that keep a value between iterations."""
        if isinstance(target, ast.Subscript):
            self._require_rows(target)
            return
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        if not all(isinstance(part, ast.Name) for part in parts):
            raise Declined(f"{quoted(target)} is assigned in the loop", target)
        carried = (self._read & names) - self.bound
        if carried:
            raise Declined(f"`{min(carried)}` is carried from one iteration to the next", target)
        self.bound |= names

    def _require_pure(self, value: ast.expr) -> None:
        """Decline an expression with a side effect, or one that fails without rows."""
        self._read |= names_in(value)
        for node in ast.walk(value):
            reason = self._impurity(node)
            if reason:
                raise Declined(reason, node)

    def _impurity(self, node: ast.AST) -> str:
        """Return why a node is not pure, or fails without rows; empty if it does neither."""
        match node:
            case ast.NamedExpr() | ast.Yield() | ast.YieldFrom() | ast.Await():
                return f"{quoted(node)} has side effects"
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right):
                if any(_is_count(each) for each in ast.walk(right)):
                    return "an expert without tokens would divide by zero"
            case ast.Call(func=ast.Name(id=name)):
                if name not in self.bound and name != "len":
                    return f"`{name}` may have side effects"
            case ast.Call(func=ast.Attribute(attr=name), args=args):
                return self._impure_method(name, args)
        return ""

    def _impure_method(self, name: str, args: list[ast.expr]) -> str:
        if name in _RESHAPING and any(_is_negative(each) for each in args[1:]):
            return f"`{name}` cannot infer a dimension without rows"
        if name in torch_ops.RAISE_FOR_EMPTY_DIM:
            return f"`{name}` raises an error for an expert without tokens"
        if torch_ops.is_in_place(name) or name in self._with_side_effects:
            return f"`{name}` may have side effects, or draw random numbers"
        return ""


def _only_sets_grad_mode(item: ast.withitem) -> bool:
    match item.context_expr:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in torch_ops.GRAD_MODES and item.optional_vars is None
    return False


def _is_count(node: ast.AST) -> bool:
    """Return whether a node is the number of rows: `numel`, `size`, `shape` or `len`."""
    name = node.attr if isinstance(node, ast.Attribute) else ""
    return (node.id if isinstance(node, ast.Name) else name) in _COUNTS


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
