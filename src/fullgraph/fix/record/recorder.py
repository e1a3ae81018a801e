"""Records the calls of compiled functions while the program runs in eager mode.

`torch.compile` returns its usual result, but calling that runs the original function. So the
program gets its results quickly, and every call is recorded: inputs, random state, modes.
"""

from __future__ import annotations

import copy
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch.utils import _pytree as pytree

from fullgraph.fix.record.intercept import intercept_compile
from fullgraph.fix.record.reachable import reachable_modules

# More calls with inputs of the same kind would not test anything new.
_MOST_CALLS = 6
_MOST_OF_A_KIND = 2


@dataclass(eq=False)
class CompiledTarget:
    """One function or module that the program compiles."""

    name: str
    original: Callable[..., Any]
    # The options of `torch.compile`.
    options: dict[str, Any]

    @property
    def module(self) -> torch.nn.Module | None:
        """The module that is compiled, or whose method is; None for a plain function."""
        owner = getattr(self.original, "__self__", self.original)
        return owner if isinstance(owner, torch.nn.Module) else None

    @cached_property
    def state(self) -> torch.nn.Module | None:
        """The module, or all modules that a plain function reaches; None without any."""
        if self.module is not None:
            return self.module
        found = reachable_modules(self.original)
        return found[0] if len(found) == 1 else torch.nn.ModuleList(found) if found else None


@dataclass
class CallContext:
    """The modes and random states that a call depends on."""

    grad: bool
    inference: bool
    # By device type.
    autocast: dict[str, torch.dtype]
    rng: torch.Tensor
    cuda_rng: list[torch.Tensor]
    python_rng: Any
    numpy_rng: Any
    default_dtype: torch.dtype = torch.float32

    @classmethod
    def current(cls) -> CallContext:
        """Return the context of this moment."""
        numpy = sys.modules.get("numpy")
        return cls(
            grad=torch.is_grad_enabled(),
            inference=torch.is_inference_mode_enabled(),
            autocast={
                device: torch.get_autocast_dtype(device)
                for device in ("cpu", "cuda")
                if torch.is_autocast_enabled(device)
            },
            rng=torch.get_rng_state(),
            cuda_rng=torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],
            python_rng=random.getstate(),
            numpy_rng=numpy.random.get_state() if numpy else None,
            default_dtype=torch.get_default_dtype(),
        )

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Restore the context for a block; random states are not put back afterwards."""
        torch.set_rng_state(self.rng)
        if self.cuda_rng:
            torch.cuda.set_rng_state_all(self.cuda_rng)
        random.setstate(self.python_rng)
        if self.numpy_rng is not None:
            sys.modules["numpy"].random.set_state(self.numpy_rng)
        with ExitStack() as stack:
            if self.inference:
                stack.enter_context(torch.inference_mode())
            stack.enter_context(torch.set_grad_enabled(self.grad))
            for device, dtype in self.autocast.items():
                stack.enter_context(torch.autocast(device, dtype=dtype))
            stack.callback(torch.set_default_dtype, torch.get_default_dtype())
            torch.set_default_dtype(self.default_dtype)
            yield


@dataclass
class RecordedCall:
    """One call: a copy of its inputs, and its context."""

    target: CompiledTarget
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    context: CallContext


@dataclass
class CallRecorder:
    """Records what a program compiles, and the first calls of each kind."""

    targets: list[CompiledTarget] = field(default_factory=list)
    calls: list[RecordedCall] = field(default_factory=list)
    most_calls: int = _MOST_CALLS
    _kinds: Counter[str] = field(default_factory=Counter)
    _depth: int = 0

    def needs_gradients(self) -> bool:
        """Return whether a recorded call may compute gradients."""
        return any(call.context.grad and _requires_grad(call) for call in self.calls)

    def install(self) -> Callable[[], None]:
        """Record until the returned function is called."""
        return intercept_compile(self._recording)

    def _recording(
        self, original: Any, compiled: Callable[..., Any], options: dict[str, Any]
    ) -> Callable[..., Any]:
        name = getattr(original, "__qualname__", type(original).__name__)
        target = CompiledTarget(name, original, dict(options))
        self.targets.append(target)
        # A module whose own call is compiled would call itself.
        run = original._call_impl if isinstance(original, torch.nn.Module) else original

        def call(*args: Any, **kwargs: Any) -> Any:
            self.note(target, args, kwargs)
            self._depth += 1
            try:
                return run(*args, **kwargs)
            finally:
                self._depth -= 1

        return call

    def note(self, target: CompiledTarget, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record a call, unless enough calls of its kind are recorded."""
        # A call within a compiled function is part of that function.
        if self._depth:
            return
        kind = f"{self.targets.index(target)} {_kind(args)} {_kind(kwargs)}"
        self._kinds[kind] += 1
        if self._kinds[kind] > _MOST_OF_A_KIND or len(self.calls) >= self.most_calls:
            return
        kept_args, kept_kwargs = clone_inputs((args, kwargs))
        self.calls.append(RecordedCall(target, kept_args, kept_kwargs, CallContext.current()))


def _requires_grad(call: RecordedCall) -> bool:
    module = call.target.state
    tensors = [*pytree.tree_leaves((call.args, call.kwargs))]
    tensors += module.parameters() if module is not None else ()
    return any(isinstance(each, torch.Tensor) and each.requires_grad for each in tensors)


def _kind(value: Any) -> str:
    """Return a text that is equal for inputs which differ only in the values of their tensors."""
    leaves, spec = pytree.tree_flatten(value)
    shown = [
        f"{leaf.dtype}{tuple(leaf.shape)}" if isinstance(leaf, torch.Tensor) else repr(leaf)[:80]
        for leaf in leaves
    ]
    return f"{shown} {spec}"


def clone_inputs(value: Any) -> Any:
    """Return a deep copy in which tensors still share memory; what cannot be copied is kept."""
    memo: dict[int, Any] = {}
    return pytree.tree_map(lambda leaf: _cloned_leaf(leaf, memo), value)


def _cloned_leaf(leaf: Any, memo: dict[int, Any]) -> Any:
    if isinstance(leaf, torch.nn.Module) or callable(leaf):
        return leaf
    if not isinstance(leaf, torch.Tensor):
        try:
            return copy.deepcopy(leaf, memo)
        except Exception:
            return leaf
    if id(leaf) not in memo:
        memo[id(leaf)] = _cloned_tensor(leaf, memo)
    return memo[id(leaf)]


def _cloned_tensor(tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
        return tensor.clone()
    storage = tensor.untyped_storage()
    key = storage.data_ptr()
    if key not in memo:
        memo[key] = storage.clone()
    with torch.no_grad():
        copied = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        copied.set_(memo[key], tensor.storage_offset(), tensor.shape, tensor.stride())
    return copied.requires_grad_(tensor.requires_grad)
