"""Measure how many small mistakes the tests notice (mutation testing).

    python -m tools.mutate                  run a sample of mutants, or continue an interrupted run
    python -m tools.mutate --survivors      run the mutants again that survived
    python -m tools.mutate --report         print the score and the mutants that survived

Each mutant is applied in a temporary copy of the project, where the tests of its package run until
the first one fails. A mutant is caught when a test fails, or a process needs four times the CPU
time that all tests of the package need. Waiting for a busy machine does not count.
Results are appended to a file of JSON lines, one per mutant; delete the file to start over.
A survivor that behaves like the original is accepted with a reason in tools/accepted_mutants.toml.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from tools.mutants import Mutant, mutants_of

ROOT = Path(__file__).parent.parent
SOURCE = "src/fullgraph"
ACCEPTED = ROOT / "tools" / "accepted_mutants.toml"
# In a folder that git ignores.
RESULTS = ROOT / "build" / "mutation.jsonl"

# How many mutants of each package a sample has, and where the tests of that package are.
SAMPLE = {"capture": 13, "analysis": 13, "fix": 16, "registry": 13, "site": 13}
TESTS = {
    "capture": ["tests/capture", "tests/analysis", "tests/model"],
    "analysis": ["tests/analysis", "tests/render", "tests/capture"],
    "fix": ["tests/fix", "tests/commands/test_fix.py", "tests/commands/test_purity.py"],
    "registry": [
        "tests/registry",
        "tests/commands/test_registry_command.py",
        "tests/commands/test_explain_command.py",
    ],
    "site": ["tests/site"],
}
# In seconds of CPU time of one process, and how much longer all of them may take, for a mutant
# that waits for ever.
SHORTEST_LIMIT = 120.0
WALL_FACTOR = 2
_NO_TESTS_SELECTED = 5
CAUGHT = ("caught", "time limit")


# Choosing mutants


def package_of(file: str) -> str:
    """Return the name of the package that a file of `src/fullgraph` belongs to."""
    return Path(file).relative_to(SOURCE).parts[0]


def sample(packages: dict[str, int], seed: int) -> list[Mutant]:
    """Return a mixed sample: every operator in turn, at most one mutant per line."""
    chosen: list[Mutant] = []
    for package, count in packages.items():
        mutants = [
            mutant
            for file in sorted((ROOT / SOURCE / package).rglob("*.py"))
            for mutant in mutants_of(file.read_text("utf-8"), file.relative_to(ROOT).as_posix())
        ]
        chosen += spread(mutants, count, random.Random(f"{seed} {package}"))
    return chosen


def spread(mutants: list[Mutant], count: int, chance: random.Random) -> list[Mutant]:
    """Return `count` mutants that differ in operator and file as far as possible."""
    waiting = chance.sample(mutants, len(mutants))
    chosen: list[Mutant] = []
    operators: Counter[str] = Counter()
    files: Counter[str] = Counter()
    lines: set[tuple[str, int]] = set()
    while waiting and len(chosen) < count:
        best = min(waiting, key=lambda each: operators[each.operator] + 2 * files[each.file])
        waiting.remove(best)
        source = (ROOT / best.file).read_text("utf-8")
        if (best.file, best.line) in lines or not best.is_valid(source):
            continue
        chosen.append(best)
        operators[best.operator] += 1
        files[best.file] += 1
        lines.add((best.file, best.line))
    return chosen


# Choosing tests


def choose_tests(file: str) -> list[str]:
    """Return the test files of a module's package, those most likely to fail first."""
    found = [
        test.relative_to(ROOT).as_posix()
        for place in TESTS[package_of(file)]
        for test in ([ROOT / place] if place.endswith(".py") else (ROOT / place).rglob("test_*.py"))
    ]
    return sorted(found, key=lambda test: (-_closeness(file, test), test))


def _closeness(file: str, test: str) -> float:
    """Return how likely it is that a test file is about a module."""
    module = Path(file).relative_to("src").with_suffix("")
    dotted = ".".join(part for part in module.parts if part != "__init__")
    imports = re.search(rf"\b{re.escape(dotted)}\b", (ROOT / test).read_text("utf-8")) is not None
    name = Path(test).stem.removeprefix("test_")
    likeness = SequenceMatcher(None, module.stem, name).ratio()
    # `tests` mirrors the folders of the package.
    folders = zip(module.parts[1:-1], Path(test).parts[1:-1], strict=False)
    shared = sum(mine == its for mine, its in folders)
    # Browser tests are slow, and few of them are about one module.
    return imports + likeness + shared / 2 - 2 * ("browser" in name)


def fixer_of(file: str) -> str | None:
    """Return the name of the fixer that a module belongs to; its cases have that name as well."""
    parts = Path(file).relative_to(SOURCE).with_suffix("").parts
    if parts[:2] != ("fix", "fixers") or parts[2].startswith("_"):
        return None
    return parts[2]


# Running


@contextmanager
def project_copy() -> Iterator[Path]:
    """Yield a temporary copy of all files that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="fullgraph-mutants-") as folder:
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                target = Path(folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, target)
        yield Path(folder)


class Copy:
    """A copy of the project in which one file at a time is mutated."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder = folder
        self._workers = workers
        self._writes = 0

    def result_of(self, mutant: Mutant, limit: float) -> dict[str, Any]:
        """Return what the tests find out about a mutant, as the data of one line of results."""
        original = (self._folder / mutant.file).read_text("utf-8")
        self._write(mutant.file, mutant.apply(original))
        start = time.monotonic()
        try:
            outcome, noticed = self._outcome(mutant.file, limit)
        finally:
            self._write(mutant.file, original)
        return {
            "id": mutant.id,
            "package": package_of(mutant.file),
            "file": mutant.file,
            "line": mutant.line,
            "operator": mutant.operator,
            "original": mutant.original,
            "replacement": mutant.replacement,
            "outcome": outcome,
            "noticed_by": noticed,
            "seconds": round(time.monotonic() - start, 1),
        }

    def _outcome(self, file: str, limit: float) -> tuple[str, str]:
        tests = choose_tests(file)
        fixer = fixer_of(file)
        if fixer is not None:
            outcome, noticed = self.run_tests([*tests, "-k", fixer], limit)
            if outcome in CAUGHT:
                return outcome, noticed
        return self.run_tests(tests, limit)

    def run_tests(self, tests: list[str], limit: float | None = None) -> tuple[str, str]:
        """Return the outcome and the name of the first test that failed, "" without one."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", str(self._workers),
                   "-p", "no:cacheprovider", "--no-header", "--tb=no", *tests]  # fmt: skip
        paths = os.pathsep.join([str(self._folder / "src"), str(self._folder)])
        environment = {**os.environ, "PYTHONPATH": paths}
        code, output = _run(command, self._folder, environment, limit)
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
        if code is None or -code in (signal.SIGKILL, signal.SIGXCPU):
            outcome = "time limit"
        elif code in (0, _NO_TESTS_SELECTED):
            outcome = "survived"
        elif code in (1, 2, 3) or code < 0:
            outcome = "caught"
        else:
            sys.exit(f"pytest could not run the tests (exit code {code}):\n{output}")
        return outcome, failed[1] if failed else ""

    def _write(self, file: str, text: str) -> None:
        target = self._folder / file
        target.write_text(text, "utf-8")
        # Python compares the size and the second of a change to tell whether bytecode is stale.
        self._writes += 1
        stamp = time.time() + 2 * self._writes
        os.utime(target, (stamp, stamp))


def _run(
    command: list[str], folder: Path, environment: dict[str, str], limit: float | None
) -> tuple[int | None, str]:
    """Return the exit code and the output of a command; the code is None after a time-out."""

    def limit_cpu_time() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))

    # A file, not a pipe: a process that a test left behind would keep a pipe open.
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            preexec_fn=limit_cpu_time,
        )  # fmt: skip
        try:
            code = process.wait(timeout=limit and WALL_FACTOR * limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            # Also after an interrupt, and with the processes that the tests have started.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return code, output.read()


def run(mutants: list[Mutant], results: Path, workers: int, again: bool) -> None:
    """Run the tests for every mutant without a result, and append each result to the file."""
    lines = read_lines(results)
    keep = CAUGHT if again else (*CAUGHT, "survived")
    done = {result["id"] for result in results_in(lines) if result["outcome"] in keep}
    left = [mutant for mutant in mutants if mutant.id not in done]
    print(f"{len(mutants)} mutants, {len(mutants) - len(left)} have a result", flush=True)
    if not left:
        return
    seconds = {line["baseline"]: line["seconds"] for line in lines if "baseline" in line}
    with project_copy() as folder:
        copy = Copy(folder, workers)
        for number, mutant in enumerate(left, start=1):
            package = package_of(mutant.file)
            if package not in seconds:
                seconds[package] = _baseline(copy, package)
                append(results, {"baseline": package, "seconds": seconds[package]})
            result = copy.result_of(mutant, max(SHORTEST_LIMIT, 4 * seconds[package]))
            append(results, result)
            print(
                f"{number}/{len(left)}  {result['outcome']:<10}  {_described(result)}", flush=True
            )


def _baseline(copy: Copy, package: str) -> float:
    """Return the CPU time of the tests of a package; exit if one fails without a mutant."""
    start = _cpu_seconds()
    outcome, failed = copy.run_tests(TESTS[package])
    seconds = _cpu_seconds() - start
    if outcome != "survived":
        sys.exit(f"the tests of {package} fail without a mutant: {failed}; correct that first")
    print(f"the tests of {package} pass in {seconds:.0f} s of CPU time", flush=True)
    return round(seconds, 1)


def _cpu_seconds() -> float:
    """Return the CPU time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# Results


def append(file: Path, line: dict[str, Any]) -> None:
    """Add one line to the file of results."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the lines of the file of results; a line that an interrupt cut off is left out."""
    if not file.is_file():
        return []
    lines = file.read_text("utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("}\n")]


def results_in(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the newest result of each mutant."""
    return list({line["id"]: line for line in lines if "id" in line}.values())


# Reporting


def accepted() -> dict[str, str]:
    """Return the reasons for the survivors that are accepted, by id."""
    if not ACCEPTED.is_file():
        return {}
    listed = tomllib.loads(ACCEPTED.read_text("utf-8")).get("accepted", [])
    return {each["id"]: each["reason"] for each in listed}


def report(results: list[dict[str, Any]], reasons: dict[str, str]) -> Iterator[str]:
    """Yield the lines of the report: the score of each package, then the survivors."""
    counted = [result for result in results if result["id"] not in reasons]
    for package in [*dict.fromkeys(result["package"] for result in counted), "all"]:
        mine = [each for each in counted if package in (each["package"], "all")]
        yield f"{package:<10} {_score(mine)}"
    survivors = [result for result in results if result["outcome"] not in CAUGHT]
    yield from _listed("survived", [each for each in survivors if each["id"] not in reasons], {})
    equivalent = [each for each in survivors if each["id"] in reasons]
    yield from _listed("accepted, not counted", equivalent, reasons)


def _score(results: list[dict[str, Any]]) -> str:
    caught = sum(result["outcome"] in CAUGHT for result in results)
    share = f"{100 * caught / len(results):.0f} %" if results else "-"
    return f"{caught} of {len(results)} caught ({share})"


def _listed(
    title: str, results: Iterable[dict[str, Any]], reasons: dict[str, str]
) -> Iterator[str]:
    for number, result in enumerate(results):
        if number == 0:
            yield f"\n{title}:"
        yield f"  {result['id']}\n    {_described(result)}"
        if result["id"] in reasons:
            yield f"    {reasons[result['id']]}"


def _described(result: dict[str, Any]) -> str:
    before, after = (" ".join(result[name].split()) for name in ("original", "replacement"))
    return f"{result['file']}:{result['line']}  {before[:80]}  →  {after[:80]}"


# The command line


def main() -> None:
    """Run a sample of mutants, or print the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--report", action="store_true", help="print the score and the survivors")
    parser.add_argument("--list", action="store_true", help="print the sample and run nothing")
    parser.add_argument("--survivors", action="store_true", help="run the survivors again")
    parser.add_argument("--package", action="append", choices=SAMPLE, help="default: all of them")
    parser.add_argument("--count", type=int, help="mutants per package (default: 13 to 16)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument("--workers", type=int, default=0, help="pytest -n (default: 0)")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="default: build/mutation.jsonl"
    )
    given = parser.parse_args()
    if given.report:
        print("\n".join(report(results_in(read_lines(given.results)), accepted())))
        return
    packages = {name: given.count or SAMPLE[name] for name in given.package or SAMPLE}
    mutants = sample(packages, given.seed)
    if given.list:
        print("\n".join(_described(vars(mutant)) for mutant in mutants))
    else:
        run(mutants, given.results, given.workers, given.survivors)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted: the same command continues")
