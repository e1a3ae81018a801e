"""The test of a branch as a boolean tensor: `a > 0 and not b.any()` as `(a > 0) & ~b.any()`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from msgspec import Struct

from fullgraph.fix.fixers._branches.branch import TensorBranch
from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.codegen import ATOMS, one_line
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import Edit, apply_edits, replace_nodes
from fullgraph.fix.source.inference.function import FunctionInference
from fullgraph.fix.source.inference.value import AbstractValue
from fullgraph.fix.source.text import Node, span

# Every floating-point dtype holds the integers up to this one exactly.
_LARGEST_EXACT = 256
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_RETURN_PYTHON_BOOL = ("allclose", "equal", "is_nonzero")
MIXED_TEST = "the test has Python values besides tensors"


class TensorPredicate(Struct, frozen=True):
    """The test of a branch, split into a Python part and a tensor."""

    # The operands of `and` that Python decides first (`self.training`); empty without any.
    python_test: str
    # An expression of a boolean tensor with one element.
    tensor: str
    # Whether the test is true if the tensor is false.
    negated: bool = False


def tensor_predicate(
    branch: TensorBranch, inference: FunctionInference, *, zero_dim: bool = True
) -> TensorPredicate:
    """Return the test of a branch as a tensor, with no dimension if `zero_dim` is true.

    Declined is raised for a test that has no equivalent.
    """
    if branch.is_symbol:
        raise Declined("the test is on an unbacked symbol, not on a tensor", branch.node)
    writer = PredicateWriter(branch.text, inference, zero_dim=zero_dim)
    test, is_true = strip_not(branch.node.test)
    if not isinstance(test, ast.BoolOp) or isinstance(test.op, ast.Or):
        inference.computed(test.values[0] if isinstance(test, ast.BoolOp) else test)
        return TensorPredicate("", writer.tensor(test), negated=not is_true)
    python_operands, operands = _split_operands(test.values, branch, inference)
    if python_operands and not is_true:
        raise Declined("`not` applies to Python values and tensors together", test)
    if not operands:
        raise Declined("no operand of the test is known to be a tensor", test)
    inference.computed(operands[0])
    tensor = writer.combine(operands, " & ")
    return TensorPredicate(_joined(branch.text, python_operands), tensor, negated=not is_true)


def require_tensor_test(branch: TensorBranch, inference: FunctionInference) -> None:
    """Decline a test that may be a Python value when the function is called differently."""
    test = branch.node.test
    if not inference.is_surely_tensor(test):
        raise Declined(f"{quoted(test)} may be a Python value in other calls", test)


def require_pure_tensor_test(predicate: TensorPredicate, node: ast.AST) -> None:
    """Decline a test that Python decides in part."""
    if predicate.python_test:
        raise Declined(MIXED_TEST, node)


def strip_not(test: ast.expr) -> tuple[ast.expr, bool]:
    """Return a test without the `not` in front of it, and whether an even number was removed."""
    is_same = True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, is_same = test.operand, not is_same
    return test, is_same


def _split_operands(
    values: Sequence[ast.expr], branch: TensorBranch, inference: FunctionInference
) -> tuple[list[ast.expr], list[ast.expr]]:
    """Return the operands of `and` that Python decides first, and the others."""
    for number, value in enumerate(values):
        if _is_tensor(value, branch, inference):
            return list(values[:number]), list(values[number:])
        inference.holds(value)
    return list(values), []


def _is_tensor(node: ast.expr, branch: TensorBranch, inference: FunctionInference) -> bool:
    """Return whether Dynamo stopped at an operand, or it is another boolean 0-d tensor."""
    value = inference.read(node)
    if value.plain:
        return False
    is_at_break = any(each is branch.operand for each in ast.walk(node))
    return is_at_break or (value.is_bool and not value.shape)


def _joined(text: str, operands: Sequence[ast.expr]) -> str:
    """Return operands joined by `and`."""
    if len(operands) == 1:
        return one_line(text, operands[0])
    loose = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)
    parts = [(one_line(text, each), isinstance(each, loose)) for each in operands]
    return " and ".join(f"({part})" if is_loose else part for part, is_loose in parts)


class PredicateWriter:
    """Writes tests as tensors with one boolean element."""

    def __init__(self, text: str, inference: FunctionInference, *, zero_dim: bool = True) -> None:
        self._text = text
        self._inference = inference
        self._zero_dim = zero_dim

    def tensor(self, node: ast.expr) -> str:
        """Return the expression of a tensor that is true where a test is true."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return opposite(self.tensor(operand))
            case ast.BoolOp(op=op, values=values):
                return self.combine(values, " & " if isinstance(op, ast.And) else " | ")
            case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[], keywords=[]):
                return self.tensor(value)
            case ast.Call(func=ast.Name(id="bool"), args=[value], keywords=[]):
                return self.tensor(value)
            case ast.Compare():
                return self._comparison(node)
            case ast.Call(func=func) if self._inference.torch_name(func) == "allclose":
                return f"{_source_with(self._text, node, [(func, 'torch.isclose')])}.all()"
            case ast.Call(func=ast.Attribute(attr=name)) if name in _RETURN_PYTHON_BOOL:
                raise Declined(f"`{name}` returns a Python bool", node)
        return self._single(node, self._inference.read(node), one_line(self._text, node))

    def combine(self, values: Sequence[ast.expr], operator: str) -> str:
        """Return tests combined by `&` or `|`, which evaluate all of them."""
        for value in values[1:]:
            if self._inference.read(value).risk == "unsafe":
                reason = "may raise or have side effects, and Python does not always evaluate it"
                raise Declined(f"{quoted(value)} {reason}", value)
        parts = [self.tensor(value) for value in values]
        return operator.join(map(_in_brackets, parts)) if len(parts) > 1 else parts[0]

    def _comparison(self, node: ast.Compare) -> str:
        if len(node.ops) > 1:
            # Python evaluates what is in the middle once, and the rest only if it is needed.
            return self.combine(_unchained(self._text, node), " & ")
        if not isinstance(node.ops[0], _COMPARISONS):
            raise Declined(f"{quoted(node)} has no equivalent for tensors", node)
        sides = (node.left, node.comparators[0])
        changes = [each for each in map(self._without_item, sides, sides[::-1]) if each]
        if len(changes) > 1:
            raise Declined("both sides of the comparison are read with `.item()`", node)
        tensors = [_item_argument(side) or side for side in sides]
        if any(map(_reads_a_number, tensors)):
            raise Declined("the test computes with a number that is read from a tensor", node)
        if not changes:
            return self._single(node, self._inference.read(node), one_line(self._text, node))
        shapes = [self._inference.read(tensor).shape for tensor in tensors]
        value = AbstractValue(frozenset().union(*shapes), frozenset({"bool"}))
        return self._single(node, value, _source_with(self._text, node, changes))

    def _without_item(self, side: ast.expr, other: ast.expr) -> tuple[ast.expr, str] | None:
        """Return one side of a comparison and its text without `.item()`; None if it has none."""
        tensor = _item_argument(side)
        if tensor is None:
            return None
        written = one_line(self._text, tensor)
        if _is_exact(other):
            return side, written
        # Python compares numbers exactly; a tensor is compared in its own dtype.
        return side, f"{_in_brackets(written)}.double()"

    def _single(self, node: ast.expr, value: AbstractValue, text: str) -> str:
        """Return an expression as a boolean tensor, whatever dtype and dimensions it has."""
        if value.plain:
            raise Declined(f"{quoted(node)} is a Python value, not a tensor", node)
        text = text if value.is_bool else f"{_in_brackets(text)}.bool()"
        return f"{_in_brackets(text)}.reshape(())" if value.shape and self._zero_dim else text


def _unchained(text: str, node: ast.Compare) -> list[ast.expr]:
    """Return the comparisons of two values that a chained comparison consists of."""
    operands = [node.left, *node.comparators]
    if not all(isinstance(each, ast.Name | ast.Constant) for each in operands[1:-1]):
        reason = "a chained comparison of more than names has no equivalent for tensors"
        raise Declined(f"{reason}; split it with `and`", node)
    found: list[ast.expr] = []
    for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
        compared = ast.Compare(left, [operator], [right])
        ast.copy_location(compared, left)
        compared.end_lineno, compared.end_col_offset = right.end_lineno, right.end_col_offset
        if not _is_written_as(text, compared):
            raise Declined("a chained comparison with brackets; split it with `and`", node)
        found.append(compared)
    return found


def _is_written_as(text: str, node: ast.expr) -> bool:
    """Return whether the text at the place of a new node is that node."""
    start, end = span(text, node)
    try:
        written = ast.parse(f"({text[start:end]})", mode="eval")
    except SyntaxError:
        return False
    return ast.dump(written.body) == ast.dump(node)


def _source_with(text: str, node: ast.expr, changes: Iterable[tuple[Node, str]]) -> str:
    """Return an expression on one line, with the text of some nodes in it replaced."""
    start, end = span(text, node)
    edits = [
        Edit(edit.start - start, edit.end - start, edit.replacement)
        for edit in replace_nodes(text, changes)
    ]
    written = apply_edits(text[start:end], edits)
    return ast.unparse(ast.parse(f"({written})", mode="eval")) if "\n" in written else written


def _item_argument(node: ast.expr) -> ast.expr | None:
    """Return `x` for `x.item()`; None for any other expression."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[], keywords=[]):
            return value
    return None


def _reads_a_number(node: ast.expr) -> bool:
    """Return whether an expression reads a Python number from a tensor somewhere."""
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr=name)) if name in torch_ops.READ_VALUES:
                return True
            case ast.Call(func=ast.Name(id="int" | "float" | "bool")):
                return True
    return False


def _is_exact(node: ast.expr) -> bool:
    """Return whether every dtype holds a number exactly."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not isinstance(node, ast.Constant) or not isinstance(node.value, int | float):
        return False
    return abs(node.value) <= _LARGEST_EXACT and node.value == int(node.value)


def opposite(tensor: str) -> str:
    """Return the expression of a boolean tensor that is true where another one is false."""
    return f"~{_in_brackets(tensor)}"


def _in_brackets(text: str) -> str:
    """Return an expression in brackets, unless an attribute can follow it without them."""
    # `n := x` is an expression only in brackets.
    body = ast.parse(f"({text})", mode="eval").body
    return text if isinstance(body, ATOMS) else f"({text})"


def handles_nonfinite_values(function: ast.FunctionDef) -> bool:
    """Return whether a function tests for infinity or NaN, or creates them."""
    return any(map(_is_about_nonfinite_values, ast.walk(function)))


def _is_about_nonfinite_values(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name in torch_ops.FINITENESS
        case ast.Constant(value="inf" | "-inf" | "nan"):
            return True
        # `x != x` tests for NaN.
        case ast.Compare(left=left, comparators=[right]):
            return ast.dump(left) == ast.dump(right)
    return False
