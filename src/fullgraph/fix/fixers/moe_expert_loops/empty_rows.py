"""Whether a loop's body does nothing at all when it is given no rows.

Then an expert that got no tokens need not be skipped: what it computes is empty, and adding nothing
to the result changes nothing. It is read from the source, so only what is certain counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.source.names import names_in

_ADDS = ("index_add_", "index_copy_")
_JOINS = ("index_add", "index_copy")
_CONTEXTS = ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode")
# They raise for no rows; they have an effect, or draw random numbers.
_RAISING = (
    "max",
    "min",
    "amax",
    "amin",
    "aminmax",
    "argmax",
    "argmin",
    "median",
    "nanmedian",
    "mode",
    "quantile",
    "nanquantile",
    "kthvalue",
)
_EFFECTS = (
    "item",
    "tolist",
    "numpy",
    "append",
    "extend",
    "insert",
    "add",
    "update",
    "pop",
    "remove",
    "clear",
    "setdefault",
    "write",
    "print",
    "rand",
    "randn",
    "randint",
    "rand_like",
    "randn_like",
    "randperm",
    "bernoulli",
    "normal",
    "multinomial",
    "empty",
    "empty_like",
    "backward",
    "register_hook",
    "register_buffer",
    "record",
)
_UNWELCOME = frozenset((*_RAISING, *_EFFECTS))
_SHAPERS = ("view", "reshape")
_COUNTS = ("numel", "size", "shape", "len")


def row_names(body: list[ast.stmt]) -> set[str]:
    """Names of indices that `torch.where(mask)` and its like give."""
    found: set[str] = set()
    for node in _all(body):
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


def is_idle(
    tree: ast.Module,
    function: ast.FunctionDef,
    loop: ast.For,
    body: list[ast.stmt],
    rows: set[str],
) -> bool:
    """Whether `body`, in this loop, has no effect where `rows` select nothing."""
    if loop.orelse or not rows:
        return False
    reader = _Reader(rows, names_in(loop.target), _methods_with_effects(tree))
    if not all(map(reader.is_quiet, body)):
        return False
    return not reader.bound & _loaded_outside(function, loop)


def _loaded_outside(function: ast.FunctionDef, loop: ast.For) -> set[str]:
    inside = {id(node) for node in ast.walk(loop)}
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in inside
    }


def _methods_with_effects(tree: ast.Module) -> set[str]:
    """Functions of the file that write to attributes or globals, or call for effect."""
    found: set[str] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name == "__init__":
            continue
        for node in ast.walk(function):
            stores = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
            acts = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
            if stores or acts or isinstance(node, ast.Global | ast.Nonlocal):
                found.add(function.name)
    return found - {"forward"}


class _Reader:
    def __init__(self, rows: set[str], given: set[str], unwelcome: set[str]) -> None:
        self._rows = rows
        self._unwelcome = _UNWELCOME | unwelcome
        self.bound = set(given)
        self._names: set[str] = set()

    def is_quiet(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.With(items=items, body=body):
                return all(map(_only_switches, items)) and all(map(self.is_quiet, body))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._joins(name, value):
                return self._is_pure(value)
            case ast.Assign(targets=[target], value=value):
                return self._is_pure(value) and self._binds(target)
            case ast.AugAssign(target=ast.Subscript() as target, value=value):
                return self._is_pure(value) and self._selects(target.slice)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=args) as call):
                adds = name in _ADDS and len(args) == 3 and self._selects(args[1])
                return adds and not call.keywords and all(map(self._is_pure, args))
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return True
        return False

    def _joins(self, name: str, value: ast.expr) -> bool:
        """`out = out.index_add(0, rows, values)`"""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=old), attr=method), args=[_, at, _]):
                return old == name and method in _JOINS and self._selects(at)
        return False

    def _selects(self, index: ast.expr) -> bool:
        first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
        return isinstance(first, ast.Name) and first.id in self._rows

    def _binds(self, target: ast.expr) -> bool:
        if isinstance(target, ast.Subscript):
            return self._selects(target.slice)
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        # A name that was read before is carried over from the turn before.
        if len(names) != len(parts) or self._names & set(names) - self.bound:
            return False
        self.bound |= set(names)
        return True

    def _is_pure(self, value: ast.expr) -> bool:
        self._names |= names_in(value)
        return all(self._is_welcome(node) for node in ast.walk(value))

    def _is_welcome(self, node: ast.AST) -> bool:
        match node:
            case ast.NamedExpr() | ast.Yield() | ast.YieldFrom() | ast.Await():
                return False
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right):
                return not any(_counts(each) for each in ast.walk(right))
            case ast.Call(func=ast.Name(id=name)):
                return name in self.bound or name == "len"
            case ast.Call(func=ast.Attribute(attr=name), args=args):
                in_place = name.endswith("_") and not name.endswith("__")
                if name in _SHAPERS and any(_is_minus_one(each) for each in args[1:]):
                    return False
                return not in_place and name not in self._unwelcome
        return True


def _only_switches(item: ast.withitem) -> bool:
    match item.context_expr:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _CONTEXTS and item.optional_vars is None
    return False


def _counts(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else ""
    return (node.id if isinstance(node, ast.Name) else name) in _COUNTS


def _is_minus_one(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _all(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        yield from ast.walk(statement)
