"""Programs that read numbers and sizes from integer inputs: one graph per value, no break."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounter

from fullgraph.value_guards import value_guards
from tests.value_guards.programs import (
    CASES,
    NAMES,
    TABLE,
    VALUES,
    Case,
    mask,
    nonzero_as_tuple,
    split,
    unique_values,
)
from tests.value_guards.run_and_compare import BACKENDS, X, asserts, ints, run


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program.__name__)
def test_a_value_is_known(case: Case) -> None:
    ran = run(case.program, [(ints(*value),) for value in VALUES])
    assert ran.sites == 0
    assert ran.graphs == case.graphs
    assert ran.log.guards


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program.__name__)
def test_a_value_is_known_with_settings_that_capture_it(case: Case) -> None:
    calls = [(ints(*value),) for value in VALUES[:2]]
    with torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    ):
        ran = run(case.program, calls, "aot_eager", fullgraph=True)
    assert ran.sites == 0
    assert ran.graphs <= 2


def test_inductor() -> None:
    # In one graph per value: compiling its C++ code takes seconds.
    def together(t: Tensor) -> tuple[Tensor, ...]:
        return mask(t), nonzero_as_tuple(t), split(t), unique_values(t)

    ran = run(together, [(ints(1, 3),), (ints(3, 1),)], "inductor")
    assert ran.sites == 0
    assert ran.graphs == 2


def test_another_value_of_the_same_size_does_not_recompile() -> None:
    ran = run(mask, [(ints(1, 3),), (ints(4, 2),), (ints(0, 9),), (ints(3, 1),)])
    assert ran.graphs == 1
    assert [guard.kind for guard in ran.log.guards] == ["shape"]


def test_and_and_or_return_the_tensor() -> None:
    def either(t: Tensor) -> tuple[Tensor, Tensor]:
        return (t[0] > 2) or t[1], t[0] and t[1]

    ran = run(either, [(ints(*value),) for value in ((1, 3), (3, 1), (0, 0), (4, 2))])
    assert ran.sites == 0
    assert all(isinstance(part, Tensor) for result in ran.results for part in result)


def test_negative_and_empty_values() -> None:
    def both(t: Tensor, e: Tensor) -> Tensor:
        return X[t[0] :] * len(e.tolist()) + e.nonzero().shape[0] + e[e > 0].sum()

    calls = [(ints(-2), ints()), (ints(-1), ints()), (ints(0), ints(7, 0)), (ints(-2), ints())]
    assert run(both, calls, "aot_eager").sites == 0


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.bool])
def test_every_integer_type(dtype: torch.dtype) -> None:
    def read(t: Tensor) -> Tensor:
        return X * t[0].item() + t.tolist()[1]

    assert run(read, [(ints(1, 0, dtype=dtype),), (ints(0, 1, dtype=dtype),)]).sites == 0


def test_negative_zero_and_nan() -> None:
    def divided(t: Tensor) -> Tensor:
        return torch.ones(2) / (t[0] * -1.0).item() + (t[0] / t[1]).item()

    calls = [(ints(0, 1),), (ints(0, -1),), (ints(0, 0),), (ints(1, 0),)]
    assert run(divided, calls).sites == 0


def test_containers() -> None:
    class Grid(NamedTuple):
        height: Tensor
        rest: list[Tensor]

    def nested(grid: Grid, sizes: dict[str, list[Tensor]]) -> Tensor:
        rows = sizes["rows"][1].item()
        return X[:rows, : grid.height.item()] * grid.rest[0].tolist()[1]

    def call(h: int, r: int, k: int) -> tuple[Any, ...]:
        return Grid(torch.tensor(h), [ints(0, k)]), {"rows": [ints(9), torch.tensor(r)]}

    ran = run(nested, [call(1, 2, 3), call(2, 2, 3), call(1, 3, 3), call(1, 2, 4)], "aot_eager")
    assert ran.sites == 0
    assert ran.graphs == 4


def test_views_and_strides() -> None:
    def read(t: Tensor) -> Tensor:
        return X[: t[0, 1].item()] * t.t().tolist()[0][-1]

    base = torch.arange(12).reshape(3, 4) % 5
    calls = [(base[:2, 1:3],), (base.t()[:2, :2],), (base[1:, ::2],), (ints(1).expand(2, 2),)]
    assert run(read, calls).sites == 0


def test_buffers_attributes_and_globals() -> None:
    class Module(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("size", torch.tensor(2))
            self.plain = torch.tensor(1)

        def forward(self, x: Tensor) -> Tensor:
            return x[: self.size.item()] * self.plain.item() + GLOBAL_SIZE.item()

    module = Module()
    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(module, backend=counter, fullgraph=True)
    with value_guards() as log:
        for change in (
            lambda: None,
            lambda: module.size.fill_(3),
            lambda: setattr(module, "plain", torch.tensor(5)),
            lambda: GLOBAL_SIZE.add_(1),
            lambda: setattr(module, "size", torch.tensor(4)),
            lambda: None,
        ):
            change()
            assert torch.equal(compiled(X), module(X))
    assert counter.frame_count == 5
    assert {guard.input for guard in log.guards} == {"self.size", "self.plain", "GLOBAL_SIZE"}


GLOBAL_SIZE = torch.tensor(7)


def test_a_closure() -> None:
    size = torch.tensor(2)

    def closed(x: Tensor) -> Tensor:
        return x[: size.item()]

    assert run(closed, [(X,)], "aot_eager").sites == 0
    size.fill_(3)
    assert run(closed, [(X,)], "aot_eager").results[0].shape == (3, 4)


def test_a_tensor_that_is_mutated_between_calls() -> None:
    t = ints(1, 3)

    def read(x: Tensor) -> Tensor:
        return x * t[0].item()

    torch._dynamo.reset()
    compiled = torch.compile(read, backend="eager", fullgraph=True)
    with value_guards():
        assert torch.equal(compiled(X), X)
        t[0] = 2
        assert torch.equal(compiled(X), X * 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_that_change_with_the_values(backend: str) -> None:
    def patches(pixels: Tensor, grid: Tensor) -> Tensor:
        parts = torch.split(pixels, grid.prod(-1).tolist())
        return torch.stack(
            [part.view(*size, -1).sum() for part, size in zip(parts, grid.tolist(), strict=True)]
        )

    def call(*grid: tuple[int, int]) -> tuple[Tensor, Tensor]:
        return torch.ones(sum(h * w for h, w in grid), 3), torch.tensor(grid)

    calls = [call((2, 2)), call((2, 3)), call((4, 1), (1, 2)), call((3, 2)), call((2, 2))]
    ran = run(patches, calls, backend)
    assert ran.sites == 0
    assert ran.graphs <= 4


@pytest.mark.parametrize("dynamic", [True, False, None])
def test_dynamic_shapes(dynamic: bool | None) -> None:
    def lengths(x: Tensor, mask: Tensor) -> Tensor:
        return x[: mask.sum(-1).max().item()] * mask.shape[1] + x[mask[0].bool()].sum()

    calls = [
        (torch.ones(size, 2), (torch.arange(size) < filled).long()[None].repeat(2, 1))
        for size, filled in ((3, 2), (4, 2), (5, 2), (5, 4), (6, 2))
    ]
    ran = run(lengths, calls, "aot_eager", dynamic=dynamic)
    assert ran.sites == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_of_float_inputs(backend: str) -> None:
    def loss(x: Tensor, t: Tensor) -> Tensor:
        kept = x[t > 1]
        rows = torch.repeat_interleave(x[:2], t[:2], dim=0)
        return (kept * t.sum().item()).sum() + rows.square().sum() + x[: t[0].item()].sum()

    def gradients(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        value = compute(x, t)
        value.backward()
        assert x.grad is not None
        return value.detach(), x.grad

    torch._dynamo.reset()
    compiled = torch.compile(loss, backend=backend, fullgraph=True)
    with value_guards():
        for values in ((1, 3, 0), (2, 1, 2), (1, 3, 0), (3, 3, 3)):
            compute = loss
            expected = gradients(torch.arange(3.0, requires_grad=True), ints(*values))
            compute = compiled
            found = gradients(torch.arange(3.0, requires_grad=True), ints(*values))
            torch.testing.assert_close(found, expected)


def test_invalid_values_raise_as_in_eager_mode() -> None:
    def look_up(t: Tensor) -> Tensor:
        return X[:, : TABLE[t[0]] // 10] + NAMES[t[1].item()]

    calls = [(ints(1, 2),), (ints(9, 2),), (ints(1, 7),), (ints(1, 2),)]
    ran = run(look_up, calls)
    assert [type(result) for result in ran.results[1:3]] == [IndexError, KeyError]


def test_checks_that_raise() -> None:
    def checked(t: Tensor) -> Tensor:
        if t.min() < 0:
            raise ValueError("negative")
        return X * t[0]

    ran = run(checked, [(ints(1, 2),), (ints(-1, 2),), (ints(3, 4),)])
    assert isinstance(ran.results[1], ValueError)


def test_asserts_stay_in_the_graph() -> None:
    ran = run(asserts, [(ints(1, 2),), (ints(3, 2),)])
    assert ran.graphs == 1
    assert ran.log.guards == []


def test_asserts_that_dynamo_does_not_rewrite_are_branches() -> None:
    with torch._dynamo.config.patch(rewrite_assert_with_torch_assert=False):
        ran = run(asserts, [(ints(1, 2),), (ints(3, 2),)], fullgraph=True)
    assert ran.sites == 0
    assert [guard.shown for guard in ran.log.guards] == ["True"]


def test_after_a_break() -> None:
    def broken(t: Tensor) -> Tensor:
        x = X[: t[0].item()]
        torch._dynamo.graph_break()
        return x[: t[1].item() - 1] * t[0].item()

    ran = run(broken, [(ints(*value),) for value in ((3, 2), (2, 2), (3, 3))], "aot_eager")
    assert ran.sites == 1
    assert {guard.function for guard in ran.log.guards} >= {"broken"}


def test_a_compiled_function_inside_another() -> None:
    def inner(t: Tensor) -> Tensor:
        return X[: t[0].item()]

    compiled = torch.compile(inner, backend="eager")

    def outer(t: Tensor) -> Tensor:
        return compiled(t) + inner(t) + t[1].item()

    assert run(outer, [(ints(1, 2),), (ints(2, 2),)]).sites == 0
    assert run(inner, [(ints(1, 2),), (ints(2, 2),)]).sites == 0


def test_generators_and_comprehensions() -> None:
    def comprehended(t: Tensor) -> Tensor:
        total = sum(size * 2 for size in t.tolist())
        pairs = {k: v for k, v in zip(t.tolist(), range(9), strict=False)}  # noqa: C416
        return X * total + len([k for k in pairs if k > 1])

    assert run(comprehended, [(ints(1, 2),), (ints(2, 2),)]).sites == 0
