"""Probes of memory that an argument shares with the module's parameters and buffers."""

from __future__ import annotations

from collections.abc import Iterator

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import Probe, tensors_of, with_values
from fullgraph.fix.trials.probes.sharing import alike

# A signature shows which arguments share memory, but not with what else.
IS_METADATA = False
_MOST_WITH_STATE = 4


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield calls that get a parameter or a buffer of the module as an argument."""
    module = call.target.state
    if module is None:
        return
    state = [*module.named_buffers(), *module.named_parameters()]
    found = 0
    for argument in tensors_of(call):
        for name, tensor in state:
            if found < _MOST_WITH_STATE and alike(argument.value, tensor):
                found += 1
                # The copy of the inputs for a call still shares memory with the state.
                changed = with_values(call, {argument.index: tensor.detach()})
                what = f"`{argument.name}` shares memory with `{name}`"
                assumption = f"`{argument.name}` shares no memory with `{name}`"
                yield Probe(what, assumption, changed)
