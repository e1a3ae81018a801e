"""Which lines of the original program no call runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from fullgraph.fix.trials.outcome import run_call
from fullgraph.fix.trials.probes import Probe
from fullgraph.fix.trials.probes._probe import applied
from fullgraph.fix.trials.samples import Sample, call_restored

Lines = dict[str, tuple[int, ...]]


def unreached_lines(lines: Lines, samples: list[Sample], probes: list[Probe]) -> Lines:
    """Return those of some lines that the original program does not run in eager mode, by file."""
    waiting = {file: set(numbers) for file, numbers in lines.items()}

    def trace(frame: FrameType, _: str, __: Any) -> Any:
        here = waiting.get(frame.f_code.co_filename)
        if here is None:
            return None
        here.discard(frame.f_lineno)
        return trace

    for sample in samples if lines else ():
        with call_restored(sample.call), _tracing(trace):
            run_call(sample.call, sample.call.target.original, sample.call.target)
    for probe in probes if lines else ():
        target = probe.call.target
        with applied(probe), _tracing(trace):
            run_call(probe.call, target.original, target, probe.computed)
    return {file: tuple(sorted(numbers)) for file, numbers in waiting.items() if numbers}


@contextmanager
def _tracing(trace: Any) -> Iterator[None]:
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)
