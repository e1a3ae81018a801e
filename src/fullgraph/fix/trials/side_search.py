"""Searches inputs for which a given side of a test runs.

A search starts from calls that are known to reach the test. It follows the gradient of what the
test compares, and tries other numbers, sizes and modules' tensors. A call that gets further,
because another comparison in the test runs or changes, is a start for the rest of the search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product, zip_longest
from typing import Any

import torch

from fullgraph.fix.record.recorder import RecordedCall, clone_inputs
from fullgraph.fix.source.rewritten_tests import Deciding
from fullgraph.fix.trials.probes._probe import (
    Argument,
    Probe,
    applied,
    arguments_of,
    like,
    tensors_of,
    with_context,
    with_value,
    with_values,
)
from fullgraph.fix.trials.samples import state_restored
from fullgraph.fix.trials.side_observer import Side, SideObserver
from fullgraph.outcomes.observe import capture_output

# A side that was reached by two different inputs is looked at from two angles.
_ENOUGH = 2
_MOST_STARTS = 8
_MOST_CONSTANTS = 8
_MOST_STEPS = 12
# Steps that bring the operands no closer together, before a descent is given up.
_MOST_IN_VAIN = 2
_KEPT_FOR_SEARCH = 0.75
_LARGEST_SIZE = 4096
_LARGEST_INTEGER = 2**62
_FACTORS = (-1.0, 10.0, -10.0, 0.1, 1e3, -1e3, 1e-3, 1e5, 1e7, 1e9)
_OFFSETS = (1.0, -1.0, 10.0, -10.0, 100.0, -100.0, 1e4, -1e4, 1e7, -1e7)
_RANDOM = 12
# Of random numbers. Where only rounding errors reach a side, large numbers do.
_SCALES = (1.0, 1e9, 1e3, 1e-2, 1e12, 1e6)
# For sides that only rounding errors reach, and that far down: numbers get smaller on the way.
_LARGE = (1e9, 1e15, 1e22, 1e30)
_SEEDS = 4
_Change = Callable[[torch.Tensor], torch.Tensor]


def _state_of(call: RecordedCall) -> list[tuple[str, torch.Tensor]]:
    module = call.target.state
    if module is None:
        return []
    return [*module.named_parameters(), *module.named_buffers()]


def observe(
    probe: Probe, observer: SideObserver, leaves: dict[int, torch.Tensor] | None = None
) -> set[Side]:
    """Call the function of a probe and return the sides that run, even if the call raises.

    With `leaves`, these tensors take the place of arguments, and gradients can reach them.
    """
    target, call = probe.call.target, probe.call
    args, kwargs = clone_inputs((call.args, call.kwargs), target.state)
    if leaves is not None:
        with torch.enable_grad(), torch.inference_mode(False):
            # The program may write to its arguments, which a leaf does not allow.
            moving = with_values(call, {index: leaf * 1 for index, leaf in leaves.items()})
        args, kwargs = moving.args, moving.kwargs
        call = with_context(call, grad=True, inference=False)
    observer.forget()
    with state_restored(target):
        call.restore()
        # The program may reject later what reaches the side.
        with applied(probe), capture_output(), call.context.restored(), suppress(Exception):
            target.original(*args, **kwargs)
    return set(observer.sides)


@dataclass
class SideSearch:
    """Searches inputs for sides of tests, with at most so many calls for each side."""

    observer: SideObserver
    # By the index of the test.
    deciding: Sequence[Deciding]
    most_calls: int
    _left: int = 0
    _found: list[Probe] = field(default_factory=list)
    _starts: list[Probe] = field(default_factory=list)
    _progress: set[Any] = field(default_factory=set)
    # The numbers that something was compared with; a dictionary keeps their order.
    _constants: dict[float, None] = field(default_factory=dict)
    _side: Side = field(default_factory=lambda: Side(0, True))

    def calls_for(self, side: Side, starts: Iterable[Probe]) -> list[Probe]:
        """Return up to two calls for which a side runs."""
        self._side, self._left = side, self.most_calls
        self._found, self._starts, self._progress, self._constants = [], [], set(), {}
        for start in starts:
            # Most of the calls are for what the starts lead to.
            if len(self._starts) < _MOST_STARTS and self._left > self.most_calls * _KEPT_FOR_SEARCH:
                self._run(start)
        # All starts take turns: a call that gets further is not kept waiting.
        waiting: list[Iterator[Probe]] = []
        while not self._is_done():
            for start in self._starts[len(waiting) :]:
                self._follow_gradients(start)
                waiting.append(self._candidates(start))
            candidates = [next(each, None) for each in waiting]
            if not any(candidates):
                break
            for changed in candidates:
                if changed is not None and not self._is_done():
                    self._run(changed)
        if not self._found:
            # The last resort, because such numbers hide differences.
            self._try_large_numbers()
        return self._found

    def _is_done(self) -> bool:
        return self._left <= 0 or len(self._found) >= _ENOUGH

    def _run(self, probe: Probe, leaves: dict[int, torch.Tensor] | None = None) -> None:
        self._left -= 1
        sides = observe(probe, self.observer, leaves)
        progress = self._progress_of()
        if progress not in self._progress and len(self._starts) < _MOST_STARTS:
            self._progress.add(progress)
            self._starts.append(probe)
            self._constants.update(dict.fromkeys(self._compared()))
        if self._side not in sides:
            return
        # With gradients, the program may have gone another way.
        if leaves is None or self._side in observe(probe, self.observer):
            self._found.append(probe)

    def _progress_of(self) -> Any:
        """Return what tells whether a call gets further: how the operands compare."""
        deciding = self.deciding[self._side.test]
        numbers = deciding.inside or deciding.others
        return frozenset(
            (number, _order(*self.observer.operands[number]))
            for number in numbers
            if number in self.observer.operands
        )

    def _try_large_numbers(self) -> None:
        self._left = len(_LARGE) * _SEEDS
        for scale, seed in product(_LARGE, range(_SEEDS)):
            for start in self._starts[:1]:
                values = {
                    each.index: _changed(each.value, partial(_noise, seed, scale))
                    for each in _floats(start.call)
                }
                known = {index: value for index, value in values.items() if value is not None}
                if known and not self._is_done():
                    self._run(replace(start, call=with_values(start.call, known)))

    # Gradients of what is compared.

    def _follow_gradients(self, start: Probe) -> None:
        for number in self.deciding[self._side.test].all:
            for sign in (1, -1, 0):
                if self._is_done():
                    return
                self._descend(start, number, sign)

    def _descend(self, start: Probe, number: int, sign: int) -> None:
        """Change the inputs until the left operand is larger, smaller or equal everywhere."""
        variables = {each.index: each.value.detach().clone() for each in _floats(start.call)}
        if not variables:
            return
        nearest, in_vain = math.inf, 0
        for _ in range(_MOST_STEPS):
            leaves = {index: value.requires_grad_() for index, value in variables.items()}
            current = replace(start, call=_with_tensors(start.call, leaves))
            self._run(current, leaves)
            distance = _distance(self.observer.operands.get(number), sign)
            if self._is_done() or distance is None:
                return
            missing = float(distance.detach().sum())
            in_vain = 0 if missing < nearest else in_vain + 1
            nearest = min(nearest, missing)
            steps = _steps(distance, sign, leaves) if in_vain < _MOST_IN_VAIN else None
            if steps is None:
                return
            variables = {
                index: (value.detach() - steps[index]).detach() for index, value in leaves.items()
            }

    # Other numbers, sizes and tensors of modules.

    def _candidates(self, start: Probe) -> Iterator[Probe]:
        constants = list(self._constants)[:_MOST_CONSTANTS] or [0.0]
        floats = _floats(start.call)
        integers = [each for each in tensors_of(start.call) if each.is_integer]
        groups = (
            _numbers(start, constants),
            _sizes(start, constants),
            _each_and_all(start, floats, _float_changes(constants)),
            _each_and_all(start, integers, _integer_changes(constants)),
            _of_state(start, constants),
        )
        for each in zip_longest(*groups):
            yield from (probe for probe in each if probe is not None)

    def _compared(self) -> Iterator[float]:
        """Yield the numbers that the last call compared with something."""
        for number in self.deciding[self._side.test].all:
            for operand in self.observer.operands.get(number, ()):
                value = _as_number(operand)
                if value is not None and math.isfinite(value):
                    yield value


def _floats(call: RecordedCall) -> list[Argument]:
    return [each for each in tensors_of(call) if each.is_float and each.value.numel()]


def _with_tensors(call: RecordedCall, values: dict[int, torch.Tensor]) -> RecordedCall:
    """Return the call with other tensors, which require gradients where the old ones do."""
    old = {each.index: each.value for each in tensors_of(call)}
    return with_values(call, {n: like(old[n], value.clone()) for n, value in values.items()})


def _order(left: Any, right: Any) -> Any:
    """Return how two operands compare: the signs of their differences that occur."""
    try:
        if isinstance(left, torch.Tensor) or isinstance(right, torch.Tensor):
            one, other = (torch.as_tensor(each).double() for each in (left, right))
            difference = torch.sign(one - other)
            return (difference.min().item(), difference.max().item()) if difference.numel() else ()
        return (left > right) - (left < right)
    except (RuntimeError, TypeError, ValueError):
        return None


def _as_number(value: Any) -> float | None:
    if isinstance(value, torch.Tensor):
        return float(value.detach()) if value.numel() == 1 and not value.is_complex() else None
    return float(value) if isinstance(value, bool | int | float) else None


def _distance(operands: tuple[Any, Any] | None, sign: int) -> torch.Tensor | None:
    """Return how far each element of the left operand is from being larger, smaller or equal.

    None if that does not depend on the inputs in a way that gradients know.
    """
    if operands is None:
        return None
    left, right = operands
    if not any(isinstance(each, torch.Tensor) and each.requires_grad for each in operands):
        return None
    with torch.enable_grad():
        try:
            difference = torch.as_tensor(left - right)
            margin = 1e-3 + 0.01 * float(torch.as_tensor(right).detach().abs().max())
            return difference.abs() if sign == 0 else (margin - sign * difference).relu()
        except (RuntimeError, TypeError, ValueError):
            return None


def _steps(
    distance: torch.Tensor, sign: int, leaves: dict[int, torch.Tensor]
) -> dict[int, torch.Tensor] | None:
    """Return what to subtract from each input; None if nothing is to be done, or can be."""
    with torch.enable_grad():
        total = distance.sum()
        size = float(total.detach())
        if not size or not math.isfinite(size):
            return None
        try:
            gradients = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
        except RuntimeError:
            return None
    length = sum(float((each.double() ** 2).sum()) for each in gradients if each is not None)
    if not length or not math.isfinite(length):
        return None
    return {
        index: torch.zeros_like(leaf) if gradient is None else _step(
            leaf, gradient, distance, size / length, sign
        )
        for (index, leaf), gradient in zip(leaves.items(), gradients, strict=True)
    }  # fmt: skip


def _step(
    leaf: torch.Tensor, gradient: torch.Tensor, missing: torch.Tensor, length: float, sign: int
) -> torch.Tensor:
    if missing.shape == leaf.shape and leaf.dim():
        # Where each element is compared by itself, each goes its own way.
        own = missing.detach() / gradient.where(gradient != 0, torch.ones_like(gradient))
        return own.where(gradient != 0, torch.zeros_like(own)) * (1.0 if sign == 0 else 1.1)
    return gradient * length * (1.0 if sign == 0 else 1.1)


def _each_and_all(
    start: Probe, arguments: list[Argument], changes: Iterable[_Change]
) -> Iterator[Probe]:
    """Yield calls with a change of each tensor alone, and of all of them."""
    for change in changes:
        changed = {each.index: _changed(each.value, change) for each in arguments}
        known = {index: value for index, value in changed.items() if value is not None}
        for index, value in known.items():
            yield replace(start, call=with_value(start.call, _at(arguments, index), value))
        if len(known) > 1:
            yield replace(start, call=with_values(start.call, known))


def _at(arguments: list[Argument], index: int) -> Argument:
    return next(each for each in arguments if each.index == index)


def _changed(tensor: torch.Tensor, change: _Change) -> torch.Tensor | None:
    try:
        with torch.no_grad(), torch.inference_mode(False):
            return like(tensor, change(tensor.detach().clone()).to(tensor.dtype))
    except (RuntimeError, TypeError, ValueError, OverflowError, IndexError):
        # Such as a tensor without elements.
        return None


def _near(constants: Iterable[float]) -> list[float]:
    """Return numbers next to some constants, the constants included."""
    found: dict[float, None] = {}
    for value in constants:
        for near in (value, value + 1, value - 1, value * 1.1 + 0.1, value * 0.9 - 0.1, -value):
            found[near] = None
    return list(found)


def _float_changes(constants: list[float]) -> Iterator[_Change]:
    near = _near(constants)
    return _in_turn(
        [partial(_times, value) for value in _FACTORS],
        [partial(_plus, value) for value in _OFFSETS],
        [partial(_with_first, value) for value in near],
        [partial(_full, value) for value in near],
        [partial(_with_sum, value) for value in near],
        [partial(_only_first, value) for value in near],
        [partial(_random, seed) for seed in range(_RANDOM)],
    )


def _integer_changes(constants: list[float]) -> Iterator[_Change]:
    near = [int(each) for each in _near(constants) if abs(each) < _LARGEST_INTEGER]
    return _in_turn(
        [partial(_full, value) for value in near],
        [partial(_with_first, value) for value in near],
        [partial(_first_ones, value) for value in near],
        [partial(_shuffled, seed) for seed in range(_RANDOM)],
        [partial(_plus, value) for value in (1, -1, 10, 100, 1000)],
    )


def _in_turn(*groups: Sequence[_Change]) -> Iterator[_Change]:
    return (each for group in zip_longest(*groups) for each in group if each is not None)


def _times(factor: float, tensor: torch.Tensor) -> torch.Tensor:
    return tensor * factor


def _plus(offset: float, tensor: torch.Tensor) -> torch.Tensor:
    return tensor + offset


def _full(value: float, tensor: torch.Tensor) -> torch.Tensor:
    return torch.full_like(tensor, value)


def _only_first(value: float, tensor: torch.Tensor) -> torch.Tensor:
    return _with_first(value, torch.zeros_like(tensor))


def _with_sum(value: float, tensor: torch.Tensor) -> torch.Tensor:
    return torch.full_like(tensor, value / max(tensor.numel(), 1))


def _with_first(value: float, tensor: torch.Tensor) -> torch.Tensor:
    new = tensor.contiguous()
    new.view(-1)[0] = value
    return new


def _first_ones(number: int, tensor: torch.Tensor) -> torch.Tensor:
    if not 0 <= number <= tensor.numel():
        raise ValueError("it has fewer elements")
    new = torch.zeros_like(tensor).contiguous()
    new.view(-1)[:number] = 1
    return new


def _random(seed: int, tensor: torch.Tensor) -> torch.Tensor:
    scale = _SCALES[seed % len(_SCALES)]
    return _noise(seed, scale, tensor) + (seed % 3 - 1) * scale


def _noise(seed: int, scale: float, tensor: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(tensor.shape, generator=generator).to(tensor.device) * scale


def _shuffled(seed: int, tensor: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if seed % 2:
        order = torch.randperm(tensor.numel(), generator=generator)
        return tensor.reshape(-1)[order].view_as(tensor)
    low, high = int(tensor.min()), int(tensor.max()) + 1
    return torch.randint(low, high + seed, tensor.shape, generator=generator).to(tensor.dtype)


def _numbers(start: Probe, constants: list[float]) -> Iterator[Probe]:
    """Yield calls with other numbers and flags as arguments."""
    for argument in arguments_of(start.call):
        value = argument.value
        if isinstance(value, bool):
            yield replace(start, call=with_value(start.call, argument, not value))
        elif isinstance(value, int | float):
            for near in _near(constants):
                new = type(value)(near)
                if new != value:
                    yield replace(start, call=with_value(start.call, argument, new))


def _sizes(start: Probe, constants: list[float]) -> Iterator[Probe]:
    """Yield calls in which all dimensions of one size have another size."""
    tensors = tensors_of(start.call)
    sizes = dict.fromkeys(size for each in tensors for size in each.value.shape if size)
    for size in sizes:
        others = max(each.value.numel() // size for each in tensors if size in each.value.shape)
        wanted: dict[int, None] = {}
        for value in constants:
            for near in (value + 1, value - 1, value, value // max(others, 1) + 1):
                if 0 < near <= _LARGEST_SIZE and int(near) != size:
                    wanted[int(near)] = None
        for new in wanted:
            changed = {
                each.index: _resized(each.value, size, new)
                for each in tensors
                if size in each.value.shape
            }
            yield replace(start, call=with_values(start.call, changed))


def _resized(tensor: torch.Tensor, size: int, new: int) -> torch.Tensor:
    found = tensor.detach()
    for dimension, old in enumerate(tensor.shape):
        if old == size:
            index = torch.arange(new, device=tensor.device) % size
            found = found.index_select(dimension, index)
    return like(tensor, found.clone())


def _of_state(start: Probe, constants: list[float]) -> Iterator[Probe]:
    """Yield calls with other parameters or buffers of the modules."""
    named = [(name, each) for name, each in _state_of(start.call) if each.numel()]
    # Small tensors first: counters and flags are more likely to decide something than weights.
    for name, tensor in sorted(named, key=lambda each: each[1].numel())[:_MOST_STARTS]:
        changes = (
            _float_changes(constants)
            if tensor.dtype.is_floating_point
            else _integer_changes([*constants, 0.0, 1.0])
        )
        for change in changes:
            value = _changed(tensor, change)
            if value is not None:
                yield replace(start, state={**start.state, name: value.detach()})
