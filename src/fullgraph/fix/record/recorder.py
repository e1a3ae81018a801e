"""Records the calls that reach a compiled function, while the program runs in eager.

`torch.compile` returns what it always returns, but calling that runs the original. The program
gets its results quickly, and every call is kept as it was: inputs, random state, modes.
"""

from __future__ import annotations

import copy
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree

from fullgraph.fix.record.intercept import replace_compile

# More calls of the same kind say nothing new.
_MOST_CALLS = 6
_MOST_OF_A_KIND = 2


@dataclass(eq=False)
class Target:
    """One thing that the program compiles."""

    name: str
    original: Callable[..., Any]
    # What `torch.compile` was given.
    options: dict[str, Any]

    @property
    def module(self) -> torch.nn.Module | None:
        owner = getattr(self.original, "__self__", self.original)
        return owner if isinstance(owner, torch.nn.Module) else None


@dataclass
class Modes:
    """What surrounds a call and changes its meaning."""

    grad: bool
    inference: bool
    # By the kind of device.
    autocast: dict[str, torch.dtype]
    rng: torch.Tensor
    cuda_rng: list[torch.Tensor]
    python_rng: Any
    numpy_rng: Any

    @classmethod
    def current(cls) -> Modes:
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
        )

    @contextmanager
    def again(self) -> Iterator[None]:
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
            yield


@dataclass
class Call:
    target: Target
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    modes: Modes


@dataclass
class Recorder:
    targets: list[Target] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    _kinds: Counter[str] = field(default_factory=Counter)
    _depth: int = 0

    def install(self) -> Callable[[], None]:
        """From now on, until what this returns is called."""
        return replace_compile(self._recording)

    def _recording(
        self, original: Any, compiled: Callable[..., Any], options: dict[str, Any]
    ) -> Callable[..., Any]:
        name = getattr(original, "__qualname__", type(original).__name__)
        target = Target(name, original, dict(options))
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

    def note(self, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        # What a compiled function calls is part of it.
        if self._depth:
            return
        kind = f"{self.targets.index(target)} {_kind(args)} {_kind(kwargs)}"
        self._kinds[kind] += 1
        if self._kinds[kind] > _MOST_OF_A_KIND or len(self.calls) >= _MOST_CALLS:
            return
        kept_args, kept_kwargs = cloned((args, kwargs))
        self.calls.append(Call(target, kept_args, kept_kwargs, Modes.current()))


def _kind(value: Any) -> str:
    """Inputs of the same kind differ in the values of their tensors only."""
    leaves, spec = pytree.tree_flatten(value)
    shown = [
        f"{leaf.dtype}{tuple(leaf.shape)}" if isinstance(leaf, torch.Tensor) else repr(leaf)[:80]
        for leaf in leaves
    ]
    return f"{shown} {spec}"


def cloned(value: Any) -> Any:
    """A deep copy in which tensors that share memory still do; what cannot be copied is kept."""
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
