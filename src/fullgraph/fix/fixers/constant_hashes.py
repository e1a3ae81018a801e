"""A number that C code works out of a text is worked out once a text.

Dynamo does not enter functions that are written in C, and breaks at each of them: a checksum or a
hash of a layer's name. The text is known while tracing, and so is the result.
`torch.compiler.assume_constant_result` says so: Dynamo then calls the function while it traces, and
its guard on the text has it called again for another one.

Exact for checksums and hashes of one text, which depend on nothing else, cannot fail, and give what
cannot be changed. Dynamo would take a tensor or an object of any kind for a constant too, without a
guard on what is in it, so whatever is no plain text goes the old way.
"""

import ast
from collections.abc import Iterator, Mapping

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import (
    function_at,
    nodes_at,
    patched,
    source_of,
    span,
    statements_at,
    swapped,
    tree_of,
)
from fullgraph.fix.source.module_symbols import Definitions
from fullgraph.fix.source.names import dotted, fresh_name
from fullgraph.fix.source.trees import arguments_of, bound_in

TITLE = "a checksum or a hash of a text → a constant of the graph"
KIND = "escape"
SAFETY = "exact"

_CATEGORIES = ("untraced-calls", "python")
_CHECKSUMS = ("zlib.crc32", "zlib.adler32", "binascii.crc32", "binascii.hexlify")
_HASHES = ("hashlib.md5", "hashlib.sha1", "hashlib.sha256", "hashlib.sha512", "hashlib.blake2b")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.category not in _CATEGORIES:
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    module = Definitions(tree)
    own = {each.arg for each in arguments_of(function)} | bound_in(function)
    reader = _Reader(module.imports, own, {*module.functions, *module.classes})
    around = nodes_at(tree, spot.cause.line, spot.cause.column, spot.text)
    found = [each for each in around if reader.text_in(each) is not None]
    inside = [
        each for each in statements_at(function, spot.cause.line) if isinstance(each, ast.Try)
    ]
    if found and not inside and "\n" not in source_of(spot.text, found[-1]):
        # The largest that is worked out of the text alone.
        patch = patched(spot, *_texts(spot, tree, found[-1], reader))
        yield Candidate("constant_hashes", TITLE, "escape", "exact", file=patch)


class _Reader:
    """Finds the one text that an expression is worked out of."""

    def __init__(self, imports: Mapping[str, str], local: set[str], own: set[str]) -> None:
        self._imports = imports
        self._local = local
        # What the file defines itself, perhaps under the name of something else.
        self._own = own

    def text_in(self, node: ast.expr) -> ast.expr | None:
        match node:
            case ast.BinOp(left=left, right=ast.Constant()):
                return self.text_in(left)
            case ast.Call(func=ast.Name(id="int"), args=[value, *base], keywords=[]):
                is_plain = all(isinstance(each, ast.Constant) for each in base)
                return self.text_in(value) if is_plain and "int" not in self._own else None
            case ast.Call(
                func=ast.Attribute(value=made, attr="hexdigest" | "digest"), args=[], keywords=[]
            ):
                return self._encoded(made, _HASHES)
        return self._encoded(node, _CHECKSUMS)

    def _encoded(self, node: ast.expr, functions: tuple[str, ...]) -> ast.expr | None:
        """The text in `zlib.crc32(text.encode())`."""
        match node:
            case ast.Call(
                func=func,
                args=[
                    ast.Call(func=ast.Attribute(value=text, attr="encode"), args=[], keywords=[])
                ],
                keywords=[],
            ) if self._name(func) in functions and self._is_chain(text):
                return text
        return None

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
        return dotted(function, self._imports) if root.id in self._imports else ""


def _texts(spot: Spot, tree: ast.Module, value: ast.expr, reader: _Reader) -> tuple[str, str, str]:
    """The file with a function for the value, and what it gains."""
    text = reader.text_in(value)
    assert text is not None
    shown = source_of(spot.text, text)
    name = shown.rpartition(".")[2]
    function = fresh_name(f"_number_of_{name}", tree)
    constant = fresh_name(f"_constant_of_{name}", tree)
    body = _inside(spot.text, value, text, name)
    made = f"""

@torch.compiler.assume_constant_result
def {constant}({name}):
    return {body}


def {function}({name}):
    # Of anything but a plain text nobody would notice that it changes.
    if type({name}) is str:
        return {constant}({name})
    return {body}
"""
    return swapped(spot.text, [(value, f"{function}({shown})")]), "import torch", made


def _inside(text: str, value: ast.expr, part: ast.expr, name: str) -> str:
    """The text of a value, with another name for what goes in."""
    start, end = span(text, value)
    whole = swapped(text, [(part, name)])
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
    "an object that may change": """
import zlib
import torch

class Name:
    def __init__(self, text):
        self.text = text

    def encode(self):
        return self.text.encode()

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.name = Name("a")

    def forward(self, x):
        return x * (zlib.crc32(self.name.encode()) % 7)

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "a text that may not be one": """
import zlib
import torch

def f(x, name):
    try:
        return x * (zlib.crc32(name.encode()) % 7)
    except AttributeError:
        return x

def inputs():
    return torch.randn(4), "a"

def more():
    yield torch.randn(4), 3
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
