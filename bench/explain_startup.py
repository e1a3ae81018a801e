"""Measure a cold `fullgraph explain GB0124`, as a ratio to `import click, rich.console`.

Both commands run in turns, so that other load on the machine affects both. The medians are
compared. Both commands have their bytecode, as after an installation.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

RUNS = 21
MOST = 1.5
EXPLAIN = [sys.executable, "-m", "fullgraph", "explain", "GB0124"]
PEER = [sys.executable, "-c", "import click, rich.console"]


def main() -> bool:
    """Print the ratio and return whether it is small enough."""
    if importlib.util.find_spec("rich") is None:
        print("explain_startup: rich is not installed; install it with pip install -e '.[bench]'")
        return False
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in (EXPLAIN, PEER):
            _seconds(command, environment)  # the first run writes the bytecode
        pairs = [(_seconds(EXPLAIN, environment), _seconds(PEER, environment)) for _ in range(RUNS)]
    ours, theirs = (median(times) for times in zip(*pairs, strict=True))
    print(
        f"explain_startup: {ours * 1000:.0f} ms, {ours / theirs:.2f} times the "
        f"{theirs * 1000:.0f} ms of importing click and rich (at most {MOST})"
    )
    return bool(ours / theirs <= MOST)


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start
