"""Numbers that are read from tensors, sizes that are tensors, and NumPy on Python numbers."""

from __future__ import annotations

import random

from bench._soundness.program import Shape
from bench._soundness.shapes._pieces import finish, floats, integers, number, prefix, sizes


def _item_to_tensor(rng: random.Random) -> Shape:
    shape = sizes(rng)
    arguments = [floats("x", shape, rng)]
    read = rng.choice(
        ["h.abs().max()", "h.mean()", "h.sum()", "h.std()", "h.max()", "h.min()", "h.norm()",
         "self_scale", "n.max()", "n.sum()", "n[0]", "h.abs().mean()", "h.reshape(-1)[0]"]
    )  # fmt: skip
    if "self_scale" in read:
        read = "h.amax()"
    if read[0] == "n":
        arguments.append(integers("n", (3,), 5, 1))
    form = rng.choice(["{0}.item()", "{0}.item()", "{0}.item()", "float({0})", "int({0})"])
    if form.startswith("int") and not read.startswith("n"):
        form = "{0}.item()"
    value = form.format(read)
    arithmetic = rng.choice(
        ["", "", "", " * 2", " * 0.5", " + 1", " / 3", " - 0.25", " * 0.1 + 1e-6", " + 2.5"]
    )
    uses = (
        "y = h * s", "y = h / s", "y = h + s", "y = s - h", "y = h.masked_fill(h > 0, s)",
        "y = torch.where(h > 0, h, s)", "y = h.mul(s)", "y = (h > s).float()",
        "y = (h < s) & (h > -s)",
        "y = h - s * 1", "y = -s * h", "y = s / h", "y = h.add(s).sub(s)", "y = h // s",
        "y = h.round() * s", "y = h.clamp(max=s)", "y = h.pow(2) * s + s * h", "y = h == s",
        "y = h.fill_(s)", "y = h.relu() * s",
    )  # fmt: skip
    use = rng.choice(uses)
    if rng.random() < 0.4 and use.count("s)") + use.count(" s") == 1 and not arithmetic:
        body = [*prefix(rng), use.replace("* s", f"* {value}").replace("/ s", f"/ {value}")]
        if "s" in body[-1].split() or "s)" in body[-1]:
            body = [*prefix(rng), f"s = {value}", use]
    else:
        body = [*prefix(rng), f"s = {value}{arithmetic}"]
        body += rng.choice([[], [], ["h = h + 1"], ["h += 1"]])
        body += [use]
    tail, is_tensor = finish(rng)
    if "softmax" in tail[-1]:
        tail, is_tensor = ["return y"], True
    return Shape(arguments, [*body, *tail], returns_tensor=is_tensor)


def _sizes_to_item(rng: random.Random) -> Shape:
    kind = rng.choice(["arange", "zeros", "index", "narrow", "pad", "repeat", "view", "slice"])
    x = floats("x", (4, 6), rng)
    n = integers("n", (4,), 5, 1)
    reduced = rng.choice(["n.max()", "n.max()", "n.min()", "n[0]", "n.sum() // 4", "n.amax()"])
    body = [f"w = {reduced}"]
    body += rng.choice([[], ["w = w - 1"], ["w = w + 1"]]) if kind != "view" else []
    match kind:
        case "arange":
            body += ["places = torch.arange(w)[None]", "y = (places < n[:, None]).float()"]
        case "zeros":
            body += ["y = torch.zeros(w, 3) + x.sum()"]
        case "index":
            body += [rng.choice(["y = x[:, w]", "y = x[w]", "y = x[w] + x[0]"])]
        case "narrow":
            body += ["y = x.narrow(1, w, 1) * 3"]
        case "pad":
            body += ["y = torch.nn.functional.pad(x, (0, w)) * 2"]
        case "repeat":
            body = [
                rng.choice(["d = n.clamp(min=1)", "d = n", "d = n * 2"]),
                "y = torch.repeat_interleave(x, d, dim=0)",
            ]
        case "view":
            body = ["w = n[0] * 0 + 2", "y = x.view(w, 2, 6).sum(1)"]
        case _:
            body += [rng.choice(["y = x[:, :w]", "y = x[:w]", "y = x[:, w:]"])]
    tail = rng.choice([["return y"], ["return y * 2"], ["return y, x"], ["return y.sum(0)"]])
    return Shape([x, n], [*body, *tail], returns_tensor=tail != ["return y, x"])


def _item_check(rng: random.Random) -> Shape:
    shape = (4, 6)
    arguments = [floats("x", shape, rng), integers("n", (4,), 5, 1)]
    read = rng.choice(["n.max().item()", "n.min().item()", "n.sum().item()", "int(n.max())"])
    test = rng.choice(["k > x.shape[1] * 9", "k < 0", "k > 1000", "k >= limit * 9 + 90", "k < -5"])
    if "limit" in test:
        arguments.append(number("limit", "8"))
    error = rng.choice(["ValueError", "RuntimeError", "IndexError"])
    message = rng.choice(["'wrong'", "f'{k} is wrong'", "f'{k} of {x.shape[1]}'"])
    body = [f"k = {read}"]
    if rng.random() < 0.3:
        body += [f"assert not {test}, {message}"]
    else:
        body += [f"if {test}:", f"    raise {error}({message})"]
    if rng.random() < 0.2 and "<" in test:
        body += ["if k > 5000:", "    raise ValueError('too large')"]
    use = rng.choice(
        ["return x * k", "return x + k", "return x[:, :1] * k", "return torch.arange(k) + x.sum()",
         "return torch.zeros(k) + 1", "return x * 2"]
    )  # fmt: skip
    return Shape(arguments, [*body, use], raises=(error, "Exception"), counts=False)


def _numpy_to_math(rng: random.Random) -> Shape:
    shape = sizes(rng)
    value = rng.choice(
        ["np.prod(x.shape)", "np.prod(x.shape[1:])", "int(np.prod(x.shape[:-1]))",
         "int(np.prod(x.shape))", "np.sqrt(x.shape[-1])", "int(np.ceil(x.shape[0] / 2))",
         "int(np.floor(x.shape[0] * 0.5))", "np.lcm(x.shape[0], 4)", "np.gcd(x.shape[-1], 6)",
         "np.prod([x.shape[0], 2])", "np.prod((x.dim(), x.shape[-1]))", "np.sqrt(x.numel())",
         "np.sqrt(len(x))", "np.prod(x.size())"]
    )  # fmt: skip
    use = rng.choice(
        [["if k > 4:", "    y = h * 2", "else:", "    y = h - 1"], ["y = h * k"], ["y = h / k"],
         ["y = h * float(k)"], ["y = h + int(k)"], ["y = h * (1 / k)"], ["y = h * k ** 0.5"],
         ["if k % 2 == 0:", "    h = h + 1", "y = h"], ["y = h * (k // 2)"], ["y = h * max(k, 3)"],
         ["y = h.reshape(-1)[:int(k)]"], ["y = k - h"], ["y = h * (k + 0.5)"]]
    )  # fmt: skip
    tail, is_tensor = finish(rng)
    return Shape(
        [floats("x", shape, rng)], [*prefix(rng), f"k = {value}", *use, *tail],
        imports=["import numpy as np"], returns_tensor=is_tensor,
    )  # fmt: skip


SHAPES = {
    "item_to_tensor": _item_to_tensor,
    "tensor_sizes_to_item": _sizes_to_item,
    "item_check_to_torch_check": _item_check,
    "numpy_to_math": _numpy_to_math,
}
