"""What a call does differently each time, such as printing the time; it is not compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fullgraph.outcomes.compare import compare_outcomes
from fullgraph.outcomes.observe import CallOutcome, Leaf

_DICTIONARIES = ("outputs", "inputs", "state", "gradients")
_VARIES = "(this line is another one each time)"


@dataclass(frozen=True)
class Varying:
    """The parts of one call's outcome that differ between two runs of the same program."""

    # The paths of leaves, by the name of their dictionary in `CallOutcome`.
    leaves: dict[str, frozenset[str]]
    # The indices of output lines; None if even their number differs.
    lines: frozenset[int] | None = frozenset()
    # Whether one run raises and the other does not, or all results differ.
    all: bool = False

    def __bool__(self) -> bool:
        return self.all or self.lines is None or bool(self.lines) or any(self.leaves.values())


def varying_parts(once: CallOutcome, again: CallOutcome) -> Varying:
    """Return what differs between two outcomes of the same call."""
    leaves = {name: _differing(getattr(once, name), getattr(again, name)) for name in _DICTIONARIES}
    lines: frozenset[int] | None = None
    if len(once.output) == len(again.output):
        pairs = enumerate(zip(once.output, again.output, strict=True))
        lines = frozenset(index for index, (old, new) in pairs if old != new)
    nothing_left = bool(once.outputs) and leaves["outputs"] >= once.outputs.keys()
    differs = (once.raised, once.message) != (again.raised, again.message)
    return Varying(leaves, lines, all=differs or nothing_left)


def _differing(once: dict[str, Leaf], again: dict[str, Leaf]) -> frozenset[str]:
    found = set(once.keys() ^ again.keys())
    for path in once.keys() & again.keys():
        mine, other = CallOutcome(outputs={path: once[path]}), CallOutcome()
        other.outputs = {path: again[path]}
        if compare_outcomes(mine, other, exact=True).problems:
            found.add(path)
    return frozenset(found)


def without_varying(outcome: CallOutcome, varying: Varying) -> CallOutcome:
    """Return an outcome without the parts that vary."""
    if not varying:
        return outcome
    kept: dict[str, Any] = {
        name: {
            path: leaf
            for path, leaf in getattr(outcome, name).items()
            if path not in varying.leaves.get(name, ())
        }
        for name in _DICTIONARIES
    }
    return replace(outcome, **kept, output=_steady_lines(outcome.output, varying.lines))


def _steady_lines(lines: list[str], varying: frozenset[int] | None) -> list[str]:
    if varying is None:
        return []
    return [_VARIES if index in varying else line for index, line in enumerate(lines)]
