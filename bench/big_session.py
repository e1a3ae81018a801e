"""Measure the time and memory of a report on 100,000 occurrences.

The session has 1,000 break sites in 20,000 compiles, each with a graph. A second session has 1,000
times as many operations in every graph, which must not need more memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fullgraph.model.events import (
    FORMAT_VERSION,
    Break,
    Code,
    Compile,
    Event,
    Frame,
    Graph,
    Reason,
    SourceLine,
    Stack,
)
from fullgraph.model.session import Header, Session

OCCURRENCES = 100_000
SITES = 1_000
SECONDS = 10.0


def main() -> bool:
    """Print time and memory and return whether they are small enough."""
    with tempfile.TemporaryDirectory() as folder:
        small = _render(_write(Path(folder) / "small.jsonl", ops=10))
        large = _render(_write(Path(folder) / "large.jsonl", ops=10_000))
    print(
        f"big_session: {OCCURRENCES} occurrences in {small['seconds']:.1f} s and "
        f"{small['megabytes']:.0f} MB; with graphs 1000 times as large {large['megabytes']:.0f} MB"
    )
    return small["seconds"] <= SECONDS and large["megabytes"] <= 1.05 * small["megabytes"]


def _write(path: Path, ops: int) -> Path:
    header = Header(format=FORMAT_VERSION, fullgraph="bench")
    Session(header, tuple(map(_event, range(OCCURRENCES)))).save(path)
    with path.open("ab") as file:
        for number in range(OCCURRENCES // 5):
            graph = Graph(f"{number}/0", Code("model.py", 1, "forward"), ops, "inductor")
            compile_ = Compile(f"{number}/0", Code("model.py", 1, "forward"), seconds=0.1)
            for event in (graph, compile_):
                file.write(_line(event))
    return path


def _line(event: Event) -> bytes:
    from fullgraph.model.session import LineEncoder

    return LineEncoder().event(event)


def _event(number: int) -> Break:
    line = number % SITES + 1
    frames = tuple(Frame("model.py", line + depth, f"f{depth}", 5) for depth in range(8))
    return Break(
        f"{number // 5}/0",
        Code("model.py", 1, "forward"),
        (Reason("Some type", "GB0001", explanation=f"an explanation, {number % 7}"),),
        Stack(frames, 2, (SourceLine(line, "x = f(x)"),)),
    )


def _render(path: Path) -> dict[str, float]:
    code = (
        "import json, resource, sys\n"
        "from fullgraph.commands import cli\n"
        f"cli(['report', '-o', {str(path) + '.txt'!r}, {str(path)!r}], standalone_mode=False)\n"
        "print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))\n"
    )
    started = time.perf_counter()
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    return {"seconds": time.perf_counter() - started, "megabytes": json.loads(output)}
