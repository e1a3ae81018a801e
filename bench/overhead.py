"""Measure the cost of capturing: compile time and steady-state calls of a BERT-sized model.

The backend does nothing, so all of the compile time is Dynamo's own: the strictest comparison.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

from bench._timing import verdict

PROGRAM = Path(__file__).parent / "programs" / "bert.py"
ROUNDS = 7


def main() -> bool:
    """Print the ratios and return whether they are small enough."""
    print("overhead: fullgraph run, as a ratio to plain python")
    return all([_measure("no breaks"), _measure("a break in every layer", "breaks")])


def _measure(name: str, *arguments: str) -> bool:
    plain: list[dict[str, float]] = []
    watched: list[dict[str, float]] = []
    for _ in range(ROUNDS):
        plain.append(_run([sys.executable, str(PROGRAM), *arguments]))
        watched.append(_run([sys.executable, "-m", "fullgraph", "run", str(PROGRAM), *arguments]))
    return all(
        [
            verdict(f"compile time, {name}", _ratio(watched, plain, "compile"), 1.10),
            verdict(f"a steady-state call, {name}", _ratio(watched, plain, "steady"), 1.02),
        ]
    )


def _ratio(watched: list[dict[str, float]], plain: list[dict[str, float]], what: str) -> float:
    """Return the median of the ratios of runs that follow each other."""
    return statistics.median(a[what] / b[what] for a, b in zip(watched, plain, strict=True))


def _run(command: list[str]) -> dict[str, float]:
    output = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout
    facts: dict[str, float] = json.loads(output)
    return facts
