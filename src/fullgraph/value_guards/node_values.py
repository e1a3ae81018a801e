"""The values of graph nodes of one frame, computed from the real inputs of the traced call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node
from torch.multiprocessing.reductions import StorageWeakRef

from fullgraph.value_guards.concrete_eval import (
    ValueUnknown,
    concrete_mode,
    evaluate,
    matches_traced,
    storage_of,
    tensors_in,
)
from fullgraph.value_guards.frame_inputs import frame_input
from fullgraph.value_guards.mutations import MutationTracker
from fullgraph.value_guards.replayable_ops import is_replayable, operation_name
from fullgraph.value_guards.slices import ValueSlice, slice_for


class NodeValues:
    """Computes the values of nodes and caches them.

    While Dynamo traces a frame, every tensor of the program is a node of a graph and has only a
    fake value: a type and a size. This class runs the nodes on the real inputs instead.
    """

    def __init__(self, max_elements: int) -> None:
        self.mutations = MutationTracker()
        # The expression by which a guard finds each input in the scope of a call.
        self.expressions: dict[Node, str] = {}
        self._max_elements = max_elements
        self._values: dict[Node, Any] = {}
        # Memory that no operation may mutate: inputs, and values that are cached.
        self._protected: set[StorageWeakRef] = set()

    def __getitem__(self, node: Node) -> Any:
        """Return a value that has been computed before."""
        return self._values[node]

    def slice_for(self, tx: Any, node: Node) -> ValueSlice:
        """Return the nodes that a node's value depends on."""
        return slice_for(node, tx.output.graph, self.mutations)

    def compute(self, tx: Any, node: Node) -> Any:
        """Return the value of a node, or raise ValueUnknown with the reason why it has none."""
        value_slice = self.slice_for(tx, node)
        # First the checks that cost nothing: most values of a program are not known.
        for each in value_slice.nodes:
            self._check(tx, each, value_slice)
        for each in value_slice.recomputed:
            self._values.pop(each, None)
        missing = [each for each in value_slice.nodes if each not in self._values]
        if missing:
            with concrete_mode(self._protected):
                for each in missing:
                    self._run(each, value_slice)
            if value_slice.recomputed:
                self._require_traced_aliasing(value_slice.nodes)
            for each in missing:
                self._protect(self._values[each])
        return self._values[node]

    def apply(self, function: Callable[..., Any], node: Node) -> Any:
        """Return the result of a function for the computed value of a node, without caching it."""
        with concrete_mode(self._protected):
            return evaluate(function, (self._values[node],), {}, max_elements=self._max_elements)

    def is_view(self, node: Node) -> bool:
        """Return whether a computed value shares memory with an argument of its node."""
        argument_storages = {
            storage_of(tensor)
            for argument in node.all_input_nodes
            for tensor in tensors_in(self._values[argument])
        }
        return any(storage_of(each) in argument_storages for each in tensors_in(self._values[node]))

    def _check(self, tx: Any, node: Node, value_slice: ValueSlice) -> None:
        """Load a node that is an input; raise ValueUnknown for a node that cannot be computed."""
        if node.op in ("placeholder", "get_attr") and node in value_slice.recomputed:
            raise ValueUnknown("an input was mutated before the read")
        if node in self._values:
            return
        if node.op == "placeholder":
            self.expressions[node], self._values[node] = frame_input(tx, node, self._max_elements)
            self._protect(self._values[node])
        elif not is_replayable(node) and node not in value_slice.recomputed:
            raise ValueUnknown(f"{operation_name(node)} cannot run again in a guard")

    def _run(self, node: Node, value_slice: ValueSlice) -> None:
        args, kwargs = torch.fx.node.map_arg(
            (node.args, node.kwargs), lambda argument: self._values[argument]
        )
        _refuse_symbols((args, kwargs))
        result = evaluate(node.target, args, kwargs, max_elements=self._max_elements)
        if "example_value" in node.meta and not matches_traced(result, node.meta["example_value"]):
            raise ValueUnknown("the computed value does not have the traced type or size")
        self._values[node] = result
        if node not in value_slice.recomputed:
            # Later nodes of the slice may mutate recomputed values, but no others.
            self._protect(result)

    def _protect(self, value: Any) -> None:
        self._protected.update(map(storage_of, tensors_in(value)))

    def _require_traced_aliasing(self, nodes: list[Node]) -> None:
        """Raise ValueUnknown unless the same tensors share memory as in the traced graph.

        The effect of a mutation depends on it.
        """
        pairs = {
            (storage_of(fake), storage_of(value))
            for node in nodes
            for fake, value in zip(
                tensors_in(node.meta.get("example_value")),
                tensors_in(self._values[node]),
                strict=False,
            )
        }
        fakes, values = {fake for fake, _ in pairs}, {value for _, value in pairs}
        if not len(fakes) == len(pairs) == len(values):
            raise ValueUnknown("the computed values share memory differently than the traced ones")


def _refuse_symbols(arguments: Any) -> None:
    """Raise ValueUnknown for a symbol: only symbols that are inputs have a value at other calls."""

    def check(part: Any) -> Any:
        if isinstance(part, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            raise ValueUnknown("an argument is a symbolic number")
        return part

    torch.fx.node.map_aggregate(arguments, check)
