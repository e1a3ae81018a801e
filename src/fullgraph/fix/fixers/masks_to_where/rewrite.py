"""Statements with boolean masks, written as choices between whole tensors."""

from __future__ import annotations

import ast

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers.masks_to_where.masks import Masks
from fullgraph.fix.source.edits import (
    indent_of,
    nodes_at,
    source_of,
    span,
    stands_alone,
    statements_at,
    swapped,
)
from fullgraph.fix.source.names import fresh_name

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


class MaskedText:
    """A file's text, with the break written in another way; None where there is none."""

    def __init__(self, spot: Spot, function: ast.FunctionDef) -> None:
        self._spot = spot
        self._text = spot.text
        self._function = function
        self._masks = Masks(spot.text, function)

    def assignment(self) -> str | None:
        """`x[mask] = y[mask]`, on the line of the break."""
        statement = next(iter(statements_at(self._function, self._spot.cause.line)), None)
        lines = self._assigned(statement) if statement is not None else None
        if lines is None or statement is None:
            return None
        return swapped(self._text, [(statement, _joined(lines, indent_of(self._text, statement)))])

    def _assigned(self, statement: ast.stmt) -> list[str] | None:
        """The statement as a choice."""
        match statement:
            case ast.Assign(targets=[ast.Subscript(value=tensor, slice=mask)], value=value):
                new = self._masks.of_whole(value, mask)
            case ast.AugAssign(target=ast.Subscript(value=tensor, slice=mask), op=op, value=value):
                new = self._augmented(tensor, op, value, mask)
            case _:
                return None
        plain = isinstance(tensor, ast.Name | ast.Attribute) and not isinstance(
            mask, ast.Slice | ast.Tuple | ast.Constant
        )
        if new is None or not plain or not stands_alone(self._text, statement):
            return None
        old = source_of(self._text, tensor)
        fitting = self._masks.fitting(mask, tensor)
        if fitting:
            return [f"{old}.copy_(torch.where({fitting}, {new}, {old}))"]
        name, words = fresh_name("chosen", self._function), source_of(self._text, mask)
        if isinstance(mask, ast.Name):
            bind = []
        else:
            bind, words = [f"{name} = {words}"], name
        return [
            *bind,
            f"{name} = {_stretched(words, old)}",
            f"{old}.copy_(torch.where({name}, {new}, {old}))",
        ]

    def _augmented(
        self, tensor: ast.expr, op: ast.operator, value: ast.expr, mask: ast.expr
    ) -> str | None:
        old, sign = source_of(self._text, tensor), _SIGNS.get(type(op))
        if sign is None:
            return None
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            return f"{old} {sign} {source_of(self._text, value)}"
        simple = isinstance(value, ast.Subscript) and not isinstance(op, ast.Mult)
        other = self._masks.of_whole(value, mask) if simple else None
        return f"{old} {sign} {other}" if other else None

    def indices(self) -> str | None:
        """`i = torch.where(c)`, where all that is done with `i` could be done with `c`."""
        found = nodes_at(self._function, self._spot.cause.line, self._spot.cause.column)
        condition = next((c for c in map(_condition, found) if c is not None), None)
        for statement in statements_at(self._function, self._spot.cause.line)[:1]:
            match statement:
                case ast.Assign(targets=[ast.Name() as name], value=value):
                    pass
                case ast.Assign(targets=[ast.Tuple(elts=[ast.Name() as name])], value=value):
                    pass
                case _:
                    return None
            if condition is None or _condition(value) is not condition:
                return None
            return self._with_mask(statement, name.id, condition)
        return None

    def _with_mask(self, statement: ast.Assign, name: str, condition: ast.expr) -> str | None:
        uses = [
            node
            for node in ast.walk(self._function)
            if isinstance(node, ast.Name) and node.id == name and node not in statement.targets
        ]
        changes: list[tuple[ast.expr | ast.stmt, str]] = []
        for each in ast.walk(self._function):
            if not isinstance(each, ast.Assign | ast.AugAssign) or each is statement:
                continue
            used = [node for node in ast.walk(each) if node in uses]
            if not used:
                continue
            uses = [node for node in uses if node not in used]
            if _fills(each, used):
                continue
            lines = self._assigned(each)
            if lines is None:
                return None
            changes.append((each, _joined(lines, indent_of(self._text, each))))
        # What is left reads the indices themselves.
        if uses or not self._masks.is_truth(condition):
            return None
        words = f"{name} = {source_of(self._text, condition)}"
        return swapped(self._text, [*changes, (statement, words)])

    def truths(self) -> str | None:
        """`correct[mask].any()` and the like."""
        for node in nodes_at(self._function, self._spot.cause.line, self._spot.cause.column):
            match node:
                case ast.Subscript(value=truth, slice=mask) if self._masks.is_truth(truth):
                    if self._masks.is_truth(mask):
                        return self._reduced(node, truth, mask)
        return None

    def _reduced(self, chosen: ast.Subscript, truth: ast.expr, mask: ast.expr) -> str | None:
        one, other = source_of(self._text, truth), source_of(self._text, mask)
        if self._same_operands(truth, mask):
            return self._swapped_reduction(chosen, f"({one})", f"({other})")
        statement = statements_at(self._function, self._spot.cause.line)[0]
        named = isinstance(truth, ast.Name) and isinstance(mask, ast.Name)
        simple = isinstance(statement, ast.Assign | ast.Return | ast.Expr)
        if not (named and simple and stands_alone(self._text, statement)):
            return None
        name = fresh_name("chosen", self._function)
        new = self._swapped_reduction(chosen, one, name)
        if new is None:
            return None
        indent = indent_of(self._text, statement)
        start = span(self._text, statement)[0]
        return f"{new[:start]}{name} = {_stretched(other, one)}\n{indent}{new[start:]}"

    def _swapped_reduction(self, chosen: ast.Subscript, one: str, other: str) -> str | None:
        forms = {
            "any": f"({one} & {other}).any()",
            "all": f"({one} | ~{other}).all()",
            "sum": f"({one} & {other}).sum()",
        }
        for node in ast.walk(self._function):
            match node:
                case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[], keywords=[]):
                    if inner is chosen and name in forms:
                        return swapped(self._text, [(node, forms[name])])
                    if name == "mean" and _is_float_of(inner, chosen):
                        new = f"(({one} & {other}).sum() / {other}.expand_as({one}).sum())"
                        return swapped(self._text, [(node, new)])
        return None

    def _same_operands(self, truth: ast.expr, mask: ast.expr) -> bool:
        """`(a > b)[a > 0]`: both have the shape of `a`, unless `b` is larger, which is no error."""
        match truth, mask:
            case (
                ast.Compare(left=left, comparators=[ast.Constant()]),
                ast.Compare(left=other, comparators=[ast.Constant()]),
            ):
                return self._masks.same(left, other)
        return False


def _is_float_of(node: ast.expr, chosen: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="float"), args=[], keywords=[]):
            return inner is chosen
    return False


def _condition(node: ast.expr) -> ast.expr | None:
    """`c` of `torch.where(c)` and of `c.nonzero(as_tuple=True)`."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="torch"), attr="where"), args=[found], keywords=[]
        ):
            return found
        case ast.Call(
            func=ast.Attribute(value=found, attr="nonzero"),
            args=[],
            keywords=[ast.keyword(arg="as_tuple", value=ast.Constant(value=True))],
        ):
            return found
    return None


def _fills(statement: ast.Assign | ast.AugAssign, used: list[ast.Name]) -> bool:
    """`x[i] = 0`: a mask in the place of `i` does the same and has no size that depends on data."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Name() as index)], value=value):
            number = value.operand if isinstance(value, ast.UnaryOp) else value
            return used == [index] and isinstance(number, ast.Constant)
    return False


def _stretched(mask: str, tensor: str) -> str:
    """A mask selects along the first dimensions; where it chooses, it needs all of them."""
    return f"{mask}.reshape({mask}.shape + (1,) * ({tensor}.dim() - {mask}.dim()))"


def _joined(lines: list[str], indent: str) -> str:
    return f"\n{indent}".join(lines)
