"""Compare prices of root causes with leaving them out, and measure what `--cost` itself costs.

    python -m bench cost                          prices, and the time that --cost adds
    python -m bench cost --cost-only NAME,...     some programs of bench/cost_programs, or "bert"
    python -m bench cost --most-broken            the shares of the zoo's most broken models
    python -m bench cost --explain 'FILE ARG...'  the shares of any other program

Each program of `bench/cost_programs` says in its docstring which root causes it has. Its variants,
with and without each of them, take turns in one process; the difference is the price that
`fullgraph run --cost` should give. Results are printed one by one, and a run that was interrupted
continues where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import _zoo
from bench._environment import PROJECT, variables
from bench._finished import Finished
from bench._timing import verdict_line
from fullgraph.model.report import Report, load_report

PROGRAMS = Path(__file__).parent / "cost_programs"
ZOO_PROGRAM = Path(__file__).parent / "zoo_programs" / "most_broken.py"
# The models with the most breaks (occurrences) in the zoo's development set.
MOST_BROKEN = (
    "PaddleOCRVLForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration",
    "Qwen2VLForConditionalGeneration",
    "Glm4vForConditionalGeneration",
    "PaddleOCRVisionModel",
)
BERT = Path(__file__).parent / "programs" / "bert.py"
ROUNDS = 3
# A price may differ by this part of what leaving the cause out saves, or by so many milliseconds.
_MOST_PART = 0.15
_MOST_MILLISECONDS = 0.3
_LEAST_EXPLAINED = 0.95
_MOST_SLOWDOWN = 1.10

# The lines that a measurement prints, and whether it reached its number.
Outcome = tuple[list[str], bool]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--cost-only", metavar="NAME,...", help="cost: only these programs, or bert"
    )
    parser.add_argument(
        "--cost-rounds", type=int, default=ROUNDS, metavar="N", help="cost: rounds per program"
    )
    parser.add_argument(
        "--most-broken", action="store_true", help="cost: the most broken models of the zoo"
    )
    parser.add_argument(
        "--explain",
        action="append",
        default=[],
        metavar="COMMAND",
        help="cost: only the shares of this program, such as 'train.py --small'",
    )


def main(options: argparse.Namespace) -> bool:
    """Print the prices and return whether all are close enough."""
    if options.most_broken or options.explain:
        return _explain_all(options)
    steps = _steps(options.cost_rounds)
    names = options.cost_only.split(",") if options.cost_only else list(steps)
    unknown = [name for name in names if name not in steps]
    if unknown:
        sys.exit(f"there is no {unknown[0]} (there are: {', '.join(steps)})")
    print("cost: prices from fullgraph run --cost and from leaving a cause out", flush=True)
    return _run_steps({name: steps[name] for name in names}, options.cost_rounds)


def _steps(rounds: int) -> dict[str, Callable[[], Outcome]]:
    programs = [path for path in sorted(PROGRAMS.glob("*.py")) if not path.stem.startswith("_")]
    steps: dict[str, Callable[[], Outcome]] = {
        path.stem: lambda path=path: _compare(path, rounds)  # type: ignore[misc]
        for path in programs
    }
    steps["bert"] = lambda: _slowdown("no breaks", rounds)
    steps["bert_breaks"] = lambda: _slowdown("a break in every layer", rounds, "breaks")
    return steps


def _run_steps(steps: dict[str, Callable[[], Outcome]], rounds: int) -> bool:
    """Print each step, from an interrupted run if that has it; return whether all passed."""
    finished = Finished("cost", [PROJECT / "src", PROJECT / "bench"])
    passed = []
    for name, step in steps.items():
        key = f"{name}, {rounds} rounds"
        lines, is_passed = finished.get(key) or step()
        if finished.get(key) is None:
            finished.add(key, (lines, is_passed))
        print("\n".join(lines), flush=True)
        passed.append(is_passed)
    finished.clear()
    return all(passed)


def _compare(program: Path, rounds: int) -> Outcome:
    """Compare the price of each root cause of a program."""
    causes = _expected(program)
    names = [cause["name"] for cause in causes]
    saved: dict[str, list[float]] = {name: [] for name in names}
    prices: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        times = _timed_variants(program, names)
        report = _report([str(program)])
        for cause in causes:
            name = cause["name"]
            saved[name].append(times["whole"] - times["without"][name])
            prices[name].append(_price(report, cause["line"]))
    lines, passed = [], []
    for name in names:
        line, is_close = _judge(f"{program.stem}, {name}", prices[name], saved[name])
        lines.append(line)
        passed.append(is_close)
    return lines, all(passed)


def _judge(name: str, prices: Sequence[float], saved: Sequence[float]) -> tuple[str, bool]:
    """Compare the medians of the rounds."""
    price, wanted = statistics.median(prices), statistics.median(saved)
    allowed = max(_MOST_PART * abs(wanted), _MOST_MILLISECONDS)
    is_close = abs(price - wanted) <= allowed
    line = (
        f"  {name:36} price {price:6.2f} ms ({min(prices):.2f} to {max(prices):.2f}), left out "
        f"{wanted:6.2f} ms ({min(saved):.2f} to {max(saved):.2f}), "
        f"allowed ±{allowed:.2f}  {'ok' if is_close else 'MISSED'}"
    )
    return line, is_close


def _expected(program: Path) -> list[dict[str, Any]]:
    """Return the root causes that the docstring of a program lists."""
    text = re.search(r'"""(.*?)"""', program.read_text(), re.DOTALL)
    assert text is not None
    causes: list[dict[str, Any]] = tomllib.loads(text[1][text[1].index("[[causes]]") :])["causes"]
    return causes


def _timed_variants(program: Path, names: Sequence[str]) -> dict[str, Any]:
    output = _output("-m", "bench._cost_variants", str(program), *names)
    times: dict[str, Any] = json.loads(output.splitlines()[-1])
    return times


def _report(command: Sequence[str], *paths: Path) -> Report:
    """Run a program with `--cost`; `paths` are folders that it imports from."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        arguments = ["run", "--cost", "--format", "json", "-o", str(path), *command]
        _output("-m", "fullgraph", *arguments, paths=paths)
        return load_report(path)


def _output(*arguments: str, paths: Sequence[Path] = ()) -> str:
    """Return the output of a Python program that runs without an error."""
    path = os.pathsep.join(map(str, [PROJECT / "src", *paths]))
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=PROJECT,
        env=variables(PYTHONPATH=path),
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout


def _price(report: Report, line: str) -> float:
    """Return the price in milliseconds of the root causes at a line; NaN if it cannot be told."""
    assert report.cost is not None
    keys = {cause.key for cause in report.causes if _is_at(cause, line)}
    found = [each.price for each in report.cost.causes if each.site in keys]
    known = [price.seconds * 1000 for price in found if price is not None]
    return sum(known) if known else float("nan")


def _is_at(cause: Any, line: str) -> bool:
    frames = (*cause.stack, *([cause.shown] if cause.shown else []))
    return any(frame.code.strip() == line for frame in frames)


def _explain_all(options: argparse.Namespace) -> bool:
    """Return whether enough of the calls of some programs is explained."""
    print("cost: the shares of a call that fullgraph run --cost explains", flush=True)
    passed = [_explained(command, *command.split()) for command in options.explain]
    if options.most_broken:
        zoo = _zoo.folder()
        if zoo is None:
            print("cost: set FULLGRAPH_ZOO to the zoo's folder")
            return False
        passed += [_explained(name, str(ZOO_PROGRAM), name, zoo=zoo) for name in MOST_BROKEN]
    return all(passed)


def _explained(name: str, *command: str, zoo: Path | None = None) -> bool:
    """Print the shares of a program, and return whether enough is explained."""
    cost = _report(command, *([zoo] if zoo is not None else [])).cost
    if cost is None or cost.explained is None:
        reason = cost.reason if cost is not None else "there are no calls"
        print(f"  {name:40} cannot be told: {reason}  MISSED", flush=True)
        return False
    is_enough = cost.explained >= _LEAST_EXPLAINED
    causes = len([each for each in cost.causes if each.price is not None])
    print(
        f"  {name:40} {cost.explained:6.1%} explained (at least {_LEAST_EXPLAINED:.0%}), "
        f"{causes} of {len(cost.causes)} root causes have a price, "
        f"{cost.at_least:.0%} to {cost.at_most:.0%} would go away  "
        f"{'ok' if is_enough else 'MISSED'}",
        flush=True,
    )
    return is_enough


def _slowdown(name: str, rounds: int, *arguments: str) -> Outcome:
    """Compare steady calls of a BERT-sized model with and without `--cost`."""
    plain: list[float] = []
    measured: list[float] = []
    for _ in range(rounds):
        plain.append(_steady(str(BERT), *arguments))
        measured.append(_steady("-m", "fullgraph", "run", "--cost", str(BERT), *arguments))
    ratio = statistics.median(a / b for a, b in zip(measured, plain, strict=True))
    line = verdict_line(f"a timed steady call of bert, {name}", ratio, _MOST_SLOWDOWN)
    return [line], ratio <= _MOST_SLOWDOWN


def _steady(*arguments: str) -> float:
    return float(json.loads(_output(*arguments))["steady"])
