"""Compare prices of root causes with leaving them out, and measure what `--cost` itself costs.

Each program of `bench/cost_programs` says in its docstring which root causes it has. `--without`
leaves one out; the difference between two runs is the price that `fullgraph run --cost` should
give. The runs take turns. `--explain` runs any other program, for the share that is explained.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench._timing import verdict
from fullgraph.model.cost import CostReport
from fullgraph.model.report import Report, load_report

PROGRAMS = Path(__file__).parent / "cost_programs"
BERT = Path(__file__).parent / "programs" / "bert.py"
ROUNDS = 5
# A price may differ by this part of what leaving the cause out saves, or by so many milliseconds.
_MOST_PART = 0.15
_MOST_MILLISECONDS = 0.3
_LEAST_EXPLAINED = 0.95
_MOST_SLOWDOWN = 1.10


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--explain",
        action="append",
        default=[],
        metavar="COMMAND",
        help="cost: also run this program, such as 'zoo_programs/most_broken.py NAME'",
    )
    parser.add_argument("--cost-only", default="", metavar="PROGRAM", help="cost: one program")


def main(options: argparse.Namespace) -> bool:
    """Print the prices and return whether all are close enough."""
    print(f"cost: prices from fullgraph run --cost and from leaving a cause out, {ROUNDS} rounds")
    programs = [path for path in sorted(PROGRAMS.glob("*.py")) if not path.stem.startswith("_")]
    wanted = [path for path in programs if options.cost_only in ("", path.stem)]
    passed = [_compare(path) for path in wanted]
    passed += [_explained(command.split()) for command in options.explain]
    if not options.cost_only:
        passed += [_slowdown("no breaks"), _slowdown("a break in every layer", "breaks")]
    return all(passed)


def _compare(program: Path) -> bool:
    """Compare the price of each root cause of a program."""
    causes = _expected(program)
    names = [cause["name"] for cause in causes]
    whole: list[float] = []
    without: dict[str, list[float]] = {name: [] for name in names}
    prices: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(ROUNDS):
        whole.append(_steady(program))
        for name in names:
            without[name].append(_steady(program, "--without", name))
        report = _report([str(program)])
        for cause in causes:
            prices[cause["name"]].append(_price(report, cause["line"]))
    # The run that other programs disturbed least counts, on both sides.
    passed = [
        _verdict(f"{program.stem}, {name}", min(prices[name]), min(whole) - min(without[name]))
        for name in names
    ]
    return all(passed)


def _verdict(name: str, price: float, saved: float) -> bool:
    allowed = max(_MOST_PART * abs(saved), _MOST_MILLISECONDS)
    is_close = abs(price - saved) <= allowed
    print(
        f"  {name:40} price {price:6.2f} ms, left out {saved:6.2f} ms, "
        f"allowed ±{allowed:.2f}  {'ok' if is_close else 'MISSED'}"
    )
    return is_close


def _expected(program: Path) -> list[dict[str, Any]]:
    """Return the root causes that the docstring of a program lists."""
    text = re.search(r'"""(.*?)"""', program.read_text(), re.DOTALL)
    assert text is not None
    causes: list[dict[str, Any]] = tomllib.loads(text[1][text[1].index("[[causes]]") :])["causes"]
    return causes


def _steady(program: Path, *arguments: str) -> float:
    """Return the median of the timed calls in milliseconds, without fullgraph."""
    command = [sys.executable, str(program), *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(output.splitlines()[-1])["steady_ms"])


def _report(command: Sequence[str]) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        subprocess.run(
            [sys.executable, "-m", "fullgraph", "run", "--cost", "--format", "json",
             "-o", str(path), *command],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return load_report(path)


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


def _explained(command: Sequence[str]) -> bool:
    """Return whether enough of the calls of a program is explained."""
    cost: CostReport | None = _report(command).cost
    explained = cost.explained if cost is not None else None
    name = " ".join(Path(command[0]).stem.split() + list(command[1:]))
    if explained is None:
        print(f"  {name:56} cannot be told: {cost.reason if cost else 'no calls'}  MISSED")
        return False
    is_enough = explained >= _LEAST_EXPLAINED
    print(
        f"  {name:56} {explained:6.1%} explained (at least {_LEAST_EXPLAINED:.0%})  "
        f"{'ok' if is_enough else 'MISSED'}"
    )
    return is_enough


def _slowdown(name: str, *arguments: str) -> bool:
    """Compare steady calls of a BERT-sized model with and without `--cost`."""
    plain: list[float] = []
    measured: list[float] = []
    for _ in range(ROUNDS):
        plain.append(_bert(str(BERT), *arguments))
        measured.append(_bert("-m", "fullgraph", "run", "--cost", str(BERT), *arguments))
    ratio = statistics.median(a / b for a, b in zip(measured, plain, strict=True))
    return verdict(f"a timed steady call of bert, {name}", ratio, _MOST_SLOWDOWN)


def _bert(*arguments: str) -> float:
    output = subprocess.run(
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout
    return float(json.loads(output)["steady"])
