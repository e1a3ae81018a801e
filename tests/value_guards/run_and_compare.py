"""Runs a program in eager and compiled with value guards, call by call, and compares everything."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend

import fullgraph
from fullgraph.value_guards import GuardLog, value_guards

BACKENDS = ("eager", "aot_eager")
X = torch.arange(24.0).reshape(6, 4)


def ints(*numbers: Any, dtype: torch.dtype = torch.int64) -> Tensor:
    return torch.tensor(numbers, dtype=dtype)


def asserts(t: Tensor) -> Tensor:
    """Here, because pytest changes the asserts of test files."""
    assert t[0] > 0
    return X * t[0]


@dataclass
class Ran:
    """What came of the calls."""

    log: GuardLog
    graphs: int
    sites: int
    results: list[Any]


def run(
    program: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    backend: str = "eager",
    *,
    largest: int = 4096,
    most_variants: int = 8,
    **options: Any,
) -> Ran:
    """Every call is compared with eager, then all are made once more: nothing may be compiled."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(program, backend=counter, **options)
    results = []
    with (
        fullgraph.watch() as session,
        value_guards(largest=largest, most_variants=most_variants) as log,
    ):
        for call in calls:
            results.append(call_both(program, compiled, call))
        graphs = counter.frame_count
        for call in calls:
            call_both(program, compiled, call)
    assert counter.frame_count == graphs, "compiled again for values that it has seen"
    assert not [note for note in log.notes if "gave up" in note]
    return Ran(log, graphs, len(session.sites), results)


def call_both(program: Callable[..., Any], compiled: Callable[..., Any], call: Any) -> Any:
    """The compiled result, which is eager's, as are the arguments afterwards; or eager's error."""
    # One deepcopy of all arguments: those that share memory still do.
    expected_args, args = copy.deepcopy(call), copy.deepcopy(call)
    expected, error = _outcome(program, expected_args)
    result, compiled_error = _outcome(compiled, args)
    if error is not None:
        assert compiled_error is not None, f"eager raises {error!r}, compiled gives {result}"
        assert isinstance(compiled_error, type(error)), (error, compiled_error)
        return error
    assert compiled_error is None, repr(compiled_error)
    assert_same(result, expected)
    assert_same(args, expected_args)
    return result


def _outcome(program: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    try:
        return program(*args), None
    except Exception as error:
        return None, error


def assert_same(one: Any, other: Any) -> None:
    if isinstance(other, Tensor):
        assert isinstance(one, Tensor)
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
    elif isinstance(other, (tuple, list)):
        assert type(one) is type(other)
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    elif isinstance(other, dict):
        assert one.keys() == other.keys()
        for key in other:
            assert_same(one[key], other[key])
    elif not hasattr(other, "__dict__"):
        assert one == other
