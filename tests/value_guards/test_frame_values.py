"""Frames in which no value is known, and the order of mutations."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._dynamo import compiled_autograd, config
from torch._dynamo.source import LocalSource
from torch._dynamo.variables.builder import GraphArg
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from fullgraph.value_guards import GuardLog
from fullgraph.value_guards.concrete_eval import ValueUnknown
from fullgraph.value_guards.frame_values import FrameValues, GuardScope, frame_values
from fullgraph.value_guards.mutations import MutationTracker, NodeExecution
from fullgraph.value_guards.slices import slice_for
from tests.value_guards.run_and_compare import ints

# Dynamo requires a fake tensor beside each tensor; value guards do not use it.
FAKE = FakeTensorMode().from_tensor(ints(1, 2))


def traced_frame(**changes: Any) -> Any:
    """A stand-in for Dynamo's translator of a frame that has never been compiled."""

    def function() -> None:
        pass

    tracer = object()
    output = SimpleNamespace(
        export=False,
        package=None,
        current_tracer=tracer,
        root_tracer=tracer,
        root_tx=SimpleNamespace(f_code=function.__code__),
        graph=Graph(),
    )
    for name, value in changes.items():
        setattr(output, name, value)
    return SimpleNamespace(output=output)


def new_values() -> FrameValues:
    return FrameValues(GuardScope(GuardLog(), 4096, 8))


def constant_node(tx: Any) -> Node:
    return tx.output.graph.call_function(torch.tensor, ([1, 2],))


def reason(tx: Any) -> str:
    with pytest.raises(ValueUnknown) as error:
        new_values().value(tx, constant_node(tx))
    return str(error.value)


def test_a_value_of_constants() -> None:
    tx = traced_frame()
    assert new_values().value(tx, constant_node(tx)).tolist() == [1, 2]


def test_frames_without_known_values(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reason(traced_frame(export=True)) == "exported and precompiled code keeps no guards"
    assert reason(traced_frame(package=object())) == "exported and precompiled code keeps no guards"
    assert "higher-order operator" in reason(traced_frame(current_tracer=object()))
    with config.patch(caching_precompile=True):
        assert "precompiled" in reason(traced_frame())
    monkeypatch.setattr(compiled_autograd, "in_compiled_autograd_region", True)
    assert reason(traced_frame()) == "the frame is a backward pass"


def test_a_frame_that_is_disabled_knows_no_more_values() -> None:
    tx, values = traced_frame(), new_values()
    values.value(tx, constant_node(tx))
    values.disable(RuntimeError("broken"))
    with pytest.raises(ValueUnknown, match="internal error"):
        values.value(tx, constant_node(tx))
    assert values.scope.log.notes == ["internal error in value guards: RuntimeError: broken"]


def test_each_graph_has_its_own_values() -> None:
    scope = GuardScope(GuardLog(), 4096, 8)
    tx, restarted = traced_frame(), traced_frame()
    assert frame_values(tx, scope) is frame_values(tx, scope)
    assert frame_values(tx, scope) is not frame_values(restarted, scope)


def with_fake_value(node: Node, value: Any) -> Node:
    node.meta["example_value"] = value
    return node


def run_node(tracker: MutationTracker, node: Node, *mutated: torch.Tensor) -> None:
    """Record a node that mutates tensors in place by `add_`."""
    execution = NodeExecution(node)
    for tensor in mutated:
        execution.record_operator(torch.ops.aten.add_.Tensor, (tensor, 1), {})
    tracker.record(execution)


def test_a_slice_has_the_mutations_in_the_order_of_the_program() -> None:
    graph, tracker, memory = Graph(), MutationTracker(), ints(1, 2)
    base = with_fake_value(graph.call_function(torch.zeros, (2,)), memory)
    added = with_fake_value(graph.call_method("add_", (base, 1)), memory)
    read = with_fake_value(graph.call_method("sum", (base,)), memory.sum())
    unrelated = with_fake_value(graph.call_function(torch.ones, (2,)), ints(1, 1))
    run_node(tracker, added, memory)
    found = slice_for(read, graph, tracker)
    assert found.nodes == [base, added, read]
    assert found.recomputed == {base, added}
    assert slice_for(unrelated, graph, tracker) == ([unrelated], frozenset())


def test_a_mutation_in_another_graph_is_refused() -> None:
    graph, other, tracker, memory = Graph(), Graph(), MutationTracker(), ints(1, 2)
    base = with_fake_value(graph.call_function(torch.zeros, (2,)), memory)
    elsewhere = with_fake_value(other.call_function(torch.zeros, (2,)), memory)
    run_node(tracker, other.call_method("add_", (elsewhere, 1)), memory)
    with pytest.raises(ValueUnknown, match="another graph"):
        slice_for(base, graph, tracker)


def graph_input(tx: Any, name: str, value: torch.Tensor) -> Node:
    """Add an input of the frame to its graph."""
    node = with_fake_value(tx.output.graph.placeholder(name), value.clone())
    node.meta["grapharg"] = GraphArg(LocalSource(name), value, False, FAKE)
    tx.output.global_scope, tx.output.local_scope = {}, {name: value}
    return node


def read_refusal(values: FrameValues, tx: Any, node: Node) -> str:
    with pytest.raises(ValueUnknown) as error:
        values.read(tx, node)
    return str(error.value)


def test_a_frame_without_guards_is_refused() -> None:
    guards_context = SimpleNamespace(skip_install=True)
    tx = traced_frame(tracing_context=SimpleNamespace(guards_context=guards_context))
    t = ints(1, 2)
    assert read_refusal(new_values(), tx, graph_input(tx, "t", t)) == "Dynamo traces without guards"


def test_a_mutated_input_without_a_name_is_refused() -> None:
    tx, values, t = traced_frame(), new_values(), ints(1, 2)
    mutated = with_fake_value(tx.output.graph.placeholder("unnamed"), ints(3, 4))
    read = graph_input(tx, "t", t)
    run_node_of(values, mutated)
    assert read_refusal(values, tx, read) == "an input without a name was mutated"


def test_a_mutated_input_that_shares_memory_is_refused() -> None:
    tx, values, t = traced_frame(), new_values(), ints(1, 2)
    view = t[:]
    mutated = graph_input(tx, "view", view)
    read = graph_input(tx, "t", t)
    run_node_of(values, mutated)
    assert read_refusal(values, tx, read) == "the value shares memory with a mutated input"


def run_node_of(values: FrameValues, mutated: Node) -> None:
    """Record `mutated.add_(1)`."""
    execution = NodeExecution(mutated.graph.call_method("add_", (mutated, 1)))
    memory = mutated.meta["example_value"]
    execution.record_operator(torch.ops.aten.add_.Tensor, (memory, 1), {})
    values.record_execution(execution)


def test_values_must_share_memory_as_in_the_traced_graph() -> None:
    tx, values, memory = traced_frame(), new_values(), ints(0, 0)
    graph = tx.output.graph
    base = with_fake_value(graph.call_function(torch.tensor, ([0, 0],)), memory)
    # The trace says that the copy is the same memory.
    copy = with_fake_value(graph.call_method("clone", (base,)), memory)
    run_node_of(values, copy)
    with pytest.raises(ValueUnknown, match="share memory differently"):
        values.value(tx, copy)


def test_a_symbolic_argument_is_refused() -> None:
    tx = traced_frame()
    symbol = ShapeEnv().create_unbacked_symint()
    node = tx.output.graph.call_function(torch.zeros, (2,))
    node.args = (symbol,)
    with pytest.raises(ValueUnknown, match="symbolic number"):
        new_values().value(tx, node)


def opaque(t: Any) -> Any:
    return t


def test_an_opaque_function_may_mutate_its_arguments() -> None:
    graph, tracker = Graph(), MutationTracker()
    base = with_fake_value(graph.call_function(torch.zeros, (2,)), ints(1, 2))
    assert not tracker.has_mutations()
    graph.call_function(opaque, (base,))
    tracker.record_unexecuted(graph)
    assert tracker.has_mutations()
    assert tracker.is_mutated(base)
    with pytest.raises(ValueUnknown, match="cannot repeat"):
        tracker.mutating_nodes(base)


def test_one_mutation_that_cannot_be_repeated_is_enough() -> None:
    graph, tracker, memory = Graph(), MutationTracker(), ints(1, 2)
    base = with_fake_value(graph.call_function(torch.zeros, (2,)), memory)
    added = graph.call_method("add_", (base, 1))
    run_node(tracker, added, memory)
    run_node(tracker, added, memory)
    assert tracker.mutating_nodes(base) == [added]
    run_node(tracker, graph.call_function(opaque, (base,)))
    run_node(tracker, added, memory)
    with pytest.raises(ValueUnknown, match="cannot repeat"):
        tracker.mutating_nodes(base)


def test_a_mutation_that_shows_in_the_version_counter_only() -> None:
    graph, tracker, memory = Graph(), MutationTracker(), ints(1, 2)
    base = with_fake_value(graph.call_function(torch.zeros, (2,)), memory)
    execution = NodeExecution(graph.call_method("add_", (base, 1)))
    memory.add_(1)
    tracker.record(execution)
    with pytest.raises(ValueUnknown, match="cannot repeat"):
        tracker.mutating_nodes(base)


def test_inference_tensors_have_no_version_counter() -> None:
    graph, tracker = Graph(), MutationTracker()
    with torch.inference_mode():
        memory = ints(1, 2) + 0
    base = with_fake_value(graph.call_function(torch.zeros, (2,)), memory)
    run_node(tracker, graph.call_method("sum", (base,)))
    assert not tracker.is_mutated(base)
    run_node(tracker, graph.call_method("add_", (base, 1)))
    assert tracker.is_mutated(base)
