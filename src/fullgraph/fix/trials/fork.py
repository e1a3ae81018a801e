"""Runs trials in forks of this process: each starts from its state and leaves no trace."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from types import TracebackType

import torch
from msgspec import json
from msgspec.structs import replace

from fullgraph.capture.api import explain
from fullgraph.capture.dynamo_listener import capture
from fullgraph.fix.model import TrialRequest, TrialResult, with_number
from fullgraph.fix.record.recorder import CallRecorder
from fullgraph.fix.runtime.hot_patch import index_functions
from fullgraph.fix.trials.children import Children
from fullgraph.fix.trials.execute import (
    Isolate,
    cpu_seconds,
    execute,
    run_here,
    run_in_fork,
)
from fullgraph.fix.trials.execute_confined import execute_confined
from fullgraph.fix.trials.judge_process import JudgeProcess
from fullgraph.fix.trials.runner import Part, read_result, result_file
from fullgraph.registry.taxonomy import category_of

_TICK = 0.01
# The time limit of a fork that has next to nothing to do.
_CHECK_SECONDS = 20.0
# Set to 0, it forbids forking.
FORKS_VARIABLE = "FULLGRAPH_FORKS"


@cache
def preload_compiler(*, gradients: bool) -> None:
    """Import what compiling needs and fill its caches, so that no child has to."""
    # With a call of a function of torch, and with a break.
    explain(_breaks, torch.zeros(1))
    # No rule matches, so the patterns of all rules are compiled.
    category_of("")
    # Without a backward pass: where autograd has threads, a process that has them cannot be
    # forked. A second size makes sizes symbolic.
    compiled = torch.compile(lambda x: (x * 2).sum(), backend="aot_eager")
    for size in (2, 3):
        compiled(torch.zeros(size, requires_grad=gradients))
    torch._dynamo.reset()
    with suppress(ImportError):
        # The first reference and the first branch import these.
        import_module("torch.utils.serialization")
        import_module("torch.distributed.tensor.experimental")
        if gradients:
            # The first backward graph imports these, which takes as long as all the rest.
            import_module("torch._inductor.lowering")
            import_module("torch._inductor.pattern_matcher")


def _breaks(x: torch.Tensor) -> torch.Tensor:
    x = torch.relu(x)
    torch._dynamo.graph_break()
    return x + 1


def can_fork() -> bool:
    """Return whether a fork of this process can compute everything that this process can."""
    if os.environ.get(FORKS_VARIABLE) == "0" or not hasattr(os, "fork"):
        return False
    if (
        torch.cuda.is_initialized()
        or torch.xpu.is_initialized()
        or torch.backends.mps.is_available()
    ):
        return False
    child = os.fork()
    if child == 0:
        try:
            torch.set_num_threads(1)
            with torch.inference_mode(False), torch.enable_grad():
                (torch.zeros(1, requires_grad=True) * 2).sum().backward()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return _wait(child, time.monotonic() + _CHECK_SECONDS) == 0


def _wait(child: int, deadline: float) -> int:
    """Return the exit status of a process; it is killed if it takes too long."""
    while True:
        try:
            ended, status = os.waitpid(child, os.WNOHANG)
        except ChildProcessError:
            # A program that ignores SIGCHLD leaves no status of its children.
            return 0
        if ended:
            return status
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(_TICK)


def execute_forked(request: TrialRequest, recorder: CallRecorder, part: Part) -> None:
    """Execute a part of a request in a process of its own and write its result."""
    # Dynamo times the guards of each compile, for its logs only. It empties the processor's caches
    # for that, which takes a tenth of a small trial.
    torch._dynamo.guards.profile_guard_manager = _no_latency
    result_file(part).write_bytes(_executed(request, recorder, part, run_in_fork))


def _no_latency(*_: object) -> float:
    return 0.0


def execute_here(
    request: TrialRequest, recorder: CallRecorder, part: Part, isolate: Isolate = run_here
) -> None:
    """Execute a part of a request in this process, and write its result."""
    result_file(part).write_bytes(_executed(request, recorder, part, isolate))


def _executed(request: TrialRequest, recorder: CallRecorder, part: Part, isolate: Isolate) -> bytes:
    try:
        # The threads of the parent do not exist here; waiting for them would never end.
        torch.set_num_threads(1)
        capture.after_fork()
        started = cpu_seconds()
        run = execute if request.confinement is None else execute_confined
        result = run(request, recorder, part, isolate)
        return json.encode(replace(result, cpu_seconds=cpu_seconds() - started))
    except BaseException as error:
        sys.stderr.write("".join(traceback.format_exception(error)))
        message = f"{type(error).__name__}: {error}"
        return json.encode(TrialResult(request.number, None, error=message))


class ForkTrialRunner:
    """Runs trials of calls that were recorded in this process."""

    def __init__(self, recorder: CallRecorder) -> None:
        self._recorder = recorder
        self._requests: dict[int, TrialRequest] = {}
        self._children = Children()
        self._ended: set[int] = set()

    def __enter__(self) -> ForkTrialRunner:
        self._folder = tempfile.TemporaryDirectory(prefix="fullgraph-fix-")
        self._judge = JudgeProcess.spawned()
        preload_compiler(gradients=self._recorder.needs_gradients())
        self._forget_functions = index_functions()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._children.kill()
        self._judge.end()
        self._forget_functions()
        self._folder.cleanup()

    def submit(self, request: TrialRequest) -> int:
        """Start a trial in a fork."""
        number = len(self._requests) + 1
        self._requests[number] = with_number(request, number)
        self._children.start(self._requests[number], self._recorder, self._part(number))
        return number

    def _part(self, number: int) -> Part:
        return Part(self._folder.name, number)

    def result(self, number: int) -> TrialResult:
        """Wait for a trial and return its result."""
        while number not in self._ended:
            self._ended.update(part.number for part in self._children.ended())
            time.sleep(_TICK)
        part = self._part(number)
        self._judge.judge(part, self._requests[number])
        return read_result([part])
