"""A number or a string that C code works out of plain values is worked out once a value.

Dynamo does not enter functions that are written in C, and breaks at each of them: a checksum or a
hash of a layer's name, a place in a sorted list. If all that goes in is plain values, the result is
known while tracing. `torch.compiler.assume_constant_result` says so: Dynamo then calls the function
while it traces, and its guards on what goes in have it called again for other values.

Exact for functions that depend on nothing but their arguments and give what cannot be changed: a
number, a string, a truth value. Everything else stays: a list would be the same one at every call.
If a tensor goes in, Dynamo refuses by itself.
"""

import ast
from collections.abc import Iterator, Mapping

from fullgraph.mend.fixers import Spot
from fullgraph.mend.model import Candidate
from fullgraph.mend.rewriting.definitions import Definitions
from fullgraph.mend.rewriting.edit import (
    function_at,
    nodes_at,
    patched,
    source_of,
    span,
    swapped,
    tree_of,
)
from fullgraph.mend.rewriting.names import dotted, fresh_name
from fullgraph.mend.rewriting.trees import arguments_of, bound_in

TITLE = "a function of plain values that Dynamo does not enter → a constant of the graph"
KIND = "escape"
SAFETY = "exact"

_CATEGORIES = ("not-entered", "python")
# Functions that give a number, a string or a truth value, and depend on nothing else.
_PLAIN_RESULT = (
    "zlib.crc32", "zlib.adler32", "binascii.crc32", "binascii.hexlify", "binascii.unhexlify",
    "bisect.bisect", "bisect.bisect_left", "bisect.bisect_right", "int", "float", "str", "bool",
    "len", "round", "abs", "ord",
)  # fmt: skip
# What they make has methods that give such a thing.
_MAKERS = ("hashlib.md5", "hashlib.sha1", "hashlib.sha256", "hashlib.sha512", "hashlib.blake2b")
_TEXT_METHODS = ("encode", "decode", "lower", "upper", "strip", "hexdigest", "digest", "replace")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.category not in _CATEGORIES:
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    module = Definitions(tree)
    local = {each.arg for each in arguments_of(function)} | bound_in(function)
    reader = _Reader(module.imports, local, {*module.functions, *module.classes})
    around = nodes_at(tree, spot.cause.line, spot.cause.column, spot.text)
    # The largest that gives a plain value and has something in it that Dynamo does not enter.
    found = [each for each in around if reader.is_plain(each) and reader.calls(each)]
    if not found or "\n" in source_of(spot.text, found[-1]):
        return
    value = found[-1]
    given = reader.given(value)
    if not given:
        return  # Made of constants: another fixer has it at the top of the file.
    yield Candidate(
        "plain_values",
        TITLE,
        "escape",
        "exact",
        file=patched(spot, *_texts(spot, tree, value, given)),
    )


class _Reader:
    def __init__(self, imports: Mapping[str, str], local: set[str], own: set[str]) -> None:
        self._imports = imports
        self._local = local
        # What the file defines itself, perhaps under the name of something else.
        self._own = own

    def is_plain(self, node: ast.expr) -> bool:
        """Whether an expression gives a number, a string or a truth value, and nothing else."""
        match node:
            case ast.BinOp(left=left, right=right):
                return self.is_plain(left) and self._is_operand(right)
            case ast.Compare(left=left, comparators=others):
                return self.is_plain(left) and all(map(self._is_operand, others))
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _TEXT_METHODS:
                return self._is_made(value) and all(map(self._is_operand, _values(node)))
            case ast.Call():
                name = self._name(node.func)
                return name in _PLAIN_RESULT and all(map(self._is_operand, _values(node)))
        return False

    def _is_operand(self, node: ast.expr) -> bool:
        """What may go in: constants, names and attributes, and what is made of those alone."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                return name in self._local
            case ast.Attribute(value=value):
                return self._is_chain(value)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return all(map(self._is_operand, parts))
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _TEXT_METHODS:
                return self._is_operand(value) and all(map(self._is_operand, _values(node)))
            case ast.Subscript(value=value, slice=index):
                return self._is_made(value) and self._is_operand(index)
        return self.is_plain(node) or self._is_made(node)

    def _is_made(self, node: ast.expr) -> bool:
        """Made by a function that gives the same each time, and by nobody else's hand."""
        match node:
            case ast.Call(func=func) if self._name(func) in _MAKERS:
                return all(map(self._is_operand, _values(node)))
        return False

    def _is_chain(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._local

    def _name(self, function: ast.expr) -> str:
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self._local | self._own:
            return ""
        is_known = isinstance(function, ast.Name) or root.id in self._imports
        return dotted(function, self._imports) if is_known else ""

    def calls(self, node: ast.expr) -> bool:
        """Whether there is a call of something that lives outside of this file."""
        return any(
            isinstance(each, ast.Call) and "." in self._name(each.func) for each in ast.walk(node)
        )

    def given(self, node: ast.expr) -> list[ast.expr]:
        """The outermost names and attributes of the function that go in."""
        if isinstance(node, ast.Name):
            return [node] if node.id in self._local else []
        if isinstance(node, ast.Attribute) and self._is_chain(node):
            return [node]
        parts = (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
        return [found for each in parts for found in self.given(each)]


def _values(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _texts(
    spot: Spot, tree: ast.Module, value: ast.expr, given: list[ast.expr]
) -> tuple[str, str, str]:
    """The file with a function for the value, and what it gains."""
    shown = list(dict.fromkeys(source_of(spot.text, each) for each in given))
    names: dict[str, str] = {}
    for each in shown:
        name = each.rpartition(".")[2]
        while name in names.values():
            name += "_"
        names[each] = name
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    last = next(filter(None, (dotted(call.func, {}).rpartition(".")[2] for call in calls)), "value")
    function = fresh_name(f"_{last}_of_{'_'.join(names.values())}", tree)
    changes = [(each, names[source_of(spot.text, each)]) for each in given]
    body = _inside(spot.text, value, changes)
    made = (
        f"\n\n@torch.compiler.assume_constant_result\n"
        f"def {function}({', '.join(names.values())}):\n    return {body}\n"
    )
    text = swapped(spot.text, [(value, f"{function}({', '.join(shown)})")])
    return text, "import torch", made


def _inside(text: str, value: ast.expr, changes: list[tuple[ast.expr, str]]) -> str:
    """The text of a value, with other names for what goes in."""
    start, end = span(text, value)
    whole = swapped(text, changes)
    return whole[start : end + len(whole) - len(text)]


CHANGES = {
    "a checksum of a name": """
import zlib
import torch

class Layer(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        scale = zlib.crc32(self.name.encode()) % 7 + 1
        return x.sin() * scale

f = Layer("encoder.0")

def inputs():
    return (torch.randn(4),)
""",
    "a place in a sorted list": """
import bisect
import torch

class Buckets(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        bucket = bisect.bisect([8, 16, 32], self.width)
        return x * (bucket + 1)

f = Buckets(10)

def inputs():
    return (torch.randn(4),)
""",
    "a hash of a name": """
import hashlib
import torch

def f(x, name):
    seed = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 5
    return x + seed

def inputs():
    return torch.randn(4), "a"

def more():
    yield torch.randn(4), "b"
""",
}

REFUSES = {
    "an object would be shared": """
import hashlib
import torch

def f(x, name):
    digest = hashlib.sha256(name.encode())
    digest.update(b"more")
    return x + digest.digest()[0]

def inputs():
    return torch.randn(4), "a"
""",
    "a tensor goes in": """
import bisect
import torch

GRADIENTS = False

def f(x):
    return x * (bisect.bisect([0.5, 1.5], x.sum().item()) + 1)

def inputs():
    return (torch.randn(4),)

def more():
    yield (torch.ones(4),)
""",
    "the clock": """
import time
import torch

def f(x, scale):
    return x * (int(time.time() * scale) * 0 + 1)

def inputs():
    return torch.randn(4), 2
""",
}
