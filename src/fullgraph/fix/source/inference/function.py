"""Reads a function up to one of its statements, to know what the names there are."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from fullgraph.fix.source import torch_ops as operations
from fullgraph.fix.source.control_flow import always_bound, computed_by, path_to
from fullgraph.fix.source.inference.expressions import Expressions
from fullgraph.fix.source.inference.scope import Scope, self_attribute
from fullgraph.fix.source.inference.value import UNKNOWN, Value
from fullgraph.fix.source.names import stored_names

_OF_TENSORS = operations.REDUCTIONS | operations.COMPARISONS
_FLOATING_TYPES = ("float16", "bfloat16", "float32", "float64", "half", "float", "double")


class Reader(Expressions):
    """Reads the statements of a function up to one of them, and then expressions in it."""

    def __init__(self, scope: Scope, statement: ast.stmt) -> None:
        super().__init__(scope)
        # Names that are tensors whoever calls the function.
        self._tensors: set[str] = set()
        for body, number in path_to(scope.function, statement):
            for before in body[:number]:
                self._pass(before)
            if isinstance(body[number], ast.For | ast.While | ast.Try):
                # What is in there may have run already, or in part.
                self._forget(body[number])

    # What the one who asks knows

    def computed(self, expression: ast.expr) -> None:
        """An expression that the program computes at this place anyway."""
        self._learn(expression)
        self._computed |= {
            ast.dump(each) for each in ast.walk(expression) if isinstance(each, ast.expr)
        }

    def assume(self, name: str, value: Value) -> None:
        """A name that is bound here, in front of the place."""
        self._known[name] = replace(value, risk="harmless")
        # They may have been made of what the name was before.
        self._computed.clear()

    def holds(self, test: ast.expr) -> None:
        """A test of Python that is true at this place."""
        match test:
            case ast.Compare(
                left=ast.Attribute(value=tensor, attr="dtype"),
                ops=[ast.Eq()],
                comparators=[ast.Attribute(attr=name)],
            ) if name in _FLOATING_TYPES:
                self._floating |= self.read(tensor).dtype
            case ast.Call(func=ast.Attribute(value=tensor, attr="is_floating_point")):
                self._floating |= self.read(tensor).dtype

    # What can be asked besides values

    def is_surely_tensor(self, node: ast.expr) -> bool:
        """Whether it is a tensor whoever calls the function: some operator of torch says so."""
        match node:
            case ast.Name(id=name):
                is_argument = self._scope.is_tensor_argument(name) and name not in self._known
                return name in self._tensors or is_argument
            case ast.Attribute() if self_attribute(node) in self._scope.buffers:
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
                return not is_module and (name in _OF_TENSORS or self.is_surely_tensor(value))
        return False

    def is_bound(self, name: str) -> bool:
        """Whether a name has a value here, on every way to get here."""
        return name in self._known or name in self._scope.arguments

    # Statements

    def _learn(self, expression: ast.expr) -> None:
        """What must be true of tensors, as the expression is computed and raises nothing."""
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

    def _named(self, name: str, statement: ast.stmt, value: Value) -> Value:
        """What is not understood is a tensor of its own, which is there already."""
        token = _token(name, statement)
        if value.plain:
            return replace(value, risk="harmless")
        shape = token if UNKNOWN & value.shape else value.shape
        if UNKNOWN & value.dtype:
            return Value(shape, token, steep=value.steep, alias=True)
        return replace(value, shape=shape, risk="harmless")

    def _pass_branch(self, statement: ast.If) -> None:
        """What one of two sides binds is only known to be floating, if it is so on both."""
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
        """Names that it may bind are bound to something else from now on."""
        sure = always_bound(statement)
        for name in stored_names(statement):
            if name in sure or self.is_bound(name):
                token = _token(name, statement)
                self._known[name] = Value(token, token, alias=True)
        self._tensors -= stored_names(statement)


def _token(name: str, statement: ast.stmt) -> frozenset[str]:
    return frozenset({f"{name}@{statement.lineno}"})
