"""Models of the zoo that recompile, before and after the first remedy that `recompiles` shows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import _zoo
from bench._environment import PROJECT, variables
from bench._remedied_calls import environment_of, make_repository

FOLDER = Path(__file__).with_name("zoo_programs")
PROGRAMS = (
    "t5_lengths",
    "whisper_decoding",
    "bert_masks",
    "llama_logits",
    "mixtral_batches",
)
AT_LEAST_BEFORE = 4
AT_MOST_AFTER = 2


def main() -> bool:
    """Print the recompiles of each model and return whether all numbers are reached."""
    zoo = _zoo.folder()
    if zoo is None:
        print("recompiles: set FULLGRAPH_ZOO to the zoo's folder")
        return False
    reached = [_compare(zoo, name) for name in PROGRAMS]
    print(f"recompiles: {sum(reached)} of {len(reached)} models of the zoo are right")
    return all(reached)


def _compare(zoo: Path, name: str) -> bool:
    with TemporaryDirectory() as folder:
        program = make_repository(FOLDER / f"{name}.py", Path(folder) / "copy")
        shutil.copy(FOLDER / "_model.py", program.parent)
        report = _report(zoo, program, "recompiles")
        if report is None:
            print(f"  {name:20} no report", flush=True)
            return False
        before = report["summary"]["recompiles"]
        remedy = next((each for one in report["groups"] for each in one["remedies"]), None)
        after = before if remedy is None else _remedied(zoo, program, remedy)
    title = "no remedy" if remedy is None else f"{remedy['name']}: {remedy['text']}"
    right = before >= AT_LEAST_BEFORE and after <= AT_MOST_AFTER
    print(
        f"  {name:20} {before:2} → {after:2} recompiles  {'ok' if right else 'MISSED':6}  {title}",
        flush=True,
    )
    return right


def _remedied(zoo: Path, program: Path, remedy: dict[str, Any]) -> int:
    """Return how often the program recompiles with a remedy; many if it fails."""
    environment = {}
    if remedy["kind"] == "environment":
        environment = environment_of(remedy["text"])
    else:
        _fullgraph(zoo, "recompiles", "--apply", "1", str(program))
    report = _report(zoo, program, "run", **environment)
    return 99 if report is None else int(report["summary"]["recompiles"])


def _report(zoo: Path, program: Path, command: str, **more: str) -> dict[str, Any] | None:
    output = program.parent / f"{command}.json"
    _fullgraph(zoo, command, "--format", "json", "-o", str(output), str(program), **more)
    return json.loads(output.read_text(encoding="utf-8")) if output.exists() else None


def _fullgraph(zoo: Path, *arguments: str, **more: str) -> None:
    # The programs import `zoo_sweep` from the zoo's folder.
    path = os.pathsep.join([str(PROJECT / "src"), str(zoo)])
    subprocess.run(
        [sys.executable, "-m", "fullgraph", *arguments],
        cwd=PROJECT, env=variables(PYTHONPATH=path, **more), capture_output=True,
    )  # fmt: skip
