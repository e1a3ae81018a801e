"""Every module, and every public class and function, says what it is or returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import fullgraph

PACKAGE = Path(fullgraph.__file__).parent


def undocumented(node: ast.Module | ast.ClassDef, name: str) -> Iterator[str]:
    """Yield the names without a docstring; functions inside functions need none."""
    if not ast.get_docstring(node):
        yield name
    for child in node.body:
        if getattr(child, "name", "_").startswith("_"):
            continue
        if isinstance(child, ast.ClassDef):
            yield from undocumented(child, f"{name} {child.name}")
        elif isinstance(child, ast.FunctionDef) and not ast.get_docstring(child):
            yield f"{name} {child.name}"


def test_public_names_have_docstrings() -> None:
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        # The examples of the catalog have rules of their own; an empty __init__.py says nothing.
        source = file.read_text()
        if file.parent.name != "entries" and source.strip():
            found += undocumented(ast.parse(source), file.relative_to(PACKAGE).as_posix())
    assert found == []
