"""A tensor that says how large something is gives its number first.

`torch.zeros(lengths.max(), 4)`, `F.pad(x, (0, 8 - n))`, `x[:, n]`: torch takes a tensor of no
dimensions where it wants a size, and reads the number out of it deep inside. There Dynamo has no
value, and with `capture_scalar_outputs` it often fails altogether, because the symbol appears in
the middle of another operator. With an explicit `.item()` the symbol comes first, and the size is
made of it. `repeat_interleave` is told its size with `output_size`.

Exact: torch does the same by itself. All such places of the function are changed together, since
one that is left makes the others fail. Only what is seen to be a tensor is changed; an index only
if it is seen to have no dimensions, because a tensor of indices selects as many elements as it has.
`range()` and everything else that makes Python count stays as it is: a symbol cannot help there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers._size_positions import indices_in, sizes_in
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import caller_of
from fullgraph.fix.source.edits import function_at, patched, source_of, swapped, tree_of
from fullgraph.fix.source.inference.tensors import Tensors

TITLE = "a tensor as a size → its number, as a symbol"
KIND = "rewrite"
SAFETY = "exact"

_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
_SETTINGS = {"capture_scalar_outputs": True}
_Changes = list[tuple[ast.expr | ast.stmt, str]]


def candidates(spot: Spot) -> Iterator[Candidate]:
    # Where a symbol appears too late, Dynamo fails with an error that has no number.
    if spot.cause.id not in (None, "", "GB0033", "GB0036", "GB0124", "GB0170", "GB0059"):
        return
    # `F.pad` and others are Python, and break in there.
    here = caller_of(spot)
    if here is None:
        return
    spot = here
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    changes = _Sizes(spot.text, tree, function).changes()
    if changes:
        text = swapped(spot.text, changes)
        yield Candidate(
            "tensor_sizes_to_item",
            TITLE,
            "rewrite",
            "exact",
            file=patched(spot, text),
            settings=_SETTINGS,
        )


class _Sizes:
    """The sizes of one function that are tensors."""

    def __init__(self, text: str, tree: ast.Module, function: ast.FunctionDef) -> None:
        self._text = text
        self._function = function
        self._tensors = Tensors(tree, function)

    def changes(self) -> _Changes:
        sizes = [size for size in sizes_in(self._function) if self._tensors.is_tensor(size)]
        named = self._bound_to_sizes(sizes)
        self._tensors.numbers = set(named)
        changes: _Changes = [(value, self._item(value)) for value in named.values()]
        changes += [(size, self._item(size)) for size in sizes if self._tensors.is_tensor(size)]
        changes += [*self._indices(), *self._repetitions()]
        return [each for each in changes if not _is_inside_another(each[0], changes)]

    def _item(self, node: ast.expr) -> str:
        words = source_of(self._text, node)
        return f"{words}.item()" if isinstance(node, _SIMPLE) else f"({words}).item()"

    def _bound_to_sizes(self, sizes: list[ast.expr]) -> dict[str, ast.expr]:
        """Names that are used for sizes only, and what they are bound to."""
        inside = {id(node) for size in sizes for node in ast.walk(size)}
        found: dict[str, ast.expr] = {}
        for node in ast.walk(self._function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    uses = [each for each in ast.walk(self._function) if _is_name(each, name)]
                    others = [each for each in uses if id(each) not in inside]
                    # The one that is left is where it is bound.
                    if len(others) == 1 < len(uses) and self._tensors.is_single(value):
                        found[name] = value
        return found

    def _indices(self) -> _Changes:
        changes: _Changes = []
        for whole, index, dimension in indices_in(self._function):
            if not self._tensors.is_index(index):
                continue
            owner, item = source_of(self._text, whole.value), self._item(index)
            changes.append(
                (whole, f"{owner}.select({dimension}, {item})") if dimension else (index, item)
            )
        return changes

    def _repetitions(self) -> _Changes:
        changes: _Changes = []
        for node in ast.walk(self._function):
            match node:
                case (
                    ast.Call(
                        func=ast.Attribute(value=ast.Name(id="torch"), attr="repeat_interleave"),
                        args=[_, ast.Name() as repeats, *_],
                        keywords=keywords,
                    )
                    | ast.Call(
                        func=ast.Attribute(attr="repeat_interleave"),
                        args=[ast.Name() as repeats],
                        keywords=keywords,
                    )
                ):
                    told = any(each.arg == "output_size" for each in keywords)
                    if not told and self._tensors.is_tensor(repeats):
                        words = source_of(self._text, node).removesuffix(")").rstrip(", \n")
                        size = f"output_size={repeats.id}.sum().item()"
                        changes.append((node, f"{words}, {size})"))
        return changes


def _is_inside_another(node: ast.expr | ast.stmt, changes: _Changes) -> bool:
    return any(
        other is not node and any(each is node for each in ast.walk(other)) for other, _ in changes
    )


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


CHANGES = {
    "a mask as wide as the longest": """
import torch

def f(x, lengths):
    width = lengths.max()
    places = torch.arange(width)[None]
    return (places < lengths[:, None]).float() * x

def inputs():
    return torch.randn(3, 1), torch.tensor([2, 5, 3])
""",
    "padding up to a number": """
import torch
import torch.nn.functional as F

def f(x, lengths):
    missing = 8 - lengths.max()
    return F.pad(x, (0, 0, 0, missing)) * 2

def inputs():
    return torch.randn(2, 5, 4), torch.tensor([2, 5])
""",
    "the last step that counts": """
import torch

def f(x, lengths):
    last = lengths.max() - 1
    return x[:, last] + x[0, :1]

def inputs():
    return torch.randn(2, 5, 4, requires_grad=True), torch.tensor([2, 4])
""",
    "parts of a given size": """
import torch

def f(x, sizes):
    n = sizes.sum()
    return x.view(2, n + 1, 6).sum(1)

def inputs():
    return torch.randn(8, 6), torch.tensor([1, 2])

def more():
    yield torch.randn(12, 6), torch.tensor([3, 2])
""",
    "tokens as long as they last": """
import torch

def f(tokens, durations):
    durations = durations.clamp(min=1)
    spread = torch.repeat_interleave(tokens, durations, dim=0)
    return spread * 2

def inputs():
    return torch.randn(3, 4), torch.tensor([2, 1, 3])
""",
    "a window around the best": """
import torch

def f(x, scores):
    start = scores.argmax()
    return x.narrow(1, start - 1, 2) * 3

def inputs():
    return torch.randn(2, 6), torch.tensor([0.0, 0.5, 1.0, 0.2, 0.1, 0.0])
""",
}
REFUSES = {
    "as many steps as a tensor says": """
import torch

def f(x, n):
    for _ in range(n.sum()):
        x = x + 1
    return x

def inputs():
    return torch.randn(4), torch.tensor([1, 2])
""",
    "indices are no index": """
import torch

def f(x, scores):
    order = scores.argsort()
    x = x[order]
    return x[x.sum(-1) > 0]

def inputs():
    return torch.randn(5, 3), torch.randn(5)
""",
    "as many parts as a tensor says": """
import torch

def f(x, n):
    parts = x.chunk(n.sum().item())
    return parts[0] * len(parts)

def inputs():
    return torch.randn(6), torch.tensor([1, 2])
""",
    "one number of repetitions for all": """
import torch

def f(tokens, times):
    times = times.clamp(min=1)
    return torch.repeat_interleave(tokens, times, dim=0) * 2

def inputs():
    return torch.randn(3, 4), torch.tensor([2])
""",
    "a truth is no index": """
import torch

def f(x):
    found = (x > 0).any()
    return x[found].sum() + 1

def inputs():
    return (torch.randn(4),)
""",
}
