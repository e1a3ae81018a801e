"""The calls that a trial runs: the recorded ones, then varied ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from fullgraph.fix.record.recorder import CallRecorder, CompiledTarget, RecordedCall
from fullgraph.fix.trials.vary_inputs import variations


@dataclass
class Sample:
    """One call, under the name that a report gives it."""

    name: str
    call: RecordedCall
    recorded: bool


def samples_of(recorder: CallRecorder, *, varies: bool = True) -> list[Sample]:
    """Return the recorded calls, then variations of the first call of each compiled function."""
    calls = [
        Sample(f"call {call.number or n}", call, True) for n, call in enumerate(recorder.calls, 1)
    ]
    if not varies:
        return calls
    first: dict[int, Sample] = {}
    for sample in calls:
        first.setdefault(id(sample.call.target), sample)
    varied = [
        Sample(f"{sample.name}, {name}", call, False)
        for sample in first.values()
        for name, call in variations(sample.call)
    ]
    return calls + varied


@contextmanager
def call_restored(call: RecordedCall) -> Iterator[None]:
    """Put the modules of a call into the state of the call; restore theirs after the block."""
    with state_restored(call.target):
        call.restore()
        yield


@contextmanager
def state_restored(target: CompiledTarget) -> Iterator[None]:
    """Restore the state of a target's module after the block, so that samples are independent."""
    with modules_restored([] if target.state is None else [target.state]):
        yield


@contextmanager
def modules_restored(modules: Iterable[torch.nn.Module]) -> Iterator[None]:
    """Restore the parameters, buffers and attributes of modules after the block."""
    parts = list(dict.fromkeys(part for module in modules for part in module.modules()))
    tensors = [
        tensor
        for part in parts
        for tensor in (*part.buffers(recurse=False), *part.parameters(recurse=False))
    ]
    values = [tensor.detach().clone() for tensor in tensors]
    tables = [table for part in parts for table in (vars(part), part._buffers)]
    entries = [dict(table) for table in tables]
    try:
        yield
    finally:
        for table, before in zip(tables, entries, strict=True):
            _restore(table, before)
        with torch.no_grad():
            for tensor, value in zip(tensors, values, strict=True):
                if not torch.equal(tensor, value):
                    tensor.copy_(value)


def _restore(table: dict[str, Any], before: dict[str, Any]) -> None:
    """Restore changed entries only: any assignment fails guards on the dict's version."""
    for name in [name for name in table if name not in before]:
        del table[name]
    for name, value in before.items():
        if table.get(name, table) is not value:
            table[name] = value
