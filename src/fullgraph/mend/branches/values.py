"""Shapes and types of expressions, as far as reading tells them.

Nothing is known of a tensor that comes in, but two expressions made of the same tensors have the
same shape and type, if the operators are the right ones: `x + 1` and `x * 2` have, `x` and
`x * 0.5` have it if `x` is floating, `x + y` and `x` need not. A value is such an account.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from fullgraph.mend.branches import operations
from fullgraph.mend.branches.flow import always_bound, computed_by, path_to
from fullgraph.mend.branches.scope import Scope, self_attribute
from fullgraph.mend.branches.value import (
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
    unknown,
    with_float,
)
from fullgraph.mend.names import stored_names

_COMPARING = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# Attributes of tensors that are no tensors.
_PLAIN = ("device", "dtype", "is_cuda", "itemsize", "ndim", "requires_grad", "training")
_OF_TENSORS = operations.REDUCTIONS | operations.COMPARISONS
_FLOATING_TYPES = ("float16", "bfloat16", "float32", "float64", "half", "float", "double")


class Reader:
    """Reads the statements of a function up to one of them, and then expressions in it."""

    def __init__(self, scope: Scope, statement: ast.stmt) -> None:
        self._scope = scope
        self._known: dict[str, Value] = {}
        # Tensors that must be floating, as something would have raised otherwise.
        self._floating: set[str] = set()
        # Tensors that must have elements, for the same reason.
        self._filled: set[str] = set()
        # Names that are tensors whoever calls the function.
        self._tensors: set[str] = set()
        # Expressions that are computed in any case.
        self._computed: set[str] = set()
        for body, number in path_to(scope.function, statement):
            for before in body[:number]:
                self._pass(before)
            if isinstance(body[number], ast.For | ast.While | ast.Try):
                # What is in there may have run already, or in part.
                self._forget(body[number])
                self._tensors -= stored_names(body[number])

    def computed(self, *expressions: ast.expr) -> None:
        """Expressions that the program computes at this place anyway."""
        for expression in expressions:
            self._learn(expression)
            self._computed |= {
                ast.dump(each) for each in ast.walk(expression) if isinstance(each, ast.expr)
            }

    def assume(self, name: str, value: Value) -> None:
        """A name that is bound here, in front of the place."""
        self._known[name] = replace(value, risk="harmless")

    def same(self, one: Value, other: Value) -> bool:
        """Whether both have the same shape and type."""
        if not one.is_tensor or not other.is_tensor or UNKNOWN & (one.shape | one.dtype):
            return False
        if shape_of(one.shape) != shape_of(other.shape) or one.dtype != other.dtype:
            return False
        return one.numbers == other.numbers or self.is_floating(one.dtype)

    def is_floating(self, tensors: Names) -> bool:
        return bool(tensors & self._floating)

    def is_surely_tensor(self, node: ast.expr) -> bool:
        """Whether it is a tensor whoever calls the function: some operator of torch says so."""
        for each in ast.walk(node):
            match each:
                case ast.Name(id=name) if name in self._tensors:
                    return True
                case ast.Name(id=name) if self._scope.is_tensor_argument(name):
                    return name not in self._known
                case ast.Attribute() if self_attribute(each) in self._scope.buffers:
                    return True
                case ast.Call(func=func) if self._scope.torch_name(func):
                    return True
                case ast.Call(func=ast.Attribute(attr=name)) if name in _OF_TENSORS:
                    return True
        return False

    def torch_name(self, function: ast.expr) -> str:
        return self._scope.torch_name(function)

    def is_bound(self, name: str) -> bool:
        """Whether a name has a value here, on every way to get here."""
        return name in self._known or name in self._scope.arguments

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

    def _learn(self, expression: ast.expr) -> None:
        """What must be true of tensors, as the expression is computed and raises nothing."""
        self.read(expression)
        for node in ast.walk(expression):
            match node:
                case ast.Call(func=ast.Attribute(value=tensor, attr=name), args=args):
                    from_torch = bool(self._scope.torch_name(node.func))
                    tensor = args[0] if from_torch and args else tensor
                    if name in operations.NEED_ELEMENTS:
                        self._filled |= self.read(tensor).shape

    # Statements

    def _pass(self, statement: ast.stmt) -> None:
        for expression in computed_by(statement):
            self._learn(expression)
        self._note_tensors(statement)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._known[name] = self._named(name, statement, self.read(value))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._known[name] = self._named(name, statement, self.read(value))
            case _:
                self._forget(statement)

    def _note_tensors(self, statement: ast.stmt) -> None:
        """Names that are bound to what is surely a tensor."""
        self._tensors -= stored_names(statement)
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if self.read(value).is_tensor and self.is_surely_tensor(value):
                    self._tensors.add(name)

    def _named(self, name: str, statement: ast.stmt, value: Value) -> Value:
        """What is not understood is a tensor of its own, which is there already."""
        token = frozenset({f"{name}@{statement.lineno}"})
        if value.plain:
            return replace(value, risk="harmless")
        if UNKNOWN & value.dtype:
            return Value(token if UNKNOWN & value.shape else value.shape, token, alias=True)
        shape = token if UNKNOWN & value.shape else value.shape
        return replace(value, shape=shape, risk="harmless")

    def _forget(self, statement: ast.stmt) -> None:
        """Names that it may bind are bound to something else from now on."""
        sure = always_bound(statement)
        for name in stored_names(statement):
            if name in sure or self.is_bound(name):
                token = frozenset({f"{name}@{statement.lineno}"})
                self._known[name] = Value(token, token, alias=True)

    # Expressions

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
            case ast.BoolOp(values=values):
                return compared([self.read(value) for value in values])
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
        if node.attr in ("max", "min", "eps", "tiny") and self._is_type_info(node.value):
            return Value(numbers=frozenset({"float"}), plain=True)
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

    def _is_type_info(self, node: ast.expr) -> bool:
        """`torch.finfo(x.dtype)`, which raises if x is not floating."""
        match node:
            case ast.Call(func=func, args=[argument]) if self._scope.torch_name(func) == "finfo":
                if isinstance(argument, ast.Attribute) and argument.attr == "dtype":
                    self._floating |= self.read(argument.value).dtype
                return True
        return False

    def _subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            if isinstance(node.slice, ast.Slice):
                return unknown()
            return Value(numbers=frozenset({"int"}), plain=True)
        inner = self.read(node.value)
        return Value(UNKNOWN, inner.dtype, inner.numbers, "risky", alias=True)

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
                risk: Risk = "harmless" if _is_nonzero(node.right) else "risky"
                return at_least(with_float(both), risk)
            case ast.Pow():
                is_whole = isinstance(node.right, ast.Constant) and node.right.value in (1, 2, 3, 4)
                return at_least(both, "smooth" if is_whole else "risky")
            case ast.BitAnd() | ast.BitOr() | ast.BitXor():
                return both
            case ast.FloorDiv() | ast.Mod():
                return at_least(both, "harmless" if _is_nonzero(node.right) else "risky")
        return replace(both, shape=UNKNOWN, risk="risky")

    def _either(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Value:
        one, other = self.read(body), self.read(orelse)
        if not self.same(one, other):
            return unknown()
        worst = max(one.risk, other.risk, self.read(test).risk, key=RISKS.index)
        return replace(one, risk=worst, alias=one.alias or other.alias)

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
            return self._operator(node.func.attr, node, [node.func.value, *node.args])
        if isinstance(node.func, ast.Name) and node.func.id in ("len", "int"):
            return Value(numbers=frozenset({"int"}), plain=True, risk="risky")
        if isinstance(node.func, ast.Name) and node.func.id == "float":
            return Value(numbers=frozenset({"float"}), plain=True, risk="risky")
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
        if name in operations.FLOAT_ONLY and len(first.dtype) == 1 and not first.numbers:
            self._floating |= first.dtype
        if name in ("size", "numel", "dim", "item", "tolist", "nelement"):
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
                return replace(first, alias=False)
            return replace(joined([first, *extra]), alias=alias)
        if name in operations.SMOOTH:
            return at_least(with_float(first), "smooth")
        if name in operations.STEEP:
            return at_least(with_float(first), "risky")
        return self._cast(name, first)

    def _cast(self, name: str, first: Value) -> Value:
        if name in ("float", "double", "half", "bfloat16"):
            dtype = frozenset({name})
            self._floating |= dtype
            return Value(first.shape, dtype, risk=first.risk, alias=True)
        if name in ("long", "int", "bool"):
            return Value(first.shape, frozenset({name}), risk=first.risk, alias=True)
        return replace(unknown(), dtype=first.dtype, numbers=first.numbers)

    def _reduction(self, name: str, node: ast.Call, first: Value, rest: list[ast.expr]) -> Value:
        keywords = {each.arg: each.value for each in node.keywords}
        dtype = BOOL if name in operations.TRUTHS else first.dtype
        is_safe = name in operations.SAFE_REDUCTIONS or (
            name in operations.NEED_ELEMENTS and first.shape <= self._filled
        )
        risk: Risk = first.risk if is_safe else "risky"
        numbers = first.numbers if dtype is not BOOL else NONE
        if name in ("argmax", "argmin", "count_nonzero"):
            dtype, numbers = frozenset({"long"}), NONE
        if name in ("sum", "prod", "nansum") and not self._is_float(first):
            # Whole numbers are summed up as long ones, whatever they were.
            dtype = frozenset({f"sum of {each}" for each in first.dtype})
        if not (rest or keywords) or (name == "norm" and set(keywords) <= {"p"} and len(rest) < 2):
            return Value(NONE, dtype, numbers, risk)
        keeps = keywords.get("keepdim")
        if isinstance(keeps, ast.Constant) and keeps.value is True and len(first.shape) == 1:
            dim = keywords.get("dim") or (rest[0] if rest else None)
            fits = frozenset(f"{each.removesuffix('~')}~" for each in first.shape)
            is_there = dim is not None and ast.unparse(dim) in ("-1", "0")
            return Value(fits, dtype, numbers, risk if is_there else "risky")
        left = f"{ast.unparse(node)} of {sorted(first.shape)}"
        return Value(frozenset({left}), dtype, numbers, risk)

    def _is_float(self, value: Value) -> bool:
        return self.is_floating(value.dtype) or "float" in value.numbers


def _is_nonzero(node: ast.expr) -> bool:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, int | float):
        return False
    return bool(node.value)
