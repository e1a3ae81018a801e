"""The result of one test of PyTorch, and the differences between two runs of it.

A worker process appends a `Started` and a `Record` for each test to a file of JSON lines. A
`Started` without a `Record` is a test during which the worker ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct, json

RELEASE = "2.13.0"
PASSED = "passed"
# What is compared, in the order of the summary.
CHECKS = {
    "harmless": "tests that pass without watching pass with it",
    "captured": "reports without a problem",
    "alarms": "tests that compile only with fullgraph=True have no break",
    "ids": "tests whose expected messages link to breaks, and the report has these ids",
    "counts": "tests whose graphs and operations are those of their CompileCounter",
    "explained": "reports whose differences from torch's counters are explained",
}


class Counts(Struct, frozen=True):
    """Graphs and the operations in them."""

    graphs: int
    ops: int

    def __str__(self) -> str:
        return f"{self.graphs} graphs with {self.ops} operations"


class Facts(Struct, frozen=True):
    """What a report says about one test, and what the test says about itself."""

    compiles: int
    problems: tuple[str, ...]
    # Break sites that raise no error, and skipped frames.
    alarms: tuple[str, ...]
    unexplained: tuple[str, ...]
    ids: tuple[str, ...]
    # The ids in the messages that the source of the test expects.
    expected_ids: tuple[str, ...]
    only_fullgraph: bool
    # The graphs that Dynamo gave to a CompileCounter, counted by the report and by the counter.
    ours: Counts
    theirs: Counts


class Started(Struct, frozen=True, tag="started"):
    """A test started."""

    test: str


class Record(Struct, frozen=True, tag="record"):
    """A test ended. Facts are None without watching, or if there is no report."""

    test: str
    outcome: str
    seconds: float
    error: str = ""
    facts: Facts | None = None


class Finished(Struct, frozen=True, tag="finished"):
    """The worker ran all tests of the file; with an error, it could not import the file."""

    error: str = ""


class Difference(Struct, frozen=True):
    """A check that a test does not meet."""

    check: str
    test: str
    message: str


class FileRun(Struct, frozen=True):
    """The tests of one file in one mode."""

    records: dict[str, Record]
    error: str = ""
    is_finished: bool = False


def append(file: Path, line: Started | Record | Finished) -> None:
    """Append one line at once, so that a crash of the process loses nothing."""
    with file.open("ab") as stream:
        stream.write(json.encode(line) + b"\n")


def read(file: Path) -> FileRun:
    """Read what a worker wrote; a test that did not end has the outcome `ended the process`."""
    records: dict[str, Record] = {}
    finished = None
    for text in file.read_bytes().splitlines() if file.exists() else ():
        line = json.decode(text, type=Started | Record | Finished)
        if isinstance(line, Started):
            records[line.test] = Record(line.test, "ended the process", 0.0)
        elif isinstance(line, Record):
            records[line.test] = line
        else:
            finished = line
    return FileRun(records, finished.error if finished else "", finished is not None)


def compare(
    plain: Mapping[str, Record], watched: Mapping[str, Record]
) -> tuple[dict[str, int], list[Difference]]:
    """Return how many tests each check applies to, and the tests that do not meet a check.

    Only tests that pass without watching are compared: the others may fail halfway.
    """
    passing = [test for test, record in plain.items() if record.outcome == PASSED]
    applied = dict.fromkeys(CHECKS, 0)
    differences = []
    for test in passing:
        record = watched.get(test, Record(test, "did not run", 0.0))
        for check, message in _checked(record):
            applied[check] += 1
            if message:
                differences.append(Difference(check, test, message))
    return applied, differences


def _checked(record: Record) -> Iterable[tuple[str, str]]:
    """Yield each check that applies, with its difference or an empty string."""
    harmed = "" if record.outcome == PASSED else f"{record.outcome} {record.error}".strip()
    yield "harmless", harmed
    facts = record.facts
    if facts is None:
        if not harmed:
            yield "captured", record.error or "no report"
        return
    yield "captured", "; ".join(facts.problems)
    yield "explained", "; ".join(facts.unexplained)
    if harmed:
        return
    if facts.only_fullgraph and facts.compiles:
        yield "alarms", "; ".join(facts.alarms)
    if facts.expected_ids:
        missing = sorted(set(facts.expected_ids) - set(facts.ids))
        found = ", ".join(facts.ids) or "none"
        yield "ids", f"{', '.join(missing)} not in the report ({found})" if missing else ""
    if facts.theirs.graphs or facts.ours.graphs:
        both = f"the report has {facts.ours}, CompileCounter {facts.theirs}"
        yield "counts", both if facts.ours != facts.theirs else ""


def matches(patterns: Iterable[str], name: str) -> bool:
    """Return whether a name FILE[.CLASS[.TEST]] fits a pattern FILE[.CLASS[.TEST]].

    Only the parts that both have are compared. Without patterns every name fits.
    """
    parts = name.split(".")
    wanted = [pattern.split(".") for pattern in patterns]
    return not wanted or any(
        all(fnmatchcase(part, pattern) for part, pattern in zip(parts, each, strict=False))
        for each in wanted
    )


def test_folder(folder: Path) -> Path | None:
    """Return the folder with the test files: `test/dynamo` of a checkout, or the folder itself."""
    candidates = (folder / "test" / "dynamo", folder / "dynamo", folder)
    return next((each for each in candidates if any(each.glob("test_*.py"))), None)


def checkout_version(tests: Path) -> str | None:
    """Return the version of the checkout that a folder is in; None without a `version.txt`."""
    for parent in tests.resolve().parents:
        if (parent / "version.txt").exists():
            return (parent / "version.txt").read_text(encoding="utf-8").strip()
    return None


def version_notes(checkout: str | None, installed: str) -> list[str]:
    """Return what is unusual about the versions of the tests and of the installed torch."""
    notes = []
    if checkout is None:
        notes.append("the folder is in no checkout with a version.txt; its version is unknown")
    elif _release(checkout) != RELEASE:
        notes.append(f"the tests are of {checkout}; the benchmark is made for {RELEASE}")
    if checkout and _release(checkout) != _release(installed):
        notes.append(f"the tests are of {checkout}, but the installed torch is {installed}")
    elif _release(installed) != RELEASE:
        notes.append(f"the installed torch is {installed}; the benchmark is made for {RELEASE}")
    return notes


def _release(version: str) -> str:
    """Return `2.13.0` for `2.13.0a0+git1234` and the like."""
    digits = version.partition("+")[0]
    for mark in ("a", "b", "rc", ".dev"):
        digits = digits.partition(mark)[0]
    return digits
