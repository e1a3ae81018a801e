"""What is said about functions that are pure, and about those that are not."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from fullgraph.fix.purity.check import PurityError, check
from fullgraph.fix.purity.static import findings_in

HEAD = """
import copy, logging, math, os, random, time
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

LIMIT = 3
TABLE = {"a": 1}
logger = logging.getLogger("x")

def double(x):
    return x * 2

def shout(x):
    print(x)
    return x

def keep(x):
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
}  # fmt: skip
IMPURE = {
    "prints": ("effect", "def f(x):\n    print(x)\n    return x"),
    "logs": ("effect", "def f(x):\n    logging.info(x)\n    return x"),
    "opens": ("effect", "def f(x):\n    open('a').read()\n    return x"),
    "environment": ("effect", "def f(x):\n    return x * int(os.environ.get('N'))"),
    "through a helper": ("effect", "def f(x):\n    return shout(x)"),
    "global through a helper": ("state", "def f(x):\n    return keep(x)"),
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
    "a nested function": ("input", "def f(x):\n    def g():\n        x.add_(1)\n    g()"),
}  # fmt: skip


def kinds(source: str) -> set[str]:
    found = findings_in(ast.parse(HEAD + source), "f")
    assert found is not None
    return {each.kind for each in found}


@pytest.mark.parametrize("source", PURE.values(), ids=PURE)
def test_pure(source: str) -> None:
    assert kinds(source) == set()


@pytest.mark.parametrize(("kind", "source"), IMPURE.values(), ids=IMPURE)
def test_not_pure(kind: str, source: str) -> None:
    assert kind in kinds(source)


def test_a_finding_has_its_line_and_the_function_that_it_is_in() -> None:
    found = findings_in(ast.parse("def g(x):\n    print(x)\n\ndef f(x):\n    g(x)\n"), "f")
    assert found is not None
    assert [(each.line, each.function) for each in found] == [(2, "g")]


def test_methods_of_the_same_class_are_followed() -> None:
    source = "class A:\n    def f(self):\n        self.g()\n    def g(self):\n        print(1)\n"
    found = findings_in(ast.parse(source), "A.f")
    assert found is not None
    assert [each.function for each in found] == ["A.g"]


# Running


def program(folder: Path, source: str) -> str:
    file = folder / "program.py"
    file.write_text(textwrap.dedent(source))
    return f"{file}:f"


def run_kinds(folder: Path, source: str, inputs: str | None = None) -> set[str]:
    verdict = check(program(folder, source), inputs)
    return {each.kind for each in verdict.findings if each.by == "run"}


def test_a_pure_function_is_run_twice(tmp_path: Path) -> None:
    source = """
    import torch
    def f(x):
        return x + 1
    def inputs():
        return (torch.ones(3),)
    """
    verdict = check(program(tmp_path, source))
    assert verdict.pure
    assert "twice" in verdict.ran


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("effect", "print('hi')"),
        ("effect", "open(__file__ + '.txt', 'w').close()"),
        ("input", "getattr(x, 'add_')(1)"),
        ("changing", "getattr(torch, 'rand')(1)"),
        ("state", "globals()['STATE'].append(1)"),
        ("changing", "return x * next(COUNTER)"),
    ],
)
def test_running_finds_what_reading_cannot(tmp_path: Path, kind: str, body: str) -> None:
    source = f"""
    import itertools
    import torch
    STATE = []
    COUNTER = itertools.count()
    def f(x):
        {body}
        return x
    """
    assert kind in run_kinds(tmp_path, source, "(torch.ones(3),)")


def test_what_it_raises_is_said(tmp_path: Path) -> None:
    verdict = check(program(tmp_path, "def f(x):\n    return x.nothing\n"), "(1,)")
    assert "AttributeError" in verdict.ran


def test_without_inputs_it_is_only_read(tmp_path: Path) -> None:
    verdict = check(program(tmp_path, "raise SystemExit\ndef f(x):\n    return x\n"))
    assert verdict.pure
    assert "not run" in verdict.ran


def test_an_import_that_fails_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(PurityError, match="cannot be imported: ZeroDivisionError"):
        check(program(tmp_path, "1 / 0\ndef f(x):\n    return x\n"), "(1,)")
