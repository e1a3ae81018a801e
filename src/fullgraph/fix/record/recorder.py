"""Records the calls of compiled functions while the program runs in eager mode.

`torch.compile` returns its usual result, but calling that runs the original function. So the
program gets its results quickly, and every call is recorded: inputs, random state, modes.
"""

from __future__ import annotations

import copy
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch.utils import _pytree as pytree

from fullgraph.fix.record.intercept import intercept_compile
from fullgraph.fix.record.named_state import NamedState
from fullgraph.fix.record.reachable import reachable_modules
from fullgraph.fix.record.snapshot import Snapshot

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

    @cached_property
    def named(self) -> NamedState:
        """The values that the function reaches by name, as they are when this is first asked."""
        return NamedState(self.original)


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


@dataclass(eq=False)
class RecordedCall:
    """One call: a copy of its inputs, and its context."""

    target: CompiledTarget
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    context: CallContext
    # Whether each part of the target's modules was in training mode.
    training: tuple[bool, ...] = ()
    # Identifies the lines that ran; empty if they are not known.
    path: str = ""
    # What the function could reach, if the process cannot be forked.
    snapshot: Snapshot | None = None
    # Counts all calls of the program from 1.
    position: int = 0
    # Counts the recorded calls of the program from 1; 0 if there is only one.
    number: int = 0

    def restore(self) -> None:
        """Put the modules into the modes of the call, and what is in its snapshot back."""
        if self.snapshot is not None:
            self.snapshot.restore()
        parts = parts_of(self.target)
        if len(parts) == len(self.training):
            for part, training in zip(parts, self.training, strict=True):
                # Any assignment fails guards on the version of the module's dict.
                if part.training is not training:
                    part.training = training


def parts_of(target: CompiledTarget) -> list[torch.nn.Module]:
    """Return the modules of a target and all of their parts."""
    return [] if target.state is None else list(target.state.modules())


@dataclass
class CallRecorder:
    """Records what a program compiles, and the first calls of each kind."""

    targets: list[CompiledTarget] = field(default_factory=list)
    calls: list[RecordedCall] = field(default_factory=list)
    most_calls: int = _MOST_CALLS
    _kinds: Counter[str] = field(default_factory=Counter)
    _is_recording: bool = False
    _uninstall: Callable[[], None] = lambda: None
    # For each thread, how many compiled functions are running.
    _depths: threading.local = field(default_factory=threading.local)

    def only(self, calls: list[RecordedCall]) -> CallRecorder:
        """Return a recorder that has some of the calls."""
        return CallRecorder(self.targets, calls)

    def needs_gradients(self) -> bool:
        """Return whether a recorded call may compute gradients."""
        return any(call.context.grad and _requires_grad(call) for call in self.calls)

    def install(self) -> Callable[[], None]:
        """Record until the returned function, or `stop`, is called."""
        self._uninstall = intercept_compile(self._recording)
        self._is_recording = True
        return self.stop

    def stop(self) -> None:
        """Record no more: torch.compile compiles again, and calls are only passed on."""
        self._uninstall()
        self._is_recording = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let torch.compile compile in a block."""
        intercepting = torch.compile, torch.nn.Module.compile
        self._uninstall()
        try:
            yield
        finally:
            torch.compile, torch.nn.Module.compile = intercepting

    def _recording(
        self, original: Any, compiled: Callable[..., Any], options: dict[str, Any]
    ) -> Callable[..., Any]:
        name = getattr(original, "__qualname__", type(original).__name__)
        target = CompiledTarget(name, original, dict(options))
        self.targets.append(target)
        # A module whose own call is compiled would call itself.
        run = original._call_impl if isinstance(original, torch.nn.Module) else original

        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._is_recording:
                return run(*args, **kwargs)
            return self.run_call(target, run, args, kwargs)

        return call

    def run_call(
        self,
        target: CompiledTarget,
        run: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Record a call of the program, run it, and return its result."""
        self.note(target, args, kwargs)
        with self.within_call():
            return run(*args, **kwargs)

    @property
    def is_within_call(self) -> bool:
        """Whether this thread runs a compiled function; calls within it are a part of that."""
        return bool(getattr(self._depths, "value", 0))

    @contextmanager
    def within_call(self) -> Iterator[None]:
        """Record no calls of this thread in a block."""
        self._depths.value = getattr(self._depths, "value", 0) + 1
        try:
            yield
        finally:
            self._depths.value -= 1

    def note(self, target: CompiledTarget, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record a call, unless enough calls of its kind are recorded."""
        if self.is_within_call:
            return
        kind = self.kind_of(target, args, kwargs)
        self._kinds[kind] += 1
        if self._kinds[kind] <= _MOST_OF_A_KIND and len(self.calls) < self.most_calls:
            self.calls.append(recorded_call(target, args, kwargs))

    def kind_of(
        self,
        target: CompiledTarget,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        numbers: bool = True,
    ) -> str:
        """Return a text that is equal for calls which differ only in the values of tensors.

        Without `numbers`, it is also equal for other numbers.
        """
        return f"{self.targets.index(target)} {kind_of_inputs(args, kwargs, numbers=numbers)}"


def recorded_call(
    target: CompiledTarget, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> RecordedCall:
    """Return a call that is about to be made, with a copy of its inputs."""
    kept_args, kept_kwargs = clone_inputs((args, kwargs), target.state)
    training = tuple(part.training for part in parts_of(target))
    return RecordedCall(target, kept_args, kept_kwargs, CallContext.current(), training)


def _requires_grad(call: RecordedCall) -> bool:
    module = call.target.state
    tensors = [*pytree.tree_leaves((call.args, call.kwargs))]
    tensors += module.parameters() if module is not None else ()
    return any(isinstance(each, torch.Tensor) and each.requires_grad for each in tensors)


def kind_of_inputs(args: tuple[Any, ...], kwargs: dict[str, Any], *, numbers: bool = True) -> str:
    """Return a text that is equal for inputs which differ only in the values of tensors.

    Without `numbers`, it is also equal for other numbers.
    """
    leaves, spec = pytree.tree_flatten((args, kwargs))
    return f"{[_shown(leaf, numbers) for leaf in leaves]} {spec}"


def _shown(leaf: Any, numbers: bool) -> str:
    if isinstance(leaf, torch.Tensor):
        return f"{leaf.dtype}{tuple(leaf.shape)}{leaf.requires_grad}"
    if not numbers and type(leaf) in (int, float):
        return type(leaf).__name__
    return repr(leaf)[:80]


def clone_inputs(value: Any, state: torch.nn.Module | None = None) -> Any:
    """Return a deep copy in which tensors still share memory; what cannot be copied is kept.

    Tensors that share memory with `state` still do.
    """
    memo: dict[int, Any] = {}
    for tensor in _tensors_of(state):
        memo[id(tensor)] = tensor
        if (address := _address(tensor)) is not None:
            memo[address] = tensor.untyped_storage()
    return pytree.tree_map(lambda leaf: _cloned_leaf(leaf, memo), value)


def _tensors_of(state: torch.nn.Module | None) -> list[torch.Tensor]:
    return [] if state is None else [*state.parameters(), *state.buffers()]


def _address(tensor: torch.Tensor) -> int | None:
    """Return where the memory of a strided tensor begins; None for other tensors."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
        return None
    try:
        return tensor.untyped_storage().data_ptr() or None
    except (NotImplementedError, RuntimeError):
        return None


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
