"""Programs that read numbers and sizes from their integer inputs: one graph a value, no break."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from tests.mend.value_guards_kit import BACKENDS, X, asserts, ints, run

TABLE = [10, 20, 30, 40, 50, 60]
NAMES = {1: 5, 2: 6, 3: 7, 4: 8}


def item(t: Tensor) -> Tensor:
    return X * t[0].item()


def number(t: Tensor) -> Tensor:
    return X * int(t[1])


def real_number(t: Tensor) -> Tensor:
    return X * float(t[1])


def truth(t: Tensor) -> Tensor:
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
    for place, value in enumerate(t):
        if value == 3:
            x = x * (place + 2)
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
    # Dynamo can tell what it is from the size of the whole, but then does not know what for.
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


def counted(t: Tensor) -> Tensor:
    return torch.bincount(t).float()


def equal(t: Tensor) -> Tensor:
    return X + 1 if torch.equal(t, torch.tensor([1, 3])) else X - 1


def close(t: Tensor) -> Tensor:
    return X + 1 if torch.allclose(t.float(), torch.tensor([1.0, 3.0])) else X - 1


def text(t: Tensor) -> Tensor:
    return X * len(f"{t[0].item()}{t[1].item() * 100}")


def ratio(t: Tensor) -> Tensor:
    return X * (t[0] / t[1]).item()


def other_types(t: Tensor) -> Tensor:
    small = t.to(torch.int8) * 60  # 4 * 60 is more than fits
    return X * small[0].item() + t.bool()[1].item() + t.half()[0].item()


def cumulated(t: Tensor) -> Tensor:
    ends = nn.functional.pad(t.cumsum(0), (1, 0)).tolist()
    return torch.stack([X.flatten()[a:b].sum() for a, b in itertools.pairwise(ends)])


def gives_its_input(t: Tensor) -> tuple[Tensor, Tensor]:
    return t + t[0].item(), t.view(2, 1)


def written_afterwards(t: Tensor) -> Tensor:
    k = t[0].item()
    t.add_(1)
    return X * k + t[0]


class Case(NamedTuple):
    program: Callable[..., Any]
    graphs: int


VALUES = [(1, 3), (3, 1), (2, 2), (4, 2), (1, 3)]
# How many graphs: as many as there are different things to read in VALUES.
CASES = [
    Case(item, 4), Case(number, 3), Case(real_number, 3), Case(truth, 2),
    Case(index_of_a_list, 4), Case(key_of_a_dict, 4), Case(branch, 2), Case(negated_branch, 2),
    Case(branch_on_two, 3), Case(early_return, 3), Case(membership, 2), Case(while_loop, 4),
    Case(loop_to_a_number, 4), Case(loop_between_numbers, 3), Case(loop_over_values, 3),
    Case(loop_over_a_list, 4), Case(nested_list, 4), Case(groups, 4), Case(slices, 4),
    Case(sizes, 4), Case(size_that_follows, 1), Case(new_tensor, 4), Case(padding, 4),
    Case(nonzero, 2),
    Case(nonzero_as_tuple, 2), Case(where, 2), Case(mask, 2), Case(mask_of_two_dimensions, 4),
    Case(mask_after_a_slice, 2), Case(mask_of_itself, 2), Case(masked_select, 4),
    Case(repeat_interleave, 2), Case(repeat_interleave_alone, 2), Case(split, 4), Case(unique, 3),
    Case(unique_values, 3), Case(counted, 3), Case(equal, 2), Case(close, 2),
    Case(text, 4), Case(ratio, 4), Case(other_types, 4), Case(cumulated, 4),
    Case(gives_its_input, 4), Case(written_afterwards, 4),
]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program.__name__)
def test_a_value_is_known(case: Case, backend: str) -> None:
    ran = run(case.program, [(ints(*value),) for value in VALUES], backend)
    assert ran.sites == 0
    assert ran.graphs == case.graphs
    assert ran.log.guards


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.program.__name__)
def test_a_value_is_known_with_settings_and_in_one_graph(case: Case) -> None:
    calls = [(ints(*value),) for value in VALUES[:2]]
    with torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    ):
        ran = run(case.program, calls, "aot_eager", fullgraph=True)
    assert ran.sites == 0
    assert ran.graphs <= 2


@pytest.mark.parametrize("program", [mask, nonzero_as_tuple, split, unique_values])
def test_inductor(program: Callable[..., Any]) -> None:
    ran = run(program, [(ints(1, 3),), (ints(3, 1),), (ints(4, 2),)], "inductor")
    assert ran.sites == 0


def test_a_size_that_stays_needs_no_other_graph() -> None:
    ran = run(mask, [(ints(1, 3),), (ints(4, 2),), (ints(0, 9),), (ints(3, 1),)])
    assert ran.graphs == 1
    assert [fact.kind for fact in ran.log.guards] == ["shape"]


def test_truth_values_keep_the_tensor() -> None:
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
def test_every_kind_of_integer(dtype: torch.dtype) -> None:
    def read(t: Tensor) -> Tensor:
        return X * t[0].item() + t.tolist()[1]

    assert run(read, [(ints(1, 0, dtype=dtype),), (ints(0, 1, dtype=dtype),)]).sites == 0


def test_signs_of_zero_and_not_a_number() -> None:
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


def test_views_and_strange_layouts() -> None:
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
            return x[: self.size.item()] * self.plain.item() + WORLD.item()

    module = Module()
    torch._dynamo.reset()
    from torch._dynamo.testing import CompileCounter

    from fullgraph.mend.value_guards import value_guards

    counter = CompileCounter()
    compiled = torch.compile(module, backend=counter, fullgraph=True)
    with value_guards() as log:
        for change in (
            lambda: None,
            lambda: module.size.fill_(3),
            lambda: setattr(module, "plain", torch.tensor(5)),
            lambda: WORLD.add_(1),
            lambda: setattr(module, "size", torch.tensor(4)),
            lambda: None,
        ):
            change()
            assert torch.equal(compiled(X), module(X))
    assert counter.frame_count == 5
    assert {fact.input for fact in log.guards} == {"self.size", "self.plain", "WORLD"}


WORLD = torch.tensor(7)


def test_a_closure() -> None:
    size = torch.tensor(2)

    def closed(x: Tensor) -> Tensor:
        return x[: size.item()]

    assert run(closed, [(X,)], "aot_eager").sites == 0
    size.fill_(3)
    assert run(closed, [(X,)], "aot_eager").results[0].shape == (3, 4)


def test_inputs_that_are_changed_between_calls() -> None:
    t = ints(1, 3)

    def read(x: Tensor) -> Tensor:
        return x * t[0].item()

    from fullgraph.mend.value_guards import value_guards

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

    from fullgraph.mend.value_guards import value_guards

    torch._dynamo.reset()
    compiled = torch.compile(loss, backend=backend, fullgraph=True)
    with value_guards():
        for values in ((1, 3, 0), (2, 1, 2), (1, 3, 0), (3, 3, 3)):
            compute = loss
            expected = gradients(torch.arange(3.0, requires_grad=True), ints(*values))
            compute = compiled
            found = gradients(torch.arange(3.0, requires_grad=True), ints(*values))
            torch.testing.assert_close(found, expected)


def test_values_that_are_bad_still_raise() -> None:
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


def test_after_a_break() -> None:
    def broken(t: Tensor) -> Tensor:
        x = X[: t[0].item()]
        torch._dynamo.graph_break()
        return x[: t[1].item() - 1] * t[0].item()

    ran = run(broken, [(ints(*value),) for value in ((3, 2), (2, 2), (3, 3))], "aot_eager")
    assert ran.sites == 1
    assert {fact.function for fact in ran.log.guards} >= {"broken"}


def test_a_function_inside_and_a_second_compile() -> None:
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
