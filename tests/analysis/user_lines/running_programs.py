"""Run a small program whose function `f` asks for the line that bound its argument."""

from __future__ import annotations

import sys
import textwrap
from types import FrameType
from typing import Any, NamedTuple

from fullgraph.analysis.user_lines.arguments import Slot
from fullgraph.analysis.user_lines.bound import BindingFinder
from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.capture.stacks import describe_code, describe_frame
from fullgraph.model.events import Frame
from fullgraph.python_source import parse

FILE = "program.py"
MOST_ANSWERS = 60


class StopError(Exception):
    """Ends a program."""


class Answer(NamedTuple):
    """The value of the argument, and the line that is said to have bound it."""

    value: Any
    line: Frame | None

    @property
    def text(self) -> str | None:
        """The content of the line; None if there is none."""
        return None if self.line is None else self.line.code


def answers_of(
    program: str, slot: Slot | None = None, into: list[Answer] | None = None, **names: Any
) -> list[Answer]:
    """Run a program and return the answer for each call of `report(x)`, in their order.

    The function that calls `report` is the compiled one; `slot` is its argument, `x` without one.
    `into` gets the answers if the program raises; it raises `StopError` after `MOST_ANSWERS`.
    """
    text = textwrap.dedent(program)
    tree = parse(text)
    assert tree is not None, text
    file = SourceFile(FILE, text, tree)
    found: list[Answer] = [] if into is None else into

    def report(value: Any = None) -> None:
        if len(found) == MOST_ANSWERS:
            raise StopError
        compiled = sys._getframe(1)
        callers = [describe_frame(frame) for frame in _frames_above(compiled)]
        finder = BindingFinder(callers, lambda path: file if path == FILE else None)
        line = finder.argument(describe_code(compiled.f_code), slot or Slot("x"))
        found.append(Answer(value, line))

    exec(compile(text, FILE, "exec"), {"report": report, "__name__": "__main__", **names})
    return found


def _frames_above(frame: FrameType) -> list[FrameType]:
    found: list[FrameType] = []
    above = frame.f_back
    while above is not None and above.f_code.co_filename == FILE:
        found.append(above)
        above = above.f_back
    return found[::-1]
