"""Measure the start of the command line, as a ratio to importing click and rich.console."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from bench._timing import seconds_of, take_turns, verdict

ROUNDS = 15


def main() -> bool:
    """Print the ratios and return whether they are small enough."""
    if find_spec("rich") is None:
        print("startup: rich is not installed; install it with pip install -e '.[bench]'")
        return False
    print("startup: as a ratio to python -c 'import click, rich.console'")
    with tempfile.TemporaryDirectory() as folder:
        session = _small_session(Path(folder))
        baseline, help_, report = take_turns(
            ROUNDS,
            lambda: seconds_of([sys.executable, "-c", "import click, rich.console"]),
            lambda: seconds_of([sys.executable, "-m", "fullgraph", "--help"]),
            lambda: seconds_of([sys.executable, "-m", "fullgraph", "report", str(session)]),
        )
    print(f"  the baseline takes {baseline * 1000:.0f} ms")
    return all(
        [
            verdict("fullgraph --help", help_ / baseline, 1.5),
            verdict("fullgraph report of a small session", report / baseline, 1.5),
        ]
    )


def _small_session(folder: Path) -> Path:
    example = Path(__file__).parents[1] / "examples" / "tour.py"
    run = [sys.executable, "-m", "fullgraph", "run"]
    command = [*run, "--session", str(folder / "s"), str(example)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / "s"
