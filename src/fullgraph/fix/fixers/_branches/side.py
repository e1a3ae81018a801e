"""One side of a branch: what it binds."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from fullgraph.fix.fixers._branches.predicate import Truth
from fullgraph.fix.source.codegen import made, text_of
from fullgraph.fix.source.inference.scope import self_attribute
from fullgraph.fix.source.names import names_in


@dataclass
class Side:
    """Values by what they are assigned to, in order; `kept` are those nobody else sees."""

    values: dict[str, ast.expr] = field(default_factory=dict)
    kept: dict[str, ast.expr] = field(default_factory=dict)
    # Names that are bound in front of one that is kept, and are not kept themselves.
    earlier: dict[str, set[str]] = field(default_factory=dict)

    def keep_as_it_is(self, name: str) -> None:
        names = list(self.values)
        self.earlier[name] = set(names[: names.index(name)])
        self.kept[name] = self.values.pop(name)

    def needs_a_later_one(self) -> bool:
        """Whether what is kept, and so goes in front, needs what comes behind it then."""
        return any(read_names(value) & self.earlier[name] for name, value in self.kept.items())

    def lines(self, text: str) -> list[str]:
        return [f"{name} = {text_of(text, value)}" for name, value in self.kept.items()]


def side_of(body: list[ast.stmt], truth: Truth) -> Side | None:
    """What a side binds, if binding is all it does."""
    side = Side()
    for statement in body:
        match statement:
            case ast.Pass():
                continue
            case ast.Assign(targets=[target], value=value):
                name = _name_of(target)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                name = _name_of(target)
            case ast.If() if len(body) == 1:
                return _nested(statement, truth)
            case _:
                return None
        if not name or name in side.values:
            return None
        side.values[name] = value
    return side


def _name_of(target: ast.expr) -> str:
    if isinstance(target, ast.Name):
        return target.id
    return ast.unparse(target) if self_attribute(target) else ""


def _nested(node: ast.If, truth: Truth) -> Side | None:
    """An `elif`, as values that choose."""
    body, orelse = side_of(node.body, truth), side_of(node.orelse, truth)
    if body is None or orelse is None:
        return None
    test = truth.tensor(node.test)
    values: dict[str, ast.expr] = {}
    for name in dict.fromkeys([*body.values, *orelse.values]):
        one, other = (
            ast.unparse(side.values[name]) if name in side.values else name
            for side in (body, orelse)
        )
        chosen = f"({one}) if ({ast.unparse(node.test)}) else ({other})"
        if test is not None:
            chosen = f"torch.where({test}, {one}, {other})"
        values[name] = made(chosen)
    # A value that needs another one of the same side would see the new one.
    for number, value in enumerate(values.values()):
        if read_names(value) & set(list(values)[:number]):
            return None
    return Side(values)


def read_names(node: ast.expr) -> set[str]:
    """Names and attributes of self that an expression reads."""
    return names_in(node) | {ast.unparse(each) for each in ast.walk(node) if self_attribute(each)}


def outside_of(function: ast.FunctionDef, node: ast.stmt) -> set[str]:
    """Names that a function uses anywhere but in a statement."""
    inside = {id(each) for each in ast.walk(node)}
    return {
        each.id
        for each in ast.walk(function)
        if isinstance(each, ast.Name) and id(each) not in inside
    }
