"""Equal outcomes: values of any kind are compared by their content."""

from __future__ import annotations

import ast
import datetime
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch.testing._internal.two_tensor import TwoTensor

import fullgraph.outcomes
from fullgraph.outcomes.compare import compare_outcomes
from fullgraph.outcomes.observe import capture_output, observe_call


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


@dataclass
class Cached:
    value: int
    cache: int = field(default=0, compare=False)


def problems(one: Callable[..., Any], other: Callable[..., Any], **how: Any) -> list[str]:
    outcomes = (observe_call(function, (torch.ones(2),), {}) for function in (one, other))
    return compare_outcomes(*outcomes, **{"exact": True, **how}).problems


@pytest.mark.parametrize(
    "make",
    [
        lambda n: numpy.array([1.0, n]),
        lambda n: numpy.array(["a", str(n)]),
        lambda n: numpy.float32(n),
        lambda n: torch.tensor([0.0, n]).to_sparse(),
        lambda n: torch.nested.nested_tensor([torch.ones(1), torch.full((2,), n)]),
        lambda n: torch.nested.nested_tensor(
            [torch.ones(1), torch.full((2,), n)], layout=torch.jagged
        ),
        lambda n: TwoTensor(torch.ones(1), torch.full((1,), n)),
        lambda n: deque([n]),
        lambda n: range(int(n)),
        lambda n: {int(n)},
        lambda n: datetime.timedelta(days=n),
        lambda n: Slotted(n),
        lambda n: Cached(n),
        lambda n: torch.device("cpu", int(n)),
    ],
)
def test_another_value_of_any_kind_is_a_difference(make: Callable[[float], Any]) -> None:
    assert problems(lambda x: make(2.0), lambda x: make(2.0)) == []
    assert problems(lambda x: make(2.0), lambda x: make(3.0))


def test_a_field_that_its_class_does_not_compare_is_no_difference() -> None:
    assert problems(lambda x: Cached(1, 2), lambda x: Cached(1, 3)) == []


def test_a_mutated_input_is_a_difference() -> None:
    assert "inputs" in problems(lambda x: x + 1, lambda x: x.add_(1))[0]


def test_how_much_of_an_exception_must_be_equal() -> None:
    def raises(kind: type[Exception], message: str) -> Callable[..., Any]:
        def function(x: torch.Tensor) -> Any:
            raise kind(message)

        return function

    first = raises(ValueError, "one")
    assert problems(first, raises(ValueError, "two"), same_error="type") == []
    assert problems(first, raises(ValueError, "two"))
    assert problems(first, raises(KeyError, "one"), same_error="type")
    assert problems(first, raises(KeyError, "two"), same_error="any") == []
    assert problems(first, lambda x: x, same_error="any")


def test_the_package_does_not_depend_on_fix() -> None:
    folder = Path(fullgraph.outcomes.__file__).parent
    imported = [
        node.module or ""
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom)
    ]
    assert not [name for name in imported if name.startswith("fullgraph.fix")]


def test_observing_a_call_does_not_switch_the_trace_of_torch_on() -> None:
    # Torch writes a trace of each compile, which is slow, as soon as this logger has a handler.
    trace = logging.getLogger("torch.__trace")
    before = list(trace.handlers)
    with capture_output() as output:
        assert trace.handlers == before
        logging.getLogger("mine").warning("heard")
    assert output == ["log WARNING: heard"]
