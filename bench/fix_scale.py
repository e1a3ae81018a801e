"""How the cost of `fullgraph fix` grows with the number of graph breaks.

    python -m bench fix_scale [--breaks 4,16,64]

Programs with 4, 16 and 64 breaks of mixed kinds, in one function or each in its own. The cost is
the CPU time of the whole process tree until the verified result is printed, timing apart. All root
causes have to be fixed, and 64 breaks may cost at most five times as much as 16.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from bench._timing import cpu_seconds

_MOST = 5.0
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
print("block {number}: mean", x.mean().item())
""",
    """\
for is_odd, _ in itertools.groupby((1, 3, {number}), lambda each: each % 2 == 1):
    x = x * 0.5 + is_odd
""",
    """\
x = x / (1 + x.abs().max().item())
""",
)
_HEAD = "import itertools\n\nimport torch\nimport torch._dynamo\n"
_MAIN = """
torch.manual_seed(0)
compiled = torch.compile(model, backend="eager")
for _ in range(2):
    print(compiled(torch.randn(4, 8)).shape)
"""
_HEADLINE = re.compile(r"(\d+) root causes? · (\d+) fixed.* · (\d+) remaining")


class _Measured(NamedTuple):
    name: str
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


def main(options: argparse.Namespace | None = None) -> bool:
    """Measure all programs; return whether all is fixed and the cost is linear."""
    numbers = [int(each) for each in getattr(options, "breaks", "4,16,64").split(",")]
    print("  | program | root causes | fixed | remaining | own run, CPU s | fix, CPU s | ratio |")
    print("  | --- | --- | --- | --- | --- | --- | --- |")
    is_good = True
    for layout in _LAYOUTS:
        costs: dict[int, float] = {}
        for number in numbers:
            found = _measure(number, layout)
            costs[number] = found.cost
            is_good = is_good and 0 < found.causes == found.fixed and not found.remaining
            cells = [
                found.name,
                *map(str, (found.causes, found.fixed, found.remaining)),
                *(f"{each:.1f}" for each in (found.own, found.cost, found.cost / found.own)),
            ]
            print(f"  | {' | '.join(cells)} |", flush=True)
        for number, cost in costs.items():
            if number // 4 in costs:
                is_good = is_good and cost <= _MOST * costs[number // 4]
    return is_good


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


def _measure(breaks: int, layout: str) -> _Measured:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(program(breaks, layout))
        own, _ = _cpu_seconds([sys.executable, file.name], folder)
        cost, headline = _cpu_seconds(
            [sys.executable, "-m", "fullgraph", "fix", "--no-speed", file.name], folder
        )
        found = _HEADLINE.search(headline)
        counts = [int(each) for each in found.groups()] if found else [0, 0, 0]
        causes, fixed, remaining = counts
    return _Measured(f"{breaks} breaks, {layout}", causes, fixed, remaining, own, cost)


def _cpu_seconds(command: list[str], folder: str) -> tuple[float, str]:
    """Return the CPU time of a command with all its children, and what it prints."""
    with tempfile.TemporaryFile("w+") as output:
        used = cpu_seconds(command, folder, output)
        output.seek(0)
        return used, output.read()
