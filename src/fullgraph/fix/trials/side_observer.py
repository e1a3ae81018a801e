"""Observes which sides of tests run, in functions with the edits of `observing_edits`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import torch

from fullgraph.fix.runtime.hot_patch import patch_functions
from fullgraph.fix.source.edits import FileEdits
from fullgraph.fix.source.rewritten_tests import LEFT, MASK, RIGHT, TEST


class Side(NamedTuple):
    """One side of a test: that it is true, or that it is false."""

    # The index of the test.
    test: int
    is_true: bool


class SideObserver:
    """What the functions with observing edits report: the sides that ran, and what was compared."""

    def __init__(self) -> None:
        self.sides: set[Side] = set()
        # By the number of the comparison; of several times, the last one.
        self.operands: dict[int, tuple[Any, Any]] = {}
        self._left: dict[int, Any] = {}

    def forget(self) -> None:
        """Forget what was reported, before another call."""
        self.sides, self.operands, self._left = set(), {}, {}

    @contextmanager
    def observing(self, files: list[FileEdits]) -> Iterator[None]:
        """Give the functions of some files their observing edits for a block."""
        names = {
            TEST: self._test,
            MASK: self._mask,
            LEFT: self._left_operand,
            RIGHT: self._right_operand,
        }
        for name, function in names.items():
            setattr(builtins, name, function)
        restore = patch_functions(files)
        try:
            yield
        finally:
            restore()
            for name in names:
                delattr(builtins, name)

    def _test(self, index: int, value: Any) -> Any:
        # The program raises the same error.
        with suppress(RuntimeError, TypeError, ValueError):
            self.sides.add(Side(index, bool(value)))
        return value

    def _mask(self, index: int, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype == torch.bool:
            for is_true in (True, False):
                if bool((value == is_true).any()):
                    self.sides.add(Side(index, is_true))
        return value

    def _left_operand(self, number: int, value: Any) -> Any:
        self._left[number] = value
        return value

    def _right_operand(self, number: int, value: Any) -> Any:
        self.operands[number] = (self._left.get(number), value)
        return value
