"""Private names of torch are in one table: a new release is a matter of one file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fullgraph

SOURCE = Path(fullgraph.__file__).parent
TABLE = SOURCE / "capture" / "dynamo_hooks.py"
FILES = [
    file
    for folder in ("capture", "catalog", "analysis", "model", "render")
    for file in sorted((SOURCE / folder).rglob("*.py"))
    if file != TABLE and "entries" not in file.parts and "bootstrap" not in file.parts
]


def private_names(tree: ast.Module) -> Iterator[str]:
    """Yield `torch._name` in expressions, in imports and in calls of import_module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            if isinstance(node.value, ast.Name) and node.value.id == "torch":
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch._"):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("torch._"))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            arguments = [each.value for each in node.args if isinstance(each, ast.Constant)]
            yield from (name for name in map(str, arguments) if name.startswith("torch._"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_only_the_table_names_private_modules_of_torch(file: Path) -> None:
    found = {name for name in private_names(ast.parse(file.read_text())) if name != "__version__"}
    assert found - {"__file__"} == set()
