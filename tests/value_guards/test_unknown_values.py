"""Programs whose values are not known, or only seem to be: results are those of eager mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch._dynamo import allow_in_graph
from torch.utils.checkpoint import checkpoint

from fullgraph.value_guards import value_guards
from tests.value_guards.run_and_compare import X, ints, run

VALUES = [(1, 3), (3, 1), (2, 2), (1, 3)]


def input_mutated(t: Tensor) -> Tensor:
    t.mul_(2)
    return X * t[0].item()


def mutated_through_data(t: Tensor) -> Tensor:
    t.data.add_(1)
    return X * t[0].item()


def mutated_through_detach(t: Tensor) -> Tensor:
    t.detach().add_(1)
    return X * t[0].item()


def mutated_through_numpy(t: Tensor) -> Tensor:
    t = t + 0
    array = t.numpy()
    array[0] = 4
    return X * t[0].item()


def mutated_by_out(t: Tensor) -> Tensor:
    u = torch.zeros(2, dtype=torch.long)
    torch.add(t, 1, out=u)
    return X * u[0].item()


def mutated_by_foreach(t: Tensor) -> Tensor:
    u = t + 0
    torch._foreach_add_([u, X + 0], 1)
    return X * u[0].item()


def random_number(t: Tensor) -> Tensor:
    k = torch.randint(0, 1000, (1,))
    return X * (t[0] * 0 + k[0] * 0).item() + t[0]


def uninitialized_memory(t: Tensor) -> Tensor:
    u = torch.empty(2, dtype=torch.long)
    return X * (u[0] * 0 + t[0]).item()


def activation(t: Tensor) -> Tensor:
    return X * int((X.sin().sum() * t[0]).item())


def list_of_activations(t: Tensor) -> Tensor:
    return X[: len((X * t[0]).flatten().tolist())]


def shuffled(t: Tensor) -> Tensor:
    return X * t[torch.randperm(2)].sum().item()


def randomly_filled(t: Tensor) -> Tensor:
    u = t + 0
    u.bernoulli_(0.0)
    return X * (u + t)[0].item()


def mutated_with_an_activation(t: Tensor) -> Tensor:
    u = t + 0
    u[0] = X.sin().sum().long()
    return X * u[1].item()


@torch.library.custom_op("fullgraph_tests::doubles", mutates_args=("t",))
def doubles(t: Tensor) -> None:
    t.mul_(2)


def mutated_by_a_custom_operator(t: Tensor) -> Tensor:
    u = t + 0
    doubles(u)
    return X * u[0].item()


NOT_REPEATABLE = "mutated in a way that a guard cannot repeat"
# Each program, and the reason that the log gives.
UNKNOWN = [
    (input_mutated, "an input was mutated before the read"),
    (mutated_through_data, NOT_REPEATABLE),
    (mutated_through_detach, "an input was mutated before the read"),
    (mutated_through_numpy, NOT_REPEATABLE),
    (mutated_by_out, NOT_REPEATABLE),
    (mutated_by_foreach, NOT_REPEATABLE),
    (mutated_by_a_custom_operator, NOT_REPEATABLE),
    (mutated_with_an_activation, "the input is not an integer tensor"),
    (random_number, "aten.randint.low draws random numbers"),
    (shuffled, "aten.randperm.default draws random numbers"),
    (randomly_filled, "aten.bernoulli_.float draws random numbers"),
    (uninitialized_memory, "empty cannot run again in a guard"),
    (activation, "the input is not an integer tensor"),
    (list_of_activations, "the input is not an integer tensor"),
]
IDS = [program.__name__ for program, _ in UNKNOWN]


@pytest.mark.parametrize(("program", "reason"), UNKNOWN, ids=IDS)
def test_an_unknown_value_breaks_the_graph(program: Any, reason: str) -> None:
    ran = run(program, [(ints(*value),) for value in VALUES], "aot_eager")
    assert ran.sites > 0
    assert ran.log.guards == []
    (refusal,) = ran.log.refusals.values()
    assert reason in refusal


@pytest.mark.parametrize(("program", "reason"), UNKNOWN, ids=IDS)
def test_an_unknown_value_becomes_a_symbol_with_settings(program: Any, reason: str) -> None:
    with torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    ):
        ran = run(program, [(ints(*value),) for value in VALUES[:2]])
    assert ran.log.guards == []


def test_a_program_without_breaks_gets_no_guards() -> None:
    def whole(x: Tensor, t: Tensor) -> Tensor:
        x = x[t] + t[0]
        return torch.where(t.sum() > 2, x.sin(), x.cos())

    ran = run(whole, [(X, ints(1, 3)), (X, ints(2, 2))])
    assert ran.graphs == 1
    assert ran.log.guards == []
    assert ran.log.refusals == {}


def test_inputs_that_share_memory_in_some_calls() -> None:
    # Only with the eager backend: torch 2.13 compiles such inputs wrongly with aot_eager.
    def mutates_one(a: Tensor, b: Tensor) -> Tensor:
        a.add_(1)
        return X * b[0].item()

    base, other = ints(1, 3, 5), ints(1, 3, 5)
    separate = (base[:2], other[:2])
    same = (base[:2], base[:2])
    overlapping = (base[1:], base[:2])
    run(mutates_one, [separate, overlapping, separate])
    run(mutates_one, [overlapping, separate])
    run(mutates_one, [same, separate, same])


def test_a_mutation_between_two_reads() -> None:
    def in_turn(a: Tensor, b: Tensor) -> Tensor:
        x = X * a[0].item()
        a.add_(1)
        return x + b[0].item()

    base = ints(1, 3, 5)
    separate = (ints(1, 3), ints(2, 4))
    shared = (base[:2], base[1:])
    ran = run(in_turn, [separate, (ints(1, 3), ints(2, 5)), shared, separate])
    assert len(ran.log.guards) >= 2


def test_one_tensor_as_two_inputs() -> None:
    def read_both(a: Tensor, b: Tensor) -> Tensor:
        return X * a[0].item() + b[1].item()

    t = ints(1, 3)
    ran = run(read_both, [(t, t), (ints(1, 3), ints(2, 4)), (t, ints(1, 4))])
    assert ran.sites == 0


def test_a_mutated_buffer_beside_a_guarded_input() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.tensor(0))

        def forward(self, t: Tensor) -> Tensor:
            self.calls.add_(1)
            return X[: t[0].item()] * self.calls

    module, reference = Counting(), Counting()
    torch._dynamo.reset()
    compiled = torch.compile(module, backend="aot_eager", fullgraph=True)
    with value_guards() as log:
        for value in (1, 2, 1, 1):
            assert torch.equal(compiled(ints(value)), reference(ints(value)))
    assert len(log.guards) == 2


def test_the_largest_input() -> None:
    def read(t: Tensor) -> Tensor:
        return X * t[0].item()

    assert run(read, [(torch.arange(65),)], max_elements=64).sites == 1
    assert run(read, [(torch.arange(64),)], max_elements=64).sites == 0


def test_a_tensor_subclass() -> None:
    class Mine(Tensor):
        def __deepcopy__(self, memo: Any) -> Tensor:
            return self.clone()

    def read(t: Tensor) -> Tensor:
        return X * t[0].item()

    calls = [(ints(value, 3).as_subclass(Mine),) for value in (1, 2)]
    assert run(read, calls).log.guards == []


def test_floats_and_parameters() -> None:
    def read(t: Tensor) -> Tensor:
        return X * t[0].item()

    parameter = nn.Parameter(ints(1, 3), requires_grad=False)
    assert run(read, [(torch.ones(2),), (torch.zeros(2, requires_grad=True),)]).log.guards == []
    assert run(read, [(parameter,)]).log.guards == []


def test_a_function_that_dynamo_does_not_trace_into() -> None:
    @allow_in_graph
    def opaque(t: Tensor) -> Tensor:
        t.add_(1)
        return t * 2

    def reads_its_result(t: Tensor) -> Tensor:
        return X * opaque(t)[0].item()

    def reads_its_argument(t: Tensor) -> Tensor:
        u = t + 0
        opaque(u)
        return X * u[0].item()

    for program in (reads_its_result, reads_its_argument):
        assert run(program, [(ints(1, 3),), (ints(3, 1),)]).log.guards == []


def test_a_custom_operator() -> None:
    @torch.library.custom_op("fullgraph_tests::shift", mutates_args={"t"})
    def shift(t: Tensor) -> None:
        t.add_(1)

    @shift.register_fake
    def _(t: Tensor) -> None:
        pass

    def reads_its_argument(t: Tensor) -> Tensor:
        u = t + 0
        shift(u)
        return X * u[0].item()

    assert run(reads_its_argument, [(ints(1, 3),), (ints(3, 1),)], "aot_eager").log.guards == []


def test_inside_a_checkpoint() -> None:
    def body(x: Tensor, t: Tensor) -> Tensor:
        return x.sin()[: t[0].item()]

    def checkpointed(x: Tensor, t: Tensor) -> Tensor:
        return checkpoint(body, x, t, use_reentrant=False)

    run(checkpointed, [(X, ints(1, 3)), (X, ints(3, 1))])


def test_autocast_changes_the_computed_value() -> None:
    def multiplied(t: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            # bfloat16 cannot represent 257.
            return X * (t.float()[None] @ t.float()[:, None]).item()

    for value in ((257, 1), (3, 1)):
        run(multiplied, [(ints(*value),)])


@pytest.mark.parametrize(
    "mode",
    [
        torch.no_grad,
        torch.inference_mode,
        lambda: torch.autocast("cpu", torch.bfloat16),
        lambda: torch.device("cpu"),
        lambda: torch.device("meta"),
        torch.overrides.BaseTorchFunctionMode,
    ],
    ids=["no_grad", "inference", "autocast", "cpu", "meta", "function_mode"],
)
def test_calls_under_modes_of_the_program(mode: Any) -> None:
    def read(x: Tensor, t: Tensor) -> Tensor:
        offsets = torch.arange(4, device="cpu")
        return x[: t[0].item()] * (t.float() / 3)[1].item() + offsets[t[0].item()]

    torch._dynamo.reset()
    compiled = torch.compile(read, backend="eager", fullgraph=True)
    calls = [ints(*value) for value in ((1, 3), (2, 3), (1, 3))]
    with value_guards() as log:
        for t in calls:
            assert torch.equal(compiled(X, t), read(X, t))
        with mode():
            for t in calls:
                assert torch.equal(compiled(X, t), read(X, t))
    assert log.notes == []


def test_guards_draw_no_random_numbers() -> None:
    def read(t: Tensor) -> Tensor:
        return X[: t[0].item()] + torch.rand(4)

    torch._dynamo.reset()
    compiled = torch.compile(read, backend="eager")
    with value_guards() as log:
        compiled(ints(1, 3))
        compiled(ints(2, 3))
        torch.manual_seed(7)
        expected = read(ints(1, 3))
        torch.manual_seed(7)
        assert torch.equal(compiled(ints(1, 3)), expected)
    assert sum(guard.failed for guard in log.guards) >= 1


def test_too_many_values() -> None:
    def read(t: Tensor) -> Tensor:
        return X * t[0].item()

    ran = run(read, [(ints(value, 3),) for value in range(14)], max_variants=3)
    assert len(ran.log.guards) == 3
    assert ran.sites == 1
    (note,) = ran.log.notes
    assert note.startswith("read (")
    assert "compiled 3 times, 3 of them for different values; it now breaks" in note


def test_the_recompile_limit_of_dynamo_is_not_reached() -> None:
    def read(t: Tensor) -> Tensor:
        return X * t[0].item()

    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):
        ran = run(read, [(ints(value, 3),) for value in range(14)], max_variants=100)
    assert len(ran.log.guards) == torch._dynamo.config.recompile_limit - 1


def test_export_has_no_value_guards() -> None:
    class Module(nn.Module):
        def forward(self, t: Tensor) -> Tensor:
            return X[t > 1].sum() * t[0].item()

    with value_guards() as log:
        program = torch.export.export(Module(), (ints(1, 3, 0, 0, 0, 1),), strict=True)
    assert log.guards == []
    other = ints(5, 3, 4, 0, 0, 1)
    assert torch.equal(program.module()(other), Module()(other))


def test_numpy_functions_of_constants() -> None:
    def area(t: Tensor) -> Tensor:
        if np.prod(X.shape) % t[0].item() == 0:
            return X + 1
        return X - 1

    run(area, [(ints(*value),) for value in ((1, 3), (5, 1), (2, 2))])


def test_symbolic_integers_among_the_inputs() -> None:
    def scaled(t: Tensor, k: int) -> Tensor:
        return X[: (t * k)[0].item()]

    calls = [(ints(1, 3), 1), (ints(1, 3), 2), (ints(1, 3), 3), (ints(2, 3), 1), (ints(1, 3), 4)]
    assert run(scaled, calls).sites == 0
