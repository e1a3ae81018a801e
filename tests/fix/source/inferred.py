"""What the inference says about many expressions, and what it is expected to say.

    python -m tests.fix.source.inferred

writes `inferred.txt` again, after the inference or a table of operators was changed on purpose;
read the diff of git. A claim that is new there must hold for all inputs of a program.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from fullgraph.fix.source import torch_ops
from fullgraph.fix.source.inference.function import FunctionInference
from fullgraph.fix.source.inference.kinds import Kind, KindInference
from fullgraph.fix.source.inference.scope import Scope
from fullgraph.fix.source.inference.value import AbstractValue, Names

EXPECTED = Path(__file__).parent / "inferred.txt"
_HEAD = """
import math
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, Tensor

class Base(nn.Module):
    def __init__(self):
        self.weight = nn.Parameter(torch.ones(2))
        self.layer = nn.Linear(2, 2)
        self.drop = nn.Dropout()
        self.lstm = nn.LSTM(2, 2)
        self.seq = nn.Sequential(nn.ReLU(), nn.Linear(2, 2))
        self.noisy = nn.Sequential(nn.ReLU(), nn.Dropout())
        self.act = nn.ReLU()
        self.rate = 0.5
        self.name = helper()
        self.register_buffer("zero", torch.tensor(0))
        self.register_buffer("empty", torch.zeros(()))
        self.register_buffer("wide", torch.zeros(3))
        self.register_buffer("moved", torch.tensor(0))
        self.made = nn.Buffer(torch.ones(2))
        self.cache = None
        self.cache = torch.zeros(2)
        self.nothing = None
        self.twice = nn.Linear(2, 2)
        self.twice = nn.ReLU()

    def step(self):
        self.moved = self.moved + 1
        self.count, self.other = 1, 2

class Model(Base):
    def forward(self, x, y, t: Tensor, f: "torch.FloatTensor", n: int = 1, *rest, k=2, o=None,
                flag: bool = False, **more):
"""
_BODIES = (
    "pass",
    """\
    h = F.gelu(x)
    m = x.mean(dim=-1)
    top = y.amax()
    s = x.shape[0]
    i = x.argmax()
    mask = x > 0
    if flag:
        z = torch.relu(t)
        late = 1
    else:
        z = t.float()
    for each in y:
        looped = each
    x2 = y
    x2 += 1
    w: float = x.item()
    a, b = x.split(2)
    with torch.no_grad():
        inside = x * 2
    try:
        tried = x * 2
    except ValueError:
        pass
    del t""",
)
_EXPRESSIONS = """\
    x ; t ; f ; n ; k ; o ; flag ; rest ; more ; unheard ; 1 ; 2.5 ; True ; 'text' ; None ; -x
    +x ; ~x ; not x ; -n ; +n ; -1 ; x + 1 ; x + 1.5 ; x + n ; x + k ; x + o ; x - y ; x * 2
    x * y ; x * x ; x / 2 ; x / 0 ; x / y ; x / 2.0 ; x // 2 ; x % 2 ; x % 0 ; x % y ; x ** 2
    x ** 5 ; x ** 0.5 ; x ** y ; x & y ; x | y ; x ^ y ; x @ y ; x << 1 ; n + 1 ; n * 2.5 ; n / 2
    n % 2 ; 1 + 2 ; 1 - 2 ; 'a' + x ; x % 'a' ; f'{x}' + y ; x > 0 ; x >= y ; x == y ; x != 1
    x is y ; x in y ; n > 1 ; 0 < x < 1 ; (x > 0) & (y > 0) ; (x > 0) | (y > 0) ; ~(x > 0)
    x > 0 and y > 0 ; x or y ; n > 1 or flag ; x if flag else y ; x if flag else x + 1
    x * 2 if flag else x * 3 ; f if flag else f * 0.5 ; 1 if flag else 2 ; x.shape ; x.shape[0]
    x.shape[1:] ; x.shape[0, 1] ; x.size() ; x.size(0) ; x.stride() ; x.stride(1) ; x.dim()
    x.numel() ; x.ndim ; x.dtype ; x.device ; x.T ; x.mT ; x.grad ; x.requires_grad ; x.data
    x.real ; x.unheard ; x[0] ; x[n] ; x[y > 0] ; x[:, 0] ; len(x) ; int(x) ; float(x) ; str(x)
    bool(x) ; abs(x) ; isinstance(x, Tensor) ; unheard(x) ; x.item() ; x.tolist() ; x.numpy()
    x.argmax() + 1 ; x.argmax() * 2 ; 1 + x.argmax() ; x.sum() ; x.sum(0) ; x.sum(dim=-1)
    x.sum(-1, keepdim=True) ; x.sum(dim=0, keepdim=True) ; x.sum(1, keepdim=True)
    x.sum(dim=0, keepdim=False) ; (x > 0).sum() ; (x > 0).any() ; x.long().sum() ; f.sum()
    x.norm() ; x.norm(2) ; x.norm(p=2) ; x.norm(2, 0) ; f.norm() ; x.max() ; x.max(dim=0)
    x.mean() ; f.mean() ; x.softmax(-1) ; F.softmax(x, dim=-1) ; torch.where(x > 0, x, y)
    torch.where(x > 0, x, x * 2) ; torch.where(x > 0, f, f * 2) ; torch.where(x > 0) ; x.clamp(0)
    x.clamp(min=0) ; x.clamp(y) ; x.clamp(max=1.5) ; torch.add(x, y) ; x.add(y)
    x.add(y, alpha=2) ; x.add(y, alpha=t) ; x.add(y, out=t) ; x.mul(y) ; x.mul(2)
    torch.zeros_like(x) ; torch.full_like(x, 2) ; torch.zeros(3)
    torch.zeros_like(x, dtype=torch.int) ; F.relu(x) ; F.relu(x, True) ; F.relu(x, inplace=True)
    F.dropout(x) ; F.gelu(f) ; F.gelu(x) ; x.detach() ; x.log() ; f.log() + 1 ; x.relu().log()
    x.float() ; x.half() + x.float() ; x.long() ; x.bool() ; x.to(torch.float) ; x.type_as(y)
    x.contiguous() ; x.clone() ; x.view(-1) ; x.add_(1) ; x.masked_fill(y > 0, 1) ; x.sort()
    torch.finfo(x.dtype).min ; torch.finfo(f.dtype).max ; torch.finfo(torch.float).eps
    torch.float ; torch.unheard(x) ; torch.sum(x, *rest) ; torch.relu() ; np.abs(x) ; math.pi
    math.sqrt(n) ; self.weight ; self.zero ; self.empty ; self.wide ; self.moved ; self.made
    self.cache ; self.nothing ; self.rate ; self.name ; self.count ; self.training
    self.config.size ; self.inner.weight ; self.layer(x) ; self.drop(x) ; self.lstm(x)
    self.seq(x) ; self.noisy(x) ; self.act(x) ; self.twice(x) ; self.layer(x, y) ; self.name(x)
    torch.stack([x, y]) ; torch.cat([x, y]) ; (x, y) ; [x] ; {} ; lambda: x ; x.isin(y) ; h
    h * 0.5 ; m ; top ; y.amax() ; y.max() ; s ; i ; i + 1 ; mask ; ~mask ; z ; late ; each
    looped ; x2 ; w ; a ; b ; inside ; tried ; x * 0.5 ; x.mean() ; math ; np.pi
"""


def lines() -> Iterator[str]:
    """Yield a line for each expression in each function, and one for each operator."""
    for number, body in enumerate(_BODIES):
        yield f"# after the statements of function {number}"
        yield from _described(body, re.split(r" ; |\n", _EXPRESSIONS.strip()))
    yield "# every operator, as a method"
    tables = [v for n, v in vars(torch_ops).items() if n.isupper() and isinstance(v, frozenset)]
    names = sorted(name for name in frozenset().union(*tables) if name.isidentifier())
    yield from _described("pass", [f"x.{name}()" for name in names])
    yield "# and as a function of a floating point tensor"
    yield from _described("pass", [f"torch.{name}(f)" for name in names])


def _described(body: str, expressions: Iterable[str]) -> Iterator[str]:
    for expression in map(str.strip, expressions):
        text = textwrap.indent(textwrap.dedent(body), " " * 8)
        tree = ast.parse(f"{_HEAD}{text}\n        return {expression}\n")
        function = next(
            node for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == "forward"
        )  # fmt: skip
        last = function.body[-1]
        assert isinstance(last, ast.Return)
        assert last.value is not None
        scope = Scope(tree, function)
        inference = FunctionInference(scope, last)
        kinds = (KindInference(scope, hints=hints).kind_of(last.value) for hints in (False, True))
        surely = "surely a tensor" if inference.is_surely_tensor(last.value) else ""
        value = inference.read(last.value)
        facts = (
            *map(_kind, kinds),
            surely,
            *_value(value, inference.same(value, inference.read(_X))),
        )
        yield f"{expression}: {' | '.join(facts)}".replace(" |  |", " | |").rstrip()


_X = ast.parse("x", mode="eval").body


def _kind(kind: Kind) -> str:
    return " ".join(name for name in Kind.__struct_fields__ if getattr(kind, name))


def _value(value: AbstractValue, like_x: bool) -> tuple[str, ...]:
    flags = {"alias": value.alias, "plain": value.plain, "tensor": value.is_tensor,
             "bool": value.is_bool, "like x": like_x}  # fmt: skip
    return (
        f"shape {_names(value.shape)}",
        f"dtype {_names(value.dtype)}, {_names(value.numbers)}",
        value.risk,
        f"gradient {_names(value.unbounded_gradient_ops)}",
        " ".join(name for name, holds in flags.items() if holds),
    )


def _names(names: Names) -> str:
    return "{" + ", ".join(sorted(names)) + "}"


def main() -> None:
    """Write the expected lines again."""
    EXPECTED.write_text("\n".join(lines()) + "\n", "utf-8")


if __name__ == "__main__":
    main()
