"""Stage 3: break by break, tries candidates and accepts those whose trial is good.

Settings come first, for all breaks at once, then rewrites one by one, then value guards, then what
helps only some breaks. This is repeated, because a break may hide others behind it. At the end
redundant fixes are dropped and the rest is verified; a fix that fails is dropped and the search
goes on without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import get_args

from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.model import (
    AcceptedFix,
    Candidate,
    FixError,
    FixPlan,
    Refusal,
    SearchResult,
    TrialRequest,
    TrialResult,
    combined_plan,
)
from fullgraph.fix.search.accept import (
    least_safe,
    least_safe_fix,
    rejection_reason,
    remaining_breaks,
)
from fullgraph.fix.search.attempts import AttemptLog
from fullgraph.fix.search.state import Attempt, SearchState, one_per_fixer, without_fix
from fullgraph.fix.search.verify import Verifier
from fullgraph.fix.source.program import ProgramSource
from fullgraph.fix.trials.runner import TrialRunner, run_trial
from fullgraph.model.fix_kinds import Kind, Safety
from fullgraph.model.report import RootCause

Progress = Callable[[str], None]
# A trial may take this many seconds, or three times as long as the reference.
_TRIAL_SECONDS = 30.0
# If the reference needs less CPU time, trials run varied inputs at once: verification need not
# repeat them.
_CHEAP_SECONDS = 1.0
_NO_SOURCE = "the source of this code cannot be read"


class FixSearch:
    """Searches fixes for the recorded calls of one program."""

    def __init__(
        self,
        runner: TrialRunner,
        *,
        deadline: float,
        progress: Progress,
        fixers: Iterable[Fixer] | None = None,
        backends: Sequence[str] = (),
    ) -> None:
        self._runner = runner
        self._deadline = deadline
        self._progress = progress
        self._fixers = list(all_fixers() if fixers is None else fixers)
        self._backends = backends
        self._trial_seconds = _TRIAL_SECONDS
        self._runs_varied = False
        self._log = AttemptLog()
        # Plans on top of which all settings together were tried.
        self._settings_tried: set[str] = set()

    def run(self) -> SearchResult:
        """Run the original program, search, and verify."""
        self._progress("running the original program")
        started = time.monotonic()
        baseline = run_trial(self._runner, TrialRequest("reference"))
        require_deterministic(baseline)
        seconds = time.monotonic() - started
        self._trial_seconds = max(_TRIAL_SECONDS, 3 * seconds)
        self._runs_varied = baseline.cpu_seconds < _CHEAP_SECONDS
        self._state = SearchState(baseline)
        results = self._search_and_verify(Verifier(self._runner, baseline, self._backends))
        self._state.current = results.pop("eager")
        self._collect_refusals()
        return SearchResult(
            baseline=baseline,
            final=self._state.current,
            other_backends=results,
            fixes=tuple(self._state.fixes),
            remaining=self._log.remaining(self._state),
            out_of_time=self._out_of_time(),
        )

    def _search_and_verify(self, verifier: Verifier) -> dict[str, TrialResult]:
        """Search until the accepted fixes pass verification; return its results by backend."""
        state = self._state
        results, verified = {"eager": state.baseline}, combined_plan([])
        while True:
            self._search()
            self._mitigate()
            self._drop_redundant()
            if state.plan == verified:
                return results
            results, all_passed = self._verify(verifier)
            if all_passed or self._out_of_time():
                return results
            # A fix that failed may have kept a better one from being tried.
            verified, state.current = state.plan, results["eager"]

    def _search(self) -> None:
        stages = (self._try_settings, self._try_rewrites, self._try_guards, self._try_partial_fixes)
        while self._state.causes and not self._out_of_time():
            if not any(stage() for stage in stages):
                return

    def _out_of_time(self) -> bool:
        return time.monotonic() > self._deadline

    # The stages. Each returns whether it has accepted a fix.

    def _try_settings(self) -> bool:
        """Try all settings that could help, together."""
        attempts = list(self._attempts(("setting",)))
        situation = repr(self._state.plan)
        if not attempts or situation in self._settings_tried:
            return False
        self._settings_tried.add(situation)
        return self._try_best([attempts])

    def _try_rewrites(self) -> bool:
        return self._try_one_by_one(("rewrite", "move"))

    def _try_one_by_one(self, kinds: tuple[Kind, ...]) -> bool:
        """Try candidates one by one, each on top of those accepted before."""
        accepted = False
        while not self._out_of_time():
            if not any(self._try_best([[each]]) for each in self._attempts(kinds)):
                return accepted
            accepted = True
        return accepted

    def _try_guards(self) -> bool:
        """Try value guards, alone and with the settings that may have failed without them."""
        guards = one_per_fixer(list(self._attempts(("guard",))))
        if not guards:
            return False
        settings = one_per_fixer(list(self._attempts(("setting",), retry=True)))
        # Side by side: most machines have two cores.
        accepted = self._try_best([guards, [*guards, *settings]] if settings else [guards])
        return self._try_guards_instead_of_settings(guards[0]) or accepted

    def _try_guards_instead_of_settings(self, guard: Attempt) -> bool:
        """Try value guards without settings: a setting makes a symbol where a guard has a value."""
        state = self._state
        rest = [fix for fix in state.fixes if fix.candidate.kind != "setting"]
        if not state.causes or len(rest) == len(state.fixes) or self._out_of_time():
            return False
        if all(fix.candidate.kind != "guard" for fix in rest):
            rest.append(state.as_fix(*guard))
        result = self._run(rest)
        is_better = remaining_breaks(result) < remaining_breaks(state.current)
        if result.error or result.differences or not is_better:
            return False
        state.reset(rest, result)
        return True

    def _try_partial_fixes(self) -> bool:
        """Try single settings, then escape hatches."""
        settings = one_per_fixer(list(self._attempts(("setting",))))
        escapes = self._attempts(("escape",))
        return any(self._try_best([[each]]) for each in (*settings, *escapes))

    def _mitigate(self) -> None:
        """Reduce the cost of the breaks that remain."""
        self._try_one_by_one(("mitigate",))

    def _collect_refusals(self) -> None:
        """Ask all fixers about the breaks that remain: a dropped fix may have hidden some."""
        for _ in self._attempts(get_args(Kind), retry=True):
            continue

    # Attempts.

    def _attempts(self, kinds: tuple[Kind, ...], *, retry: bool = False) -> Iterator[Attempt]:
        """Yield candidates that were not tried in vain yet; with `retry`, those as well."""
        fixers = [each for each in self._fixers if each.kind in kinds]
        state = self._state
        for cause in state.causes:
            context, key = state.source.context(cause), state.source.break_key(cause)
            if not context.has_source:
                self._log.refuse(key, Refusal(_NO_SOURCE, cause.line))
            for proposal in (each for fixer in fixers for each in fixer.propose(context)):
                if isinstance(proposal, Refusal):
                    self._log.refuse(key, self._at_original_line(cause, proposal))
                elif self._is_worth_trying(key, proposal, retry):
                    yield cause, proposal

    def _at_original_line(self, cause: RootCause, refusal: Refusal) -> Refusal:
        file = self._state.source.open_file(cause.file)
        line = refusal.line if file is None else file.edited.original_line(refusal.line)
        return Refusal(refusal.reason, line, refusal.fixer)

    def _is_worth_trying(self, key: str, candidate: Candidate, retry: bool) -> bool:
        if self._log.was_dropped(key, candidate):
            return False
        return retry or not self._log.has_failed(key, candidate, self._state.plan)

    def _try_best(self, bundles: Sequence[Sequence[Attempt]]) -> bool:
        """Try bundles side by side; accept the best, and of equal ones the first."""
        submitted = [(bundle, self._submit(bundle)) for bundle in bundles]
        done = [(bundle, self._runner.result(number)) for bundle, number in submitted if number]
        good = [each for each in done if not self._rejected(*each)]
        if not good:
            return False
        self._state.accept(*min(good, key=lambda each: remaining_breaks(each[1])))
        return True

    def _submit(self, attempts: Sequence[Attempt]) -> int | None:
        """Start a trial; None if it would change nothing or if there is no time left."""
        plan = self._state.plan_with(attempts)
        if plan == self._state.plan or self._out_of_time():
            return None
        candidates = [candidate for _, candidate in attempts]
        self._progress(f"trying {', '.join(dict.fromkeys(each.title for each in candidates))}")
        accepted = [fix.candidate for fix in self._state.fixes]
        safety = least_safe([*accepted, *candidates])
        return self._runner.submit(self._request(plan, safety))

    def _rejected(self, attempts: Sequence[Attempt], result: TrialResult) -> bool:
        is_mitigation = all(candidate.kind == "mitigate" for _, candidate in attempts)
        causes = [] if is_mitigation else [cause for cause, _ in attempts]
        source = ProgramSource(self._state.plan_with(attempts).files)
        reason = rejection_reason(result, self._state, source, causes)
        if reason:
            self._log.reject(self._state, attempts, reason)
        return bool(reason)

    def _run(self, fixes: Sequence[AcceptedFix]) -> TrialResult:
        """Run a trial of some fixes with the recorded calls."""
        plan = combined_plan(fix.candidate for fix in fixes)
        return run_trial(self._runner, self._request(plan, least_safe_fix(fixes)))

    def _request(self, plan: FixPlan, safety: Safety) -> TrialRequest:
        if self._runs_varied:
            return TrialRequest("trial", plan, safety=safety)
        return TrialRequest("trial", plan, varied=False, safety=safety, seconds=self._trial_seconds)

    # The end.

    def _drop_redundant(self) -> None:
        """Drop every fix without which the result is as good."""
        state = self._state
        mitigations = [fix for fix in state.fixes if fix.candidate.kind == "mitigate"]
        is_better = remaining_breaks(state.current) < remaining_breaks(state.baseline)
        if len(mitigations) < len(state.fixes) and not is_better:
            for fix in state.fixes:
                self._log.take_back(fix, "as many breaks remain")
            state.reset([], state.baseline)
        for fix in reversed(state.fixes):
            rest = without_fix(state.fixes, fix)
            if not rest or fix in mitigations or self._out_of_time():
                continue
            result = self._run(rest)
            is_as_good = remaining_breaks(result) <= remaining_breaks(state.current)
            if not result.error and not result.differences and is_as_good:
                self._log.take_back(fix, "as many breaks remain without it")
                state.reset(rest, result)

    def _verify(self, verifier: Verifier) -> tuple[dict[str, TrialResult], bool]:
        """Drop fixes until the rest passes; return the results, and whether all passed at once."""
        state = self._state
        all_passed = True
        while state.fixes:
            self._progress("verifying with varied inputs")
            # The last trial has run these fixes with the eager backend, unless one was dropped.
            known = state.current if self._runs_varied and all_passed else None
            results, failure = verifier.verify(state.fixes, known)
            if not failure:
                return results, all_passed
            all_passed = False
            # Where no single fix is to blame, or no time is left to find it, the last one goes.
            culprit = None if self._out_of_time() else verifier.culprit(state.fixes)
            culprit = culprit or state.fixes[-1]
            self._log.drop(culprit, failure)
            state.reset(without_fix(state.fixes, culprit), state.baseline)
        return {"eager": state.baseline}, all_passed


def require_deterministic(baseline: TrialResult) -> None:
    """Raise a FixError if the recorded calls did not do the same twice."""
    if baseline.error or baseline.report is None:
        raise FixError(
            f"the recorded calls cannot be run again: {baseline.error}; make the compiled "
            "functions callable twice with the same inputs"
        )
    if baseline.differences:
        first = baseline.differences[0]
        raise FixError(
            f"the program is not deterministic ({first.sample}: {first.what}), so fixes cannot be "
            "verified; set the random seeds, also those of NumPy and Python"
        )
