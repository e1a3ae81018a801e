"""Find the local values that a function created before a graph break and uses after it.

Dynamo splits a function at a break and passes its local values to the function that continues it.
An iterator or a context manager that it could trace before the break is an opaque object there.
"""

from __future__ import annotations

import inspect
import sys
from types import CodeType, FrameType
from typing import Any

from fullgraph.capture.stacks import plain_name


def carried_types(frame: Any) -> tuple[str, ...]:
    """Return the types of iterators and context managers that crossed a break into `frame`.

    Those are the local values of a continuation that are not arguments of the original function.
    Returns nothing for any other frame.
    """
    original = _original_code(frame.f_code)
    if original is None:
        return ()
    arguments = _argument_names(original)
    names = [
        type(value).__name__
        for name, value in frame.f_locals.items()
        if name not in arguments and _loses_its_history(type(value))
    ]
    return tuple(dict.fromkeys(names))


def _original_code(code: CodeType) -> CodeType | None:
    """Return the code of the function that `code` continues; None if it continues none.

    The split function called its continuation, so it is on Python's stack.
    """
    function, resumed_at = plain_name(code.co_name)
    frame: FrameType | None = sys._getframe(1) if resumed_at is not None else None
    while frame is not None:
        if frame.f_code.co_name == function and frame.f_code.co_filename == code.co_filename:
            return frame.f_code
        frame = frame.f_back
    return None


def _argument_names(code: CodeType) -> frozenset[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return frozenset(code.co_varnames[:count])


def _loses_its_history(kind: type) -> bool:
    # Looked up in the type: an object may compute its attributes.
    return hasattr(kind, "__next__") or hasattr(kind, "__enter__")
