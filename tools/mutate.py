"""Measure how many small mistakes the tests notice (mutation testing).

    python -m tools.mutate                  run a sample of mutants, or continue an interrupted run
    python -m tools.mutate --survivors      run the mutants again that survived
    python -m tools.mutate --report         print the score and the mutants that survived

Each mutant is applied in a temporary copy of the project, where the test files that are closest to
its module run until the first test fails, and those that compare whole results. All tests of a
package then run once, with all of its mutants that no close test noticed. If a test fails, it runs
with each of them alone to find which one it notices. A mutant is caught when a test fails with it,
or when a process needs much more CPU time than all of these tests need. Waiting for a busy machine
does not count.
Results are appended to a file of JSON lines; delete the file to start over.
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
from typing import Any, NamedTuple

from tools.mutants import Mutant, mutants_of

ROOT = Path(__file__).parent.parent
SOURCE = "src/fullgraph"
ACCEPTED = ROOT / "tools" / "accepted_mutants.toml"
# In a folder that git ignores.
RESULTS = ROOT / "build" / "mutation.jsonl"

# How many mutants of each package a sample has, and where the tests of that package are.
SAMPLE = {"capture": 13, "analysis": 13, "fix": 16, "registry": 13, "site": 13}
# `recompiles` runs what `capture` sees and what `analysis` makes of it.
TESTS = {
    "capture": [
        "tests/capture",
        "tests/analysis",
        "tests/model",
        "tests/recompiles",
        "tests/commands/test_guards.py",
        "tests/commands/test_output.py",
        "tests/test_api.py",
    ],
    "analysis": [
        "tests/analysis",
        "tests/render",
        "tests/capture",
        "tests/recompiles",
        "tests/commands/test_guards.py",
    ],
    "fix": ["tests/fix", "tests/commands/test_fix.py", "tests/commands/test_purity.py"],
    "registry": [
        "tests/registry",
        "tests/catalog/test_catalog.py",
        "tests/render",
        "tests/commands/test_registry_command.py",
        "tests/commands/test_explain_command.py",
    ],
    "site": ["tests/site"],
}
# Tests that compare whole results of a package to the letter, so they are close to all of it.
WHOLE = {
    "capture": ["tests/capture/test_whole_session.py"],
    "analysis": ["tests/analysis/test_whole_reports.py"],
    "fix": ["tests/fix/source/test_inferred.py", "tests/fix/test_proposals.py"],
    "site": ["tests/site/test_expected_pages.py"],
}
# How many test files run with each mutant alone, and those with whole results.
CLOSEST = 6
# In seconds of CPU time of one process, and how much longer all of them may take, for a mutant
# that waits for ever: for the closest test files, and for all tests of a package.
LIMIT_CLOSEST = 400.0
LIMIT_PACKAGE = 2400.0
WALL_FACTOR = 4
_NO_TESTS_SELECTED = 5
# What pytest says if it cannot start because a mutated module cannot be imported.
_NOT_IMPORTED = "ImportError while loading conftest"
# After so many failed tests, a run with several mutants stops: some of them are caught by then.
_ENOUGH_FAILURES = 3
CAUGHT = ("caught", "time limit")
# The closest tests pass, the others are still to run.
UNDECIDED = "undecided"


# Choosing mutants


def package_of(file: str) -> str:
    """Return the name of the package that a file of `src/fullgraph` belongs to."""
    return Path(file).relative_to(SOURCE).parts[0]


def sample(packages: dict[str, int], seed: int) -> list[Mutant]:
    """Return a mixed sample: every operator in turn, at most one mutant per line."""
    chosen: list[Mutant] = []
    for package, count in packages.items():
        chosen += spread(all_mutants(package), count, random.Random(f"{seed} {package}"))
    return chosen


def all_mutants(package: str) -> list[Mutant]:
    """Return every mutant of a package."""
    return [
        mutant
        for file in sorted((ROOT / SOURCE / package).rglob("*.py"))
        for mutant in mutants_of(file.read_text("utf-8"), file.relative_to(ROOT).as_posix())
    ]


def survivors(packages: Iterable[str], results: list[dict[str, Any]]) -> list[Mutant]:
    """Return the mutants that no test has noticed, of whatever sample, if their code still exists.

    Any change of a package gives the same seed another sample; the ids of mutants stay the same.
    """
    ids = {each["id"] for each in results if each["outcome"] not in CAUGHT} - {*accepted()}
    return [each for package in packages for each in all_mutants(package) if each.id in ids]


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


def choose_tests(file: str, root: Path = ROOT) -> list[str]:
    """Return the test files of a module's package, those most likely to fail first."""
    found = [
        test.relative_to(root).as_posix()
        for place in TESTS[package_of(file)]
        for test in ([root / place] if place.endswith(".py") else (root / place).rglob("test_*.py"))
    ]
    return sorted(found, key=lambda test: (-_closeness(file, test, root), test))


def _closeness(file: str, test: str, root: Path) -> float:
    """Return how likely it is that a test file is about a module."""
    module = Path(file).relative_to("src").with_suffix("")
    dotted = ".".join(part for part in module.parts if part != "__init__")
    imports = re.search(rf"\b{re.escape(dotted)}\b", (root / test).read_text("utf-8")) is not None
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


class Outcome(NamedTuple):
    """What a run of tests found out."""

    outcome: str
    failed: list[str]


class Copy:
    """A copy of the project in which mutants are applied for the time of one run of tests."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder = folder
        self._workers = workers
        self._writes = 0

    def run_closest(self, mutant: Mutant) -> Outcome:
        """Run the tests that are most likely to notice a mutant, until the first one fails."""
        # Those of the copy: tests may be added while the sample runs.
        tests = choose_tests(mutant.file, self._folder)
        fixer = fixer_of(mutant.file)
        if fixer is not None:
            found = self.run_confirmed(mutant, [*tests, "-k", fixer])
            if found.outcome in CAUGHT:
                return found
        whole = WHOLE.get(package_of(mutant.file), [])
        return self.run_confirmed(mutant, [*dict.fromkeys([*whole, *tests[:CLOSEST]])])

    def run_confirmed(self, mutant: Mutant, arguments: list[str]) -> Outcome:
        """Run tests until one fails, and that one again, alone.

        These files never run together otherwise: a test may fail because of those before it.
        """
        arguments = [*arguments, "--maxfail=1"]
        with tempfile.TemporaryDirectory(prefix="fullgraph-failed-") as folder:
            arguments += ["-o", f"cache_dir={folder}"]
            found = self.run_tests([mutant], arguments, LIMIT_CLOSEST)
            if found.outcome == "caught" and found.failed:
                again = ["--last-failed", "--last-failed-no-failures=none"]
                found = self.run_tests([mutant], [*arguments, *again], LIMIT_CLOSEST)
        return found

    def run_package(self, mutants: list[Mutant], package: str) -> Outcome:
        """Run all tests of a package with several mutants of it at once."""
        arguments = [*TESTS[package], f"--maxfail={_ENOUGH_FAILURES}"]
        return self.run_tests(mutants, arguments, LIMIT_PACKAGE)

    def run_tests(self, mutants: list[Mutant], arguments: list[str], limit: float) -> Outcome:
        """Return the outcome of a run of pytest, and the names of the tests that failed."""
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(self._workers),
                   "--no-header", "--tb=no", *arguments]  # fmt: skip
        paths = os.pathsep.join([str(self._folder / "src"), str(self._folder)])
        environment = {**os.environ, "PYTHONPATH": paths}
        with self._mutated(mutants):
            code, output = _run(command, self._folder, environment, limit)
        # Without the parameters of a test, which may contain spaces.
        names = re.findall(r"^(?:FAILED|ERROR) ([^\s\[]+)", output, re.MULTILINE)
        failed = list(dict.fromkeys(names))
        if code is None or -code in (signal.SIGKILL, signal.SIGXCPU):
            outcome = "time limit"
        elif code in (0, _NO_TESTS_SELECTED):
            outcome = "survived"
        elif code in (1, 2, 3) or code < 0 or (mutants and _NOT_IMPORTED in output):
            outcome = "caught"
        else:
            sys.exit(f"pytest could not run the tests (exit code {code}):\n{output}")
        return Outcome(outcome, failed)

    @contextmanager
    def _mutated(self, mutants: list[Mutant]) -> Iterator[None]:
        files = {mutant.file for mutant in mutants}
        originals = {file: (self._folder / file).read_text("utf-8") for file in files}
        try:
            for file, text in originals.items():
                self._write(file, apply_all([each for each in mutants if each.file == file], text))
            yield
        finally:
            for file, text in originals.items():
                self._write(file, text)

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


def apply_all(mutants: list[Mutant], source: str) -> str:
    """Return the source of a module with these edits; later ones first, so that positions hold."""
    for mutant in sorted(mutants, key=lambda each: each.start, reverse=True):
        source = mutant.apply(source)
    return source


def run(mutants: list[Mutant], results: Path, workers: int, again: bool) -> None:
    """Run the tests for every mutant without a result, and append each result to the file."""
    found = {result["id"]: result for result in results_in(read_lines(results))}
    keep = CAUGHT if again else (*CAUGHT, "survived")
    left = [each for each in mutants if found.get(each.id, {}).get("outcome") not in keep]
    print(f"{len(mutants)} mutants, {len(mutants) - len(left)} have a result", flush=True)
    if not left:
        return
    with project_copy() as folder:
        copy = Copy(folder, workers)
        # New tests may be among the closest ones, so survivors start with those.
        waiting = [each for each in left if found.get(each.id, {}).get("outcome") == UNDECIDED]
        undecided = [] if again else waiting
        alone = [each for each in left if each not in undecided]
        for number, mutant in enumerate(alone, start=1):
            start = time.monotonic()
            outcome = copy.run_closest(mutant)
            if outcome.outcome == "survived":
                outcome = Outcome(UNDECIDED, [])
                undecided.append(mutant)
            print(f"{number}/{len(alone)}  ", end="")
            _note(results, mutant, outcome, time.monotonic() - start)
        for package in dict.fromkeys(package_of(mutant.file) for mutant in mutants):
            group = [mutant for mutant in undecided if package_of(mutant.file) == package]
            print(f"all tests of {package}, with {len(group)} mutants at once", flush=True)
            for mutant, outcome in decide(copy, package, group):
                _note(results, mutant, outcome, 0)


def decide(copy: Copy, package: str, mutants: list[Mutant]) -> Iterator[tuple[Mutant, Outcome]]:
    """Run all tests of a package with several mutants at once, and yield the outcome of each.

    Mutants that no test notices together are not noticed alone either. Without mutants this checks
    that the tests pass.
    """
    group = without_overlaps(mutants)
    found = copy.run_package(group, package)
    caught = dict(_culprits(copy, group, found.failed))
    yield from caught.items()
    if found.outcome == "survived" or (len(group) < 2 and not caught):
        yield from ((mutant, found) for mutant in group)
    elif not caught:
        # They are noticed together only, or a process ended before a test could fail.
        yield from decide(copy, package, group[::2])
        yield from decide(copy, package, group[1::2])
    # After a failure the others run again: the first mistake may have hidden theirs.
    done = caught if caught else group
    left = [mutant for mutant in mutants if mutant not in done]
    if left:
        yield from decide(copy, package, left)


def _culprits(
    copy: Copy, mutants: list[Mutant], failed: list[str]
) -> Iterator[tuple[Mutant, Outcome]]:
    """Yield the mutants with which one of these tests fails; exit if it fails without any."""
    caught: set[str] = set()
    for test in failed:
        if copy.run_tests([], [test], LIMIT_CLOSEST).outcome in CAUGHT:
            sys.exit(f"{test} fails without a mutant; correct that and delete the results")
        for mutant in mutants:
            if mutant.id not in caught:
                found = copy.run_tests([mutant], [test], LIMIT_CLOSEST)
                if found.outcome in CAUGHT:
                    caught.add(mutant.id)
                    yield mutant, Outcome(found.outcome, [test])


def without_overlaps(mutants: list[Mutant]) -> list[Mutant]:
    """Return as many of these mutants as can be applied together."""
    chosen: list[Mutant] = []
    for mutant in mutants:
        if not any(
            mutant.file == other.file and mutant.start < other.end and other.start < mutant.end
            for other in chosen
        ):
            chosen.append(mutant)
    return chosen


def _note(results: Path, mutant: Mutant, outcome: Outcome, seconds: float) -> None:
    """Append a result to the file, and print it."""
    result = {
        "id": mutant.id,
        "package": package_of(mutant.file),
        "file": mutant.file,
        "line": mutant.line,
        "operator": mutant.operator,
        "original": mutant.original,
        "replacement": mutant.replacement,
        "outcome": outcome.outcome,
        "noticed_by": "".join(outcome.failed[:1]),
        "seconds": round(seconds, 1),
    }
    append(results, result)
    print(f"{outcome.outcome:<10}  {_described(result)}", flush=True)


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
    decided = [result for result in results if result["outcome"] != UNDECIDED]
    counted = [result for result in decided if result["id"] not in reasons]
    for package in [*dict.fromkeys(result["package"] for result in counted), "all"]:
        mine = [each for each in counted if package in (each["package"], "all")]
        yield f"{package:<10} {_score(mine)}"
    undecided = [result for result in results if result["outcome"] == UNDECIDED]
    yield from _listed("to be run with all tests", undecided, {})
    survivors = [result for result in results if result["outcome"] == "survived"]
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
    if given.survivors:
        mutants = survivors(packages, results_in(read_lines(given.results)))
    else:
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
