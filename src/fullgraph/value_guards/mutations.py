"""Which tensors have been written to while a frame is traced.

What an operation writes to is seen in the operators that fake tensors run for it, and in the
version counters of the tensors that it gets; either alone misses some. Writes are kept by storage,
because a view, an alias or another input may be another tensor with another counter on the same
memory. Who wrote is kept as well: what a program made itself and wrote to can be made and written
to again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import Node
from torch.multiprocessing.reductions import StorageWeakRef

from fullgraph.value_guards.concrete_eval import Refused
from fullgraph.value_guards.replayable_ops import can_run_again, can_write_again, is_understood


class Run:
    """One operation while it runs on fake tensors."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.before = [(tensor, _version(tensor)) for tensor in _arguments(node)]
        self.noted: set[StorageWeakRef] = set()
        # Autocast may change what is written, and leaves no trace in the type of the result.
        self.can_be_repeated = can_write_again(node) and not torch.is_autocast_enabled("cpu")

    def note(self, func: Any, args: Any, kwargs: Any) -> None:
        """An operator that it has come to."""
        schema = getattr(func, "_schema", None)
        if schema is None or not schema.is_mutable:
            return
        for position, argument in enumerate(schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                given = args[position] if position < len(args) else kwargs.get(argument.name)
                self.noted.update(_storage(tensor) for tensor in _tensors(given))


class Writes:
    """The storages that have been written to, or may have been, and by which operations."""

    def __init__(self) -> None:
        # None: by something that cannot be done again.
        self._writers: dict[StorageWeakRef, list[Node] | None] = {}
        self._seen: set[Node] = set()

    def add(self, run: Run) -> None:
        """What an operation has written to of what it was given; what it has made is its own."""
        self._seen.add(run.node)
        opaque = not is_understood(run.node)
        for tensor, version in run.before:
            unclear = version is None and not can_run_again(run.node)
            noted = _storage(tensor) in run.noted
            if opaque or unclear or noted or _version(tensor) != version:
                repeatable = noted and not opaque and run.can_be_repeated
                self._write(_storage(tensor), run.node if repeatable else None)

    def _write(self, storage: StorageWeakRef, writer: Node | None) -> None:
        writers = self._writers.setdefault(storage, [])
        if writer is None or writers is None:
            self._writers[storage] = None
        elif writer not in writers:
            writers.append(writer)

    def catch_up(self, graph: torch.fx.Graph) -> None:
        """Operations that came into the graph without being run on fake tensors."""
        for node in graph.nodes:
            if node in self._seen or not node.op.startswith("call_"):
                continue
            self._seen.add(node)
            if not can_run_again(node) and not is_understood(node):
                for tensor in _arguments(node):
                    self._write(_storage(tensor), None)

    def reached(self, node: Node) -> bool:
        return any(_storage(tensor) in self._writers for tensor in tensors_of(node))

    def writers(self, node: Node) -> list[Node]:
        """The operations that have written to a node's memory, if they can all be done again."""
        found: list[Node] = []
        for tensor in tensors_of(node):
            writers = self._writers.get(_storage(tensor), [])
            if writers is None:
                raise Refused("has been written to")
            found += writers
        return found

    def __bool__(self) -> bool:
        return bool(self._writers)


def tensors_of(node: Node) -> Iterator[torch.Tensor]:
    """The fake tensors that stand for a node's result."""
    return _tensors(node.meta.get("example_value"))


def _arguments(node: Node) -> list[torch.Tensor]:
    return [tensor for argument in node.all_input_nodes for tensor in tensors_of(argument)]


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _tensors(part)


def _version(tensor: torch.Tensor) -> int | None:
    """None for a tensor of inference mode, which does not count."""
    return None if tensor.is_inference() else tensor._version


def _storage(tensor: torch.Tensor) -> StorageWeakRef:
    return StorageWeakRef(tensor.untyped_storage())
