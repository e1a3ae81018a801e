"""Infer the abstract values of expressions: shape, dtype, aliasing and risk.

The shape and the dtype of an input are unknown. Two expressions of the same tensors may have the
same shape and dtype anyway: `x + 1` and `x * 2` do. `x` and `x * 0.5` do if `x` is floating point.
`x + y` and `x` need not.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.inference.kinds import COMPARES
from fullgraph.fix.source.inference.scope import Scope, self_attribute
from fullgraph.fix.source.inference.value import (
    BOOL,
    NONE,
    RISKS,
    UNKNOWN,
    AbstractValue,
    Names,
    Risk,
    at_least,
    comparison,
    joined,
    python_value,
    shape_of,
    unknown,
    with_float,
    with_unbounded_gradient,
)

# Builtins that return a Python value.
_PYTHON_BUILTINS = ("all", "any", "callable", "float", "hasattr", "int", "isinstance", "len", "str")
# Attributes of tensors and modules that are Python values.
_PYTHON_ATTRIBUTES = torch_ops.METADATA_ATTRIBUTES - {"shape"} | {"training"}
# Arguments that make an operator mutate a tensor, or that change the dtype of its result.
_UNSUPPORTED_KEYWORDS = {"dtype", "generator", "inplace", "out"}


class ExpressionInference:
    """Infers expressions from the abstract values of the names in them."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: dict[str, AbstractValue] = {}
        # Whether the program always computes the current expression, so it does not raise.
        self._certain = False
        # Tensors that are floating point, because an operator would have raised otherwise.
        self._floating: set[str] = set()
        # Tensors that have elements, for the same reason.
        self._filled: set[str] = set()
        # Expressions that the original program always computes.
        self._computed: set[str] = set()

    def same(self, one: AbstractValue, other: AbstractValue) -> bool:
        """Check whether two values have the same shape and dtype for all inputs."""
        if not one.is_tensor or not other.is_tensor or UNKNOWN & (one.shape | one.dtype):
            return False
        if shape_of(one.shape) != shape_of(other.shape) or one.dtype != other.dtype:
            return False
        return one.numbers == other.numbers or self.is_floating(one.dtype)

    def is_floating(self, tensors: Names) -> bool:
        """Check whether one of these tensors is floating point."""
        return bool(tensors & self._floating)

    def torch_name(self, function: ast.expr) -> str:
        """Return `relu` for `F.relu` and `torch.relu`; empty for other functions."""
        return self._scope.torch_name(function)

    def read(self, node: ast.expr) -> AbstractValue:
        """Return the abstract value of an expression."""
        value = self._read(node)
        if value.risk == "unsafe" and ast.dump(node) in self._computed:
            return replace(value, risk="safe")
        return value

    def _read(self, node: ast.expr) -> AbstractValue:
        match node:
            case ast.Constant(value=bool()):
                return AbstractValue(plain=True)
            case ast.Constant(value=int()):
                return python_value("int")
            case ast.Constant(value=float()):
                return python_value("float")
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
                return replace(self.read(operand), alias=False)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                # `+x` is `x`, not a copy.
                return self.read(operand)
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Compare(ops=[op]) if isinstance(op, COMPARES):
                return comparison([self.read(node.left), self.read(node.comparators[0])])
            case ast.BoolOp(values=[first, *rest]):
                return comparison([self.read(first), *map(self._conditional, rest)])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return comparison([self.read(operand)])
            case ast.IfExp(body=body, orelse=orelse):
                return self._either(node.test, body, orelse)
            case ast.Call():
                return self._call(node)
        return unknown()

    def _name(self, name: str) -> AbstractValue:
        if name in self._known:
            return self._known[name]
        token = frozenset({name})
        if self._scope.is_number_argument(name):
            return python_value(f"?{name}")
        if self._scope.is_floating_argument(name):
            self._floating.add(name)
        return AbstractValue(token, token, alias=True)

    def _attribute(self, node: ast.Attribute) -> AbstractValue:
        name = self_attribute(node)
        text = ast.unparse(node)
        limit = self._dtype_limit(node.value)
        if limit is not None:
            return limit
        if node.attr in _PYTHON_ATTRIBUTES or text.startswith("torch."):
            return python_value("int")
        if name and self._scope.is_number_attribute(name):
            return python_value(f"?{text}")
        if name:
            shape = NONE if name in self._scope.zero_dim_buffers else frozenset({text})
            return AbstractValue(shape, frozenset({text}), alias=True)
        if text.startswith("self.config."):
            return python_value(f"?{text}")
        return unknown()

    def _dtype_limit(self, node: ast.expr) -> AbstractValue | None:
        """Return the value of `torch.finfo(x.dtype)`, which raises if x is not floating point.

        None for other expressions.
        """
        match node:
            case ast.Call(func=func, args=[argument]) if self.torch_name(func) == "finfo":
                found = python_value("float")
                if not isinstance(argument, ast.Attribute) or argument.attr != "dtype":
                    return found
                tensor = self.read(argument.value)
                self._note_floating(tensor)
                return found if self._is_float(tensor) else at_least(found, "unsafe")
        return None

    def _note_floating(self, value: AbstractValue) -> None:
        if self._certain and len(value.dtype) == 1 and not value.numbers:
            self._floating |= value.dtype

    def _subscript(self, node: ast.Subscript) -> AbstractValue:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            if isinstance(node.slice, ast.Slice):
                return unknown()
            return python_value("int")
        inner = self.read(node.value)
        return AbstractValue(
            UNKNOWN, inner.dtype, inner.numbers, "unsafe", inner.unbounded_gradient_ops, alias=True
        )

    def _arithmetic(self, node: ast.BinOp) -> AbstractValue:
        left, right = self.read(node.left), self.read(node.right)
        both = joined([left, right])
        match node.op:
            case ast.Add() | ast.Sub():
                return both
            case ast.Mult():
                # The gradient of one factor is the other factor.
                is_product = left.is_tensor and right.is_tensor
                return at_least(both, "safe_if_finite") if is_product else both
            case ast.Div() if _is_nonzero(node.right):
                return with_float(both)
            case ast.Div():
                return with_unbounded_gradient(with_float(both), _source_of(node))
            case ast.Pow() if _is_small_power(node.right):
                return at_least(both, "safe_if_finite")
            case ast.Pow():
                return with_unbounded_gradient(both, _source_of(node))
            case ast.BitAnd() | ast.BitOr() | ast.BitXor():
                return both
            case ast.Mod() if _is_nonzero(node.right):
                return both
        return replace(both, shape=UNKNOWN, risk="unsafe")

    def _conditional(self, node: ast.expr) -> AbstractValue:
        """Return the value of an expression that the program does not always compute."""
        before, self._certain = self._certain, False
        value = self.read(node)
        self._certain = before
        return value

    def _either(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> AbstractValue:
        first, second = self._conditional(body), self._conditional(orelse)
        if not self.same(first, second):
            return unknown()
        worst = max(first.risk, second.risk, self.read(test).risk, key=RISKS.index)
        unbounded_gradient_ops = first.unbounded_gradient_ops | second.unbounded_gradient_ops
        return replace(
            first,
            risk=worst,
            unbounded_gradient_ops=unbounded_gradient_ops,
            alias=first.alias or second.alias,
        )

    # Calls

    def _call(self, node: ast.Call) -> AbstractValue:
        if any(isinstance(each, ast.Starred) for each in node.args):
            return unknown()
        name = self._scope.torch_name(node.func)
        if name:
            return self._operator(name, node, node.args)
        module = self._scope.module(self_attribute(node.func))
        if module:
            return self._module(module, node)
        if isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name) and node.func.value.id in self._scope.imports:
                return unknown()
            return self._operator(node.func.attr, node, [node.func.value, *node.args])
        if isinstance(node.func, ast.Name) and node.func.id in _PYTHON_BUILTINS:
            return python_value("float" if node.func.id == "float" else "int", "unsafe")
        return unknown()

    def _module(self, kind: str, node: ast.Call) -> AbstractValue:
        """Return the result of a module of torch: expensive, and floating point."""
        inner = self.read(node.args[0]) if len(node.args) == 1 else unknown()
        token = ast.unparse(node.func)
        self._floating.add(token)
        shape = inner.shape if kind in torch_ops.SHAPE_PRESERVING_MODULES else UNKNOWN
        return AbstractValue(shape, frozenset({token}), risk="unsafe")

    def _operator(self, name: str, node: ast.Call, arguments: list[ast.expr]) -> AbstractValue:
        """Return the result of a function or a method; the tensor is the first argument."""
        if not arguments:
            return unknown()
        first = self.read(arguments[0])
        rest = [self.read(each) for each in arguments[1:]]
        keywords = {each.arg: self.read(each.value) for each in node.keywords}
        if name in torch_ops.METADATA_METHODS:
            return python_value("int", first.risk)
        if name in torch_ops.READ_AS_PYTHON:
            return python_value("int", "unsafe")
        if not first.is_tensor or _UNSUPPORTED_KEYWORDS & set(keywords):
            return unknown()
        if name in torch_ops.FLOAT_ONLY:
            self._note_floating(first)
            if not self._is_float(first):
                first = at_least(first, "unsafe")
        if name in torch_ops.REDUCTIONS:
            return self._reduction(name, node, first, arguments[1:])
        if name in torch_ops.COMPARISONS:
            return comparison([first, *rest])
        if name in torch_ops.BINARY and len(rest) == 1:
            is_product = name in torch_ops.PRODUCTS and rest[0].is_tensor
            alpha = [value for value in keywords.values() if value.plain]
            if len(alpha) != len(keywords):
                return unknown()
            both = joined([first, *rest, *alpha])
            return at_least(both, "safe_if_finite") if is_product else both
        if name == "where" and len(arguments) == 3:
            value = self._either(arguments[0], arguments[1], arguments[2])
            return at_least(replace(value, alias=False), first.risk)
        if name in torch_ops.UNBOUNDED_GRADIENT:
            return with_unbounded_gradient(with_float(first), _source_of(node))
        if any(isinstance(each, ast.Constant) and each.value is True for each in arguments[1:]):
            # `F.relu(x, True)` mutates x.
            return unknown()
        return self._elementwise(name, first, [*rest, *keywords.values()])

    def _elementwise(
        self, name: str, first: AbstractValue, extra: list[AbstractValue]
    ) -> AbstractValue:
        """Return the result of an operator that computes each element from one element."""
        if not all(value.plain for value in extra):
            return self._cast(name, first)
        alias = first.alias and name in torch_ops.MAY_ALIAS
        if name in torch_ops.LINEAR:
            if name.endswith("_like"):
                return replace(first, unbounded_gradient_ops=NONE, alias=False)
            if name == "detach":
                return replace(first, unbounded_gradient_ops=NONE)
            return replace(joined([first, *extra]), alias=alias)
        if name in torch_ops.SAFE_IF_FINITE:
            return at_least(with_float(first), "safe_if_finite")
        return self._cast(name, first)

    def _cast(self, name: str, first: AbstractValue) -> AbstractValue:
        """Return the result of a cast such as `x.float()`; an unknown shape for other operators."""
        if name in torch_ops.FLOAT_CASTS:
            dtype = frozenset({name})
            self._floating |= dtype
            return AbstractValue(
                first.shape,
                dtype,
                risk=first.risk,
                unbounded_gradient_ops=first.unbounded_gradient_ops,
                alias=True,
            )
        if name in torch_ops.INTEGER_CASTS or name == "bool":
            return AbstractValue(first.shape, frozenset({name}), risk=first.risk, alias=True)
        result = replace(unknown(), unbounded_gradient_ops=first.unbounded_gradient_ops)
        if name in torch_ops.CHANGE_DTYPE:
            return result
        return replace(result, dtype=first.dtype, numbers=first.numbers)

    def _reduction(
        self, name: str, node: ast.Call, first: AbstractValue, rest: list[ast.expr]
    ) -> AbstractValue:
        """Return the result of an operator that removes dimensions."""
        if self._certain and name in torch_ops.NEED_ELEMENTS:
            self._filled |= first.shape
        keywords = {each.arg: each.value for each in node.keywords}
        dtype = BOOL if name in torch_ops.BOOLEAN_REDUCTIONS else first.dtype
        is_safe = name in torch_ops.SAFE_REDUCTIONS or (
            name in torch_ops.NEED_ELEMENTS and first.shape <= self._filled
        )
        risk: Risk = first.risk if is_safe else "unsafe"
        numbers = first.numbers if dtype is not BOOL else NONE
        unbounded_gradient_ops = first.unbounded_gradient_ops if dtype is not BOOL else NONE
        if name in torch_ops.INTEGER_REDUCTIONS:
            dtype, numbers = frozenset({"long"}), NONE
        if name in torch_ops.INTEGER_SUMS and not self._is_float(first):
            # The sum of integers is int64, whatever their dtype is.
            dtype = frozenset({f"sum of {each}" for each in first.dtype})
        value = AbstractValue(NONE, dtype, numbers, risk, unbounded_gradient_ops)
        is_norm = name == "norm" and set(keywords) <= {"p"} and len(rest) < 2
        if not (rest or keywords) or is_norm:
            return value
        keepdim = keywords.get("keepdim")
        if isinstance(keepdim, ast.Constant) and keepdim.value is True and len(first.shape) == 1:
            dim = keywords.get("dim") or (rest[0] if rest else None)
            shape = frozenset(f"{each.removesuffix('~')}~" for each in first.shape)
            # Other dimensions may not exist.
            exists = dim is not None and ast.unparse(dim) in ("-1", "0")
            return replace(value, shape=shape, risk=risk if exists else "unsafe")
        rest_of_shape = f"{ast.unparse(node)} of {sorted(first.shape)}"
        return replace(value, shape=frozenset({rest_of_shape}))

    def _is_float(self, value: AbstractValue) -> bool:
        return self.is_floating(value.dtype) or "float" in value.numbers


def _source_of(node: ast.expr) -> str:
    """Return a string that identifies an operator of the function."""
    return f"{ast.unparse(node)} in line {getattr(node, 'lineno', 0)}"


def _is_nonzero(node: ast.expr) -> bool:
    """Check for a constant other than zero."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, int | float):
        return False
    return bool(node.value)


def _is_small_power(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (1, 2, 3, 4)
