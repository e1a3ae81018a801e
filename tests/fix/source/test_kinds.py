"""KindInference claims a property of an expression only if the source shows it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from fullgraph.fix.source.inference.bindings import Bindings
from fullgraph.fix.source.inference.function import FunctionInference
from fullgraph.fix.source.inference.kinds import Kind, KindInference
from fullgraph.fix.source.inference.scope import Scope

_HEAD = """
import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""
_MODULE = """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.inherited = nn.Parameter(torch.ones(2))
        self.changed = nn.Parameter(torch.ones(2))

class Model(Base):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.optional = None
        self.optional = nn.Parameter(torch.ones(2))
        self.table = torch.zeros(3)
        self.array = np.zeros(3)
        self.layer = nn.Linear(2, 2)
        self.lstm = nn.LSTM(2, 2)
        self.layers = nn.ModuleList([nn.Linear(2, 2)])
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x, y: torch.Tensor, n: "int | torch.Tensor" = 1, *, flag=False):
{body}
        return {expression}

class Derived(Model):
    def __init__(self):
        self.changed = nn.ModuleList()

class Unrelated(nn.Module):
    def __init__(self):
        self.weight = nn.ModuleList()
"""


def scope_of(body: str, expression: str) -> tuple[Scope, ast.expr]:
    source = _HEAD + _MODULE.format(
        body=textwrap.indent(textwrap.dedent(body) or "pass", " " * 8), expression=expression
    )
    tree = ast.parse(source)
    function = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "forward"
    )
    last = function.body[-1]
    assert isinstance(last, ast.Return)
    assert last.value is not None
    return Scope(tree, function), last.value


def kind(expression: str, body: str = "", *, hints: bool = True) -> Kind:
    scope, node = scope_of(body, expression)
    return KindInference(scope, hints=hints).kind_of(node)


@pytest.mark.parametrize(
    "expression",
    [
        "y",
        "y[0] + 1",
        "-y",
        "~(y > 0)",
        "y.T",
        "2 - y",
        "y == 1",
        "torch.relu(flag)",
        "F.one_hot(flag)",
        "self.weight",
        "self.inherited",
        "self.optional * 2",
        "self.table",
        "self.count",
        "self.layer(flag)",
        "flag[0].view(-1)",
        "torch.stack([flag])[0].sum()",
    ],
)
def test_tensors(expression: str) -> None:
    assert kind(expression).tensor
    assert kind(expression, hints=False).tensor


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "n",
        "flag",
        "not y",
        "y is None",
        "y in (1, 2)",
        "'%s' % y",
        "f'{y}' + 'a'",
        "y.shape",
        "y.device",
        "flag.T",
        "y.item()",
        "y.numpy()",
        "y.split(2)",
        "y.size(0)",
        "torch.equal(y, y)",
        "torch.is_grad_enabled()",
        "torch.compiler.is_compiling()",
        "torch.nn.CrossEntropyLoss()",
        "np.zeros(3)",
        "self.array",
        "self.changed",
        "self.layers",
        "self.lstm(y)",
        "self.unknown(y)",
        "{'a': y}.get('a')",
        "[y]",
    ],
)
def test_no_tensors(expression: str) -> None:
    assert not kind(expression).tensor


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("z = y", True),
        ("z = y\nz += 1", True),
        ("z: torch.Tensor = y", True),
        ("a = z = y", True),
        ("for z in y: pass", True),
        ("for i, z in enumerate(y): pass", True),
        ("for a, z in zip(x, y): pass", True),
        ("a, z = x, y", True),
        ("z = y\nfor _ in range(3):\n    z = z * 2", True),
        ("z = y\nz = 1", False),
        ("z = y\nz = f(y)", False),
        ("z = y\na, z = f(y)", False),
        ("z = y\nwith f() as z: pass", False),
        ("z = y\nfor z in range(3): pass", False),
        ("z = y\nfor z, _ in enumerate(y): pass", False),
        ("z = y\nglobal z", False),
        ("z = y\nf = lambda z: z", False),
        ("z = y\ndef z(): pass", False),
        ("z = y\nimport z", False),
        ("z = y\ntry: pass\nexcept ValueError as z: pass", False),
        ("z = y\nmatch x:\n    case [*z]: pass", False),
        ("z = y\ndel z", False),
        ("[z for z in f()]\nz = y", False),
    ],
)
def test_a_name_is_a_tensor_if_all_its_values_are(body: str, expected: bool) -> None:
    assert kind("z", body).tensor is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = self.layer(x)", True),
        ("x = torch.relu(x)\nx += 1", True),
        ("x.view(1)", True),
        ("x = x - 1", False),
        ("x -= 1", False),
        ("x = self.layer(x)\nx = 1", False),
        ("x.view(1)\nx = 1", False),
        ("x, flag = flag, x", False),
    ],
)
def test_an_argument_is_a_tensor_if_the_function_shows_it(body: str, expected: bool) -> None:
    """`n -= 1` must not count as a tensor: a caller may pass an integer."""
    assert kind("x", body).tensor is expected


def test_a_use_is_a_hint_only() -> None:
    """A list of modules has the method `to` as well."""
    assert kind("x", "x.to('cpu')").tensor
    assert not kind("x", "x.to('cpu')", hints=False).tensor


def test_names_can_be_taken_for_numbers() -> None:
    scope, node = scope_of("z = y.max()", "z + 1")
    assert KindInference(scope).kind_of(node).tensor
    found = KindInference(scope, numbers={"z"}).kind_of(node)
    assert (found.tensor, found.number) == (False, True)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x > 0", True),
        ("(x > 0) & ~(x == 3)", True),
        ("torch.isnan(x) | x.bool()", True),
        ("mask", True),
        ("flag", True),
        ("x", False),
        ("x.sum()", False),
        ("x.any()", False),
        ("(x > 0) & x", False),
        ("math.isnan(x)", False),
        ("torch.equal(x, y)", False),
    ],
)
def test_booleans(expression: str, expected: bool) -> None:
    assert kind(expression, "mask = x > 0\nflag = flag != 0").boolean is expected


@pytest.mark.parametrize(
    ("expression", "index", "fresh"),
    [
        ("x.argmax()", True, True),
        ("torch.max(x)", True, True),
        ("last", True, False),
        ("last - 1", True, False),
        ("x.any()", False, True),
        ("x.argmax(-1)", False, False),
        ("x.argsort()", False, False),
        ("x.logsumexp()", False, False),
        ("boxes", False, False),
    ],
)
def test_indices(expression: str, index: bool, fresh: bool) -> None:
    """An index is a 0-d tensor, and no mask."""
    body = "last = x.max()\nboxes = y\nboxes = boxes + 1"
    found = kind(expression, body)
    assert (found.index, found.fresh_scalar) == (index, fresh)


def test_an_argument_is_no_index_because_something_is_added_to_it() -> None:
    assert not kind("y", "y = y + 0.5").index


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x.argmax(-1)", True),
        ("x.long()", True),
        ("(x > 0).sum()", True),
        ("x.long().sum()", True),
        ("x.sum()", False),
        ("x.max()", False),
        ("(x > 0).sum(0)", False),
    ],
)
def test_integers(expression: str, expected: bool) -> None:
    assert kind(expression).integer is expected


@pytest.mark.parametrize(
    ("expression", "number", "nonnegative"),
    [
        ("3", True, True),
        ("-3", True, False),
        ("len(x) // 2", True, True),
        ("x.shape[0] - 9", True, False),
        ("x.size(0) * width", True, True),
        ("x.ndim", True, True),
        ("batch", True, True),
        ("steps", True, True),
        ("rest", False, False),
        ("n", False, False),
        ("x.stride()", False, False),
        ("x.stride(0)", True, True),
        ("x.size()", False, False),
        ("x.shape[1:]", False, False),
        ("self.size", False, False),
        ("unknown", False, False),
        ("2 ** len(x)", False, False),
        ("'a' * 3", False, False),
    ],
)
def test_numbers(expression: str, number: bool, nonnegative: bool) -> None:
    body = "batch, width = x.shape\n_, *rest = x.shape\nsteps = 1\nsteps += 2"
    found = kind(expression, body)
    assert (found.number, found.nonnegative) == (number, nonnegative)


def test_shapes() -> None:
    assert kind("x.shape[1:]").shape
    assert kind("x.size()").shape
    assert kind("shape", "shape = x.shape").shape
    assert not kind("self.shape").shape
    assert not kind("np.shape").shape
    assert not kind("shape", "shape = x.shape\nshape = f()").shape


def test_bindings_list_arguments_apart() -> None:
    scope, _ = scope_of("x = 1\nz = x", "x")
    bindings = Bindings(scope.function)
    assert bindings.arguments == {"self", "x", "y", "n", "flag"}
    assert bindings.names() == bindings.arguments | {"z"}
    assert [ast.unparse(value) for value in bindings.values("x") if value] == ["1"]
    assert bindings.values("y") == []


# The flow-sensitive layer


def is_same(one: str, other: str, body: str = "") -> bool:
    """Check whether two expressions have the same shape and dtype for all inputs."""
    scope, node = scope_of(body, f"({one}, {other})")
    assert isinstance(node, ast.Tuple)
    inference = FunctionInference(scope, scope.function.body[-1])
    first, second = (inference.read(each) for each in node.elts)
    return inference.same(first, second)


def test_the_same_shape_and_dtype() -> None:
    assert is_same("x + 1", "x * 2")
    assert is_same("x", "x * 0.5", "x.mean()")
    assert not is_same("x", "x * 0.5")


@pytest.mark.parametrize(
    ("one", "other", "body"),
    [
        ("x", "torch.zeros_like(x, dtype=torch.int64)", ""),
        ("x", "x * 0.5", "x.mean(dtype=torch.float32)"),
        ("z", "z * 0.5", "x.mean()\nz = x.argsort()"),
        ("z", "z * 0.5", "x.mean()\nz = x.to(torch.int64)"),
    ],
)
def test_an_operator_with_another_dtype_is_not_the_same(one: str, other: str, body: str) -> None:
    assert not is_same(one, other, body)


@pytest.mark.parametrize(
    "expression", ["F.relu(x, inplace=True)", "F.relu(x, True)", "torch.abs(x, out=y)"]
)
def test_an_operator_that_mutates_is_unsafe(expression: str) -> None:
    scope, node = scope_of("", expression)
    value = FunctionInference(scope, scope.function.body[-1]).read(node)
    assert value.risk == "unsafe"


@pytest.mark.parametrize("expression", ["+x", "x.positive()", "x.detach()", "x.float()"])
def test_an_operator_that_returns_its_input_aliases_it(expression: str) -> None:
    scope, node = scope_of("", expression)
    assert FunctionInference(scope, scope.function.body[-1]).read(node).alias


def test_an_argument_that_may_be_a_number_is_not_surely_a_tensor() -> None:
    scope, node = scope_of("", "y")
    assert FunctionInference(scope, scope.function.body[-1]).is_surely_tensor(node)
    tree = ast.parse("def f(n: int | torch.Tensor): return n")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert not Scope(tree, function).is_tensor_argument("n")
