"""Modules whose attributes decide: buffers that follow their inputs, layers that are dropped."""

from __future__ import annotations

import random

from bench._soundness.program import Shape
from bench._soundness.shapes._pieces import floats, sizes


def _buffers(rng: random.Random) -> Shape:
    shape = sizes(rng)
    numbers = f"torch.arange({float(shape[-1])})"
    kept = rng.choice(
        [f"self.table = torch.nn.Buffer({numbers}, persistent=False)",
         f"self.register_buffer('table', {numbers})", f"self.table = torch.nn.Buffer({numbers})",
         f"self.table = {numbers}"]
    )  # fmt: skip
    init = [kept]
    if rng.random() < 0.4:
        init += [rng.choice(["self.other = [self.table]", "self.kept = self.table"])]
    move = rng.choice(
        ["self.table = self.table.to(x.dtype)", "self.table = self.table.to(device=x.device)",
         "self.table = self.table.to(x.device, x.dtype)", "self.table = self.table.float()",
         "self.table = self.table.contiguous()", "self.table = self.table.to(x)",
         "self.table = self.table.type_as(x)", "self.table = self.table.double()"]
    )  # fmt: skip
    use = rng.choice(
        ["return x + self.table", "return x * self.table, self.table", "return self.table",
         "return self.table[:] + x.sum()"]
    )  # fmt: skip
    return Shape([floats("x", shape, rng)], [move, use], init=init)


def _layerdrop(rng: random.Random) -> Shape:
    rate = rng.choice(["0.0", "0.0", "0.0", "0"])
    init = ["self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))"]
    init += [f"self.layerdrop = {rate}"]
    drawn = rng.choice(["torch.rand([])", "torch.rand(())", "torch.rand(1)"])
    kind = rng.choice(["continue", "skip", "and"])
    body = ["for layer in self.layers:"]
    match kind:
        case "continue":
            body += ["    if self.training:", f"        drawn = {drawn}"]
            body += ["        if drawn < self.layerdrop:", "            continue"]
            body += ["    x = layer(x).relu()"]
        case "skip":
            body += [
                f"    drawn = {drawn}",
                "    skip = self.training and (drawn < self.layerdrop)",
            ]
            body += ["    if not skip:", "        x = layer(x)"]
        case _:
            body += [f"    drawn = {drawn}", "    if self.training and drawn < self.layerdrop:"]
            body += ["        continue", "    x = x + layer(x)"]
    tail = rng.choice(
        ["return x", "return x * 2", "return torch.nn.functional.dropout(x, 0.5, self.training)"]
    )
    return Shape([floats("x", (3, 4), rng)], [*body, tail], init=init)


SHAPES = {"buffer_reassignment": _buffers, "layerdrop_rate_first": _layerdrop}
