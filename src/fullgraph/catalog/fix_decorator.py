"""What the files in `entries/` use to say what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar

# rewrite: other code for the same job. move: the job is done before or after the compiled function.
# setting: the same code under another configuration. escape: an operator or function that Dynamo
# is told not to look into.
Kind = Literal["rewrite", "move", "setting", "escape"]

# exact: the same result, bit for bit. equal: the same up to rounding. reordered: effects come
# later. dropped: effects are left out while compiled. narrower: only where the text says.
Safety = Literal["exact", "equal", "reordered", "dropped", "narrower"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class FixFacts(NamedTuple):
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
    """Marks a function that does what `breaks` does, as one graph; its docstring says why it works.

    What has moved out of the compiled function is `before`, which turns the inputs into the
    function's arguments, and `after`, which turns its result into the result of `breaks`. Both run
    in eager. `settings` are entries of torch._dynamo.config that hold meanwhile.
    """

    def mark(function: _Function) -> _Function:
        facts = FixFacts(kind, safety, before, after, settings)
        function.fullgraph_fix = facts  # type: ignore[attr-defined]
        return function

    return mark
