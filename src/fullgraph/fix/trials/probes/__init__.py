"""Probes: calls that differ from a recorded one in a single property of one argument or mode.

A fix that gives another result for a probe is right only as long as the probe's assumption holds.
One file per kind of property, found by walking this folder. Each has a function `probes(call)`,
and IS_METADATA: whether `runtime/signature.py` tells such calls apart from the recorded ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from itertools import zip_longest
from pkgutil import iter_modules

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import Probe

__all__ = ["Probe", "pairs_of", "probes_of"]

# Of these kinds, the changes of the first are combined with those of the second.
_COMBINED = (
    ("shapes", "dtypes"),
    ("values", "dtypes"),
    ("forms", "dtypes"),
    ("shapes", "values"),
    ("shapes", "modes"),
    ("values", "modes"),
    ("dtypes", "modes"),
)


def probes_of(call: RecordedCall, most: int) -> list[Probe]:
    """Return at most `most` probes of a call, of all kinds in turn."""
    kinds = [each.name for each in iter_modules(__path__) if not each.name.startswith("_")]
    found = [list(_of_kind(kind, call)) for kind in kinds]
    in_turn = [each for group in zip_longest(*found) for each in group if each is not None]
    unique = {probe.name: probe for probe in in_turn}
    return list(unique.values())[:most]


def pairs_of(call: RecordedCall, most: int) -> list[Probe]:
    """Return at most `most` calls that differ in two properties, a selection of all pairs."""
    found = [list(_pairs(*kinds, call)) for kinds in _COMBINED]
    for each in found:
        # Always the same, but not the first ones only.
        random.Random(len(each)).shuffle(each)
    in_turn = [each for group in zip_longest(*found) for each in group if each is not None]
    unique = {probe.name: probe for probe in in_turn}
    return list(unique.values())[:most]


def _pairs(one: str, other: str, call: RecordedCall) -> Iterator[Probe]:
    for first in _of_kind(one, call):
        for second in _of_kind(other, first.call) if not first.base else ():
            if not second.base:
                yield replace(
                    second,
                    name=f"{first.name} and {second.name}",
                    # One of them is enough to exclude the call.
                    assumption=f"{first.assumption}, or {second.assumption}",
                    compiled=False,
                    only_accepted=first.only_accepted or second.only_accepted,
                    is_metadata=first.is_metadata or second.is_metadata,
                    training=first.training if second.training is None else second.training,
                    combines=(first.name, second.name),
                )


def _of_kind(kind: str, call: RecordedCall) -> Iterator[Probe]:
    module = import_module(f"{__name__}.{kind}")
    for probe in module.probes(call):
        # A signature shows nothing of a tensor's values, nor of modules that a function reaches.
        is_shown = probe.training is None or call.target.module is not None
        yield replace(probe, is_metadata=module.IS_METADATA and is_shown)
