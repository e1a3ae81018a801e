"""Replaces Python code that Dynamo cannot trace with equivalent code that it can.

What it does: `groupby(items, key)` becomes `groupby(items, key=key)`. A container that is made by
calling its annotated type, `dict[str, Tensor]()`, becomes `dict()`. A `with` statement over a
`torch.no_grad()` that is made once, at module level, makes its own. `copy.deepcopy` of a tensor
becomes a detached clone, with the `requires_grad` of the original.

Why it breaks: Dynamo supports one form of such code and does not support another form of the same
meaning.

Safety: exact. The result is the same.

Not applied when: the copied object is a container, because tensors that occur in it twice, or share
memory, do so in the copy as well; or when the copy is stored on a module, where a parameter and a
tensor are different.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import (
    CONTEXT_MANAGER,
    DEEPCOPY_OF_TENSOR,
    FUNCTION_CALL,
    GROUPBY_ARGUMENTS,
    GROUPBY_KEYWORDS,
    INLINED_SKIPPED_FUNCTION,
    MISSING_ITERATOR,
)
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import Edit, apply_edits, replace_node
from fullgraph.fix.source.locate import statements_at
from fullgraph.fix.source.names import stored_names
from fullgraph.fix.source.text import offset_at, parse, span

TITLE = "Python that cannot be traced → traceable equivalent"
KIND = "rewrite"
SAFETY = "exact"
CATEGORIES = ()
OFFERED_FOR = (
    r"groupby|deepcopy|\b(dict|list|set|tuple|frozenset)\[|_grad|_mode\b|autocast"
    r"|grad_enabled"
)

_MODES = (
    "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled",
    "torch.autocast", "torch.amp.autocast",
)  # fmt: skip
_CONTAINERS = ("dict", "list", "set", "tuple", "frozenset")


class _Break(NamedTuple):
    """A break as it was reported, perhaps in the standard library, and in the user's code."""

    reported: BreakContext
    user: BreakContext


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the equivalent code for the break's id."""
    here = context.in_user_code()
    if here is None or not here.statements:
        return
    edits = _RULES[context.cause.id or ""](_Break(context, here))
    if edits:
        yield Candidate(here.file_edits(edits))


# Each rule returns edits; none for code that it does not recognize.


def _name_groupby_key(where: _Break) -> list[Edit]:
    """Pass the key of `groupby` by keyword and the items by position, as Dynamo requires."""
    context = where.user
    call = next((each for each in _calls(context) if _is_groupby(context, each)), None)
    if call is None:
        return []
    named = {keyword.arg: keyword for keyword in call.keywords}
    if None in named or any(isinstance(each, ast.Starred) for each in call.args):
        raise Declined("the arguments of `groupby` are unpacked", call)
    if not 1 <= len(call.args) + len(named) <= 2 or set(named) - {"iterable", "key"}:
        raise Declined("the arguments of `groupby` are not known", call)
    # Arguments are evaluated in the order in which they are written.
    if list(named) == ["key", "iterable"]:
        raise Declined("the key is evaluated before the items", call)
    edits = [_name_argument(context, each, "key") for each in call.args[1:]]
    if "iterable" in named:
        edits.append(_remove_name(context, named["iterable"]))
    if parse(apply_edits(context.text, edits)) is None:
        raise Declined("the arguments of `groupby` are in parentheses", call)
    return edits


def _name_argument(context: BreakContext, argument: ast.expr, name: str) -> Edit:
    start = span(context.text, argument)[0]
    return Edit(start, start, f"{name}=")


def _remove_name(context: BreakContext, keyword: ast.keyword) -> Edit:
    start = offset_at(context.text, keyword.lineno, keyword.col_offset)
    return Edit(start, span(context.text, keyword.value)[0], "")


def _is_groupby(context: BreakContext, call: ast.Call) -> bool:
    return context.name(call.func) == "itertools.groupby"


def _calls(context: BreakContext) -> list[ast.Call]:
    """Return the calls around the break, and the call that a loop at the break iterates over."""
    statement = context.statements[0]
    if isinstance(statement, ast.For) and isinstance(statement.iter, ast.Call):
        return [*context.calls, statement.iter]
    return context.calls


def _plain_container(where: _Break) -> list[Edit]:
    """Call a container's type without its annotation."""
    context = where.user
    for call in context.calls:
        match call.func:
            case ast.Subscript(value=ast.Name(id=name)) if name in _CONTAINERS:
                if name in _defined_names(context):
                    raise Declined(f"`{name}` is not the builtin type here", call)
                return [replace_node(context.text, call.func, name)]
    return []


def _defined_names(context: BreakContext) -> set[str]:
    symbols = context.symbols
    return {*stored_names(context.tree), *context.imports, *symbols.classes, *symbols.functions}


def _own_mode(where: _Break) -> list[Edit]:
    """Make a grad mode in the `with` statement that enters it."""
    context = where.user
    block = context.statements[0]
    if not isinstance(block, ast.With):
        return []
    for item in block.items:
        if isinstance(item.context_expr, ast.Name):
            made = _mode_named(item.context_expr.id, context)
            if made is not None:
                if item.optional_vars is not None:
                    raise Declined("the context manager is bound to a name", block)
                return [replace_node(context.text, item.context_expr, context.source(made))]
    return []


def _mode_named(name: str, context: BreakContext) -> ast.Call | None:
    """Return the call that makes a mode at module level; None if there is no such mode."""
    made = next((each for each in _module_modes(context) if each[0] == name), None)
    if made is None:
        return None
    call = made[1]
    nodes = list(ast.walk(context.tree))
    bound = [each for each in nodes if isinstance(each, ast.Name) and each.id == name]
    if sum(not isinstance(each.ctx, ast.Load) for each in bound) != 1:
        raise Declined(f"`{name}` is assigned more than once", call)
    if any(isinstance(each, ast.arg) and each.arg == name for each in nodes):
        raise Declined(f"`{name}` is also an argument of a function", call)
    arguments = (*call.args, *(keyword.value for keyword in call.keywords))
    if not all(isinstance(each, ast.Constant) for each in arguments):
        raise Declined(f"the arguments of `{ast.unparse(call.func)}` are not constants", call)
    return call


def _module_modes(context: BreakContext) -> Iterator[tuple[str, ast.Call]]:
    for statement in context.tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                if context.name(call.func) in _MODES:
                    yield name, call


def _detached_clone(where: _Break) -> list[Edit]:
    """Replace `copy.deepcopy` of a tensor that has a name and is assigned to a name."""
    context = where.user
    for call in context.calls:
        if context.name(call.func) != "copy.deepcopy" or len(call.args) != 1:
            continue
        # `deepcopy` calls itself for the elements of a container.
        depth = sum(frame.function == "deepcopy" for frame in where.reported.cause.stack)
        if depth != 1:
            raise Declined("the copied object is a container", call)
        statement = statements_at(context.tree, call.lineno)[0]
        if not isinstance(statement, ast.Assign) or not _is_one_name(statement.targets):
            raise Declined("the copy is not assigned to a local name", call)
        if call.keywords or not _is_one_name(call.args):
            raise Declined("the copied tensor has no name", call)
        name = context.source(call.args[0])
        clone = f"{name}.detach().clone().requires_grad_({name}.requires_grad)"
        return [replace_node(context.text, call, clone)]
    return []


def _is_one_name(nodes: Sequence[ast.expr]) -> bool:
    return len(nodes) == 1 and isinstance(nodes[0], ast.Name)


_RULES: dict[str, Callable[[_Break], list[Edit]]] = {
    GROUPBY_ARGUMENTS: _name_groupby_key,
    GROUPBY_KEYWORDS: _name_groupby_key,
    MISSING_ITERATOR: _name_groupby_key,
    FUNCTION_CALL: _plain_container,
    CONTEXT_MANAGER: _own_mode,
    # Since torch 2.15, CONTEXT_MANAGER is reported under this id.
    INLINED_SKIPPED_FUNCTION: _own_mode,
    DEEPCOPY_OF_TENSOR: _detached_clone,
}
IDS = tuple(_RULES)
