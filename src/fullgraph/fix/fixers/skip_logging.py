"""Prints, log messages and warnings are left out while compiled.

They are effects, and an effect ends a graph; so does the value of a tensor that is read only to be
shown. `torch.compiler.is_compiling()` is a constant while tracing: under `if not
torch.compiler.is_compiling():` the statement vanishes from the graph, and everything that was
computed only for it. A check whose only consequence is a message is left out as a whole, and so is
a time or a statistic that is taken only to be shown.

Dropped: eager says the same as before, compiled code says nothing. Nothing else may be lost, so a
statement stays where evaluating its arguments does more than that: draws random numbers, moves an
iterator on, binds a name, calls what is not known, or may raise (a division, a key that may be
missing).
"""

import ast
from collections.abc import Iterator, Mapping

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers._output_calls import only_says, serves_messages
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import caller_of
from fullgraph.fix.source.edits import (
    body_around,
    patched,
    put_under,
    source_of,
    stands_alone,
    statements_at,
    swapped,
    tree_of,
)
from fullgraph.fix.source.names import imports_of
from fullgraph.fix.source.text import lines_of

TITLE = "messages → not while compiled"
KIND = "rewrite"
SAFETY = "dropped"

_COMPILING = "torch.compiler.is_compiling()"


def candidates(spot: Spot) -> Iterator[Candidate]:
    place = caller_of(spot)
    tree = tree_of(place.text) if place else None
    if place is None or tree is None:
        return
    imports = imports_of(tree)
    text = _without_messages(place, tree, imports) or _without_measure(place, tree, imports)
    if text is not None:
        patch = patched(place, text, "import torch")
        yield Candidate("skip_logging", TITLE, "rewrite", "dropped", file=patch)


def _without_messages(place: Spot, tree: ast.Module, imports: Mapping[str, str]) -> str | None:
    around = [s for s in statements_at(tree, place.cause.line) if only_says(s, tree, imports)]
    if not around:
        return None
    # The outermost one that only says something.
    statement = around[-1]
    if isinstance(statement, ast.If) and not _is_elif(place.text, statement):
        test = source_of(place.text, statement.test)
        if isinstance(statement.test, ast.BoolOp | ast.IfExp | ast.Lambda) or "\n" in test:
            test = f"({test})"
        return swapped(place.text, [(statement.test, f"not {_COMPILING} and {test}")])
    if not stands_alone(place.text, statement):
        return None
    return put_under(
        place.text, _neighbours(statement, place, tree, imports), f"if not {_COMPILING}:"
    )


def _without_measure(place: Spot, tree: ast.Module, imports: Mapping[str, str]) -> str | None:
    """A time or a statistic that is taken for a message goes with the message."""
    inner = statements_at(tree, place.cause.line)[:1]
    group = serves_messages(inner[0], tree, imports) if inner else None
    if group is None or not all(stands_alone(place.text, each) for each in group):
        return None
    text = place.text
    # From the end, so that the lines before stay where they are.
    for each in sorted(group, key=lambda each: each.lineno, reverse=True):
        if not _is_guarded(each, tree):
            text = put_under(text, [each], f"if not {_COMPILING}:")
    return text


def _is_guarded(statement: ast.stmt, tree: ast.Module) -> bool:
    """Whether an earlier fix has put it under the test already."""
    return any(
        isinstance(each, ast.If) and _COMPILING in ast.unparse(each.test)
        for each in statements_at(tree, statement.lineno)
    )


def _is_elif(text: str, statement: ast.If) -> bool:
    line = lines_of(text)[statement.lineno - 1].encode()
    return line[statement.col_offset :].startswith(b"elif")


def _neighbours(
    statement: ast.stmt, place: Spot, tree: ast.Module, imports: Mapping[str, str]
) -> list[ast.stmt]:
    """The statement and those next to it that only say something too."""
    body = body_around(tree, statement)
    first = last = next(n for n, each in enumerate(body) if each is statement)

    def fits(number: int) -> bool:
        return (
            0 <= number < len(body)
            and only_says(body[number], tree, imports)
            and stands_alone(place.text, body[number])
        )

    while fits(first - 1):
        first -= 1
    while fits(last + 1):
        last += 1
    return body[first : last + 1]


CHANGES = {
    "a value that is only shown": """
import torch

def f(x):
    hidden = x.relu()
    print(f"largest activation: {hidden.max().item():.3f}")
    return hidden.softmax(dim=-1)

def inputs():
    return (torch.randn(4, 8),)
""",
    "several lines, one of them long": """
import sys
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        # How it looks.
        print("mean", y.mean(), end=";")
        print(
            "a long line "
            "in two parts",
            y.shape,
            file=sys.stderr,
        )
        return y.tanh()

f = Model()

def inputs():
    return (torch.randn(2, 4),)
""",
    "a check that only warns": """
import logging
import torch

logger = logging.getLogger(__name__)

def f(x):
    y = x.exp()
    if torch.isnan(y).any() or torch.isinf(y).any():
        logger.warning("the activations overflow")
    return y / (1 + y)

def inputs():
    return (torch.randn(4),)

def more():
    yield (torch.full((4,), 1000.0),)
""",
    "a text of several lines": '''
import torch

def f(x):
    y = x * 2
    print(f"""statistics
  mean {y.mean().item()}
""")
    return y + 1

def inputs():
    return (torch.randn(4),)
''',
    "an adapter around a logger": """
import logging
import torch

logger = logging.LoggerAdapter(logging.getLogger(__name__), {})

class Model(torch.nn.Module):
    def forward(self, x):
        logger.warning("a batch of %s", x.shape)
        return x.relu() + 1

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "the time that a layer takes": """
import logging
import time
import torch

logger = logging.getLogger(__name__)
logger.setLevel(logging.ERROR)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        started = time.perf_counter()
        y = self.linear(x)
        elapsed = time.perf_counter() - started
        logger.info("the layer took %.3f s", elapsed)
        return y.tanh()

f = Model()

def inputs():
    return (torch.randn(2, 4),)
""",
    "a number that is taken to be shown": """
import torch

def f(x):
    total = x.abs().sum().item()
    y = x * 2
    if y.shape[0] > 2:
        print(f"in total {total:.2f}")
    return y + 1

def inputs():
    return (torch.randn(4),)
""",
    "a message in a loop and in a try": """
import torch

def f(x):
    for step in range(2):
        try:
            x = x + 1
            print("step", step, x.sum())
        finally:
            x = x * 2
    return x

def inputs():
    return (torch.randn(4),)
""",
}
REFUSES = {
    "an argument that moves an iterator on": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.queue = [1, 2, 3]

    def forward(self, x):
        queue = list(self.queue)
        print("next", queue.pop(), x.sum().item())
        return x * len(queue)

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "an argument that draws random numbers": """
import torch

def f(x):
    print("noise", torch.rand(()).item())
    return x + torch.rand(4)

def inputs():
    return (torch.randn(4),)
""",
    "a name that is bound on the way": """
import torch

def f(x):
    print("largest", (largest := x.abs().max()).item())
    return x / largest

def inputs():
    return (torch.randn(4),)
""",
    "an argument that changes a tensor": """
import torch

def f(x):
    y = x * 2
    print("sum", y.add_(1).sum().item())
    return y

def inputs():
    return (torch.randn(4),)
""",
    "a time that is used as well": """
import time
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = 0.0

    def forward(self, x):
        started = time.perf_counter() > 0
        y = x * 2
        print("started", started)
        self.last = float(started)
        return y * started

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "a key that may be missing": """
import torch

NAMES = {4: "four"}

def f(x):
    print(NAMES[x.shape[0]], x.sum().item())
    return x + 1

def inputs():
    return (torch.randn(4),)
""",
    "a method of a logarithm": """
import torch

class Log(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def info(self, x):
        self.seen += x.sum().item()

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dialog = Log()

    def forward(self, x):
        self.dialog.info(x)
        return x + self.dialog.seen

f = Model()

def inputs():
    return (torch.randn(4),)
""",
}
