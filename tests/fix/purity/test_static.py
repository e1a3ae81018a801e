"""The static analysis: functions that are pure, and the finding for those that are not."""

from __future__ import annotations

import ast

import pytest

from fullgraph.fix.purity.findings import Finding
from fullgraph.fix.purity.static import impurities, static_findings

HEAD = """
import collections, copy, logging, math, os, random, time
import helpers
from helpers import SETTING, helper
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

LIMIT = 3
TABLE = {"a": 1}
logger = logging.getLogger("x")

def double(x):
    return x * 2

def prints(x):
    print(x)
    return x

def stores(x):
    TABLE["last"] = x
    return x
"""

PURE = {
    "arithmetic": "def f(x, y):\n    return (x * y).sum(-1) + LIMIT",
    "own tensors": "def f(x):\n    y = torch.zeros(3)\n    y[0] = 1\n    y += x\n    return y",
    "a clone is changed": "def f(x):\n    y = x.clone()\n    y.add_(1)\n    return y",
    "own list": "def f(x):\n    parts = []\n    parts.append(x)\n    return torch.stack(parts)",
    "a helper": "def f(x):\n    return double(x)",
    "numpy and math": "def f(n: int):\n    n += 1\n    return math.sqrt(n) + np.prod([n, 2])",
    "out into own": "def f(x):\n    z = torch.zeros(3)\n    torch.add(x, 1, out=z)\n    return z",
    "annotations": "def f(x: nn.Module) -> torch.Tensor:\n    return F.relu(x)",
    "recursion": "def f(n: int):\n    return 1 if n < 2 else n * f(n - 1)",
    "comprehension": "def f(xs):\n    return [x * 2 for x in xs if x is not None]",
    "own list after an annotation": "def f(x):\n    y: list = []\n    y += [x]\n    return y",
    "own container": "def f(x):\n    d = collections.Counter()\n    d[x] += 1\n    return d",
    "a negated tensor is new": "def f(x):\n    y = -x\n    y.mul_(2)\n    return y",
    "a computed tensor is new": "def f(x):\n    y = x * 2\n    y.add_(1)\n    return y",
    "own comprehension": "def f(xs):\n    y = [x for x in xs]\n    y.append(1)\n    return y",
    "own deep copy": "def f(x):\n    y = copy.deepcopy(x)\n    y[0] = 1\n    return y",
    "own elements are deleted": "def f(x):\n    y = [x]\n    del y[0]\n    return y",
    "a module imported inside": "def f(x):\n    import math\n    return x * math.sqrt(2)",
    "constants of modules": "def f(x):\n    return x.to(torch.float32) * math.pi",
    "a method of a constant": "def f(x):\n    return LIMIT.bit_length() + x",
    "no gradients": "@torch.no_grad()\ndef f(x):\n    return x * 2",
    "not in place": "def f(x):\n    return F.relu(x, inplace=False)",
    "no output argument": "def f(x):\n    return torch.add(x, 1, out=None)",
    "an error": "def f(x):\n    raise FileNotFoundError(x)",
    "attention without dropout": "def f(x):\n    return F.scaled_dot_product_attention(x, x, x)",
    "a pure class": "class A:\n    pass\ndef f(x):\n    A()\n    return x",
}  # fmt: skip
IMPURE = {
    "prints": ("effect", "def f(x):\n    print(x)\n    return x"),
    "logs": ("effect", "def f(x):\n    logging.info(x)\n    return x"),
    "opens": ("effect", "def f(x):\n    open('a').read()\n    return x"),
    "environment": ("effect", "def f(x):\n    return x * int(os.environ.get('N'))"),
    "through a helper": ("effect", "def f(x):\n    return prints(x)"),
    "global through a helper": ("state", "def f(x):\n    return stores(x)"),
    "a method": ("input", "def f(self, x):\n    self.calls = 1\n    return x"),
    "global": ("state", "def f(x):\n    global LIMIT\n    LIMIT = 4\n    return x"),
    "a global list": ("state", "def f(x):\n    TABLE.update(x=x)\n    return x"),
    "mutable global": ("global", "def f(x):\n    return x * TABLE['a']"),
    "in place": ("input", "def f(x):\n    x.add_(1)\n    return x"),
    "augmented": ("input", "def f(x):\n    x += 1\n    return x"),
    "item": ("input", "def f(x):\n    x[0] = 1\n    return x"),
    "a view": ("input", "def f(x):\n    y = x.view(-1)\n    y += 1\n    return y"),
    "an alias": ("input", "def f(x):\n    y = x\n    y.mul_(2)\n    return y"),
    "plus is an alias": ("input", "def f(x):\n    y = +x\n    y.mul_(2)\n    return y"),
    "inside own list": ("input", "def f(x):\n    y = [x]\n    y[0].mul_(2)\n    return y"),
    "elements": ("input", "def f(xs):\n    for x in xs:\n        x.zero_()"),
    "out": ("input", "def f(x, y):\n    torch.add(x, 1, out=y)\n    return x"),
    "inplace": ("input", "def f(x):\n    return F.relu(x, inplace=True)"),
    "random": ("changing", "def f(x):\n    return x + torch.randn(3)"),
    "dropout": ("changing", "def f(x):\n    return F.dropout(x)"),
    "python random": ("changing", "def f(x):\n    return x * random.random()"),
    "numpy random": ("changing", "def f(x):\n    return x * np.random.rand()"),
    "clock": ("changing", "def f(x):\n    return x * time.time()"),
    "uninitialised": ("changing", "def f(x):\n    return torch.empty(3)"),
    "gradient": ("changing", "def f(x):\n    return x.grad"),
    "address": ("address", "def f(x):\n    return x.data_ptr()"),
    "identity": ("address", "def f(x):\n    return id(x)"),
    "given function": ("unknown", "def f(g, x):\n    return g(x)"),
    "decorated": ("unknown", "@cached\ndef f(x):\n    return x"),
    "an enclosing name": ("state", "def f(n):\n    def g():\n        nonlocal n\n    g()"),
    "a global attribute": ("state", "def f(x):\n    nn.flag = x\n    return x"),
    "a deleted element": ("input", "def f(x):\n    del x[0]\n    return x"),
    "a loop target": ("input", "def f(x):\n    for x[0] in range(3):\n        pass"),
    "an element is augmented": ("input", "def f(x):\n    x[0] += 1\n    return x"),
    "other annotation": ("input", "def f(x: torch.Tensor):\n    x += 1\n    return x"),
    "sometimes an alias": ("input", "def f(x):\n    y = []\n    y = x\n    y.append(1)"),
    "unpacked": ("input", "def f(x):\n    y, z = x\n    y.add_(1)\n    return z"),
    "an alias by a walrus": ("input", "def f(x):\n    (y := x).add_(1)\n    y.add_(1)"),
    "an alias by with": ("input", "def f(x):\n    with x as y:\n        y.add_(1)"),
    "an alias in a comprehension": ("input", "def f(xs):\n    return [x.add_(1) for x in xs]"),
    "imported inside": ("effect", "def f(x):\n    import logging\n    logging.log(1, x)"),
    "imported function": ("effect", "def f(x):\n    from os import rename\n    rename(x, x)"),
    "relative import": ("global", "def f(x):\n    from . import tools\n    tools.log(x)"),
    "a parameter with a module's name": ("input", "def f(copy):\n    copy.add_(1)"),
    "random method": ("changing", "def f(x):\n    return x.clone().normal_()"),
    "python random inside": ("changing", "def f(x):\n    import random\n    random.random()"),
    "gumbel": ("changing", "def f(x):\n    return F.gumbel_softmax(x)"),
    "dropout of channels": ("changing", "def f(x):\n    return F.dropout2d(x)"),
    "a generator": ("state", "def f(x):\n    yield x"),
    "memory of a function": ("address", "def f(x):\n    return torch.Tensor.data_ptr(x)"),
    "a value of another module": ("global", "def f(x):\n    return x * SETTING"),
    "an attribute of another module": ("global", "def f(x):\n    return x * helpers.SETTING"),
    "an attribute of a class": ("global", "class A:\n    n = 1\ndef f(x):\n    return x * A.n"),
    "another module": ("unknown", "def f(x):\n    return helper(x)"),
    "a method that nothing lists": ("unknown", "def f(x):\n    return x.frobnicate()"),
    "backward": ("unknown", "def f(x):\n    x.backward()"),
    "a result that is called": ("unknown", "def f(g):\n    return g()()"),
    "a constructor": ("effect", "class A:\n    def __init__(self):\n        print()\n"
                      "def f(x):\n    A()\n    return x"),
    "a nested function": ("input", "def f(x):\n    def g():\n        x.add_(1)\n    g()"),
}  # fmt: skip


def findings_of(source: str, name: str = "f") -> list[Finding]:
    findings = static_findings(ast.parse(source), name)
    assert findings is not None
    return findings


def kinds(source: str) -> set[str]:
    return {finding.kind for finding in findings_of(HEAD + source)}


@pytest.mark.parametrize("source", PURE.values(), ids=PURE)
def test_pure(source: str) -> None:
    assert kinds(source) == set()


@pytest.mark.parametrize(("kind", "source"), IMPURE.values(), ids=IMPURE)
def test_not_pure(kind: str, source: str) -> None:
    assert kind in kinds(source)


def test_a_finding_names_its_line_and_its_function() -> None:
    findings = findings_of("def g(x):\n    print(x)\n\ndef f(x):\n    g(x)\n    g(x)\n")
    assert findings == [Finding("effect", 2, "print() prints", "g")]


def test_findings_are_sorted_by_line_and_listed_once() -> None:
    findings = findings_of("def f(x):\n    print(x, print(x))\n    open(x)\n    print(x)\n")
    assert [(each.line, each.what) for each in findings] == [
        (2, "print() prints"),
        (3, "open() opens a file"),
        (4, "print() prints"),
    ]


def test_methods_of_the_same_class_are_analyzed() -> None:
    source = "class A:\n    def f(self):\n        self.g()\n    def g(self):\n        print(1)\n"
    assert [finding.function for finding in findings_of(source, "A.f")] == ["A.g"]


def test_an_inherited_method_is_unknown() -> None:
    # A tensor has a method of the same name, which is pure.
    source = "class A(Base):\n    def f(self, x):\n        self.log(x)\n        return x.log()\n"
    findings = findings_of(source, "A.f")
    assert [each.what for each in findings] == ["calls self.log, which was not analyzed"]


def test_a_function_that_the_file_does_not_have() -> None:
    assert static_findings(ast.parse("def f(): pass"), "g") is None


def expression_kinds(expression: str) -> list[str]:
    tree = ast.parse(HEAD)
    return [each.kind for each in impurities(tree, ast.parse(expression, mode="eval").body, {"x"})]


def test_the_findings_of_an_expression() -> None:
    assert expression_kinds("x.sum() + LIMIT") == []
    assert expression_kinds("TABLE['a']") == ["global"]
    assert expression_kinds("unknown_name") == ["global"]
    assert expression_kinds("time.time()") == ["changing"]
    assert expression_kinds("prints(x)") == ["effect"]
