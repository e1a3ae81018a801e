"""Recompiles about values that several lines may have written; the comments name the right ones."""

import neighbour
import torch
from torch import Tensor, nn

SCALE = 1
HISTORY: list[Tensor] = []


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.window = 1
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1  # calls
        return x * self.window * self.calls


class Options:
    def __init__(self) -> None:
        self.level = 0


options = Options()
other = Options()


@torch.compile(backend="eager")
def leveled(x: Tensor) -> Tensor:
    return x + options.level


@torch.compile(backend="eager")
def scaled(x: Tensor) -> Tensor:
    return x * SCALE


@torch.compile(backend="eager")
def total(x: Tensor) -> Tensor:
    return x + torch.stack(HISTORY).sum(0)


@torch.compile(backend="eager")
def shifted(x: Tensor) -> Tensor:
    return x + neighbour.SHIFT


@torch.compile(backend="eager", dynamic=False)
def plain(x: Tensor) -> Tensor:
    return x + 1


def counting():
    count = 1.5

    @torch.compile(backend="eager")
    def inner(x: Tensor) -> Tensor:
        return x + count

    def up() -> None:
        nonlocal count
        count += 1

    def down() -> None:
        nonlocal count
        count -= 0.5  # count

    return inner, up, down


def train(sizes: list[int]) -> None:
    for size in sizes:
        if size % 2:
            batch = torch.ones(size)
        else:
            batch = torch.ones(size, 1)  # batch
        plain(batch)


def main() -> None:
    global SCALE
    x = torch.ones(3)
    model = Model()
    compiled = torch.compile(model, backend="eager")
    compiled(x)
    model.window = abs(-2)
    setattr(model, "window", abs(-7))  # window
    compiled(x)

    leveled(x)
    options.level = abs(-3)
    options.level = abs(-4)  # level
    other.level = abs(-5)
    leveled(x)

    scaled(x)
    SCALE = 2
    SCALE = 3  # SCALE
    scaled(x)

    for _ in range(2):
        HISTORY.append(x)  # HISTORY
        total(x)

    shifted(x)
    neighbour.SHIFT = 4
    neighbour.SHIFT = 5  # SHIFT
    shifted(x)

    inner, up, down = counting()
    inner(x)
    up()
    down()
    inner(x)

    train([3, 2])
    for step in range(2):
        plain(torch.ones(2, 2, 2 + step))  # called


if __name__ == "__main__":
    main()
