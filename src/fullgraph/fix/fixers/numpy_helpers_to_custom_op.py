"""A helper that leaves torch for NumPy becomes one operator of the graph.

Dynamo does not enter what is written in C or in another library, and NumPy is traced only as far as
torch has the same function. A helper that takes tensors, works on arrays and gives a tensor back
can be registered as a custom operator instead: the graph holds one node for it, and the helper runs
as it always did when the graph runs. For shapes and types it gets a fake implementation.

Exact. The operator checks what the fake implementation says, that the result is like the first
tensor, and raises otherwise, since a backend would trust it. Only for helpers that can be read as
pure, and whose tensors go through `.numpy()`, `.detach()` or the like, so that there is no gradient
to lose. With effects, random numbers or writes to its arguments it stays as it is.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.purity.static import findings_in
from fullgraph.fix.source.edits import function_at, patched, source_of, span, tree_of
from fullgraph.fix.source.module_symbols import Definitions
from fullgraph.fix.source.names import fresh_name

TITLE = "a helper outside of torch → one operator of the graph"
KIND = "escape"
SAFETY = "exact"

_CATEGORIES = ("untraced-calls", "python", "side-effects", "data-dependent", "dynamic-shapes")
_CUTS = ("numpy", "detach", "tolist", "item", "shape", "dtype", "device", "dim", "size", "numel")
_TENSORS = ("torch.Tensor", "Tensor")
_SCALARS = ("int", "float", "bool", "str")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.category not in _CATEGORIES or "numpy" not in spot.text:
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None or not _is_helper(function, tree):
        return
    types = _types(function)
    if types is None or findings_in(tree, function.name):
        return
    tensors = [name for name, kind in types.items() if kind == "torch.Tensor"]
    if not tensors or not all(_is_cut(name, function) for name in tensors):
        return
    patch = patched(spot, *_texts(spot, function, types, tensors, tree))
    yield Candidate("numpy_helpers_to_custom_op", TITLE, "escape", "exact", file=patch)


def _is_helper(function: ast.FunctionDef, tree: ast.Module) -> bool:
    """A plain function at the top of the file, called by another, with one return at its end."""
    if Definitions(tree).functions.get(function.name) is not function or function.decorator_list:
        return False
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    if len(returns) != 1 or returns[0] is not function.body[-1] or returns[0].value is None:
        return False
    inside = {id(node) for node in ast.walk(function)}
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == function.name
        and id(node) not in inside
        for node in ast.walk(tree)
    )


def _types(function: ast.FunctionDef) -> dict[str, str] | None:
    """What the arguments are; None if that cannot be said."""
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        return None
    missing = len(arguments.args) - len(arguments.defaults)
    defaults = [None] * missing + list(arguments.defaults)
    found: dict[str, str] = {}
    for argument, default in zip(arguments.args, defaults, strict=True):
        kind = _type_of(argument, default)
        if kind is None:
            return None
        found[argument.arg] = kind
    return found


def _type_of(argument: ast.arg, default: ast.expr | None) -> str | None:
    if argument.annotation is not None:
        shown = ast.unparse(argument.annotation)
        return "torch.Tensor" if shown in _TENSORS else shown if shown in _SCALARS else None
    if default is None:
        return "torch.Tensor"
    value = default.value if isinstance(default, ast.Constant) else None
    return type(value).__name__ if isinstance(value, int | float | str) else None


def _is_cut(name: str, function: ast.FunctionDef) -> bool:
    """Whether every use of a tensor ends its gradient: `x.cpu().numpy()`, `x.shape`."""
    chains = _chains(name, function)
    return bool(chains) and all(set(chain) & set(_CUTS) for chain in chains)


def _is_detached(name: str, function: ast.FunctionDef) -> bool:
    """Whether the helper takes tensors with gradients too; `.numpy()` alone would raise."""
    return any("detach" in chain for chain in _chains(name, function))


def _chains(name: str, function: ast.FunctionDef) -> list[list[str]]:
    """The attributes that are taken of a name, for each of its uses."""
    parents = {
        id(child): node for node in ast.walk(function) for child in ast.iter_child_nodes(node)
    }
    chains: list[list[str]] = []
    for use in ast.walk(function):
        if not isinstance(use, ast.Name) or use.id != name:
            continue
        chain: list[str] = []
        node: ast.AST = use
        while True:
            above = parents[id(node)]
            if isinstance(above, ast.Attribute):
                chain.append(above.attr)
            elif not isinstance(above, ast.Call) or above.func is not node:
                break
            node = above
        chains.append(chain)
    return chains


def _texts(
    spot: Spot,
    function: ast.FunctionDef,
    types: dict[str, str],
    tensors: list[str],
    tree: ast.Module,
) -> tuple[str, str, str]:
    """The file with the helper calling the operator, and what the file gains."""
    operator = fresh_name(f"_{function.name}_operator", tree)
    result = fresh_name("result", function)
    like = tensors[0]
    first, last = function.body[0], function.body[-1]
    docstring = ast.get_docstring(function) is not None and len(function.body) > 1
    start = span(spot.text, function.body[1] if docstring else first)[0]
    # With its own indentation, so that dedenting works for the first line too.
    start = spot.text.rindex("\n", 0, start) + 1
    _, end = span(spot.text, last)
    assert isinstance(last, ast.Return)
    assert last.value is not None
    value_start = span(spot.text, last)[0]
    body = textwrap.dedent(
        spot.text[start:value_start].rstrip(" \t") + _indent(spot.text[start:end])
    )
    body += f"{result} = {source_of(spot.text, last.value)}"
    signature = ", ".join(f"{name}: {kind}" for name, kind in types.items())
    stem = re.sub(r"\W", "_", Path(spot.cause.file).stem)
    made = f'''

@torch.library.custom_op("{stem}::{function.name}", mutates_args=())
def {operator}({signature}) -> torch.Tensor:
{textwrap.indent(body, "    ")}
    if {result}.shape != {like}.shape or {result}.dtype != {like}.dtype:
        raise ValueError("{function.name} gives a tensor that is not like {like}")
    return {result}.contiguous()


@{operator}.register_fake
def _({", ".join(types)}):
    return {like}.new_empty({like}.shape)'''
    given = ", ".join(
        f"{name}.detach()" if name in tensors and _is_detached(name, function) else name
        for name in types
    )
    indent = _indent(spot.text[start:end])
    text = f"{spot.text[:start]}{indent}return {operator}({given}){spot.text[end:]}"
    return text, "import torch", made


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


CHANGES = {
    "values between points": """
import numpy as np
import torch

GRADIENTS = False

def curve(x):
    values = np.interp(x.numpy(), [-1.0, 0.0, 1.0], [0.0, 0.5, 2.0])
    return torch.from_numpy(values.astype("float32"))

def f(x):
    return curve(x.tanh()) * 2

def inputs():
    return (torch.randn(3, 4),)
""",
    "a running maximum": '''
import numpy as np
import torch

def envelope(signal: torch.Tensor, decay: float = 0.5):
    """The signal never falls faster than this."""
    values = signal.detach().cpu().numpy()
    # Along time.
    highest = np.maximum.accumulate(values, axis=-1)
    return torch.from_numpy(highest * np.float32(decay))

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x) * envelope(x)

f = Model()

def inputs():
    return (torch.randn(3, 4),)
''',
    "a rank": """
import numpy
import torch

GRADIENTS = False

def ranks(scores, base: int = 0, descending=False):
    values = scores.numpy()
    order = numpy.lexsort((-values if descending else values,))
    places = numpy.zeros_like(values)
    places[order] = numpy.arange(base, base + len(order))
    return torch.from_numpy(places)

def f(x):
    return ranks(x * 2, descending=True) + ranks(x, 1)

def inputs():
    return (torch.randn(6),)
""",
}
REFUSES = {
    "random numbers": """
import numpy as np
import torch

GRADIENTS = False

def jitter(x):
    return torch.from_numpy(np.interp(x.numpy(), [0, 1], np.random.rand(2)).astype("float32"))

def f(x):
    return jitter(x) * 2

def inputs():
    return (torch.randn(4),)
""",
    "a write to its input": """
import numpy as np
import torch

GRADIENTS = False

def clip(x):
    values = x.numpy()
    np.maximum.at(values, [0], 1.0)
    values[1] = 0
    return torch.from_numpy(np.interp(values, [0, 1], [0, 1]).astype("float32"))

def f(x):
    return clip(x * 1) * 2

def inputs():
    return (torch.randn(4),)
""",
    "another shape": """
import numpy as np
import torch

GRADIENTS = False

def percentiles(x):
    return torch.from_numpy(np.nanpercentile(x.numpy(), [25, 75]).astype("float32"))

def f(x):
    return percentiles(x) * 2

def inputs():
    return (torch.randn(6),)
""",
    "another type": """
import numpy as np
import torch

GRADIENTS = False

def curve(x):
    return torch.from_numpy(np.interp(x.numpy(), [0.0, 1.0], [2.0, 3.0]))

def f(x):
    return curve(x) * 2

def inputs():
    return (torch.randn(6),)
""",
    "a gradient goes through": """
import numpy as np
import torch

def scaled(x):
    steps = np.interp(np.arange(4), [0, 3], [1, 2])
    return x * torch.from_numpy(steps).float()

def f(x):
    return scaled(x) + 1

def inputs():
    return (torch.randn(4, requires_grad=True),)
""",
    "it counts its calls": """
import numpy as np
import torch

GRADIENTS = False
CALLS = []

def curve(x):
    CALLS.append(1)
    return torch.from_numpy(np.interp(x.numpy(), [0, 1], [2, 3]).astype("float32"))

def f(x):
    return curve(x) * 2

def inputs():
    return (torch.randn(4),)
""",
    "two results": """
import numpy as np
import torch

GRADIENTS = False

def split(x):
    values = x.numpy()
    if values.shape[0] > 3:
        return torch.from_numpy(np.interp(values, [0, 1], [2, 3]).astype("float32"))
    return None

def f(x):
    return split(x) * 2

def inputs():
    return (torch.randn(4),)
""",
}
