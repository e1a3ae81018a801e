"""Merges the results of the parts of a trial. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from msgspec.structs import replace

from fullgraph.analysis import analyze
from fullgraph.fix.model import (
    GuardCost,
    ProbesRun,
    Samples,
    TrialResult,
    Verdict,
)
from fullgraph.model.events import Break, Compile, Event, Graph
from fullgraph.model.session import Session

_Lines = dict[str, tuple[int, ...]]


def with_verdict(result: TrialResult, verdict: Verdict) -> TrialResult:
    """Return the result of a part with what the judge says of it."""
    return replace(
        result,
        differences=verdict.differences,
        largest=verdict.largest,
        gradients=verdict.gradients,
        zero_gradients=verdict.zero_gradients,
        samples=replace(result.samples, raising=verdict.raising),
        varying=verdict.varying,
        failed_probes=verdict.failed_probes,
        new_attributes=verdict.new_attributes,
        error=verdict.error,
        also=result.also and verdict.also and with_verdict(result.also, verdict.also),
    )


def merged_results(parts: Sequence[TrialResult]) -> TrialResult:
    """Return the result of a trial from those of its parts."""
    first = parts[0]
    sessions = _without_repeated([each.session for each in parts if each.session is not None])
    report = analyze(sessions) if sessions else first.report
    also = [each.also for each in parts if each.also is not None]
    return replace(
        first,
        report=report,
        # Its graphs are those of the same traces.
        also=replace(merged_results(also), report=report) if len(also) == len(parts) else None,
        session=None,
        differences=tuple(each for part in parts for each in part.differences),
        largest=max(part.largest for part in parts),
        gradients=sum(part.gradients for part in parts),
        zero_gradients=max(part.zero_gradients for part in parts),
        samples=reduce(_added_samples, (part.samples for part in parts)),
        recompiled=sum(part.recompiled for part in parts),
        value_compiles=max(part.value_compiles for part in parts),
        varied_sites=max(part.varied_sites for part in parts),
        guards=_merged_guards(guard for part in parts for guard in part.guards),
        unreached=reduce(_unreached_by_both, (part.unreached for part in parts)),
        unreached_new=reduce(_unreached_by_both, (part.unreached_new for part in parts)),
        unreached_sides=tuple(
            each
            for each in first.unreached_sides
            if all(each in part.unreached_sides for part in parts)
        ),
        failed_probes=tuple(dict.fromkeys(each for part in parts for each in part.failed_probes)),
        probes=reduce(_added_probes, (part.probes for part in parts)),
        signatures=tuple(dict.fromkeys(each for part in parts for each in part.signatures)),
        varying=tuple(dict.fromkeys(each for part in parts for each in part.varying)),
        unused=tuple(n for n in first.unused if all(n in part.unused for part in parts)),
        new_attributes=tuple(dict.fromkeys(each for part in parts for each in part.new_attributes)),
        cpu_seconds=sum(part.cpu_seconds for part in parts),
        error=next((part.error for part in parts if part.error), ""),
    )


def representatives(results: dict[int, TrialResult]) -> tuple[int, ...]:
    """Return the calls that meet a break which no call before them meets; at least the first.

    `results` are those of the original program, by the number of the call.
    """
    met: set[str] = set()
    chosen: list[int] = []
    for call, result in results.items():
        breaks = {
            repr((each.reasons, each.outcome, each.stack.frames[-each.stack.traced :]))
            for each in (result.session.events if result.session is not None else ())
            if isinstance(each, Break)
        }
        if not chosen or breaks - met:
            chosen.append(call)
        met |= breaks
    return tuple(chosen)


def _added_samples(one: Samples, other: Samples) -> Samples:
    return Samples(
        one.recorded + other.recorded, one.varied + other.varied, one.raising + other.raising
    )


def _added_probes(one: ProbesRun, other: ProbesRun) -> ProbesRun:
    names = dict.fromkeys((*one.backends, *other.backends))
    backends = {name: one.backends.get(name, 0) + other.backends.get(name, 0) for name in names}
    return ProbesRun(one.eager + other.eager, one.compiled + other.compiled, backends)


def _unreached_by_both(one: _Lines, other: _Lines) -> _Lines:
    both = {file: tuple(n for n in one[file] if n in other[file]) for file in one if file in other}
    return {file: lines for file, lines in both.items() if lines}


def _merged_guards(guards: Iterable[GuardCost]) -> tuple[GuardCost, ...]:
    found: dict[tuple[str, int, str, str], GuardCost] = {}
    for guard in guards:
        key = (guard.file, guard.line, guard.input, guard.kind)
        known = found.get(key)
        if known is None:
            found[key] = guard
            continue
        found[key] = replace(
            known,
            checked=known.checked + guard.checked,
            failed=known.failed + guard.failed,
            microseconds=max(known.microseconds, guard.microseconds),
        )
    return tuple(found.values())


def _without_repeated(sessions: Sequence[Session]) -> list[Session]:
    """Leave out the compiles of each process that one before it has made in the same way.

    A single process would have made them once.
    """
    known: set[object] = set()
    kept = []
    for session in sessions:
        found = _compiles(session.events)
        repeated = {compile_ for compile_, key in found.items() if key in known}
        known.update(found.values())
        events = tuple(each for each in session.events if _compile_of(each) not in repeated)
        kept.append(replace(session, events=events))
    return kept


def _compiles(events: Iterable[Event]) -> dict[str, object]:
    """Return what each compile did, so that equal ones can be told."""
    done: dict[str, list[object]] = {}
    for event in events:
        if isinstance(event, Compile):
            done.setdefault(event.id, []).append((event.code, event.outcome, event.error))
        elif isinstance(event, Graph):
            done.setdefault(event.compile, []).append((event.root, event.ops))
        elif isinstance(event, Break):
            done.setdefault(event.compile, []).append(
                (event.reasons, event.stack.frames[-event.stack.traced :])
            )
    return {compile_: tuple(map(repr, what)) for compile_, what in done.items()}


def _compile_of(event: Event) -> str | None:
    if isinstance(event, Compile):
        return event.id
    return getattr(event, "compile", None)
