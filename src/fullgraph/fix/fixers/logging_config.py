"""Lines are printed after the graph has run, or log calls are left out of compiled code.

`print`, the methods of a logger and `warnings.warn` are effects, and an effect ends a graph. Dynamo
has two lists of functions for that. What is in `reorderable_logging_functions` is called at the
end, with the values that the graph has computed. What is in `ignore_logging_functions` is not
called at all while compiled. Neither changes a line of the program.

Reordered, for `print` and a plain warning: Dynamo forgets keywords such as `end=` and `file=`, and
shows a tensor as it is at the end, so neither is offered where that would make a difference.
Dropped, for loggers, whose methods cannot be called later. A method that gives a result, as
`isEnabledFor` does, is never ignored: it would give None.
"""

import ast
import re
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers._output_calls import is_level
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import caller_of
from fullgraph.fix.source.edits import calls_at, function_at, tree_of
from fullgraph.fix.source.names import dotted, imports_of, names_in
from fullgraph.fix.source.trees import root_of

TITLE = "prints and logs → later, or not while compiled"
KIND = "setting"
SAFETY = "dropped"

_CATEGORIES = ("side-effects", "dynamo-bugs", "untraced-calls")
# A logger of the standard class, as Dynamo shows it.
_LOGGER = re.compile(r"method: <(?:Root)?Logger .*?\(\w+\)>\.(\w+),")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.category not in _CATEGORIES:
        return
    method = _LOGGER.search(spot.cause.context)
    place = caller_of(spot)
    tree = tree_of(place.text) if place else None
    if place is None or tree is None:
        return
    call = _statement_call(place, tree)
    if call is None:
        return
    name = dotted(call.func, imports_of(tree))
    if method and is_level(method[1]) and place is spot:
        yield _ignored(f"logging:Logger.{method[1]}")
    elif name in ("print", "warnings.warn"):
        if _can_wait(call, tree, place.cause.line):
            yield _reordered("builtins:print" if name == "print" else "warnings:warn")
        elif name == "warnings.warn":
            yield _ignored("warnings:warn")
    elif name.startswith("logging.") and is_level(name.removeprefix("logging.")):
        yield _ignored(name.replace(".", ":"))


def _ignored(function: str) -> Candidate:
    title = f"{function.partition(':')[2]} is not called while compiled"
    setting = {"ignore_logging_functions": [function]}
    return Candidate("logging_config", title, "setting", "dropped", settings=setting)


def _reordered(function: str) -> Candidate:
    title = f"{function.partition(':')[2]} is called after the graph"
    setting = {"reorderable_logging_functions": [function]}
    return Candidate("logging_config", title, "setting", "reordered", settings=setting)


def _statement_call(place: Spot, tree: ast.Module) -> ast.Call | None:
    """The call at the break, if it stands as a statement: nobody uses its result."""
    calls = calls_at(place, tree)
    statements = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return next((call for call in calls if any(call is each for each in statements)), None)


def _can_wait(call: ast.Call, tree: ast.Module, line: int) -> bool:
    """Whether the call says the same at the end. The setting holds for all calls of its kind."""
    name = ast.unparse(call.func)
    alike = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name
    ]
    if any(keyword.arg != "flush" for each in alike for keyword in each.keywords):
        return False
    if name != "print" and len(call.args) != 1:
        return False
    function = function_at(tree, line)
    said = {name for argument in call.args for name in names_in(argument)}
    return function is not None and not said & _changed_in_place(function)


def _changed_in_place(function: ast.FunctionDef) -> set[str]:
    changed: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.AugAssign(target=target):
                changed.add(root_of(target))
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                changed.add(root_of(node))
            case ast.Call(func=ast.Attribute(attr=attr)) if attr.endswith("_"):
                changed.add(root_of(node.func))
            case ast.keyword(arg="out", value=value):
                changed |= names_in(value)
    return changed


CHANGES = {
    "print of a statistic": """
import torch

def f(x):
    hidden = x.relu()
    print("largest activation", hidden.max())
    return hidden.softmax(dim=-1)

def inputs():
    return (torch.randn(4, 8),)
""",
    "a formatted line in a loop": """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            x = layer(x).tanh()
            print(f"layer {number}: {x.shape[0]} rows")
        return x

f = Model()

def inputs():
    return (torch.randn(2, 4),)
""",
    "a logger": """
import logging
import torch

logger = logging.getLogger(__name__)

def f(x):
    logger.info("a batch of %d", x.shape[0])
    return x.relu() + 1

def inputs():
    return (torch.randn(4),)
""",
    "a method that a library adds to loggers": """
import functools
import logging
import torch

@functools.lru_cache(None)
def warning_once(self, *args):
    self.warning(*args)

logging.Logger.warning_once = warning_once
logger = logging.getLogger(__name__)
logger.setLevel(logging.ERROR)

def f(x, mask=None):
    if mask is not None:
        logger.warning_once("the mask is not used")
    return x.relu() + 1

def inputs():
    return torch.randn(4), torch.ones(4)
""",
    "two levels": """
import logging
import torch

logger = logging.getLogger(__name__)

def f(x):
    logger.debug("first")
    x = x.relu()
    logger.warning("second")
    return x + 1

def inputs():
    return (torch.randn(4),)
""",
    "a plain warning": """
import warnings
import torch

def f(x):
    warnings.warn("this is slow")
    return x.relu() + 1

def inputs():
    return (torch.randn(4),)
""",
    "a warning with its class": """
import warnings
import torch

def f(x):
    warnings.warn("this will go", FutureWarning, stacklevel=2)
    return x.relu() + 1

def inputs():
    return (torch.randn(4),)
""",
    "the functions of logging": """
import logging
import torch

def f(x):
    logging.info("a batch of %d", x.shape[0])
    return x.relu() + 1

def inputs():
    return (torch.randn(4),)
""",
}
REFUSES = {
    "print to another stream and with another end": """
import sys
import torch

def f(x):
    print("rows", x.shape[0], end=";")
    return x.relu() + 1

def inputs():
    return (torch.randn(4),)
""",
    "what is printed changes afterwards": """
import torch

def f(x):
    y = x * 2
    print(y)
    y.add_(1)
    return y

def inputs():
    return (torch.randn(4),)
""",
    "a method that gives a result": """
import logging
import torch

logger = logging.getLogger(__name__)

def f(x):
    if not logger.isEnabledFor(logging.CRITICAL):
        return x - 1
    return x + 1

def inputs():
    return (torch.randn(4),)
""",
    "a method that is no message": """
import logging
import torch

logger = logging.getLogger(__name__)

def f(x):
    logger.setLevel(logging.ERROR)
    return x + 1

def inputs():
    return (torch.randn(4),)
""",
    "a logger that counts": """
import logging
import torch

class Counting(logging.Logger):
    count = 0

    def tick(self):
        self.count = 2

logger = Counting("counting")

def f(x):
    logger.tick()
    return x * logger.count

def inputs():
    return (torch.randn(4),)
""",
}
