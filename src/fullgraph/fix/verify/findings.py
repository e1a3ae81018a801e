"""What probes and coverage say about a change for which no call differs. Imports no torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from fullgraph.fix.model import ProbesRun, TrialResult
from fullgraph.fix.verify.report import (
    CallDifference,
    Evidence,
    Unexercised,
    VerifiedGrade,
    VerifyReport,
)
from fullgraph.model.owners import this_process

# The beginning of an error of code that was ended, or has ended its process.
CHANGED_CODE = "the changed code"
_NO_PROBES = "the probes failed, so its assumptions are not known: "
# An assumption that only excludes other ordinary numbers. Our own fixers know what
# they rewrite and name such an assumption; of a change that somebody else wrote it is a difference.
_ORDINARY = re.compile(
    r"the numbers in `[^`]*` are like those of the recorded calls( where gradients matter)?"
)


def judged(
    report: VerifyReport,
    results: dict[str, TrialResult],
    probed: TrialResult,
    exercised: TrialResult,
) -> VerifyReport:
    """Return the report of a change without differences, with what probes and coverage say."""
    for each, what in ((probed, _NO_PROBES), (exercised, _NO_PROBES)):
        if each.error.startswith(CHANGED_CODE):
            found = CallDifference("calls with other properties", each.error)
            evidence = replace(report.evidence, differences=(found,))
            return replace(report, verdict="different", evidence=evidence)
        if each.error:
            return replace(report, problem=f"{what}{each.error}")
    ordinary = [each for each in probed.failed_probes if _ORDINARY.fullmatch(each.assumption)]
    if ordinary:
        found_all = tuple(CallDifference(each.name, each.what) for each in ordinary)
        evidence = _with_probes(report.evidence, probed.probes)
        evidence = replace(evidence, differences=found_all)
        return replace(report, verdict="different", evidence=evidence)
    report = replace(
        report,
        assumptions=(
            *_about_attributes(results),
            *dict.fromkeys(each.assumption for each in probed.failed_probes),
        ),
        evidence=_with_probes(report.evidence, probed.probes),
        unexercised=tuple(dict.fromkeys(_unexercised(probed, exercised))),
    )
    if report.unexercised:
        return report
    return replace(report, verdict="verified", grade=_grade(report))


def _about_attributes(results: dict[str, TrialResult]) -> Iterator[str]:
    names = dict.fromkeys(name for each in results.values() for name in each.new_attributes)
    if names:
        shown = ", ".join(name.removeprefix(".") for name in names)
        yield f"no caller relies on which attributes the modules have (new: {shown})"


def _with_probes(evidence: Evidence, ran: ProbesRun) -> Evidence:
    return replace(evidence, probes=ran.eager, compiled_probes=ran.compiled)


def _unexercised(probed: TrialResult, exercised: TrialResult) -> Iterator[Unexercised]:
    display = this_process().display_path
    for path, lines in exercised.unreached_new.items():
        for line in lines:
            yield Unexercised(display(path), line, "the line never ran")
    for side in exercised.unreached_sides:
        yield Unexercised(display(side.file), side.line, f"it never happened that {side}")
    for path, lines in exercised.unreached.items():
        for line in lines:
            yield Unexercised(display(path), line, "the removed line never ran", is_old=True)
    for side in probed.unreached_sides:
        what = f"it never happened that {side}"
        yield Unexercised(display(side.file), side.line, what, is_old=True)


def _grade(report: VerifyReport) -> VerifiedGrade:
    if report.changes:
        return "changes"
    return "assumes" if report.assumptions else "safe"
