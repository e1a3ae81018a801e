"""`Declined`: how the code of a fixer says that it does not change what it recognizes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

_LONGEST_QUOTE = 60
_Rewrite = TypeVar("_Rewrite")


class Declined(Exception):  # noqa: N818  (it is an answer, not an error)
    """The code is recognized and not changed. It becomes a `Refusal` with the reason."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        # Of the node that is the reason; None for the line of the break.
        self.line: int | None = getattr(node, "lineno", None)


def quoted(node: ast.AST) -> str:
    """Return the code of a node as a reason shows it: in backticks, on one line, shortened."""
    line = " ".join(ast.unparse(node).split())
    return f"`{line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 3] + '...'}`"


def first_rewrite(*rewrites: Callable[[], _Rewrite | None]) -> _Rewrite | None:
    """Return the first rewrite that applies; None if none of them recognizes the code.

    If rewrites recognize the code and decline, and none applies, the first reason is raised.
    """
    declined: Declined | None = None
    for rewrite in rewrites:
        try:
            found = rewrite()
        except Declined as reason:
            declined = declined or reason
        else:
            if found is not None:
                return found
    if declined is not None:
        raise declined
    return None
