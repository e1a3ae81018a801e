"""Programs that mutate tensors they have created, then read them: the guard mutates copies too."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.value_guards.run_and_compare import X, ints, run

VALUES = [(1, 3), (3, 1), (2, 2), (1, 3)]


def mutated_in_place(t: Tensor) -> Tensor:
    t = t.clone()
    t.add_(1)
    return X * t[0].item()


def copied_into(t: Tensor) -> Tensor:
    u = torch.zeros(2, dtype=torch.long)
    u.copy_(t)
    u.mul_(2)
    return X * u[1].item()


def augmented(t: Tensor) -> Tensor:
    u = t * 1
    u += 1
    return X * u[0].item()


def item_assigned(t: Tensor) -> Tensor:
    u = t + 0
    u[0] = t[1] * 2
    return X * u[0].item()


def masked_and_filled(t: Tensor) -> Tensor:
    u = t + 0
    u[t > 2] = 5
    return X * u.sum().item()


def mutated_through_a_view(t: Tensor) -> Tensor:
    u = t + 0
    u.view(2, 1)[0].fill_(4)
    return X * u[0].item()


def view_created_before_the_mutation(t: Tensor) -> Tensor:
    u = t + 0
    first = u[0]
    u.zero_()
    return X * (first + 1).item()


def mutated_in_inference_mode(t: Tensor) -> Tensor:
    with torch.inference_mode():
        u = t + 0
        u.add_(1)
        return X * u[0].item()


def read_before_and_after(t: Tensor) -> Tensor:
    u = t + 0
    first = u[0].item()
    u.mul_(10)
    return X * first + u[0].item()


def computed_before_the_mutation(t: Tensor) -> Tensor:
    u = t + 0
    total = u.sum()
    u.fill_(7)
    return X * u[0].item() + total.item()


def mutated_with_a_mutated_tensor(t: Tensor) -> Tensor:
    u, v = t + 0, t * 2
    v += 1
    u[:1] = v[1:]
    return X * u[0].item()


def several_mutations_and_reads(t: Tensor) -> Tensor:
    u, x = torch.zeros(2, dtype=torch.long), X
    for position in range(2):
        u[position] = t[position] + u.sum()
        x = x * u[position].item()
    return x


def global_attention(t: Tensor) -> Tensor:
    """The attention mask of Longformer."""
    mask = torch.where(t > 1, 0.0, -1.0)[None, None, None, :][:, 0, 0, :]
    mask[t[None] == 3] = torch.finfo(torch.float32).max
    return X.sin() if (mask > 0).flatten().any().item() else X.cos()


KNOWN = [
    mutated_in_place, copied_into, augmented, item_assigned, masked_and_filled,
    mutated_through_a_view, view_created_before_the_mutation, mutated_in_inference_mode,
    read_before_and_after, computed_before_the_mutation, mutated_with_a_mutated_tensor,
    several_mutations_and_reads, global_attention,
]  # fmt: skip


@pytest.mark.parametrize("program", KNOWN, ids=lambda program: program.__name__)
def test_the_value_of_a_mutated_tensor_is_known(program: Any) -> None:
    ran = run(program, [(ints(*value),) for value in VALUES], "aot_eager")
    assert ran.sites == 0
    assert ran.log.guards


def test_a_guard_does_not_mutate_inputs() -> None:
    def program(t: Tensor) -> Tensor:
        u = t.to(torch.int64)
        if u is not t:
            u += 1
        return X * u[0].item()

    for dtype in (torch.int32, torch.int64):
        given = ints(1, 3, dtype=dtype)
        assert run(program, [(given,), (ints(2, 3, dtype=dtype),), (given,)]).sites == 0
        assert given.tolist() == [1, 3]


def test_a_mutation_under_autocast_is_not_repeated() -> None:
    def program(t: Tensor) -> Tensor:
        u = torch.eye(2) * t
        with torch.autocast("cpu", dtype=torch.bfloat16):
            u.addmm_(u, u)
        return X * u.sum().item()

    assert run(program, [(ints(*value),) for value in VALUES]).sites > 0


def test_an_input_that_is_not_contiguous_keeps_its_strides() -> None:
    def strided(*numbers: int) -> Tensor:
        whole = torch.zeros(len(numbers), 2, dtype=torch.long)
        whole[:, 0] = ints(*numbers)
        return whole[:, 0]

    def program(t: Tensor) -> Tensor:
        u = t.contiguous()
        u.add_(1)
        x = X + 1 if u.sum() > 0 else X
        return x * 2 if (t > 3).any() else x * 5

    ran = run(program, [(strided(9, 9),), (strided(3, 3),), (strided(9, 9),)])
    assert "other strides" in str(ran.log.refusals)
    assert run(program, [(ints(9, 9),), (ints(3, 3),), (strided(9, 9),)]).sites <= 1
