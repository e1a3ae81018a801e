"""The source that a question is about: the function with the break, and what it calls."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import NamedTuple

from fullgraph.python_source import imports_of, parse, read_source, split_lines

# Characters of all parts together, and lines of one function around the break.
_MOST = 16_000
_MOST_LINES = 160
_MOST_CALLEES = 8

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = _Function | ast.ClassDef


class SourcePart(NamedTuple):
    """Lines of one file, with their numbers in front."""

    title: str
    text: str


class _Defined(NamedTuple):
    file: str
    lines: list[str]
    name: str
    node: _Definition


def source_parts(file: str, line: int, folder: str) -> list[SourcePart]:
    """Return the function around a line, then the functions that it calls in the same project.

    `folder` is the folder of the program, below which modules are followed.
    """
    text = read_source(file)
    if text is None:
        return []
    lines = split_lines(text)
    tree = parse(text)
    around = _innermost(tree, line) if tree else None
    if tree is None or around is None:
        return [_excerpt(file, lines, line)]
    parts = [_part(_Defined(file, lines, _qualified(tree, around), around), line)]
    room = _MOST - len(parts[0].text)
    for callee in _callees(tree, file, lines, around, folder):
        part = _part(callee, callee.node.lineno)
        room -= len(part.text)
        if room < 0 or len(parts) > _MOST_CALLEES:
            break
        parts.append(part)
    return parts


def _innermost(tree: ast.AST, line: int) -> _Function | None:
    """Return the outermost function around a line that is not a method's own helper.

    A function inside another one is not understood without it.
    """
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.stmt | ast.ExceptHandler):
            continue
        if not _first_line(node) <= line <= (node.end_lineno or node.lineno):
            continue
        if isinstance(node, _Function):
            return node
        return _innermost(node, line)
    return None


def _first_line(node: ast.stmt | ast.ExceptHandler) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _qualified(tree: ast.Module, wanted: _Definition) -> str:
    return next((name for name, node in _definitions(tree, "") if node is wanted), wanted.name)


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, _Definition]]:
    """Yield the functions, classes and methods of a module, with their qualified names."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, _Definition):
            yield f"{prefix}{each.name}", each
        if isinstance(each, ast.ClassDef):
            yield from _definitions(each, f"{prefix}{each.name}.")
        elif isinstance(each, ast.If | ast.Try | ast.With):
            yield from _definitions(each, prefix)


def _callees(
    tree: ast.Module, file: str, lines: list[str], function: _Function, folder: str
) -> Iterator[_Defined]:
    """Yield what a function calls, in the order of the calls, each once."""
    mine = dict(_definitions(tree, ""))
    owner = _qualified(tree, function).rpartition(".")[0]
    imports = imports_of(tree)
    seen: set[str] = set()
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        name = _dotted(call.func)
        local = f"{owner}{name.removeprefix('self')}" if name.startswith("self.") else name
        if not name or local in seen:
            continue
        seen.add(local)
        if (node := mine.get(local)) is not None:
            if node is not function:
                yield _Defined(file, lines, local, node)
        else:
            start, _, rest = name.partition(".")
            imported = imports.get(start)
            if imported and (found := _imported(f"{imported}.{rest}".rstrip("."), file, folder)):
                yield found


def _dotted(node: ast.expr) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _imported(name: str, file: str, folder: str) -> _Defined | None:
    """Return a function of another file of the project; None for libraries."""
    pieces = name.split(".")
    for root in dict.fromkeys((os.path.dirname(file), folder)):
        for size in range(len(pieces) - 1, 0, -1):
            path = os.path.join(root, *pieces[:size]) + ".py"
            text = read_source(path) if os.path.isfile(path) else None
            tree = parse(text) if text is not None else None
            if text is None or tree is None:
                continue
            wanted = ".".join(pieces[size:])
            node = dict(_definitions(tree, "")).get(wanted)
            return _Defined(path, split_lines(text), wanted, node) if node else None
    return None


def _part(defined: _Defined, line: int) -> SourcePart:
    node = defined.node
    first, last = _first_line(node), node.end_lineno or node.lineno
    if last - first >= _MOST_LINES:
        first = max(first, line - _MOST_LINES // 2)
        last = min(last, first + _MOST_LINES - 1)
    kind = "class" if isinstance(node, ast.ClassDef) else "function"
    return SourcePart(
        f"{kind} {defined.name} in {defined.file}", _numbered(defined.lines, first, last)
    )


def _excerpt(file: str, lines: list[str], line: int) -> SourcePart:
    first, last = max(1, line - 20), min(len(lines), line + 20)
    return SourcePart(f"around line {line} of {file}", _numbered(lines, first, last))


def _numbered(lines: list[str], first: int, last: int) -> str:
    width = len(str(last))
    return "\n".join(
        f"{number:>{width}} | {lines[number - 1].rstrip()}"
        for number in range(first, min(last, len(lines)) + 1)
    )
