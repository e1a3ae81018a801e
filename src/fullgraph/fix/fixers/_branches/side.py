"""One side of a branch: the names that it assigns, and their values."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from fullgraph.fix.fixers._branches.predicate import PredicateWriter
from fullgraph.fix.source.codegen import new_expression, one_line
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.inference.scope import self_attribute
from fullgraph.fix.source.names import names_in


@dataclass
class Side:
    """The values that one side of a branch assigns, by name, in order.

    A name is a variable or an attribute of self: `x` or `self.x`.
    """

    values: dict[str, ast.expr] = field(default_factory=dict)
    # Names that only this side uses, so that they can be assigned whatever the test says.
    temporaries: dict[str, ast.expr] = field(default_factory=dict)
    # For each temporary, the names assigned in front of it that are not temporaries.
    _assigned_before: dict[str, set[str]] = field(default_factory=dict)

    def make_temporary(self, name: str) -> None:
        """Turn an assigned name into a temporary."""
        names = list(self.values)
        self._assigned_before[name] = set(names[: names.index(name)])
        self.temporaries[name] = self.values.pop(name)

    def can_assign_temporaries_first(self) -> bool:
        """Return whether no temporary reads a name that is assigned in front of it."""
        return not any(
            read_names(value) & self._assigned_before[name]
            for name, value in self.temporaries.items()
        )

    def temporary_lines(self, text: str) -> list[str]:
        """Return the assignments of the temporaries."""
        return [f"{name} = {one_line(text, value)}" for name, value in self.temporaries.items()]


def side_of(body: Sequence[ast.stmt], writer: PredicateWriter) -> Side:
    """Return what a side assigns; Declined is raised if it does anything else."""
    if len(body) == 1 and isinstance(body[0], ast.If):
        return _nested_side(body[0], writer)
    side = Side()
    for statement in body:
        if isinstance(statement, ast.Pass):
            continue
        name, value = _assignment(statement)
        if name in side.values:
            raise Declined(f"a branch assigns `{name}` twice", statement)
        side.values[name] = value
    return side


def _assignment(statement: ast.stmt) -> tuple[str, ast.expr]:
    """Return the name and the value of an assignment; Declined is raised for other statements."""
    match statement:
        case ast.Assign(targets=[target], value=value):
            pass
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            pass
        case _:
            raise not_an_assignment(statement)
    if isinstance(target, ast.Name):
        return target.id, value
    if self_attribute(target):
        return ast.unparse(target), value
    raise Declined(f"a branch assigns to {quoted(target)}", statement)


def not_an_assignment(statement: ast.stmt) -> Declined:
    """Return the refusal of a branch that has another statement than an assignment."""
    match statement:
        case ast.AugAssign(target=target):
            return Declined(f"a branch mutates {quoted(target)} in place", statement)
        case ast.Return():
            return Declined("one branch returns, and the other goes on", statement)
        case ast.Raise():
            return Declined("a branch raises an exception", statement)
        case ast.Break() | ast.Continue():
            return Declined("a branch ends a loop or its iteration", statement)
        case ast.Expr(value=ast.Call() as value):
            return Declined(f"a branch calls {quoted(value)} for its side effects", statement)
    return Declined("a branch does more than assign names", statement)


def _nested_side(node: ast.If, writer: PredicateWriter) -> Side:
    """Return an `elif`, or an `if` inside a branch, as values that depend on its test."""
    body, orelse = side_of(node.body, writer), side_of(node.orelse, writer)
    values: dict[str, ast.expr] = {}
    for name in dict.fromkeys([*body.values, *orelse.values]):
        if_true, if_false = (
            ast.unparse(side.values[name]) if name in side.values else name
            for side in (body, orelse)
        )
        values[name] = new_expression(_choice(node.test, if_true, if_false, writer))
    for number, (name, value) in enumerate(values.items()):
        if read_names(value) & set(list(values)[:number]):
            raise Declined(f"`{name}` depends on a name that the same branch assigns", node)
    return Side(values)


def _choice(test: ast.expr, one: str, other: str, writer: PredicateWriter) -> str:
    """Return an expression that chooses by a test, which may be a Python value."""
    try:
        return f"torch.where({writer.tensor(test)}, {one}, {other})"
    except Declined:
        return f"({one}) if ({ast.unparse(test)}) else ({other})"


def read_names(node: ast.expr) -> set[str]:
    """Return the names and the attributes of self that an expression reads."""
    return names_in(node) | {ast.unparse(each) for each in ast.walk(node) if self_attribute(each)}


def names_outside(function: ast.FunctionDef, node: ast.stmt) -> set[str]:
    """Return the names that a function uses anywhere but in a statement."""
    inside = {id(each) for each in ast.walk(node)}
    return {
        each.id
        for each in ast.walk(function)
        if isinstance(each, ast.Name) and id(each) not in inside
    }
