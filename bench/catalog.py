"""Measure the time to verify all examples of the catalog in two processes."""

from __future__ import annotations

import subprocess
import sys
import time

from fullgraph.catalog.parse import example_keys

SECONDS = 180.0


def main() -> bool:
    """Print the time and return whether all examples are verified in time."""
    ids = example_keys()
    started = time.perf_counter()
    processes = [_check(ids[half::2]) for half in range(2)]
    outputs = [process.communicate()[0] for process in processes]
    seconds = time.perf_counter() - started
    for output in outputs:
        print("".join(f"  {line}\n" for line in output.splitlines()), end="")
    verified = not any(process.returncode for process in processes)
    print(f"catalog: {len(ids)} examples in {seconds:.0f} s (at most {SECONDS:.0f})")
    return verified and seconds <= SECONDS


def _check(ids: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "fullgraph", "catalog", "check", *ids],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
