"""What the outermost calls of compiled functions return, so that two runs can be compared.

The results go to a file of their own beside the session, because only `fullgraph recompiles` reads
them: `model/results.py` has the records.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from fullgraph.capture.compiled_calls import CallerLines, code_of, in_the_file_of
from fullgraph.capture.dynamo_hooks import COMPILE_CALL, look_up
from fullgraph.capture.dynamo_listener import capture
from fullgraph.capture.store import CAPTURE_VARIABLE
from fullgraph.model.events import Event
from fullgraph.model.results import (
    RESULTS_SUFFIX,
    CallResult,
    CompiledAt,
    Leaf,
    Record,
    RunStart,
    TensorFacts,
    encode_record,
)

Function = Callable[..., Any]
_MAX_DEPTH = 6
_MAX_PARTS = 1_000
_MAX_SAMPLES = 256
# Of more calls, only every so many are kept.
_ALL_CALLS = 2_000
_EVERY = 97
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def start(_: Callable[[Event], None]) -> None:
    """Write the results of this process to the folder of its session."""
    folder = Path(os.environ[CAPTURE_VARIABLE])
    ResultRecorder(_Writer(folder).write).install()


class _Writer:
    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{time.time_ns():020d}-{os.getpid()}{RESULTS_SUFFIX}"
        self._process = os.getpid()

    def write(self, record: Record) -> None:
        """Append a record; a forked process writes nothing."""
        if os.getpid() == self._process:
            with self._path.open("ab") as file:
                file.write(encode_record(record))


class ResultRecorder:
    """Passes on the result of each outermost call of a compiled function."""

    def __init__(self, write: Callable[[Record], None]) -> None:
        self._write = write
        self._calls = 0
        self._depth = threading.local()
        self._callers = CallerLines()
        self._torch: Any = import_module("torch")

    def install(self) -> None:
        """Record everything that is compiled from now on."""
        self._write(RunStart(int(self._torch.initial_seed()) & (2**63 - 1)))
        owner, name, original = look_up(str(self._torch.__version__), COMPILE_CALL)
        setattr(owner, name, self._recording_targets(original))

    def _recording_targets(self, original: Function) -> Function:
        @functools.wraps(original)
        def compile_function(context: Any, function: Any) -> Any:
            compiled = original(context, function)
            is_call = not isinstance(function, type | self._torch.nn.Module)
            if not is_call or not callable(getattr(context, "callback", None)):
                return compiled
            site = self._callers.find(sys._getframe(1))
            code = code_of(function)
            self._write(CompiledAt(code, site))
            return self._recording_calls(compiled, function, code.qualified or code.function)

        return in_the_file_of(original, compile_function)

    def _recording_calls(self, compiled: Function, function: Any, name: str) -> Function:
        # With the attributes of `compiled`, Dynamo sees through the wrapper as it does otherwise.
        @functools.wraps(compiled)
        def call(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._depth, "value", 0):
                return compiled(*args, **kwargs)
            self._depth.value = 1
            number, state = self._begin(function, (args, kwargs))
            try:
                result = compiled(*args, **kwargs)
            except Exception as error:
                self._write(CallResult(number, name, {}, state, type(error).__name__))
                raise
            finally:
                self._depth.value = 0
            capture.run_safely(self._keep, (number, name, result, state))
            return result

        return in_the_file_of(compiled, call) if hasattr(compiled, "__code__") else call

    def _begin(self, function: Any, inputs: Any) -> tuple[int, dict[str, Leaf]]:
        self._calls += 1
        number = self._calls
        if number > 8 and number & (number - 1):
            return number, {}
        try:
            return number, self._state(function, inputs)
        except Exception:
            return number, {}

    def _keep(self, facts: tuple[int, str, Any, dict[str, Leaf]]) -> None:
        number, name, result, state = facts
        if number <= _ALL_CALLS or number % _EVERY == 0:
            self._write(CallResult(number, name, self._leaves(result), state))

    def _state(self, function: Any, inputs: Any) -> dict[str, Leaf]:
        """Return the parameters of the module and the gradients that are there before a call."""
        owner = getattr(function, "__self__", None)
        found: dict[str, Leaf] = {}
        if isinstance(owner, self._torch.nn.Module):
            for name, parameter in owner.named_parameters():
                found[name] = self._facts(parameter)
                if parameter.grad is not None:
                    found[f"{name}.grad"] = self._facts(parameter.grad)
        for path, value in _walk(inputs, "", _MAX_DEPTH):
            if isinstance(value, self._torch.Tensor) and value.is_leaf and value.grad is not None:
                found[f"input {path}.grad"] = self._facts(value.grad)
        return found

    def _leaves(self, value: Any) -> dict[str, Leaf]:
        found: dict[str, Leaf] = {}
        for path, leaf in _walk(value, "", _MAX_DEPTH):
            if len(found) >= _MAX_PARTS:
                break
            is_tensor = isinstance(leaf, self._torch.Tensor)
            found[path] = self._facts(leaf) if is_tensor else _described(leaf)
        return found

    def _facts(self, tensor: Any) -> Leaf:
        torch = self._torch
        try:
            with torch.no_grad(), torch.inference_mode(tensor.is_inference()):
                plain = tensor.detach()
                if plain.layout != torch.strided:
                    plain = plain.to_dense()
                if plain.is_complex():
                    plain = torch.view_as_real(plain.resolve_conj())
                values = plain.reshape(-1).to(torch.float64)
                step = max(values.numel() // _MAX_SAMPLES, 1)
                return TensorFacts(
                    str(tensor.dtype).removeprefix("torch."),
                    tuple(tensor.shape),
                    tensor.requires_grad,
                    float(values.sum()),
                    float(values.abs().sum()),
                    tuple(values[::step][:_MAX_SAMPLES].tolist()),
                )
        except Exception:
            # Nested tensors and subclasses without these operators.
            return type(tensor).__name__


def _described(leaf: Any) -> str:
    return repr(leaf) if isinstance(leaf, _PLAIN) else type(leaf).__name__


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the values in nested containers and dataclasses, with their paths."""
    parts = _parts(value) if depth else None
    if parts is None:
        yield path, value
        return
    for name, part in parts:
        yield from _walk(part, f"{path}.{name}", depth - 1)


def _parts(value: Any) -> list[tuple[str, Any]] | None:
    if isinstance(value, dict):
        return [(repr(key), part) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return [(str(number), part) for number, part in enumerate(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return [(each.name, getattr(value, each.name, None)) for each in fields(value)]
    return None
