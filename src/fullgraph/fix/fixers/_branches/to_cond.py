"""A branch on a tensor, written with `torch.cond`."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from fullgraph.fix.fixers._branches.branch import Place
from fullgraph.fix.fixers._branches.conditional_store import written_to
from fullgraph.fix.fixers._branches.movable import (
    bound_by,
    may_be_computed,
    may_be_moved,
    read_before_bound,
)
from fullgraph.fix.fixers._branches.predicate import tensor_test
from fullgraph.fix.fixers._branches.side import outside_of
from fullgraph.fix.source.codegen import (
    call,
    dedented,
    indented,
    made,
    replaced,
    room_at,
    text_of,
)
from fullgraph.fix.source.edits import body_around, source_of, swapped
from fullgraph.fix.source.inference.function import Reader
from fullgraph.fix.source.inference.value import UNKNOWN, Value
from fullgraph.fix.source.names import fresh_name, names_in
from fullgraph.fix.source.text import lines_of
from fullgraph.fix.source.torch_ops import MAY_ALIAS

# Expressions that may be tensors.
_TENSORS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare)
_PLAINLY = "# torch.cond is a plain branch then"


@dataclass
class Function:
    """One side: what it computes, and what it gives."""

    statements: list[ast.stmt]
    results: list[ast.expr]
    # The lines of the statements, comments included.
    lines: list[str] = field(default_factory=list)


class Calling:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._reader = Reader(place.scope, place.statement)
        self._test = tensor_test(place, self._reader, flat=False)
        self._written = written_to(place.scope.function)

    def text(self) -> str | None:
        """The file with the branch written anew; None where that would not be safe."""
        node = self._place.node
        if self._test is None or not self._reader.is_surely_tensor(node.test):
            return None
        if isinstance(node, ast.IfExp):
            return self._ternary(node)
        if isinstance(node, ast.If):
            return self._returned(node) or self._bound(node)
        return None

    # a = x if t else y

    def _ternary(self, node: ast.IfExp) -> str | None:
        statement = self._place.statement
        is_simple = isinstance(statement, ast.Assign | ast.Return | ast.AnnAssign)
        if not is_simple or self._test is None or self._test.first:
            return None
        sides = Function([], [node.body]), Function([], [node.orelse])
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not self._are_good(*sides, [ast.unparse(target)] if target else []):
            return None
        lines, chosen = self._functions(*sides, [])
        room = room_at(self._place.text, statement)
        new = call("", "torch.cond", chosen, room)[0] if room > 60 else None
        if new is None or new.endswith("("):
            return None
        whole = swapped(source_of(self._place.text, statement), [(_moved(node, statement), new)])
        return replaced(self._place.text, [statement], [*lines, *whole.split("\n")])

    # if t: a = x
    # else: a = y

    def _bound(self, node: ast.If) -> str | None:
        if self._test is None or (self._test.first and node.orelse):
            return None
        outside = outside_of(self._place.scope.function, node)
        bound = [bound_by(node.body), bound_by(node.orelse)]
        names = [name for name in dict.fromkeys([*bound[0], *bound[1]]) if name in outside]
        if not names:
            return None
        sides: list[Function] = []
        for body, mine in zip((node.body, node.orelse), bound, strict=True):
            missing = [name for name in names if name not in mine]
            if not all(self._reader.is_bound(name) for name in missing):
                return None
            sides.append(Function(body, [made(name) for name in names], self._lines(body)))
        if not self._are_good(sides[0], sides[1], names):
            return None
        for side in sides:
            _shorten(side)
        operands = sorted(
            set().union(*(read_before_bound(side.statements, side.results) for side in sides))
        )
        lines, chosen = self._functions(sides[0], sides[1], operands)
        room = room_at(self._place.text, node) - 4 * bool(self._test.first)
        lines += call(f"{', '.join(names)} = ", "torch.cond", chosen, room)
        if self._test.first:
            lines = [f"if {' and '.join(self._test.first)}:", *indented(lines)]
        return replaced(self._place.text, [node], lines)

    # if t: return x
    # return y

    def _returned(self, node: ast.If) -> str | None:
        if self._test is None or self._test.first:
            return None
        body = body_around(self._place.scope.function, node)
        after = node.orelse or body[body.index(node) + 1 :]
        if not after or _result(node.body) is None or _result(after) is None:
            return None
        sides = [
            Function(part[:-1], _parts(_result(part)), self._lines(part[:-1], part[-1]))
            for part in (node.body, after)
        ]
        if not self._are_good(sides[0], sides[1], []):
            return None
        operands = sorted(
            set().union(*(read_before_bound(side.statements, side.results) for side in sides))
        )
        lines, chosen = self._functions(sides[0], sides[1], operands)
        lines += call("return ", "torch.cond", chosen, room_at(self._place.text, node))
        return replaced(self._place.text, [node] if node.orelse else [node, *after], lines)

    # Whether it may be done

    def _are_good(self, one: Function, other: Function, targets: list[str]) -> bool:
        scope = self._place.scope
        for side in (one, other):
            if not may_be_moved(scope, side.statements):
                return False
            if not may_be_computed(scope, *side.results):
                return False
        if len(one.results) != len(other.results):
            return False
        if any(_is_constant(side, result) for side in (one, other) for result in side.results):
            return False
        values = [self._values(side) for side in (one, other)]
        if any(value.plain for value in (*values[0], *values[1])):
            return False
        if any(map(_surely_differ, *values)):
            return False
        if self._steep(one) != self._steep(other):
            return False
        aliases = {
            ast.unparse(result)
            for side in (one, other)
            for result in side.results
            if self._may_be_old(side, result)
        }
        return not aliases or not ({*aliases, *targets} & self._written)

    def _steep(self, side: Function) -> frozenset[str]:
        """Operators in front of the branch that a gradient of zeros must not reach."""
        read = [*side.results, *side.statements]
        names = {each for node in read for each in names_in(node)}
        found = [self._reader.read(ast.Name(name, ast.Load())).steep for name in names]
        return frozenset().union(*found)

    def _values(self, side: Function) -> list[Value]:
        given = {name: _last_value(side.statements, name) for name in bound_by(side.statements)}
        found = []
        for result in side.results:
            name = result.id if isinstance(result, ast.Name) else ""
            value = given.get(name) or result
            # A value made of names that the side binds is read with what they were before.
            knows = not names_in(value) & set(given)
            found.append(self._reader.read(value) if knows else Value(UNKNOWN, UNKNOWN))
        return found

    def _may_be_old(self, side: Function, result: ast.expr) -> bool:
        """Whether a result may share memory with something from outside."""
        value = result
        if isinstance(result, ast.Name):
            value = _last_value(side.statements, result.id) or result
        match value:
            case ast.Call(func=ast.Attribute(attr=name)):
                return name in MAY_ALIAS
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Call():
                return False
        return True

    # Writing

    def _lines(self, statements: list[ast.stmt], last: ast.stmt | None = None) -> list[str]:
        if not statements:
            return []
        lines = lines_of(self._place.text)
        end = last.lineno - 1 if last else statements[-1].end_lineno
        first = statements[0].lineno - 1
        while lines[first - 1].lstrip().startswith("#"):
            first -= 1
        return dedented(lines[first:end])

    def _functions(
        self, one: Function, other: Function, operands: list[str]
    ) -> tuple[list[str], list[str]]:
        """The two functions and the condition, and the arguments of `torch.cond`."""
        assert self._test is not None
        function = self._place.scope.function
        condition = fresh_name("condition", function)
        names = [fresh_name("on_true", function), fresh_name("on_false", function)]
        sides = (other, one) if self._test.negated else (one, other)
        above = lines_of(self._place.text)[: self._place.statement.lineno - 1]
        before = above[-1].strip()
        is_apart = not before or before.startswith("#") or before.endswith(":")
        lines = [] if is_apart or self._test.first else [""]
        for name, side in zip(names, sides, strict=True):
            results = [self._copied(side, result) for result in side.results]
            body = [*side.lines, f"return {', '.join(results)}"]
            lines += [f"def {name}({', '.join(operands)}):", *indented(body), ""]
        lines += [
            f"{condition} = {self._test.tensor}",
            "if not torch.compiler.is_compiling():",
            f"    {condition} = bool({condition})  {_PLAINLY}",
        ]
        comma = "," if len(operands) == 1 else ""
        passed = [f"({', '.join(operands)}{comma})"] if operands else []
        return lines, [condition, *names, *passed]

    def _copied(self, side: Function, result: ast.expr) -> str:
        """`torch.cond` may not give what it was given."""
        text = text_of(self._place.text, result)
        if not self._may_be_old(side, result):
            return text
        is_simple = isinstance(result, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
        return f"{text}.clone()" if is_simple else f"({text}).clone()"


def _shorten(side: Function) -> None:
    """A side that binds one name gives its value at once."""
    if len(side.statements) != 1 or len(side.results) != 1:
        return
    match side.statements[0], side.results[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=value), ast.Name(id=wanted):
            if name == wanted:
                comments = [line for line in side.lines if line.startswith("#")]
                side.statements, side.results, side.lines = [], [value], comments


def _result(statements: list[ast.stmt]) -> ast.expr | None:
    last = statements[-1] if statements else None
    return last.value if isinstance(last, ast.Return) else None


def _parts(result: ast.expr | None) -> list[ast.expr]:
    if isinstance(result, ast.Tuple):
        return list(result.elts)
    return [] if result is None else [result]


def _last_value(statements: list[ast.stmt], name: str) -> ast.expr | None:
    for statement in reversed(statements):
        match statement:
            case ast.Assign(targets=[ast.Name(id=bound)], value=value) if bound == name:
                return value
    return None


def _is_constant(side: Function, result: ast.expr) -> bool:
    """None, a text, a number or a list, which `torch.cond` cannot give."""
    if isinstance(result, ast.Name):
        result = _last_value(side.statements, result.id) or result
    return not isinstance(result, _TENSORS)


def _surely_differ(one: Value, other: Value) -> bool:
    known = not UNKNOWN & (one.shape | other.shape | one.dtype | other.dtype)
    fixed = {"bool", "long", "int", "float", "double", "half", "bfloat16"}
    types = one.dtype & fixed, other.dtype & fixed
    return known and (bool(one.shape) != bool(other.shape) or types[0] != types[1])


def _moved(node: ast.expr, statement: ast.stmt) -> ast.expr:
    """The node with its place in the statement's own text."""
    place = ast.Name("_")
    place.lineno = node.lineno - statement.lineno + 1
    place.end_lineno = (node.end_lineno or node.lineno) - statement.lineno + 1
    shift = statement.col_offset
    place.col_offset = node.col_offset - (shift if place.lineno == 1 else 0)
    place.end_col_offset = (node.end_col_offset or 0) - (shift if place.end_lineno == 1 else 0)
    return place
