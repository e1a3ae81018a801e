"""Render many outputs, in several processes if that is faster."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence

from fullgraph.site.pages import Output

# Starting processes takes about as long as rendering so many pages.
_FEW = 400
_MOST_WORKERS = 8
_CHUNK = 64

# What the worker processes render. They are forks of this process, so nothing is sent to them.
_waiting: Sequence[Output] = ()


def rendered(outputs: Sequence[Output]) -> Iterator[bytes]:
    """Yield the content of each output, in order."""
    # Elsewhere than on Linux, forks are not safe.
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    workers = min(processors, _MOST_WORKERS)
    if len(outputs) < _FEW or workers < 2:
        for output in outputs:
            yield output.render()
        return
    yield from _rendered_by(workers, outputs)


def _rendered_by(workers: int, outputs: Sequence[Output]) -> Iterator[bytes]:
    from multiprocessing import get_context

    global _waiting
    _waiting = outputs
    try:
        with get_context("fork").Pool(workers, _start) as pool:
            for contents in pool.imap(_render_chunk, range(0, len(outputs), _CHUNK)):
                yield from contents
    finally:
        _waiting = ()


def _start() -> None:
    """Let the first process handle signals: it ends the others."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _render_chunk(start: int) -> list[bytes]:
    return [output.render() for output in _waiting[start : start + _CHUNK]]
