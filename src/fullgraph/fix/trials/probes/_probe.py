"""What all kinds of probes use: the arguments of a call by name, and calls with one changed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree

from fullgraph.fix.record.recorder import CallContext, RecordedCall, clone_inputs
from fullgraph.fix.trials.outcome import Around
from fullgraph.fix.trials.samples import state_restored

TensorChange = Callable[[torch.Tensor], torch.Tensor]


class NamedValue(NamedTuple):
    """A value that a name gets for one call, in a module's globals or an object's attributes."""

    space: dict[str, Any]
    name: str
    value: Any


@dataclass(frozen=True)
class Probe:
    """A changed call, and what a fix assumes that is right only without the change."""

    name: str
    assumption: str
    call: RecordedCall
    # Whether compiled code runs it, too: this takes a compile.
    compiled: bool = False
    # The mode of the module; None if it stays.
    training: bool | None = None
    # The index of a tensor that is computed before the call, so that it is no leaf.
    computed: int | None = None
    # The probe without gradients that this one adds gradients to; empty for others.
    base: str = ""
    # Whether the assumption is about metadata of the arguments, which a signature shows.
    is_metadata: bool = False
    # Values of parameters and buffers of the function's modules, by name.
    state: dict[str, torch.Tensor] = field(default_factory=dict)
    # Constants and attributes with other values.
    names: tuple[NamedValue, ...] = ()
    # What is called instead of the function, given the function.
    around: Around | None = None
    # The changed function that is called instead of a compiled one; empty for others.
    helper: str = ""
    # The names of the two probes whose changes it combines; empty for others.
    combines: tuple[str, ...] = ()
    # Whether it is compared only if the original program accepts the call.
    only_accepted: bool = False


@contextmanager
def applied(probe: Probe) -> Iterator[None]:
    """Change for a block what a probe changes besides the arguments of its call."""
    target = probe.call.target
    before = [(space, name, space[name]) for space, name, _ in probe.names]
    # Before the call, so that this is what is restored.
    named = target.named
    with state_restored(target):
        if probe.training is not None and target.state is not None:
            target.state.train(probe.training)
        if probe.state and target.state is not None:
            tensors = dict([*target.state.named_parameters(), *target.state.named_buffers()])
            with torch.no_grad():
                for name, value in probe.state.items():
                    tensors[name].copy_(value)
        for space, name, new in probe.names:
            space[name] = new
        try:
            yield
        finally:
            for space, name, old in before:
                space[name] = old
            named.restore()


@dataclass(frozen=True)
class Argument:
    """A leaf of the arguments of a call."""

    # As the function names it: `x`, or `batch['mask']`.
    name: str
    index: int
    value: Any

    @property
    def is_float(self) -> bool:
        """Whether it is a tensor of floating-point numbers."""
        return isinstance(self.value, torch.Tensor) and self.value.dtype.is_floating_point

    @property
    def is_integer(self) -> bool:
        """Whether it is a tensor of integers or booleans."""
        return isinstance(self.value, torch.Tensor) and not (
            self.value.dtype.is_floating_point or self.value.dtype.is_complex
        )


def arguments_of(call: RecordedCall) -> list[Argument]:
    """Return the leaves of the arguments, in the order of their flattened form."""
    leaves, _ = pytree.tree_flatten_with_path((call.args, call.kwargs))
    names = _parameter_names(call)
    return [
        Argument(_name(path, names), index, value) for index, (path, value) in enumerate(leaves)
    ]


def tensors_of(call: RecordedCall) -> list[Argument]:
    """Return the arguments that are strided tensors of torch's own class."""
    return [
        each
        for each in arguments_of(call)
        if type(each.value) in (torch.Tensor, torch.nn.Parameter)
        and each.value.layout == torch.strided
        and not each.value.is_nested
    ]


def _name(path: tuple[Any, ...], names: list[str]) -> str:
    kind, first, *rest = (*path, None, None)[: max(len(path), 2)]
    key = getattr(first, "key", getattr(first, "idx", 0))
    if getattr(kind, "idx", 0) == 1:
        name = str(key)
    else:
        name = names[key] if isinstance(key, int) and key < len(names) else f"argument {key}"
    return name + "".join(str(each) for each in rest if each is not None)


def _parameter_names(call: RecordedCall) -> list[str]:
    """Return the names of the positional arguments of a call; those of *args are numbered."""
    function = call.target.original
    if isinstance(function, torch.nn.Module):
        function = function.forward
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    names: list[str] = []
    for each in parameters:
        if each.kind is each.VAR_POSITIONAL:
            extra = range(len(call.args) - len(names))
            return [*names, *(f"{each.name}[{number}]" for number in extra)]
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD):
            names.append(each.name)
    return names


def with_tensors(
    call: RecordedCall, change: TensorChange, indices: set[int] | None = None
) -> RecordedCall | None:
    """Return the call with some tensors, or all, changed; None if none of them changes.

    A change that raises an error leaves its tensor as it is.
    """
    changed = False

    def leaf(index: int, value: Any) -> Any:
        nonlocal changed
        wanted = isinstance(value, torch.Tensor) and (indices is None or index in indices)
        if not wanted:
            return value
        try:
            # Grad mode matters for probes that make a tensor part of a graph.
            with torch.inference_mode(False), torch.enable_grad():
                new = change(value)
        except (RuntimeError, ValueError, IndexError, TypeError):
            return value
        changed = changed or new is not value
        return new

    leaves, spec = pytree.tree_flatten(clone_inputs((call.args, call.kwargs)))
    args, kwargs = pytree.tree_unflatten([leaf(*each) for each in enumerate(leaves)], spec)
    return replace(call, args=args, kwargs=kwargs) if changed else None


def with_value(call: RecordedCall, argument: Argument, value: Any) -> RecordedCall:
    """Return the call with another value of one argument."""
    return with_values(call, {argument.index: value})


def with_values(call: RecordedCall, values: dict[int, Any]) -> RecordedCall:
    """Return the call with other values of some arguments, by their index."""
    leaves, spec = pytree.tree_flatten(clone_inputs((call.args, call.kwargs)))
    for index, value in values.items():
        leaves[index] = value
    args, kwargs = pytree.tree_unflatten(leaves, spec)
    return replace(call, args=args, kwargs=kwargs)


def with_context(call: RecordedCall, **changes: Any) -> RecordedCall:
    """Return the call in another context, such as another grad mode."""
    context: CallContext = replace(call.context, **changes)
    return replace(call, context=context)


def with_gradients(call: RecordedCall) -> RecordedCall | None:
    """Return the call with gradients of all floating-point tensors; None if it has them."""
    changed = with_tensors(call, _requiring_grad)
    return with_context(changed, grad=True, inference=False) if changed is not None else None


def _requiring_grad(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.requires_grad or not tensor.dtype.is_floating_point:
        return tensor
    return tensor.detach().clone(memory_format=torch.preserve_format).requires_grad_()


def like(tensor: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """Return a new value for a tensor, a leaf that requires gradients if the tensor does."""
    new = new.detach()
    needs = tensor.requires_grad and new.dtype.is_floating_point
    return new.requires_grad_(needs)


def probe_each(
    call: RecordedCall,
    arguments: list[Argument],
    what: str,
    assumption: str,
    change: TensorChange,
    *,
    compiled: bool = False,
    gradients: bool = False,
) -> Iterator[Probe]:
    """Yield a probe per argument; with `gradients`, also one in which all require gradients.

    `what` and `assumption` are completed with the name of the argument and its value.
    """
    for argument in arguments:
        changed = with_tensors(call, lambda tensor: like(tensor, change(tensor)), {argument.index})
        if changed is None:
            continue
        texts = {"name": argument.name, "value": argument.value}
        name, assumed = what.format(**texts), assumption.format(**texts)
        yield Probe(name, assumed, changed, compiled)
        in_training = with_gradients(changed) if gradients else None
        if in_training is not None:
            # Compiled code runs the variant without gradients; eager mode tells how they differ.
            yield Probe(f"{name}, with gradients", assumed, in_training, base=name)
