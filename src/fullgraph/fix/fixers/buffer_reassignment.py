"""Assigns a tensor back to its attribute only if it is a different tensor.

What it does: `self.table = self.table.to(x.device)` becomes an assignment to a local variable and a
test with `is` in front of the assignment to the attribute.

Why it breaks: the assignment goes through `Module.__setattr__` and `register_buffer`, which Dynamo
cannot trace for every kind of buffer. Nearly always the tensor is on the right device already, and
`.to` returns the same tensor. Dynamo knows that, so the usual case has no assignment.

Safety: exact. If the tensor differs, it is assigned as before.

Not applied when: the method may return a copy of an equal tensor (`x.to(..., copy=True)`), or is
not one of those that return the tensor itself if nothing changes (`to`, `float`, `contiguous`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import replace_node
from fullgraph.fix.source.names import is_name_chain
from fullgraph.fix.source.text import indent_of, owns_its_lines

TITLE = "tensor assigned back to its attribute → only if it changed"
KIND = "rewrite"
SAFETY = "exact"
IDS = ()
CATEGORIES = ("mutation",)
ANY_BREAK = True

# These return the tensor itself if it is already as requested.
_RETURNS_SELF = (
    "to", "type_as", "float", "double", "half", "bfloat16", "int", "long", "bool", "cpu", "cuda",
    "contiguous", "type",
)  # fmt: skip


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the assignment under a test."""
    here = context.in_user_code()
    if here is None or here.function is None:
        return
    statement = here.statements[0]
    match statement:
        case ast.Assign(targets=[ast.Attribute() as target], value=ast.Call() as value):
            pass
        case _:
            return
    if not _is_reassignment(value, target):
        _decline_similar(value, target)
        return
    _require_same_tensor(value)
    if not owns_its_lines(here.text, statement):
        raise Declined("another statement is on the same line", statement)
    name = here.fresh_name(target.attr.lstrip("_") or "value", here.function)
    attribute, indent = here.source(target), indent_of(here.text, statement)
    new = (
        f"{name} = {here.source(value)}\n"
        f"{indent}if {name} is not {attribute}:\n"
        f"{indent}    {attribute} = {name}"
    )
    yield Candidate(here.file_edits([replace_node(here.text, statement, new)]))


def _is_reassignment(value: ast.Call, target: ast.Attribute) -> bool:
    """Return whether a value is a method call of its own target: `self.a = self.a.to(...)`."""
    if not isinstance(value.func, ast.Attribute) or not is_name_chain(target):
        return False
    return ast.unparse(value.func.value) == ast.unparse(target)


def _decline_similar(value: ast.Call, target: ast.Attribute) -> None:
    """Decline a conversion of an attribute that is not known to be the target itself."""
    match value.func:
        case ast.Attribute(value=ast.Attribute() as converted, attr=method):
            if method not in _RETURNS_SELF:
                return
            if not is_name_chain(target):
                raise Declined(
                    f"{quoted(target)} is computed, and may be another one each time", target
                )
            raise Declined(f"the value comes from {quoted(converted)}", value)


def _require_same_tensor(value: ast.Call) -> None:
    """Decline a method that may return another tensor although nothing changes."""
    assert isinstance(value.func, ast.Attribute)
    if value.func.attr not in _RETURNS_SELF:
        raise Declined(f"`{value.func.attr}` does more than convert the tensor", value)
    # The fourth and fifth argument of `to` are non_blocking and copy.
    is_plain = len(value.args) <= 2 and not any(isinstance(a, ast.Starred) for a in value.args)
    if not is_plain or any(keyword.arg in ("copy", None) for keyword in value.keywords):
        raise Declined("the call may ask for a copy", value)
