"""Iterators and context managers that cross a break, seen from the function that continues."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Any

from fullgraph.capture.carried_values import carried_types


def torch_dynamo_resume_in_keywords_at_9(first: Any, a: Any, second: Any, b: Any, n: int) -> Any:
    # A continuation has the names of the locals of the original function.
    return carried_types(sys._getframe(0))


def keywords(a: Any, *, b: Any) -> Any:
    return torch_dynamo_resume_in_keywords_at_9(zip([1], strict=True), a, nullcontext(), b, 4)


def torch_dynamo_resume_in_starred_at_9(a: Any, b: Any, c: Any, more: Any, rest: Any) -> Any:
    return carried_types(sys._getframe(0))


def starred(a: Any, *rest: Any, **more: Any) -> Any:
    b, c = map(str, [1]), map(str, [2])
    # The function may bind its arguments again.
    return torch_dynamo_resume_in_starred_at_9(a, b, c, iter(more), iter(rest))


def test_values_that_the_function_made_are_carried_and_its_arguments_are_not() -> None:
    assert keywords(iter("a"), b=iter([1])) == ("zip", "nullcontext")
    assert starred(iter("a")) == ("map",)


def test_nothing_is_carried_without_the_original_function() -> None:
    assert torch_dynamo_resume_in_starred_at_9(*(iter([]) for _ in range(5))) == ()
    assert carried_types(sys._getframe(0)) == ()
