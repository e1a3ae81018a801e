"""The guard of one compiled frame: computes the values that tracing read, again at each call.

Before Dynamo runs compiled code, it checks the guards of that code. The last of them is the check
that `ValueGuard.build_check` returns. The check finds the inputs in the scope of the call and runs
a small graph on them. It compares the results with the values from tracing. If a value differs, the
check fails, and Dynamo uses other compiled code or compiles the function again.
"""

from __future__ import annotations

import functools
import itertools
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch._dynamo import guards
from torch._dynamo.source import GlobalStateSource
from torch.fx import Node

from fullgraph.value_guards.guard_log import GuardRecord, GuardTiming

# An attribute of Dynamo's guard managers. It marks variants that were compiled for one value.
MANAGER_MARK = "fullgraph_value_guard"
# Floating-point values are compared as integers of the same size.
_INTEGER_OF_SAME_SIZE = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
}
_MODULE_TABLE = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]")

# Takes the local variables of a call; returns objects that are found from there.
_ScopeReader = Callable[[Any], tuple[Any, ...]]


class _GuardedRead(NamedTuple):
    """A node of the guard's graph, and the value that it must have."""

    node: Node
    expected: Any
    record: GuardRecord


class ValueGuard:
    """Everything that one frame has read so far, as a graph from its inputs to the values."""

    def __init__(self) -> None:
        self.timing = GuardTiming()
        # Whether the graph mutates tensors; then it runs on copies of the inputs.
        self.mutates = False
        # Dynamo shows this as the reason for a recompile and keeps the list itself. It would
        # evaluate several lines as code, so the list always has one: the value that failed last.
        self.reason = ["value guard"]
        self._graph = torch.fx.Graph()
        self._copies: dict[Node, Node] = {}
        self._inputs: list[str] = []
        self._reads: list[_GuardedRead] = []
        self._disjoint_inputs: dict[tuple[str, str], None] = {}
        self._compute: Callable[..., tuple[Any, ...]] | None = None

    # While the frame is traced

    def install(self) -> None:
        """Add this guard to the guards of the frame that Dynamo is tracing."""
        # Not on the source of an input: Dynamo drops the guards of some sources.
        source = GlobalStateSource()
        guards.install_guard(source.make_guard(functools.partial(_value_guard, self)))

    def has_node(self, node: Node) -> bool:
        """Return whether the guard's graph has a copy of a traced node."""
        return node in self._copies

    def add_input(self, node: Node, expression: str) -> None:
        """Add an input that the expression finds at each call."""
        # At the front: the parameters of the generated function come before its body.
        with self._graph.inserting_before():
            self._copies[node] = self._graph.placeholder(f"input_{len(self._inputs)}")
        self._inputs.insert(0, expression)

    def add_node(self, node: Node, *, mutates: bool) -> None:
        """Add a copy of a traced node.

        Copy the node again if it mutates or is mutated: earlier reads need the value from before
        the mutation.
        """
        self.mutates |= mutates
        copy = self._graph.node_copy(node, lambda argument: self._copies[argument])
        # The metadata would keep the whole traced graph alive as long as the guard.
        copy.meta.clear()
        self._copies[node] = copy

    def add_read(
        self, node: Node, reader: Callable[..., Any] | None, expected: Any, record: GuardRecord
    ) -> None:
        """Require that a node, or `reader` of it, has the expected value at each call."""
        copy = self._copies[node]
        if reader is not None:
            copy = self._graph.call_function(reader, (copy,))
        self._reads.append(_GuardedRead(copy, expected, record))
        self.timing.reads += 1

    def require_no_overlap(self, read: list[str], mutated: list[str]) -> None:
        """Require that inputs do not share memory with inputs that were mutated before the read.

        If they shared memory, the program would read the mutated value.
        """
        self._disjoint_inputs.update(dict.fromkeys(itertools.product(read, mutated)))

    # When the frame has been traced

    def build_check(self, scope: Mapping[str, Any]) -> Callable[[Any], bool]:
        """Return the function that Dynamo calls with the local variables before each call."""
        names = {**guards._get_closure_vars(), "G": scope["G"]}
        inputs = _scope_reader(self._inputs, names)
        if self.mutates:
            inputs = _copying(inputs)
        pairs = [f"({read}, {mutated})" for read, mutated in self._disjoint_inputs]
        return _make_check(
            self, self._computation(), inputs, _scope_reader(pairs, names), self._reads
        )

    def _computation(self) -> Callable[..., tuple[Any, ...]]:
        """Return the guard's graph as a function from the inputs to the values."""
        if self._compute is None:  # Dynamo builds its guards twice if the user filters them.
            self._graph.output(tuple(read.node for read in self._reads))
            self._compute = torch.fx.GraphModule(torch.nn.Module(), self._graph).forward
            self._copies.clear()
        return self._compute

    # At each call

    def record_failure(self, record: GuardRecord) -> None:
        """Count a failed check, and name the value in the reason that Dynamo shows."""
        record.failed += 1
        self.reason[0] = (
            f"value guard: {record.input} gave {record.shown} at {record.file}:{record.line}"
        )


def _value_guard(guard: ValueGuard, builder: Any, _: Any) -> None:
    """Add the check to Dynamo's guard manager. Dynamo calls this and logs the function's name."""
    manager = builder.guard_manager
    # An epilogue guard runs last, when all other guards have passed.
    manager.root.add_epilogue_lambda_guard(guard.build_check(builder.scope), guard.reason, None)
    setattr(manager, MANAGER_MARK, True)


def _make_check(
    guard: ValueGuard,
    compute: Callable[..., tuple[Any, ...]],
    inputs: _ScopeReader,
    disjoint_inputs: _ScopeReader,
    reads: list[_GuardedRead],
) -> Callable[[Any], bool]:
    timing = guard.timing

    def passes(scope: Any) -> bool:
        started = time.perf_counter()
        try:
            arguments = inputs(scope)
            with (
                torch._C._DisableTorchDispatch(),
                torch._C.DisableTorchFunction(),
                torch._C._DisableAutocast(),
            ):
                if any(itertools.starmap(_share_memory, disjoint_inputs(scope))):
                    return False
                for value, read in zip(compute(*arguments), reads, strict=True):
                    if not is_identical(value, read.expected):
                        guard.record_failure(read.record)
                        return False
        except Exception:
            # No error occurred when the frame was traced, so this call differs from that one.
            return False
        finally:
            timing.checked += 1
            timing.seconds += time.perf_counter() - started
        return True

    return passes


def _scope_reader(expressions: list[str], names: dict[str, Any]) -> _ScopeReader:
    """Return a function that evaluates expressions for the local variables `L` of a call."""
    reader: _ScopeReader = eval(
        f"lambda L: ({''.join(f'{expression}, ' for expression in expressions)})", names
    )
    return reader


def _copying(inputs: _ScopeReader) -> _ScopeReader:
    return lambda scope: tuple(map(_copy, inputs(scope)))


def _copy(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    if not has_same_strides_when_cloned(value):
        raise ValueError("a copy of the input has other strides")
    return value.clone()


def has_same_strides_when_cloned(value: Any) -> bool:
    """Return whether a copy has the same strides.

    With other strides, an operation such as `contiguous` may return a view of the input but a new
    tensor for the copy, or the reverse. Then a mutation affects other tensors.
    """
    return not isinstance(value, torch.Tensor) or value.clone().stride() == value.stride()


def _share_memory(one: Any, other: Any) -> bool:
    return (
        isinstance(one, torch.Tensor)
        and isinstance(other, torch.Tensor)
        and one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
    )


def is_identical(value: Any, expected: Any) -> bool:
    """Return whether two values have the same type and bits: 0.0 differs from -0.0, nan is nan."""
    if not isinstance(expected, torch.Tensor):
        return type(value) is type(expected) and bool(value == expected)
    if value.dtype != expected.dtype or value.shape != expected.shape:
        return False
    integer = _INTEGER_OF_SAME_SIZE.get(value.dtype)
    if integer is not None:
        value, expected = value.view(integer), expected.view(integer)
    return bool(torch.equal(value, expected))


def is_comparable(value: Any) -> bool:
    """Return whether `is_identical` can compare a value."""
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point() or value.dtype in _INTEGER_OF_SAME_SIZE
    return type(value) in (int, bool)


def display_name(expression: str) -> str:
    """Return `self.a.b` for `L['self']._modules['a']._buffers['b']`."""
    name = re.sub(r"^[LG]\['([^']+)'\]", r"\1", expression)
    return _MODULE_TABLE.sub(r".\1", name)
