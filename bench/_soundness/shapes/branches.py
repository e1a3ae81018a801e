"""Branches on tensors, which become `torch.where` or `torch.cond`, and checks that raise."""

from __future__ import annotations

import random

from bench._soundness.program import Shape
from bench._soundness.shapes._pieces import (
    condition,
    finish,
    floats,
    integers,
    mask,
    number,
    prefix,
    sizes,
)

_CHEAP = (
    "h + 1", "h * 2", "-h", "h.clamp(max=1)", "h.relu()", "h.abs()", "torch.zeros_like(h)",
    "h - h.mean()", "h", "x", "h.clone()", "h.tanh()", "torch.ones_like(h)", "h * 0",
    "h + x", "h * x", "h.sin()", "h.float()", "h.clamp(min=0.0)", "h.nan_to_num()", "h - 1",
    "h.clamp(-1, 1)", "torch.where(h > 0, h, x)", "h.masked_fill(h > 1, 0.0)", "h.detach()",
)  # fmt: skip
_COSTLY = (
    "h / h.norm()", "h / h.sum()", "1.0 / h", "h.exp()", "h.sqrt()", "h.log()", "h / 3",
    "h ** 2", "h.softmax(-1)", "h / h.abs().max()", "(h * h).sum().sqrt() + h", "h.rsqrt()",
)  # fmt: skip
_ODD = (
    "h.double()",
    "h[:1]",
    "h.sum()",
    "h.mT",
    "0.0",
    "h.half()",
    "h.expand_as(h)",
    "x.view_as(x)",
)


def _side(rng: random.Random, pool: tuple[str, ...]) -> str:
    return rng.choice(_ODD) if rng.random() < 0.06 else rng.choice(pool)


def _branch(rng: random.Random, pool: tuple[str, ...]) -> Shape:
    shape = sizes(rng)
    arguments = [floats("x", shape, rng)]
    head = prefix(rng)
    test = condition(rng)
    extra = rng.random()
    if extra < 0.15:
        arguments.append(mask("m", shape))
        test = rng.choice(
            ["m.any()", "m.all()", "not m.any()", "m.sum() > 2", "m.any() and not m.all()"]
        )
    elif extra < 0.25:
        arguments.append(number("limit", "1.0"))
        test = "h.sum() > limit"
    elif extra < 0.3:
        arguments.append(integers("n", (3,), 5))
        test = rng.choice(["n.max() > 2", "n.sum() == 4", "(n == 0).any()"])
    one, other, third = (_side(rng, pool) for _ in range(3))
    init: list[str] = []
    kind = rng.choice(
        ["else", "else", "ternary", "update", "update", "return", "return", "elif", "buffer",
         "pair", "attribute", "nested", "augmented", "two"]
    )  # fmt: skip
    tail, is_tensor = finish(rng)
    match kind:
        case "ternary":
            body = [f"y = {one} if {test} else {other}"]
        case "update":
            body = [f"if {test}:", f"    h = {one}", "y = h"]
        case "return":
            body = [f"if {test}:", f"    return {one}"]
            tail, is_tensor = [f"return {other}"], True
        case "elif":
            second = condition(rng)
            body = [f"if {test}:", f"    y = {one}", f"elif {second}:", f"    y = {third}"]
            body += ["else:", f"    y = {other}"]
        case "buffer":
            init = [f"self.register_buffer('kept', torch.zeros({', '.join(map(str, shape))}))"]
            write = rng.choice(
                ["self.kept.copy_(h.detach())", "self.kept.add_(1)", "self.kept += h.detach()",
                 "self.kept = self.kept * 0.9 + h.detach() * 0.1", "self.kept.zero_()",
                 "self.kept.fill_(2.0)", "self.kept.mul_(0.5)", "self.kept[:] = h.detach()"]
            )  # fmt: skip
            body = [f"if {test}:", f"    {write}", "y = h + self.kept"]
        case "attribute":
            init = ["self.bias = torch.nn.Parameter(torch.ones(1))", "self.factor = 3"]
            one = rng.choice(["h * self.factor", "h + self.bias", "h - self.bias * self.factor"])
            body = [f"if {test}:", f"    y = {one}", "else:", f"    y = {other}"]
        case "pair":
            body = [f"if {test}:", f"    y, z = {one}, {third}", "else:", f"    y, z = {other}, h"]
            tail, is_tensor = ["return y, z"], False
        case "nested":
            flag = number("flag", "True")
            arguments.append(flag)
            body = ["y = h", "if flag:", f"    if {test}:", f"        y = {one}"]
            body += ["    else:", f"        y = {other}"]
        case "augmented":
            change = rng.choice(["h += 1", "h *= 2", "h -= x", "h.add_(1)"])
            body = [f"if {test}:", f"    {change}", "y = h"]
        case "two":
            body = [f"if {test}:", f"    h = {one}", f"if {condition(rng)}:", f"    h = {other}"]
            body += ["y = h"]
        case _:
            body = [f"if {test}:", f"    y = {one}", "else:", f"    y = {other}"]
    sized = ", ".join(map(str, shape))
    rest = ", ".join(each.value for each in arguments[1:] if not each.has_default)
    more = [f"torch.{rng.choice(['zeros', 'ones'])}({sized}){', ' if rest else ''}{rest}"]
    more += [f"-torch.rand({sized}){', ' if rest else ''}{rest}"] if rng.random() < 0.5 else []
    return Shape(
        arguments, [*head, *body, *tail], init=init, more=more, returns_tensor=is_tensor
    )  # fmt: skip


def _where(rng: random.Random) -> Shape:
    return _branch(rng, _CHEAP)


def _cond(rng: random.Random) -> Shape:
    return _branch(rng, (*_COSTLY, *_COSTLY, *_CHEAP))


_ERRORS = ("ValueError", "RuntimeError", "AssertionError", "IndexError", "TypeError")
_TESTS = (
    "(x < -50).any()", "torch.isnan(x).any()", "not torch.isfinite(x).all()", "x.abs().max() > 90",
    "not (m.sum(dim=-1) > -1).all()", "x.sum() > 900", "m.all()", "not m.any()", "(n > 8).any()",
    "n.max() >= 9", "(n < 0).any()", "torch.any(n < 0)", "n.min() < 0 or n.max() > 8",
    "not torch.all(n < 9)", "(x != x).any()",
)  # fmt: skip


def _check(rng: random.Random) -> Shape:
    shape = sizes(rng)
    test, error = rng.choice(_TESTS), rng.choice(_ERRORS)
    arguments = [floats("x", shape, rng)]
    if "m." in test:
        arguments.append(mask("m", shape))
    if "n." in test or "n " in test:
        arguments.append(integers("n", (3,), 6))
    message = rng.choice(
        ["'wrong values'", "f'wrong: {x.shape}'", "f'found {x.sum()}'", "'100% wrong'", "", "'{x}'"]
    )
    kind = rng.choice(["raise", "raise", "raise", "assert", "assert", "two", "else", "after"])
    head = prefix(rng)
    match kind:
        case "assert":
            negated = f"not ({test})" if not test.startswith("not ") else test[4:]
            body = [*head, f"assert {negated}{', ' if message else ''}{message}"]
        case "two":
            body = [*head, f"if {test}:", f"    raise {error}({message})"]
            body += ["if x.min() < -1000:", "    raise ValueError('too small')"]
        case "else":
            body = [*head, f"if {test}:", f"    raise {error}({message})", "else:", "    h = h + 1"]
        case "after":
            body = [*head, "x = x + 1", f"if {test}:", f"    raise {error}({message})", "h = h * 3"]
        case _:
            body = [*head, f"if {test}:", f"    raise {error}({message})"]
    tail = rng.choice([["return h * 2"], ["return h + x"], ["return h"], ["h += 1", "return h"]])
    return Shape(
        arguments, [*body, *tail],         raises=(error, "Exception"), counts=rng.random() < 0.1,
    )  # fmt: skip


SHAPES = {"branch_to_where": _where, "branch_to_cond": _cond, "check_to_assert": _check}
