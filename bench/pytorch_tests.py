"""Compare reports with PyTorch's own tests of Dynamo, test by test.

    python -m bench pytorch_tests --tests FOLDER [--only FILE[.CLASS[.TEST]]]... [--workers N]
                                  [--seconds N] [--output FILE] [--show N]

FOLDER is a checkout of PyTorch, its `test/dynamo`, or another folder with `test_*.py`. Nothing is
written into it. The tests need the package expecttest. Each file runs twice, without and with
`fullgraph.watch()` around each test, in processes of their own; a process that crashes or takes too
long is replaced by one that continues with the next test. A test that passes only without watching
runs again alone, because some tests depend on timing or on the tests before them.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench._pytorch_records import (
    CHECKS,
    PASSED,
    Difference,
    FileRun,
    Record,
    checkout_version,
    compare,
    matches,
    read,
    test_folder,
    version_notes,
)

_PROJECT = Path(__file__).parents[1]


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--tests", type=Path, metavar="FOLDER", help="pytorch_tests: a checkout of PyTorch")
    add("--only", action="append", default=[], metavar="FILE[.CLASS[.TEST]]",
        help="pytorch_tests: run these tests; * and ? are wildcards")  # fmt: skip
    add("--workers", type=int, default=2, help="pytorch_tests: how many processes run at once")
    add("--seconds", type=float, default=120.0, help="pytorch_tests: the limit per test")
    add("--output", type=Path, metavar="FILE", help="pytorch_tests: a JSON file of all results")
    add("--show", type=int, default=20, help="pytorch_tests: how many tests to list per check")


def main(options: argparse.Namespace) -> bool:
    """Print what differs; return whether nothing does, or whether there is no checkout."""
    if options.tests is None:
        print("pytorch_tests: skipped; name a checkout of PyTorch with --tests FOLDER")
        return True
    folder = test_folder(options.tests)
    if folder is None:
        print(f"pytorch_tests: {options.tests} has no test/dynamo and no test_*.py")
        return False
    for note in version_notes(checkout_version(folder), version("torch")):
        print(f"pytorch_tests: {note}")
    with tempfile.TemporaryDirectory() as scratch:
        bench = _Bench(folder, Path(scratch), options)
        return _show(bench.run_all(), options)


class _Runs(NamedTuple):
    """All tests in both modes, and the files that could not be imported."""

    plain: dict[str, Record]
    watched: dict[str, Record]
    unreadable: dict[str, str]
    # Tests that passed only without watching at first, and not so when they ran alone.
    unsteady: list[str]


class _Bench:
    """Runs test files in worker processes."""

    def __init__(self, folder: Path, scratch: Path, options: argparse.Namespace) -> None:
        self._folder = folder
        self._scratch = scratch
        self._options = options
        self._is_stopped = False
        self._processes: set[subprocess.Popen[bytes]] = set()

    def run_all(self) -> _Runs:
        """Run all files without and with watching, and the tests again that only watching fails."""
        with ThreadPoolExecutor(self._options.workers) as pool:
            try:
                runs = self._run_files(pool)
                self._repeat_suspects(runs, pool)
            except BaseException:
                # An interrupt reaches only this process; the pool would wait for all files.
                pool.shutdown(wait=False, cancel_futures=True)
                self._stop()
                raise
        return runs

    def _run_files(self, pool: ThreadPoolExecutor) -> _Runs:
        files = [
            file
            for file in sorted(self._folder.glob("test_*.py"))
            if matches(self._options.only, file.stem)
        ]
        runs = _Runs({}, {}, {}, [])
        jobs = [(file, watch) for file in files for watch in (False, True)]
        for (file, watch), run in zip(jobs, pool.map(self._run_job, jobs), strict=True):
            (runs.watched if watch else runs.plain).update(run.records)
            if run.error:
                runs.unreadable[file.stem] = run.error
        return runs

    def _repeat_suspects(self, runs: _Runs, pool: ThreadPoolExecutor) -> None:
        """Run the tests again, alone, that pass only without watching; keep the second result."""
        suspects = [
            test
            for test, record in runs.plain.items()
            if record.outcome == PASSED
            and (test not in runs.watched or runs.watched[test].outcome != PASSED)
        ]
        jobs = [(test, watch) for test in suspects for watch in (False, True)]
        for (_, watch), run in zip(jobs, pool.map(self._run_alone, jobs), strict=True):
            (runs.watched if watch else runs.plain).update(run.records)
        for test in suspects:
            both = (runs.plain.get(test), runs.watched.get(test))
            if [each and each.outcome == PASSED for each in both] != [True, False]:
                runs.unsteady.append(test)

    def _run_job(self, job: tuple[Path, bool]) -> FileRun:
        file, watch = job
        run = self._run(file, watch, self._options.only)
        mode = "watched" if watch else "plain"
        passed = sum(record.outcome == PASSED for record in run.records.values())
        said = run.error or f"{passed} of {len(run.records)} tests pass"
        print(f"  {file.stem:42} {mode:8} {said}", flush=True)
        return run

    def _run_alone(self, job: tuple[str, bool]) -> FileRun:
        test, watch = job
        file = self._folder / f"{test.partition('.')[0]}.py"
        return self._run(file, watch, [test])

    def _run(self, file: Path, watch: bool, only: Iterable[str]) -> FileRun:
        """Start workers until one reaches the end of the file, or starts no further test."""
        folder = Path(tempfile.mkdtemp(dir=self._scratch))
        output = folder / "records.jsonl"
        before = -1
        run = read(output)
        while len(run.records) > before and not (run.is_finished or self._is_stopped):
            before = len(run.records)
            self._start_worker(file, output, watch, only)
            run = read(output)
        if run.is_finished or run.records:
            return run
        return FileRun({}, "the process ended before the first test")

    def _start_worker(self, file: Path, output: Path, watch: bool, only: Iterable[str]) -> None:
        command = [sys.executable, "-m", "bench._pytorch_worker", str(file.resolve()), str(output)]
        command += ["--seconds", str(self._options.seconds), *(["--watch"] if watch else [])]
        command += [word for pattern in only for word in ("--only", pattern)]
        process = subprocess.Popen(
            command, cwd=output.parent, env=_environment(output.parent),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        self._processes.add(process)
        process.wait()
        self._processes.discard(process)
        # Tests that hang may leave children behind.
        _kill_group(process)

    def _stop(self) -> None:
        """End the workers that run."""
        self._is_stopped = True
        for process in tuple(self._processes):
            _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End what a worker has started, and the worker itself."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment in which tests write only into a folder of their own."""
    paths = [str(_PROJECT), str(_PROJECT / "src"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(folder),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        "OMP_NUM_THREADS": "1",
    }


def _show(runs: _Runs, options: argparse.Namespace) -> bool:
    applied, differences = compare(runs.plain, runs.watched)
    for file, error in runs.unreadable.items():
        print(f"  not run: {file}: {error}")
    for check, meaning in CHECKS.items():
        found = [each for each in differences if each.check == check]
        print(f"pytorch_tests: {applied[check] - len(found)} of {applied[check]} {meaning}")
        _list(found, options.show)
    if runs.unsteady:
        print(f"pytorch_tests: {len(runs.unsteady)} failed once: {', '.join(runs.unsteady)}")
    ended = [test for test, each in runs.plain.items() if each.outcome not in _USUAL]
    print(
        f"pytorch_tests: {len(runs.plain)} tests, {applied['harmless']} of them pass without "
        f"watching, {len(ended)} end the process or take too long"
    )
    if options.output:
        _write(options.output, runs, differences)
    return bool(applied["harmless"]) and not differences


_USUAL = (PASSED, "failed", "skipped")


def _list(differences: list[Difference], most: int) -> None:
    for each in differences[:most]:
        print(f"    {each.test}: {each.message}")
    if len(differences) > most:
        print(f"    and {len(differences) - most} more; --output FILE writes all of them")


def _write(file: Path, runs: _Runs, differences: list[Difference]) -> None:
    content = {
        "differences": differences,
        "unsteady": runs.unsteady,
        "not_run": runs.unreadable,
        "plain": list(runs.plain.values()),
        "watched": list(runs.watched.values()),
    }
    file.write_bytes(msgspec.json.format(msgspec.json.encode(content)))
