"""Imports, definitions and settings that a fix adds at module level, where they take effect.

Imports go to the imports at the top of a file, but never above a statement in front of the first
import of torch, such as `os.environ[...] = ...`. Definitions go below the statements that bind the
names which they use while the module is imported. Settings go below the first import of torch,
because what is imported or called later may already compile.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import Edit, insert_lines
from fullgraph.fix.source.names import imports_of, stored_names
from fullgraph.fix.source.text import last_line, parse, split_lines

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Statements that import something whenever the file is imported, if they have an import.
_IMPORTING = (ast.Import, ast.ImportFrom, ast.Try)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# The first two lines of a file may name the interpreter and the encoding.
_FIRST_LINES = re.compile(r"#!|[ \t\f]*#.*?coding[:=]")


def missing_imports(text: str, imports: Sequence[str]) -> tuple[str, ...]:
    """Return those of some import statements that a file lacks."""
    tree = parse(text)
    present: set[str] = set()
    for node in tree.body if tree else ():
        if isinstance(node, ast.ImportFrom):
            present.add(ast.unparse(node))
        elif isinstance(node, ast.Import):
            # Of `import math, torch` each by itself.
            present |= {ast.unparse(ast.Import([each])) for each in node.names}
    return tuple(each for each in imports if each not in present)


def insert_at_top(text: str, imports: Sequence[str], definitions: Sequence[str]) -> list[Edit]:
    """Insert imports and definitions below the imports of a file.

    Definitions stand below the statements that bind the names that they use. Declined is raised if
    the file uses the name of an import for something else.
    """
    tree = parse(text)
    body = tree.body if tree else []
    _require_free_names(imports, body)
    line = max(_line_of_imports(text, imports, body), _last_line_used(definitions, body)) + 1
    edits = [insert_lines(text, line, [each]) for each in imports]
    for definition in definitions:
        wanted = 2 if "\ndef " in f"\n{definition}" else 1
        lines = [*definition.split("\n"), *missing_blank_lines(text, line, wanted)]
        edits.append(insert_lines(text, line, lines))
    return edits


def insert_settings(text: str, imports: Sequence[str], statements: Sequence[str]) -> list[Edit]:
    """Insert statements that set `torch._dynamo.config`, and the imports that they need."""
    tree = parse(text)
    body = tree.body if tree else []
    imports = missing_imports(text, imports)
    _require_free_names(imports, body)
    line = max(_line_of_imports(text, ["import torch"], body), _last_line_used(statements, body))
    line += 1
    added = ["", *statements, *missing_blank_lines(text, line, 1)]
    return [
        *(insert_lines(text, line, [each]) for each in imports),
        insert_lines(text, line, added),
    ]


def missing_blank_lines(text: str, line: int, wanted: int) -> list[str]:
    """Return the empty lines to add in front of a line, so that there are at least `wanted`.

    Nothing is missing at the end of a file.
    """
    below = split_lines(text)[line - 1 :]
    present = next((number for number, each in enumerate(below) if each.strip()), wanted)
    return [""] * max(wanted - present, 0)


def _require_free_names(imports: Iterable[str], body: Sequence[ast.stmt]) -> None:
    """Decline an import of a name that the file binds to something else at module level."""
    for statement in imports:
        for name, module in imports_of(ast.parse(statement)).items():
            for node in body:
                present = _imports_at_module_level(node).get(name)
                if name in _bound_by(node) and present != module:
                    raise Declined(f"`{name}` is not the module {module} in this file", node)


def _line_of_imports(text: str, imports: Iterable[str], body: Sequence[ast.stmt]) -> int:
    """Return the line below which some imports go; 0 for the start of the file."""
    modules = {each for one in imports for each in imports_of(ast.parse(one)).values()}
    needs_torch = any(each.partition(".")[0] == "torch" for each in modules)
    first = next((n for n, each in enumerate(body) if _imports_torch(each)), None)
    if needs_torch and first is not None:
        # Another import may already compile something, but the file reads better like this, and
        # `--apply` checks that settings are in effect.
        return _end_of_run(body, first)
    run = _end_of_run(body, 0)
    # What is in front of the first import may be there for a reason, such as a variable of the
    # environment that a library reads.
    return max(run, _last_line_of_header(body) if needs_torch else 0) or _first_lines(text)


def _end_of_run(body: Sequence[ast.stmt], first: int) -> int:
    """Return the last line of the imports from a statement on; a docstring counts as one."""
    line = 0
    for number, node in enumerate(body[first:], first):
        if not isinstance(node, ast.Import | ast.ImportFrom) and not (
            number == first and (_is_docstring(node) or _imports_torch(node))
        ):
            break
        line = last_line(node)
    return line


def _last_line_of_header(body: Sequence[ast.stmt]) -> int:
    """Return the last line of the imports above the first function, class or loop; 0 without."""
    line = 0
    for node in body:
        if isinstance(node, _IMPORTING) and _imports_at_module_level(node):
            line = last_line(node)
        elif not isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign):
            break
    return line


def _first_lines(text: str) -> int:
    """Return how many of the first lines have to stay first."""
    lines = split_lines(text)[:2]
    return max((n for n, each in enumerate(lines, 1) if _FIRST_LINES.match(each)), default=0)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _imports_torch(node: ast.stmt) -> bool:
    """Return whether a statement imports torch whenever the file is imported."""
    if not isinstance(node, _IMPORTING):
        return False
    names = _imports_at_module_level(node).values()
    return any(each.partition(".")[0] == "torch" for each in names)


def _imports_at_module_level(node: ast.stmt) -> dict[str, str]:
    """Return what the imports of a statement bind; those of functions and classes do not count."""
    statements = [each for each in _at_module_level(node) if isinstance(each, ast.stmt)]
    found = [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
    return imports_of(ast.Module(list(found), []))


def _last_line_used(definitions: Iterable[str], body: Sequence[ast.stmt]) -> int:
    """Return the last line of the statements that bind what definitions use; 0 without one."""
    used: set[str] = set()
    for definition in definitions:
        for statement in ast.parse(definition.strip()).body:
            used |= {
                each.id
                for each in _at_module_level(statement)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
            }
    line = 0
    for node in body:
        # Later statements may bind the same names again.
        bound = _bound_by(node) & used
        if bound:
            line = last_line(node)
            used -= bound
    return line


def _bound_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds at module level."""
    if isinstance(node, _DEFINITIONS):
        return {node.name}
    found: set[str] = set()
    for each in _at_module_level(node):
        if isinstance(each, ast.Name):
            found |= stored_names(each)
        elif isinstance(each, _DEFINITIONS):
            found.add(each.name)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            found |= {name.asname or name.name.partition(".")[0] for name in each.names}
    return found


def _at_module_level(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when the module is imported: no bodies of functions.

    Names that a class body binds are its own, so it counts only with its decorators and bases.
    """
    yield node
    for name, field in ast.iter_fields(node):
        if name == "body" and isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            continue
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST):
                yield from _at_module_level(child)
