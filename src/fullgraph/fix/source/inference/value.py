"""What reading tells of an expression: see `values.py`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Names = frozenset[str]
NONE: Names = frozenset()
# harmless: it may be computed though nobody wants it. smooth: the same, if its input is finite.
# risky: it may raise, cost much, do something, or make gradients that are not numbers.
Risk = Literal["harmless", "smooth", "risky"]
RISKS: tuple[Risk, ...] = ("harmless", "smooth", "risky")
BOOL = frozenset({"bool"})
UNKNOWN = frozenset({"?"})


class Value(Struct, frozen=True):
    """What an expression is, by the tensors that it is made of."""

    # Tensors whose shapes are broadcast; `x~` is a shape that fits into that of x.
    shape: Names = NONE
    # Tensors whose types are promoted, and the numbers of Python that take part.
    dtype: Names = NONE
    numbers: Names = NONE
    risk: Risk = "harmless"
    # The operators in its history whose gradient may be infinite: a gradient of zeros that reaches
    # one of them is not a number any more.
    steep: Names = NONE
    # It is, or may be, a tensor that has another name as well.
    alias: bool = False
    # It is a number of Python.
    plain: bool = False

    @property
    def is_tensor(self) -> bool:
        return bool(self.dtype) and not self.plain

    @property
    def is_bool(self) -> bool:
        return self.dtype == BOOL


def unknown() -> Value:
    return Value(UNKNOWN, UNKNOWN, risk="risky", alias=True)


def shape_of(names: Names) -> Names:
    """What fits into a shape that takes part anyway makes no difference."""
    whole = {name for name in names if not name.endswith("~")}
    return frozenset(name for name in names if name.removesuffix("~") not in whole) | whole


def numbers_of(names: Names) -> Names:
    """A float decides; what is not known decides over whole numbers."""
    if "float" in names:
        return frozenset({"float"})
    open_ones = frozenset(name for name in names if name.startswith("?"))
    return open_ones or names


def joined(values: list[Value]) -> Value:
    shape: Names = frozenset().union(*(value.shape for value in values))
    dtype: Names = frozenset().union(*(value.dtype for value in values))
    numbers: Names = frozenset().union(*(value.numbers for value in values))
    return Value(
        shape=shape_of(shape),
        dtype=dtype - BOOL if len(dtype) > 1 else dtype,
        numbers=numbers_of(numbers),
        risk=max((value.risk for value in values), key=RISKS.index),
        steep=frozenset().union(*(value.steep for value in values)),
        plain=all(value.plain for value in values),
    )


def compared(values: list[Value]) -> Value:
    both = joined(values)
    risk: Risk = "risky" if both.risk == "risky" else "harmless"
    if both.plain:
        return Value(plain=True, risk=risk)
    return Value(both.shape, BOOL, risk=risk)


def with_float(value: Value) -> Value:
    return replace(value, numbers=frozenset({"float"}), alias=False)


def steeper(value: Value, operator: str) -> Value:
    """The result of an operator whose gradient may be infinite."""
    return replace(at_least(value, "risky"), steep=value.steep | {operator})


def at_least(value: Value, risk: Risk) -> Value:
    return replace(value, risk=max(value.risk, risk, key=RISKS.index))
