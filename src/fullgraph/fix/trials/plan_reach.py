"""What a plan sees of a call: the metadata that reaches the code which the plan changes.

A rewrite depends on the variables that its lines name and on the modes of torch. Settings that
capture data-dependent operators, and value guards, depend on the tensors which these operators get;
other settings on all operators. A call of which a plan sees nothing new is compiled by it as a
known call is.
"""

from __future__ import annotations

import os
import re
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from fullgraph.fix.model import FixPlan
from fullgraph.fix.source.edits import FileEdits, edited_lines
from fullgraph.fix.source.text import read_source, source_line
from fullgraph.fix.trials.outcome import run_call
from fullgraph.fix.trials.probes import Probe
from fullgraph.fix.trials.probes._probe import applied
from fullgraph.fix.trials.probes.values import ALL_REQUIRE_GRADIENTS
from fullgraph.fix.trials.samples import Sample, call_restored

# Settings that only concern operators whose results depend on the values in tensors.
_DATA_DEPENDENT = {"capture_scalar_outputs", "capture_dynamic_output_shape_ops"}
_TAGS = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
_READS = ("tolist", "numpy", "__array__")
_NAME = re.compile(r"[A-Za-z_]\w*")
# Larger sizes and numbers are alike.
_LARGEST = 2
_MOST_PARTS = 64

# What a plan sees at one moment of a call.
Sight = tuple[Any, ...]


def without_redundant(
    probes: Sequence[Probe], plan: FixPlan, samples: Iterable[Sample]
) -> list[Probe]:
    """Return probes of which those of metadata run compiled only if the plan sees something new.

    The calls of `samples` are known: they run compiled in any case.
    """
    reach = PlanReach(plan)
    known: set[Sight] = set()
    for sample in samples:
        call = sample.call
        with call_restored(call), reach.watched() as seen:
            run_call(call, call.target.original, call.target)
        known |= seen
    found = []
    for probe in probes:
        if probe.compiled and _changes_metadata(probe):
            with applied(probe), reach.watched() as seen:
                run_call(probe.call, probe.call.target.original, probe.call.target, probe.computed)
            probe = replace(probe, compiled=not seen <= known)
            known |= seen
        found.append(probe)
    return found


def _changes_metadata(probe: Probe) -> bool:
    return probe.is_metadata or probe.name.endswith(ALL_REQUIRE_GRADIENTS)


class PlanReach:
    """Watches the original program run calls, and notes what a plan sees of them."""

    def __init__(self, plan: FixPlan) -> None:
        self._files = {os.path.realpath(path): _Changed(file) for path, file in plan.files.items()}
        self._settings = set(plan.settings)
        self._guards = plan.guards

    @contextmanager
    def watched(self) -> Iterator[set[Sight]]:
        """Yield what the plan sees of the call in the block; complete when the block has ended."""
        seen: set[Sight] = set()
        with ExitStack() as stack:
            if self._settings or self._guards:
                every = not self._settings <= _DATA_DEPENDENT
                stack.enter_context(_Operators(seen, every=every))
                stack.enter_context(_Reads(seen))
            if self._files:
                stack.enter_context(_tracing(self._tracer(seen)))
            yield seen

    def _tracer(self, seen: set[Sight]) -> Callable[..., Any]:
        def trace_lines(frame: FrameType, event: str, _: Any) -> Any:
            changed = self._files[_real_path(frame.f_code.co_filename)]
            if event == "line" and frame.f_lineno in changed.lines:
                seen.add((frame.f_lineno, _modes(), *changed.values_of(frame)))
            return trace_lines

        def trace_calls(frame: FrameType, _: str, __: Any) -> Any:
            return trace_lines if _real_path(frame.f_code.co_filename) in self._files else None

        return trace_calls


class _Changed:
    """The lines of a file that a plan changes, and the names on them, before or after."""

    def __init__(self, file: FileEdits) -> None:
        text = read_source(file.path) or ""
        self.lines = set(edited_lines(text, file.edits))
        code = [source_line(text, line) for line in self.lines]
        code += [each.replacement for each in file.edits]
        self._names = frozenset(_NAME.findall("\n".join((*code, *file.module_additions))))

    def values_of(self, frame: FrameType) -> Iterator[Any]:
        """Yield the names that have a value at this moment, each with what its value shows."""
        variables = frame.f_locals
        for name in sorted(self._names & variables.keys()):
            value = variables[name]
            yield name, _shown(value)
            attributes = _attributes(value)
            for attribute in sorted(self._names & attributes.keys()):
                yield f"{name}.{attribute}", _shown(attributes[attribute])


def _attributes(value: Any) -> Mapping[str, Any]:
    """Return the attributes of an object of the program."""
    if isinstance(value, torch.Tensor) or not isinstance(getattr(value, "__dict__", None), dict):
        return {}
    if isinstance(value, torch.nn.Module):
        return ChainMap(vars(value), value._parameters, value._buffers, value._modules)
    return dict(vars(value))


class _Operators(TorchDispatchMode):  # type: ignore[misc]
    """Notes the tensors that data-dependent operators get, or all operators."""

    def __init__(self, seen: set[Sight], *, every: bool) -> None:
        super().__init__()
        self._seen = seen
        self._every = every

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Note the arguments of an operator, and run it."""
        if self._every or not _TAGS.isdisjoint(func.tags):
            self._seen.add((str(func), _without_layout(_shown((args, kwargs or {})))))
        return func(*args, **kwargs or {})


class _Reads(TorchFunctionMode):  # type: ignore[misc]
    """Notes the tensors whose memory is read without an operator."""

    def __init__(self, seen: set[Sight]) -> None:
        super().__init__()
        self._seen = seen

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Note the arguments of a function, and run it."""
        if getattr(func, "__name__", "") in _READS:
            self._seen.add((func.__name__, _without_layout(_shown(args))))
        return func(*args, **kwargs or {})


@contextmanager
def _tracing(trace: Callable[..., Any]) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def _modes() -> tuple[Any, ...]:
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_default_dtype(),
    )


def _shown(value: Any) -> Any:
    """Return what decides how code compiles that uses a value, without the content of tensors."""
    leaves = pytree.tree_leaves(value)[:_MOST_PARTS]
    return tuple(dict.fromkeys(map(_shown_leaf, leaves)))


def _without_layout(shown: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what decides how an operator is captured: where its numbers lie does not."""
    return tuple(each[:3] if isinstance(each, tuple) else each for each in shown)


def _shown_leaf(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        if leaf.layout != torch.strided or leaf.is_nested:
            return (type(leaf).__name__, leaf.dtype, str(leaf.layout))
        sizes = tuple(min(size, _LARGEST) for size in leaf.shape)
        strides = tuple(min(stride, 1) for stride in leaf.stride())
        return (leaf.dtype, sizes, leaf.requires_grad, strides, leaf.is_contiguous())
    if isinstance(leaf, torch.nn.Module):
        return (type(leaf).__name__, leaf.training)
    if isinstance(leaf, bool | str | None):
        return leaf
    if isinstance(leaf, int):
        return (int, max(min(leaf, _LARGEST), -1))
    return type(leaf).__name__


@cache
def _real_path(file: str) -> str:
    return os.path.realpath(file)
