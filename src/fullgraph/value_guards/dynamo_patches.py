"""The functions of Dynamo that are replaced while a `value_guards` block is active.

Dynamo executes the bytecode of a function symbolically. A `VariableTracker` represents each object
of the program. A `TensorVariable` represents a tensor: it has a node in the graph, and a fake value
without data. Dynamo needs the data of a tensor in four situations, and each has one replacement:

    TensorVariable.method_item, method_tolist   `.item()`, `int(t)`, `.tolist()`, an index
    InstructionTranslator.dispatch_table        a jump instruction: `if t:`, `while`, `and`, `or`
    BuiltinVariable.call_function               `range(t)`
    utils._get_fake_value_impl                  an operation whose output size depends on the data

Each replacement asks `FrameValues` for the value. If the value is known, Dynamo gets a constant;
otherwise the original function runs, as it does without value guards.
"""

from __future__ import annotations

import dis
import operator
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import config, symbolic_convert, utils
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.lazy import LazyVariableTracker
from torch._dynamo.variables.tensor import NumpyNdarrayVariable, TensorVariable
from torch.fx import Node

from fullgraph.value_guards.concrete_eval import ValueUnknown
from fullgraph.value_guards.frame_values import (
    FrameValues,
    GuardScope,
    frame_values,
    log_internal_error,
)
from fullgraph.value_guards.guard_log import GuardLog
from fullgraph.value_guards.node_resolution import fake_value
from fullgraph.value_guards.requirements import ValueGuardError

_TENSOR_VARIABLES = (TensorVariable, NumpyNdarrayVariable)
_Function = Callable[..., Any]


class DynamoPatches:
    """The replacements, active for one thread at a time while it has an open scope."""

    def __init__(self) -> None:
        self._scopes: list[GuardScope] = []
        self._owner: int | None = None
        self._lock = threading.Lock()
        self._patches = [
            _PatchedAttribute(*_tensor_method("item"), self._patched_item),
            _PatchedAttribute(*_tensor_method("tolist"), self._patched_tolist),
            _PatchedAttribute(utils, "_get_fake_value_impl", self._patched_fake_value),
            _PatchedAttribute(BuiltinVariable, "call_function", self._patched_builtin),
        ]
        for translator in _with_subclasses(symbolic_convert.InstructionTranslatorBase):
            patch = _PatchedAttribute(translator, "dispatch_table", self._patched_table)
            self._patches.append(patch)

    def open_scope(self, log: GuardLog, max_elements: int, max_variants: int) -> None:
        """Start using value guards in this thread; the first scope replaces Dynamo's functions."""
        with self._lock:
            thread = threading.get_ident()
            if self._owner not in (None, thread):
                raise ValueGuardError(
                    "value guards are in use by another thread; compile in one thread at a time"
                )
            self._owner = thread
            self._scopes.append(GuardScope(log, max_elements, max_variants))
            if len(self._scopes) == 1:
                for patch in self._patches:
                    patch.install()

    def close_scope(self) -> None:
        """End the innermost scope; the last one restores Dynamo's functions."""
        with self._lock:
            self._scopes.pop()
            if not self._scopes:
                for patch in self._patches:
                    patch.remove()
                self._owner = None

    def _frame_values(self, tx: Any) -> FrameValues | None:
        """Return the values of the traced frame; None if another thread traces it."""
        if self._owner != threading.get_ident() or not self._scopes:
            return None
        try:
            return frame_values(tx, self._scopes[-1])
        except Exception as error:
            log_internal_error(self._scopes[-1].log, error)
            return None

    def _guarded_value(self, tx: Any, variable: Any) -> torch.Tensor | None:
        """Return the value of a tensor and guard on it; None if the value is not known."""
        values = self._frame_values(tx)
        if values is None or type(variable) not in _TENSOR_VARIABLES:
            return None
        try:
            value = values.read(tx, variable.as_proxy().node)
        except ValueUnknown as refusal:
            values.log_refusal(tx, refusal)
            return None
        except Exception as error:
            values.disable(error)
            return None
        return value if isinstance(value, torch.Tensor) else None

    # Each of these takes Dynamo's function and returns its replacement.

    def _patched_item(self, original: _Function) -> _Function:
        def method_item(self_: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
            if not args and not kwargs and _has_one_element(self_):
                value = self._guarded_value(tx, self_)
                if value is not None:
                    return ConstantVariable.create(value.item())
            return original(self_, tx, *args, **kwargs)

        return method_item

    def _patched_tolist(self, original: _Function) -> _Function:
        def method_tolist(self_: Any, tx: Any) -> Any:
            value = self._guarded_value(tx, self_)
            if value is None:
                return original(self_, tx)
            return VariableTracker.build(tx, value.tolist())

        return method_tolist

    def _patched_builtin(self, original: _Function) -> _Function:
        def call_function(self_: Any, tx: Any, args: Any, kwargs: Any) -> Any:
            if self_.fn is range and not kwargs:
                args = [self._range_argument(tx, argument) for argument in args]
            return original(self_, tx, args, kwargs)

        return call_function

    def _range_argument(self, tx: Any, variable: Any) -> Any:
        """Return a known integer tensor as a constant, anything else unchanged."""
        tensor = _as_tensor_variable(variable)
        if tensor is None or not _has_one_element(tensor):
            return variable
        value = self._guarded_value(tx, tensor)
        if value is None or value.is_floating_point() or value.dtype == torch.bool:
            return variable
        return ConstantVariable.create(value.item())

    def _patched_fake_value(self, original: _Function) -> _Function:
        def _get_fake_value_impl(node: Node, tx: Any, allow_non_graph_fake: bool = False) -> Any:
            values = self._frame_values(tx)
            if values is None or "example_value" in node.meta:
                return original(node, tx, allow_non_graph_fake)
            return fake_value(tx, values, node, lambda: original(node, tx, allow_non_graph_fake))

        return _get_fake_value_impl

    def _patched_table(self, original: list[Any]) -> list[Any]:
        """Return the table of bytecode handlers with new handlers for conditional jumps."""
        table = list(original)
        for name, opcode in dis.opmap.items():
            if _is_conditional_jump(name) and table[opcode] is not None:
                table[opcode] = self._patched_jump(table[opcode])
        return table

    def _patched_jump(self, original: _Function) -> _Function:
        def jump(tx: Any, instruction: Any) -> Any:
            variable = _as_tensor_variable(tx.stack[-1])
            if (
                variable is None
                or not _has_one_element(variable)
                or _is_assert_in_graph(tx, instruction)
            ):
                return original(tx, instruction)
            value = self._guarded_value(tx, variable)
            if value is None:
                return original(tx, instruction)
            condition = ConstantVariable.create(bool(value))
            tx.stack[-1] = condition
            result = original(tx, instruction)
            if tx.stack and tx.stack[-1] is condition:
                # The jump keeps its operand: the result of `a or b` is `a`, not `bool(a)`.
                tx.stack[-1] = variable
            return result

        return jump


class _PatchedAttribute:
    """An attribute of Dynamo, and the function that makes its replacement."""

    def __init__(self, owner: Any, name: str, make_replacement: Callable[[Any], Any]) -> None:
        self._owner, self._name = owner, name
        self._make_replacement = make_replacement
        self._original: Any = None
        self._replacement: Any = None

    def install(self) -> None:
        """Set the attribute to its replacement."""
        current = getattr(self._owner, self._name)
        if current is not self._original:
            self._original, self._replacement = current, self._make_replacement(current)
        setattr(self._owner, self._name, self._replacement)

    def remove(self) -> None:
        """Set the attribute to its original value."""
        # Other code may have wrapped the replacement. Then the replacement stays, without effect.
        if getattr(self._owner, self._name) is self._replacement:
            setattr(self._owner, self._name, self._original)


def _tensor_method(name: str) -> tuple[Any, str]:
    """Return the owner and the attribute that handle a tensor method: since 2.15, a table entry."""
    table = getattr(TensorVariable, "tp_methods", {})
    return (table[name], "handler") if name in table else (TensorVariable, f"method_{name}")


def _with_subclasses(cls: Any) -> Iterator[Any]:
    yield cls
    for subclass in cls.__subclasses__():
        yield from _with_subclasses(subclass)


def _as_tensor_variable(variable: Any) -> Any:
    """Return a variable that is a tensor, or None.

    A lazy variable of another type stays unrealized, because realizing it adds guards.
    """
    if isinstance(variable, LazyVariableTracker):
        if not variable.is_realized() and not isinstance(variable.peek_value(), torch.Tensor):
            return None
        variable = variable.realize()
    return variable if type(variable) in _TENSOR_VARIABLES else None


def _has_one_element(variable: Any) -> bool:
    """Return whether a tensor has one element for all sizes of the inputs."""
    fake = variable.as_proxy().node.meta.get("example_value")
    return isinstance(fake, torch.Tensor) and all(
        isinstance(size, int) and size == 1 for size in fake.shape
    )


def _is_conditional_jump(opname: str) -> bool:
    return "JUMP" in opname and ("IF_TRUE" in opname or "IF_FALSE" in opname)


def _is_assert_in_graph(tx: Any, instruction: Any) -> bool:
    """Return whether a jump belongs to an `assert` that stays in the graph for any value."""
    opname = instruction.opname
    if not config.rewrite_assert_with_torch_assert or sys.flags.optimize:
        return False
    if "POP_JUMP" not in opname or "IF_TRUE" not in opname:
        return False
    if not symbolic_convert._detect_and_normalize_assert_statement(tx, operator.truth, False):
        return False
    tx.pop()  # The function above has pushed the message of the assert.
    return True
