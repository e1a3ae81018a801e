"""One frame that is being traced: what is known in it, and what has been read."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._dynamo import config, guards
from torch._dynamo.source import is_from_skip_guard_source
from torch._dynamo.variables.builder import GraphArg
from torch.fx import Node
from torch.multiprocessing.reductions import StorageWeakRef

from fullgraph.value_guards.concrete_eval import (
    Refused,
    agrees,
    leaves,
    real_world,
    run,
    storage_of,
)
from fullgraph.value_guards.guard import (
    MARK,
    ValueGuard,
    can_be_compared,
    is_copied_alike,
    plain_name,
)
from fullgraph.value_guards.guard_log import GuardFact, GuardLog, Kind
from fullgraph.value_guards.mutations import Writes
from fullgraph.value_guards.replayable_ops import can_run_again

_TORCH = os.path.dirname(torch.__file__) + os.sep
_SHOWN = 60
_KEPT = "fullgraph_value_trace"


class Session(NamedTuple):
    """What one `value_guards` block asks for."""

    log: GuardLog
    largest: int
    most_variants: int


class _Slice(NamedTuple):
    """The operations that lead to a value, in an order in which they can be run."""

    steps: list[Node]
    # What writes, and what has been written to since: it is made anew each time.
    again: frozenset[Node]


class Trace:
    """What is known about the tensors of one frame, and the guard that it gets."""

    def __init__(self, session: Session) -> None:
        self.writes = Writes()
        self._session = session
        self._values: dict[Node, Any] = {}
        # The expressions that find the inputs in the scope of a call.
        self._inputs: dict[Node, str] = {}
        self._storages: set[StorageWeakRef] = set()
        self._guard: ValueGuard | None = None
        self._read: set[tuple[Node, Any]] = set()
        self._is_new = True
        self._refusal: str | None = None

    def give_up(self, error: Exception) -> None:
        """Nothing more is known in this frame; guards that it has stay."""
        self._refusal = "an error in value guards"
        self._session.log.note(f"value guards gave up: {type(error).__name__}: {error}")

    def value(self, tx: Any, node: Node) -> Any:
        """The value of a node for the inputs that the frame was called with."""
        if self._is_new:
            self._is_new = False
            self._refusal = self._refusal or _why_not_this_frame(tx, self._session)
        if self._refusal is not None:
            raise Refused(self._refusal)
        if tx.output.current_tracer is not tx.output.root_tracer:
            raise Refused("in the body of a higher-order operator")
        slice_ = self._slice(tx, node)
        for step in slice_.steps:
            self._look_at(tx, step, slice_)
        for step in slice_.again:
            self._values.pop(step, None)
        missing = [step for step in slice_.steps if step not in self._values]
        if missing:
            with real_world(self._storages):
                for step in missing:
                    self._compute(step, slice_)
            if slice_.again:
                self._require_same_sharing(slice_.steps)
            self._storages.update(
                storage_of(tensor) for step in missing for tensor in leaves(self._values[step])
            )
        return self._values[node]

    def _slice(self, tx: Any, node: Node) -> _Slice:
        """All that a node's value comes from: what it is computed from, and what wrote to that."""
        self.writes.catch_up(tx.output.graph)
        steps = _upstream(node)
        reached = [step for step in steps if self.writes.reached(step)]
        if not reached:
            return _Slice(steps, frozenset())
        found = dict.fromkeys(steps)
        again: set[Node] = set()
        while reached:
            step = reached.pop()
            again.add(step)
            for writer in self.writes.writers(step):
                again.add(writer)
                new = [each for each in _upstream(writer) if each not in found]
                found.update(dict.fromkeys(new))
                reached += [each for each in new if self.writes.reached(each)]
        # Before or after a write makes a difference, so in the order of the program.
        ordered = [each for each in tx.output.graph.nodes if each in found]
        if len(ordered) != len(found):
            raise Refused("has been written to elsewhere")
        return _Slice(ordered, frozenset(again))

    def _look_at(self, tx: Any, node: Node, slice_: _Slice) -> None:
        """Cheap reasons first: most of what a program computes is not known."""
        is_input = node.op in ("placeholder", "get_attr")
        if is_input and node in slice_.again:
            raise Refused("has been written to")
        if node in self._values:
            return
        if node.op == "placeholder":
            self._inputs[node], self._values[node] = self._input(tx, node)
            self._storages.update(storage_of(tensor) for tensor in leaves(self._values[node]))
        elif not can_run_again(node) and node not in slice_.again:
            raise Refused(f"{node.target} cannot be computed again")

    def _input(self, tx: Any, node: Node) -> tuple[str, Any]:
        graph_arg = node.meta.get("grapharg")
        if not isinstance(graph_arg, GraphArg) or graph_arg.source is None:
            raise Refused("an input that has no name")
        if graph_arg.pass_arg_as_tensor or is_from_skip_guard_source(graph_arg.source):
            raise Refused("an input that Dynamo does not guard")
        value = _example(graph_arg.example, self._session.largest)
        expression: str = graph_arg.source.name
        if not _is_found_again(tx, expression, value):
            raise Refused("an input that is made anew each time")
        return expression, value

    def _compute(self, node: Node, slice_: _Slice) -> None:
        args, kwargs = torch.fx.node.map_arg(
            (node.args, node.kwargs), lambda argument: self._values[argument]
        )
        _refuse_symbols((args, kwargs))
        result = run(node.target, args, kwargs, largest=self._session.largest)
        if "example_value" in node.meta and not agrees(result, node.meta["example_value"]):
            raise Refused("not what was traced")
        self._values[node] = result
        if node not in slice_.again:
            # What is made anew may be written to; nothing else may.
            self._storages.update(storage_of(tensor) for tensor in leaves(result))

    def _require_same_sharing(self, steps: list[Node]) -> None:
        """Tensors share memory as they did when they were traced; a write depends on it."""
        pairs = {
            (storage_of(fake), storage_of(real))
            for step in steps
            for fake, real in zip(
                leaves(step.meta.get("example_value")), leaves(self._values[step]), strict=False
            )
        }
        if not len({fake for fake, _ in pairs}) == len(pairs) == len({real for _, real in pairs}):
            raise Refused("memory is shared in another way than was traced")

    def is_view(self, node: Node) -> bool:
        """Whether a known result shares memory with what it was computed from."""
        given = {
            storage_of(tensor)
            for argument in node.all_input_nodes
            for tensor in leaves(self._values[argument])
        }
        return any(storage_of(tensor) in given for tensor in leaves(self._values[node]))

    def try_out(self, target: Any, args: Any, kwargs: Any) -> Any:
        """What an operation gives for known arguments, without keeping it."""
        args, kwargs = torch.fx.node.map_arg(
            (args, kwargs), lambda argument: self._values[argument]
        )
        with real_world(self._storages):
            return run(target, args, kwargs, largest=self._session.largest)

    def read(
        self,
        tx: Any,
        node: Node,
        kind: Kind = "value",
        reader: Callable[..., Any] | None = None,
    ) -> Any:
        """The value, or what `reader` makes of it, from now on guarded."""
        value = self.value(tx, node)
        if reader is not None:
            value = self.try_out(reader, (node,), {})
        if not can_be_compared(value):
            raise Refused("cannot be compared")
        if (node, reader) not in self._read:
            self._add(tx, node, kind, reader, value)
            self._read.add((node, reader))
        return value

    def _add(
        self, tx: Any, node: Node, kind: Kind, reader: Callable[..., Any] | None, value: Any
    ) -> None:
        steps, again = self._slice(tx, node)
        inputs = [self._inputs[step] for step in steps if step.op == "placeholder"]
        if not inputs:
            return  # Made of constants: it is what it is.
        written = self._written_inputs(tx, steps)
        guard = self._installed(tx)
        given = [self._values[node] for node in self._inputs]
        if (again or guard.writes) and not all(map(is_copied_alike, given)):
            raise Refused("an input whose copy would lie in memory in another way")
        for step in steps:
            if step.op == "placeholder":
                if guard.knows(step) is None:
                    guard.add_input(step, self._inputs[step])
            elif step in again or guard.knows(step) is None:
                guard.add_step(step, writes=step in again)
        expected = value.detach().clone() if isinstance(value, torch.Tensor) else value
        names = ", ".join(dict.fromkeys(plain_name(expression) for expression in inputs))
        fact = GuardFact(*place_of(tx), names, kind, _show(value), guard.tally)
        guard.add_read(node, reader, expected, fact)
        guard.keep_apart(inputs, written)
        self._session.log.guards.append(fact)

    def _installed(self, tx: Any) -> ValueGuard:
        if self._guard is None:
            if tx.output.tracing_context.guards_context.skip_install:
                raise Refused("traced without guards")
            guard = ValueGuard()
            guard.install()
            self._guard = guard
        return self._guard

    def _written_inputs(self, tx: Any, steps: list[Node]) -> list[str]:
        """The expressions of inputs that have been written to; no input of `steps` is one."""
        expressions: list[str] = []
        if not self.writes:
            return expressions
        read = {storage_of(tensor) for step in steps for tensor in leaves(self._values[step])}
        for node in tx.output.graph.nodes:
            if node.op not in ("placeholder", "get_attr") or not self.writes.reached(node):
                continue
            graph_arg = node.meta.get("grapharg")
            if not isinstance(graph_arg, GraphArg) or graph_arg.source is None:
                raise Refused("something that has no name has been written to")
            if any(storage_of(tensor) in read for tensor in leaves(graph_arg.example)):
                raise Refused("shares memory with what has been written to")
            expressions.append(graph_arg.source.name)
        return expressions


def _upstream(node: Node) -> list[Node]:
    """The node and all that it is computed from, in an order in which it can be computed."""
    order: dict[Node, None] = {}
    waiting = [(node, False)]
    while waiting:
        current, is_ready = waiting.pop()
        if current in order:
            continue
        if is_ready:
            order[current] = None
            continue
        waiting.append((current, True))
        waiting.extend((argument, False) for argument in current.all_input_nodes)
    return list(order)


def _refuse_symbols(value: Any) -> None:
    """A symbol that is no input has no value at another call."""

    def look_at(part: Any) -> Any:
        if isinstance(part, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            raise Refused("a number that is not known yet")
        return part

    torch.fx.node.map_aggregate(value, look_at)


def _example(example: Any, largest: int) -> Any:
    if isinstance(example, torch.SymInt):
        if not example.node.has_hint():
            raise Refused("a number that is not known yet")
        return int(example.node.hint)
    if type(example) is not torch.Tensor or torch._is_functional_tensor(example):
        raise Refused("not a plain tensor")
    if torch._C._functorch.is_functorch_wrapped_tensor(example):
        raise Refused("a tensor of a function transform")
    if example.is_floating_point() or example.is_complex() or example.requires_grad:
        raise Refused("not integers")
    if example.device.type != "cpu" or example.layout != torch.strided or example.is_neg():
        raise Refused("not a dense tensor in main memory")
    if example.numel() > largest:
        raise Refused("a large input")
    return example


def _is_found_again(tx: Any, expression: str, value: Any) -> bool:
    names = {
        **guards._get_closure_vars(),
        "G": tx.output.global_scope,
        "L": tx.output.local_scope,
    }
    try:
        found = eval(expression, names)
    except Exception:
        return False
    if isinstance(value, torch.Tensor):
        return found is value
    return type(found) is int and found == value


def _why_not_this_frame(tx: Any, session: Session) -> str | None:
    output = tx.output
    if output.export or getattr(output, "package", None) is not None or config.caching_precompile:
        return "what is exported keeps no guards"
    if torch._dynamo.compiled_autograd.in_compiled_autograd_region:
        return "a backward pass"
    code = output.root_tx.f_code
    entries = _debug_get_cache_entry_list(code)
    variants = sum(hasattr(entry.guard_manager, MARK) for entry in entries)
    # The last one that may be compiled has to do for all other values.
    if variants >= session.most_variants or len(entries) >= config.recompile_limit - 1:
        session.log.note(
            f"{code.co_name} ({code.co_filename}:{code.co_firstlineno}) has been compiled "
            f"{len(entries)} times, {variants} of them for other values: "
            "from now on its values are not known, and it breaks as without value guards"
        )
        return "enough variants"
    return None


def place_of(tx: Any) -> tuple[str, int, str]:
    """The innermost line that is not torch's own."""
    current = tx
    while current.parent is not None and current.f_code.co_filename.startswith(_TORCH):
        current = current.parent
    line = current.current_instruction.positions
    number = line.lineno if line is not None and line.lineno else current.lineno
    return current.f_code.co_filename, number, current.f_code.co_name


def _show(value: Any) -> str:
    text = str(value.tolist() if isinstance(value, torch.Tensor) else value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def trace_of(tx: Any, session: Session) -> Trace:
    """The one trace of a frame; Dynamo begins with a new graph when it starts over."""
    found: Trace | None = getattr(tx.output, _KEPT, None)
    if found is None:
        found = Trace(session)
        setattr(tx.output, _KEPT, found)
    return found
