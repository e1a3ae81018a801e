"""What an expression certainly is, from the statements that bind its names."""

from __future__ import annotations

import ast

from fullgraph.analysis.user_lines.bindings import bindings_in
from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.fix.source.names import qualified_name
from fullgraph.fix.source.torch_ops import FLOAT_CASTS, FLOAT_DTYPES, SIZED_FACTORIES, words

_FACTORIES = SIZED_FACTORIES | words("arange linspace tensor randint")
# Of floating-point numbers unless they are told another dtype.
_FLOAT_FACTORIES = words("empty linspace ones rand randn zeros")
_KEPT = words("clone contiguous double float reshape t view")
_INTEGERS = words("int8 int16 int32 int64 int long short")


def only_binding(file: SourceFile, name: ast.Name) -> ast.AST | None:
    """Return the only statement that binds a name where it is used; None if there are others."""
    scope = file.scope_of(name)
    if scope is None or file.has_hidden_writes:
        return None
    for each in (scope, *file.enclosing(scope)):
        found = bindings_in(each, name.id)
        if found:
            is_shared = any(
                isinstance(node, ast.Global | ast.Nonlocal) and name.id in node.names
                for node in file.nodes
            )
            return found[0] if len(found) == 1 and not is_shared else None
    return None


def is_tensor(file: SourceFile, node: ast.expr) -> bool:
    """Return whether an expression certainly is a tensor."""
    value = _value(file, node)
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr in _KEPT:
        return is_tensor(file, value.func.value)
    return _factory(file, value) in _FACTORIES


def is_float_tensor(file: SourceFile, node: ast.expr) -> bool:
    """Return whether an expression certainly is a tensor of floating-point numbers."""
    value = _value(file, node)
    if not isinstance(value, ast.Call):
        return False
    if isinstance(value.func, ast.Attribute) and value.func.attr in FLOAT_CASTS:
        return is_tensor(file, value.func.value)
    if isinstance(value.func, ast.Attribute) and value.func.attr in _KEPT:
        return is_float_tensor(file, value.func.value)
    name = _factory(file, value)
    dtypes = [each.value for each in value.keywords if each.arg == "dtype"]
    if name not in _FACTORIES or any(each.arg is None for each in value.keywords):
        return False
    if dtypes:
        dtype = qualified_name(dtypes[0], file.imports).removeprefix("torch.")
        return dtype in FLOAT_DTYPES
    return name in _FLOAT_FACTORIES


def is_integer_tensor(file: SourceFile, node: ast.expr) -> bool:
    """Return whether an expression certainly is a tensor of integers that are no mask."""
    bound = only_binding(file, node) if isinstance(node, ast.Name) else None
    if isinstance(bound, ast.For) and isinstance(bound.target, ast.Name):
        return _are_integers(file, bound.iter)
    value = _value(file, node)
    if not isinstance(value, ast.Call) or _factory(file, value) != "tensor":
        return False
    dtypes = [each.value for each in value.keywords if each.arg == "dtype"]
    if dtypes:
        return qualified_name(dtypes[0], file.imports).removeprefix("torch.") in _INTEGERS
    return len(value.args) == 1 and not value.keywords and is_integer(file, value.args[0])


def _are_integers(file: SourceFile, node: ast.expr) -> bool:
    """Return whether a loop over an expression gets tensors of integers without dimensions."""
    value = _value(file, node)
    if not isinstance(value, ast.Call) or value.keywords or not value.args:
        return False
    is_range = _factory(file, value) == "arange" and all(
        is_integer(file, each) for each in value.args
    )
    return is_range or _factory(file, value) == "randperm"


def is_integer(file: SourceFile, node: ast.expr) -> bool:
    """Return whether an expression certainly is a Python integer."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    bound = only_binding(file, node) if isinstance(node, ast.Name) else None
    if not isinstance(bound, ast.For) or not isinstance(bound.target, ast.Name):
        return False
    if isinstance(bound.iter, ast.Tuple | ast.List):
        return all(is_integer(file, each) for each in bound.iter.elts)
    return isinstance(bound.iter, ast.Call) and ast.unparse(bound.iter.func) == "range"


def is_number(file: SourceFile, node: ast.expr) -> bool:
    """Return whether an expression certainly is a Python number, and neither None nor a tensor."""
    match node:
        case ast.Constant(value=value):
            return type(value) in (int, float)
        case ast.UnaryOp(operand=operand):
            return is_number(file, operand)
        case ast.BinOp(left=left, right=right):
            return is_number(file, left) and is_number(file, right)
        case ast.Call(func=function):
            name = qualified_name(function, file.imports)
            return name in ("float", "int", "len") or name.startswith("math.")
        case ast.Name():
            return _is_bound_to_number(file, node)
    return False


def _is_bound_to_number(file: SourceFile, name: ast.Name) -> bool:
    match only_binding(file, name):
        case ast.Assign(targets=[ast.Name()], value=value):
            return is_number(file, value)
        case ast.For(target=ast.Name(), iter=ast.Tuple(elts=values) | ast.List(elts=values)):
            return bool(values) and all(is_number(file, each) for each in values)
        case ast.For(target=ast.Name(), iter=ast.Call(func=function)):
            return ast.unparse(function) == "range"
        case ast.For(target=ast.Tuple(elts=[ast.Name(id=first), *_]), iter=ast.Call(func=function)):
            return first == name.id and ast.unparse(function) == "enumerate"
    return False


def certain_rank(file: SourceFile, node: ast.expr) -> int | None:
    """Return the number of dimensions that a tensor certainly has; None if it is not certain."""
    value = _value(file, node)
    if not isinstance(value, ast.Call) or _factory(file, value) not in SIZED_FACTORIES - {"full"}:
        return None
    sizes = value.args
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple):
        sizes = sizes[0].elts
    elif len(sizes) == 1 and not is_integer(file, sizes[0]):
        # It may be a tuple of any length.
        return None
    is_known = bool(sizes) and not any(isinstance(each, ast.Starred) for each in sizes)
    return len(sizes) if is_known else None


def _value(file: SourceFile, node: ast.expr) -> ast.expr:
    bound = only_binding(file, node) if isinstance(node, ast.Name) else None
    if isinstance(bound, ast.Assign) and isinstance(bound.targets[0], ast.Name):
        return bound.value
    return node


def _factory(file: SourceFile, call: ast.Call) -> str:
    name = qualified_name(call.func, file.imports)
    return name.removeprefix("torch.") if name.startswith("torch.") else ""
