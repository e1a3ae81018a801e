"""Elements that a mask selects, and loops over the experts that got tokens."""

from __future__ import annotations

import random

from bench._soundness.program import Shape
from bench._soundness.shapes._pieces import floats, integers, mask, sizes


def _masks(rng: random.Random) -> Shape:
    shape = sizes(rng, fewest=1)
    rows = rng.random() < 0.3 and len(shape) > 1
    alone = rng.random() < 0.7
    arguments = [floats("x", shape, rng), *([] if alone else [floats("y", shape, rng)])]
    derived = [rng.choice(["y = x * 2", "y = x.sin()", "y = x - 0.5", "y = x"])] if alone else []
    test = rng.choice(["m = y > 0", "m = x < 0", "m = x != x", "m = y == 0", "given", "m = x >= y"])
    head: list[str] = []
    if test == "given":
        arguments.append(mask("m", shape[:1] if rows else shape))
    elif rows:
        head = ["m = y.sum(dim=tuple(range(1, y.dim()))) > 0"]
    else:
        head = [test]
    out = rng.choice(
        ["out = x.clone()", "out = x * 1.0", "out = torch.zeros_like(x)", "out = x + 0"]
    )
    init: list[str] = []
    kind = rng.choice(
        ["copy", "copy", "copy", "number", "change", "in place", "buffer", "reduce", "index"]
    )
    value = rng.choice(
        ["y[m]", "y[m] * 2", "y[m] + 1", "-y[m]", "x[m] + y[m]", "y[m].abs()", "y[m] * y[m]",
         "y[m].detach()", "y[m] * 2 + 1", "y[m].float()"]
    )  # fmt: skip
    match kind:
        case "number":
            body = [*head, out, rng.choice(["out[m] = 0", "out[m] = 1.5", "out[m] = float('nan')"])]
        case "change":
            change = rng.choice(
                ["out[m] += 1", "out[m] *= 0.5", "out[m] -= y[m]", "out[m] *= y[m]"]
            )
            body = [*head, out, change]
        case "in place":
            change = rng.choice(["x[m] += 1", "x[m] *= 0.5", "x[m] = y[m]", "x[m] = 0"])
            body = [*head, "out = x", change]
        case "buffer":
            init = [f"self.register_buffer('kept', torch.ones({', '.join(map(str, shape))}))"]
            body = [*head, "self.kept[m] = x[m].detach()", "out = self.kept * y"]
        case "reduce":
            name = rng.choice(["any()", "all()", "sum()", "float().mean()"])
            body = [*head, "hit = x > y", f"out = hit[m].{name} + x.sum() * 0"]
        case "index":
            body = [*head, out, "i = torch.where(m)", "out[i] = y[i]"]
        case _:
            body = [*head, out, f"out[m] = {value}"]
    tail = rng.choice([["return out"], ["return out"], ["return out * 2"], ["return out, x"]])
    body = [*derived, *body, *tail]
    return Shape(arguments, body, init=init, returns_tensor=tail != ["return out, x"])


def _experts(rng: random.Random) -> Shape:
    init = ["self.num_experts = 3", "self.weight = torch.nn.Parameter(torch.randn(3, 4, 4))"]
    skip = rng.choice([False, True])
    scaled = rng.choice([" * w[token, place, None]", "", ""])
    arguments = [floats("x", (5, 4), rng), integers("index", (5, 2), 3)]
    if scaled:
        arguments.append(floats("w", (5, 2)))
    body = [
        "out = torch.zeros_like(x)",
        "mask = torch.nn.functional.one_hot(index, num_classes=self.num_experts).permute(2, 1, 0)",
    ]
    compute = rng.choice(
        ["x[token] @ self.weight[expert]", "(x[token] @ self.weight[expert]).relu()"]
    )
    add = f"    out.index_add_(0, token, {compute}{scaled})"
    if skip:
        body += ["for expert in range(self.num_experts):"]
        body += ["    place, token = torch.where(mask[expert])"]
        test = rng.choice(["token.numel() == 0", "token.shape[0] == 0", "len(token) == 0"])
        body += [f"    if {test}:", "        continue", add]
    else:
        body += ["hit = torch.greater(mask.sum(dim=(-1, -2)), 0).nonzero()", "for expert in hit:"]
        body += ["    expert = expert[0]", "    place, token = torch.where(mask[expert])", add]
    tail = rng.choice([["return out"], ["return out + x"], ["return out, x"]])
    return Shape(arguments, [*body, *tail], init=init)


SHAPES = {"masks_to_where": _masks, "moe_expert_loops": _experts}
