"""Run the truth table and a part of the catalog on other releases of torch: docs/support.md.

    python -m bench releases                        all releases
    python -m bench releases --release 2.9.1        one of them; the others keep their results
    python -m bench releases --environments FOLDER  keep and reuse the environments

Each release gets an environment of its own in a temporary folder, which is removed afterwards. The
default wheels of torch for Linux contain CUDA: an environment takes about 5 GB while it exists.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

from bench._environment import PROJECT, environment, variables
from fullgraph.catalog.parse import example_ids

DOCUMENT = PROJECT / "docs" / "support.md"
# What was found out by hand, which is part of the document.
NOTES = Path(__file__).with_name("release_notes.md")
RELEASES = ("2.8.0", "2.9.1", "2.11.0", "2.15.0")
TESTS = ("tests/analysis/test_truth_table.py", "tests/analysis/test_truth_table_pytorch.py")
# One example in twelve, the same ones for every release.
_SAMPLE = 12
_TOOLS = ("numpy", "pytest", "pytest-xdist", "hypothesis", "click")
_DATA = re.compile(r"<!-- data\n(.*?)\n-->", re.DOTALL)

_NO_ID = "this release raises it without a registry id; the rest is equal"
_NESTED = "the setting nested_graph_breaks does not exist yet"

# Why programs give another result: the start of their name, or the id of an example; the releases;
# the reason. Everything else must be equal.
REASONS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("test_a_backend_that_refuses_", ("2.8.0",), _NO_ID),
    ("test_a_break_in_a_loop_", ("2.8.0", "2.9.1"),
     "Dynamo does not report the break of the loop together with its cause"),
    ("test_a_break_in_the_standard_library_", ("2.8.0", "2.9.1", "2.11.0"),
     "Dynamo stops at the call of copy.deepcopy, and not inside of it"),
    ("test_a_break_under_nested_graph_breaks_", ("2.8.0",), _NESTED),
    ("test_branches_of_nested_breaks_", ("2.8.0",), _NESTED),
    ("test_a_higher_order_operator_", ("2.8.0", "2.9.1"),
     "torch's own message does not contain the reason"),
    ("test_a_limit_that_raises_a_break_", ("2.8.0",),
     "torch._dynamo.error_on_graph_break does not exist yet"),
    ("test_a_limit_that_raises_a_break_", ("2.9.1",), _NO_ID),
    ("test_a_limit_that_raises_an_error_", ("2.8.0", "2.9.1"),
     "torch raises it without a registry id, and 2.8 with other words"),
    ("test_a_module_made_inside_", ("2.8.0",), _NO_ID),
    ("test_an_error_keeps_its_id_", ("2.8.0", "2.9.1"), _NO_ID),
    ("test_an_error_without_torchs_stack_has_the_line_that_raised_it[replaced]",
     ("2.8.0", "2.9.1", "2.11.0"), "Dynamo does not replace the error of this program"),
    ("test_breaks_that_go_with_another_one_are_its_cascading_breaks[enters]", ("2.8.0", "2.9.1"),
     "Dynamo fails on this program with an error of its own"),
    ("GB0051", ("2.15.0",), "torch raises GB0088 instead"),
    ("GB0121", ("2.15.0",), "torch no longer breaks here"),
    ("GB0139", ("2.15.0",), "torch no longer breaks here"),
    ("GB2852", ("2.15.0",), "torch no longer breaks here"),
    ("GB4347", ("2.15.0",), "torch raises GB9493 instead"),
)  # fmt: skip

# What a run found: "equal", "not there" or how it differs; by program, then by release.
Results = dict[str, dict[str, str]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--release", action="append", help="releases: a release of torch")
    parser.add_argument(
        "--environments", type=Path, metavar="FOLDER", help="releases: keep the environments here"
    )


def main(options: argparse.Namespace) -> bool:
    """Write docs/support.md and return whether every difference has a reason."""
    if "releases" not in options.benchmarks:
        print("releases: skipped because it installs 20 GB; run it with python -m bench releases")
        return True
    results = _previous()
    for release in options.release or RELEASES:
        print(f"releases: torch {release}", flush=True)
        found = _run(release, options.environments)
        for program, outcome in found.items():
            results.setdefault(program, {})[release] = outcome
    DOCUMENT.write_text(document(results), "utf-8")
    open_questions = list(without_reason(results))
    print("".join(f"  no reason for {line}\n" for line in open_questions), end="")
    print(f"releases: {len(results)} programs, {len(open_questions)} differences without a reason")
    return not open_questions


def _previous() -> Results:
    """Return the results in docs/support.md; none if it does not exist."""
    match = _DATA.search(DOCUMENT.read_text("utf-8")) if DOCUMENT.exists() else None
    results: Results = json.loads(match[1]) if match else {}
    return results


def _run(release: str, environments: Path | None) -> dict[str, str]:
    kept = environments / release if environments else None
    with environment(release, _TOOLS, kept) as python:
        return {**_truth_table(python), **_catalog(python)}


def _truth_table(python: Path) -> dict[str, str]:
    """Run the tests of the truth table; return their outcomes by name."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.xml"
        subprocess.run(
            [python, "-m", "pytest", "-q", "-n", "2", f"--junitxml={file}", *TESTS],
            cwd=PROJECT, env=variables(), check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        cases = ElementTree.parse(file).getroot().iter("testcase")
        return {str(case.get("name")): _outcome(case) for case in cases}


def _outcome(case: ElementTree.Element) -> str:
    failure = case.find("failure")
    if failure is None:
        failure = case.find("error")
    if failure is None:
        return "equal"
    message = (failure.get("message") or "failed").splitlines()[0]
    # The folders of one machine say nothing to a reader.
    return re.sub(r"/[\w./-]*/", "", message)[:200]


def _catalog(python: Path) -> dict[str, str]:
    """Check a sample of the catalog; return the outcomes by id."""
    ids = example_ids()[::_SAMPLE]
    done = subprocess.run(
        [python, "-m", "fullgraph", "catalog", "check", *ids],
        cwd=PROJECT, env=variables(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        sys.exit(f"the catalog cannot be checked: {done.stderr.strip()[-500:]}")
    failures = dict(re.findall(r"^(GB\d+): (.*)", done.stdout, re.MULTILINE)[::-1])
    return {identifier: failures.get(identifier, "equal")[:200] for identifier in ids}


def without_reason(results: Results) -> Iterator[str]:
    """Yield the differences that `REASONS` does not explain."""
    for program, outcomes in results.items():
        for release, outcome in outcomes.items():
            if outcome != "equal" and not reason_for(program, release):
                yield f"{program} on {release}: {outcome}"


def reason_for(program: str, release: str) -> str:
    """Return why a program gives another result on a release; empty if there is no reason."""
    reasons = (
        reason
        for start, releases, reason in REASONS
        if program.startswith(start) and release in releases
    )
    return next(reasons, "")


def document(results: Results) -> str:
    """Return docs/support.md."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Results) -> Iterable[str]:
    releases = sorted(
        {release for outcomes in results.values() for release in outcomes},
        key=lambda release: [int(part) for part in release.split(".")],
    )
    yield "# Releases of torch"
    yield ""
    yield "These are the releases of torch on which fullgraph was tried. `python -m bench releases`"
    yield "wrote this file. The programs of the truth table ([counting.md](counting.md)) and a"
    yield "sample of the catalog ran on these releases, and the results were compared with those of"
    yield "torch 2.13.0, on which all tests run."
    yield ""
    yield "| torch | programs | equal | with a reason below |\n| --- | --- | --- | --- |"
    for release in releases:
        outcomes = [each[release] for each in results.values() if release in each]
        equal = sum(outcome == "equal" for outcome in outcomes)
        yield f"| {release} | {len(outcomes)} | {equal} | {len(outcomes) - equal} |"
    yield ""
    yield "| program | torch | difference |\n| --- | --- | --- |"
    for program, by_release in results.items():
        for release, outcome in by_release.items():
            if outcome != "equal":
                reason = reason_for(program, release) or f"no reason known: {outcome}"
                yield f"| {program.replace('|', chr(92) + '|')} | {release} | {reason} |"
    yield ""
    yield NOTES.read_text(encoding="utf-8").rstrip()
    yield ""
    yield f"<!-- data\n{json.dumps(results, sort_keys=True)}\n-->"
