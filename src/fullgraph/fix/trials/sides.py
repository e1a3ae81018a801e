"""Both sides of every test that a plan rewrites: the calls that run them, and what none does."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch

from fullgraph.fix.model import FixError, UnreachedSide
from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.source.edits import FileEdits
from fullgraph.fix.source.rewritten_tests import (
    Deciding,
    RewrittenTest,
    observing_edits,
    rewritten_tests,
)
from fullgraph.fix.source.text import read_source
from fullgraph.fix.trials.probes import Probe
from fullgraph.fix.trials.probes._probe import like, with_gradients, with_tensors
from fullgraph.fix.trials.side_observer import Side, SideObserver
from fullgraph.fix.trials.side_search import SideSearch, observe

_COMBINED_DTYPES = (torch.bfloat16, torch.float64)
_Runs = Sequence[Probe]


@dataclass
class SideCoverage:
    """Which probes run which sides of the rewritten tests."""

    # In the order of the indices of sides.
    tests: list[tuple[str, RewrittenTest]] = field(default_factory=list)
    # Probes that were made because no other compiled call runs their side.
    added: list[Probe] = field(default_factory=list)
    # By the name of a probe.
    sides: dict[str, set[Side]] = field(default_factory=dict)
    # The sides that recorded calls run.
    recorded: set[Side] = field(default_factory=set)
    unreached: tuple[UnreachedSide, ...] = ()

    def excluding(self) -> Iterator[tuple[Side, str]]:
        """Yield each side with the sentence that excludes it."""
        for number in range(len(self.tests)):
            for is_true in (True, False):
                side = Side(number, is_true)
                yield side, self.assumption(side)

    def not_run_by(self, names: Container[str]) -> Iterator[UnreachedSide]:
        """Yield the sides that neither recorded calls nor some probes run."""
        ran = set(self.recorded)
        ran.update(*(sides for name, sides in self.sides.items() if name in names))
        for side in _wanted(self, ran):
            if side not in ran:
                yield _unreached(self, side)

    def assumption(self, side: Side) -> str:
        """Return the sentence that excludes a side."""
        _, test = self.tests[side.test]
        return excluding(test, is_true=side.is_true)


def excluding(test: RewrittenTest, *, is_true: bool) -> str:
    """Return the sentence that says that one side of a test never runs."""
    if test.is_mask:
        some = "no element" if is_true else "every element"
        return f"{some} of `{test.shown}` is true (line {test.line})"
    return f"`{test.shown}` is {'false' if is_true else 'true'} (line {test.line})"


def cover_sides(
    files: Sequence[FileEdits],
    recorded: _Runs,
    probes: _Runs,
    *,
    helpers: _Runs,
    compiled: set[str],
    most_calls: int,
) -> SideCoverage:
    """Find a call for each side of the tests that some edits rewrite, where that is possible.

    `recorded` are calls that are known to be compared in eager mode and compiled, and `compiled`
    the names of the probes that are.
    """
    coverage = SideCoverage()
    observing: list[FileEdits] = []
    deciding: list[Deciding] = []
    for file in files:
        text = read_source(file.path) or ""
        tests = rewritten_tests(text, file.edits)
        if tests:
            edits, found = observing_edits(text, tests, after=deciding)
            observing.append(FileEdits(file.path, edits))
            deciding += found
            coverage.tests += [(file.path, test) for test in tests]
    if not coverage.tests:
        return coverage
    observer = SideObserver()
    search = SideSearch(observer, deciding, most_calls)
    try:
        with observer.observing(observing):
            _cover(coverage, observer, search, recorded, probes, compiled)
            for probe in helpers:
                coverage.sides[probe.name] = observe(probe, observer)
    except FixError:
        # Without observing, it is not known that any side runs.
        everything = (Side(n, each) for n in range(len(coverage.tests)) for each in (True, False))
        coverage.unreached = tuple(_unreached(coverage, side) for side in everything)
    return coverage


def _cover(
    coverage: SideCoverage,
    observer: SideObserver,
    search: SideSearch,
    recorded: _Runs,
    probes: _Runs,
    compiled: set[str],
) -> None:
    reached: set[Side] = set()
    for call in recorded:
        reached |= observe(call, observer)
    coverage.recorded = set(reached)
    for probe in probes:
        coverage.sides[probe.name] = observe(probe, observer)
        reached |= coverage.sides[probe.name] if probe.name in compiled else set()
    missing = []
    for side in _wanted(coverage, reached):
        if side in reached:
            continue
        # A probe that runs the side, but not compiled, is better than a search.
        known = [each for each in probes if side in coverage.sides[each.name]]
        found = known[:1] or search.calls_for(side, [*recorded, *probes])
        if not found:
            missing.append(_unreached(coverage, side))
        for number, probe in enumerate(found):
            for added in _as_probes(coverage, side, probe, number):
                coverage.added.append(added)
                coverage.sides[added.name] = observe(added, observer)
    coverage.unreached = tuple(missing)


def _wanted(coverage: SideCoverage, reached: set[Side]) -> Iterator[Side]:
    """Yield both sides of each test, but not those of an index that is never a mask."""
    seen = reached.union(*coverage.sides.values())
    for number, (_, test) in enumerate(coverage.tests):
        sides = Side(number, True), Side(number, False)
        if not test.is_mask or not seen.isdisjoint(sides):
            yield from sides


def _unreached(coverage: SideCoverage, side: Side) -> UnreachedSide:
    file, test = coverage.tests[side.test]
    return UnreachedSide(file, test.line, test.shown, side.is_true, test.is_mask)


def _as_probes(coverage: SideCoverage, side: Side, found: Probe, number: int) -> Iterator[Probe]:
    """Yield a call that runs a side as a probe, and the same with gradients and other dtypes."""
    _, test = coverage.tests[side.test]
    name = excluding(test, is_true=not side.is_true) + (f", input {number + 1}" if number else "")
    assumption = coverage.assumption(side)
    base = replace(
        found, name=name, assumption=assumption, compiled=True, base="", is_metadata=False
    )
    yield base
    in_training = with_gradients(base.call)
    if in_training is not None:
        yield _combined(base, "with gradients", in_training, base=name)
    for dtype in _COMBINED_DTYPES:
        other = with_tensors(base.call, partial(_converted, dtype))
        if other is not None:
            yield _combined(base, f"{dtype}".removeprefix("torch."), other)
    other = with_tensors(base.call, _transposed)
    if other is not None:
        yield _combined(base, "transposed in memory", other)


def _combined(probe: Probe, what: str, call: RecordedCall, base: str = "") -> Probe:
    return replace(probe, name=f"{probe.name}, {what}", call=call, compiled=False, base=base)


def _converted(dtype: torch.dtype, tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.dtype.is_floating_point or tensor.dtype == dtype:
        return tensor
    return like(tensor, tensor.to(dtype))


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dim() < 2 or not tensor.is_contiguous():
        return tensor
    return like(tensor, tensor.detach().transpose(-1, -2).contiguous().transpose(-1, -2))


def probes_from(calls: Sequence[tuple[str, RecordedCall]]) -> list[Probe]:
    """Return calls as probes that change nothing."""
    return [Probe(name, "", call) for name, call in calls]
