"""Operations on real tensors: the results that a guard accepts, and side effects."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from fullgraph.value_guards.concrete_eval import (
    ValueUnknown,
    concrete_mode,
    evaluate,
    matches_traced,
    mutated_tensors,
    storage_of,
    tensors_in,
)
from tests.value_guards.run_and_compare import ints


@torch.library.custom_op("fullgraph_tests::plus_one", mutates_args=())
def plus_one(t: Tensor) -> Tensor:
    return t + 1


def test_a_function_and_a_method() -> None:
    assert evaluate(torch.add, (ints(1), 2), {"alpha": 3}, max_elements=1).tolist() == [7]
    assert evaluate("add", (ints(1), 2), {"alpha": 3}, max_elements=1).tolist() == [7]


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda: ints(1, 2).view(3), "the operation fails on the real inputs: shape"),
        (lambda: torch.nn.Parameter(torch.ones(2)), "not a plain CPU tensor"),
        (lambda: torch.ones(2, device="meta"), "not a plain CPU tensor"),
        (lambda: torch.eye(2).to_sparse(), "sparse or complex"),
        (lambda: [ints(1), torch.ones(2, dtype=torch.complex64)], "sparse or complex"),
        (lambda: torch.zeros(2 * 64 + 1), "too large to compute at each call"),
    ],
)
def test_a_result_that_does_not_fit_into_a_guard(function: Any, reason: str) -> None:
    with pytest.raises(ValueUnknown, match=reason):
        evaluate(function, (), {}, max_elements=2)


def test_the_largest_result() -> None:
    assert evaluate(torch.zeros, (2 * 64,), {}, max_elements=2).numel() == 128


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda t: torch.rand(2), "aten.rand.default draws random numbers"),
        (plus_one, "fullgraph_tests.plus_one.default is not one of torch's own operators"),
        (lambda t: t.add_(1), "aten.add_.Tensor mutates a tensor that is read"),
        (lambda t: t[1:].zero_(), "mutates a tensor that is read"),
        (lambda t: torch.add(t, 1, out=t), "aten.add.out mutates a tensor that is read"),
        (lambda t: torch._foreach_add_([t + 0, t], 1), "mutates a tensor that is read"),
    ],
)
def test_side_effects_are_refused(function: Any, reason: str) -> None:
    t, state = ints(1, 2), torch.get_rng_state()
    with concrete_mode({storage_of(t)}), pytest.raises(ValueUnknown, match=reason):
        evaluate(function, (t,), {}, max_elements=2)
    assert t.tolist() == [1, 2]
    assert torch.equal(torch.get_rng_state(), state)


def test_temporary_tensors_may_be_mutated() -> None:
    t = ints(1, 2)
    with concrete_mode({storage_of(t)}):
        result = evaluate(lambda t: (t + 0).add_(1), (t,), {}, max_elements=2)
    assert result.tolist() == [2, 3]


def test_modes_of_the_program_do_not_apply() -> None:
    with (
        torch.device("meta"),
        torch.autocast("cpu", torch.bfloat16),
        torch.enable_grad(),
        concrete_mode(set()),
    ):
        product = torch.ones(2, 2, requires_grad=True) @ torch.ones(2, 2)
    assert product.device.type == "cpu"
    assert product.dtype == torch.float32
    assert not product.requires_grad


def test_mutated_tensors_of_an_operator() -> None:
    t, out = ints(1), ints(2)
    add = torch.ops.aten.add
    assert mutated_tensors(add.Tensor._schema, (t, out), {}) == []
    assert mutated_tensors(add.out._schema, (t, t), {"out": out})[0] is out
    assert mutated_tensors(torch.ops.aten.add_.Tensor._schema, (t, out), {})[0] is t
    foreach = torch.ops.aten._foreach_add_.Scalar._schema
    assert mutated_tensors(foreach, ([t, out], 1), {}) == [t, out]


def test_tensors_in_nested_containers() -> None:
    one, other = ints(1), ints(2)
    assert [id(each) for each in tensors_in((1, [one, (other,)], "a"))] == [id(one), id(other)]
    assert tensors_in(3) == []


@pytest.mark.parametrize(
    ("value", "fake", "expected"),
    [
        (ints(1, 2), ints(8, 9), True),
        (ints(1, 2), ints(1, 2, dtype=torch.int32), False),
        (ints(1, 2), ints(1, 2, 3), False),
        (ints(1, 2), ints(1, 2)[None], False),
        (ints(1, 2), ints(1, 2).to("meta"), False),
        (3, ints(3), False),
        (ints(3), 3, False),
        (3, 4, True),
        ((ints(1), 2), [ints(5), 6], True),
        ((ints(1), ints(2)), (ints(1),), False),
        ((ints(1), ints(2)), (ints(1), torch.ones(1)), False),
        (ints(1), (ints(1),), False),
    ],
)
def test_a_value_matches_the_traced_one_in_type_and_size(
    value: Any, fake: Any, expected: bool
) -> None:
    assert matches_traced(value, fake) is expected
