"""Probes of how arguments are passed: keywords, defaults, and None for what may be left out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace

import torch

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import Probe

# A signature shows values, not how they are passed.
IS_METADATA = False


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield the call with keywords, with all defaults, and without what has the default None."""
    signature = _signature(call)
    if signature is None:
        return
    kinds = [each.kind for each in signature.parameters.values()]
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    if not set(kinds) <= set(plain):
        return
    given = signature.bind(*call.args, **call.kwargs).arguments
    if call.args:
        changed = replace(call, args=(), kwargs=dict(given))
        yield Probe("keyword arguments", "arguments are passed by position", changed)
    defaults = {
        name: each.default
        for name, each in signature.parameters.items()
        if each.default is not each.empty
    }
    for name in given:
        if name in defaults and defaults[name] is None and given[name] is not None:
            changed = replace(call, args=(), kwargs={**given, name: None})
            yield Probe(f"`{name}` is None", f"`{name}` is not None", changed, compiled=True)
    if defaults.keys() - given.keys():
        changed = replace(call, args=(), kwargs={**defaults, **given})
        yield Probe("defaults are passed", "defaults are not passed", changed)


def _signature(call: RecordedCall) -> inspect.Signature | None:
    """Return the signature of the function of a call; None if the call does not fit it."""
    function = call.target.original
    if isinstance(function, torch.nn.Module):
        function = function.forward
    try:
        signature = inspect.signature(function)
        signature.bind(*call.args, **call.kwargs)
    except (TypeError, ValueError):
        return None
    return signature
