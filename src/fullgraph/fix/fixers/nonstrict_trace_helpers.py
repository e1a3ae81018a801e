"""Runs a pure helper during tracing instead of reading its Python code.

What it does: decorates the helper with `torch._dynamo.nonstrict_trace`. Dynamo then runs the
function with fake tensors, and the operators that it calls become part of the graph, with their
gradients.

Why it breaks: Dynamo interprets a function's bytecode, and breaks at code that it does not support:
a function that is written in C, an unusual class, an unknown method.

Safety: exact for a function whose source shows that it is pure, since any side effect would happen
only once. Fake tensors have no values, so that a trial rejects a function that reads them.

Not applied when: the function is not pure, has a decorator, is used other than by calling it, or
has a default value that can be mutated. Methods and inner functions are never changed: the values
that they read from around them would be read only once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate, Refusal
from fullgraph.fix.purity.static import static_findings
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import insert_lines

TITLE = "helper that cannot be traced → `nonstrict_trace`"
KIND = "escape"
SAFETY = "exact"
IDS = ()
CATEGORIES = ("untraced-calls", "python", "context-managers")
# Not for functions that are never pure.
OFFERED_FOR = (
    r"(?s)\A(?!.*(`_?(posix|nt|time|thread|socket|sys|gc)\."
    r"|\b(Random|random|R?Lock|lock|datetime|socket|subprocess|open|threading|os|importlib)\b))"
)

_DECORATOR = "torch._dynamo.nonstrict_trace"


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the helper that contains the break with the decorator."""
    function = context.function
    if function is None or not _is_helper(context, function):
        return
    _require_plain_function(context, function)
    name = function.name
    findings = static_findings(context.tree, name)
    if findings:
        reason = f"`{name}` is not pure; `fullgraph purity` lists the reasons"
        yield Refusal(reason, findings[0].line)
        return
    edit = insert_lines(context.text, function.lineno, [f"@{_DECORATOR}"])
    # A process that has loaded the file decorates the function that it has.
    decoration = f"{name} = {_DECORATOR}({name})"
    yield Candidate(
        context.file_edits([edit], imports=("import torch",), module_additions=(decoration,))
    )


def _is_helper(context: BreakContext, function: ast.FunctionDef) -> bool:
    """Return whether a function is at module level and called by another one."""
    is_inlined = len(context.cause.stack) > 1
    called = _called_names(context)
    is_called = any(id(use) in called for use in _uses(context, function))
    return function in context.tree.body and (is_inlined or is_called)


def _called_names(context: BreakContext) -> set[int]:
    """Return the ids of the nodes that the file calls."""
    return {id(node.func) for node in ast.walk(context.tree) if isinstance(node, ast.Call)}


def _uses(context: BreakContext, function: ast.FunctionDef) -> list[ast.Name]:
    """Return the uses of a function's name outside of the function."""
    inside = {id(node) for node in ast.walk(function)}
    return [
        node
        for node in ast.walk(context.tree)
        if isinstance(node, ast.Name) and node.id == function.name and id(node) not in inside
    ]


def _require_plain_function(context: BreakContext, function: ast.FunctionDef) -> None:
    """Decline a function that a decorator would not change for all of its callers."""
    name = function.name
    if function.decorator_list:
        raise Declined(f"`{name}` has a decorator", function)
    if context.symbols.functions.get(name) is not function:
        raise Declined(f"`{name}` is defined more than once", function)
    uses, called = _uses(context, function), _called_names(context)
    if not uses:
        raise Declined(f"`{name}` is not called in its own file", function)
    for use in uses:
        if id(use) not in called:
            raise Declined(f"`{name}` is used other than by calling it", use)
    for default in (*function.args.defaults, *filter(None, function.args.kw_defaults)):
        if not isinstance(default, ast.Constant):
            raise Declined(f"`{name}` has a default value that is not a constant", default)
