"""A value that is the same for the whole run is worked out once, at the top of the file.

Dynamo does not enter functions that are written in C, and breaks at each of them: `os.cpu_count()`,
`platform.system()`, a checksum or a `Decimal` of constants. What they give does not depend on
anything that the compiled function gets, so it can be a constant of the module; plain numbers and
strings there are constants for Dynamo too.

Exact for pure functions of constants, and for facts about the machine, which do not change while a
program runs. Settings that may change stay where they are, the number of threads or the environment
for example, and so do the clock, random numbers, and results that could be changed in place.
"""

import ast
from collections.abc import Iterator, Mapping

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate, FilePatch
from fullgraph.fix.purity.known_functions import change_of, effect_of, is_known_pure
from fullgraph.fix.source.edits import (
    function_at,
    nodes_at,
    source_of,
    statements_at,
    swapped,
    tree_of,
)
from fullgraph.fix.source.module_symbols import Definitions
from fullgraph.fix.source.names import dotted, fresh_name, stored_names
from fullgraph.fix.source.text import lines_of
from fullgraph.fix.source.trees import bound_in, root_of

TITLE = "a value that never changes → a constant of the module"
KIND = "hoist"
SAFETY = "exact"

_CATEGORIES = ("untraced-calls", "side-effects", "python")
_MACHINE = (
    "os.cpu_count", "platform.system", "platform.machine", "platform.processor",
    "platform.python_version", "sys.getdefaultencoding", "torch.backends.mkldnn.is_available",
    "torch.backends.cudnn.is_available", "torch.backends.mps.is_available",
    "torch.backends.mps.is_built", "torch.backends.cuda.is_built", "torch.cuda.is_bf16_supported",
)  # fmt: skip
# Pure functions that are written in C, and whose results cannot be changed.
_PURE = (
    "hashlib.md5", "hashlib.sha1", "hashlib.sha256", "zlib.crc32", "zlib.adler32",
    "binascii.crc32", "decimal.Decimal", "fractions.Fraction", "datetime.timedelta",
)  # fmt: skip
_METHODS = ("hexdigest", "digest", "total_seconds", "encode", "lower", "upper", "strip", "hex")
_PLAIN = ("int", "float", "str", "bool", "len", "round", "abs", "min", "max", "bytes")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if spot.cause.category not in _CATEGORIES:
        return
    tree = tree_of(spot.text)
    function = function_at(tree, spot.cause.line) if tree else None
    if tree is None or function is None:
        return
    reader = _Reader(Definitions(tree), bound_in(function) | _parameters(function))
    around = nodes_at(tree, spot.cause.line, spot.cause.column, spot.text)
    constant = [each for each in around if reader.is_constant(each)]
    # The largest of them.
    if not constant or not any(isinstance(each, ast.Call | ast.BinOp) for each in constant):
        return
    value = constant[-1]
    shown = source_of(spot.text, value)
    if "\n" in shown:
        return
    name = fresh_name(f"_{_name_for(value, spot, tree)}", tree)
    text = swapped(spot.text, [(value, name)])
    statement = f"{name} = {shown}"
    lines = lines_of(text)
    position = _position(value, function, tree)
    text = "".join([*lines[:position], f"\n{statement}\n", *lines[position:]])
    patch = FilePatch(spot.cause.file, text, (statement,))
    yield Candidate("hoist_constant_calls", TITLE, "hoist", "exact", file=patch)


def _parameters(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}


def _name_for(value: ast.expr, spot: Spot, tree: ast.Module) -> str:
    """After the name that it is given, or the function that it comes from."""
    statement = statements_at(tree, spot.cause.line)[0]
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=assigned) if assigned is value:
            return name.upper()
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    names = [dotted(call.func, {}).rpartition(".")[2] for call in calls]
    return next((name for name in names if name and name not in _PLAIN), "constant").upper()


class _Reader:
    def __init__(self, module: Definitions, local: set[str]) -> None:
        self._module = module
        self._local = local
        self._imports: Mapping[str, str] = module.imports

    def is_constant(self, node: ast.AST) -> bool:
        """Whether an expression is made of constants, and gives what cannot be changed."""
        match node:
            case ast.Constant():
                return True
            case ast.Name(id=name):
                value = self._module.bound_once.get(name) if name.isupper() else None
                return name not in self._local and value is not None and self.is_constant(value)
            case ast.BinOp(left=left, right=right):
                return self.is_constant(left) and self.is_constant(right)
            case ast.UnaryOp(operand=operand):
                return self.is_constant(operand)
            case ast.Compare(left=left, comparators=[right]):
                return self.is_constant(left) and self.is_constant(right)
            case ast.Call():
                values = [*node.args, *(each.value for each in node.keywords)]
                return self._is_pure(node.func) and all(map(self.is_constant, values))
        return False

    def _is_pure(self, function: ast.expr) -> bool:
        root = root_of(function)
        name = dotted(function, self._imports)
        if isinstance(function, ast.Name) and root not in self._imports:
            return name in _PLAIN and name not in self._local
        if name and root in self._imports and root not in self._local:
            if name in _MACHINE or name in _PURE:
                return True
            known = name.startswith("math.") and is_known_pure(name)
            return known and not effect_of(name) and not change_of(name)
        if isinstance(function, ast.Attribute) and function.attr in _METHODS:
            return self.is_constant(function.value)
        return False


def _position(value: ast.expr, function: ast.FunctionDef, tree: ast.Module) -> int:
    """The line behind the imports, and behind the constants that the value is made of."""
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    before = [
        statement.end_lineno or statement.lineno
        for statement in tree.body
        if statement.lineno < function.lineno
        and (isinstance(statement, ast.Import | ast.ImportFrom) or names & _set_by(statement))
    ]
    return max(before, default=0)


def _set_by(statement: ast.stmt) -> set[str]:
    return stored_names(statement) if isinstance(statement, ast.Assign) else set()


CHANGES = {
    "the number of processors": """
import os
import torch

def f(x):
    pieces = x.chunk(max(os.cpu_count(), 2))
    return torch.cat([piece.softmax(-1) for piece in pieces])

def inputs():
    return (torch.randn(8, 4),)
""",
    "a checksum of a name": """
import hashlib
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        seed = int(hashlib.md5(b"layer").hexdigest(), 16) % 97
        return x * seed

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "a checksum of a constant": '''
"""A model."""

import zlib

import torch

NAME = b"layer"

def f(x):
    if zlib.crc32(NAME) % 2 == 0:
        return x * 2
    return x + 2

def inputs():
    return (torch.randn(4),)
''',
    "arithmetic of decimals": """
from decimal import Decimal
import torch

RATE = Decimal("0.1")

def f(x):
    return x * float(RATE * 3)

def inputs():
    return (torch.randn(4),)
""",
}
REFUSES = {
    "a setting that may change": """
import torch

def f(x):
    return x * torch.get_num_threads()

def inputs():
    return (torch.randn(4),)
""",
    "a constant that is set again": """
from decimal import Decimal
import torch

RATE = Decimal("0.1")

def set_rate(text):
    global RATE
    RATE = Decimal(text)

def f(x):
    return x * float(RATE * 3)

def inputs():
    set_rate("0.5")
    return (torch.randn(4),)
""",
    "the clock": """
import time
import torch

def f(x):
    started = time.time()
    return x * (1 if started > 0 else 2)

def inputs():
    return (torch.randn(4),)
""",
    "random numbers": """
import random
import torch

def f(x):
    return x * random.random()

def inputs():
    return (torch.randn(4),)
""",
    "an argument": """
import zlib
import torch

def f(x, name):
    return x * (zlib.crc32(name) % 7)

def inputs():
    return torch.randn(4), b"layer"
""",
    "what can be changed in place": """
import array
import torch

def f(x):
    counts = array.array("l", b"\\x01" * 16)
    counts[0] = counts[0] * 2
    return x * len(counts)

def inputs():
    return (torch.randn(4),)
""",
    "a name that hides the module": """
import platform
import torch

class Platform:
    def system(self):
        return "mine"

def f(x, platform=Platform()):
    print("asked")
    return x * len(platform.system())

def inputs():
    return (torch.randn(4),)
""",
}
