"""Shapes and types of expressions, as far as reading tells them.

Nothing is known of a tensor that comes in, but two expressions made of the same tensors have the
same shape and type, if the operators are the right ones: `x + 1` and `x * 2` have, `x` and
`x * 0.5` have it if `x` is floating, `x + y` and `x` need not. A value is such an account.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from fullgraph.fix.source import torch_ops as operations
from fullgraph.fix.source.inference.scope import Scope, self_attribute
from fullgraph.fix.source.inference.value import (
    BOOL,
    NONE,
    RISKS,
    UNKNOWN,
    Names,
    Risk,
    Value,
    at_least,
    compared,
    joined,
    shape_of,
    steeper,
    unknown,
    with_float,
)

_COMPARING = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# Builtins whose result is no tensor.
_PLAIN_CALLS = ("all", "any", "callable", "float", "hasattr", "int", "isinstance", "len", "str")
# Attributes of tensors that are no tensors.
_PLAIN = ("device", "dtype", "is_cuda", "itemsize", "ndim", "requires_grad", "training")


class Expressions:
    """Reads expressions, with what is known of the names in them."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._known: dict[str, Value] = {}
        # Whether what is read now is computed in any case, so that it would have raised.
        self._certain = False
        # Tensors that must be floating, as something would have raised otherwise.
        self._floating: set[str] = set()
        # Tensors that must have elements, for the same reason.
        self._filled: set[str] = set()
        # Expressions that are computed in any case.
        self._computed: set[str] = set()

    def same(self, one: Value, other: Value) -> bool:
        """Whether both have the same shape and type."""
        if not one.is_tensor or not other.is_tensor or UNKNOWN & (one.shape | one.dtype):
            return False
        if shape_of(one.shape) != shape_of(other.shape) or one.dtype != other.dtype:
            return False
        return one.numbers == other.numbers or self.is_floating(one.dtype)

    def is_floating(self, tensors: Names) -> bool:
        return bool(tensors & self._floating)

    def torch_name(self, function: ast.expr) -> str:
        return self._scope.torch_name(function)

    def read(self, node: ast.expr) -> Value:
        value = self._read(node)
        if value.risk == "risky" and ast.dump(node) in self._computed:
            return replace(value, risk="harmless")
        return value

    def _read(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool()):
                return Value(plain=True)
            case ast.Constant(value=int()):
                return Value(numbers=frozenset({"int"}), plain=True)
            case ast.Constant(value=float()):
                return Value(numbers=frozenset({"float"}), plain=True)
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                return replace(self.read(operand), alias=False)
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Compare(ops=[op]) if isinstance(op, _COMPARING):
                return compared([self.read(node.left), self.read(node.comparators[0])])
            case ast.BoolOp(values=[first, *rest]):
                return compared([self.read(first), *map(self._perhaps, rest)])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return compared([self.read(operand)])
            case ast.IfExp(body=body, orelse=orelse):
                return self._either(node.test, body, orelse)
            case ast.Call():
                return self._call(node)
        return unknown()

    def _name(self, name: str) -> Value:
        if name in self._known:
            return self._known[name]
        token = frozenset({name})
        if self._scope.is_number_argument(name):
            return Value(numbers=frozenset({f"?{name}"}), plain=True)
        if self._scope.is_floating_argument(name):
            self._floating.add(name)
        return Value(token, token, alias=True)

    def _attribute(self, node: ast.Attribute) -> Value:
        name = self_attribute(node)
        text = ast.unparse(node)
        limit = self._type_limit(node.value)
        if limit is not None:
            return limit
        if node.attr in _PLAIN or text.startswith("torch."):
            return Value(numbers=frozenset({"int"}), plain=True)
        if name and self._scope.is_number_attribute(name):
            return Value(numbers=frozenset({f"?{text}"}), plain=True)
        if name:
            is_single = name in self._scope.single_buffers
            return Value(NONE if is_single else frozenset({text}), frozenset({text}), alias=True)
        if text.startswith("self.config."):
            return Value(numbers=frozenset({f"?{text}"}), plain=True)
        return unknown()

    def _type_limit(self, node: ast.expr) -> Value | None:
        """`torch.finfo(x.dtype)`, which raises if x is not floating."""
        match node:
            case ast.Call(func=func, args=[argument]) if self.torch_name(func) == "finfo":
                found = Value(numbers=frozenset({"float"}), plain=True)
                if not isinstance(argument, ast.Attribute) or argument.attr != "dtype":
                    return found
                tensor = self.read(argument.value)
                self._note_floating(tensor)
                return found if self._is_float(tensor) else at_least(found, "risky")
        return None

    def _note_floating(self, value: Value) -> None:
        if self._certain and len(value.dtype) == 1 and not value.numbers:
            self._floating |= value.dtype

    def _subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            if isinstance(node.slice, ast.Slice):
                return unknown()
            return Value(numbers=frozenset({"int"}), plain=True)
        inner = self.read(node.value)
        return Value(UNKNOWN, inner.dtype, inner.numbers, "risky", inner.steep, alias=True)

    def _arithmetic(self, node: ast.BinOp) -> Value:
        left, right = self.read(node.left), self.read(node.right)
        both = joined([left, right])
        match node.op:
            case ast.Add() | ast.Sub():
                return both
            case ast.Mult():
                # The gradient of one factor is the other factor.
                is_product = left.is_tensor and right.is_tensor
                return at_least(both, "smooth") if is_product else both
            case ast.Div():
                quotient = with_float(both)
                return quotient if _is_nonzero(node.right) else steeper(quotient, _mark(node))
            case ast.Pow():
                is_whole = isinstance(node.right, ast.Constant) and node.right.value in (1, 2, 3, 4)
                return at_least(both, "smooth") if is_whole else steeper(both, _mark(node))
            case ast.BitAnd() | ast.BitOr() | ast.BitXor():
                return both
            case ast.Mod() if _is_nonzero(node.right):
                return both
        return replace(both, shape=UNKNOWN, risk="risky")

    def _perhaps(self, node: ast.expr) -> Value:
        """An expression that need not be computed."""
        before, self._certain = self._certain, False
        value = self.read(node)
        self._certain = before
        return value

    def _either(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Value:
        one, other = self._perhaps(body), self._perhaps(orelse)
        if not self.same(one, other):
            return unknown()
        worst = max(one.risk, other.risk, self.read(test).risk, key=RISKS.index)
        steep = one.steep | other.steep
        return replace(one, risk=worst, steep=steep, alias=one.alias or other.alias)

    # Calls

    def _call(self, node: ast.Call) -> Value:
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
        if isinstance(node.func, ast.Name) and node.func.id in _PLAIN_CALLS:
            number = "float" if node.func.id == "float" else "int"
            return Value(numbers=frozenset({number}), plain=True, risk="risky")
        return unknown()

    def _module(self, kind: str, node: ast.Call) -> Value:
        """A module of torch: costly, but its result is floating."""
        inner = self.read(node.args[0]) if len(node.args) == 1 else unknown()
        token = ast.unparse(node.func)
        self._floating.add(token)
        shape = inner.shape if kind in operations.SHAPELESS else UNKNOWN
        return Value(shape, frozenset({token}), risk="risky")

    def _operator(self, name: str, node: ast.Call, arguments: list[ast.expr]) -> Value:
        """A function of torch or a method of a tensor; the tensor is the first argument."""
        if not arguments:
            return unknown()
        first = self.read(arguments[0])
        rest = [self.read(each) for each in arguments[1:]]
        keywords = {each.arg: self.read(each.value) for each in node.keywords}
        if name in operations.FLOAT_ONLY:
            self._note_floating(first)
            if not self._is_float(first):
                first = at_least(first, "risky")
        if name in operations.PLAIN:
            risk: Risk = "risky" if name in ("item", "tolist") else first.risk
            return Value(numbers=frozenset({"int"}), plain=True, risk=risk)
        if not first.is_tensor:
            return unknown()
        if name in operations.REDUCTIONS:
            return self._reduction(name, node, first, arguments[1:])
        if name in operations.COMPARISONS and name not in ("equal", "isin"):
            return compared([first, *rest])
        if name in operations.PAIRS and len(rest) == 1:
            product = name in ("mul", "multiply") and rest[0].is_tensor
            alpha = [value for value in keywords.values() if value.plain]
            if len(alpha) != len(keywords):
                return unknown()
            both = joined([first, *rest, *alpha])
            return at_least(both, "smooth") if product else both
        if name == "where" and len(arguments) == 3:
            value = self._either(arguments[0], arguments[1], arguments[2])
            return at_least(replace(value, alias=False), first.risk)
        if name in operations.STEEP:
            return steeper(with_float(first), _mark(node))
        return self._elementwise(name, first, rest, keywords)

    def _elementwise(
        self, name: str, first: Value, rest: list[Value], keywords: dict[str | None, Value]
    ) -> Value:
        extra = [*rest, *keywords.values()]
        if not all(value.plain for value in extra):
            return self._cast(name, first)
        alias = first.alias and name in operations.MAY_ALIAS
        if name in operations.LINEAR:
            if name.endswith("_like"):
                return replace(first, steep=NONE, alias=False)
            if name == "detach":
                return replace(first, steep=NONE)
            return replace(joined([first, *extra]), alias=alias)
        if name in operations.SMOOTH:
            return at_least(with_float(first), "smooth")
        return self._cast(name, first)

    def _cast(self, name: str, first: Value) -> Value:
        if name in ("float", "double", "half", "bfloat16"):
            dtype = frozenset({name})
            self._floating |= dtype
            return Value(first.shape, dtype, risk=first.risk, steep=first.steep, alias=True)
        if name in ("long", "int", "bool"):
            return Value(first.shape, frozenset({name}), risk=first.risk, alias=True)
        return replace(unknown(), dtype=first.dtype, numbers=first.numbers, steep=first.steep)

    def _reduction(self, name: str, node: ast.Call, first: Value, rest: list[ast.expr]) -> Value:
        if self._certain and name in operations.NEED_ELEMENTS:
            self._filled |= first.shape
        keywords = {each.arg: each.value for each in node.keywords}
        dtype = BOOL if name in operations.TRUTHS else first.dtype
        is_safe = name in operations.SAFE_REDUCTIONS or (
            name in operations.NEED_ELEMENTS and first.shape <= self._filled
        )
        risk: Risk = first.risk if is_safe else "risky"
        numbers = first.numbers if dtype is not BOOL else NONE
        steep = first.steep if dtype is not BOOL else NONE
        if name in ("argmax", "argmin", "count_nonzero"):
            dtype, numbers = frozenset({"long"}), NONE
        if name in ("sum", "prod", "nansum") and not self._is_float(first):
            # Whole numbers are summed up as long ones, whatever they were.
            dtype = frozenset({f"sum of {each}" for each in first.dtype})
        if not (rest or keywords) or (name == "norm" and set(keywords) <= {"p"} and len(rest) < 2):
            return Value(NONE, dtype, numbers, risk, steep)
        keeps = keywords.get("keepdim")
        if isinstance(keeps, ast.Constant) and keeps.value is True and len(first.shape) == 1:
            dim = keywords.get("dim") or (rest[0] if rest else None)
            fits = frozenset(f"{each.removesuffix('~')}~" for each in first.shape)
            is_there = dim is not None and ast.unparse(dim) in ("-1", "0")
            return Value(fits, dtype, numbers, risk if is_there else "risky", steep)
        left = f"{ast.unparse(node)} of {sorted(first.shape)}"
        return Value(frozenset({left}), dtype, numbers, risk, steep)

    def _is_float(self, value: Value) -> bool:
        return self.is_floating(value.dtype) or "float" in value.numbers


def _mark(node: ast.expr) -> str:
    return f"{ast.unparse(node)} in line {getattr(node, 'lineno', 0)}"


def _is_nonzero(node: ast.expr) -> bool:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, int | float):
        return False
    return bool(node.value)
