"""A compiled function with eager code between its graphs, called as often as the argument says."""

import sys
from contextlib import suppress

import torch
from torch import Tensor

raises = False
is_short = True


@torch.compiler.disable
def three_operators(x: Tensor) -> None:
    if raises:
        raise ArithmeticError
    x.sin().cos().tan()


def layer(x: Tensor) -> Tensor:
    return x * 2


@torch.compiler.disable
def reads_a_value(x: Tensor) -> None:
    x.sum().item()


def looped(x: Tensor) -> Tensor:
    for _ in range(3):
        x = layer(x)
        reads_a_value(x)
    return x


@torch.compile(backend="eager")
def compiled(x: Tensor) -> Tensor:
    x = x + 1
    if is_short:
        return x
    three_operators(x)
    x = x * 3
    return looped(x)


compiled(torch.ones(4))
# From now on, Dynamo uses the ids of compiles again.
torch._dynamo.reset()
is_short = False
for _ in range(int(sys.argv[1])):
    compiled(torch.ones(4))
    # Calls that raise an error are left out.
    raises = True
    with suppress(ArithmeticError):
        compiled(torch.ones(4))
    raises = False
