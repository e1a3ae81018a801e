"""Compare `fullgraph recompiles` with what programs expect of it, and measure what it takes.

    python -m bench recompiles [--named NAME,...] [--programs FOLDER]   one program per reason
    python -m bench recompiles --groups                                 the same, no replays
    python -m bench recompiles --many                                   200 recompiles
    python -m bench recompiles --zoo                                    five models of the zoo

A program passes if its groups, their values and the user's lines are those of its header
(`bench/recompile_programs/README.md`), if it gets a verified remedy exactly where one is expected,
and if no offered remedy raises or changes a result on calls that the program does not make.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import _recompile_programs, _recompile_zoo
from bench._environment import PROJECT, variables
from bench._recompile_programs import Program
from bench._remedied_calls import make_repository, wrong_remedies
from bench._timing import seconds_of, take_turns, verdict

AT_LEAST_VERIFIED = 20
MANY = _recompile_programs.FOLDER / "many" / "two_hundred.py"
AT_MOST_TIMES = 3.0
_ROUNDS = 3
# The time limit of the command; that of `--groups` leaves no time for replays.
_TIME, _TIME_WITHOUT_REPLAYS = "300", "5"
_SECONDS = 900


@dataclass(frozen=True)
class Result:
    """What is wrong with the report of one program, and the remedies that it offers."""

    program: Program
    facts: tuple[str, ...]
    lines: tuple[str, ...]
    advice: tuple[str, ...]
    calls: tuple[str, ...]
    remedies: tuple[str, ...]
    verified: bool

    @property
    def is_right(self) -> bool:
        return not (self.facts or self.lines or self.advice or self.calls)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--named", metavar="NAME,...", help="recompiles: only these programs")
    parser.add_argument(
        "--programs", type=Path, metavar="FOLDER", help="recompiles: other programs"
    )
    parser.add_argument("--groups", action="store_true", help="recompiles: without replays")
    parser.add_argument("--many", action="store_true", help="recompiles: the time that it takes")
    parser.add_argument("--zoo", action="store_true", help="recompiles: models of the zoo")


def main(options: argparse.Namespace) -> bool:
    """Print what is wrong and return whether the required numbers are reached."""
    if options.zoo:
        return _recompile_zoo.main()
    if options.many:
        return _measure_many()
    return _compare_all(options) and (bool(options.named or options.programs) or _measure_many())


def _compare_all(options: argparse.Namespace) -> bool:
    folder = options.programs or _recompile_programs.FOLDER
    names = options.named.split(",") if options.named else None
    paths = [path for path in sorted(folder.glob("*.py")) if names is None or path.stem in names]
    print(f"  {'program':18} {'group':7} {'line':7} {'remedy':9} {'other calls':11}  first remedy")
    with ThreadPoolExecutor(2) as pool:
        compare = _compare_groups if options.groups else _compare
        results = [_show(result) for result in pool.map(compare, paths)]
    if options.groups:
        return _total_of_groups(results)
    return _total(results, complete=names is None)


def _compare(path: Path) -> Result:
    """Compare a report, whose first remedy is written, and the remedies on other calls."""
    program = _recompile_programs.program(path)
    with TemporaryDirectory() as name:
        folder = Path(name)
        copied = make_repository(path, folder / "applied")
        report, error = _report(copied, folder, "--apply", "1", "--time", _TIME)
        if report is None:
            return Result(program, (f"no report: {error}",), (), (), (), (), False)
        calls = tuple(wrong_remedies(program, report, copied))
    return _judge(program, report["groups"], calls)


def _compare_groups(path: Path) -> Result:
    program = _recompile_programs.program(path)
    with TemporaryDirectory() as folder:
        report, error = _report(path, Path(folder), "--time", _TIME_WITHOUT_REPLAYS)
    if report is None:
        return Result(program, (f"no report: {error}",), (), (), (), (), False)
    return replace(_judge(program, report["groups"], ()), advice=())


def _report(path: Path, folder: Path, *more: str) -> tuple[dict[str, Any] | None, str]:
    """Return the report of a program, or None and the last line of the error."""
    output = folder / "recompiles.json"
    command = [
        sys.executable, "-m", "fullgraph", "recompiles", *more,
        "--format", "json", "-o", str(output), str(path),
    ]  # fmt: skip
    run = _run(command)
    if output.exists():
        return json.loads(output.read_text(encoding="utf-8")), ""
    return None, (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            cwd=PROJECT, env=variables(), capture_output=True, text=True, timeout=_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no result after {_SECONDS} s")


def _judge(program: Program, advice: list[dict[str, Any]], calls: tuple[str, ...]) -> Result:
    found = _recompile_programs.matched(program, advice)
    facts: list[str] = []
    lines: list[str] = []
    wrong: list[str] = []
    for expected, index in zip(program.groups, found, strict=True):
        if index is None:
            facts.append(f"missing: {expected['kind']} of {expected.get('name', 'torch')}")
            continue
        group = advice[index]["group"]
        facts += _recompile_programs.wrong_facts(expected, group)
        lines += _recompile_programs.wrong_lines(expected, group, program.path)
        wrong += _wrong_advice(expected["remedy"], advice[index])
    facts += [_described(advice[i]["group"]) for i in range(len(advice)) if i not in found]
    remedies = [each["name"] for one in advice for each in one["remedies"]]
    verified = any(_is_verified(each) for one in advice for each in one["remedies"])
    return Result(
        program, tuple(facts), tuple(lines), tuple(wrong), calls, tuple(remedies), verified
    )


def _described(group: dict[str, Any]) -> str:
    values = " → ".join(group["values"])
    return f"not expected: {group['kind']} of {group['place']} {group['name']!r}: {values}"


def _wrong_advice(expected: str, advice: dict[str, Any]) -> Iterator[str]:
    remedies = advice["remedies"]
    if expected == "none" and remedies:
        yield f"advice, although the recompiles are right: {_titles(remedies)}"
    if expected == "verified" and not any(_is_verified(each) for each in remedies):
        yield f"no verified remedy; offered: {_titles(remedies) or 'nothing'}; {advice['why']}"


def _is_verified(remedy: dict[str, Any]) -> bool:
    replay = remedy["replay"]
    return replay is not None and replay["outputs_equal"] and remedy["kind"] != "unsafe"


def _titles(remedies: list[dict[str, Any]]) -> str:
    return ", ".join(remedy["name"] for remedy in remedies)


def _show(result: Result) -> Result:
    columns = [result.facts, result.lines, result.advice, result.calls]
    words = ["WRONG" if wrong else "right" for wrong in columns]
    first = result.remedies[0] if result.remedies else "–"
    print(
        f"  {result.program.path.stem:18} {words[0]:7} {words[1]:7} {words[2]:9} {words[3]:11}  "
        f"{first}",
        flush=True,
    )
    for problem in (problem for wrong in columns for problem in wrong):
        print(f"      {problem}", flush=True)
    return result


def _total_of_groups(results: list[Result]) -> bool:
    right = sum(result.is_right for result in results)
    print(f"recompiles: {right} of {len(results)} programs with the right groups and lines")
    return right == len(results)


def _total(results: list[Result], *, complete: bool) -> bool:
    groups = sum(not result.facts for result in results)
    lines = sum(not (result.facts or result.lines) for result in results)
    verified = sum(result.verified for result in results)
    harmful = sum(bool(result.calls) for result in results)
    silent = [result for result in results if result.program.remedy == "none"]
    spoken = sum(bool(result.remedies) for result in silent)
    print(
        f"recompiles: {groups} of {len(results)} programs with the right groups and values, "
        f"{lines} also with the right lines; {verified} with a verified remedy (at least "
        f"{AT_LEAST_VERIFIED}); advice for {spoken} of {len(silent)} that are right and bounded; "
        f"{harmful} with a remedy that fails on other calls"
    )
    reached = not complete or verified >= AT_LEAST_VERIFIED
    return reached and lines == len(results) and not spoken and not harmful


def _measure_many() -> bool:
    """Compare the time of `fullgraph recompiles` with that of the program alone."""
    with TemporaryDirectory() as folder:
        report, error = _report(MANY, Path(folder))
    if report is None:
        print(f"recompiles: no report of {MANY.name}: {error}")
        return False
    plain, watched = take_turns(
        _ROUNDS,
        lambda: seconds_of([sys.executable, str(MANY)]),
        lambda: seconds_of([sys.executable, "-m", "fullgraph", "recompiles", str(MANY)]),
    )
    recompiles = report["summary"]["recompiles"]
    print(f"recompiles: a program with {recompiles} recompiles, which takes {plain:.1f} s")
    for each in report["groups"]:
        group, best = each["group"], _titles(each["remedies"][:1]) or each["why"] or "–"
        print(f"  {group['kind']:10} {group['recompiles']:4} recompiles  {best}")
    return verdict("fullgraph recompiles, to the program alone", watched / plain, AT_MOST_TIMES)
