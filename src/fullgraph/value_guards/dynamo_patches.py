"""The places in Dynamo that ask for a number or a size, while a `value_guards` block is running."""

from __future__ import annotations

import dis
import operator
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch._dynamo
from torch._dynamo import symbolic_convert, utils
from torch._dynamo.exc import TorchDynamoException, TorchRuntimeError, Unsupported, UserError
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.constant import ConstantVariable
from torch._dynamo.variables.lazy import LazyVariableTracker
from torch._dynamo.variables.tensor import NumpyNdarrayVariable, TensorVariable
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from fullgraph.value_guards import static_sizes as forms
from fullgraph.value_guards.concrete_eval import Refused, leaves
from fullgraph.value_guards.frame_values import Session, Trace, place_of, trace_of
from fullgraph.value_guards.guard_log import GuardLog
from fullgraph.value_guards.mutations import Run
from fullgraph.value_guards.requirements import ValueGuardError

_TENSORS = (TensorVariable, NumpyNdarrayVariable)


class Hooks:
    """Replaces a few functions of Dynamo while a block is running, for one thread at a time."""

    def __init__(self) -> None:
        self.depth = 0
        self._sessions: list[Session] = []
        self._owner: int | None = None
        self._lock = threading.Lock()
        self._patches = [
            _Attribute(*_tensor_method("item"), self._item),
            _Attribute(*_tensor_method("tolist"), self._tolist),
            _Attribute(utils, "_get_fake_value_impl", self._fake_value),
            _Attribute(BuiltinVariable, "call_function", self._builtin),
        ]
        for translator in _with_subclasses(symbolic_convert.InstructionTranslatorBase):
            self._patches.append(_Attribute(translator, "dispatch_table", self._table))

    def enter(self, log: GuardLog, largest: int, most_variants: int) -> None:
        with self._lock:
            me = threading.get_ident()
            if self._owner not in (None, me):
                raise ValueGuardError(
                    "value guards are in use by another thread: compile in one thread at a time"
                )
            self._owner = me
            self._sessions.append(Session(log, largest, most_variants))
            self.depth += 1
            if self.depth == 1:
                for patch in self._patches:
                    patch.put()

    def leave(self) -> None:
        with self._lock:
            self._sessions.pop()
            self.depth -= 1
            if self.depth == 0:
                for patch in self._patches:
                    patch.take()
                self._owner = None

    def _trace(self, tx: Any) -> Trace | None:
        """None in another thread, which is none of our business."""
        if self._owner != threading.get_ident() or not self._sessions:
            return None
        try:
            return trace_of(tx, self._sessions[-1])
        except Exception as error:
            self._sessions[-1].log.note(f"value guards gave up: {type(error).__name__}: {error}")
            return None

    def _known(self, tx: Any, variable: Any) -> torch.Tensor | None:
        """The value of a tensor that is about to be read, from now on guarded."""
        trace = self._trace(tx)
        if trace is None or type(variable) not in _TENSORS:
            return None
        try:
            value = trace.read(tx, variable.as_proxy().node)
        except Refused as refused:
            self._sessions[-1].log.leave(*place_of(tx), str(refused))
            return None
        except Exception as error:
            trace.give_up(error)
            return None
        return value if isinstance(value, torch.Tensor) else None

    def _item(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def method_item(self_: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
            if not args and not kwargs and _is_one(_fake(self_)):
                value = self._known(tx, self_)
                if value is not None:
                    return ConstantVariable.create(value.item())
            return original(self_, tx, *args, **kwargs)

        return method_item

    def _tolist(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def method_tolist(self_: Any, tx: Any) -> Any:
            value = self._known(tx, self_)
            if value is None:
                return original(self_, tx)
            return VariableTracker.build(tx, value.tolist())

        return method_tolist

    def _builtin(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call_function(self_: Any, tx: Any, args: Any, kwargs: Any) -> Any:
            if self_.fn is range and not kwargs:
                args = [self._as_number(tx, argument) for argument in args]
            return original(self_, tx, args, kwargs)

        return call_function

    def _as_number(self, tx: Any, variable: Any) -> Any:
        """Dynamo knows `range` of numbers, but not of tensors that hold one."""
        tensor = _as_tensor(variable)
        if tensor is None or not _is_one(_fake(tensor)):
            return variable
        value = self._known(tx, tensor)
        if value is None or value.is_floating_point() or value.dtype == torch.bool:
            return variable
        return ConstantVariable.create(value.item())

    def _fake_value(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def _get_fake_value_impl(node: Node, tx: Any, allow_non_graph_fake: bool = False) -> Any:
            trace = self._trace(tx)
            if trace is None or "example_value" in node.meta:
                return original(node, tx, allow_non_graph_fake)
            return _Asked(tx, trace, node, self._sessions[-1]).answer(
                lambda: original(node, tx, allow_non_graph_fake)
            )

        return _get_fake_value_impl

    def _table(self, original: list[Any]) -> list[Any]:
        table = list(original)
        for name, code in dis.opmap.items():
            if _is_jump_on_truth(name) and table[code] is not None:
                table[code] = self._jump(table[code])
        return table

    def _jump(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def jump(tx: Any, inst: Any) -> Any:
            variable = _as_tensor(tx.stack[-1])
            if variable is None or not _is_one(_fake(variable)) or _is_assert(tx, inst):
                return original(tx, inst)
            value = self._known(tx, variable)
            if value is None:
                return original(tx, inst)
            constant = ConstantVariable.create(bool(value))
            tx.stack[-1] = constant
            result = original(tx, inst)
            if tx.stack and tx.stack[-1] is constant:
                # `a or b` is a itself, not whether it is true.
                tx.stack[-1] = variable
            return result

        return jump


class _Asked:
    """A node whose fake value Dynamo asks for."""

    def __init__(self, tx: Any, trace: Trace, node: Node, session: Session) -> None:
        self._tx, self._trace, self._node = tx, trace, node
        self._largest, self._log = session.largest, session.log
        self._as_it_was = (node.op, node.target, node.args, node.kwargs)

    def answer(self, ask: Callable[[], Any]) -> Any:
        run = Run(self._node)
        try:
            with _operators_noted(self._tx.fake_mode, run):
                return self._answer(ask)
        finally:
            self._trace.writes.add(run)

    def _answer(self, ask: Callable[[], Any]) -> Any:
        if forms.has_form(self._node):
            changed, result = self._try(forms.give_size, ask)
            if changed:
                return result
        symbols = self._tx.fake_mode.shape_env.pending_fresh_unbacked_symbols
        earlier = list(symbols)
        try:
            result = ask()
        except (Unsupported, UserError):
            changed, result = self._resolve(ask)
            if not changed:
                raise
        else:
            if not _depends_on_data(result) and list(symbols) == earlier:
                return result
            pending = list(symbols)
            changed, resolved = self._resolve(ask)
            if not changed:
                symbols[:] = pending
                return result
            result = resolved
        # The symbols that were made for what is now known are nobody's.
        symbols[:] = earlier
        return result

    def _resolve(self, ask: Callable[[], Any]) -> tuple[bool, Any]:
        for change in (forms.give_numbers, self._give_result):
            changed, result = self._try(change, ask)
            if changed and not _depends_on_data(result):
                return True, result
            self._restore()
        return False, None

    def _give_result(self, tx: Any, trace: Trace, node: Node) -> bool:
        return forms.give_result(tx, trace, node, self._largest)

    def _try(self, change: forms.Form, ask: Callable[[], Any]) -> tuple[bool, Any]:
        try:
            if change(self._tx, self._trace, self._node):
                return True, ask()
        except Refused as refused:
            self._log.leave(*place_of(self._tx), str(refused))
        except (Unsupported, UserError, TorchRuntimeError):
            pass
        except TorchDynamoException:
            raise  # How Dynamo starts over.
        except Exception as error:
            self._trace.give_up(error)
        self._restore()
        return False, None

    def _restore(self) -> None:
        node = self._node
        node.op, node.target, node.args, node.kwargs = self._as_it_was


@contextmanager
def _operators_noted(fake_mode: Any, run: Run) -> Iterator[None]:
    """While a node is run: on this one fake mode, not on its class."""
    earlier = vars(fake_mode).get("dispatch")
    original = fake_mode.dispatch

    def dispatch(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        run.note(func, args, kwargs or {})
        return original(func, types, args, kwargs)

    fake_mode.dispatch = dispatch
    try:
        yield
    finally:
        if earlier is None:
            del fake_mode.dispatch
        else:
            fake_mode.dispatch = earlier


class _Attribute:
    """Something in Dynamo and what is put in its place."""

    def __init__(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        self._owner, self._name = owner, name
        self._make = make
        self._original: Any = None
        self._ours: Any = None

    def put(self) -> None:
        current = getattr(self._owner, self._name)
        if current is not self._original:
            self._original, self._ours = current, self._make(current)
        setattr(self._owner, self._name, self._ours)

    def take(self) -> None:
        # Somebody may have put something around ours; then it stays and does nothing.
        if getattr(self._owner, self._name) is self._ours:
            setattr(self._owner, self._name, self._original)


def _tensor_method(name: str) -> tuple[Any, str]:
    """Where Dynamo looks for what it does for a tensor's method: since 2.15 in a table."""
    table = getattr(TensorVariable, "tp_methods", {})
    return (table[name], "handler") if name in table else (TensorVariable, f"method_{name}")


def _depends_on_data(result: Any) -> bool:
    if isinstance(result, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return bool(free_unbacked_symbols(result))
    return any(free_unbacked_symbols(tensor) for tensor in leaves(result))


def _as_tensor(variable: Any) -> Any:
    """None for anything else, which stays as unrealized as it is: looking adds guards."""
    if isinstance(variable, LazyVariableTracker):
        if not variable.is_realized() and not isinstance(variable.peek_value(), torch.Tensor):
            return None
        variable = variable.realize()
    return variable if type(variable) in _TENSORS else None


def _fake(variable: Any) -> Any:
    return variable.as_proxy().node.meta.get("example_value")


def _is_one(fake: Any) -> bool:
    """Whether a tensor has one element, whatever the sizes of the inputs."""
    return isinstance(fake, torch.Tensor) and all(
        isinstance(size, int) and size == 1 for size in fake.shape
    )


def _with_subclasses(kind: Any) -> Iterator[Any]:
    yield kind
    for subclass in kind.__subclasses__():
        yield from _with_subclasses(subclass)


def _is_jump_on_truth(name: str) -> bool:
    return "JUMP" in name and ("IF_TRUE" in name or "IF_FALSE" in name)


def _is_assert(tx: Any, inst: Any) -> bool:
    """Dynamo keeps `assert` on a tensor in the graph, for all values."""
    if not torch._dynamo.config.rewrite_assert_with_torch_assert or "POP_JUMP" not in inst.opname:
        return False
    if "IF_TRUE" not in inst.opname or sys.flags.optimize:
        return False
    if not symbolic_convert._detect_and_normalize_assert_statement(tx, operator.truth, False):
        return False
    tx.pop()  # Its message, which was pushed.
    return True
