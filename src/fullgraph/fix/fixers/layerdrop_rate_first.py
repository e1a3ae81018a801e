"""A random number is compared with a rate only where there is a rate.

Models that drop whole layers while training draw a number for each layer and compare it:
`if torch.rand([]) < self.layerdrop: continue`. Mostly the rate is zero, so that nothing is ever
dropped, but Dynamo sees a branch on a tensor's value. The rate is a plain number; asked first,
it settles the matter while tracing.

Exact: `torch.rand` gives numbers from 0 up to 1, and none of them is below a rate that is not
above 0. The number is drawn as before, so later random numbers stay what they are. With a rate
above 0 the break stays.
"""

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import function_at, patched, source_of, swapped, tree_of
from fullgraph.fix.source.names import dotted, imports_of
from fullgraph.fix.source.trees import arguments_of

TITLE = "a random number against a rate → only where there is a rate"
KIND = "rewrite"
SAFETY = "exact"


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.id != "GB0170":
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    tests = [each.test for each in ast.walk(function) if isinstance(each, ast.If | ast.IfExp)]
    here = [each for each in tests if each.lineno <= spot.cause.line <= (each.end_lineno or 0)]
    drawn = _drawn_names(function, imports_of(tree))
    for whole in (*here, *_earlier(here, tests, function)):
        changes = [
            (node, _with_rate_first(spot.text, node, whole))
            for node in ast.walk(whole)
            if _is_about(node, drawn) and isinstance(node, ast.Compare)
        ]
        if changes:
            patch = patched(spot, swapped(spot.text, changes))
            yield Candidate("layerdrop_rate_first", TITLE, "rewrite", "exact", file=patch)
            return


def _earlier(
    here: list[ast.expr], tests: list[ast.expr], function: ast.FunctionDef
) -> Iterator[ast.expr]:
    """What the names in a test were set to, if nobody but tests asks for them."""
    in_tests = {id(node) for test in tests for node in _asked(test)}
    for name in {each.id for test in here for each in _asked(test)}:
        names = [
            node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name
        ]
        reads = [node for node in names if isinstance(node.ctx, ast.Load)]
        values = [
            each.value
            for each in ast.walk(function)
            if isinstance(each, ast.Assign) and any(target in names for target in each.targets)
        ]
        stores = len(names) - len(reads)
        if len(values) == stores == 1 and all(id(node) in in_tests for node in reads):
            yield values[0]


def _asked(test: ast.expr) -> Iterator[ast.Name]:
    """The names of which a test wants to know nothing but whether they are true."""
    match test:
        case ast.Name():
            yield test
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _asked(operand)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _asked(each)


def _is_about(node: ast.AST, drawn: set[str]) -> bool:
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt()], comparators=[rate]):
            return name in drawn and _is_chain(rate)
    return False


def _with_rate_first(text: str, node: ast.Compare, whole: ast.expr) -> str:
    new = f"{source_of(text, node.comparators[0])} > 0 and {source_of(text, node)}"
    of_all = (
        isinstance(whole, ast.BoolOp) and isinstance(whole.op, ast.And) and node in whole.values
    )
    return new if node is whole or of_all else f"({new})"


def _is_chain(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _drawn_names(function: ast.FunctionDef, imports: dict[str, str]) -> set[str]:
    """Names that only ever hold one random number between 0 and 1."""
    stores = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    drawn = {
        id(each.targets[0])
        for each in ast.walk(function)
        if isinstance(each, ast.Assign) and len(each.targets) == 1 and _draws(each.value, imports)
    }
    arguments = {each.arg for each in arguments_of(function)}
    others = {node.id for node in stores if id(node) not in drawn}
    return {node.id for node in stores} - others - arguments


def _draws(value: ast.expr, imports: dict[str, str]) -> bool:
    match value:
        case ast.Call(func=func, args=[size], keywords=[]):
            one = isinstance(size, ast.Constant) and size.value == 1
            none = isinstance(size, ast.List | ast.Tuple) and not size.elts
            return (one or none) and dotted(func, imports) == "torch.rand"
    return False


CHANGES = {
    "layers that could be dropped": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))
        self.layerdrop = 0.0

    def forward(self, x):
        for layer in self.layers:
            if self.training:
                dropout_probability = torch.rand([])
                if dropout_probability < self.layerdrop:
                    continue
            x = layer(x).relu()
        return torch.nn.functional.dropout(x, 0.5, self.training)

f = Model()

def inputs():
    return (torch.randn(3, 4),)
""",
    "decided before it is asked": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))
        self.rate = 0.0

    def forward(self, x, always=False):
        for layer in self.layers:
            drawn = torch.rand([])
            skip_the_layer = self.training and (drawn < self.rate)
            if not skip_the_layer or always:
                x = layer(x).relu()
        return x

f = Model()

def inputs():
    return (torch.randn(3, 4),)
""",
}

REFUSES = {
    "there is a rate": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
        self.layerdrop = 0.5

    def forward(self, x):
        drawn = torch.rand([])
        if drawn < self.layerdrop:
            return x
        return self.layer(x)

f = Model()

def inputs():
    return (torch.randn(3, 4),)
""",
    "numbers on both sides of zero": """
import torch

RATE = 0.0

def f(x):
    drawn = torch.randn([])
    if drawn < RATE:
        x = x + 1
    return x * 2

def inputs():
    return (torch.randn(4),)
""",
    "another value now and then": """
import torch

def f(x, rate):
    drawn = torch.rand([])
    if x.shape[0] > 2:
        drawn = drawn - 1
    if drawn < rate:
        x = x + 1
    return x * 2

def inputs():
    return torch.randn(4), 0.0
""",
    "the outcome is more than a truth value": """
import torch

def f(x, rate):
    drawn = torch.rand([])
    skip = drawn < rate
    if skip:
        x = x + 1
    return x * 2, skip

def inputs():
    return torch.randn(4), 0.0
""",
}
