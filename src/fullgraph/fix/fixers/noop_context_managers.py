"""A context manager that does nothing here is not entered.

Some blocks are about one kind of device or about messages: `torch.backends.cudnn.flags(...)`,
`torch.cuda.device_of(x)`, `numpy.errstate(...)`, `warnings.catch_warnings()`. Dynamo cannot enter
them, so the graph ends, or the whole function stays in eager; on a machine without the device, or
inside a graph, they have nothing to do. The `with` gets `contextlib.nullcontext()` then, by a test
that Dynamo knows the answer to. On a machine with the device everything is as it was, the break
included.

Exact. What does something on every machine stays: the flags of oneDNN and NNPACK choose other
kernels on a CPU, `errstate` with "raise" raises, anomaly detection checks the backward pass. So
does a block that asks for the very flags it sets, one whose manager is bound by `as`, and a block
under `catch_warnings` that looks at the warnings or calls what may warn.
"""

import ast
from collections.abc import Callable, Iterator, Mapping

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.purity.known_functions import is_known_pure, is_pure_method
from fullgraph.fix.source.context import caller_of
from fullgraph.fix.source.edits import (
    indent_of,
    patched,
    put_under,
    source_of,
    stands_alone,
    statements_at,
    swapped,
    tree_of,
)
from fullgraph.fix.source.names import dotted, imports_of
from fullgraph.fix.source.text import lines_of
from fullgraph.fix.source.trees import root_of

TITLE = "a context manager with nothing to do here → not entered"
KIND = "rewrite"
SAFETY = "exact"

_CATEGORIES = ("untraced-calls", "context-managers", "side-effects", "python", "dynamo-bugs")
_NOTHING = "contextlib.nullcontext()"
_IN_EAGER = "not torch.compiler.is_compiling()"
_WIDEST = 100
_FILTERS = ("warnings.simplefilter", "warnings.filterwarnings")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.category not in _CATEGORIES:
        return
    place = caller_of(spot)
    tree = tree_of(place.text) if place else None
    if place is None or tree is None:
        return
    imports = imports_of(tree)
    for block in statements_at(tree, place.cause.line):
        if isinstance(block, ast.With):
            text = _rewritten(place, block, imports)
            if text is not None:
                patch = patched(place, text, "import contextlib", "import torch")
                yield Candidate("noop_context_managers", TITLE, "rewrite", "exact", file=patch)
                return


def _rewritten(place: Spot, block: ast.With, imports: Mapping[str, str]) -> str | None:
    changes: list[tuple[ast.expr | ast.stmt, str]] = []
    filters: list[ast.stmt] = []
    for item in block.items:
        call = item.context_expr
        if not isinstance(call, ast.Call) or item.optional_vars is not None:
            continue
        name = dotted(call.func, imports)
        decide = _WHEN.get(name)
        needed = decide(call, block, imports) if decide else None
        if needed is None:
            continue
        changes.append((call, _choice(place.text, block, call, needed)))
        if name == "warnings.catch_warnings":
            filters = [each for each in block.body if _is_filter(each, imports)]
    if not changes or not all(stands_alone(place.text, each) for each in filters):
        return None
    # From the end, so that the places before stay where they are; the header comes last.
    text = place.text
    for each in reversed(filters):
        text = put_under(text, [each], f"if {_IN_EAGER}:")
    return swapped(text, changes)


def _choice(text: str, block: ast.With, call: ast.Call, needed: str) -> str:
    """The manager if it is needed, in one line if it fits."""
    shown = source_of(text, call)
    line = lines_of(text)[call.lineno - 1]
    choice = f"{shown} if {needed} else {_NOTHING}"
    if "\n" not in shown and len(line.rstrip()) + len(choice) - len(shown) <= _WIDEST:
        return choice
    indent = indent_of(text, block)
    inner = f"\n{indent}    "
    return f"({inner}{shown}{inner}if {needed}{inner}else {_NOTHING}\n{indent})"


# When each of them has something to do; None where that cannot be said.


def _without_cuda(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str | None:
    asks = any(
        isinstance(node, ast.Attribute) and "cudnn" in dotted(node, imports)
        for statement in block.body
        for node in ast.walk(statement)
    )
    return None if asks else "torch.cuda.is_available()"


def _tensor_elsewhere(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str | None:
    match call.args:
        case [ast.Name(id=name)] if not call.keywords:
            return f"{name}.is_cuda"
    return None


def _silent_arrays(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str | None:
    """In a graph there are no arrays, and what takes their place never warns."""
    silent = all(
        isinstance(each.value, ast.Constant) and each.value.value == "ignore" and each.arg
        for each in call.keywords
    )
    return _IN_EAGER if silent and call.keywords and not call.args else None


def _quiet(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str | None:
    """Nothing in the block warns by itself: only torch is called, which runs in the graph."""
    if call.args or call.keywords:
        return None
    filters = [each for each in block.body if _is_filter(each, imports)]
    rest = [each for each in block.body if not _is_filter(each, imports)]
    calls = [node for each in rest for node in ast.walk(each) if isinstance(node, ast.Call)]
    quiet = all(_is_torch(each.func, imports) for each in calls)
    return _IN_EAGER if filters and rest and quiet else None


def _is_torch(function: ast.expr, imports: Mapping[str, str]) -> bool:
    name = dotted(function, imports)
    if root_of(function) in imports:
        return name.startswith(("torch.", "math.")) and is_known_pure(name)
    if isinstance(function, ast.Attribute):
        return is_pure_method(function.attr)
    return is_known_pure(name)


def _is_filter(statement: ast.stmt, imports: Mapping[str, str]) -> bool:
    """`warnings.simplefilter("ignore")`."""
    match statement:
        case ast.Expr(value=ast.Call(func=func, args=[ast.Constant(value="ignore"), *_])):
            return dotted(func, imports) in _FILTERS
    return False


def _switched_off(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str | None:
    for keyword in call.keywords:
        if keyword.arg == "enabled" and isinstance(keyword.value, ast.Constant):
            return None if keyword.value.value else _IN_EAGER
    return None


_WHEN: dict[str, Callable[[ast.Call, ast.With, Mapping[str, str]], str | None]] = {
    "torch.backends.cudnn.flags": _without_cuda,
    "torch.cuda.device_of": _tensor_elsewhere,
    "numpy.errstate": _silent_arrays,
    "warnings.catch_warnings": _quiet,
    "torch.autograd.profiler.emit_nvtx": _switched_off,
    "torch.autograd.profiler.emit_itt": _switched_off,
}

CHANGES = {
    "cuDNN without a GPU": """
import torch

class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv1d(2, 3, 3)

    def forward(self, x):
        with torch.no_grad(), torch.backends.cudnn.flags(enabled=False):
            hidden = self.conv(x)  # without cuDNN
        return hidden.relu()

f = Encoder()

def inputs():
    return (torch.randn(1, 2, 8),)
""",
    "cuDNN under another name": """
import torch
from torch.backends import cudnn

def f(x):
    with cudnn.flags(deterministic=True):
        y = x.softmax(-1)
    return y + 1

def inputs():
    return (torch.randn(4, 4),)
""",
    "the device of a tensor": """
import torch

def f(x):
    with torch.cuda.device_of(x):
        y = x.softmax(-1)
    return y + 1

def inputs():
    return (torch.randn(4, 4),)
""",
    "divisions of arrays": """
import numpy as np
import torch

GRADIENTS = False

def f(x):
    values = x.numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(values > 0, 1 / values, 0)
    return torch.from_numpy(ratio) + 1

def inputs():
    return (torch.tensor([1.0, 0.0, -2.0]),)
""",
    "warnings that nobody wants": """
import warnings
import torch

def f(x, y):
    with warnings.catch_warnings():
        # They are known.
        warnings.simplefilter("ignore")
        a, b = torch.meshgrid(x, y, indexing="ij")
    return a * b

def inputs():
    return torch.randn(3), torch.randn(4)
""",
}
REFUSES = {
    "flags that choose other kernels here": """
import torch

def f(x):
    with torch.backends.mkldnn.flags(enabled=False):
        y = x @ x
    return y + 1

def inputs():
    return (torch.randn(4, 4),)
""",
    "the block asks for the flag": """
import torch

def f(x):
    with torch.backends.cudnn.flags(enabled=False):
        y = x * 2 if torch.backends.cudnn.enabled else x * 3
    return y + 1

def inputs():
    return (torch.randn(4, 4),)
""",
    "errors become exceptions": """
import numpy as np
import torch

GRADIENTS = False

def f(x):
    values = x.numpy()
    with np.errstate(divide="raise"):
        try:
            ratio = 1 / values
        except FloatingPointError:
            ratio = values
    return torch.from_numpy(ratio) + 1

def inputs():
    return (torch.tensor([1.0, 0.0, -2.0]),)
""",
    "warnings are counted": """
import warnings
import torch

def f(x):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = x * 2
    return y + len(seen)

def inputs():
    return (torch.randn(3),)
""",
    "the block may warn": """
import warnings
import torch

def careful(x):
    warnings.warn("careful")
    return x * 2

def f(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = careful(x)
    return y + 1

def inputs():
    return (torch.randn(3),)
""",
    "warnings become errors": """
import warnings
import torch

def f(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = torch.meshgrid(x, x, indexing="ij")[0]
    return y + 1

def inputs():
    return (torch.randn(3),)
""",
    "a lock": """
import threading
import torch

lock = threading.Lock()

def f(x):
    with lock:
        y = x * 2
    return y + 1

def inputs():
    return (torch.randn(3),)
""",
}
