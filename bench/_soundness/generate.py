"""From a seed to a program: a shape that a fixer matches, in a function, a method or a helper."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from bench._soundness import shapes
from bench._soundness.program import Argument, Program, Shape

Generate = Callable[[random.Random], Shape]
# One program in so many asks all fixers, and the others only the one that they are for.
_ALL_FIXERS = 5
# Fixers whose programs take long get a program in every sixth round only.
_EXPENSIVE = ("moe_expert_loops",)


def generators() -> dict[str, Generate]:
    """Return the function that makes shapes, by the name of the fixer."""
    found: dict[str, Generate] = {}
    for each in iter_modules(shapes.__path__):
        if not each.name.startswith("_"):
            found |= import_module(f"{shapes.__name__}.{each.name}").SHAPES
    return dict(sorted(found.items()))


def program_of(seed: int) -> Program:
    """Return the program of a seed; all fixers take turns."""
    known = generators()
    number, place = divmod(seed, len(known))
    fixer = list(known)[place]
    if fixer in _EXPENSIVE and number % 6:
        cheap = [each for each in known if each not in _EXPENSIVE]
        fixer = cheap[number % len(cheap)]
    rng = random.Random(seed)
    shape = known[fixer](rng)
    text = assembled(shape, rng)
    return Program(seed, fixer, text, tuple(shape.arguments), number % _ALL_FIXERS == 4)


def assembled(shape: Shape, rng: random.Random) -> str:
    """Return a program that has a shape in its function `f`, or in a helper of it."""
    if shape.init:
        definitions = _as_module(shape, rng)
    else:
        form = rng.choice(["function", "helper", "helper", "helper", "module"])
        if form == "function" or not shape.callers:
            definitions = _as_function(shape)
        elif form == "module":
            definitions = _as_module(shape, rng)
        else:
            definitions = _with_caller(shape, rng)
    imports = ["import torch", *shape.imports]
    parts = [*sorted(set(imports), key=imports.index), "", *shape.above, "", *definitions, ""]
    if not shape.gradients:
        parts += ["GRADIENTS = False", ""]
    parts += ["def inputs():", f"    return ({_tuple(shape.arguments)},)", ""]
    if shape.more:
        parts += ["def more():", *(f"    yield ({each},)" for each in shape.more), ""]
    return "\n".join(parts)


def _tuple(arguments: list[Argument]) -> str:
    return ", ".join(each.value for each in arguments if not each.has_default)


def signature(arguments: list[Argument]) -> str:
    """Return the parameters of a function with these arguments."""
    return ", ".join(
        f"{each.name}={each.value}" if each.has_default else each.name for each in arguments
    )


def indented(lines: list[str], by: int = 1) -> list[str]:
    """Return lines that are indented by some levels."""
    return ["    " * by + line if line else "" for line in lines]


def _as_function(shape: Shape) -> list[str]:
    return [f"def f({signature(shape.arguments)}):", *indented(shape.body)]


def _as_module(shape: Shape, rng: random.Random) -> list[str]:
    init = shape.init or ["self.scale = 2.0"]
    if shape.counts and rng.random() < 0.3:
        init = [*init, "self.calls = 0"]
        body = ["self.calls += 1", *shape.body]
    else:
        body = shape.body
    made = rng.choice(["f = Model()", "f = Model()", "f = Model().eval()"])
    return [
        "class Model(torch.nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        *indented(init, 2),
        "",
        f"    def forward(self, {signature(shape.arguments)}):",
        *indented(body, 2),
        "",
        made,
    ]


def _with_caller(shape: Shape, rng: random.Random) -> list[str]:
    helper = [f"def helper({signature(shape.arguments)}):", *indented(shape.body)]
    above, body = _caller(shape, rng)
    caller = [f"def f({signature(shape.arguments)}):", *indented(body)]
    # Names may be defined later in the file than they are used.
    both = [[*helper, ""], [*caller, ""]]
    if rng.random() < 0.3:
        both.reverse()
    return [*above, *both[0], *both[1]]


def _caller(shape: Shape, rng: random.Random) -> tuple[list[str], list[str]]:
    """Return statements of the module, and the body of a function that calls the helper."""
    names = [each.name for each in shape.arguments]
    call = f"helper({', '.join(names)})"
    first = next((each.name for each in shape.arguments if each.kind == "float"), "")
    kinds = ["plain", "try", "counted", "flag", "keyword"]
    if first:
        kinds += ["pair", "computed", "numpy"]
    if first and shape.returns_tensor:
        kinds += ["written", "written", "added", "twice", "same", "sized"]
    kind = rng.choice(kinds)
    above: list[str] = []
    match kind:
        case "try":
            error = rng.choice(shape.raises)
            rescue = f"{first} * 0" if first and shape.returns_tensor else "None"
            body = ["try:", f"    out = {call}", f"except {error}:", f"    out = {rescue}"]
            body += ["return out"]
        case "counted":
            above = ["STATE = {'calls': 0}", ""]
            body = ["STATE['calls'] += 1", f"return {call}"]
        case "flag":
            size = f"{first}.dim() > 0" if first else "True"
            body = [f"if {size}:", f"    return {call}", "return None"]
        case "keyword":
            rest = ", ".join(f"{each}={each}" for each in names[1:])
            body = [f"return helper({names[0]}{', ' if rest else ''}{rest})"]
        case "pair":
            body = [f"out = {call}", f"return out, {first}"]
        case "computed":
            op = rng.choice(["* 2", "+ 1", ".clone()", ".relu()", "[:]", ".view_as({0})"])
            body = [f"{first} = {first}{op.format(first)}", f"return {call}"]
        case "numpy":
            above = ["import numpy", ""]
            body = [
                f"if isinstance({first}, numpy.ndarray):",
                f"    {first} = torch.from_numpy({first})",
                f"return {call}",
            ]
        case "written":
            write = rng.choice(["out += 1", "out.mul_(2)", "out.zero_()", "out[..., :1] = 0"])
            body = [f"out = {call}", write, f"return out, {first}"]
        case "added":
            body = [f"return {call} + {first}.sum()"]
        case "twice":
            body = [f"once = {call}", f"return once, {call}"]
        case "same":
            body = [f"out = {call}", f"return out, out is {first}"]
        case "sized":
            body = [f"out = {call}", "return out * out.dim() + out.numel()"]
        case _:
            body = [f"return {call}"]
    return above, body
