"""Draw the graphs of a call over the source of its function.

      graph 1 ┃     x = torch.relu(x)
        eager ┆     print(x.sum())
      graph 2 ┃     return x + 1

A line that is in no graph and not eager is Python code that Dynamo ran while tracing.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in ')
GRAPH = "┃"
EAGER = "┆"
TRACED = "│"


def draw(function: Callable[..., Any], *arguments: Any) -> str:
    """Compile a function, call it, and return its source with the graphs at the left."""
    import torch

    from fullgraph.capture.api import watch
    from fullgraph.capture.dynamo_hooks import reset_dynamo

    plain = getattr(function, "forward", function)
    file = inspect.getsourcefile(plain) or ""
    source, first = inspect.getsourcelines(plain)
    graphs: list[set[int]] = []

    def collect(module: Any, inputs: Any) -> Callable[..., Any]:
        del inputs
        graphs.append(set(_lines(module.graph.nodes, file)))
        run: Callable[..., Any] = module.forward
        return run

    reset_dynamo()
    with watch() as session:
        torch.compile(function, backend=collect)(*arguments)
    reset_dynamo()
    report = session.report()
    eager = {site.line for site in report.sites if site.file == file}
    if any(each.file == file and each.line == plain.__code__.co_firstlineno
           for each in report.skipped_frames):  # fmt: skip
        eager |= set(range(first, first + len(source)))
    return _drawn(source, first, _numbers(graphs), eager)


def _lines(nodes: Iterable[Any], file: str) -> Iterable[int]:
    """Yield the lines of a file that the operators of a graph come from."""
    for node in nodes:
        # An input is not an operator; its line is the first that uses it.
        if node.op == "placeholder":
            continue
        for path, line in _FRAME.findall(node.stack_trace or ""):
            if path == file:
                yield int(line)


def _numbers(graphs: list[set[int]]) -> dict[int, list[int]]:
    """Return the numbers of the graphs that each line is in."""
    found: dict[int, list[int]] = defaultdict(list)
    for number, lines in enumerate(graphs, start=1):
        for line in lines:
            found[line].append(number)
    return found


def _drawn(source: list[str], first: int, numbers: dict[int, list[int]], eager: set[int]) -> str:
    labels: list[tuple[str, str]] = []
    for line in range(first, first + len(source)):
        names = [f"graph {_range(numbers[line])}"] if line in numbers else []
        names += ["eager"] if line in eager else []
        bar = EAGER if line in eager else GRAPH if line in numbers else TRACED
        labels.append((", ".join(names), bar))
    width = max(len(label) for label, _ in labels)
    lines = [
        f"{label:>{width}} {bar} {text.rstrip()}".rstrip()
        for (label, bar), text in zip(labels, source, strict=True)
    ]
    return "\n".join(lines) + "\n"


def _range(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]} to {numbers[-1]}"
