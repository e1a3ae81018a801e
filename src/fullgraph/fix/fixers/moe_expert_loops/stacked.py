"""Whether what experts are made of is one tensor for all of them."""

from __future__ import annotations

import ast

from fullgraph.fix.source.names import names_in

_GIVES_TENSORS = ("view", "reshape", "permute", "transpose", "one_hot", "to", "contiguous", "t")
_MAKERS = ("Parameter", "Buffer", "empty", "zeros", "ones", "randn", "rand", "tensor")


def is_stacked(
    tree: ast.Module, function: ast.FunctionDef, body: list[ast.stmt], turn: str
) -> bool:
    """Whether everything that `turn` selects in there comes out of a single tensor."""
    if not turn:
        return False
    tensors = _tensor_attributes(tree)
    local = _computed_names(function)
    chosen = [
        node.value
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Subscript) and turn in names_in(node.slice)
    ]
    return all(_is_tensor(each, tensors, local) for each in chosen)


def _is_tensor(node: ast.expr, attributes: set[str], local: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _GIVES_TENSORS
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name in attributes
        case ast.Name(id=name):
            return name in local
    return False


def _computed_names(function: ast.FunctionDef) -> set[str]:
    """Names that are only bound to what methods of tensors give, or annotated as tensors."""
    found: dict[str, bool] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[name] = found.get(name, True) and _is_tensor(value, set(), set())
            case ast.arg(arg=name, annotation=annotation) if annotation is not None:
                found[name] = ast.unparse(annotation) in ("torch.Tensor", "Tensor")
    return {name for name, is_tensor in found.items() if is_tensor}


def _tensor_attributes(tree: ast.Module) -> set[str]:
    """Attributes that are parameters or buffers in every class that assigns them."""
    found: dict[str, bool] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value
            ):
                found[name] = found.get(name, True) and _makes_tensor(value)
    return {name for name, is_tensor in found.items() if is_tensor}


def _makes_tensor(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _MAKERS
    return False
