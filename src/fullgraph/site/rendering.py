"""Render many outputs, in several processes if that is faster."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from fullgraph.site.pages import Output

# Starting processes takes about as long as rendering so many pages.
_FEW = 400
_MOST_WORKERS = 8
_CHUNK = 64

_Result = TypeVar("_Result")

# What the worker processes do. They are forks of this process, so nothing is sent to them.
_waiting: Sequence[Output] = ()
_use: Callable[[str, bytes], Any] | None = None


def rendered(outputs: Sequence[Output], use: Callable[[str, bytes], _Result]) -> Iterator[_Result]:
    """Render each output and yield, in order, what `use` returns for its path and its content.

    `use` is called in the process that renders, because contents are large.
    """
    # Elsewhere than on Linux, forks are not safe.
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    workers = min(processors, _MOST_WORKERS)
    if len(outputs) < _FEW or workers < 2:
        return (use(output.path, output.render()) for output in outputs)
    return _rendered_by(workers, outputs, use)


def _rendered_by(
    workers: int, outputs: Sequence[Output], use: Callable[[str, bytes], _Result]
) -> Iterator[_Result]:
    from multiprocessing import get_context

    global _waiting, _use
    _waiting, _use = outputs, use
    try:
        with get_context("fork").Pool(workers, _start) as pool:
            for results in pool.imap(_render_chunk, range(0, len(outputs), _CHUNK)):
                yield from results
    finally:
        _waiting, _use = (), None


def _start() -> None:
    """Let the first process handle signals: it ends the others."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _render_chunk(start: int) -> list[Any]:
    assert _use is not None
    return [_use(output.path, output.render()) for output in _waiting[start : start + _CHUNK]]
