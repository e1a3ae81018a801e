"""A branch on a tensor, written with `torch.where`."""

from __future__ import annotations

import ast

from fullgraph.fix.fixers._branches.branch import Place
from fullgraph.fix.fixers._branches.conditional_store import conditional_store, written_to
from fullgraph.fix.fixers._branches.predicate import (
    Truth,
    asks_for_finiteness,
    opposite,
    tensor_test,
)
from fullgraph.fix.fixers._branches.side import Side, outside_of, read_names, side_of
from fullgraph.fix.source.codegen import (
    dedented,
    indented,
    made,
    replaced,
    room_at,
    text_of,
    where,
    written,
)
from fullgraph.fix.source.edits import body_around, swapped
from fullgraph.fix.source.inference.function import Reader
from fullgraph.fix.source.inference.value import Value
from fullgraph.fix.source.names import fresh_name, names_in
from fullgraph.fix.source.text import lines_of

_BINDING = "{name} = {test}"


class Selection:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._reader = Reader(place.scope, place.statement)
        self._test = tensor_test(place, self._reader)
        self._written = written_to(place.scope.function)
        self._finite = not asks_for_finiteness(place.scope.function)

    def text(self) -> str | None:
        """The file with the branch written anew; None where that would not be safe."""
        if self._test is None or not self._reader.is_surely_tensor(self._place.node.test):
            return None
        node = self._place.node
        if isinstance(node, ast.IfExp):
            return self._ternary(node)
        if not isinstance(node, ast.If):
            return None
        for way in (self._bound, self._returned, self._stored):
            text = way(node)
            if text is not None:
                return text
        return None

    # Whether a side may be computed

    def _same(self, one: ast.expr, other: ast.expr) -> bool:
        first, second = self._reader.read(one), self._reader.read(other)
        if not self._is_fine(first) or not self._is_fine(second):
            return False
        return self._reader.same(first, second) and first.steep == second.steep

    def _is_fine(self, value: Value) -> bool:
        return value.risk == "harmless" or (value.risk == "smooth" and self._finite)

    def _may_be_copied(self, target: str, *sides: ast.expr) -> bool:
        """Whether nobody can tell that a new tensor takes the place of an old one."""
        if not any(self._reader.read(side).alias for side in sides):
            return True
        names = {target, *(ast.unparse(side) for side in sides)}
        return not names & self._written

    # a = x if t else y

    def _ternary(self, node: ast.IfExp) -> str | None:
        statement = self._place.statement
        if self._test is None or self._test.first:
            return None
        target = _target_of(statement, node)
        if _is_number(node.body) and _is_number(node.orelse):
            if target is None or not self._is_only_a_factor(target):
                return None
        elif not self._same(node.body, node.orelse) or (
            self._is_alias_for_somebody(node)
            if target is None
            else not self._may_be_copied(target, node.body, node.orelse)
        ):
            return None
        one, other = self._in_order(node.body, node.orelse)
        new = f"torch.where({self._test.tensor}, {one}, {other})"
        return swapped(self._place.text, [(node, new)])

    def _is_alias_for_somebody(self, node: ast.IfExp) -> bool:
        """An old tensor that is handed to something which may write to it or keep it."""
        if isinstance(self._place.statement, ast.Return):
            return not self._may_be_copied("", node.body, node.orelse)
        return any(self._reader.read(side).alias for side in (node.body, node.orelse))

    def _is_only_a_factor(self, name: str) -> bool:
        """Whether a number that becomes a tensor is only ever multiplied, added or subtracted."""
        function = self._place.scope.function
        stores = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name]
        loads = [each for each in stores if isinstance(each.ctx, ast.Load)]
        good = [
            side
            for node in ast.walk(function)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Add | ast.Sub)
            for side, other in ((node.left, node.right), (node.right, node.left))
            if self._reader.read(other).is_tensor
        ]
        once = len(stores) - len(loads) == 1
        return once and all(any(load is each for each in good) for load in loads)

    def _in_order(self, one: ast.expr, other: ast.expr) -> tuple[str, str]:
        texts = text_of(self._place.text, one), text_of(self._place.text, other)
        return texts[::-1] if self._test and self._test.negated else texts

    # if t: a = x
    # else: a = y

    def _bound(self, node: ast.If) -> str | None:
        truth = Truth(self._place.text, self._reader)
        body, orelse = side_of(node.body, truth), side_of(node.orelse, truth)
        if self._test is None or body is None or orelse is None:
            return None
        if not self._take_temporaries(node, body, orelse):
            return None
        targets = list(dict.fromkeys([*body.values, *orelse.values]))
        if not targets or not self._is_in_order(targets, body, orelse):
            return None
        pairs = [(t, body.values.get(t), orelse.values.get(t)) for t in targets]
        filled = [(t, one or _current(t), other or _current(t)) for t, one, other in pairs]
        for target, one, other in filled:
            is_bound = "." in target or self._reader.is_bound(target)
            if not is_bound and (target not in body.values or target not in orelse.values):
                return None
            if not self._same(one, other) or not self._may_be_copied(target, one, other):
                return None
        lines = [*body.lines(self._place.text), *orelse.lines(self._place.text)]
        lines += self._choices(filled)
        return self._put(node, lines)

    def _take_temporaries(self, node: ast.If, *sides: Side) -> bool:
        """Names that only one side uses are bound in any case."""
        outside = outside_of(self._place.scope.function, node)
        other_names = [set(side.values) for side in reversed(sides)]
        for side, others in zip(sides, other_names, strict=True):
            for name in list(side.values):
                if name in outside or name in others or "." in name:
                    continue
                value = self._reader.read(side.values[name])
                if not self._is_fine(value):
                    return False
                self._reader.assume(name, value)
                side.keep_as_it_is(name)
        return True

    def _is_in_order(self, targets: list[str], *sides: Side) -> bool:
        """Whether no value needs one that was bound in front of it."""
        for number, target in enumerate(targets):
            earlier = set(targets[:number])
            for side in sides:
                value = side.values.get(target)
                if value is not None and earlier & read_names(value):
                    return False
        return not any(side.needs_a_later_one() for side in sides)

    def _choices(self, filled: list[tuple[str, ast.expr, ast.expr]]) -> list[str]:
        assert self._test is not None
        condition, lines = self._test.tensor, []
        if len(filled) > 1:
            name = fresh_name("condition", self._place.scope.function)
            lines, condition = [_BINDING.format(name=name, test=condition)], name
        room = room_at(self._place.text, self._place.statement) - (4 if self._test.first else 0)
        for target, one, other in filled:
            lines += where(f"{target} = ", condition, *self._in_order(one, other), room)
        return lines

    def _put(self, node: ast.If, lines: list[str]) -> str | None:
        assert self._test is not None
        if self._test.first:
            lines = [f"if {' and '.join(self._test.first)}:", *indented(lines)]
            if node.orelse:
                if _is_elif(node):
                    return None
                lines += ["else:", *indented(written(self._place.text, node.orelse))]
        return replaced(self._place.text, [node], lines)

    # if t: return x
    # return y

    def _returned(self, node: ast.If) -> str | None:
        if self._test is None or self._test.first:
            return None
        between, last = self._rest(node)
        match node.body, last:
            case [ast.Return(value=ast.expr() as one)], ast.Return(value=ast.expr() as other):
                pass
            case _:
                return None
        rebound: set[str] = set()
        for statement in between:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    read = self._reader.read(value)
                    if not self._is_fine(read) or not read.is_tensor:
                        return None
                    self._reader.assume(name, read)
                    rebound.add(name)
                case _:
                    return None
        if rebound & names_in(one):
            return None
        pairs = _pairs(one, other)
        if not pairs or not all(self._same(*pair) for pair in pairs):
            return None
        if not all(self._may_be_copied("", *pair) for pair in pairs):
            return None
        condition, lines = self._test.tensor, []
        if between or len(pairs) > 1:
            name = fresh_name("condition", self._place.scope.function)
            lines, condition = [_BINDING.format(name=name, test=condition)], name
            lines += self._lines_between(node, last) if between else []
        room = room_at(self._place.text, node)
        if len(pairs) == 1:
            lines += where("return ", condition, *self._in_order(*pairs[0]), room)
        else:
            chosen = [where("", condition, *self._in_order(*pair), 10**6)[0] for pair in pairs]
            lines += [f"return {', '.join(chosen)}"]
        replaces: list[ast.stmt] = [node] if node.orelse else [node, *between, last]
        return replaced(self._place.text, replaces, lines)

    def _rest(self, node: ast.If) -> tuple[list[ast.stmt], ast.stmt | None]:
        """What is left to do if the test is false."""
        if node.orelse:
            return node.orelse[:-1], node.orelse[-1]
        body = body_around(self._place.scope.function, node)
        after = body[body.index(node) + 1 :]
        return after[:-1], after[-1] if after else None

    def _lines_between(self, node: ast.If, last: ast.stmt | None) -> list[str]:
        """With the comments, as they are."""
        start = (node.orelse[0].lineno - 1 if node.orelse else node.end_lineno) or 0
        lines = lines_of(self._place.text)[start : last.lineno - 1 if last else None]
        return dedented(lines) if lines else []

    # if t: self.seen.add_(1)

    def _stored(self, node: ast.If) -> str | None:
        test = self._test
        if test is None or node.orelse or len(node.body) != 1:
            return None
        condition = opposite(test.tensor) if test.negated else test.tensor
        new = conditional_store(self._place, self._reader, node.body[0], condition)
        return None if new is None else self._put(node, new)


def _target_of(statement: ast.stmt, node: ast.expr) -> str | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
            return name
    return None


def _is_number(node: ast.expr) -> bool:
    """A number that a tensor holds exactly, whatever type it may get."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not isinstance(node, ast.Constant) or not isinstance(node.value, float):
        return False
    return abs(node.value) <= 256 and node.value * 16 == int(node.value * 16)


def _pairs(one: ast.expr, other: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(one, ast.Tuple) and isinstance(other, ast.Tuple):
        same_size = len(one.elts) == len(other.elts)
        return list(zip(one.elts, other.elts, strict=True)) if same_size else []
    return [(one, other)]


def _current(target: str) -> ast.expr:
    return made(target)


def _is_elif(node: ast.If) -> bool:
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
