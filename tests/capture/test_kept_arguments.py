"""Which locals of a resumed function still are the arguments that its caller passed."""

from __future__ import annotations

import sys
from typing import Any

from fullgraph.capture.recompile_listener import _kept_arguments


def torch_dynamo_resume_in_f_at_9(a: Any, b: Any, keyword: Any, rest: Any, more: Any) -> Any:
    # A continuation has the names of the locals of the original function.
    return _kept_arguments(sys._getframe(0))


def f(a: Any, b: Any, unused: Any, *rest: Any, keyword: Any, deleted: Any, **more: Any) -> Any:
    del deleted
    return torch_dynamo_resume_in_f_at_9(a, b, keyword, rest, more)


def torch_dynamo_resume_in_rebound_at_9(a: Any, b: Any, c: Any, rest: Any) -> Any:
    return _kept_arguments(sys._getframe(0))


def rebound(a: Any, b: Any, *rest: Any, c: Any) -> Any:
    # What the break left on the stack has a new object under an old name.
    return torch_dynamo_resume_in_rebound_at_9([a], b, [c], [*rest])


def test_arguments_that_reach_the_rest_of_the_function_are_kept() -> None:
    given = f([1], [2], 3, 4, keyword=[5], deleted=6, other=7)
    assert given == {"a", "b", "keyword", "rest", "more"}


def test_names_with_another_object_are_no_arguments_any_more() -> None:
    assert rebound(1, [2], 3, c=4) == {"b"}


def test_nothing_is_kept_without_the_original_function() -> None:
    assert torch_dynamo_resume_in_f_at_9(1, 2, 3, 4, 5) == frozenset()
