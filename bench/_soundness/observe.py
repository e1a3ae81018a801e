"""Run a program for one input, from a fresh module, and observe all that the call does."""

from __future__ import annotations

import linecache
import random
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from itertools import count
from typing import Any

import torch

from bench._soundness.inputs import Input
from fullgraph.outcomes.metadata import random_states, result_metadata, versions_of
from fullgraph.outcomes.observe import (
    NO_GRADIENT,
    CallOutcome,
    Leaf,
    capture_output,
    flattened,
    is_raised_by_program,
    module_state,
    tensors_in,
)

_numbers = count()
_Compile = Callable[[Any], Any]


def load_text(text: str, name: str = "") -> types.ModuleType:
    """Return the module of a program's text; errors can show its lines."""
    number = next(_numbers)
    name = name or f"generated_{number}"
    module = types.ModuleType(name)
    file = f"<{name} {number}>"
    module.__file__ = file
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    # Dynamo looks up the module of a decorated function by its name.
    sys.modules[name] = module
    exec(compile(text, file, "exec"), module.__dict__)
    return module


def constants_of(text: str) -> dict[str, str]:
    """Return another value for each number and string that is a constant of a program."""
    module = load_text(text)
    found = {}
    for name, value in vars(module).items():
        if name.isupper() and name != "GRADIENTS" and type(value) in (int, float, bool, str):
            found[name] = repr(not value if isinstance(value, bool) else value * 2)
    return found


def _eager(function: Any) -> Any:
    return function


def outcome_of(text: str, given: Input, prepare: _Compile = _eager) -> CallOutcome | None:
    """Return what a program does for an input; None if the input itself cannot be made."""
    state = torch.get_rng_state()
    torch.manual_seed(0)
    random.seed(0)
    module = load_text(text, "generated")
    space: dict[str, Any] = {"torch": torch, "module": module}
    try:
        torch.set_default_dtype(eval(given.default_dtype))
        torch.manual_seed(given.seed)
        with warnings.catch_warnings():
            # Changes on top of each other give sources that Python warns about.
            warnings.simplefilter("ignore")
            for line in given.before:
                exec(line, space)
            for name, value in given.values.items():
                space[name] = eval(value, space)
        return _observed(module, space, given, prepare)
    except Exception:
        # A statement of the input fails, before the call.
        return None
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_rng_state(state)
        sys.modules.pop("generated", None)


def _observed(
    module: types.ModuleType, space: dict[str, Any], given: Input, prepare: _Compile
) -> CallOutcome:
    function = module.f
    owned = _modules_of(module)
    arguments = {name: space[name] for name in given.values}
    before = {name: id(each) for name, each in _named_state(owned).items()}
    outcome = CallOutcome()
    versions = versions_of(tensors_in(arguments))
    space["function"] = prepare(function)
    call = compile(given.call(), "<call>", "eval")
    results: list[Any] = []
    # Of the random state, what the call itself draws is compared.
    torch.manual_seed(given.seed)
    with capture_output() as output, ExitStack() as stack:
        for mode in given.modes:
            stack.enter_context(eval(mode, space))
        try:
            for _ in range(2 if given.protocol == "twice" else 1):
                results.append(eval(call, space))
        except Exception as error:
            outcome.raised, outcome.message = type(error).__name__, str(error)
            outcome.is_own_error = is_raised_by_program(error)
        outcome.metadata = random_states()
    state = [*_named_state(owned).values()]
    outcome.metadata |= result_metadata(tensors_in(results), tensors_in(arguments), state, versions)
    outcome.metadata |= {
        f"leaf {number}": f"{each.is_leaf} {each.is_inference()} {type(each).__name__}"
        for number, each in enumerate(tensors_in(results))
    }
    outcome.metadata |= {
        f"identity of {name}": str(before.get(name) == id(each))
        for name, each in _named_state(owned).items()
    }
    outcome.outputs = flattened(results)
    if not outcome.raised:
        outcome.gradients = _gradients(results, arguments, owned)
        if given.protocol == "write":
            outcome.metadata |= _writes(results)
    outcome.inputs = flattened(arguments)
    outcome.state = _state_of(module, owned)
    outcome.output = list(output)
    return outcome


def _modules_of(module: types.ModuleType) -> dict[str, torch.nn.Module]:
    return {name: each for name, each in vars(module).items() if isinstance(each, torch.nn.Module)}


def _named_state(owned: Mapping[str, torch.nn.Module]) -> dict[str, torch.Tensor]:
    return {
        f"{owner}.{name}": each
        for owner, part in owned.items()
        for name, each in (*part.named_parameters(), *part.named_buffers())
    }


def _state_of(module: types.ModuleType, owned: Mapping[str, torch.nn.Module]) -> dict[str, Leaf]:
    found: dict[str, Leaf] = {}
    for owner, part in owned.items():
        found |= {f"{owner}.{name}": leaf for name, leaf in module_state(part).items()}
    for name, value in vars(module).items():
        is_code = isinstance(value, type | types.ModuleType | torch.nn.Module) or callable(value)
        if not name.startswith("__") and not is_code:
            found |= {f"global {name}{path}": leaf for path, leaf in flattened(value).items()}
    return found


def _gradients(
    results: list[Any], arguments: Mapping[str, Any], owned: Mapping[str, torch.nn.Module]
) -> dict[str, Leaf]:
    """Return the gradients of one loss of all results, or the type of the error of backward."""
    outputs = [each for each in tensors_in(results) if each.requires_grad]
    wanted = {f"of {name}": each for name, each in _named_state(owned).items()}
    wanted |= {f"of input {n}": each for n, each in enumerate(tensors_in(arguments))}
    wanted = {name: each for name, each in wanted.items() if each.requires_grad}
    if not outputs or not wanted:
        return {}
    try:
        loss = sum(_weighted(output, place) for place, output in enumerate(outputs))
        assert isinstance(loss, torch.Tensor)
        found = torch.autograd.grad(loss, list(wanted.values()), allow_unused=True)
    except Exception as error:
        return {"error of backward": type(error).__name__}
    return {
        name: NO_GRADIENT if gradient is None else gradient.detach().clone()
        for name, gradient in zip(wanted, found, strict=True)
    }


def _weighted(output: torch.Tensor, place: int) -> torch.Tensor:
    values = output.abs() if output.is_complex() else output
    weights = torch.arange(1, values.numel() + 1, dtype=torch.float64).mul_(0.37 + place).sin_()
    return (values.reshape(-1).double() * weights).sum()


def _writes(results: list[Any]) -> dict[str, str]:
    """Write to each result, as a caller may; what that changes is seen in inputs and state."""
    found = {}
    for number, each in enumerate(tensors_in(results)):
        try:
            with torch.no_grad():
                each.add_(1 if each.dtype != torch.bool else True)
            found[f"write to result {number}"] = "possible"
        except Exception as error:
            found[f"write to result {number}"] = type(error).__name__
        found[f"result {number} afterwards"] = str(
            [str(other.detach().flatten().tolist()) for other in tensors_in(results)]
        )
    return found
