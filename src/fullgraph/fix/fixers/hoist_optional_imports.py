"""Moves an optional import from a function to the top of its file.

What it does: a `try` that imports a library, with an `except ImportError:` that sets the name to a
constant, moves to module level. It runs once, when the file is imported.

Why it breaks: during tracing, the failing import ends the graph. Because it is inside a `try`,
Dynamo skips the whole function.

Safety: exact, if the library is available for the whole run or not at all.

Not applied when: the `try` does more than import, or its handler does more than set the same names
to constants. Nor is it applied if the names have another meaning in the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import IMPORT_FAILURE
from fullgraph.fix.source.codegen import statement_lines
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import delete_statement
from fullgraph.fix.source.locate import body_around
from fullgraph.fix.source.names import imports_of, stored_names
from fullgraph.fix.source.text import last_line, owns_its_lines

TITLE = "optional import in a function → at module level"
KIND = "rewrite"
SAFETY = "exact"
ASSUMES = ("whether the module can be imported does not change after this file is imported",)
IDS = (IMPORT_FAILURE,)
CATEGORIES = ()

_ERRORS = ("ImportError", "ModuleNotFoundError")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the `try` around the break at the top of the file."""
    function = context.function
    attempt = next((each for each in context.statements if isinstance(each, ast.Try)), None)
    if function is None or attempt is None:
        return
    _require_only_imports(attempt)
    _require_unused_names(attempt, function, context.tree)
    if not owns_its_lines(context.text, attempt):
        raise Declined("another statement is on the same line", attempt)
    if len(body_around(context.tree, attempt)) == 1:
        raise Declined("the `try` is the only statement of its block", attempt)
    moved = "\n".join(statement_lines(context.text, [attempt]))
    edit = delete_statement(context.text, attempt)
    yield Candidate(context.file_edits([edit], definitions=(f"\n{moved}",)))


def _require_only_imports(attempt: ast.Try) -> None:
    """Decline a `try` that does anything but import names or set them to constants."""
    if attempt.orelse or attempt.finalbody or len(attempt.handlers) != 1:
        raise Declined("the `try` has more than one handler", attempt)
    handler = attempt.handlers[0]
    if not isinstance(handler.type, ast.Name) or handler.type.id not in _ERRORS:
        raise Declined("the handler catches more than ImportError", handler)
    for statement in attempt.body:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            raise Declined("the `try` does more than import", statement)
    for statement in handler.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
            raise Declined("the handler does more than set names to constants", statement)
    if stored_names(handler) != _imported_names(attempt):
        raise Declined("the handler does not set exactly the imported names", handler)


def _imported_names(attempt: ast.Try) -> set[str]:
    return set(imports_of(ast.Module(list(attempt.body), [])))


def _require_unused_names(attempt: ast.Try, function: ast.FunctionDef, tree: ast.Module) -> None:
    """Decline imported names that have another meaning anywhere in the file."""
    names = _imported_names(attempt)
    inside = {id(node) for node in ast.walk(attempt)}
    for node in ast.walk(tree):
        if id(node) in inside:
            continue
        used = _bound_by(node)
        # Outside of the function, the name is another one, or an intended NameError.
        if isinstance(node, ast.Name) and not _is_in(node, function):
            used = used | {node.id}
        for name in sorted(names & used):
            raise Declined(f"`{name}` has another meaning elsewhere in the file", node)


def _bound_by(node: ast.AST) -> set[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(each.asname or each.name).partition(".")[0] for each in names}
    return set()


def _is_in(node: ast.Name, function: ast.FunctionDef) -> bool:
    return function.lineno <= node.lineno <= last_line(function)
