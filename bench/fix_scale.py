"""How the cost of `fullgraph fix` grows with the number of graph breaks.

    python -m bench fix_scale [--breaks 4,16,64] [--scale-programs FOLDER]

Programs with 4, 16 and 64 breaks of mixed kinds, in one function or each in its own. The cost is
the CPU time of the whole process tree until the verified result is printed, timing apart. All root
causes have to be fixed, by fixes that are safe or state what they assume or change, and 64 breaks
may cost at most five times as much as 16. With --scale-programs, the programs of a folder run
instead; numbers in their names are taken for numbers of breaks.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench._timing import cpu_seconds

_MOST = 5.0
# Of fewer breaks, most of the cost is that of starting.
_MANY = 64
_LAYOUTS = ("one function", "functions")
# Each is a break that some fixer removes.
_KINDS = (
    """\
if x[0].sum() > x[1].sum():
    x = x * 0.{number}
else:
    x = x - 0.{number}
""",
    """\
x = x * 1.{number}
torch._dynamo.graph_break()
""",
    """\
print(f"block {number}: {{x.mean().item():.3f}}")
""",
    """\
for is_odd, _ in itertools.groupby((1, 3, {number}), lambda each: each % 2 == 1):
    x = x * 0.5 + is_odd
""",
    # After it, the sum is zero but for rounding errors.
    """\
x = x - x.mean().item()
""",
    """\
x = x / (1 + x.abs().max().item())
""",
    """\
if x.sum() > {number}.25:
    x = x * 0.5
else:
    x = x + 0.5
""",
)
_HEAD = "import itertools\n\nimport torch\nimport torch._dynamo\n"
_MAIN = """
class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 8)

    def forward(self, x):
        return model(self.first(x))


if __name__ == "__main__":
    torch.manual_seed(0)
    compiled = torch.compile(Network(), backend="eager")
    for _ in range(2):
        print(compiled(torch.randn(4, 8)).shape)
"""
_HEADLINE = re.compile(r"(\d+) root causes? · (\d+) fixed.* · (\d+) remaining")


class _Program(NamedTuple):
    name: str
    # Programs of one series differ in their number of breaks.
    series: str
    breaks: int
    text: str


class _Measured(NamedTuple):
    # Root causes that are seen at first; others are hidden behind them.
    causes: int
    fixed: int
    remaining: int
    # CPU seconds of the program itself, and of finding its fixes.
    own: float
    cost: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--breaks", default="4,16,64", metavar="NUMBER,...", help="fix_scale: how many breaks"
    )
    parser.add_argument("--scale-programs", metavar="FOLDER", help="fix_scale: run these programs")


def main(options: argparse.Namespace | None = None) -> bool:
    """Measure all programs; return whether all is fixed and the cost is linear."""
    print("  | program | root causes | fixed | remaining | own run, CPU s | fix, CPU s | ratio |")
    print("  | --- | --- | --- | --- | --- | --- | --- |")
    costs: dict[tuple[str, int], float] = {}
    is_good = True
    for given in _programs(options):
        found = _measure(given)
        costs[given.series, given.breaks] = found.cost
        is_good = is_good and 0 < found.causes == found.fixed and not found.remaining
        cells = [
            given.name,
            *map(str, (found.causes, found.fixed, found.remaining)),
            *(f"{each:.1f}" for each in (found.own, found.cost, found.cost / found.own)),
        ]
        print(f"  | {' | '.join(cells)} |", flush=True)
    for (series, breaks), cost in costs.items():
        fewer = costs.get((series, breaks // 4))
        is_good = is_good and (breaks < _MANY or fewer is None or cost <= _MOST * fewer)
    return is_good


def _programs(options: argparse.Namespace | None) -> Iterator[_Program]:
    folder = getattr(options, "scale_programs", None)
    for file in sorted(Path(folder).glob("*.py")) if folder else ():
        found = re.search(r"\d+", file.stem)
        breaks = int(found.group()) if found else 0
        yield _Program(file.stem, re.sub(r"\d+", "", file.stem), breaks, file.read_text())
    if folder:
        return
    numbers = [int(each) for each in getattr(options, "breaks", "4,16,64").split(",")]
    for layout in _LAYOUTS:
        for number in numbers:
            text = program(number, layout)
            yield _Program(f"{number} breaks, {layout}", layout, number, text)


def program(breaks: int, layout: str) -> str:
    """Return a program with so many breaks."""
    parts = [_KINDS[each % len(_KINDS)].format(number=each + 1) for each in range(breaks)]
    if layout == "one function":
        return f"{_HEAD}\n\ndef model(x):\n{_indented(''.join(parts))}    return x\n\n{_MAIN}"
    functions = [
        f"\n\ndef block_{each}(x):\n{_indented(part)}    return x\n"
        for each, part in enumerate(parts)
    ]
    calls = "".join(f"x = block_{each}(x)\n" for each in range(breaks))
    body = f"\n\ndef model(x):\n{_indented(calls)}    return x\n\n"
    return f"{_HEAD}{''.join(functions)}{body}{_MAIN}"


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def _measure(given: _Program) -> _Measured:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(given.text)
        own, _ = _cpu_seconds([sys.executable, file.name], folder)
        cost, headline = _cpu_seconds(
            [sys.executable, "-m", "fullgraph", "fix", "--no-speed", file.name], folder
        )
        found = _HEADLINE.search(headline)
        counts = [int(each) for each in found.groups()] if found else [0, 0, 0]
        causes, fixed, remaining = counts
    return _Measured(causes, fixed, remaining, own, cost)


def _cpu_seconds(command: list[str], folder: str) -> tuple[float, str]:
    """Return the CPU time of a command with all its children, and what it prints."""
    with tempfile.TemporaryFile("w+") as output:
        used = cpu_seconds(command, folder, output)
        output.seek(0)
        return used, output.read()
