"""Inputs that the tool has not seen, as source: arguments, modes and the way of calling.

Nothing here is shared with the probes of `fullgraph.fix`. An input changes one to three things at
random: dtypes, sizes, layouts and values of arguments, what they share memory with, whether they
require gradients, modes, constants of the module, and what the caller does with the results.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Literal

from bench._soundness.program import Argument, Program

# What a caller does: one call; two calls and one backward; a write to each result afterwards.
Protocol = Literal["once", "twice", "write"]


@dataclass(frozen=True)
class Input:
    """One way to call the function of a program."""

    # Statements that bind each argument to its name; `module` is the program's module.
    values: dict[str, str]
    # Context managers around the call.
    modes: tuple[str, ...] = ()
    # Statements that run before the call, such as setting a constant of the module.
    before: tuple[str, ...] = ()
    # Names that are passed by keyword, and names that are left to their defaults.
    keywords: frozenset[str] = frozenset()
    protocol: Protocol = "once"
    default_dtype: str = "torch.float32"
    # The changes by which this input differs from the usual one.
    changes: tuple[str, ...] = field(default=())
    # Without it, an argument is no tensor where the program expects one. If the original rejects
    # that, the fixed program has to, but which part of it does so first is not compared.
    has_usual_kinds: bool = True
    seed: int = 0

    def call(self) -> str:
        """Return the source of the call."""
        arguments = [
            f"{name}={name}" if name in self.keywords else name
            for name in sorted(self.values, key=lambda name: name in self.keywords)
        ]
        return f"function({', '.join(arguments)})"

    def source(self) -> str:
        """Return the input as statements that a reader can run."""
        lines = [f"torch.manual_seed({self.seed})", *self.before]
        if self.default_dtype != "torch.float32":
            lines.append(f"torch.set_default_dtype({self.default_dtype})")
        lines += [f"{name} = {value}" for name, value in self.values.items()]
        indent = ""
        for mode in self.modes:
            lines.append(f"{indent}with {mode}:")
            indent += "    "
        lines.append(f"{indent}result = {self.call()}  # {self.protocol}")
        return "\n".join(lines)


_DTYPES = ("bfloat16", "float16", "float64", "int64", "int32", "uint8", "bool")
_SHAPES = (
    "({0})[:0]", "({0})[:1]", "({0})[..., :1]", "({0})[..., :0]", "({0})[0]",
    "({0}).reshape(-1)[0]", "({0})[None]", "({0}).reshape(-1)", "({0})[:2]",
)  # fmt: skip
_LAYOUTS = (
    "(lambda t: t.mT.contiguous().mT if t.dim() > 1 else t)({0})",
    "(lambda t: t.repeat_interleave(2, -1)[..., ::2] if t.dim() else t)({0})",
    "(lambda t: t[:1].expand(t.shape) if t.dim() else t)({0})",
    "(lambda t: t.as_strided(t.shape, (1,) * t.dim()))({0})",
    "(lambda t: t.flip(0).contiguous().flip(0) if t.dim() else t)({0})",
    "(lambda t: t.permute(*reversed(range(t.dim()))))({0})",
)
_FLOAT_VALUES = (
    "torch.full_like({0}, float('nan'))", "torch.zeros_like({0})", "-torch.zeros_like({0})",
    "torch.ones_like({0})", "({0}).abs()", "-({0}).abs()", "({0}) * 1e30", "({0}) * 1e-30",
    "({0}) * 100", "({0}).round()", "torch.full_like({0}, float('inf'))",
    "torch.full_like({0}, -float('inf'))", "({0}) + 1000", "({0}) - 1000", "({0}) * 0.1",
    "torch.full_like({0}, 3e38)", "({0}) * 0 + 0.5",
    "(lambda t: t.where(torch.arange(t.numel()).reshape(t.shape) > 0, float('nan')))({0})",
    "(lambda t: t.where(torch.arange(t.numel()).reshape(t.shape) > 1, float('inf')))({0})",
    "(lambda t: t.where(torch.arange(t.numel()).reshape(t.shape) > 1, -float('inf')))({0})",
    "(lambda t: t.where(torch.arange(t.numel()).reshape(t.shape) > 0, 0.0))({0})",
    "(lambda t: t.where(torch.arange(t.numel()).reshape(t.shape) > 0, 99.0))({0})",
    "(lambda t: t.where(torch.arange(t.numel()).reshape(t.shape) > 0, -99.0))({0})",
)  # fmt: skip
_INTEGER_VALUES = (
    "torch.zeros_like({0})", "torch.ones_like({0})", "({0}) * 0 + 3", "-({0})", "({0}) * 100",
    "({0}) + 1", "({0}) - 1", "({0}).sort().values", "torch.full_like({0}, 2)",
)  # fmt: skip
_MASK_VALUES = (
    "torch.zeros_like({0})", "torch.ones_like({0})", "~({0})",
    "torch.arange(({0}).numel()).reshape(({0}).shape) == 1",
    "torch.arange(({0}).numel()).reshape(({0}).shape) != 0",
)  # fmt: skip
_GRADIENTS = (
    "({0}).detach().clone().requires_grad_()", "({0}).detach().clone().requires_grad_().exp()",
    "({0}).detach().clone().requires_grad_().view_as({0})", "({0}).detach().clone()",
    "torch.nn.Parameter(({0}).detach().clone())",
)  # fmt: skip
_NUMBERS = ("0", "1", "2", "-1", "0.5", "1e30", "float('nan')", "float('inf')", "True", "0.0", "7")
_TEXTS = ("''", "'other'", "'é'", "'a' * 100", "str.__new__(type('S', (str,), {}), 'sub')")
_MODES = (
    ("torch.no_grad()",), ("torch.inference_mode()",), ("torch.autocast('cpu', torch.bfloat16)",),
    ("torch.no_grad()", "torch.autocast('cpu', torch.bfloat16)"), ("torch.enable_grad()",),
    ("torch.autocast('cpu', torch.float16)",),
)  # fmt: skip


def usual_input(program: Program, seed: int) -> Input:
    """Return the input that a program is usually called with, with other random numbers."""
    values = {each.name: each.value for each in program.arguments if not each.has_default}
    return Input(values, seed=seed)


def inputs_of(program: Program, number: int, constants: dict[str, str]) -> list[Input]:
    """Return inputs of a program; `constants` are sources of other values of its constants."""
    rng = random.Random(program.seed * 7919 + 13)
    found = []
    for count in range(number):
        usual = usual_input(program, seed=1000 + count)
        found.append(_changed(usual, program, constants, rng) if count else usual)
    return found


def _changed(
    usual: Input, program: Program, constants: dict[str, str], rng: random.Random
) -> Input:
    new = usual
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        new = _with_change(new, program, constants, rng)
    return new


def _with_change(
    given: Input, program: Program, constants: dict[str, str], rng: random.Random
) -> Input:
    tensors = [each for each in program.arguments if each.is_tensor]
    others = [each for each in program.arguments if not each.is_tensor]
    kinds = ["modes", "protocol", "protocol", "keywords", "seed"]
    kinds += ["values"] * 9 + ["dtype"] * 3 + ["shape"] * 3 + ["layout"] * 3 + ["grad"] * 3
    kinds += ["form", "all dtypes", "default dtype"]
    kinds += ["number"] * 3 if others else []
    kinds += ["sharing"] * 2 if len(tensors) > 1 else []
    kinds += ["constant"] * 2 if constants else []
    kinds += ["training", "training", "shares state"] if "Module" in program.text else []
    kind = rng.choice(kinds)
    if not tensors and kind in (
        "values",
        "dtype",
        "shape",
        "layout",
        "grad",
        "form",
        "shares state",
    ):
        return given
    match kind:
        case "values":
            return _with_values(given, rng.choice(tensors), rng)
        case "dtype":
            dtype = f"torch.{rng.choice(_DTYPES)}"
            return _wrapped(given, rng.choice(tensors).name, f"({{0}}).to({dtype})")
        case "all dtypes":
            dtype = f"torch.{rng.choice(_DTYPES[:3])}"
            for each in tensors:
                if each.kind == "float":
                    given = _wrapped(given, each.name, f"({{0}}).to({dtype})")
            return given
        case "shape":
            return _with_shape(given, tensors, rng)
        case "layout":
            return _wrapped(given, rng.choice(tensors).name, rng.choice(_LAYOUTS))
        case "grad":
            chosen = [each for each in tensors if each.kind == "float"] or tensors
            return _wrapped(given, rng.choice(chosen).name, rng.choice(_GRADIENTS))
        case "form":
            form = rng.choice(["({0}).detach().numpy()", "({0}).detach().numpy()", "2.5"])
            array = _wrapped(given, rng.choice(tensors).name, form)
            return replace(array, has_usual_kinds=False)
        case "default dtype":
            return replace(given, default_dtype="torch.float64", changes=(*given.changes, kind))
        case "modes":
            modes = rng.choice(_MODES)
            return replace(given, modes=modes, changes=(*given.changes, *modes))
        case "protocol":
            protocol: Protocol = rng.choice(["twice", "write"])
            return replace(given, protocol=protocol, changes=(*given.changes, protocol))
        case "keywords":
            names = list(given.values)
            chosen_names = frozenset(names[rng.randrange(len(names)) :]) if names else frozenset()
            return replace(given, keywords=chosen_names, changes=(*given.changes, kind))
        case "number":
            return _with_other(given, rng.choice(others), rng)
        case "sharing":
            return _with_sharing(given, tensors, rng)
        case "constant":
            name = rng.choice(list(constants))
            line = f"module.{name} = {constants[name]}"
            return replace(given, before=(*given.before, line), changes=(*given.changes, line))
        case "training":
            line = rng.choice(["module.f.eval()", "module.f.train()"])
            return replace(given, before=(*given.before, line), changes=(*given.changes, line))
        case "shares state":
            part = rng.choice(["parameters", "buffers"])
            form = f"next(module.f.{part}()){rng.choice(['.detach()', '', '[:]'])}"
            return _wrapped(given, rng.choice(tensors).name, form)
    return replace(given, seed=rng.randrange(10_000), changes=(*given.changes, "seed"))


def _wrapped(given: Input, name: str, form: str) -> Input:
    if name not in given.values:
        return given
    values = {**given.values, name: form.format(given.values[name])}
    return replace(given, values=values, changes=(*given.changes, f"{name}: {form}"))


def _with_values(given: Input, argument: Argument, rng: random.Random) -> Input:
    forms = {"float": _FLOAT_VALUES, "integer": _INTEGER_VALUES, "mask": _MASK_VALUES}
    form = rng.choice(forms[argument.kind])
    value = given.values.get(argument.name, "")
    if "requires_grad" in value:
        # The values change, and the tensor remains a leaf that requires gradients.
        form = f"({form}).detach().requires_grad_()"
    return _wrapped(given, argument.name, form)


def _with_shape(given: Input, tensors: list[Argument], rng: random.Random) -> Input:
    form = rng.choice(_SHAPES)
    chosen = tensors if rng.random() < 0.5 else [rng.choice(tensors)]
    for each in chosen:
        given = _wrapped(given, each.name, form)
    return given


def _with_other(given: Input, argument: Argument, rng: random.Random) -> Input:
    choices = {"flag": ("True", "False", "None", "0"), "text": _TEXTS}.get(argument.kind, _NUMBERS)
    value = rng.choice(choices)
    values = {**given.values, argument.name: value}
    # A default may be passed over only by keyword.
    keywords = given.keywords | ({argument.name} if argument.has_default else set())
    changes = (*given.changes, f"{argument.name}: {value}")
    return replace(given, values=values, keywords=keywords, changes=changes)


def _with_sharing(given: Input, tensors: list[Argument], rng: random.Random) -> Input:
    one, other = rng.sample(tensors, 2)
    if one.name not in given.values or other.name not in given.values:
        return given
    first, second = sorted((one, other), key=lambda each: list(given.values).index(each.name))
    form = rng.choice(["{0}", "{0}[:]", "{0}.detach()", "{0}.view_as({0})"]).format(first.name)
    return _wrapped(given, second.name, form)
