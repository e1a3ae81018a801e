"""What an expression certainly is, from the statements that bind its names."""

from __future__ import annotations

import ast

from fullgraph.analysis.user_lines.bindings import bindings_in
from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.fix.source.names import qualified_name
from fullgraph.fix.source.torch_ops import SIZED_FACTORIES, words

_FACTORIES = SIZED_FACTORIES | words("arange linspace tensor randint")
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


def is_integer_tensor(file: SourceFile, node: ast.expr) -> bool:
    """Return whether an expression certainly is a tensor of integers that are no mask."""
    value = _value(file, node)
    if not isinstance(value, ast.Call) or _factory(file, value) != "tensor":
        return False
    dtypes = [each.value for each in value.keywords if each.arg == "dtype"]
    if dtypes:
        return qualified_name(dtypes[0], file.imports).removeprefix("torch.") in _INTEGERS
    return len(value.args) == 1 and not value.keywords and is_integer(file, value.args[0])


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


def has_certain_rank(file: SourceFile, node: ast.expr) -> bool:
    """Return whether an expression certainly is a tensor of one number of dimensions."""
    value = _value(file, node)
    if not isinstance(value, ast.Call) or _factory(file, value) not in SIZED_FACTORIES - {"full"}:
        return False
    sizes = value.args
    if any(isinstance(each, ast.Starred) for each in sizes):
        return False
    # The only argument may be a tuple of any length.
    is_one = len(sizes) == 1
    return len(sizes) > 1 or (is_one and is_integer(file, sizes[0]))


def _value(file: SourceFile, node: ast.expr) -> ast.expr:
    bound = only_binding(file, node) if isinstance(node, ast.Name) else None
    if isinstance(bound, ast.Assign) and isinstance(bound.targets[0], ast.Name):
        return bound.value
    return node


def _factory(file: SourceFile, call: ast.Call) -> str:
    name = qualified_name(call.func, file.imports)
    return name.removeprefix("torch.") if name.startswith("torch.") else ""
