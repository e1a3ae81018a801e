"""Tracks which tensors have been mutated while a frame is traced, and by which nodes.

The mutations by an operation are seen in two ways: in the operators that run on fake tensors, and
in the version counters of its arguments. Either alone misses some. Mutations are kept per storage,
because a view, an alias or another input may be another tensor, with another counter, on the same
memory. The mutating node is kept because a guard can repeat mutations of tensors that the program
has created itself.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node
from torch.multiprocessing.reductions import StorageWeakRef

from fullgraph.value_guards.concrete_eval import (
    ValueUnknown,
    mutated_tensors,
    storage_of,
    tensors_in,
)
from fullgraph.value_guards.replayable_ops import (
    has_visible_mutations,
    is_replayable,
    is_replayable_mutation,
)


class NodeExecution:
    """One node while Dynamo runs it on fake tensors."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.argument_versions = [(tensor, _version(tensor)) for tensor in _arguments(node)]
        self.mutated_storages: set[StorageWeakRef] = set()
        # Autocast may change the written values without a trace in the type of the result.
        self.is_replayable = is_replayable_mutation(node) and not torch.is_autocast_enabled("cpu")

    def record_operator(self, func: Any, args: Any, kwargs: Any) -> None:
        """Note the mutations by one operator that the node runs."""
        schema = getattr(func, "_schema", None)
        if schema is not None:
            self.mutated_storages.update(map(storage_of, mutated_tensors(schema, args, kwargs)))


class MutationTracker:
    """The storages that have been mutated, or may have been, and the nodes that did it."""

    def __init__(self) -> None:
        # None instead of a list: at least one mutation cannot be repeated.
        self._mutating_nodes: dict[StorageWeakRef, list[Node] | None] = {}
        self._recorded: set[Node] = set()

    def record(self, execution: NodeExecution) -> None:
        """Add the arguments that a node has mutated. Tensors that the node creates do not count."""
        node = execution.node
        self._recorded.add(node)
        is_opaque = not has_visible_mutations(node)
        for tensor, version in execution.argument_versions:
            storage = storage_of(tensor)
            has_no_counter = version is None and not is_replayable(node)
            is_in_schema = storage in execution.mutated_storages
            if is_opaque or has_no_counter or is_in_schema or _version(tensor) != version:
                can_repeat = is_in_schema and not is_opaque and execution.is_replayable
                self._add(storage, node if can_repeat else None)

    def record_unexecuted(self, graph: torch.fx.Graph) -> None:
        """Add the arguments of nodes that Dynamo put into the graph without running them."""
        for node in graph.nodes:
            if node in self._recorded or not node.op.startswith("call_"):
                continue
            self._recorded.add(node)
            if not is_replayable(node) and not has_visible_mutations(node):
                for tensor in _arguments(node):
                    self._add(storage_of(tensor), None)

    def _add(self, storage: StorageWeakRef, node: Node | None) -> None:
        nodes = self._mutating_nodes.setdefault(storage, [])
        if node is None or nodes is None:
            self._mutating_nodes[storage] = None
        elif node not in nodes:
            nodes.append(node)

    def has_mutations(self) -> bool:
        """Return whether anything has been mutated."""
        return bool(self._mutating_nodes)

    def is_mutated(self, node: Node) -> bool:
        """Return whether the memory of a node's result has been mutated."""
        return any(storage_of(tensor) in self._mutating_nodes for tensor in _fake_tensors(node))

    def mutating_nodes(self, node: Node) -> list[Node]:
        """Return the nodes that have mutated a node's memory.

        Raises ValueUnknown if one of the mutations cannot be repeated.
        """
        found: list[Node] = []
        for tensor in _fake_tensors(node):
            nodes = self._mutating_nodes.get(storage_of(tensor), [])
            if nodes is None:
                raise ValueUnknown("the tensor was mutated in a way that a guard cannot repeat")
            found += nodes
        return found


def _fake_tensors(node: Node) -> list[torch.Tensor]:
    """Return the fake tensors that represent a node's result."""
    return tensors_in(node.meta.get("example_value"))


def _arguments(node: Node) -> list[torch.Tensor]:
    return [tensor for argument in node.all_input_nodes for tensor in _fake_tensors(argument)]


def _version(tensor: torch.Tensor) -> int | None:
    """Return a tensor's version counter; None for a tensor of inference mode, which has none."""
    return None if tensor.is_inference() else tensor._version
