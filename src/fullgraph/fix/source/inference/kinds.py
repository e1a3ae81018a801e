"""What an expression is at every point of a function: a tensor, a mask, an index, a number.

The answer does not depend on the order of statements. A name has a kind if all values that the
function binds to it have that kind. A kind that the source does not show is not claimed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from msgspec import Struct
from msgspec.structs import replace

from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.inference.bindings import Bindings
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.names import qualified_name

_ARITHMETIC = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Mod
_KEEPS_SIGN = ast.Add | ast.Mult | ast.Div | ast.FloorDiv
COMPARES = ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE
# Methods of Python's containers and strings.
_CONTAINER_METHODS = frozenset(
    ("append", "count", "format", "get", "index", "items", "keys", "pop", "values")
)
_NOT_TENSORS = torch_ops.NOT_TENSORS | _CONTAINER_METHODS
# Without a dimension they return a tuple.
_NEED_DIMENSION = ("size", "stride")


class Kind(Struct, frozen=True):
    """Properties of an expression. False means that the source does not show it."""

    tensor: bool = False
    # A tensor of booleans, provided that it is a tensor.
    boolean: bool = False
    # A tensor of integers.
    integer: bool = False
    # A 0-d tensor that selects one element. The result of `any` does not, it is a mask.
    index: bool = False
    # A 0-d tensor that nothing else refers to.
    fresh_scalar: bool = False
    # A Python number, and one that is zero or more.
    number: bool = False
    nonnegative: bool = False
    # The size of a tensor: `x.shape` or a slice of it.
    shape: bool = False


UNKNOWN = Kind()
# The start of the inference: everything that no binding contradicts.
_ANY = Kind(**dict.fromkeys(Kind.__struct_fields__, True))
_SIZE = Kind(number=True, nonnegative=True)


def common_kind(kinds: Iterable[Kind]) -> Kind:
    """Return the properties that all kinds have."""
    found = list(kinds)
    return Kind(**{n: all(getattr(k, n) for k in found) for n in Kind.__struct_fields__})


class KindInference:
    """Infers the kinds of the expressions in one function.

    `numbers` are names to take for Python numbers. With `hints`, a name is a tensor if the function
    uses it like one (`x.view(...)`), although a caller could pass another object.
    """

    def __init__(
        self, scope: Scope, numbers: Set[str] = frozenset(), *, hints: bool = True
    ) -> None:
        self._scope = scope
        self._bindings = Bindings(scope.function)
        self._numbers = numbers
        self._hinted = _names_used_like_tensors(scope) if hints else frozenset()
        self._has_hints = hints
        self._names: dict[str, Kind] = {}
        self._infer_names()

    def kind_of(self, node: ast.expr) -> Kind:
        """Return what is known about an expression."""
        match node:
            case ast.Name(id=name):
                return self._names.get(name, UNKNOWN)
            case ast.Constant(value=int() | float() as value):
                return Kind(number=True, nonnegative=value >= 0)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(value=owner, slice=part):
                return self._element(self.kind_of(owner), part)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert() as op, operand=operand):
                return self._unary(op, self.kind_of(operand))
            case ast.BinOp():
                return self._arithmetic(node)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, COMPARES):
                is_tensor = self.kind_of(left).tensor or self.kind_of(right).tensor
                return Kind(tensor=is_tensor, boolean=True)
            case ast.Call():
                return self._call(node)
        return UNKNOWN

    # Names

    def _infer_names(self) -> None:
        """Infer the kinds of all names.

        The value of an argument at the start of the function is unknown. An argument that the
        function binds again has the properties that one of the new values shows by itself, as long
        as all new values have them.
        """
        self._solve({})
        self._solve({name: self._shown_kind(name) for name in self._bindings.arguments})

    def _solve(self, arguments: dict[str, Kind]) -> None:
        """Start with all possible properties, and remove those that a binding contradicts."""
        bound = self._bindings.names()
        local = dict.fromkeys(bound - self._bindings.arguments, _ANY)
        rebound = {name: kind for name, kind in arguments.items() if kind != UNKNOWN}
        inferred = (set(local) | set(rebound)) - self._numbers
        hinted = {name: Kind(tensor=self._is_hinted(name)) for name in bound | self._hinted}
        numbers = {name: Kind(number=True) for name in self._numbers}
        self._names = hinted | local | rebound | numbers
        changed = True
        while changed:
            new = {name: self._kind_of_name(name) for name in inferred}
            changed = any(self._names[name] != kind for name, kind in new.items())
            self._names |= new

    def _kind_of_name(self, name: str) -> Kind:
        """Return the properties of a name that all its values have."""
        values = self._bindings.values(name)
        kinds = [UNKNOWN if value is None else self.kind_of(value) for value in values]
        kind = common_kind([self._names[name], *kinds])
        if name in self._bindings.arguments:
            kind = Kind(tensor=kind.tensor, boolean=kind.boolean, index=kind.index)
        is_tensor = kind.tensor or self._is_hinted(name)
        return replace(kind, tensor=is_tensor, fresh_scalar=False)

    def _shown_kind(self, argument: str) -> Kind:
        """Return the properties that some new value of an argument has."""
        kinds = [self.kind_of(value) for value in self._bindings.values(argument) if value]
        return Kind(**{n: any(getattr(k, n) for k in kinds) for n in Kind.__struct_fields__})

    def _is_hinted(self, name: str) -> bool:
        values = self._bindings.values(name)
        if any(isinstance(value, ast.Constant) for value in values):
            return False
        is_annotated = self._scope.is_tensor_argument(name)
        return name in self._hinted or (is_annotated and (self._has_hints or not values))

    # Expressions

    def _attribute(self, node: ast.Attribute) -> Kind:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return Kind(tensor=node.attr in self._scope.tensor_attributes)
        if self._is_module(node.value):
            return UNKNOWN
        if node.attr == "shape":
            return Kind(shape=True)
        if node.attr in torch_ops.SIZE_ATTRIBUTES:
            return _SIZE
        is_view = node.attr in torch_ops.VIEW_ATTRIBUTES
        return Kind(tensor=is_view and self.kind_of(node.value).tensor)

    def _element(self, owner: Kind, part: ast.expr) -> Kind:
        if owner.shape and isinstance(part, ast.Slice):
            return Kind(shape=True, tensor=owner.tensor)
        if owner.shape and not isinstance(part, ast.Tuple):
            return replace(_SIZE, tensor=owner.tensor)
        return Kind(tensor=owner.tensor)

    def _unary(self, op: ast.unaryop, operand: Kind) -> Kind:
        if isinstance(op, ast.Invert):
            return Kind(tensor=operand.tensor, boolean=operand.boolean)
        return Kind(tensor=operand.tensor, number=operand.number)

    def _arithmetic(self, node: ast.BinOp) -> Kind:
        if any(_is_string(side) for side in (node.left, node.right)):
            return UNKNOWN
        left, right = self.kind_of(node.left), self.kind_of(node.right)
        shifts = isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.right, ast.Constant)
        both = common_kind([left, right])
        return Kind(
            tensor=left.tensor or right.tensor,
            boolean=isinstance(node.op, ast.BitAnd | ast.BitOr) and both.boolean,
            index=left.index and shifts,
            number=isinstance(node.op, _ARITHMETIC) and both.number,
            nonnegative=isinstance(node.op, _KEEPS_SIGN) and both.nonnegative,
        )

    # Calls

    def _call(self, node: ast.Call) -> Kind:
        name = self._scope.torch_name(node.func)
        if name:
            is_bare = len(node.args) == 1 and not node.keywords
            return replace(_result_of(name, is_bare), tensor=name not in _NOT_TENSORS)
        match node.func:
            case ast.Name(id="len") if len(node.args) == 1:
                return _SIZE
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                return Kind(tensor=self._scope.returns_tensor(attribute))
            case ast.Attribute(value=owner, attr=method) if not self._is_module(owner):
                return self._method(method, node, self.kind_of(owner))
        return UNKNOWN

    def _method(self, name: str, node: ast.Call, owner: Kind) -> Kind:
        is_bare = not node.args and not node.keywords
        if name == "size" and is_bare:
            return Kind(shape=True)
        if name in torch_ops.SIZE_METHODS and (node.args or name not in _NEED_DIMENSION):
            return _SIZE
        kind = _result_of(name, is_bare)
        counts = name == "sum" and is_bare and (owner.boolean or owner.integer)
        is_tensor = name not in _NOT_TENSORS and (owner.tensor or name in torch_ops.LAYOUT)
        return replace(kind, tensor=is_tensor, integer=kind.integer or counts)

    def _is_module(self, node: ast.expr) -> bool:
        """Check whether an expression is an imported module or a part of one: `np.linalg`."""
        name = qualified_name(node, {})
        return name.partition(".")[0] in self._scope.imports


def _result_of(operator: str, is_bare: bool) -> Kind:
    """Return the kind of an operator's result; `is_bare` if the tensor is the only argument."""
    is_scalar = is_bare and operator in torch_ops.FULL_REDUCTIONS
    return Kind(
        boolean=operator in torch_ops.BOOLEAN,
        integer=operator in torch_ops.INTEGER_REDUCTIONS or operator == "long",
        index=is_scalar and operator not in torch_ops.BOOLEAN_REDUCTIONS,
        fresh_scalar=is_scalar,
    )


def _names_used_like_tensors(scope: Scope) -> frozenset[str]:
    """Return the names with attributes that tensors have: `x` for `x.view(...)`."""
    return frozenset(
        node.value.id
        for node in ast.walk(scope.function)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in torch_ops.TENSOR_HINTS
        and node.value.id not in ("self", *scope.imports)
    )


def _is_string(node: ast.expr) -> bool:
    is_literal = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_literal or isinstance(node, ast.JoinedStr)
