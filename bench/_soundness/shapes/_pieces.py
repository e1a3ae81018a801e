"""What several shapes are made of: arguments, conditions and expressions of a tensor."""

from __future__ import annotations

import random

from bench._soundness.program import Argument

_SIZES = ((4,), (3, 4), (4, 4), (2, 3, 4))


def sizes(rng: random.Random, *, fewest: int = 1) -> tuple[int, ...]:
    """Return the sizes of a tensor with at least so many dimensions."""
    return rng.choice([each for each in _SIZES if len(each) >= fewest])


def floats(name: str, shape: tuple[int, ...], rng: random.Random | None = None) -> Argument:
    """Return an argument of random numbers, which may require gradients."""
    needs = ", requires_grad=True" if rng is not None and rng.random() < 0.4 else ""
    return Argument(name, "float", f"torch.randn({', '.join(map(str, shape))}{needs})")


def integers(name: str, shape: tuple[int, ...], high: int, low: int = 0) -> Argument:
    """Return an argument of random integers below `high`."""
    return Argument(name, "integer", f"torch.randint({low}, {high}, {shape})")


def mask(name: str, shape: tuple[int, ...]) -> Argument:
    """Return a boolean argument."""
    return Argument(name, "mask", f"torch.rand({', '.join(map(str, shape))}) > 0.4")


def number(name: str, value: str, *, has_default: bool = True) -> Argument:
    """Return an argument that is a number."""
    return Argument(name, "number", value, has_default)


def prefix(rng: random.Random, name: str = "x") -> list[str]:
    """Return a statement that computes `h`, which may be the argument itself or a view of it."""
    return [
        rng.choice(
            [
                f"h = {name} * 2",
                f"h = {name} * 2",
                f"h = {name}",
                f"h = {name}.clone()",
                f"h = {name}.relu()",
                f"h = {name}[:]",
                f"h = {name} + 0.5",
                f"h = {name}.float()",
                f"h = {name}.sin()",
                f"h = {name}.contiguous()",
            ]
        )
    ]


def condition(rng: random.Random, name: str = "h") -> str:
    """Return a test of a tensor's values."""
    limit = rng.choice(["0", "0.5", "1", "-1.0", "3"])
    comparison = rng.choice([">", "<", ">=", "<=", ">"])
    simple = [
        f"{name}.sum() {comparison} {limit}",
        f"{name}.max() {comparison} {limit}",
        f"{name}.mean() {comparison} {limit}",
        f"{name}.abs().max() {comparison} {limit}",
        f"{name}.norm() {comparison} {limit}",
        f"({name} {comparison} {limit}).any()",
        f"({name} {comparison} {limit}).all()",
        f"torch.any({name} {comparison} {limit})",
        f"torch.isnan({name}).any()",
        f"{name}.isinf().any()",
        f"({name} != {name}).any()",
        f"{name}.min() {comparison} {limit}",
        f"torch.all(torch.isfinite({name}))",
        f"{name}.sum().item() {comparison} {limit}",
        f"{name}.any()",
    ]
    one = rng.choice(simple)
    kind = rng.random()
    if kind < 0.15:
        return f"not {one}" if " " not in one else f"not ({one})"
    if kind < 0.25:
        return f"{one} and {rng.choice(simple)}"
    if kind < 0.32:
        return f"{one} or {rng.choice(simple)}"
    if kind < 0.38:
        return f"{name}.dim() > 1 and {one}"
    if kind < 0.42:
        return f"0 < {name}.sum() < 3"
    return one


def finish(rng: random.Random, name: str = "y") -> tuple[list[str], bool]:
    """Return statements that return `y`, and whether they return one tensor."""
    choices = [
        ([f"return {name}"], True),
        ([f"return {name}"], True),
        ([f"return {name} + 1"], True),
        ([f"return {name} * 2 - 1"], True),
        ([f"return {name}, h"], False),
        ([f"return {name}, x"], False),
        ([f"{name} += 1", f"return {name}"], True),
        ([f"return {name}.sum()"], True),
        ([f"return {name}.softmax(-1)"], True),
    ]
    return rng.choice(choices)
