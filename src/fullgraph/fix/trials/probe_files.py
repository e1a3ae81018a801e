"""The files in which a trial keeps what its probes did, for the judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct, json

from fullgraph.fix.trials.runner import Part, outcome_file
from fullgraph.outcomes.files import Outcomes
from fullgraph.outcomes.observe import CallOutcome

# The index of a rewritten test, and whether it is true; see `side_observer.Side`.
SideKey = tuple[int, bool]


class ProbeNote(Struct, frozen=True):
    """What the judge has to know about a probe; see `probes._probe.Probe`."""

    name: str
    assumption: str
    base: str = ""
    is_metadata: bool = False
    combines: tuple[str, ...] = ()
    helper: str = ""
    # Of rewritten tests, those that it runs.
    sides: tuple[SideKey, ...] = ()


class ProbesFile(Struct, frozen=True):
    """The probes of one part of a trial, and what they did in eager mode, as text."""

    notes: tuple[ProbeNote, ...]
    # The sides that recorded calls run.
    recorded_sides: tuple[SideKey, ...] = ()
    # The sentences that exclude each side.
    excluding: tuple[tuple[SideKey, str], ...] = ()
    # By the name of the probe; see `outcomes.text_form`.
    original: dict[str, dict[str, Any]] = {}
    fixed: dict[str, dict[str, Any]] = {}
    # The original program, once more.
    again: dict[str, dict[str, Any]] = {}
    # The backends of the compiled outcomes.
    backends: tuple[str, ...] = ()

    def write(self, part: Part) -> None:
        """Write the file of a part."""
        _file(part).write_bytes(json.encode(self))

    @classmethod
    def read(cls, part: Part) -> ProbesFile:
        """Return the file of a part."""
        return json.decode(_file(part).read_bytes(), type=cls)


def _file(part: Part) -> Path:
    return part.path("probes.json")


def outcomes_of(plain: dict[str, dict[str, Any]]) -> Outcomes:
    """Return outcomes that were written as dictionaries."""
    return {name: CallOutcome(**values) for name, values in plain.items()}


def outcomes_of_backend(part: Part, which: str, backend: str) -> Path:
    """Return the file of compiled outcomes: of the fixed program, or of the original alone."""
    return outcome_file(part, f"{which}-{backend}")
