"""`fullgraph explain GB0124`, cold, takes at most 1.5 times `import click, rich.console`.

Both are started again and again, one after the other, so that what else the machine does falls
on both; the medians are compared. Both have their bytecode, as after an installation.
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
    if importlib.util.find_spec("rich") is None:
        print("explain_startup: rich is not installed here: pip install -e '.[bench]'")
        return False
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in (EXPLAIN, PEER):
            _seconds(command, environment)  # the first run writes it
        pairs = [(_seconds(EXPLAIN, environment), _seconds(PEER, environment)) for _ in range(RUNS)]
    ours, theirs = (median(times) for times in zip(*pairs, strict=True))
    print(
        f"explain_startup: {ours * 1000:.0f} ms, {ours / theirs:.2f} times the "
        f"{theirs * 1000:.0f} ms of importing click and rich (at most {MOST})"
    )
    return ours / theirs <= MOST


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start
