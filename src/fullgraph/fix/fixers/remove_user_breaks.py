"""Removes graph breaks that the program requests.

What it does: deletes a call of `torch._dynamo.graph_break()`, or a `@torch.compiler.disable`
decorator of a helper that may compile.

Why it breaks: the program asks for the break. `graph_break()` splits a graph on purpose, mostly to
find a bug that no longer exists, and `disable` excludes a helper from compilation. In eager mode
neither has an effect. The results change only if compilation fails in the way for which they were
added, and verification detects that.

Safety: exact. There may be a reason that no result shows, such as memory or compile time, so the
user decides.

Not applied when: the `disable` states its reason, or is not the only decorator of a function in the
same file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import Edit, delete_statement, replace_lines, replace_node
from fullgraph.fix.source.locate import body_around, class_at
from fullgraph.fix.source.text import comment_lines, owns_its_lines

TITLE = "explicit graph break or `disable` → removed"
KIND = "rewrite"
SAFETY = "exact"
ORDER = 1
IDS = ()
CATEGORIES = ("user-requested",)

_BREAKS = tuple(
    f"torch._dynamo.{name}" for name in ("graph_break", "skip_frame", "step_unsupported")
)
_RANDOM = re.compile(
    r"\b(rand\w*|\w*dropout\w*|bernoulli\w*|multinomial|\w*normal_?|uniform_?|random_?|sample)\(",
    re.IGNORECASE,
)
_DISABLES = ("torch.compiler.disable", "torch._dynamo.disable", "torch._dynamo.decorators.disable")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the program without the call, or without the decorator of the called function."""
    statement = context.statements[0] if context.statements else None
    match statement:
        case ast.Expr(value=ast.Call(func=func)) if context.name(func) in _BREAKS:
            yield Candidate(context.file_edits([_remove_call(context, statement)]))
        case ast.stmt():
            yield _remove_decorator(context)


def _remove_call(context: BreakContext, statement: ast.stmt) -> Edit:
    if len(body_around(context.tree, statement)) == 1:
        return replace_node(context.text, statement, "pass")
    if not owns_its_lines(context.text, statement):
        raise Declined("another statement is on the same line", statement)
    return delete_statement(context.text, statement)


def _remove_decorator(context: BreakContext) -> Candidate:
    """Return the candidate without the decorator of the function that is called at the break."""
    called = _called_function(context)
    if called is None:
        raise Declined("the disabled function is not defined in this file")
    name, function = called
    decorator = _disabling_decorator(context, function)
    first, last = decorator.lineno, function.lineno - 1
    kept = comment_lines(context.text, first, last)
    edit = replace_lines(context.text, first, last, kept)
    # A process that has loaded the file restores the function that the decorator has wrapped.
    restored = f'{name} = getattr({name}, "_torchdynamo_orig_callable", {name})'
    file = context.file_edits([edit], module_additions=(restored,))
    return Candidate(file, assumes=_assumptions(name, function))


def _assumptions(name: str, function: ast.FunctionDef) -> tuple[str, ...]:
    """Return what must hold for a function that draws random numbers."""
    if not _RANDOM.search(ast.unparse(function)):
        return ()
    return (f"no caller relies on which random numbers `{name}` draws; inductor draws others",)


def _disabling_decorator(context: BreakContext, function: ast.FunctionDef) -> ast.expr:
    """Return the decorator that disables a function, if it can be removed."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if context.name(called) not in _DISABLES:
            continue
        if len(function.decorator_list) != 1:
            raise Declined(f"`{function.name}` has another decorator", decorator)
        if isinstance(decorator, ast.Call) and any(k.arg == "reason" for k in decorator.keywords):
            raise Declined("the decorator states a reason", decorator)
        return decorator
    raise Declined(f"`{function.name}` is not disabled by a decorator", function)


def _called_function(context: BreakContext) -> tuple[str, ast.FunctionDef] | None:
    """Return the called function of this file and its qualified name; None if there is none."""
    functions = context.symbols.functions
    for call in context.calls:
        match call.func:
            case ast.Name(id=name) if name in functions:
                return name, functions[name]
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                name = f"{class_at(context.tree, context.cause.line)}.{attr}"
                if name in functions:
                    return name, functions[name]
    return None
