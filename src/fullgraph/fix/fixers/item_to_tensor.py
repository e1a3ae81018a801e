"""Keeps a number a tensor if it is only combined with tensors.

What it does: `x / x.abs().max().item()` becomes `x / x.abs().max().detach()`. `.detach()` takes the
place of `.item()`, because no gradient flows through a Python number. No setting is needed.

Why it breaks: `.item()`, `float()` and `int()` need the value of a tensor while Dynamo traces, and
there is none. A 0-d tensor does the same in arithmetic with tensors, in comparisons with them, and
in methods such as `masked_fill`.

Safety: exact. A 0-d tensor does not widen the dtype of the tensors that it is combined with, as a
Python number does not. Python computes `0.5 * x.std().item() + 1` with 64 bits, so `.double()`
comes first there. The source does not show dtypes, and verification compares them: the number of an
integer tensor that is combined with integer tensors must give the same dtype.

Not applied when: anything else uses the number: a branch, a size, a string, a result, another
function, or arithmetic with a second such number. Of arithmetic with Python numbers, only sums,
differences, products and quotients by a constant are kept. Division by the number can raise an
error, and `**` rounds differently. `int()` truncates and may raise an error, so it is only replaced
for a tensor that is known to hold integers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import DATA_DEPENDENT_OPERATOR, TENSOR_ITEM
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import replace_node
from fullgraph.fix.source.inference.kinds import KindInference
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.torch_ops import FILLS, TAKE_SCALAR

TITLE = "`.item()` in arithmetic with tensors → 0-d tensor"
KIND = "rewrite"
SAFETY = "exact"
IDS = (TENSOR_ITEM, DATA_DEPENDENT_OPERATOR)
CATEGORIES = ()
OFFERED_FOR = r"item\b|tolist|\b(float|int|bool)\("

_OPERATORS = ast.Add | ast.Sub | ast.Mult | ast.Div


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the tensor in the place of its number."""
    function = context.function
    if function is None:
        return
    for node in context.expressions:
        read = _read_tensor(node)
        if read is None:
            continue
        tensor, reader = read
        uses = _NumberUses(Scope(context.tree, function))
        uses.require_tensors(node)
        if reader == "int" and not uses.kinds.kind_of(tensor).integer:
            raise Declined("`int` truncates, and the tensor may not hold integers", node)
        new = _detached(context.source(tensor), tensor, reader, uses)
        yield Candidate(context.file_edits([replace_node(context.text, node, new)]))
        return


def _read_tensor(node: ast.expr) -> tuple[ast.expr, str] | None:
    """Return the tensor that a number is read from, and what reads it; None for other nodes."""
    match node:
        case ast.Call(func=ast.Attribute(value=tensor, attr="item"), args=[], keywords=[]):
            return tensor, "item"
        case ast.Call(func=ast.Name(id="float" | "int" as reader), args=[tensor], keywords=[]):
            return tensor, reader
    return None


def _detached(source: str, tensor: ast.expr, reader: str, uses: _NumberUses) -> str:
    """Return the source of a 0-d tensor without gradient that holds the number."""
    if not isinstance(tensor, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        source = f"({source})"
    source += ".detach()"
    if not uses.kinds.kind_of(tensor).fresh_scalar:
        # It may be a view of a tensor that changes later, and a number has no dimensions.
        source += ".clone().reshape(())"
    in_double = uses.has_arithmetic and not uses.kinds.kind_of(tensor).integer
    return f"{source}.double()" if reader == "float" or uses.has_fractions or in_double else source


class _NumberUses:
    """The uses of a number in a function."""

    def __init__(self, scope: Scope) -> None:
        function = scope.function
        self.kinds = KindInference(scope)
        # Whether Python computes with the number before a tensor does, and leaves the integers.
        self.has_arithmetic = False
        self.has_fractions = False
        self._function = function
        self._parents = {
            child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)
        }

    def require_tensors(self, value: ast.expr) -> None:
        """Decline a number that is used other than with tensors."""
        parent = self._parents.get(value)
        match parent:
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
                self._require_operand(parent, right if left is value else left, value)
            case ast.UnaryOp(op=ast.USub()):
                self.require_tensors(parent)
            case ast.Compare(left=left, ops=[_], comparators=[right]):
                other = right if left is value else left
                if not self.kinds.kind_of(other).tensor:
                    raise Declined(f"Python compares the number with {quoted(other)}", value)
            case ast.Assign(targets=[ast.Name(id=name)]):
                self._require_tensors_for_name(name, value)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=[]):
                if not self._is_tensor_argument(owner, name, args, value):
                    raise Declined(f"the number is passed to `{name}`", value)
            case _:
                raise Declined(_other_use(parent), value)

    def _require_operand(self, parent: ast.BinOp, other: ast.expr, value: ast.expr) -> None:
        """Decline arithmetic with a value that is neither a tensor nor a constant."""
        if self.kinds.kind_of(other).tensor:
            return
        if not (isinstance(other, ast.Constant) and isinstance(other.value, int | float)):
            raise Declined(
                f"the number is combined with {quoted(other)}, which may not be a tensor",
                value,
            )
        if isinstance(parent.op, ast.Div) and (parent.right is value or other.value == 0):
            raise Declined("the division may raise ZeroDivisionError", value)
        self.has_arithmetic = True
        self.has_fractions |= isinstance(other.value, float) or isinstance(parent.op, ast.Div)
        self.require_tensors(parent)

    def _is_tensor_argument(
        self, owner: ast.expr, name: str, args: list[ast.expr], value: ast.expr
    ) -> bool:
        """Return whether a call takes a 0-d tensor in the place of the number.

        `x.mul(number)`, `x.masked_fill(mask, number)` and `torch.where(c, x, number)` do.
        """
        if name in TAKE_SCALAR | FILLS:
            return args[-1] is value and self.kinds.kind_of(owner).tensor
        is_where = name == "where" and isinstance(owner, ast.Name) and owner.id == "torch"
        others = [each for each in args[1:] if each is not value]
        return (
            is_where
            and len(args) == 3
            and len(others) == 1
            and self.kinds.kind_of(others[0]).tensor
        )

    def _require_tensors_for_name(self, name: str, value: ast.expr) -> None:
        """Decline a name that is bound again, or used other than with tensors."""
        names = [
            node
            for node in ast.walk(self._function)
            if isinstance(node, ast.Name) and node.id == name
        ]
        uses = [node for node in names if isinstance(node.ctx, ast.Load)]
        if len(names) - len(uses) != 1:
            raise Declined(f"`{name}` is assigned more than once", value)
        if not uses:
            raise Declined(f"`{name}` is not used in this function", value)
        for use in uses:
            self.require_tensors(use)


def _other_use(parent: ast.AST | None) -> str:
    """Return the reason to keep a number, from the node that uses it."""
    match parent:
        case ast.BinOp(op=ast.Pow()):
            return "`**` rounds differently for a tensor"
        case ast.FormattedValue():
            return "the number is formatted as a string"
        case ast.Return() | ast.Assign() | ast.Tuple() | ast.List() | ast.Dict():
            return "the number itself is returned or stored"
        case ast.Subscript() | ast.Slice():
            return "the number is used as an index"
        case ast.Call(func=func):
            return f"the number is passed to {quoted(func)}"
        case ast.keyword():
            return "the number is passed to another function"
    return "the number is used other than in arithmetic with tensors"
