"""The `value_guards` block: Dynamo afterwards, other threads, internal errors, the log."""

from __future__ import annotations

import dis
import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo import symbolic_convert, utils
from torch._dynamo.exc import RestartAnalysis
from torch._dynamo.testing import CompileCounter
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.tensor import TensorVariable

import fullgraph
from fullgraph.value_guards import ValueGuardError, value_guards
from tests.value_guards.run_and_compare import X, ints, run


def read(t: Tensor) -> Tensor:
    return X[: t[0].item()] * t[1]


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


def patched_attributes() -> list[Any]:
    tables = [
        kind.dispatch_table[code]
        for kind in (
            symbolic_convert.InstructionTranslatorBase,
            symbolic_convert.InstructionTranslator,
            symbolic_convert.InliningInstructionTranslator,
        )
        for code in dis.opmap.values()
    ]
    return [
        *tables,
        TensorVariable.method_item,
        TensorVariable.method_tolist,
        BuiltinVariable.call_function,
        utils._get_fake_value_impl,
    ]


def test_dynamo_is_restored_after_the_block() -> None:
    before = patched_attributes()
    with value_guards(), value_guards():
        assert patched_attributes() != before
        torch.compile(read, backend="eager")(ints(1, 3))
    assert patched_attributes() == before
    with pytest.raises(ZeroDivisionError), value_guards():
        raise ZeroDivisionError
    assert patched_attributes() == before


def test_the_graph_breaks_again_after_the_block() -> None:
    with value_guards():
        pass
    with fullgraph.watch() as session:
        torch.compile(read, backend="eager")(ints(1, 3))
    assert len(session.sites) == 1


def test_guards_are_checked_after_the_block() -> None:
    counter = CompileCounter()
    compiled = torch.compile(read, backend=counter)
    with value_guards() as log:
        compiled(ints(1, 3))
    checked = log.guards[0].checked
    assert torch.equal(compiled(ints(1, 4)), read(ints(1, 4)))
    assert counter.frame_count == 1
    assert log.guards[0].checked == checked + 1
    assert torch.equal(compiled(ints(2, 4)), read(ints(2, 4)))
    assert log.guards[0].failed > 0


def test_the_log_has_the_line_and_the_value() -> None:
    ran = run(read, [(ints(1, 3),)])
    guard = ran.log.guards[0]
    assert Path(guard.file) == Path(__file__)
    assert (guard.line, guard.function) == (read.__code__.co_firstlineno + 1, "read")
    assert (guard.input, guard.kind, guard.shown) == ("t", "value", "1")
    assert guard.checked > 0
    assert guard.seconds > 0


def test_the_log_has_the_reason_of_a_refusal() -> None:
    def activation(x: Tensor) -> Tensor:
        return X * x.sum().item()

    ran = run(activation, [(X,)])
    assert ran.log.refusals == {
        (
            __file__,
            activation.__code__.co_firstlineno + 1,
            "activation",
        ): "the input is not an integer tensor"
    }


def test_the_reason_of_a_recompile_names_the_value() -> None:
    compiled = torch.compile(read, backend="eager")
    with value_guards(), fullgraph.watch() as session:
        compiled(ints(1, 3))
        compiled(ints(2, 3))
    (recompile,) = session.report().recompiles
    assert "value guard: t gave 1" in str(recompile)


def test_a_guard_filter() -> None:
    filtered = {"guard_filter_fn": lambda entries: [True for _ in entries]}
    ran = run(read, [(ints(1, 3),), (ints(2, 3),), (ints(1, 4),)], options=filtered)
    assert ran.graphs == 2


def test_branches_on_other_types_get_no_guards() -> None:
    def branches(x: Tensor, flag: int, name: str) -> Tensor:
        return x + 1 if flag and name else x - 1

    plain = CompileCounter()
    compiled = torch.compile(branches, backend=plain)
    for flag, name in ((1, "a"), (2, "b"), (3, "c"), (0, "d")):
        compiled(X, flag, name)
    ran = run(branches, [(X, 1, "a"), (X, 2, "b"), (X, 3, "c"), (X, 0, "d")])
    assert ran.graphs == plain.frame_count


def test_a_guard_does_not_keep_the_traced_graph_alive() -> None:
    nodes: list[weakref.ref[Any]] = []

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        nodes.extend(weakref.ref(node) for node in graph.graph.nodes)
        return lambda *args: (X[:1] * 3,)

    with value_guards() as log:
        torch.compile(read, backend=backend)(ints(1, 3))
    gc.collect()
    assert log.guards
    assert nodes
    assert not [node for node in nodes if node() is not None]


def test_another_thread_is_refused_and_compiles_without_value_guards() -> None:
    outcomes: list[Any] = []

    def in_another_thread() -> None:
        try:
            with value_guards():
                pass
        except ValueGuardError as error:
            outcomes.append(error)
        with fullgraph.watch() as session:
            torch.compile(read, backend="eager")(ints(1, 3))
        outcomes.append(len(session.sites))

    with value_guards() as log:
        thread = threading.Thread(target=in_another_thread)
        thread.start()
        thread.join()
    assert isinstance(outcomes[0], ValueGuardError)
    assert outcomes[1] == 1
    assert log.guards == []


def test_the_same_thread_may_open_a_block_after_another_thread() -> None:
    def in_another_thread() -> None:
        with value_guards():
            pass

    for _ in range(2):
        thread = threading.Thread(target=in_another_thread)
        thread.start()
        thread.join()
        with value_guards():
            pass


def test_a_wrapper_of_other_code_stays_after_the_block() -> None:
    original = BuiltinVariable.call_function
    calls: list[Any] = []
    try:
        with value_guards():
            replacement = BuiltinVariable.call_function

            def wrapper(self: Any, *args: Any) -> Any:
                calls.append(self.fn)
                return replacement(self, *args)

            BuiltinVariable.call_function = wrapper
        assert BuiltinVariable.call_function is wrapper
        with fullgraph.watch() as session:
            torch.compile(loops, backend="eager")(ints(2, 3))
        assert len(session.sites) == 1
        assert range in calls
    finally:
        BuiltinVariable.call_function = original


def loops(t: Tensor) -> Tensor:
    x = X
    for i in range(t[0]):
        x = x + i
    return x


def broken(*args: Any) -> Any:
    raise RuntimeError("a bug")


@pytest.mark.parametrize(
    "place",
    [
        "fullgraph.value_guards.dynamo_patches.frame_values",
        "fullgraph.value_guards.frame_values.FrameValues.read",
    ],
)
def test_an_internal_error_leaves_the_graph_break(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(place, broken)
    with value_guards() as log, fullgraph.watch() as session:
        result = torch.compile(read, backend="eager")(ints(1, 3))
    assert torch.equal(result, read(ints(1, 3)))
    assert len(session.sites) == 1
    assert log.notes == ["internal error in value guards: RuntimeError: a bug"]


def masks(t: Tensor) -> Tensor:
    return X[torch.cat([t, t, t]) > 2]


def test_an_internal_error_in_a_rewrite_leaves_the_graph_break(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fullgraph.value_guards.static_sizes._guarded_count", broken)
    with value_guards() as log, fullgraph.watch() as session:
        result = torch.compile(masks, backend="eager")(ints(1, 3))
    assert torch.equal(result, masks(ints(1, 3)))
    assert len(session.sites) == 1
    assert log.notes == ["internal error in value guards: RuntimeError: a bug"]


def test_dynamo_may_restart_its_analysis_during_a_rewrite(monkeypatch: pytest.MonkeyPatch) -> None:
    from fullgraph.value_guards import static_sizes

    original, restarts = static_sizes._guarded_count, []

    def restarts_once(*args: Any) -> int:
        if not restarts:
            restarts.append(True)
            raise RestartAnalysis(restart_reason="a test")
        return original(*args)

    monkeypatch.setattr(static_sizes, "_guarded_count", restarts_once)
    assert run(masks, [(ints(1, 3),)]).sites == 0
    assert restarts


def test_a_range_of_other_tensors_gets_no_guards() -> None:
    def over_a_boolean(t: Tensor) -> Tensor:
        return X * len(range(t[0] > 0))

    def over_a_list(t: Tensor) -> Tensor:
        return X * len(range(t))

    assert run(over_a_boolean, [(ints(1, 3),)]).results[0] is not None
    assert isinstance(run(over_a_list, [(ints(1, 3),)]).results[0], TypeError)


def test_the_item_of_a_larger_tensor_raises_as_in_eager_mode() -> None:
    ran = run(lambda t: X * t.item(), [(ints(1, 3),)])
    assert isinstance(ran.results[0], RuntimeError)
    assert ran.log.guards == []


def test_a_long_value_is_shortened_in_the_log() -> None:
    ran = run(lambda t: X * sum(t.tolist()), [(torch.arange(100),)])
    assert len(ran.log.guards[0].shown) == 60
    assert ran.log.guards[0].shown.endswith("…")
