"""NumPy functions of plain numbers become functions of Python's own.

`np.prod(x.shape[1:])` or `np.lcm(a, b)` is a number when the program runs, but Dynamo traces NumPy
as operators on arrays: the number becomes a tensor, and a comparison with it a branch on a tensor.
`math.prod`, `math.lcm`, `math.gcd`, `math.sqrt`, `math.ceil` and `math.floor` are worked out while
tracing.

Only calls whose arguments are seen to be plain numbers are changed, and only where `int` for
`numpy.int64` (or `float` for its subclass `numpy.float64`) makes no difference that can be seen:
not where the result has an attribute taken, is shown with `!r`, or divides a plain number (Python
raises where NumPy warns and gives infinity). `sqrt` only of what cannot be negative, `ceil` and
`floor` only inside `int()`, where infinity and NaN raise the same in both. `np.log`, `np.exp` and
the like stay: they may round differently. `np.prod` of no numbers at all is 1.0 and `math.prod`
is 1; so it is changed for shapes, for lists with something in them, and inside `int()`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fullgraph.fix.fixers import Spot
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.edits import (
    function_at,
    patched,
    source_of,
    statements_at,
    swapped,
    tree_of,
)
from fullgraph.fix.source.inference.numbers import Numbers
from fullgraph.fix.source.names import dotted, imports_of, names_in
from fullgraph.fix.source.trees import arguments_of, bound_in

TITLE = "NumPy on plain numbers → math"
KIND = "rewrite"
SAFETY = "exact"

_WHERE = re.compile(r'^# File "(?P<file>.+)", line (?P<line>\d+), in ', re.MULTILINE)
_WHOLE = ("lcm", "gcd")
_TO_INT = ("ceil", "floor")


def candidates(spot: Spot) -> Iterator[Candidate]:
    if "numpy" not in spot.text:
        return
    tree = tree_of(spot.text)
    if tree is None:
        return
    changes: dict[ast.expr, str] = {}
    for call in _calls(spot, tree):
        changes |= _Rewrite(spot, tree, call).changes()
    if changes:
        text = swapped(spot.text, changes.items())
        yield Candidate(
            "numpy_to_math", TITLE, "rewrite", "exact", file=patched(spot, text, "import math")
        )


def _calls(spot: Spot, tree: ast.Module) -> list[ast.Call]:
    """The calls that the break goes back to: on its line, or where its numbers come from."""
    lines = {int(each["line"]) for each in _WHERE.finditer(spot.cause.explanation)
             if each["file"] == spot.cause.file}  # fmt: skip
    around = statements_at(tree, spot.cause.line)
    function = function_at(tree, spot.cause.line)
    if around and not isinstance(around[0], ast.FunctionDef):
        lines.add(spot.cause.line)
        names = names_in(around[0])
        for each in ast.walk(function) if function else ():
            if isinstance(each, ast.Assign) and names & names_in(_targets(each)):
                lines.update(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    imports = imports_of(tree)
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and node.lineno in lines
        and dotted(node.func, imports).startswith("numpy.")
    ]


def _targets(assignment: ast.Assign) -> ast.AST:
    return ast.Tuple(assignment.targets, ast.Load())


class _Rewrite:
    """One call of a NumPy function."""

    def __init__(self, spot: Spot, tree: ast.Module, call: ast.Call) -> None:
        self._spot = spot
        self._call = call
        self._name = dotted(call.func, imports_of(tree)).removeprefix("numpy.")
        self._function = function_at(tree, call.lineno)
        self._parents = {
            child: node
            for node in (ast.walk(self._function) if self._function else ())
            for child in ast.iter_child_nodes(node)
        }

    def changes(self) -> dict[ast.expr, str]:
        """From nodes to their new words; none if it is better left alone."""
        function, call = self._function, self._call
        if function is None or call.keywords or not call.args:
            return {}
        taken = bound_in(function) | {each.arg for each in arguments_of(function)}
        if "math" in taken or any(isinstance(each, ast.Starred) for each in call.args):
            return {}
        self._numbers = Numbers(function)
        if not self._is_unseen(call):
            return {}
        return self._new_words()

    def _new_words(self) -> dict[ast.expr, str]:
        arguments = self._call.args
        in_int = self._around_it("int")
        if self._name in _WHOLE and len(arguments) == 2:
            known = all(self._is_number(each) for each in arguments)
            return {self._call.func: f"math.{self._name}"} if known else {}
        if len(arguments) != 1:
            return {}
        argument = arguments[0]
        if self._name == "sqrt" and self._numbers.not_negative(argument):
            return {self._call.func: "math.sqrt"}
        if self._name == "prod" and self._is_product(argument, in_int is not None):
            return {self._call.func: "math.prod"}
        if self._name in _TO_INT and in_int is not None and self._is_number(argument):
            words = f"math.{self._name}({source_of(self._spot.text, argument)})"
            return {in_int: words}
        return {}

    def _around_it(self, name: str) -> ast.Call | None:
        """The call `name(this)`."""
        match self._parents.get(self._call):
            case ast.Call(func=ast.Name(id=found), args=[_], keywords=[]) as outer if found == name:
                return outer
        return None

    def _is_product(self, argument: ast.expr, in_int: bool) -> bool:
        if self._numbers.is_shape(argument):
            return True
        if not isinstance(argument, ast.List | ast.Tuple):
            return False
        return bool(argument.elts or in_int) and all(map(self._is_number, argument.elts))

    def _is_number(self, node: ast.expr) -> bool:
        """By what is seen of it; or by the graph, where the call has only constants in it."""
        if self._numbers.is_number(node):
            return True
        if isinstance(node, ast.Starred):
            return False
        traced = rf"\bwrapped_{self._name}\(([^a-z]*)\)"
        return re.search(traced, self._spot.cause.explanation) is not None

    def _is_unseen(self, value: ast.expr) -> bool:
        """Whether nobody can tell a NumPy number here from a plain one."""
        parent = self._parents.get(value)
        match parent:
            case ast.Attribute() | ast.FormattedValue(conversion=114):
                return False
            case ast.Call(func=ast.Name(id="isinstance" | "type" | "repr")):
                return False
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right, left=left):
                if right is value and self._numbers.is_number(left) and self._name == "prod":
                    return False
            case ast.Assign(targets=[ast.Name(id=name)]):
                return all(self._is_unseen(each) for each in self._uses(name))
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr():
                return False
        return True

    def _uses(self, name: str) -> list[ast.Name]:
        return [
            each
            for each in self._parents
            if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
        ]


CHANGES = {
    "a branch on a product of sizes": """
import numpy as np
import torch

def f(x):
    cells = np.prod(x.shape[1:])
    if cells > 4:
        return x * 2
    return x

def inputs():
    return (torch.randn(2, 3, 4),)
""",
    "a helper that finds a common multiple": """
import numpy as np
import torch
from torch import nn

def chunk_length(config):
    return np.lcm(config["first"], config["second"])

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.config = {"first": 4, "second": 6}
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        chunk = chunk_length(self.config)
        must_pad = x.shape[1] % chunk != 0 and x.shape[1] > 2
        if must_pad:
            x = nn.functional.pad(x, (0, 0, 0, chunk - x.shape[1] % chunk))
        return self.layer(x)

f = Model()

def inputs():
    return (torch.randn(2, 10, 8),)
""",
    "a loop as long as a divisor": """
import numpy as np
import torch

def f(x):
    heads = 4
    for _ in range(np.gcd(heads, 6)):
        x = x + 1
    return x

def inputs():
    return (torch.randn(4, 6),)
""",
    "a root that decides": """
import numpy
import torch

def f(x):
    scale = numpy.sqrt(x.shape[-1])
    return x / scale if scale > 2 else x

def inputs():
    return (torch.randn(3, 16),)
""",
    "a product of sizes as a size": """
import numpy as np
import torch

def f(x):
    return x.reshape(np.prod(x.shape[:2]), -1) + 1

def inputs():
    return (torch.randn(2, 3, 4),)
""",
}
REFUSES = {
    "a product of a tensor's values": """
import numpy as np
import torch

def f(x, sizes):
    n = np.prod(sizes.numpy())
    if n > 4:
        return x * 2
    return x

def inputs():
    return torch.randn(4), torch.tensor([2, 3])
""",
    "the type of the number is asked for": """
import numpy as np
import torch

def f(x):
    n = np.prod(x.shape)
    if isinstance(n, np.integer) and n > 4:
        return x * 2
    return x

def inputs():
    return (torch.randn(4),)
""",
    "a method of the number": """
import numpy as np
import torch

def f(x):
    n = np.prod(x.shape)
    if n.astype(np.int8) > 4:
        return x * 2
    return x

def inputs():
    return (torch.randn(20, 30),)
""",
    "one over what may be zero": """
import numpy as np
import torch

def f(x):
    n = np.prod(x.shape[1:])
    share = 1.0 / n
    if share > 0.5:
        return x + 1
    return x

def inputs():
    return (torch.randn(3, 2),)

def more():
    yield (torch.randn(3, 0),)
""",
    "the root of what may be negative": """
import numpy as np
import torch

def f(x, balance):
    if not np.sqrt(balance) > 1:
        return x * 2
    return x

def inputs():
    return torch.randn(3), -4.0
""",
    "a logarithm rounds in its own way": """
import numpy as np
import torch

def f(x):
    if np.log(x.shape[0]) > 1:
        return x * 2
    return x

def inputs():
    return (torch.randn(3),)
""",
    "another thing is called math": """
import numpy as np
import torch

def f(x, math):
    if np.prod(x.shape) > math:
        return x * 2
    return x

def inputs():
    return torch.randn(3), 2
""",
    "ceil of infinity is no error": """
import numpy as np
import torch

def f(x, ratio):
    if np.ceil(ratio) > 4:
        return x * 2
    return x

def inputs():
    return torch.randn(3), float("inf")
""",
}
