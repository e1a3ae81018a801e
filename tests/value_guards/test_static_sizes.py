"""Operators with a data-dependent size, called with arguments that are supported or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from tests.value_guards.run_and_compare import X, ints, run

VALUES = [(1, 3), (4, 2)]


def argwhere(t: Tensor) -> Tensor:
    return X[torch.argwhere(t > 2)[:, 0]]


def nonzero_of_no_dimensions(t: Tensor) -> Tensor:
    return X * (t[0].nonzero().shape[0] + 1)


def where_with_three_arguments(t: Tensor) -> Tensor:
    return torch.where(t > 2, t, 0)[: t[0]]


def mask_beside_other_indices(t: Tensor) -> Tensor:
    return X.view(2, 3, 4)[0, None, :, torch.cat([t, t]) > 2, ...]


def repeats_by_keyword(t: Tensor) -> Tensor:
    return torch.repeat_interleave(X[:2], repeats=t, dim=0)


KNOWN = [argwhere, nonzero_of_no_dimensions, where_with_three_arguments, mask_beside_other_indices,
         repeats_by_keyword]  # fmt: skip


@pytest.mark.parametrize("program", KNOWN, ids=lambda program: program.__name__)
def test_a_size_is_known(program: Callable[..., Tensor]) -> None:
    ran = run(program, [(ints(*value),) for value in VALUES], fullgraph=True)
    assert ran.sites == 0
    assert ran.log.guards


def given_output_size(t: Tensor) -> Tensor:
    return torch.repeat_interleave(X[:2], t.clamp(2, 2), dim=0, output_size=4)


def repeats_is_a_number(t: Tensor) -> Tensor:
    return torch.repeat_interleave(X, 2, dim=0) * t[0]


@pytest.mark.parametrize("program", [given_output_size, repeats_is_a_number])
def test_a_size_that_is_given_needs_no_guard(program: Callable[..., Tensor]) -> None:
    ran = run(program, [(ints(*value),) for value in VALUES], fullgraph=True)
    assert ran.graphs == 1
    assert ran.log.guards == []


class Refusal(NamedTuple):
    """A program, and a part of the reason that the log gives."""

    program: Callable[..., Tensor]
    reason: str


def mask_of_another_shape(t: Tensor) -> Tensor:
    return torch.masked_select(X, torch.arange(4) < t[0])


def mask_by_keyword(t: Tensor) -> Tensor:
    return torch.masked_select(X, mask=torch.arange(4) < t[0])


def one_number_of_repeats(t: Tensor) -> Tensor:
    return torch.repeat_interleave(X, t[:1], dim=0)


def nonzero_with_an_output(t: Tensor) -> Tensor:
    return torch.nonzero(X, out=torch.zeros(0, dtype=torch.long)) + t[0]


def tuple_of_results(t: Tensor) -> Tensor:
    values, counts = torch.unique(t, return_counts=True)
    return values + counts


def views_of_an_input(t: Tensor) -> Tensor:
    return t.tensor_split(t)[0] + 1


def large_constant(t: Tensor) -> Tensor:
    return torch.bincount(t * 100).float()


def large_value(t: Tensor) -> Tensor:
    return X * torch.bincount(t * 5000).sum().item()


def type_without_exact_comparison(t: Tensor) -> Tensor:
    return X * t.to(torch.float8_e5m2)[0].item()


REFUSED = [
    Refusal(mask_of_another_shape, "the mask has another shape than the tensor"),
    Refusal(mask_by_keyword, "masked_select is called with unsupported arguments"),
    Refusal(one_number_of_repeats, "repeats is one number for all elements"),
    Refusal(nonzero_with_an_output, "nonzero is called with unsupported arguments"),
    Refusal(tuple_of_results, "the result is neither a tensor nor a boolean"),
    Refusal(views_of_an_input, "the result is a view or a container"),
    Refusal(large_constant, "the result is too large for a constant in the graph"),
    Refusal(large_value, "the result is too large to compute at each call"),
    Refusal(type_without_exact_comparison, "a guard cannot compare the value exactly"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.program.__name__)
def test_a_size_is_refused_with_a_reason(case: Refusal) -> None:
    ran = run(case.program, [(ints(*value),) for value in VALUES], max_elements=64)
    assert case.reason in ran.log.refusals.values()
    assert ran.sites > 0
