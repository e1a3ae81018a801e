"""Generated programs: their text, and what their function takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# What an argument is, as programs are written: other forms of it are inputs to try.
Kind = Literal["float", "integer", "mask", "number", "flag", "text"]


@dataclass(frozen=True)
class Argument:
    """A parameter of a generated function, and what it is usually called with."""

    name: str
    kind: Kind
    # Source of its usual value.
    value: str
    # Whether the function has a default for it.
    has_default: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether it is usually a tensor."""
        return self.kind in ("float", "integer", "mask")


@dataclass(frozen=True)
class Program:
    """A program in the format of the fixers' cases: `f`, `inputs()` and perhaps `more()`."""

    seed: int
    # The fixer whose shapes it is made of.
    fixer: str
    text: str
    arguments: tuple[Argument, ...]
    # Whether all fixers are asked; otherwise only that one is.
    all_fixers: bool = False


@dataclass
class Shape:
    """Code that a fixer matches: the body of a function, and what it needs around it."""

    arguments: list[Argument]
    # The lines of the function, which ends with a `return`.
    body: list[str]
    imports: list[str] = field(default_factory=list)
    # Statements of the module in front of the function.
    above: list[str] = field(default_factory=list)
    # Statements of `__init__`; the function is then a method.
    init: list[str] = field(default_factory=list)
    # Sources of further tuples of arguments that the program calls its function with.
    more: list[str] = field(default_factory=list)
    # Whether the result is one tensor, so that a caller can compute with it.
    returns_tensor: bool = True
    # Expressions that a caller in front of the function may use for an exception of it.
    raises: tuple[str, ...] = ("ValueError", "RuntimeError", "Exception")
    # Whether other functions may call the function.
    callers: bool = True
    # Whether the function may count its calls.
    counts: bool = True
    gradients: bool = True
