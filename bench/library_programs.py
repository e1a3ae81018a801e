"""Run programs with libraries from PyPI under `fullgraph run` and compare with torch's own log.

The programs are in `bench/libraries/`, with the versions that they need in `requirements.txt`. They
run in an environment of their own, which is removed afterwards. A program passes if

- its output and its exit code are those of plain Python
- each location has as many breaks as in torch's log; torch does not log those that are raised
- each difference to torch's counters is explained
- nothing could not be captured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import _torch_log
from bench._environment import NotInstalledError, environment, variables

TORCH = "2.13.0"
AT_LEAST_BREAKING = 12
FOLDER = Path(__file__).with_name("libraries")


@dataclass(frozen=True)
class Result:
    """What one program showed: the numbers of its report, and what is wrong."""

    program: str
    sites: int
    occurrences: int
    explained: int
    wrong: tuple[str, ...]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="library_programs: keep and reuse the environment",
    )
    parser.add_argument("--program", metavar="NAME", help="library_programs: run only this program")


def main(options: argparse.Namespace) -> bool:
    """Print a line for each program and return whether all of them pass."""
    if "library_programs" not in options.benchmarks:
        print("library_programs: skipped because it installs libraries; name it to run it")
        return True
    only = options.program
    programs = sorted(FOLDER.glob(f"{only or '*'}.py"))
    lines = (FOLDER / "requirements.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    try:
        with environment(TORCH, pins, options.keep) as python:
            results = list(_results(python, programs))
    except NotInstalledError as error:
        print(f"library_programs: the libraries cannot be installed: {error}")
        return False
    breaking = sum(result.sites > 0 for result in results)
    right = sum(not result.wrong for result in results)
    print(f"library_programs: {right} of {len(results)} programs are right, {breaking} break")
    return right == len(results) and (bool(only) or breaking >= AT_LEAST_BREAKING)


def _results(python: Path, programs: list[Path]) -> Iterator[Result]:
    with ThreadPoolExecutor(2) as pool:
        for result in pool.map(lambda program: _result(python, program), programs):
            verdict = "WRONG" if result.wrong else "right"
            print(
                f"  {result.program:26} {result.sites:3} sites {result.occurrences:4} breaks "
                f"{result.explained:2} differences explained  {verdict}",
                flush=True,
            )
            for problem in result.wrong:
                print(f"      {problem}")
            yield result


def _result(python: Path, program: Path) -> Result:
    with TemporaryDirectory() as name:
        folder = Path(name)
        plain = _run(python, str(program), TORCH_TRACE=name, **_torch_log.VARIABLES)
        logged = _torch_log.count_breaks(folder)
        report_file = folder / "report.json"
        watched = _run(
            python, "-m", "fullgraph", "run", "--format", "json", "-o", str(report_file),
            "--session", f"{folder}/session", str(program),
        )  # fmt: skip
        if not report_file.exists():
            return Result(program.stem, 0, 0, 0, (f"no report: {watched.stderr[-300:]}",))
        report = json.loads(report_file.read_text())
    wrong = (*_changes(plain, watched), *report_errors(report, logged))
    summary, disagreements = report["summary"], report["disagreements"]
    explained = sum(not each["unexplained"] for each in disagreements)
    return Result(program.stem, summary["sites"], summary["occurrences"], explained, wrong)


def _run(python: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), *arguments],
        cwd=FOLDER, env=variables(**more), capture_output=True, text=True,
    )  # fmt: skip


def _changes(
    plain: subprocess.CompletedProcess[str], watched: subprocess.CompletedProcess[str]
) -> Iterator[str]:
    """Yield what watching changed in the program."""
    if plain.returncode != watched.returncode:
        yield f"exit code {watched.returncode}, without fullgraph {plain.returncode}"
    if plain.stdout != watched.stdout:
        yield f"output {watched.stdout!r}, without fullgraph {plain.stdout!r}"


def report_errors(report: dict[str, Any], logged: Counter[_torch_log.Location]) -> Iterator[str]:
    """Yield what is wrong in a report: problems, unexplained differences, locations of breaks."""
    for problem in report["problems"]:
        yield f"problem: {problem['message']}"
    for each in report["disagreements"]:
        if each["unexplained"]:
            yield f"{each['ours']} {each['what']}, torch counts {each['theirs']}: {each['why']}"
    yield from _differences(report, logged)


def _differences(report: dict[str, Any], logged: Counter[_torch_log.Location]) -> Iterator[str]:
    """Yield the locations at which torch's log has another number of breaks."""
    found: Counter[_torch_log.Location] = Counter()
    for site in report["sites"]:
        found[site["file"], site["line"]] += site["occurrences"] - site["raised"]
    for location in sorted(found.keys() | logged.keys()):
        if found[location] != logged[location]:
            file, line = location
            yield f"{file}:{line}: {found[location]} breaks, in torch's log {logged[location]}"
