"""A test as a tensor: `a > 0 and not b.any()` as `(a > 0) & ~b.any()`."""

from __future__ import annotations

import ast

from msgspec import Struct

from fullgraph.fix.fixers._branches.branch import Place
from fullgraph.fix.source import torch_ops as operations
from fullgraph.fix.source.edits import source_of
from fullgraph.fix.source.inference.function import Reader
from fullgraph.fix.source.inference.value import Value

# All of them are the same in every floating type.
_LARGEST_EXACT = 256


class TensorTest(Struct, frozen=True):
    """What Python decides first (`self.training`), and the tensor with one truth value."""

    first: tuple[str, ...]
    tensor: str
    # The sides have to be swapped.
    negated: bool = False


def tensor_test(place: Place, reader: Reader, *, flat: bool = True) -> TensorTest | None:
    """The test of a place with a tensor in it; None where it cannot be told apart.

    With `flat` the tensor has no dimension, otherwise it may have some of size 1.
    """
    if place.symbol:
        return None
    writer = Truth(place.text, reader, flat=flat)
    test, negated = place.node.test, False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, negated = test.operand, not negated
    first: list[str] = []
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        values = list(test.values)
        while values and not _is_tensor(values[0], place, reader):
            reader.holds(values[0])
            first.append(source_of(place.text, values.pop(0)))
        if first and negated:
            return None
        if not values:
            return None
        reader.computed(values[0])
        if any(reader.read(value).risk == "risky" for value in values[1:]):
            return None
        tensors = [writer.tensor(value) for value in values]
        parts = [each for each in tensors if each is not None]
        if not parts or len(parts) != len(values):
            return None
        tensor = " & ".join(_in_brackets(part) for part in parts) if len(parts) > 1 else parts[0]
        return TensorTest(tuple(first), tensor, negated)
    reader.computed(test.values[0] if isinstance(test, ast.BoolOp) else test)
    whole = writer.tensor(test)
    return None if whole is None else TensorTest((), whole, negated)


def _is_tensor(node: ast.expr, place: Place, reader: Reader) -> bool:
    """Whether an operand is the one that Dynamo stopped at, or surely another tensor."""
    value = reader.read(node)
    if value.plain:
        return False
    is_there = any(each is place.operand for each in ast.walk(node))
    return is_there or (value.is_bool and not value.shape)


class Truth:
    """Writes tests so that they are tensors of one truth value."""

    def __init__(self, text: str, reader: Reader, *, flat: bool = True) -> None:
        self._text = text
        self._reader = reader
        self._flat = flat

    def tensor(self, node: ast.expr) -> str | None:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.tensor(operand)
                return None if inner is None else opposite(inner)
            case ast.BoolOp(op=op, values=values):
                # Python would not compute the others.
                if any(self._reader.read(value).risk == "risky" for value in values[1:]):
                    return None
                parts = [self.tensor(value) for value in values]
                if any(part is None for part in parts):
                    return None
                sign = " & " if isinstance(op, ast.And) else " | "
                return sign.join(_in_brackets(part or "") for part in parts)
            case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[], keywords=[]):
                return self.tensor(value)
            case ast.Call(func=ast.Name(id="bool"), args=[value], keywords=[]):
                return self.tensor(value)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._comparison(node, left, op, right)
            case ast.Call(func=func) if self._reader.torch_name(func) == "allclose":
                return source_of(self._text, node).replace("allclose", "isclose", 1) + ".all()"
        return self._one(node, self._reader.read(node), source_of(self._text, node))

    def _comparison(
        self, node: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr
    ) -> str | None:
        if not isinstance(op, ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            return None
        text = source_of(self._text, node)
        sides = (left, right)
        for side, other in (sides, sides[::-1]):
            inner = _read_out(side)
            if inner is None:
                continue
            if _read_out(other) is not None:
                return None
            # A number that is read out is compared exactly, and a tensor in its own type.
            new = source_of(self._text, inner) + ("" if _is_exact(other) else ".double()")
            text = text.replace(source_of(self._text, side), new, 1)
        if any(_reads_out_within(_read_out(side) or side) for side in sides):
            return None
        value = self._reader.read(node) if text == source_of(self._text, node) else None
        if value is None:
            tensors = [self._reader.read(_read_out(side) or side) for side in sides]
            value = Value(frozenset().union(*(each.shape for each in tensors)), frozenset({"bool"}))
        if value.plain:
            return None
        return self._one(node, value, text)

    def _one(self, node: ast.expr, value: Value, text: str) -> str | None:
        """With one truth value, whatever it was."""
        if value.plain:
            return None
        needs_brackets = not isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
        head = f"({text})" if needs_brackets else text
        if not value.is_bool:
            head = f"{head}.bool()"
        if not value.shape or not self._flat:
            return head if not value.is_bool else text
        return f"{head}.reshape(())"


def _read_out(node: ast.expr) -> ast.expr | None:
    """The tensor of `x.item()`, `float(x)` or `int(x)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[], keywords=[]):
            return value
    return None


def _reads_out_within(node: ast.expr) -> bool:
    """Whether a number is read out of a tensor somewhere inside."""
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr="item" | "tolist" | "numpy")):
                return True
            case ast.Call(func=ast.Name(id="int" | "float" | "bool")):
                return True
    return False


def _is_exact(node: ast.expr) -> bool:
    """A number that every type of tensors can hold."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not isinstance(node, ast.Constant) or not isinstance(node.value, int | float):
        return False
    return abs(node.value) <= _LARGEST_EXACT and node.value == int(node.value)


def opposite(tensor: str) -> str:
    return f"~{_in_brackets(tensor)}"


def _in_brackets(text: str) -> str:
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        node = None
    simple = isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    return text if simple else f"({text})"


def asks_for_finiteness(function: ast.FunctionDef) -> bool:
    """Whether a function looks for numbers that are none, or makes some."""
    for node in ast.walk(function):
        name = getattr(node, "attr", None) or getattr(node, "id", None)
        if name in operations.FINITENESS:
            return True
        if isinstance(node, ast.Constant) and node.value in ("inf", "-inf", "nan"):
            return True
        if isinstance(node, ast.Compare) and len(node.comparators) == 1:
            same = ast.dump(node.left) == ast.dump(node.comparators[0])
            if same:
                return True
    return False
