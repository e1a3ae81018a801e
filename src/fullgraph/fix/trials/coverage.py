"""Which lines of the original program no call runs."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from fullgraph.fix.trials.outcome import run_call
from fullgraph.fix.trials.samples import Sample, call_restored

Lines = dict[str, tuple[int, ...]]


def unreached_lines(lines: Lines, samples: list[Sample]) -> Lines:
    """Return those of some lines that the original program does not run in eager mode, by file."""
    waiting = {file: set(numbers) for file, numbers in lines.items()}

    def trace(frame: FrameType, _: str, __: Any) -> Any:
        here = waiting.get(frame.f_code.co_filename)
        if here is None:
            return None
        here.discard(frame.f_lineno)
        return trace

    for sample in samples:
        with call_restored(sample.call):
            sys.settrace(trace)
            try:
                run_call(sample.call, sample.call.target.original, sample.call.target)
            finally:
                sys.settrace(None)
    return {file: tuple(sorted(numbers)) for file, numbers in waiting.items() if numbers}
