"""Runs the program in a forked process with a remedy in place, and compares it with a run before.

The run is stopped as soon as it cannot be better: when a call returns something else, or when it
has compiled as often as before.
"""

from __future__ import annotations

import atexit
import os
import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import torch
from msgspec import json

from fullgraph.capture import child_process
from fullgraph.capture.dynamo_listener import capture
from fullgraph.capture.measures import MEASURE_VARIABLE
from fullgraph.capture.measures.results import ResultRecorder
from fullgraph.fix.record.program import run_target
from fullgraph.fix.runtime.edited_sources import import_edited, script_text
from fullgraph.model.events import Compile, Event
from fullgraph.model.results import (
    RESULTS_SUFFIX,
    CallResult,
    Record,
    difference,
    encode_record,
    read_records,
)
from fullgraph.recompiles.candidate import ConfigValue
from fullgraph.recompiles.messages import (
    COMPILED_OUTCOMES,
    OUTCOME_FILE,
    ReplayOutcome,
    ReplayRequest,
    ReplayStatus,
)
from fullgraph.recompiles.size_guards import SizeGuards


def run_replay(request: ReplayRequest) -> NoReturn:
    """Run the program as a request says, write the outcome, and end this process."""
    run = _Run(request)
    run.prepare()
    target = list(request.target)
    text = script_text(request.texts, target[0])
    # As `python -m` does; for a script, its folder takes this place.
    sys.path.insert(0, os.getcwd())
    error, _ = run_target(target, text)
    run.end("failed" if error else "done", error)


class _Run:
    """One run of the program in this process."""

    def __init__(self, request: ReplayRequest) -> None:
        self._request = request
        self._process = os.getpid()
        self._compiles = 0
        self._calls = 0
        self._expected: Iterator[CallResult] | None = None
        self._called: set[str] = set()
        self._sizes = SizeGuards()

    def prepare(self) -> None:
        """Put the remedy in place and start to observe."""
        request = self._request
        _close_streams()
        if request.profile:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = request.profile
        _seed(request)
        os.environ[MEASURE_VARIABLE] = "calls"
        child_process.start(request.folder)
        del os.environ[MEASURE_VARIABLE]
        capture.subscribe(self._count)
        if request.reference:
            records = read_records(Path(request.reference))
            self._expected = (each for each in records if isinstance(each, CallResult))
        ResultRecorder(self._take).install()
        self._sizes.watch()
        import_edited(request.texts)
        for name, value in request.config.items():
            _configure(name, value)

    def _count(self, event: Event) -> None:
        if isinstance(event, Compile) and event.outcome in COMPILED_OUTCOMES:
            self._compiles += 1
            limit = self._request.max_compiles
            if limit is not None and self._compiles >= limit:
                self.end("worse", f"{self._compiles} compiles")

    def _take(self, record: Record) -> None:
        if os.getpid() != self._process:
            return
        if self._expected is None:
            path = Path(self._request.folder) / f"reference{RESULTS_SUFFIX}"
            with path.open("ab") as file:
                file.write(encode_record(record))
        elif isinstance(record, CallResult):
            self._compare(self._expected, record)

    def _compare(self, expected: Iterator[CallResult], found: CallResult) -> None:
        self._calls += 1
        before = next(expected, None)
        if before is None:
            self.end("differs", "there are more calls")
        # Only the warm-up itself may differ: remedies that are replayed with it may not.
        ignored = found.name in self._request.warmed_up and found.name not in self._called
        self._called.add(found.name)
        if problem := difference(before, found, any_requires_grad=ignored):
            self.end("differs", f"call {found.number} of {found.name}: {problem}")

    def end(self, status: ReplayStatus, reason: str) -> NoReturn:
        """Write the outcome and end this process, if it is not a child of the program."""
        if os.getpid() == self._process:
            if status == "done" and self._expected is not None and next(self._expected, None):
                status, reason = "differs", "there are fewer calls"
            outcome = ReplayOutcome(status, reason, self._calls, self._sizes.compare_sizes)
            path = Path(self._request.folder) / OUTCOME_FILE
            path.write_bytes(json.encode(outcome))
            with suppress(BaseException):
                # The session file and the workers of the compiler are closed by exit handlers.
                if status == "done":
                    atexit._run_exitfuncs()
        os._exit(0)


def _close_streams() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    sys.stdin = open(os.devnull)  # noqa: SIM115


def _seed(request: ReplayRequest) -> None:
    if request.seed is not None:
        torch.manual_seed(request.seed)
    if request.fixed:
        random.seed(0)
        with suppress(ImportError):
            import_module("numpy").random.seed(0)
        _configure("torch._inductor.config.fallback_random", True)


def _configure(name: str, value: ConfigValue) -> None:
    module, _, entry = name.rpartition(".")
    config: Any = import_module(module)
    setattr(config, entry, value)
