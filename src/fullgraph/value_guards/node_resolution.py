"""One graph node: Dynamo's fake value for it, or that of an equivalent node of known size.

For every operation that Dynamo traces, it adds a node to the graph and runs the operation on fake
tensors. The result, the node's fake value, tells the type and the size. If the size is
data-dependent, Dynamo either breaks the graph or creates an unbacked symbol for the size. This
module then changes the node, so that its size is known, and asks Dynamo again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch._dynamo.exc import TorchDynamoException, TorchRuntimeError, Unsupported, UserError
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from fullgraph.value_guards.concrete_eval import ValueUnknown, tensors_in
from fullgraph.value_guards.frame_values import FrameValues
from fullgraph.value_guards.mutations import NodeExecution
from fullgraph.value_guards.static_sizes import (
    StaticSize,
    has_static_size_form,
    make_size_static,
    replace_by_result,
    replace_scalar_arguments,
)


class _Resolved(NamedTuple):
    """The fake value of a node that has been changed."""

    fake_value: Any


def fake_value(tx: Any, values: FrameValues, node: Node, ask_dynamo: Callable[[], Any]) -> Any:
    """Return the fake value of a node; `ask_dynamo` returns Dynamo's own or raises a break.

    The node is changed where its size is data-dependent and the data is known.
    """
    execution = NodeExecution(node)
    try:
        with _operators_recorded(tx.fake_mode, execution):
            return _NodeResolution(tx, values, node, ask_dynamo).fake_value()
    finally:
        values.record_execution(execution)


class _NodeResolution:
    """The attempts to find the fake value of one node."""

    def __init__(
        self, tx: Any, values: FrameValues, node: Node, ask_dynamo: Callable[[], Any]
    ) -> None:
        self._tx, self._values, self._node = tx, values, node
        self._ask_dynamo = ask_dynamo
        self._original = (node.op, node.target, node.args, node.kwargs)
        # Dynamo requires that each new unbacked symbol appears in a fake value.
        self._symbols = tx.fake_mode.shape_env.pending_fresh_unbacked_symbols

    def fake_value(self) -> Any:
        """Return the fake value, or raise Dynamo's break."""
        if has_static_size_form(self._node):
            resolved = self._attempt(make_size_static)
            if resolved is not None:
                return resolved.fake_value
        earlier_symbols = list(self._symbols)
        try:
            result = self._ask_dynamo()
        except (Unsupported, UserError):
            resolved = self._resolve()
            if resolved is None:
                raise
        else:
            if not is_data_dependent(result) and list(self._symbols) == earlier_symbols:
                return result
            symbols = list(self._symbols)
            resolved = self._resolve()
            if resolved is None:
                self._symbols[:] = symbols
                return result
        # Discard the unbacked symbols created for values that are now constants.
        self._symbols[:] = earlier_symbols
        return resolved.fake_value

    def _resolve(self) -> _Resolved | None:
        """Change the node by the first rewrite that removes the data dependency; None if none."""
        for rewrite in (replace_scalar_arguments, replace_by_result):
            resolved = self._attempt(rewrite)
            if resolved is not None and not is_data_dependent(resolved.fake_value):
                return resolved
            self._restore()
        return None

    def _attempt(self, rewrite: StaticSize) -> _Resolved | None:
        """Change the node and ask Dynamo again; None if that fails, and the node is restored."""
        try:
            if rewrite(self._tx, self._values, self._node):
                return _Resolved(self._ask_dynamo())
        except ValueUnknown as refusal:
            self._values.log_refusal(self._tx, refusal)
        except (Unsupported, UserError, TorchRuntimeError):
            pass
        except TorchDynamoException:
            raise  # Dynamo restarts its analysis with other exceptions.
        except Exception as error:
            self._values.disable(error)
        self._restore()
        return None

    def _restore(self) -> None:
        node = self._node
        node.op, node.target, node.args, node.kwargs = self._original


def is_data_dependent(result: Any) -> bool:
    """Return whether a fake value has an unbacked symbol."""
    if isinstance(result, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return bool(free_unbacked_symbols(result))
    return any(free_unbacked_symbols(tensor) for tensor in tensors_in(result))


@contextmanager
def _operators_recorded(fake_mode: Any, execution: NodeExecution) -> Iterator[None]:
    """Record the operators that run in this fake mode; other fake modes are not affected."""
    earlier = vars(fake_mode).get("dispatch")
    original = fake_mode.dispatch

    def dispatch(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        execution.record_operator(func, args, kwargs or {})
        return original(func, types, args, kwargs)

    fake_mode.dispatch = dispatch
    try:
        yield
    finally:
        if earlier is None:
            del fake_mode.dispatch
        else:
            fake_mode.dispatch = earlier
