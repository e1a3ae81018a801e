"""Which lines a call runs: two calls that run the same lines take the same path."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

import fullgraph
from fullgraph.model.owners import PYTHON, TORCH, this_process

_OUR_FOLDER = os.path.join(os.path.dirname(fullgraph.__file__), "")


class Path:
    """The path of a call; `digest` is empty if it is not known."""

    def __init__(self) -> None:
        self.digest = ""


@contextmanager
def path_taken() -> Iterator[Path]:
    """Trace a block, and give its path when the block has ended.

    Lines of torch, of Python and of fullgraph do not count. Under a debugger no path is known.
    """
    found = Path()
    if sys.gettrace() is not None:
        yield found
        return
    lines: set[tuple[str, int]] = set()

    def trace_lines(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return trace_lines

    def trace_calls(frame: FrameType, _: str, __: Any) -> Any:
        return trace_lines if _counts(frame.f_code.co_filename) else None

    sys.settrace(trace_calls)
    try:
        yield found
    finally:
        sys.settrace(None)
        found.digest = _digest(lines)


@cache
def _counts(file: str) -> bool:
    return not file.startswith(_OUR_FOLDER) and this_process().owner_of(file) not in (TORCH, PYTHON)


def _digest(lines: set[tuple[str, int]]) -> str:
    text = "\n".join(f"{file}:{line}" for file, line in sorted(lines))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
