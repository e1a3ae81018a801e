"""One source file of the program, as it was when the program ran."""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Iterator
from functools import cached_property

from fullgraph.analysis.user_lines.bindings import COMPREHENSIONS, FUNCTIONS, Scope
from fullgraph.model.events import Code, Frame
from fullgraph.python_source import byte_column, imports_of, parse, read_source, source_line

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# With these, code can bind a name of a module that the source does not show.
_HIDDEN_WRITES = frozenset({"exec", "globals", "vars", "locals", "__dict__"})


class SourceFile:
    """The text of a file and its syntax tree, in which nodes know their parents."""

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        self.tree = tree

    @cached_property
    def parents(self) -> dict[int, ast.AST]:
        """The node around each node, by the id of the inner one."""
        return {
            id(child): parent
            for parent in ast.walk(self.tree)
            for child in ast.iter_child_nodes(parent)
        }

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        """All functions of the file."""
        return [node for node in self.nodes if isinstance(node, FUNCTIONS)]

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def imports(self) -> dict[str, str]:
        """What each imported name refers to."""
        return imports_of(self.tree)

    @cached_property
    def has_hidden_writes(self) -> bool:
        """Whether something in the file could bind names of the module without showing them."""
        return any(
            (isinstance(node, ast.Name) and node.id in _HIDDEN_WRITES)
            or (isinstance(node, ast.Attribute) and node.attr in _HIDDEN_WRITES)
            for node in self.nodes
        )

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield a node and the nodes around it, the innermost first."""
        current: ast.AST | None = node
        while current is not None:
            yield current
            current = self.parents.get(id(current))

    def matches(self, frame: Frame) -> bool:
        """Return whether the line of a frame is still the one that ran."""
        line = source_line(self.text, frame.line).strip()
        return bool(line) and frame.code in ("", line)

    def call_at(self, frame: Frame) -> ast.Call | None:
        """Return the call that a frame was in; None if its line does not tell which one it was."""
        calls = [node for node in self._calls if node.lineno <= frame.line <= _last_line(node)]
        if frame.end_column is None:
            return calls[0] if len(calls) == 1 else None
        last = frame.end_line or frame.line
        end = (last, byte_column(self.text, last, frame.end_column))
        # A call ends with a parenthesis of its own; no other call ends there.
        return next(
            (node for node in calls if (_last_line(node), node.end_col_offset) == end), None
        )

    def function_of(self, code: Code) -> Function | None:
        """Return the definition of a function that was compiled; None if it is not there."""
        named = [node for node in self.functions if function_name(node) == code.function]
        found = [node for node in named if code.line in (_first_line(node), node.lineno)]
        if not found and code.resumed_at is not None:
            # The code after a graph break starts where it resumes.
            found = [node for node in named if _has_line(node, code.resumed_at)]
        return found[0] if len(found) == 1 else None

    def scope_of(self, node: ast.AST) -> Scope | None:
        """Return the function or module whose names a node uses; None in the body of a class.

        A comprehension counts as a part of the function around it.
        """
        inner = node
        for outer in self.around(node):
            if outer is not inner and runs_inside(outer, inner):
                if isinstance(outer, ast.ClassDef):
                    return None
                if isinstance(outer, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
                    return outer
                if isinstance(outer, ast.Lambda):
                    return outer
            inner = outer
        return None

    def enclosing(self, scope: Scope) -> Iterator[Scope]:
        """Yield the scopes around a scope that it can see names of, the innermost first."""
        for node in self.around(scope):
            if node is not scope and isinstance(node, (ast.Module, *FUNCTIONS)):
                yield node

    def frame(self, node: ast.AST) -> Frame:
        """Return the place of a node, with the name of its function."""
        node = node.optional_vars or node.context_expr if isinstance(node, ast.withitem) else node
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        text = source_line(self.text, line)
        scope = self.scope_of(node)
        return Frame(
            file=self.path,
            line=line,
            function=scope_name(scope),
            column=len(text.encode()[:column].decode(errors="replace")) + 1,
            code=text.strip(),
        )


def runs_inside(outer: ast.AST, inner: ast.AST) -> bool:
    """Return whether a direct child of a function, class or comprehension uses its names.

    Decorators, defaults, base classes and the first iterable of a comprehension do not.
    """
    if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return any(inner is each for each in outer.body)
    if isinstance(outer, ast.Lambda):
        return inner is outer.body
    return True


def comprehension_binding(file: SourceFile, name: str, use: ast.AST) -> ast.AST | None:
    """Return the target of a comprehension around `use` that binds a name; None without one."""
    inner: ast.AST = use
    path = list(file.around(use))
    for outer in path[1:]:
        if isinstance(outer, (ast.stmt, *FUNCTIONS)):
            return None
        if isinstance(outer, COMPREHENSIONS):
            first = outer.generators[0]
            in_first_iterable = inner is first and any(each is first.iter for each in path)
            if not in_first_iterable:
                targets = [
                    node
                    for clause in outer.generators
                    for node in ast.walk(clause.target)
                    if isinstance(node, ast.Name) and node.id == name
                ]
                if targets:
                    return targets[-1] if len(targets) == 1 else None
        inner = outer
    return None


def is_deferred(file: SourceFile, use: ast.AST, scope: Scope) -> bool:
    """Return whether a generator expression between a scope and a node runs the node later."""
    for node in file.around(use):
        if node is scope:
            return False
        if isinstance(node, ast.GeneratorExp):
            return True
    return False


def function_name(node: Function) -> str:
    """Return the name that Python gives a function."""
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def scope_name(scope: Scope | None) -> str:
    """Return the name that a stack shows for a scope; empty for the body of a class."""
    if scope is None:
        return ""
    return "<module>" if isinstance(scope, ast.Module) else function_name(scope)


def is_builtin(name: str) -> bool:
    """Return whether Python has a name without binding it."""
    return hasattr(builtins, name)


def open_source(path: str, not_after: float) -> SourceFile | None:
    """Return a file; None if it cannot be read, or was changed after the time `not_after`."""
    try:
        if not_after and os.stat(path).st_mtime > not_after:
            return None
    except OSError:
        return None
    text = read_source(path)
    tree = None if text is None else parse(text)
    return None if text is None or tree is None else SourceFile(path, text, tree)


def _first_line(node: Function) -> int:
    """Return the line that Python counts as the first of a function: that of a decorator."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(each.lineno for each in decorators)])


def _has_line(node: Function, line: int) -> bool:
    return _first_line(node) <= line <= (node.end_lineno or node.lineno)


def _last_line(node: ast.expr) -> int:
    return node.end_lineno or node.lineno
