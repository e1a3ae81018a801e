"""Functions as pieces of a file's text: found by line, replaced without touching the rest."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from msgspec import Struct

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_END = re.compile(r"\r?\n")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them, with their ends. `splitlines` would count others too."""
    return _LINE.findall(text)


def with_ends_of(text: str, original: str) -> str:
    """The text with the line ends that the original has."""
    return _END.sub("\r\n", text) if "\r\n" in original else text


class Block(Struct, frozen=True):
    """A function in a file, decorators included; its text starts at column 0."""

    name: str
    # From 1, the last one included.
    first: int
    last: int
    indent: str
    text: str

    def line_of(self, line: int) -> int:
        """A line of the file as a line of the block, from 1."""
        return line - self.first + 1


@lru_cache(maxsize=64)
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def enclosing_function(text: str, line: int, *, outermost: bool = False) -> Block | None:
    """The function that a line belongs to; the innermost unless asked otherwise."""
    try:
        tree = parsed(text)
    except SyntaxError:
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _Function) and _first_line(node) <= line <= (node.end_lineno or 0)
    ]
    if not found:
        return None
    choose = min if outermost else max
    return _block(text, choose(found, key=_first_line))


def _first_line(node: _Function) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _block(text: str, node: _Function) -> Block:
    lines = lines_of(text)
    first, last = _first_line(node), node.end_lineno or node.lineno
    head = lines[first - 1]
    indent = head[: len(head) - len(head.lstrip())]
    inside = _inside_strings(node)
    body = (
        lines[number - 1] if number in inside else lines[number - 1].removeprefix(indent)
        for number in range(first, last + 1)
    )
    return Block(node.name, first, last, indent, "".join(body))


def replaced(text: str, block: Block, new: str) -> str:
    """The file with another text in the place of a block."""
    lines = lines_of(text)
    if not new.endswith("\n") and lines[block.last - 1].endswith("\n"):
        new += "\n"
    # A text in quotes that goes over several lines was not dedented, so it is not indented.
    inside = _inside_strings(ast.parse(new))
    body = "".join(
        line if number in inside or not line.strip() else block.indent + line
        for number, line in enumerate(lines_of(new), 1)
    )
    return "".join(lines[: block.first - 1]) + body + "".join(lines[block.last :])


def _inside_strings(tree: ast.AST) -> set[int]:
    """Lines that start within a string."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno:
            is_text = isinstance(node, ast.JoinedStr) or isinstance(node.value, str | bytes)
            if is_text:
                inside.update(range(node.lineno + 1, node.end_lineno + 1))
    return inside


def with_imports(text: str, statements: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The file with these imports, and which of them it lacked."""
    tree = parsed(text)
    present = {ast.unparse(node) for node in tree.body if isinstance(node, ast.ImportFrom)}
    for node in tree.body:
        if isinstance(node, ast.Import):
            # Of `import math, torch` each by itself.
            present |= {ast.unparse(ast.Import([each])) for each in node.names}
    missing = tuple(each for each in statements if each not in present)
    if not missing:
        return text, ()
    lines = lines_of(text)
    position = max(_after_imports(tree), _last_import_of(missing, tree))
    new = [f"{statement}\n" for statement in missing]
    return "".join([*lines[:position], *new, *lines[position:]]), missing


def _last_import_of(statements: tuple[str, ...], tree: ast.Module) -> int:
    """The line of the last import, at the top of the file, of something that is used by these."""
    used = {
        node.id
        for statement in statements
        for node in ast.walk(ast.parse(statement.strip()))
        if isinstance(node, ast.Name)
    }
    lines = [0]
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound = {each.asname or each.name.partition(".")[0] for each in node.names}
            if bound & used:
                lines.append(node.end_lineno or node.lineno)
    return max(lines)


def _after_imports(tree: ast.Module) -> int:
    """Behind the first run of imports; otherwise behind the docstring."""
    position = 0
    for node in tree.body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or (is_docstring and position == 0):
            position = node.end_lineno or node.lineno
        else:
            break
    return position
