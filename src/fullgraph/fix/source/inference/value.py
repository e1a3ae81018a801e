"""AbstractValue: shape, dtype, aliasing and gradient risk of an expression at one statement.

The shape and the dtype of an input are unknown, so an abstract value names the tensors that they
come from: `x + y` has the shapes {x, y} and the dtypes {x, y}.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Names = frozenset[str]
NONE: Names = frozenset()
# safe: computing the expression although its result is not used changes nothing.
# safe_if_finite: the same, if the inputs are finite.
# unsafe: it may raise, be expensive, have side effects or produce NaN gradients.
Risk = Literal["safe", "safe_if_finite", "unsafe"]
RISKS: tuple[Risk, ...] = ("safe", "safe_if_finite", "unsafe")
BOOL = frozenset({"bool"})
UNKNOWN = frozenset({"?"})


class AbstractValue(Struct, frozen=True):
    """Properties of an expression, in terms of the tensors that it is computed from."""

    # The tensors whose shapes are broadcast. `x~` is a shape that broadcasts to the shape of x.
    shape: Names = NONE
    # The tensors whose dtypes are promoted, and the Python numbers that take part in it.
    dtype: Names = NONE
    numbers: Names = NONE
    risk: Risk = "safe"
    # The operators it was computed with whose gradient may be infinite. A gradient of zeros that
    # reaches one of them becomes NaN.
    unbounded_gradient_ops: Names = NONE
    # Whether it may be a tensor that another name refers to.
    alias: bool = False
    # Whether it is a Python number or another Python value.
    plain: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether it may be a tensor."""
        return bool(self.dtype) and not self.plain

    @property
    def is_bool(self) -> bool:
        """Whether it is a tensor of booleans."""
        return self.dtype == BOOL


def unknown() -> AbstractValue:
    """Return the value of an expression that the inference does not understand."""
    return AbstractValue(UNKNOWN, UNKNOWN, risk="unsafe", alias=True)


def python_value(number: str, risk: Risk = "safe") -> AbstractValue:
    """Return a Python value; `number` says how it takes part in type promotion.

    It is "int", "float", or a name that starts with "?" if that is not known.
    """
    return AbstractValue(numbers=frozenset({number}), plain=True, risk=risk)


def shape_of(names: Names) -> Names:
    """Return the shapes without those that broadcast to another one of them."""
    whole = {name for name in names if not name.endswith("~")}
    return frozenset(name for name in names if name.removesuffix("~") not in whole) | whole


def numbers_of(names: Names) -> Names:
    """Return the numbers that decide the dtype: floats first, then those of unknown type."""
    if "float" in names:
        return frozenset({"float"})
    untyped = frozenset(name for name in names if name.startswith("?"))
    return untyped or names


def joined(values: list[AbstractValue]) -> AbstractValue:
    """Return the result of an elementwise operator on these values."""
    shape: Names = frozenset().union(*(value.shape for value in values))
    dtype: Names = frozenset().union(*(value.dtype for value in values))
    numbers: Names = frozenset().union(*(value.numbers for value in values))
    return AbstractValue(
        shape=shape_of(shape),
        dtype=dtype - BOOL if len(dtype) > 1 else dtype,
        numbers=numbers_of(numbers),
        risk=max((value.risk for value in values), key=RISKS.index),
        unbounded_gradient_ops=frozenset().union(
            *(value.unbounded_gradient_ops for value in values)
        ),
        plain=all(value.plain for value in values),
    )


def comparison(values: list[AbstractValue]) -> AbstractValue:
    """Return the boolean result of comparing these values."""
    both = joined(values)
    risk: Risk = "unsafe" if both.risk == "unsafe" else "safe"
    if both.plain:
        return AbstractValue(plain=True, risk=risk)
    return AbstractValue(both.shape, BOOL, risk=risk)


def with_float(value: AbstractValue) -> AbstractValue:
    """Return the new floating point tensor that an operator computes from a value."""
    return replace(value, numbers=frozenset({"float"}), alias=False)


def with_unbounded_gradient(value: AbstractValue, operator: str) -> AbstractValue:
    """Return a value as the result of an operator whose gradient may be infinite."""
    return replace(
        at_least(value, "unsafe"), unbounded_gradient_ops=value.unbounded_gradient_ops | {operator}
    )


def at_least(value: AbstractValue, risk: Risk) -> AbstractValue:
    """Return a value with this risk, or with its own risk if that is higher."""
    return replace(value, risk=max(value.risk, risk, key=RISKS.index))
