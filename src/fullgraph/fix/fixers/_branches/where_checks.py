"""Whether `torch.where` may choose between two expressions.

`torch.where` computes both expressions, and makes a new tensor of their common shape and dtype.
Each check raises Declined if the difference to a branch can be noticed.
"""

from __future__ import annotations

import ast

from fullgraph.fix.fixers._branches.branch import TensorBranch
from fullgraph.fix.fixers._branches.conditional_store import mutated_names
from fullgraph.fix.fixers._branches.predicate import handles_nonfinite_values
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.inference.function import FunctionInference
from fullgraph.fix.source.inference.value import UNKNOWN, AbstractValue
from fullgraph.fix.source.names import names_in
from fullgraph.fix.source.torch_ops import RANDOM


class WhereChecks:
    """Checks expressions of the two sides of one branch."""

    def __init__(self, branch: TensorBranch, inference: FunctionInference) -> None:
        self._branch = branch
        self._inference = inference
        self._mutated = mutated_names(branch.scope.function)
        self._is_finite = not handles_nonfinite_values(branch.scope.function)

    def require_selectable(self, one: ast.expr, other: ast.expr, name: str = "") -> None:
        """Decline values that may differ in shape or dtype, or that are unsafe to compute.

        `name` is the name that they are assigned to.
        """
        self.require_safe(one)
        self.require_safe(other)
        first, second = self._inference.read(one), self._inference.read(other)
        self._require_known(one, first)
        self._require_known(other, second)
        if not self._inference.same(first, second):
            what = "shape" if first.shape != second.shape else "dtype"
            subject = f"`{name}` may differ in {what} between the branches"
            raise self._declined(subject if name else f"the branches may differ in {what}", one)
        if first.unbounded_gradient_ops != second.unbounded_gradient_ops:
            operators = first.unbounded_gradient_ops ^ second.unbounded_gradient_ops
            raise self._declined(unbounded_gradient_reason(operators), one)

    def require_safe(self, node: ast.expr) -> None:
        """Decline an expression that is unsafe to compute where Python does not compute it."""
        value = self._inference.read(node)
        if value.risk == "safe" or (value.risk == "safe_if_finite" and self._is_finite):
            return
        if value.risk == "safe_if_finite":
            reason = "may give NaN gradients, because the function handles infinity or NaN"
        elif value.unbounded_gradient_ops - self._history_of(node):
            reason = "may have an infinite gradient in the branch that is not taken"
        elif _draws_random_numbers(node):
            reason = "draws random numbers"
        elif UNKNOWN & value.dtype:
            reason = "is not known to be free of side effects"
        else:
            reason = "may raise or be expensive in the branch that is not taken"
        raise self._declined(f"{quoted(node)} {reason}", node)

    def _history_of(self, node: ast.expr) -> frozenset[str]:
        """Return the operators with unbounded gradients that the names of an expression have."""
        names = [ast.Name(name, ast.Load()) for name in names_in(node)]
        return frozenset().union(
            *(self._inference.read(name).unbounded_gradient_ops for name in names)
        )

    def _require_known(self, node: ast.expr, value: AbstractValue) -> None:
        if not value.is_tensor:
            raise self._declined(f"{quoted(node)} is not known to be a tensor", node)
        if UNKNOWN & (value.shape | value.dtype):
            raise self._declined(f"the shape or dtype of {quoted(node)} is not known", node)

    def require_copy_unnoticed(self, target: str, *sides: ast.expr) -> None:
        """Decline a target or an existing tensor that is mutated: `torch.where` makes a copy."""
        if not any(self._inference.read(side).alias for side in sides):
            return
        mutated = {target, *(ast.unparse(side) for side in sides)} & self._mutated
        if mutated:
            reason = "is mutated in place, and torch.where makes a copy of it"
            raise self._declined(f"`{min(mutated)}` {reason}", sides[0])

    def require_no_alias(self, *sides: ast.expr) -> None:
        """Decline existing tensors, for a result that other code may mutate or keep."""
        for side in sides:
            if self._inference.read(side).alias:
                reason = "is an existing tensor, and torch.where makes a copy of it"
                raise self._declined(f"{quoted(side)} {reason}", side)

    def _declined(self, reason: str, node: ast.expr) -> Declined:
        """Return a refusal at the line of a node, or of the branch if the node is a new one."""
        is_in_file = getattr(node, "end_lineno", None) is not None
        return Declined(reason, node if is_in_file else self._branch.node)


def _draws_random_numbers(node: ast.expr) -> bool:
    """Return whether an expression calls an operator that draws random numbers."""
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                if name in RANDOM:
                    return True
    return False


def unbounded_gradient_reason(operators: frozenset[str]) -> str:
    """Return the reason to decline a branch that only one side of which uses some operators."""
    operator = min(operators).partition(" in line ")[0]
    return f"a gradient of zero would reach `{operator}`, whose gradient may be infinite"
