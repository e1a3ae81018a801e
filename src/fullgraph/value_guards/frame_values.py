"""One frame while it is traced: the values that tracing reads, and the guard on them.

A frame is one call of a Python function that Dynamo traces, with everything it inlines. Dynamo's
`InstructionTranslator`, here always called `tx`, executes the frame's bytecode symbolically. It
adds nodes to one graph, `tx.output.graph`, and `FrameValues` belongs to one such graph.

`FrameValues` answers one question: which value does a node have in the call that is being traced?
Each answer that tracing uses goes through `FrameValues.read`, which adds it to the frame's guard.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._dynamo import compiled_autograd, config
from torch.fx import Node

from fullgraph.value_guards.concrete_eval import ValueUnknown, storage_of, tensors_in
from fullgraph.value_guards.frame_inputs import graph_arg_of
from fullgraph.value_guards.guard import (
    MANAGER_MARK,
    ValueGuard,
    display_name,
    has_same_strides_when_cloned,
    is_comparable,
)
from fullgraph.value_guards.guard_log import GuardLog, GuardRecord, Kind
from fullgraph.value_guards.mutations import NodeExecution
from fullgraph.value_guards.node_values import NodeValues

_TORCH_FOLDER = os.path.dirname(torch.__file__) + os.sep
_MAX_SHOWN = 60
# The attribute of an OutputGraph that holds its FrameValues.
_ATTRIBUTE = "fullgraph_frame_values"


class GuardScope(NamedTuple):
    """The options and the log of one `value_guards` block."""

    log: GuardLog
    max_elements: int
    max_variants: int


def frame_values(tx: Any, scope: GuardScope) -> FrameValues:
    """Return the values of the frame that `tx` traces; the first call creates them.

    When Dynamo restarts its analysis of a frame, it creates a new graph, so the values are new too.
    """
    values: FrameValues | None = getattr(tx.output, _ATTRIBUTE, None)
    if values is None:
        values = FrameValues(scope)
        setattr(tx.output, _ATTRIBUTE, values)
    return values


class FrameValues:
    """The known values of one frame, and the guard of the frame."""

    def __init__(self, scope: GuardScope) -> None:
        self.scope = scope
        self._nodes = NodeValues(scope.max_elements)
        self._guard: ValueGuard | None = None
        self._guarded: set[tuple[Node, Any]] = set()
        self._is_frame_checked = False
        # The reason why no value of this frame is known.
        self._frame_refusal: str | None = None

    def read(
        self,
        tx: Any,
        node: Node,
        kind: Kind = "value",
        reader: Callable[..., Any] | None = None,
    ) -> Any:
        """Return the value of a node, or `reader(value)`, and guard on it.

        Raises ValueUnknown if the value is not known or cannot be guarded.
        """
        value = self.value(tx, node)
        if reader is not None:
            value = self._nodes.apply(reader, node)
        if not is_comparable(value):
            raise ValueUnknown("a guard cannot compare the value exactly")
        if (node, reader) not in self._guarded:
            self._add_to_guard(tx, node, kind, reader, value)
            self._guarded.add((node, reader))
        return value

    def value(self, tx: Any, node: Node) -> Any:
        """Return the value of a node without a guard; the caller must not use it for tracing.

        Raises ValueUnknown if the value is not known.
        """
        if not self._is_frame_checked:
            self._is_frame_checked = True
            self._frame_refusal = self._frame_refusal or _frame_refusal(tx, self.scope)
        if self._frame_refusal is not None:
            raise ValueUnknown(self._frame_refusal)
        if tx.output.current_tracer is not tx.output.root_tracer:
            raise ValueUnknown("the value is read in the body of a higher-order operator")
        return self._nodes.compute(tx, node)

    def is_view(self, node: Node) -> bool:
        """Return whether a known value shares memory with an argument of its node."""
        return self._nodes.is_view(node)

    def record_execution(self, execution: NodeExecution) -> None:
        """Track the mutations by a node that Dynamo has run on fake tensors."""
        self._nodes.mutations.record(execution)

    def log_refusal(self, tx: Any, refusal: ValueUnknown) -> None:
        """Log that the value that the current line reads is not known."""
        self.scope.log.refuse(*source_line(tx), str(refusal))

    def disable(self, error: Exception) -> None:
        """Treat all further values of this frame as unknown; existing guards stay."""
        self._frame_refusal = "an internal error in value guards"
        log_internal_error(self.scope.log, error)

    def _add_to_guard(
        self, tx: Any, node: Node, kind: Kind, reader: Callable[..., Any] | None, value: Any
    ) -> None:
        nodes, recomputed = self._nodes.slice_for(tx, node)
        inputs = [self._nodes.expressions[each] for each in nodes if each.op == "placeholder"]
        if not inputs:
            return  # The value is computed from constants alone and cannot change.
        mutated_inputs = self._mutated_inputs(tx, nodes)
        guard = self._installed_guard(tx)
        if recomputed or guard.mutates:
            self._require_exact_copies()
        for each in nodes:
            if each.op == "placeholder":
                if not guard.has_node(each):
                    guard.add_input(each, self._nodes.expressions[each])
            elif each in recomputed or not guard.has_node(each):
                guard.add_node(each, mutates=each in recomputed)
        expected = value.detach().clone() if isinstance(value, torch.Tensor) else value
        names = ", ".join(dict.fromkeys(map(display_name, inputs)))
        record = GuardRecord(*source_line(tx), names, kind, _shown(value), guard.timing)
        guard.add_read(node, reader, expected, record)
        guard.require_no_overlap(inputs, mutated_inputs)
        self.scope.log.guards.append(record)

    def _installed_guard(self, tx: Any) -> ValueGuard:
        if self._guard is None:
            if tx.output.tracing_context.guards_context.skip_install:
                raise ValueUnknown("Dynamo traces without guards")
            guard = ValueGuard()
            guard.install()
            self._guard = guard
        return self._guard

    def _require_exact_copies(self) -> None:
        """Raise ValueUnknown unless a guard can copy all inputs: it mutates copies, not inputs."""
        values = (self._nodes[node] for node in self._nodes.expressions)
        if not all(map(has_same_strides_when_cloned, values)):
            raise ValueUnknown("a copy of an input would have other strides")

    def _mutated_inputs(self, tx: Any, nodes: list[Node]) -> list[str]:
        """Return the expressions of all inputs that have been mutated so far.

        Raises ValueUnknown if one of them shares memory with the values of `nodes`.
        """
        mutations = self._nodes.mutations
        expressions: list[str] = []
        if not mutations.has_mutations():
            return expressions
        read = {storage_of(tensor) for node in nodes for tensor in tensors_in(self._nodes[node])}
        for node in tx.output.graph.nodes:
            if node.op not in ("placeholder", "get_attr") or not mutations.is_mutated(node):
                continue
            graph_arg = graph_arg_of(node)
            if graph_arg is None:
                raise ValueUnknown("an input without a name was mutated")
            if any(storage_of(tensor) in read for tensor in tensors_in(graph_arg.example)):
                raise ValueUnknown("the value shares memory with a mutated input")
            expressions.append(graph_arg.source.name)
        return expressions


def log_internal_error(log: GuardLog, error: Exception) -> None:
    """Log an error of this package; the program is compiled as without value guards."""
    log.note(f"internal error in value guards: {type(error).__name__}: {error}")


def source_line(tx: Any) -> tuple[str, int, str]:
    """Return file, line and function of the innermost traced code that is not torch's own."""
    current = tx
    while current.parent is not None and current.f_code.co_filename.startswith(_TORCH_FOLDER):
        current = current.parent
    positions = current.current_instruction.positions
    line = positions.lineno if positions is not None and positions.lineno else current.lineno
    return current.f_code.co_filename, line, current.f_code.co_name


def _frame_refusal(tx: Any, scope: GuardScope) -> str | None:
    """Return the reason why value guards do not apply to a frame; None if they do."""
    output = tx.output
    if output.export or getattr(output, "package", None) is not None or config.caching_precompile:
        return "exported and precompiled code keeps no guards"
    if compiled_autograd.in_compiled_autograd_region:
        return "the frame is a backward pass"
    return _limit_refusal(output.root_tx.f_code, scope)


def _limit_refusal(code: Any, scope: GuardScope) -> str | None:
    """Return the reason why a function gets no further variant; None if it may get one."""
    entries = _debug_get_cache_entry_list(code)
    variants = sum(hasattr(entry.guard_manager, MANAGER_MARK) for entry in entries)
    # Dynamo's limit minus one: the last compile has no value guard and serves all other values.
    if variants < scope.max_variants and len(entries) < config.recompile_limit - 1:
        return None
    scope.log.note(
        f"{code.co_name} ({code.co_filename}:{code.co_firstlineno}) has been compiled "
        f"{len(entries)} times, {variants} of them for different values; "
        "it now breaks as without value guards"
    )
    return "the function has been compiled for too many values"


def _shown(value: Any) -> str:
    text = str(value.tolist() if isinstance(value, torch.Tensor) else value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
