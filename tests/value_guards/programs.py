"""Small programs that read numbers and sizes from an integer input in different ways."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from tests.value_guards.run_and_compare import X

TABLE = [10, 20, 30, 40, 50, 60]
NAMES = {1: 5, 2: 6, 3: 7, 4: 8}


def item(t: Tensor) -> Tensor:
    return X * t[0].item()


def number(t: Tensor) -> Tensor:
    return X * int(t[1])


def floating_point_number(t: Tensor) -> Tensor:
    return X * float(t[1])


def boolean(t: Tensor) -> Tensor:
    return X * bool(t[0] > 2)


def index_of_a_list(t: Tensor) -> Tensor:
    return X * TABLE[t[0]]


def key_of_a_dict(t: Tensor) -> Tensor:
    return X * NAMES[t[0].item()]


def branch(t: Tensor) -> Tensor:
    return X + 1 if t[0] > t[1] else X - 1


def negated_branch(t: Tensor) -> Tensor:
    return X + 1 if not (t[0] > 2) else X - 1


def branch_on_two(t: Tensor) -> Tensor:
    if t[0] > 2 and t[1] > 1:
        return X + 1
    return X - 1


def early_return(t: Tensor) -> Tensor:
    if (t == 3).any():
        return X.sin()
    x = X + 1
    if t.sum() > 4:
        return x.cos()
    return x


def membership(t: Tensor) -> Tensor:
    return X + 1 if t[0] in (1, 3) else X - 1


def while_loop(t: Tensor) -> Tensor:
    k, x = t[0], X
    while k > 0:
        x, k = x * 2, k - 1
    return x


def loop_to_a_number(t: Tensor) -> Tensor:
    x = X
    for i in range(t[0]):
        x = x + i
    return x


def loop_between_numbers(t: Tensor) -> Tensor:
    x = X
    for i in range(1, int(t.max()) + 1, 2):
        x = x + i
    return x


def loop_over_values(t: Tensor) -> Tensor:
    x = X
    for position, value in enumerate(t):
        if value == 3:
            x = x * (position + 2)
    return x


def loop_over_a_list(t: Tensor) -> Tensor:
    return torch.stack([X[:size].sum() for size in t.tolist()])


def nested_list(t: Tensor) -> Tensor:
    (a, b), *_ = t.repeat(2, 1).tolist()
    return X[a] + b


def groups(t: Tensor) -> Tensor:
    lengths = [len(list(group)) for _, group in itertools.groupby(t.tolist())]
    return X * len(lengths)


def slices(t: Tensor) -> Tensor:
    return X[: t[0], t[1] // 2 :]


def sizes(t: Tensor) -> Tensor:
    return X.reshape(-1)[: t[0] * t[1]].view(t[0], t[1])


def size_that_follows(t: Tensor) -> Tensor:
    # Dynamo computes the size from the number of elements, and leaves an unused symbol.
    return X.reshape(t[0] + 6 - t[0], 4)


def new_tensor(t: Tensor) -> Tensor:
    return torch.zeros(t[0], t[1]) + torch.arange(t[1])


def padding(t: Tensor) -> Tensor:
    return nn.functional.pad(X, (0, int(t[0]), int(t[1]), 0))


def nonzero(t: Tensor) -> Tensor:
    return X[(t > 2).nonzero().flatten()]


def nonzero_as_tuple(t: Tensor) -> Tensor:
    rows, columns = torch.nonzero(t.view(1, 2) > 2, as_tuple=True)
    return X[rows, columns]


def where(t: Tensor) -> Tensor:
    return X[torch.where(t > 1)[0]]


def mask(t: Tensor) -> Tensor:
    return X[torch.cat([t, t, t]) > 2]


def mask_of_two_dimensions(t: Tensor) -> Tensor:
    return X[(torch.arange(4) < t[0]).expand(6, 4)]


def mask_after_a_slice(t: Tensor) -> Tensor:
    return X[:2][:, torch.cat([t, t]) > 2]


def mask_of_itself(t: Tensor) -> Tensor:
    return t[t > 2] * 2


def masked_select(t: Tensor) -> Tensor:
    return torch.masked_select(X, (torch.arange(4) < t[0]).expand(6, 4))


def repeat_interleave(t: Tensor) -> Tensor:
    return torch.repeat_interleave(X[:2], t, dim=0)


def repeat_interleave_alone(t: Tensor) -> Tensor:
    return t.repeat_interleave(t)


def split(t: Tensor) -> Tensor:
    rows = X.repeat(4, 1)[: int(t.sum())]
    return torch.stack([part.sum() for part in torch.split(rows, t.tolist())])


def unique(t: Tensor) -> Tensor:
    return X[: torch.unique(t).shape[0]]


def unique_values(t: Tensor) -> Tensor:
    return torch.unique(t) + 1


def bincount(t: Tensor) -> Tensor:
    return torch.bincount(t).float()


def equal(t: Tensor) -> Tensor:
    return X + 1 if torch.equal(t, torch.tensor([1, 3])) else X - 1


def allclose(t: Tensor) -> Tensor:
    return X + 1 if torch.allclose(t.float(), torch.tensor([1.0, 3.0])) else X - 1


def string(t: Tensor) -> Tensor:
    return X * len(f"{t[0].item()}{t[1].item() * 100}")


def ratio(t: Tensor) -> Tensor:
    return X * (t[0] / t[1]).item()


def other_types(t: Tensor) -> Tensor:
    small = t.to(torch.int8) * 60  # 4 * 60 overflows
    return X * small[0].item() + t.bool()[1].item() + t.half()[0].item()


def cumulative_sum(t: Tensor) -> Tensor:
    ends = nn.functional.pad(t.cumsum(0), (1, 0)).tolist()
    return torch.stack([X.flatten()[a:b].sum() for a, b in itertools.pairwise(ends)])


def returns_its_input(t: Tensor) -> tuple[Tensor, Tensor]:
    return t + t[0].item(), t.view(2, 1)


def mutated_after_the_read(t: Tensor) -> Tensor:
    k = t[0].item()
    t.add_(1)
    return X * k + t[0]


class Case(NamedTuple):
    """A program, and the number of graphs that VALUES compiles."""

    program: Callable[..., Any]
    graphs: int


VALUES = [(1, 3), (3, 1), (2, 2), (4, 2), (1, 3)]
# The number of graphs is the number of different values or sizes that VALUES gives.
CASES = [
    Case(item, 4), Case(number, 3), Case(floating_point_number, 3), Case(boolean, 2),
    Case(index_of_a_list, 4), Case(key_of_a_dict, 4), Case(branch, 2), Case(negated_branch, 2),
    Case(branch_on_two, 3), Case(early_return, 3), Case(membership, 2), Case(while_loop, 4),
    Case(loop_to_a_number, 4), Case(loop_between_numbers, 3), Case(loop_over_values, 3),
    Case(loop_over_a_list, 4), Case(nested_list, 4), Case(groups, 4), Case(slices, 4),
    Case(sizes, 4), Case(size_that_follows, 1), Case(new_tensor, 4), Case(padding, 4),
    Case(nonzero, 2),
    Case(nonzero_as_tuple, 2), Case(where, 2), Case(mask, 2), Case(mask_of_two_dimensions, 4),
    Case(mask_after_a_slice, 2), Case(mask_of_itself, 2), Case(masked_select, 4),
    Case(repeat_interleave, 2), Case(repeat_interleave_alone, 2), Case(split, 4), Case(unique, 3),
    Case(unique_values, 3), Case(bincount, 3), Case(equal, 2), Case(allclose, 2),
    Case(string, 4), Case(ratio, 4), Case(other_types, 4), Case(cumulative_sum, 4),
    Case(returns_its_input, 4), Case(mutated_after_the_read, 4),
]  # fmt: skip
