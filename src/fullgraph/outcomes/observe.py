"""Observe one call: everything that it returned, mutated, raised and printed, as flat values."""

from __future__ import annotations

import dis
import io
import logging
import os
import re
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Protocol, TypeAlias

import torch
from torch.utils.weak import WeakIdKeyDictionary

from fullgraph.outcomes.metadata import random_states, result_metadata, versions_of

# A tensor, or the text of any other value.
Leaf: TypeAlias = "torch.Tensor | str"
NO_GRADIENT = "no gradient"
_PLAIN = (
    bool, int, float, complex, str, bytes,
    torch.dtype, torch.SymInt, torch.SymFloat, torch.SymBool,
)  # fmt: skip
_MAX_DEPTH = 8
_RAISING = ("RAISE_VARARGS", "RERAISE")
_TORCH_FOLDER = os.path.dirname(torch.__file__)
# How the names of loggers begin that are not the program's own.
_NOT_THE_PROGRAMS = ("torch", "fullgraph")
# Copies of tensors with their digests, as far as they are not too large.
_digests: WeakIdKeyDictionary = WeakIdKeyDictionary()
_MOST_COPIED = 2**26
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
# The values of these types show all of their content in their repr.
_SHOWN_IN_FULL = frozenset(
    {"builtins", "datetime", "decimal", "fractions", "numpy", "pathlib", "torch"}
)


@dataclass
class CallOutcome:
    """What one call did. Each dictionary maps the path of a leaf to its value."""

    outputs: dict[str, Leaf] = field(default_factory=dict)
    # The inputs after the call, which may have mutated them.
    inputs: dict[str, Leaf] = field(default_factory=dict)
    # Buffers, parameters and plain attributes of the module after the call.
    state: dict[str, Leaf] = field(default_factory=dict)
    gradients: dict[str, Leaf] = field(default_factory=dict)
    # The type and the message of the exception; both are empty if the call returned.
    raised: str = ""
    message: str = ""
    # Whether the program raises it, and not a function of torch or Python that it calls.
    is_own_error: bool = False
    # Printed, logged and warned lines.
    output: list[str] = field(default_factory=list)
    # Strides, sharing of memory, writes to inputs and random states; see `outcomes.metadata`.
    metadata: dict[str, str] = field(default_factory=dict)


class Context(Protocol):
    """The modes and random states in which to make a call."""

    @property
    def grad(self) -> bool:
        """Whether gradients are enabled."""

    @property
    def inference(self) -> bool:
        """Whether inference mode is enabled."""

    def restored(self) -> AbstractContextManager[None]:
        """Return a context manager that sets these modes and random states."""


def observe_call(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    context: Context | None = None,
    module: torch.nn.Module | None = None,
    named: Mapping[str, torch.Tensor] | None = None,
) -> CallOutcome:
    """Call `function` and return what it did. The call may mutate `args` and `kwargs`.

    `named` are further tensors that the function can reach, such as constants.

    With `context`, the call is made in that context, and its gradients are computed if the context
    has them enabled. Without `context`, no gradients are computed.
    """
    outcome = CallOutcome()
    restored = context.restored() if context is not None else nullcontext()
    versions = versions_of(tensors_in((args, kwargs)))
    with restored, capture_output() as output:
        try:
            result = function(*args, **kwargs)
            outcome.outputs = flattened(result)
            state = [*_tensors_of(module), *(named or {}).values()]
            outcome.metadata = result_metadata(
                tensors_in(result), tensors_in((args, kwargs)), state, versions
            )
            if context is not None and context.grad and not context.inference:
                outcome.gradients = _gradients(result, (args, kwargs), module, named or {})
        except Exception as error:
            outcome.raised = type(error).__name__
            outcome.message = str(error)
            outcome.is_own_error = is_raised_by_program(error)
        outcome.metadata |= random_states()
    outcome.inputs = flattened((args, kwargs))
    outcome.state = module_state(module)
    outcome.output = output
    return outcome


def is_raised_by_program(error: Exception) -> bool:
    """Return whether a statement outside of torch has raised an exception."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    code = trace.tb_frame.f_code
    name = dis.opname[code.co_code[trace.tb_lasti]] if trace.tb_lasti >= 0 else ""
    return name in _RAISING and not code.co_filename.startswith(_TORCH_FOLDER)


def flattened(value: Any, *, deepest: int = _MAX_DEPTH) -> dict[str, Leaf]:
    """Return the leaves of `value` by their path, such as `.0.'loss'`.

    A path that ends in a colon maps to the type of a container.
    """
    return dict(_leaves(value, "", deepest, set()))


def _leaves(value: Any, path: str, depth: int, parents: set[int]) -> Iterator[tuple[str, Leaf]]:
    if isinstance(value, torch.Tensor):
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            yield f"{path}:", type(value).__name__
        inner = _inner_tensors(value)
        if not inner:
            yield path, _plain_copy(value)
        for name, tensor in inner:
            yield from _leaves(tensor, f"{path}.{name}", depth, parents)
        return
    if value is None or isinstance(value, _PLAIN):
        yield path, repr(value)
        return
    if (array := _as_tensor(value)) is not None:
        yield f"{path}:", type(value).__name__
        yield path, array
        return
    parts = _parts(value)
    if parts is None:
        yield path, _describe_opaque(value)
        return
    if depth == 0 or id(value) in parents:
        yield path, type(value).__name__
        return
    yield f"{path}:", type(value).__name__
    for name, part in parts:
        yield from _leaves(part, f"{path}.{name}", depth - 1, {*parents, id(value)})


def _plain_copy(tensor: torch.Tensor) -> torch.Tensor:
    """Return a copy of type torch.Tensor: unpickling might not find the program's own subclass."""
    with torch._C.DisableTorchFunctionSubclass():
        copied = tensor.detach().clone()
        return copied if type(copied) is torch.Tensor else copied.as_subclass(torch.Tensor)


def _inner_tensors(tensor: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
    """Return the tensors that a nested tensor or a wrapper subclass consists of."""
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is not None:
        return [(name, getattr(tensor, name)) for name in flatten()[0]]
    if tensor.is_nested:
        return [(str(number), part) for number, part in enumerate(tensor.unbind())]
    return []


def _as_tensor(value: Any) -> torch.Tensor | None:
    """Return a copy of a NumPy array as a tensor; None for other values and for other dtypes."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray):
        return None
    try:
        return torch.from_numpy(value.copy())
    except TypeError:
        return None


def _describe_opaque(value: Any) -> str:
    """Return the repr of a value of a plain type, and only the type of any other value."""
    kind = type(value)
    if callable(value) or kind.__module__.split(".")[0] not in _SHOWN_IN_FULL:
        return kind.__name__
    shown = repr(value)
    return kind.__name__ if _ADDRESS.search(shown) else shown


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """Return the named parts of a container or an object; None if the value has no parts."""
    if isinstance(value, dict):
        return [(repr(key), part) for key, part in value.items()]
    if isinstance(value, list | tuple | deque):
        return [(str(number), part) for number, part in enumerate(value)]
    if isinstance(value, set | frozenset):
        return [(str(n), part) for n, part in enumerate(sorted(value, key=repr))]
    if isinstance(value, torch.nn.Module | type) or callable(value):
        return None
    if is_dataclass(value):
        # The class itself says that the other fields do not count.
        compared = [each.name for each in fields(value) if each.compare]
        return [(name, getattr(value, name, None)) for name in compared]
    attributes = getattr(value, "__dict__", None)
    slots = [(name, getattr(value, name)) for name in _slots(type(value)) if hasattr(value, name)]
    if isinstance(attributes, dict):
        return [*attributes.items(), *slots]
    return slots or None


def _slots(kind: type) -> list[str]:
    """Return the names in the `__slots__` of a class and its bases."""
    declared = [vars(base).get("__slots__", ()) for base in kind.__mro__]
    names = [name for slots in declared for name in ([slots] if isinstance(slots, str) else slots)]
    return [name for name in names if not name.startswith("__")]


def module_state(module: torch.nn.Module | None) -> dict[str, Leaf]:
    """Return the buffers, parameters and plain attributes of a module and of its submodules."""
    if module is None:
        return {}
    found: dict[str, Leaf] = {}
    for name, part in module.named_modules():
        for key, tensor in (*part._buffers.items(), *part._parameters.items()):
            if tensor is not None:
                # The digest of a large tensor shows neither.
                found[f"{name}.{key}:"] = f"{tensor.dtype} {tuple(tensor.shape)}"
                found[f"{name}.{key}"] = _digest(tensor)
        for key, value in vars(part).items():
            if not key.startswith("_") and not isinstance(value, torch.nn.Module):
                found |= {
                    f"{name}.{key}{path}": leaf
                    for path, leaf in flattened(value, deepest=3).items()
                }
    return found


def _tensors_of(module: torch.nn.Module | None) -> list[torch.Tensor]:
    return [*module.parameters(), *module.buffers()] if module is not None else []


def _digest(tensor: torch.Tensor) -> Leaf:
    """Return a small tensor itself, and sums over a large one that reveal a change."""
    values = tensor.detach()
    if tensor.numel() <= 64 or tensor.is_complex() or not tensor.dtype.is_floating_point:
        return values.clone()
    known = _digests.get(tensor)
    # Comparing is much faster. The method, because a program may replace the functions of torch.
    if known is not None and _is_alike(known[0], values) and known[0].equal(values):
        return known[1].clone()
    digest = _sums(values)
    if tensor.numel() <= _MOST_COPIED:
        _digests[tensor] = (values.clone(), digest.clone())
    return digest


def _is_alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return (one.dtype, one.shape, one.device) == (other.dtype, other.shape, other.device)


def _sums(tensor: torch.Tensor) -> torch.Tensor:
    values = tensor.double().reshape(-1)
    # A different weight for each element reveals two elements that changed places.
    weights = torch.arange(values.numel(), dtype=torch.float64, device=values.device).cos_()
    return torch.stack([values.sum(), values.abs().sum(), (values * weights).sum()])


def _gradients(
    result: Any, inputs: Any, module: torch.nn.Module | None, named: Mapping[str, torch.Tensor]
) -> dict[str, Leaf]:
    """Return the gradients of parameters and inputs for a weighted sum of all outputs."""
    outputs = [leaf for leaf in tensors_in(result) if leaf.requires_grad]
    if not outputs:
        return {}
    wanted: dict[str, torch.Tensor] = {}
    if module is not None:
        wanted |= {n: p for n, p in module.named_parameters() if p.requires_grad}
    wanted |= {name: tensor for name, tensor in named.items() if tensor.requires_grad}
    wanted |= {
        f"input {n}": leaf for n, leaf in enumerate(tensors_in(inputs)) if leaf.requires_grad
    }
    if not wanted:
        return {}
    loss = sum((_weighted_sum(output) for output in outputs), torch.zeros(()))
    found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True)
    return {
        name: NO_GRADIENT if gradient is None else gradient.detach().clone()
        for name, gradient in zip(wanted, found, strict=True)
    }


def _weighted_sum(output: torch.Tensor) -> torch.Tensor:
    values = output.abs() if output.is_complex() else output
    numbers = torch.arange(values.numel(), dtype=torch.float64)
    weights = numbers.mul_(0.7).cos_().to(values.device, values.dtype)
    return (values.reshape(-1) * weights).sum().float()


def tensors_in(value: Any, depth: int = _MAX_DEPTH) -> Iterator[torch.Tensor]:
    """Yield the tensors in a value, also those in containers and objects."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth:
        for _, part in _parts(value) or ():
            yield from tensors_in(part, depth - 1)


@contextmanager
def capture_output() -> Iterator[list[str]]:
    """Yield a list of the lines printed, logged and warned in the block, without torch's own.

    The list is complete when the block has ended.
    """
    output: list[str] = []
    handler = _OutputHandler(output)
    loggers = _root_loggers()
    for logger in loggers:
        logger.addHandler(handler)
    stream = io.StringIO()
    try:
        with redirect_stdout(stream), warnings.catch_warnings(record=True) as warned:
            # By default a line warns once per process, so a second call would warn less.
            warnings.simplefilter("always")
            yield output
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        output += [f"print: {line}" for line in stream.getvalue().splitlines()]
        output += [f"warning: {each.message}" for each in warned if not _is_from_torch(each)]


class _OutputHandler(logging.Handler):
    """Appends the program's log records to a list."""

    def __init__(self, output: list[str]) -> None:
        super().__init__()
        self._output = output

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message, unless torch or fullgraph has logged it."""
        if not record.name.startswith(_NOT_THE_PROGRAMS):
            self._output.append(f"log {record.levelname}: {record.getMessage()}")


def _root_loggers() -> list[logging.Logger]:
    """Return the root logger and the loggers that do not propagate, such as transformers' own.

    Torch's are left out: a handler of its trace logger makes torch write a trace of each compile.
    """
    return [logging.getLogger()] + [
        logger
        for logger in logging.Logger.manager.loggerDict.values()
        if isinstance(logger, logging.Logger)
        and not logger.propagate
        and not logger.name.startswith(_NOT_THE_PROGRAMS)
    ]


def _is_from_torch(warning: warnings.WarningMessage) -> bool:
    """Return whether torch itself warns, which it mostly does once per process."""
    return _TORCH_FOLDER in warning.filename or "(Triggered internally at" in str(warning.message)
