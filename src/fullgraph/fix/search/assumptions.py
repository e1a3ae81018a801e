"""After verification: find out what each accepted fix assumes, with probes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from fullgraph.fix.model import (
    AcceptedFix,
    FailedProbe,
    ProbesRun,
    SearchResult,
    TrialRequest,
    TrialResult,
    UnreachedSide,
    combined_plan,
)
from fullgraph.fix.search.accept import is_small, least_safe_fix
from fullgraph.fix.search.state import without_fix
from fullgraph.fix.trials.runner import TrialRunner, run_trial, run_trials

MOST_PROBES = 240
# Of a program that is not small. Only the probes of values run compiled, because they share a
# compile.
_MOST_OF_EXPENSIVE = 60
_MOST_COMPILED = 48
_MOST_COMPILED_OF_EXPENSIVE = 16
_MOST_RECOMPILES_OF_EXPENSIVE = 2
_SECONDS = 300.0
Lines = dict[str, tuple[int, ...]]
_NO_PROBES = "its assumptions are not known, because the probes failed"


class Assumptions:
    """The assumptions of accepted fixes, and how many probes ran."""

    def __init__(
        self,
        by_fix: Sequence[tuple[str, ...]],
        ran: ProbesRun,
        about_metadata: frozenset[str] = frozenset(),
        signatures: tuple[str, ...] = (),
    ) -> None:
        self.by_fix = list(by_fix)
        self.ran = ran
        # The sentences that are only about metadata of the arguments.
        self.about_metadata = about_metadata
        # Of the recorded calls.
        self.signatures = signatures
        # Of rewritten tests; empty if the probes failed.
        self.unreached_sides: tuple[UnreachedSide, ...] = ()
        # Lines that neither calls nor probes run.
        self.unreached: Lines = {}


def find_assumptions(runner: TrialRunner, result: SearchResult, lines: Lines) -> Assumptions:
    """Run probes with all fixes; for those that fail, find the fixes to blame.

    `lines` are those of the original program that have to run.
    """
    fixes = result.fixes
    if not fixes:
        return Assumptions([], ProbesRun())
    together = run_trial(runner, replace(probe_request(fixes, result), lines=lines))
    if together.error:
        found = Assumptions([(_NO_PROBES,)] * len(fixes), ProbesRun())
        # Lines that nothing is known about count as not run.
        found.unreached = lines
        return found
    failed = together.failed_probes
    others = {each.assumption for each in failed if not each.is_metadata}
    about_metadata = frozenset(_sentences(failed)) - others
    by_fix = (
        [_sentences(failed)] * len(fixes)
        if not failed or len(fixes) == 1
        else _blamed(runner, result, failed)
    )
    found = Assumptions(by_fix, together.probes, about_metadata, together.signatures)
    found.unreached_sides = together.unreached_sides
    found.unreached = together.unreached
    return found


def probe_request(
    fixes: Sequence[AcceptedFix], result: SearchResult, only: tuple[str, ...] = ()
) -> TrialRequest:
    """Return the request that runs some probes, or all, with some fixes."""
    is_cheap = is_small(result.baseline)
    return TrialRequest(
        "probe",
        combined_plan(fix.candidate for fix in fixes),
        safety=least_safe_fix(fixes),
        probes=only,
        # So that the same inputs are searched for, and run compiled, if some are left out.
        all_fixes=result.plan,
        most_probes=MOST_PROBES if is_cheap else _MOST_OF_EXPENSIVE,
        most_compiled=_MOST_COMPILED if is_cheap else _MOST_COMPILED_OF_EXPENSIVE,
        compiles_metadata=is_cheap,
        most_recompiles=1000 if is_cheap else _MOST_RECOMPILES_OF_EXPENSIVE,
        seconds=_SECONDS,
    )


def _blamed(
    runner: TrialRunner, result: SearchResult, failed: tuple[FailedProbe, ...]
) -> list[tuple[str, ...]]:
    """Return the assumptions of each fix: those of the probes that pass without it.

    A probe that fails without any single one of them is the fault of all of them.
    """
    only = tuple(dict.fromkeys(each.name for each in failed))
    requests = [probe_request(without_fix(result.fixes, fix), result, only) for fix in result.fixes]
    without = run_trials(runner, requests)
    found = [_sentences(_gone(failed, each)) for each in without]
    explained = {sentence for sentences in found for sentence in sentences}
    shared = tuple(each for each in _sentences(failed) if each not in explained)
    return [(*sentences, *shared) for sentences in found]


def _gone(failed: tuple[FailedProbe, ...], result: TrialResult) -> tuple[FailedProbe, ...]:
    if result.error:
        return ()
    left = {(each.name, each.mode) for each in result.failed_probes}
    return tuple(each for each in failed if (each.name, each.mode) not in left)


def _sentences(failed: tuple[FailedProbe, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.assumption for each in failed))
