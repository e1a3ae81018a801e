"""A process that runs the program from changed text, as far as its recorded calls.

    python -m fullgraph.fix.trials.copied_program FOLDER SCRIPT|-m MODULE [ARG]...

FOLDER has a `CopyRequest`, and gets a `CopyResult`. Modules are imported from the changed text, and
a script is compiled and run from it. Compiled functions run in eager mode. The program is stopped
when each recorded function has been called once and all changed files have been imported.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import torch
from msgspec import json

from fullgraph.fix.record.intercept import intercept_compile
from fullgraph.fix.record.program import run_target
from fullgraph.fix.runtime.dynamo_config import not_in_effect
from fullgraph.fix.runtime.edited_sources import import_edited, script_text
from fullgraph.fix.trials.copy_messages import REQUEST_FILE, RESULT_FILE, CopyRequest, CopyResult
from fullgraph.outcomes.observe import flattened


class _CallsReachedError(BaseException):
    """Stops the program; its `finally` blocks and context managers run."""


def main(arguments: list[str]) -> None:
    """Run the program of a request and write the result."""
    folder, *target = arguments
    torch.set_num_threads(1)
    request = json.decode((Path(folder) / REQUEST_FILE).read_bytes(), type=CopyRequest)
    run = _Run(request, Path(folder))
    intercept_compile(run.wrap)
    text = script_text(request.texts, target[0])
    if text is not None:
        run.imported.add(os.path.realpath(target[0]))
    error, details = run_target(target, text)
    run.end(*(("", "") if run.is_stopped else (error, details)))


class _Run:
    """One run of the program in this process."""

    def __init__(self, request: CopyRequest, folder: Path) -> None:
        self.imported = import_edited(request.texts)
        self._request = request
        self._folder = folder
        self._process = os.getpid()
        self._missing = set(request.functions)
        self._calls: list[str] = []
        self._depth = 0
        self.is_stopped = False

    def wrap(
        self, original: Any, compiled: Callable[..., Any], options: dict[str, Any]
    ) -> Callable[..., Any]:
        """Return what runs a compiled function in eager mode and notes its calls."""
        name = getattr(original, "__qualname__", type(original).__name__)
        # A module whose own call is compiled would call itself.
        run = original._call_impl if isinstance(original, torch.nn.Module) else original

        def call(*args: Any, **kwargs: Any) -> Any:
            # A call within a compiled function is part of that function.
            if self._depth or os.getpid() != self._process:
                return run(*args, **kwargs)
            self._before(name)
            inputs = _digest((args, kwargs))
            self._depth += 1
            try:
                result = run(*args, **kwargs)
            finally:
                self._depth -= 1
            self._missing.discard(name)
            self._calls.append(f"{name} {inputs} {_digest(result)}")
            self._stop_at_the_end()
            return result

        return call

    def _before(self, name: str) -> None:
        if self.is_stopped:
            # The program catches every exception.
            self.end("", "")
        wrong = not_in_effect(self._request.settings)
        if wrong:
            self.end(f"torch._dynamo.config.{wrong[0]} is not set when {name} is called", "")

    def _stop_at_the_end(self) -> None:
        if self._missing or not self.imported.issuperset(self._request.texts):
            return
        if threading.current_thread() is not threading.main_thread():
            self.end("", "")
        self.is_stopped = True
        raise _CallsReachedError

    def end(self, error: str, details: str) -> NoReturn:
        """Write the result and end this process; its threads and exit handlers do not run."""
        if not error and not self.is_stopped:
            error = self._unchecked()
        result = CopyResult(error, details, tuple(self._calls))
        path = self._folder / RESULT_FILE
        path.write_bytes(json.encode(result))
        os._exit(0)

    def _unchecked(self) -> str:
        """Return what the program has not done although it ran to its end; empty if nothing."""
        if self._missing:
            return f"{min(self._missing)} is no longer called"
        left = sorted(set(self._request.texts) - self.imported)
        return f"{os.path.basename(left[0])} is not imported" if left else ""


def _digest(value: Any) -> str:
    """Return a text that differs for values that differ in a single bit."""
    digest = hashlib.sha256()
    for path, leaf in flattened(value).items():
        digest.update(path.encode())
        digest.update(_content(leaf) if isinstance(leaf, torch.Tensor) else str(leaf).encode())
    return digest.hexdigest()


def _content(tensor: torch.Tensor) -> bytes:
    facts = f"{tensor.dtype} {tuple(tensor.shape)} {tensor.layout}".encode()
    if tensor.layout != torch.strided or tensor.is_meta or tensor.is_nested:
        return facts
    plain = tensor.detach().resolve_conj().resolve_neg().to("cpu").contiguous()
    return facts + ctypes.string_at(plain.data_ptr(), plain.numel() * plain.element_size())


if __name__ == "__main__":
    main(sys.argv[1:])
