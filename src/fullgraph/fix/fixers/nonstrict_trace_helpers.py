"""A pure helper whose Python Dynamo cannot follow is traced by running it.

Dynamo reads a function's bytecode, and breaks at what it does not know: a function that is written
in C, an unusual class, a method that it has no rule for. `torch._dynamo.nonstrict_trace` has the
function run instead, with stand-ins for its tensors, and what it does to them becomes part of the
graph, gradients included.

Exact for a function that can be read as pure, since whatever else it does would happen only once,
and for one that does not look into its tensors: those have no values while tracing, so that is
found out when it is tried. Functions inside of others and methods stay as they are: what they take
from around them would be taken once.
"""

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate, FilePatch
from fullgraph.fix.purity.static import findings_in
from fullgraph.fix.source.edits import function_at, tree_of
from fullgraph.fix.source.module_symbols import Definitions
from fullgraph.fix.source.text import lines_of, with_imports

TITLE = "a helper that Dynamo cannot follow → traced by running it"
KIND = "escape"
SAFETY = "exact"

_CATEGORIES = ("untraced-calls", "python", "context-managers")
_DECORATOR = "torch._dynamo.nonstrict_trace"


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.category not in _CATEGORIES:
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None or not _is_helper(function, tree):
        return
    if findings_in(tree, function.name) or _reads_defaults(function):
        return
    lines = lines_of(spot.text)
    lines.insert(function.lineno - 1, f"@{_DECORATOR}\n")
    text, imports = with_imports("".join(lines), ("import torch",))
    # The same for a program that has it already.
    name = function.name
    patch = FilePatch(spot.cause.file, text, (*imports, f"{name} = {_DECORATOR}({name})"))
    yield Candidate("nonstrict_trace_helpers", TITLE, "escape", "exact", file=patch)


def _is_helper(function: ast.FunctionDef, tree: ast.Module) -> bool:
    """A plain function at the top of the file that others call."""
    if function not in tree.body or function.decorator_list:
        return False
    if Definitions(tree).functions.get(function.name) is not function:
        return False
    inside = {id(node) for node in ast.walk(function)}
    uses = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == function.name and id(node) not in inside
    ]
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    # Whoever else holds it holds what is not decorated.
    return bool(uses) and all(id(use) in called for use in uses)


def _reads_defaults(function: ast.FunctionDef) -> bool:
    """A default that can be changed is a global by another name."""
    defaults = [*function.args.defaults, *filter(None, function.args.kw_defaults)]
    return not all(isinstance(each, ast.Constant) for each in defaults)


CHANGES = {
    "picked by a function in C": """
import bisect
import torch

def shifted(x, edges, width):
    place = bisect.bisect(edges, width)
    return x.roll(place, 0) * (place + 1)

def f(x):
    return shifted(x.sin(), [2, 4, 8], 5).cos()

def inputs():
    return (torch.randn(6, 3, requires_grad=True),)
""",
    "a part that goes by the name": """
import zlib
import torch

def part_for(name, x, parts=2):
    chosen = zlib.crc32(name.encode()) % parts
    return {"part": x.chunk(parts)[chosen], "place": chosen}

def f(x):
    return part_for("encoder", x * 2)["part"] + part_for("decoder", x)["part"]

def inputs():
    return (torch.randn(4, 3),)

def more():
    yield (torch.randn(8, 3),)
""",
}

REFUSES = {
    "it counts": """
import bisect
import torch

calls = []

def shifted(x, width):
    calls.append(width)
    return x.roll(bisect.bisect([2, 4, 8], width), 0) + len(calls) * 0

def f(x):
    return shifted(x.sin(), 5).cos()

def inputs():
    return (torch.randn(6),)
""",
    "it prints": """
import bisect
import torch

def shifted(x, width):
    place = bisect.bisect([2, 4, 8], width)
    print("moved by", place)
    return x.roll(place, 0)

def f(x):
    return shifted(x.sin(), 5).cos()

def inputs():
    return (torch.randn(6),)
""",
    "it looks into its tensor": """
import bisect
import torch

GRADIENTS = False

def bucket(x):
    return x * (bisect.bisect([0.0, 1.0], float(x.sum())) + 1)

def f(x):
    return bucket(x.sin()).cos()

def inputs():
    return (torch.randn(6),)

def more():
    yield (torch.ones(6),)
""",
    "a global that may change": """
import bisect
import torch

edges = [2, 4, 8]

def shifted(x, width):
    return x.roll(bisect.bisect(edges, width), 0)

def f(x):
    return shifted(x.sin(), 5).cos()

def inputs():
    return (torch.randn(6),)
""",
    "it writes to what it gets": """
import bisect
import torch

def shifted(x, width):
    x += bisect.bisect([2, 4, 8], width)
    return x

def f(x):
    y = x.sin()
    return shifted(y, 5).cos() + y

def inputs():
    return (torch.randn(6),)
""",
    "it is handed around": """
import bisect
import torch

def shifted(x, width):
    return x.roll(bisect.bisect([2, 4, 8], width), 0)

ways = {"shifted": shifted}

def f(x):
    return ways["shifted"](x.sin(), 5).cos()

def inputs():
    return (torch.randn(6),)
""",
}
