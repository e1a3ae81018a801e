"""Random programs of views, copies and mutations that read a number twice."""

from __future__ import annotations

from collections.abc import Callable

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from fullgraph.value_guards import value_guards
from tests.value_guards.run_and_compare import X, assert_no_internal_error, call_both

Step = tuple[str, int, int]

# Each takes two tensors of three elements and returns another; some mutate the first.
OPERATIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda a, b: a + b,
    "clone": lambda a, b: a.clone(),
    "same": lambda a, b: a,
    "view": lambda a, b: a.view(3, 1).view(3),
    "flip": lambda a, b: a.flip(0),
    "cumsum": lambda a, b: a.cumsum(0),
    "detach": lambda a, b: a.detach(),
    "data": lambda a, b: a.data,
    "wide": lambda a, b: torch.cat([a, b])[1:4],
    "where": lambda a, b: torch.where(a > b, a, b),
    "narrow": lambda a, b: a[:2].sum() + b,
    "zeros": lambda a, b: torch.zeros(3, dtype=torch.int64),
    "picked": lambda a, b: a[b % 3],
    "mutate add": lambda a, b: a.add_(b),
    "mutate one": lambda a, b: a[1:].add_(1).sum() + b,
    "mutate copy": lambda a, b: a.copy_(b),
    "mutate item": lambda a, b: _assigned(a, b),
    "mutate mask": lambda a, b: a.masked_fill_(b > 1, 2),
    "mutate data": lambda a, b: a.data.mul_(2) + b,
    "mutate view": lambda a, b: a.view(3, 1).squeeze(1).sub_(1),
    "mutate out": lambda a, b: torch.add(b, 1, out=a),
    "mutate many": lambda a, b: _all_added(a, b),
}


def _assigned(a: Tensor, b: Tensor) -> Tensor:
    a[0] = b[2]
    return b


def _all_added(a: Tensor, b: Tensor) -> Tensor:
    torch._foreach_add_([a], 1)
    return b


def program(steps: list[Step], middle: int) -> Callable[[Tensor, Tensor], tuple[Tensor, ...]]:
    def run(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        pool = [a, b]
        x = X
        for position, (name, one, other) in enumerate(steps):
            pool.append(OPERATIONS[name](pool[one % len(pool)], pool[other % len(pool)]))
            if position == middle:
                x = x[: pool[-1][0].item() % 5] if pool[-1].sum() > 2 else x * 2
        kept = x[:, pool[-1].sum().item() % 4] * pool[one % len(pool)][1].item()
        return kept, pool[-1] * 1, pool[other % len(pool)] + 0

    return run


steps = st.lists(
    st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 5), st.integers(0, 5)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(steps, st.integers(0, 5), st.booleans())
def test_the_results_are_those_of_eager_mode(chosen: list[Step], middle: int, shared: bool) -> None:
    check(chosen, middle, shared)


def check(chosen: list[Step], middle: int, shared: bool) -> int:
    """Compare a program with eager mode; return the number of guarded values."""
    torch._dynamo.reset()
    plain = program(chosen, middle)
    compiled = torch.compile(plain, backend="eager")
    with value_guards() as log:
        for one, other in (((1, 2, 3), (0, 1, 2)), ((3, 1, 0), (0, 1, 2)), ((1, 2, 3), (2, 2, 2))):
            memory = torch.tensor([*one, *other])
            separate = (memory[:3].clone(), memory[3:].clone())
            overlapping = (memory[:3], memory[2:5])
            for call in (separate, overlapping) if shared else (separate,):
                call_both(plain, compiled, call)
    assert_no_internal_error(log)
    return len(log.guards)
