"""The zoo: real transformers models, tiny and with random weights, in a folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def folder() -> Path | None:
    """`FULLGRAPH_ZOO`, or `shared/zoo` beside the project."""
    named = os.environ.get("FULLGRAPH_ZOO")
    path = Path(named) if named else Path(__file__).parents[2] / "shared" / "zoo"
    return path if (path / "run_model.py").exists() else None


def development_set(zoo: Path) -> list[str]:
    return [entry["name"] for entry in json.loads((zoo / "dev.json").read_text())]


def report_of(zoo: Path, model: str) -> dict[str, Any]:
    """Return the report of `fullgraph run` of a model, as its JSON format has it."""
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "report.json"
        run_python(
            zoo, "-m", "fullgraph", "run", "--format", "json", "-o", str(report),
            "--session", f"{name}/session", "run_model.py", model,
        )  # fmt: skip
        facts: dict[str, Any] = json.loads(report.read_text())
    return facts


def run_python(zoo: Path, *args: str) -> str:
    """Run Python in the zoo's folder; return what it printed."""
    return subprocess.run(
        [sys.executable, *args],
        cwd=zoo, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ).stdout  # fmt: skip
