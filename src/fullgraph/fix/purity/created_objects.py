"""Finds the objects that a function has created itself: a pure function may mutate those."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from fullgraph.fix.source.names import Function, arguments_of, code_of, qualified_name, stored_names

# Methods that never return the object itself or a view of it.
_CREATING_METHODS = ("clone", "tolist", "item", "copy", "detach_copy", "to_dense")
_CREATING_FUNCTIONS = (
    "list", "dict", "set", "tuple", "sorted", "range", "collections.OrderedDict",
    "collections.defaultdict", "collections.Counter", "collections.deque", "copy.deepcopy",
    "numpy.array",
)  # fmt: skip
_CREATING_TENSOR_FUNCTIONS = ("clone", "cat", "stack", "matmul", "einsum")
_CREATING_TENSOR_PREFIXES = (
    "zeros", "ones", "full", "empty", "arange", "linspace", "eye", "tensor", "rand",
)  # fmt: skip


def names_of_created_objects(function: Function, imports: Mapping[str, str]) -> set[str]:
    """Return the local names that are only ever bound to objects that the function creates."""
    values: dict[str, list[ast.expr | None]] = {}
    for node in code_of(function):
        for name, value in _bindings(node):
            values.setdefault(name, []).append(value)
    parameters = {each.arg for each in arguments_of(function)}
    return {
        name
        for name, bound in values.items()
        if name not in parameters and all(creates_object(value, imports) for value in bound)
    }


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that a node binds, with the value, or None for a part of some value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, value
                else:
                    yield from ((name, None) for name in stored_names(target))
        case ast.AnnAssign(target=ast.Name(id=name), value=value):
            yield name, value
        case (
            ast.For(target=target) | ast.comprehension(target=target) | ast.NamedExpr(target=target)
        ):
            yield from ((name, None) for name in stored_names(target))
        case ast.withitem(optional_vars=ast.expr() as target):
            yield from ((name, None) for name in stored_names(target))


def creates_object(value: ast.expr | None, imports: Mapping[str, str]) -> bool:
    """Return whether an expression always creates a new object; False for None.

    The parts of the new object may be older: `[x]` is new, but `[x][0]` is not.
    """
    match value:
        case ast.Constant() | ast.List() | ast.Dict() | ast.Set() | ast.Tuple():
            return True
        case ast.BinOp() | ast.Compare() | ast.JoinedStr():
            return True
        case ast.UnaryOp(op=op):
            return not isinstance(op, ast.UAdd)  # For a tensor, `+x` is `x` itself.
        case ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in _CREATING_METHODS:
            return True
        case ast.Call(func=function):
            name = qualified_name(function, imports)
            return name in _CREATING_FUNCTIONS or _creates_tensor(name)
    return False


def _creates_tensor(name: str) -> bool:
    """Return whether a function of torch or NumPy never returns an argument or a view of one."""
    namespace, _, last = name.rpartition(".")
    return namespace in ("torch", "numpy") and (
        last.startswith(_CREATING_TENSOR_PREFIXES) or last in _CREATING_TENSOR_FUNCTIONS
    )
