"""What counts as the same, and what does not."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fullgraph.fix.record.recorder import CallContext, CompiledTarget, RecordedCall, clone_inputs
from fullgraph.fix.trials.outcome import run_call
from fullgraph.fix.trials.vary_inputs import variations
from fullgraph.outcomes.compare import compare_outcomes
from fullgraph.outcomes.observe import NO_GRADIENT, CallOutcome, flattened, module_state


def outcome(function: Callable[..., Any], *args: Any) -> CallOutcome:
    target = CompiledTarget("f", function, {})
    torch.manual_seed(0)
    return run_call(RecordedCall(target, args, {}, CallContext.current()), function, target)


def problems(one: Callable[..., Any], other: Callable[..., Any], *args: Any, **how: Any) -> str:
    how.setdefault("exact", True)
    return " ".join(compare_outcomes(outcome(one, *args), outcome(other, *args), **how).problems)


X = torch.arange(6.0)


def test_the_same_is_the_same() -> None:
    assert not problems(lambda x: x + 1, lambda x: 1 + x, X)
    assert not problems(lambda x: x / 0 * 0, lambda x: x / 0 * 0, X)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda x: x + 1.0000001, "differs by"),
        (lambda x: (x + 1).double(), "float64 instead of"),
        (lambda x: (x + 1)[None], "shape"),
        (lambda x: [x + 1], "only on one side"),
        (lambda x: (x + 1).fill_(float("nan")), "NaN"),
        (lambda x: x.add_(1), "inputs"),
        (lambda x: print("hello") or x + 1, "lines differ"),
        (lambda x: warnings.warn("careful", stacklevel=1) or x + 1, "lines differ"),
        (lambda x: logging.getLogger("mine").warning("hello") or x + 1, "lines differ"),
        (lambda x: x + [][0], "raises IndexError"),
    ],
)
def test_a_difference_is_seen(other: Callable[..., Any], message: str) -> None:
    assert message in problems(lambda x: x + 1, other, X)


def test_rounding_is_allowed_only_where_it_is_said_to_be() -> None:
    def rounded(x: torch.Tensor) -> torch.Tensor:
        return x + 1.00001

    assert problems(lambda x: x + 1, rounded, X)
    assert not problems(lambda x: x + 1, rounded, X, exact=False)


def test_lines_may_be_dropped_or_reordered_only_where_it_is_said() -> None:
    def chatty(x: torch.Tensor) -> torch.Tensor:
        print("one")
        print("two")
        return x

    def replace_nodes(x: torch.Tensor) -> torch.Tensor:
        print("two")
        print("one")
        return x

    assert problems(chatty, replace_nodes, X)
    assert not problems(chatty, replace_nodes, X, effects="reordered")
    assert problems(chatty, lambda x: x, X, effects="reordered")
    assert not problems(chatty, lambda x: x, X, effects="dropped")
    assert problems(lambda x: x, chatty, X, effects="dropped")


def test_another_gradient_is_seen() -> None:
    x = torch.randn(4, requires_grad=True)
    assert "gradients" in problems(lambda x: x * 2, lambda x: x.detach() * 2 + x * 0, x)
    assert not problems(lambda x: x * 2, lambda x: x + x, x)


def test_module_state_is_compared() -> None:
    module = torch.nn.BatchNorm1d(3)
    target = CompiledTarget("m", module, {})
    call = RecordedCall(target, (torch.randn(4, 3),), {}, CallContext.current())
    first = run_call(call, module, target)
    second = run_call(call, module, target)
    assert any("state" in each for each in compare_outcomes(first, second, exact=True).problems)


def test_copies_share_memory_as_the_originals_do() -> None:
    base = torch.zeros(4)
    copied, view = clone_inputs((base, base[1:]))
    view.add_(1)
    assert copied.tolist() == [0, 1, 1, 1]
    assert base.tolist() == [0, 0, 0, 0]


def test_variations_keep_shapes_and_reach_other_values() -> None:
    target = CompiledTarget("f", lambda *_: None, {})
    call = RecordedCall(
        target, (torch.randn(4, 2), torch.tensor([3, 1, 2, 2])), {}, CallContext.current()
    )
    varied = dict(variations(call))
    assert {"other numbers", "negated", "integers shuffled", "integers one less"} <= set(varied)
    for name, each in varied.items():
        if name != "half a batch":
            assert [tensor.shape for tensor in each.args] == [(4, 2), (4,)]
    assert varied["integers one less"].args[1].tolist() == [2, 0, 1, 1]
    assert torch.equal(varied["integers shuffled"].args[0], call.args[0])


def test_a_gradient_of_zeros_is_none_only_where_the_backend_makes_it() -> None:
    none = CallOutcome(gradients={"weight": NO_GRADIENT})
    zeros = CallOutcome(gradients={"weight": torch.zeros(2)})
    some = CallOutcome(gradients={"weight": torch.tensor([0.0, 1e-9])})
    assert compare_outcomes(none, zeros, exact=False).problems
    allowed = compare_outcomes(none, zeros, exact=False, allow_zeros=True)
    assert (allowed.problems, allowed.zeros) == ([], 1)
    assert compare_outcomes(none, some, exact=False, allow_zeros=True).problems
    assert compare_outcomes(zeros, none, exact=False, allow_zeros=True).problems


def test_what_looks_nearly_the_same_is_not() -> None:
    def differ(one: object, other: object, *, exact: bool) -> bool:
        outcomes = (CallOutcome(outputs=flattened(value)) for value in (one, other))
        return bool(compare_outcomes(*outcomes, exact=exact).problems)

    assert differ(20000, 20001, exact=False)
    assert differ(1, 1.0, exact=False)
    assert not differ(1.0, 1.0000001, exact=False)
    assert differ(torch.tensor([0.0]), torch.tensor([-0.0]), exact=True)
    assert not differ(torch.tensor([0.0]), torch.tensor([-0.0]), exact=False)
    module = torch.nn.BatchNorm1d(100)
    before = CallOutcome(state=module_state(module))
    module.running_mean[:2] = torch.tensor([1.0, 2.0])
    between = CallOutcome(state=module_state(module))
    module.running_mean[:2] = torch.tensor([2.0, 1.0])
    after = CallOutcome(state=module_state(module))
    assert compare_outcomes(before, between, exact=True).problems
    assert compare_outcomes(between, after, exact=True).problems


def test_gradients_of_what_a_function_uses_from_outside_are_compared() -> None:
    net, bias = torch.nn.Linear(6, 6), torch.ones(6, requires_grad=True)

    def loss(x: torch.Tensor) -> torch.Tensor:
        return net(x) * (1 + bias)

    def without_bias(x: torch.Tensor) -> torch.Tensor:
        return net(x) * (1 + bias.detach())

    def without_net(x: torch.Tensor) -> torch.Tensor:
        return net(x).detach() * (1 + bias)

    found = outcome(loss, X).gradients
    assert {"weight", "bias"} <= {name.rpartition(".")[2] for name in found}
    assert len(found) == 3
    assert "gradients" in problems(loss, without_bias, X)
    assert "gradients" in problems(loss, without_net, X)


SEEN: list[int] = []


class Counter:
    def __init__(self) -> None:
        self.calls = 0


def test_names_that_a_function_reaches_are_compared_and_put_back() -> None:
    counter, limit = Counter(), 1

    def counting(x: torch.Tensor) -> torch.Tensor:
        nonlocal limit
        limit += 1
        counter.calls += 1
        SEEN.append(counter.calls)
        return x + 1

    target = CompiledTarget("f", counting, {})
    call = RecordedCall(target, (X,), {}, CallContext.current())
    state = run_call(call, counting, target).state
    values = {value for value in state.values() if isinstance(value, str)}
    assert {"1", "2"} <= values
    assert state["SEEN.0"] == "1"
    target.named.restore()
    assert (SEEN, counter.calls, limit) == ([], 0, 1)


def test_the_message_of_an_own_exception_counts_and_that_of_torch_does_not() -> None:
    def refuses(message: str) -> Callable[..., Any]:
        def refuse(x: torch.Tensor) -> torch.Tensor:
            raise ValueError(message)

        return refuse

    same = {"exact": True, "same_error": "own"}
    assert "another message" in problems(refuses("one"), refuses("two"), X, **same)
    assert not problems(lambda x: x @ x[:2], lambda x: x @ x[:3], X, **same)
