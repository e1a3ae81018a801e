"""What names in a file stand for, through its imports, aliases and all."""

from __future__ import annotations

import ast
from collections.abc import Mapping


def imports_of(tree: ast.AST) -> dict[str, str]:
    """From each imported name to what it is: `np` to `numpy`, `deepcopy` to `copy.deepcopy`."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                found[each.asname or top] = each.name if each.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    return found


def dotted(node: ast.AST, imports: Mapping[str, str]) -> str:
    """`torch.backends.cudnn.flags` for `cudnn.flags`; empty for what is no chain of names."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([imports.get(node.id, node.id), *reversed(parts)])


def names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def stored_names(node: ast.AST) -> set[str]:
    """Names that are bound anywhere inside."""
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }


def fresh_name(wanted: str, tree: ast.AST) -> str:
    """A name that nothing in there uses."""
    used = names_in(tree) | {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    used |= {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
    used |= set(imports_of(tree))
    name = wanted
    while name in used:
        name = f"{name}_"
    return name
