"""Chooses the calls of a program that are kept, and keeps the process as it is before each.

A checkpoint is a fork of the process at the call: modes, random states, lists, closures and globals
are as they were. One call is kept for each combination of function, signature, modes and path. The
path is known only after the call, so a checkpoint is made first and given up if the call took a
path that is kept already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from fullgraph.fix.record.input_values import InputValues
from fullgraph.fix.record.paths import path_taken
from fullgraph.fix.record.recorder import (
    CallRecorder,
    CompiledTarget,
    RecordedCall,
    recorded_call,
)
from fullgraph.fix.record.snapshot import Snapshot

# Of all kinds together.
_MOST_CALLS = 12
# Calls of one kind that take different paths.
_MOST_PATHS = 4
# Calls of one kind and path with other numbers as arguments.
_MOST_NUMBERS = 2
# All of the first calls of a kind are looked at, and then fewer and fewer.
_FIRST_CALLS = 8


class CheckpointMaker(Protocol):
    """Forks this process at a call."""

    def is_possible(self, recorder: CallRecorder) -> bool:
        """Return whether this process can be forked."""

    def has_room(self) -> bool:
        """Return whether there is enough memory for another checkpoint."""

    def make(self, recorder: CallRecorder, call: RecordedCall) -> None:
        """Make the checkpoint of a call that is about to be made."""

    def give_up(self, call: RecordedCall) -> None:
        """End the checkpoint of a call that is not kept."""


@dataclass
class _Kept:
    """The paths and the numbers in the arguments of the kept calls of one kind."""

    paths: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)


@dataclass
class CheckpointRecorder(CallRecorder):
    """Records calls, each with a checkpoint if the process can be forked."""

    checkpoints: CheckpointMaker | None = None
    # The calls to keep, counted from 1; None: those that differ in kind, path or numbers.
    wanted: frozenset[int] | None = None
    # How many calls the program has made.
    made: int = 0
    # Calls whose kind or path is not among the kept ones, by function.
    not_kept: Counter[str] = field(default_factory=Counter)
    # Of integer inputs, in all calls.
    values: InputValues = field(default_factory=InputValues)
    _kept: dict[str, _Kept] = field(default_factory=dict)

    def run_call(
        self,
        target: CompiledTarget,
        run: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Record a call of the program, run it, and return its result."""
        if self.is_within_call:
            return run(*args, **kwargs)
        self.values.note(target.name, args, kwargs)
        self.made += 1
        kind = f"{self.kind_of(target, args, kwargs, numbers=False)} {_modes(target)}"
        self._kinds[kind] += 1
        call = self._about_to_be_made(kind, target, args, kwargs)
        if call is None:
            with self.within_call():
                return run(*args, **kwargs)
        try:
            with self.within_call(), path_taken() as path:
                return run(*args, **kwargs)
        finally:
            call.path = path.digest
            exact = self.kind_of(target, call.args, call.kwargs)
            if not self._is_kept(kind, exact, call):
                # Calls within this one are not recorded, but another thread may have made some.
                self.calls.remove(call)
                if self.checkpoints is not None:
                    self.checkpoints.give_up(call)

    def _about_to_be_made(
        self, kind: str, target: CompiledTarget, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> RecordedCall | None:
        """Return the call with its checkpoint; None if it is not looked at."""
        if not self._is_looked_at(kind, target):
            return None
        call = recorded_call(target, args, kwargs)
        call.position = self.made
        self.calls.append(call)
        maker = self.checkpoints
        if maker is None or not maker.is_possible(self):
            call.snapshot = Snapshot([target.original], [target.state])
            return call
        if maker.has_room():
            maker.make(self, call)
            return call
        self.calls.remove(call)
        if kind not in self._kept:
            self.not_kept[target.name] += 1
        return None

    def _is_looked_at(self, kind: str, target: CompiledTarget) -> bool:
        if self.wanted is not None:
            return self.made in self.wanted
        count = self._kinds[kind]
        if count > _FIRST_CALLS and count & (count - 1):
            return False
        if len(self.calls) < _MOST_CALLS:
            return True
        if kind not in self._kept:
            self._kept[kind] = _Kept()
            self.not_kept[target.name] += 1
        return False

    def _is_kept(self, kind: str, exact: str, call: RecordedCall) -> bool:
        if self.wanted is not None:
            return True
        kept = self._kept.setdefault(kind, _Kept())
        has_new_numbers = exact not in kept.numbers and len(kept.numbers) < _MOST_NUMBERS
        kept.numbers.add(exact)
        if call.path in kept.paths and not has_new_numbers:
            return False
        if len(kept.paths) >= _MOST_PATHS:
            self.not_kept[call.target.name] += 1
            return False
        kept.paths.add(call.path)
        return True


def _modes(target: CompiledTarget) -> str:
    """Return the modes that calls of one kind have in common."""
    training = target.state.training if target.state is not None else None
    return (
        f"{torch.is_grad_enabled()} {torch.is_inference_mode_enabled()} {training} "
        f"{torch.is_autocast_enabled('cpu')} {torch.get_default_dtype()}"
    )
