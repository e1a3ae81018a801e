"""Everything that a call did, as flat facts that can be kept and compared."""

from __future__ import annotations

import io
import logging
import math
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias

import torch

from fullgraph.fix.record.recorder import Call, Target, cloned

_DEEPEST = 8
NO_GRADIENT = "no gradient"
_SHOWN = 60
_TORCH = os.path.dirname(torch.__file__)
# A tensor, or the text of anything else.
Leaf: TypeAlias = "torch.Tensor | str"
_TOLERANCE = {torch.float64: 1e-7, torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3}


@dataclass
class Outcome:
    """One call: what it gave, changed, raised and said."""

    outputs: dict[str, Leaf] = field(default_factory=dict)
    # The inputs after the call.
    inputs: dict[str, Leaf] = field(default_factory=dict)
    # What the module has kept: buffers, parameters and plain attributes.
    state: dict[str, Leaf] = field(default_factory=dict)
    gradients: dict[str, Leaf] = field(default_factory=dict)
    raised: str = ""
    message: str = ""
    said: list[str] = field(default_factory=list)


def run_call(call: Call, function: Callable[..., Any], target: Target) -> Outcome:
    """Call `function` as it was called then, and note everything."""
    outcome = Outcome()
    args, kwargs = cloned((call.args, call.kwargs))
    with call.modes.again(), listening() as said:
        try:
            result = function(*args, **kwargs)
            outcome.outputs = flattened(result)
            if call.modes.grad and not call.modes.inference:
                outcome.gradients = _gradients(result, (args, kwargs), target)
        except Exception as error:
            outcome.raised = type(error).__name__
            outcome.message = str(error)
    outcome.inputs = flattened((args, kwargs))
    outcome.state = module_state(target.module)
    outcome.said = said
    return outcome


# Looking


def flattened(value: Any, *, deepest: int = _DEEPEST) -> dict[str, Leaf]:
    return dict(_leaves(value, "", deepest, set()))


def _leaves(value: Any, path: str, depth: int, above: set[int]) -> Iterator[tuple[str, Leaf]]:
    if isinstance(value, torch.Tensor):
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            yield f"{path}:", type(value).__qualname__
        yield path, _plain(value)
        return
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | torch.dtype):
        yield path, repr(value)
        return
    parts = _parts(value)
    if parts is None or depth == 0 or id(value) in above:
        yield path, type(value).__qualname__
        return
    yield f"{path}:", type(value).__qualname__
    for name, part in parts:
        yield from _leaves(part, f"{path}.{name}", depth - 1, {*above, id(value)})


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that can be kept: a class of the program's own may not be found again."""
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.detach().clone().as_subclass(torch.Tensor)


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    """What a container or an object is made of; None for what has no inside."""
    if isinstance(value, dict):
        return [(repr(key), part) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return [(str(number), part) for number, part in enumerate(value)]
    if isinstance(value, set | frozenset):
        return [(str(n), part) for n, part in enumerate(sorted(value, key=repr))]
    if isinstance(value, torch.nn.Module | type) or callable(value):
        return None
    if is_dataclass(value):
        return [(each.name, getattr(value, each.name, None)) for each in fields(value)]
    inside = getattr(value, "__dict__", None)
    return list(inside.items()) if isinstance(inside, dict) else None


def module_state(module: torch.nn.Module | None) -> dict[str, Leaf]:
    if module is None:
        return {}
    found: dict[str, Leaf] = {}
    for name, part in module.named_modules():
        for key, tensor in (*part._buffers.items(), *part._parameters.items()):
            if tensor is not None:
                found[f"{name}.{key}"] = _digest(tensor)
        for key, value in vars(part).items():
            if not key.startswith("_") and not isinstance(value, torch.nn.Module):
                found |= {
                    f"{name}.{key}{path}": leaf
                    for path, leaf in flattened(value, deepest=3).items()
                }
    return found


def _digest(tensor: torch.Tensor) -> Leaf:
    """Enough of a big tensor to notice that it changed."""
    if tensor.numel() <= 64 or tensor.is_complex() or not tensor.dtype.is_floating_point:
        return tensor.detach().clone()
    values = tensor.detach().double()
    values = values.reshape(-1)
    # Each element counts differently, so that two that change places are noticed.
    places = torch.arange(values.numel(), dtype=torch.float64, device=values.device).cos_()
    return torch.stack([values.sum(), values.abs().sum(), (values * places).sum()])


def _gradients(result: Any, inputs: Any, target: Target) -> dict[str, Leaf]:
    """Gradients of all parameters and inputs, for a loss that weighs every output differently."""
    outputs = [leaf for leaf in _tensors(result) if leaf.requires_grad]
    if not outputs:
        return {}
    wanted: dict[str, torch.Tensor] = {}
    if target.module is not None:
        wanted |= {n: p for n, p in target.module.named_parameters() if p.requires_grad}
    wanted |= {
        f"input {n}": leaf
        for n, leaf in enumerate(_tensors(inputs))
        if leaf.requires_grad and leaf.is_leaf
    }
    if not wanted:
        return {}
    loss = sum((_weighed(output) for output in outputs), torch.zeros(()))
    found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True)
    return {
        name: NO_GRADIENT if gradient is None else gradient.detach().clone()
        for name, gradient in zip(wanted, found, strict=True)
    }


def _weighed(output: torch.Tensor) -> torch.Tensor:
    values = output.abs() if output.is_complex() else output
    numbers = torch.arange(values.numel(), dtype=torch.float64)
    weights = numbers.mul_(0.7).cos_().to(values.device, values.dtype)
    return (values.reshape(-1) * weights).sum().float()


def _tensors(value: Any, depth: int = _DEEPEST) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif depth:
        for _, part in _parts(value) or ():
            yield from _tensors(part, depth - 1)


@contextmanager
def listening() -> Iterator[list[str]]:
    """What is printed, logged and warned of in a block, without what torch itself says."""
    said: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not record.name.startswith(("torch", "fullgraph")):
                said.append(f"log {record.levelname}: {record.getMessage()}")

    handler = Handler()
    # Loggers that do not propagate, as those of transformers, are heard as well.
    loggers = [logging.getLogger()] + [
        each
        for each in logging.Logger.manager.loggerDict.values()
        if isinstance(each, logging.Logger) and not each.propagate
    ]
    for logger in loggers:
        logger.addHandler(handler)
    stream = io.StringIO()
    try:
        with redirect_stdout(stream), warnings.catch_warnings(record=True) as warned:
            # Otherwise a place warns once, and the second run of a program says less.
            warnings.simplefilter("always")
            yield said
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        said += [f"print: {line}" for line in stream.getvalue().splitlines()]
        said += [f"warning: {each.message}" for each in warned if not _is_torchs(each)]


def _is_torchs(warning: warnings.WarningMessage) -> bool:
    """What torch itself warns of, mostly once a process, is not the program's doing."""
    return _TORCH in warning.filename or "(Triggered internally at" in str(warning.message)


# Comparing


@dataclass
class Comparison:
    problems: list[str] = field(default_factory=list)
    largest: float = 0.0
    # Gradients that are zero where there was none, and whether that is no problem.
    zeros: int = 0
    allow_zeros: bool = False


def compared(
    before: Outcome,
    after: Outcome,
    *,
    exact: bool,
    effects: str = "exact",
    allow_zeros: bool = False,
) -> Comparison:
    """Where `after` is not what `before` was. `effects` is how safe a fix claims to be.

    `allow_zeros` lets a gradient be zero where there was none. Backends that trace the backward
    pass make it so for whatever is in a graph but has no part in the loss.
    """
    found = Comparison(allow_zeros=allow_zeros)
    if before.raised or after.raised:
        _compare_errors(before, after, exact, found)
    else:
        for what in ("outputs", "gradients"):
            _compare_leaves(getattr(before, what), getattr(after, what), what, exact, found)
    for what in ("inputs", "state"):
        _compare_leaves(getattr(before, what), getattr(after, what), what, exact, found)
    if not same_effects(before.said, after.said, effects):
        found.problems.append(f"printed or logged lines differ: {_first_difference(before, after)}")
    return found


def same_effects(before: list[str], after: list[str], effects: str) -> bool:
    if effects == "dropped":
        return all(line in before for line in after)
    if effects == "reordered":
        return sorted(before) == sorted(after)
    return before == after


def _first_difference(before: Outcome, after: Outcome) -> str:
    lost = [line for line in before.said if line not in after.said]
    new = [line for line in after.said if line not in before.said]
    return f"lost {lost[:1]}" if lost else f"new {new[:1]}" if new else "another order"


def _compare_errors(before: Outcome, after: Outcome, exact: bool, found: Comparison) -> None:
    if bool(before.raised) != bool(after.raised):
        what = after.message.strip().splitlines()[:1]
        found.problems.append(
            f"raises {after.raised}: {what[0] if what else ''}"
            if after.raised
            else f"does not raise {before.raised} any more"
        )
    elif exact and (before.raised, before.message) != (after.raised, after.message):
        found.problems.append(f"raises {after.raised} instead of {before.raised}")


def _compare_leaves(
    before: dict[str, Leaf], after: dict[str, Leaf], what: str, exact: bool, found: Comparison
) -> None:
    if before.keys() != after.keys():
        odd = sorted(before.keys() ^ after.keys())[0]
        found.problems.append(f"{what}: {odd or 'the result'} is only on one side")
        return
    for path, old in before.items():
        new = after[path]
        if isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor):
            problem = _tensor_problem(old, new, exact, found)
        elif _same_text(old, new, exact):
            problem = ""
        elif found.allow_zeros and isinstance(old, str) and old == NO_GRADIENT and _is_zero(new):
            found.zeros += 1
            problem = ""
        else:
            problem = f"{_short(new)} instead of {_short(old)}"
        if problem:
            separator = "" if path[:1] in ("", ".", ":") else " "
            found.problems.append(f"{what}{separator}{path}: {problem}")


def _is_zero(leaf: Leaf) -> bool:
    return isinstance(leaf, torch.Tensor) and not bool(leaf.any())


def _short(leaf: Leaf) -> str:
    if isinstance(leaf, torch.Tensor):
        return f"a tensor of shape {tuple(leaf.shape)}"
    return leaf if len(leaf) <= _SHOWN else f"{leaf[: _SHOWN - 1]}…"


def _is_whole(text: Leaf) -> bool:
    return isinstance(text, str) and text.lstrip("-").isdigit()


def _same_text(old: Leaf, new: Leaf, exact: bool) -> bool:
    if isinstance(old, torch.Tensor) or isinstance(new, torch.Tensor) or old == new:
        return not isinstance(old, torch.Tensor) and not isinstance(new, torch.Tensor)
    if exact or _is_whole(old) or _is_whole(new):
        return False
    try:
        return math.isclose(float(old), float(new), rel_tol=1e-4, abs_tol=1e-6)
    except ValueError:
        return False


def _tensor_problem(old: torch.Tensor, new: torch.Tensor, exact: bool, found: Comparison) -> str:
    if old.shape != new.shape:
        return f"shape {tuple(new.shape)} instead of {tuple(old.shape)}"
    if old.dtype != new.dtype:
        return f"{new.dtype} instead of {old.dtype}"
    if old.numel() == 0 or _identical(old, new):
        return "another sign of zero" if exact and not _same_signs(old, new) else ""
    if not (old.dtype.is_floating_point or old.dtype.is_complex):
        return "other values"
    if not torch.equal(old.isnan(), new.isnan()):
        return "NaN in other places"
    difference = (old - new).abs().nan_to_num(0.0)
    largest = float(difference.max())
    found.largest = max(found.largest, largest)
    limit = _TOLERANCE.get(old.dtype, 1e-4)
    scale = old.abs().nan_to_num(0.0, 0.0, 0.0).double()
    if exact or bool((difference.double() > limit * (1 + scale)).any()):
        return f"differs by up to {largest:.3g}"
    return ""


def _same_signs(old: torch.Tensor, new: torch.Tensor) -> bool:
    if not old.dtype.is_floating_point:
        return True
    return bool(((old.signbit() == new.signbit()) | old.isnan()).all())


def _identical(old: torch.Tensor, new: torch.Tensor) -> bool:
    if old.dtype.is_floating_point or old.dtype.is_complex:
        return bool(torch.isclose(old, new, rtol=0, atol=0, equal_nan=True).all())
    return bool(torch.equal(old, new))
