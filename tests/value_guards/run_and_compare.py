"""Runs a program in eager mode and compiled with value guards, and compares every call."""

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
    """A program with an assert; not in a test file, because pytest rewrites asserts there."""
    assert t[0] > 0
    return X * t[0]


@dataclass
class Comparison:
    """The log of the value guards, the number of graphs and break sites, and the results."""

    log: GuardLog
    graphs: int
    sites: int
    results: list[Any]


def run(
    program: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    backend: str = "eager",
    *,
    max_elements: int = 4096,
    max_variants: int = 8,
    **options: Any,
) -> Comparison:
    """Compare every call with eager mode, then repeat all calls: nothing may recompile."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    compiled = torch.compile(program, backend=counter, **options)
    with (
        fullgraph.watch() as session,
        value_guards(max_elements=max_elements, max_variants=max_variants) as log,
    ):
        results = [call_both(program, compiled, call) for call in calls]
        graphs = counter.frame_count
        for call in calls:
            call_both(program, compiled, call)
    assert counter.frame_count == graphs, "recompiled for values that were compiled before"
    assert_no_internal_error(log)
    return Comparison(log, graphs, len(session.sites), results)


def assert_no_internal_error(log: GuardLog) -> None:
    assert not [note for note in log.notes if "internal error" in note]


def call_both(program: Callable[..., Any], compiled: Callable[..., Any], call: Any) -> Any:
    """Return the result of the compiled program, or the exception that both raise.

    Results, and the arguments after the call, must be those of eager mode.
    """
    # One deepcopy of all arguments: tensors that share memory still do.
    expected_args, args = copy.deepcopy(call), copy.deepcopy(call)
    expected, error = _outcome(program, expected_args)
    result, compiled_error = _outcome(compiled, args)
    if error is not None:
        assert compiled_error is not None, f"eager mode raises {error!r}, compiled gives {result}"
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


def assert_same(actual: Any, expected: Any) -> None:
    """Compare types, shapes and values exactly, in nested containers."""
    if isinstance(expected, Tensor):
        assert isinstance(actual, Tensor)
        assert actual.dtype == expected.dtype
        assert actual.shape == expected.shape
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)
    elif isinstance(expected, (tuple, list)):
        assert type(actual) is type(expected)
        assert len(actual) == len(expected)
        for actual_part, expected_part in zip(actual, expected, strict=True):
            assert_same(actual_part, expected_part)
    elif isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key in expected:
            assert_same(actual[key], expected[key])
    elif not hasattr(expected, "__dict__"):
        assert actual == expected
