"""The guard of one compiled frame: what was read of its inputs, computed again at each call."""

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

from fullgraph.value_guards.guard_log import GuardFact, Tally

# A mark on Dynamo's guard managers, by which compiles for other values are counted.
MARK = "fullgraph_value_guard"
_SAME_BITS = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
}
_SUBMODULE = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]")


class _Read(NamedTuple):
    node: Node
    expected: Any
    fact: GuardFact


class ValueGuard:
    """All that one frame has read so far, as a graph from its inputs to what was read."""

    def __init__(self) -> None:
        self.tally = Tally()
        self._graph = torch.fx.Graph()
        self._copies: dict[Node, Node] = {}
        self._inputs: list[str] = []
        self._reads: list[_Read] = []
        self._apart: dict[tuple[str, str], None] = {}
        self._compute: Callable[..., tuple[Any, ...]] | None = None
        self.writes = False
        # What Dynamo shows when it compiles again. It keeps this list itself, and takes more than
        # one line for code; so it holds one, that of what failed last.
        self.reason = ["value guard"]

    def knows(self, node: Node) -> Node | None:
        return self._copies.get(node)

    def add_input(self, node: Node, expression: str) -> None:
        # At the front: Python wants a function's parameters before its body.
        with self._graph.inserting_before():
            self._copies[node] = self._graph.placeholder(f"input_{len(self._inputs)}")
        self._inputs.insert(0, expression)

    def add_step(self, node: Node, *, writes: bool) -> None:
        """Once more, if it writes or is written to: earlier reads want what was there before."""
        self.writes |= writes
        made = self._graph.node_copy(node, lambda argument: self._copies[argument])
        made.meta.clear()  # It would keep the traced graph alive as long as the guard.
        self._copies[node] = made

    def add_read(
        self, node: Node, reader: Callable[..., Any] | None, expected: Any, fact: GuardFact
    ) -> None:
        copy = self._copies[node]
        if reader is not None:
            copy = self._graph.call_function(reader, (copy,))
        self._reads.append(_Read(copy, expected, fact))
        self.tally.facts += 1

    def keep_apart(self, read: list[str], written: list[str]) -> None:
        """Inputs read after others were written to: if they share memory, another value is read."""
        self._apart.update(dict.fromkeys(itertools.product(read, written)))

    def install(self) -> None:
        # Not on an input's source: guards on some sources are dropped again.
        source = GlobalStateSource()
        guards.install_guard(source.make_guard(functools.partial(_value_guard, self)))

    def build(self, scope: Mapping[str, Any]) -> Callable[[Any], bool]:
        if self._compute is None:  # Dynamo builds its guards twice if they are filtered.
            self._graph.output(tuple(read.node for read in self._reads))
            self._compute = torch.fx.GraphModule(torch.nn.Module(), self._graph).forward
            self._copies.clear()
        names = {**guards._get_closure_vars(), "G": scope["G"]}
        inputs = _reader(self._inputs, names)
        pairs = [f"({read}, {written})" for read, written in self._apart]
        apart = _reader(pairs, names) if pairs else None
        if self.writes:
            # Only to what the guard has made; but an input must not depend on that.
            inputs = _copies_of(inputs)
        return _check(self._compute, inputs, apart, self._reads, self)

    def blame(self, fact: GuardFact) -> None:
        fact.failed += 1
        self.reason[0] = _describe(fact)


def _value_guard(guard: ValueGuard, builder: Any, _: Any) -> None:
    """What Dynamo calls when the frame has been traced."""
    manager = builder.guard_manager
    manager.root.add_epilogue_lambda_guard(guard.build(builder.scope), guard.reason, None)
    setattr(manager, MARK, True)


def _describe(fact: GuardFact) -> str:
    return f"value guard: {fact.input} gave {fact.shown} at {fact.file}:{fact.line}"


def _reader(expressions: list[str], names: dict[str, Any]) -> Callable[[Any], tuple[Any, ...]]:
    made: Callable[[Any], tuple[Any, ...]] = eval(
        f"lambda L: ({''.join(f'{expression}, ' for expression in expressions)})", names
    )
    return made


def _copies_of(inputs: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda scope: tuple(map(_copy, inputs(scope)))


def _copy(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    if not is_copied_alike(value):
        raise ValueError("its copy would lie in memory in another way")
    return value.clone()


def is_copied_alike(value: Any) -> bool:
    """Whether a copy has the same strides; otherwise a view of it may be a copy, or the reverse."""
    return not isinstance(value, torch.Tensor) or value.clone().stride() == value.stride()


def _check(
    compute: Callable[..., tuple[Any, ...]],
    inputs: Callable[[Any], tuple[Any, ...]],
    apart: Callable[[Any], tuple[Any, ...]] | None,
    reads: list[_Read],
    guard: ValueGuard,
) -> Callable[[Any], bool]:
    tally = guard.tally

    def holds(scope: Any) -> bool:
        started = time.perf_counter()
        try:
            given = inputs(scope)
            with (
                torch._C._DisableTorchDispatch(),
                torch._C.DisableTorchFunction(),
                torch._C._DisableAutocast(),
            ):
                if apart is not None and not all(_is_apart(*pair) for pair in apart(scope)):
                    return False
                values = compute(*given)
                for value, read in zip(values, reads, strict=True):
                    if not same(value, read.expected):
                        guard.blame(read.fact)
                        return False
        except Exception:
            # Whatever it is, it did not happen when the frame was compiled.
            return False
        finally:
            tally.checked += 1
            tally.seconds += time.perf_counter() - started
        return True

    return holds


def _is_apart(read: Any, written: Any) -> bool:
    if not isinstance(read, torch.Tensor) or not isinstance(written, torch.Tensor):
        return True
    return _memory(read) != _memory(written)


def _memory(tensor: torch.Tensor) -> int:
    address: int = tensor.untyped_storage().data_ptr()
    return address


def same(value: Any, expected: Any) -> bool:
    """Equal to the bit: 0.0 is not -0.0, and nan is nan."""
    if not isinstance(expected, torch.Tensor):
        return type(value) is type(expected) and bool(value == expected)
    if value.dtype != expected.dtype or value.shape != expected.shape:
        return False
    bits = _SAME_BITS.get(value.dtype)
    if bits is not None:
        value, expected = value.view(bits), expected.view(bits)
    return bool(torch.equal(value, expected))


def can_be_compared(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point() or value.dtype in _SAME_BITS
    return type(value) in (int, bool)


def plain_name(expression: str) -> str:
    """`L['self']._modules['a']._buffers['b']` as `self.a.b`."""
    name = re.sub(r"^[LG]\['([^']+)'\]", r"\1", expression)
    return _SUBMODULE.sub(r".\1", name)
