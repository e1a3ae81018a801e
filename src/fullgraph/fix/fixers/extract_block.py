"""Moves a block that cannot be traced to a separate function, so that Dynamo compiles the rest.

What it does: moves the whole block to a helper with `torch.compiler.disable`. The block runs in
eager mode; Dynamo compiles the statements before and after it.

Why it breaks: Dynamo can resume between two statements. It cannot resume in the middle of a `try`,
of a loop, or of an unknown context manager. One line in such a block makes Dynamo skip the rest of
the function, or all of it.

Safety: exact. The same statements run in the same order on the same objects. The break remains, so
this comes last.

Not applied when: the block returns or may leave a name without a value, or when the code depends on
its position: `super()`, names that start with two underscores, closures.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.codegen import indented, statement_lines
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import replace_lines
from fullgraph.fix.source.locate import statements_at
from fullgraph.fix.source.names import (
    arguments_of,
    bound_in,
    names_in,
    qualified_name,
    stored_names,
    targets_of,
)
from fullgraph.fix.source.text import indent_of, last_line, owns_its_lines

TITLE = "block that cannot be traced → separate disabled function"
KIND = "mitigate"
SAFETY = "exact"
IDS = ()
CATEGORIES = ()
ANY_BREAK = True

_BLOCKS = (ast.Try, ast.With, ast.For, ast.While)
# These mean something else in another function.
_BOUND_TO_FUNCTION: dict[type[ast.AST], str] = {
    ast.Return: "the block returns from the function",
    ast.Await: "the block awaits a coroutine",
    ast.AsyncFor: "the block awaits a coroutine",
    ast.AsyncWith: "the block awaits a coroutine",
    ast.Delete: "the block deletes a name",
}
# In such a function, names are shared or bound in ways that are easily missed.
_UNUSUAL: dict[type[ast.AST], str] = {
    ast.Global: "the function declares global names",
    ast.Nonlocal: "the function declares nonlocal names",
    ast.FunctionDef: "the function contains another function",
    ast.AsyncFunctionDef: "the function contains another function",
    ast.Lambda: "the function contains another function",
    ast.GeneratorExp: "the function contains a generator expression",
    ast.ClassDef: "the function contains a class",
    ast.Import: "the function contains an import",
    ast.ImportFrom: "the function contains an import",
    ast.Match: "the function contains a `match` statement",
    ast.Yield: "the function is a generator",
    ast.YieldFrom: "the function is a generator",
}
_POSITION_NAMES = (
    "super", "locals", "vars", "__class__", "exec", "eval", "dir", "_getframe", "warn",
)  # fmt: skip
# They do not suppress exceptions.
_PLAIN_CONTEXTS = (
    "torch.no_grad", "torch.enable_grad", "torch.set_grad_enabled", "torch.inference_mode",
    "torch.autocast", "torch.amp.autocast", "torch.profiler.record_function",
    "torch.autograd.profiler.record_function",
)  # fmt: skip


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the outermost block around the break as a separate function."""
    function = context.function
    if function is None:
        return
    around = statements_at(function, context.cause.line)
    blocks = [each for each in around if isinstance(each, _BLOCKS)]
    if not blocks:
        return
    block = blocks[-1]
    _require_usual_function(context, function)
    if not owns_its_lines(context.text, block):
        raise Declined("another statement is on the same line", block)
    names = _BlockNames(function, block, context.imports)
    _require_movable(context, block)
    names.require_known_values()
    yield _separate_function(context, function, block, names)


def _require_usual_function(context: BreakContext, function: ast.FunctionDef) -> None:
    """Decline a function whose names the analysis does not cover."""
    if all(function is not each for each in context.symbols.functions.values()):
        raise Declined("the function is inside another function", function)
    for node in ast.walk(function):
        if node is function or type(node) not in _UNUSUAL:
            continue
        if not _has_known_names(context, node):
            raise Declined(_UNUSUAL[type(node)], node)


def _has_known_names(context: BreakContext, node: ast.AST) -> bool:
    """Return whether an inner function is one that accepted fixes insert.

    Names in the functions for `torch.cond` count as names of the function around them. This is
    right for variables that they read, and for their own names it only declines more. The message
    of `torch._check` is a lambda without names.
    """
    if isinstance(node, ast.Lambda):
        return not names_in(node.body) and not arguments_of(node)
    return isinstance(node, ast.FunctionDef) and context.is_inserted(node)


def _require_movable(context: BreakContext, block: ast.stmt) -> None:
    """Decline a block that means something else in another function."""
    for node in ast.walk(block):
        if isinstance(node, ast.FunctionDef) and context.is_inserted(node):
            raise Declined(f"the fix branch_to_cond has put `{node.name}` into the block", node)
        if type(node) in _BOUND_TO_FUNCTION:
            raise Declined(_BOUND_TO_FUNCTION[type(node)], node)
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno:
            raise Declined("the block contains a string of several lines", node)
        name = str(getattr(node, "attr", None) or getattr(node, "id", ""))
        if name in _POSITION_NAMES:
            raise Declined(f"`{name}` depends on the function that it is in", node)
        # In a class, a name that starts with two underscores is another name.
        if name.startswith("__") and not name.endswith("__"):
            raise Declined(f"`{name}` is private to its class", node)


class _BlockNames:
    """The names that a block of a function reads, and those that it binds for the rest."""

    def __init__(
        self, function: ast.FunctionDef, block: ast.stmt, imports: Mapping[str, str]
    ) -> None:
        self._block = block
        self._imports = imports
        arguments = {each.arg for each in arguments_of(function)}
        before = [each for each in function.body if last_line(each) < block.lineno]
        # Statements that are deeper than the function's body may not have run.
        self._bound_before = arguments | self._always_bound(before)
        inside = {id(each) for each in ast.walk(block)}
        names = [each for each in ast.walk(function) if isinstance(each, ast.Name)]
        read = {id(each) for each in names if isinstance(each.ctx, ast.Load)}
        # `x += 1` reads x as well.
        read |= {id(each.target) for each in ast.walk(function) if isinstance(each, ast.AugAssign)}
        self._stored = stored_names(block)
        self._elsewhere = {each.id for each in names if id(each) not in inside}
        self._read_here = {each.id for each in names if id(each) in inside and id(each) in read}
        read_elsewhere = {each.id for each in names if id(each) not in inside and id(each) in read}
        self._local = arguments | bound_in(function)
        self.parameters = sorted(self._read_here & self._bound_before)
        self.results = sorted(self._stored & read_elsewhere)

    def require_known_values(self) -> None:
        """Decline a name that may have no value when it is read."""
        # A name that only the block uses has a value there, or fails as before.
        own = self._stored - self._elsewhere
        unclear = (self._read_here & self._local) - self._bound_before - own
        always = self._bound_before | self._always_bound([self._block])
        for name in sorted(unclear | (set(self.results) - always)):
            raise Declined(f"`{name}` may have no value", self._block)
        for node in ast.walk(self._block):
            # An exception's name is unbound at the end of its handler.
            caught = node.name if isinstance(node, ast.ExceptHandler) else None
            if caught in self._elsewhere | self._bound_before:
                raise Declined(f"`{caught}` is used outside of its handler", node)

    def _always_bound(self, statements: Sequence[ast.stmt]) -> set[str]:
        """Return the names that have a value after all of some statements have run."""
        bound: set[str] = set()
        for statement in statements:
            match statement:
                case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
                    bound |= {name for each in targets_of(statement) for name in stored_names(each)}
                case ast.With(body=body, items=items) if all(map(self._is_plain, items)):
                    bound |= self._always_bound(body)
                case ast.Try():
                    bound |= self._always_bound_by_try(statement)
                case ast.If(body=body, orelse=orelse):
                    bound |= self._always_bound(body) & self._always_bound(orelse)
        return bound

    def _always_bound_by_try(self, statement: ast.Try) -> set[str]:
        paths = [[*statement.body, *statement.orelse]]
        handlers = [each.body for each in statement.handlers]
        paths += [body for body in handlers if not isinstance(body[-1], ast.Raise)]
        on_all_paths = set.intersection(*map(self._always_bound, paths))
        return on_all_paths | self._always_bound(statement.finalbody)

    def _is_plain(self, item: ast.withitem) -> bool:
        """Return whether a context manager is known not to suppress exceptions."""
        made = item.context_expr
        function = made.func if isinstance(made, ast.Call) else made
        return qualified_name(function, self._imports) in _PLAIN_CONTEXTS


def _separate_function(
    context: BreakContext, function: ast.FunctionDef, block: ast.stmt, names: _BlockNames
) -> Candidate:
    """Return the candidate that calls a new function in the place of a block."""
    name = context.fresh_name(f"_{function.name.strip('_')}_in_eager_mode")
    parameters, results = ", ".join(names.parameters), ", ".join(names.results)
    body = statement_lines(context.text, [block])
    body += [f"return {results}"] if results else []
    lines = ["", "", "@torch.compiler.disable", f"def {name}({parameters}):", *indented(body)]
    call = f"{name}({parameters})"
    call = f"{results} = {call}" if results else call
    edit = replace_lines(
        context.text, block.lineno, last_line(block), [f"{indent_of(context.text, block)}{call}"]
    )
    return Candidate(
        context.file_edits([edit], imports=("import torch",), definitions=("\n".join(lines),))
    )
