"""The decorator `@fix`, with which the files in `entries/` mark their fixes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from fullgraph.model.fix_kinds import Kind, Safety

_Function = TypeVar("_Function", bound=Callable[..., Any])


class FixFacts(NamedTuple):
    """What `@fix` says about a function."""

    kind: Kind
    safety: Safety
    before: Callable[..., Any] | None
    after: Callable[..., Any] | None
    settings: dict[str, Any]


def fix(
    kind: Kind,
    safety: Safety,
    *,
    before: Callable[..., Any] | None = None,
    after: Callable[..., Any] | None = None,
    **settings: Any,
) -> Callable[[_Function], _Function]:
    """Mark a function that does the same as `breaks` in one graph; its docstring says why.

    `before` and `after` are the code that the fix moves out of the compiled function. `before`
    turns the inputs into the arguments of the function, and `after` turns its result into the
    result of `breaks`. Both run in eager mode. `settings` are entries of torch._dynamo.config.
    """

    def mark(function: _Function) -> _Function:
        facts = FixFacts(kind, safety, before, after, settings)
        function.fullgraph_fix = facts  # type: ignore[attr-defined]
        return function

    return mark
