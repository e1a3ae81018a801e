"""Infer the abstract values of all names of a function at one of its statements."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.control_flow import always_bound, computed_by, path_to
from fullgraph.fix.source.inference.expressions import ExpressionInference
from fullgraph.fix.source.inference.scope import Scope, self_attribute
from fullgraph.fix.source.inference.value import UNKNOWN, AbstractValue
from fullgraph.fix.source.names import stored_names

# Methods that only tensors have, of those that a test consists of.
_TENSOR_METHODS = torch_ops.REDUCTIONS | torch_ops.COMPARISONS | {"isin"}


class FunctionInference(ExpressionInference):
    """Follows the statements of a function up to one of them, and infers expressions there."""

    def __init__(self, scope: Scope, statement: ast.stmt) -> None:
        super().__init__(scope)
        # Names that are tensors for every caller.
        self._tensors: set[str] = set()
        for body, number in path_to(scope.function, statement):
            for before in body[:number]:
                self._pass(before)
            if isinstance(body[number], ast.For | ast.While | ast.Try):
                # The statements inside may have run before, or in part.
                self._forget(body[number])

    # Facts that the caller adds

    def computed(self, expression: ast.expr) -> None:
        """Add an expression that the original program always computes at the statement."""
        self._learn(expression)
        self._computed |= {
            ast.dump(each) for each in ast.walk(expression) if isinstance(each, ast.expr)
        }

    def assume(self, name: str, value: AbstractValue) -> None:
        """Bind a name in front of the statement."""
        self._known[name] = replace(value, risk="safe")
        # They may contain the former value of the name.
        self._computed.clear()

    def holds(self, test: ast.expr) -> None:
        """Add a test that is true at the statement."""
        match test:
            case ast.Compare(
                left=ast.Attribute(value=tensor, attr="dtype"),
                ops=[ast.Eq()],
                comparators=[ast.Attribute(attr=name)],
            ) if name in torch_ops.FLOAT_DTYPES:
                self._floating |= self.read(tensor).dtype
            case ast.Call(func=ast.Attribute(value=tensor, attr="is_floating_point")):
                self._floating |= self.read(tensor).dtype

    # Questions about names and expressions

    def is_surely_tensor(self, node: ast.expr) -> bool:
        """Check whether an expression is a tensor for every caller, by an operator in it."""
        match node:
            case ast.Name(id=name):
                is_argument = self._scope.is_tensor_argument(name) and name not in self._known
                return name in self._tensors or is_argument
            case ast.Attribute() if self_attribute(node) in self._scope.tensor_attributes:
                return True
            case ast.Compare(left=left, comparators=comparators):
                return any(map(self.is_surely_tensor, [left, *comparators]))
            case ast.BoolOp(values=values):
                return any(map(self.is_surely_tensor, values))
            case ast.BinOp(left=left, right=right):
                return self.is_surely_tensor(left) or self.is_surely_tensor(right)
            case ast.UnaryOp(operand=value) | ast.Subscript(value=value):
                return self.is_surely_tensor(value)
            case ast.Call(func=ast.Name(id="bool" | "abs"), args=[value]):
                return self.is_surely_tensor(value)
            case ast.Call(func=func) if self.torch_name(func):
                return True
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                is_module = isinstance(value, ast.Name) and value.id in self._scope.imports
                return not is_module and (name in _TENSOR_METHODS or self.is_surely_tensor(value))
        return False

    def is_bound(self, name: str) -> bool:
        """Check whether a name has a value at the statement, on every path to it."""
        return name in self._known or name in self._scope.arguments

    # Statements

    def _learn(self, expression: ast.expr) -> None:
        """Note the facts that follow from computing an expression without an exception."""
        self._certain = True
        self.read(expression)
        self._certain = False

    def _pass(self, statement: ast.stmt) -> None:
        for expression in computed_by(statement):
            self._learn(expression)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._bind(name, value, statement)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._bind(name, value, statement)
            case ast.If():
                self._pass_branch(statement)
            case _:
                self._forget(statement)

    def _bind(self, name: str, node: ast.expr, statement: ast.stmt) -> None:
        value = self.read(node)
        is_tensor = value.is_tensor and self.is_surely_tensor(node)
        self._known[name] = self._named(name, statement, value)
        (self._tensors.add if is_tensor else self._tensors.discard)(name)

    def _named(self, name: str, statement: ast.stmt, value: AbstractValue) -> AbstractValue:
        """Return the value of a name: an unknown shape or dtype gets a name of its own."""
        token = _token(name, statement)
        if value.plain:
            return replace(value, risk="safe")
        shape = token if UNKNOWN & value.shape else value.shape
        if UNKNOWN & value.dtype:
            return AbstractValue(
                shape, token, unbounded_gradient_ops=value.unbounded_gradient_ops, alias=True
            )
        return replace(value, shape=shape, risk="safe")

    def _pass_branch(self, statement: ast.If) -> None:
        """Forget the names that a branch binds, except that they are floating point.

        They are if they are at the end of both sides.
        """
        known, floating, filled = dict(self._known), set(self._floating), set(self._filled)
        tensors = set(self._tensors)
        ends: list[set[str]] = []
        for body in (statement.body, statement.orelse):
            for each in body:
                self._pass(each)
            ends.append({name for name in stored_names(statement) if self._is_float_name(name)})
            self._known, self._floating, self._filled = dict(known), set(floating), set(filled)
            self._tensors = set(tensors)
        self._forget(statement)
        for name in ends[0] & ends[1]:
            self._floating |= _token(name, statement)

    def _is_float_name(self, name: str) -> bool:
        return self.is_bound(name) and self._is_float(self._name(name))

    def _forget(self, statement: ast.stmt) -> None:
        """Give the names that a statement may bind new and unknown values."""
        sure = always_bound(statement)
        for name in stored_names(statement):
            if name in sure or self.is_bound(name):
                token = _token(name, statement)
                self._known[name] = AbstractValue(token, token, alias=True)
        self._tensors -= stored_names(statement)


def _token(name: str, statement: ast.stmt) -> frozenset[str]:
    """Return the shape or the dtype that a name has after a statement."""
    return frozenset({f"{name}@{statement.lineno}"})
