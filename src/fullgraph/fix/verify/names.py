"""Which names a change uses that the file did not use before, and which it no longer uses."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from fullgraph.python_source import imports_of


class Use(NamedTuple):
    """A name, or attributes of one, as `torch.compiler.disable`; imports are resolved."""

    name: str
    line: int
    # Whether it is assigned or deleted, and whether it is called.
    is_stored: bool = False
    is_called: bool = False
    # Whether the first part is an imported module.
    is_imported: bool = False


def added_uses(old: ast.Module, new: ast.Module) -> list[Use]:
    """Return the uses that the new text has more often than the old one."""
    left = Counter(use.name for use in _uses(old))
    found = []
    for use in _uses(new):
        if left[use.name]:
            left[use.name] -= 1
        else:
            found.append(use)
    return found


def removed_uses(old: ast.Module, new: ast.Module) -> list[Use]:
    """Return the uses that the old text has more often, with its lines."""
    return added_uses(new, old)


def _uses(tree: ast.Module) -> Iterator[Use]:
    imported = imports_of(tree)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for each in names:
                    yield Use(each.name, node.lineno)
            case ast.ImportFrom(module=module, names=names):
                for each in names:
                    yield Use(f"{module or ''}.{each.name}", node.lineno)
            case ast.Name() | ast.Attribute() if id(node) not in inner:
                name = _dotted(node)
                first, _, rest = name.partition(".")
                resolved = imported.get(first, first)
                yield Use(
                    f"{resolved}.{rest}" if rest else resolved,
                    node.lineno,
                    is_stored=isinstance(node.ctx, ast.Store | ast.Del),
                    is_called=id(node) in called,
                    is_imported=first in imported,
                )
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[target, name, *_]):
                owner = _dotted(target)
                first = owner.partition(".")[0]
                shown = str(name.value) if isinstance(name, ast.Constant) else "…"
                yield Use(
                    f"{imported.get(first, first)}.{shown}",
                    node.lineno,
                    is_stored=True,
                    is_imported=first in imported,
                )


def _dotted(node: ast.expr) -> str:
    """Return the names and attributes that an expression consists of; a part of it otherwise."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            return f"{_dotted(value)}.{attribute}"
    return "()"
