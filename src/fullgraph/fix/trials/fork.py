"""Tries things in forks of this process: each starts from its state, and leaves no trace."""

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
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import json

from fullgraph.fix.model import NO_PLAN, Plan, Request, Safety, Trial

if TYPE_CHECKING:
    from fullgraph.fix.record.recorder import Recorder

_TICK = 0.01
# How long a fork may take for next to nothing.
_PROMPT = 20.0
# Set to 0, nothing is forked.
NEVER = "FULLGRAPH_FORKS"


@cache
def warm_up() -> None:
    """Have everything imported that compiling needs, so that no child has to do it."""
    import torch

    from fullgraph.capture.api import explain

    explain(lambda x: x + 1, torch.zeros(1))
    # Without a gradient: where autograd has threads, a process that has them cannot be forked.
    torch.compile(lambda x: x * 2, backend="aot_eager")(torch.zeros(1))
    torch._dynamo.reset()
    with suppress(ImportError):
        # What the first gradient would import, and that takes longer than all the rest.
        import_module("torch._inductor.lowering")


def can_fork() -> bool:
    """Whether a fork of this process can compute everything that this process can."""
    if os.environ.get(NEVER) == "0" or not hasattr(os, "fork"):
        return False
    import torch

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
    return _waited(child, time.monotonic() + _PROMPT) == 0


def reaped(child: int) -> tuple[bool, int]:
    """Whether a process has ended, and its exit status."""
    try:
        ended, status = os.waitpid(child, os.WNOHANG)
    except ChildProcessError:
        # A program that ignores SIGCHLD has nobody wait for its children.
        return True, 0
    return bool(ended), status


def _waited(child: int, deadline: float) -> int:
    """The exit status of a process, which is killed if it takes too long."""
    while True:
        ended, status = reaped(child)
        if ended:
            return status
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(_TICK)


def start_child(request: Request, recorder: Recorder, folder: Path) -> int:
    """Fork a child that performs the request and writes what it found to the folder."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            perform_here(request, recorder, folder)
        finally:
            # Without exit handlers: those belong to the parent.
            os._exit(0)
    return child


def perform_here(request: Request, recorder: Recorder, folder: Path) -> None:
    """In this process, which is of no use for anything else afterwards."""
    (folder / f"{request.number}.json").write_bytes(_performed(request, recorder, folder))


def _performed(request: Request, recorder: Recorder, folder: Path) -> bytes:
    try:
        import torch

        from fullgraph.capture.dynamo_listener import capture
        from fullgraph.fix.trials.execute import perform

        # The threads of the parent do not exist here; waiting for them would never end.
        torch.set_num_threads(1)
        capture.after_fork()
        return json.encode(perform(request, recorder, folder))
    except BaseException as error:
        sys.stderr.write("".join(traceback.format_exception(error)))
        return json.encode(Trial(request.number, None, error=f"{type(error).__name__}: {error}"))


def read_trial(folder: Path, number: int) -> Trial:
    path = folder / f"{number}.json"
    if not path.exists() or not path.stat().st_size:
        return Trial(number, None, error="it crashed, or took too long")
    return json.decode(path.read_bytes(), type=Trial)


class ForkShop:
    """What `Workshop` is to another process, for calls that were recorded in this one."""

    runs_anew = False

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        # From a request to its process and its deadline.
        self._children: dict[int, tuple[int, float]] = {}

    def __enter__(self) -> ForkShop:
        warm_up()
        self._folder = tempfile.TemporaryDirectory(prefix="fullgraph-mend-")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def ask(self, task: Any, plan: Plan = NO_PLAN, effects: Safety = "exact", **more: Any) -> int:
        number = len(self._children) + 1
        request = Request(number, task, plan, effects=effects, **more)
        child = start_child(request, self._recorder, Path(self._folder.name))
        self._children[number] = (child, time.monotonic() + request.seconds)
        return number

    def answer(self, number: int) -> Trial:
        _waited(*self._children[number])
        return read_trial(Path(self._folder.name), number)
