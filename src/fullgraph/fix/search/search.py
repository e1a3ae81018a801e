"""Stage 3: tries candidates in trials and accepts those whose trial is good.

Settings come first, for all breaks at once, then rewrites, then value guards, then what helps only
some breaks. Rewrites are tried in bundles: one candidate for each break, all in one trial; a bundle
is split only where something differs. This is repeated, because a break may hide others behind it.
At the end redundant fixes are dropped and the rest is verified; a fix that fails is dropped and the
search goes on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import get_args

from msgspec.structs import replace

from fullgraph.fix.fixers import Fixer, all_fixers
from fullgraph.fix.model import (
    AcceptedFix,
    Candidate,
    FixError,
    FixPlan,
    Refusal,
    SearchResult,
    SettingValue,
    TrialRequest,
    TrialResult,
    combined_plan,
    combined_settings,
)
from fullgraph.fix.search.accept import (
    Verdict,
    is_small,
    judge,
    judge_mitigation,
    judge_together,
    least_safe,
    least_safe_fix,
    remaining_breaks,
)
from fullgraph.fix.search.attempts import AttemptLog
from fullgraph.fix.search.budget import Budget
from fullgraph.fix.search.bundles import build_bundle, carried_attempts, plan_or_none
from fullgraph.fix.search.memory import RememberingRunner
from fullgraph.fix.search.redundant import RedundancyCheck
from fullgraph.fix.search.state import Attempt, SearchState, one_per_fixer, without_fix
from fullgraph.fix.search.verify import TRIAL_SECONDS, Verifier
from fullgraph.fix.source.program import ProgramSource
from fullgraph.fix.trials.runner import TrialRunner, run_trial
from fullgraph.model.fix_kinds import Kind, Safety
from fullgraph.model.report import RootCause

Progress = Callable[[str], None]
_NO_SOURCE = "the source of this code cannot be read"


class FixSearch:
    """Searches fixes for the recorded calls of one program."""

    def __init__(
        self,
        runner: TrialRunner,
        *,
        progress: Progress,
        budget: Budget | None = None,
        fixers: Iterable[Fixer] | None = None,
        backends: Sequence[str] = (),
    ) -> None:
        self._budget = budget or Budget()
        self._runner = RememberingRunner(runner, self._budget)
        self._progress = progress
        self._fixers = list(all_fixers() if fixers is None else fixers)
        self._backends = backends
        self._runs_varied = False
        self._log = AttemptLog()
        # Plans on top of which all settings together were tried.
        self._settings_tried: set[str] = set()
        # What is verified so far; None if nothing is.
        self.verified: SearchResult | None = None

    @property
    def runner(self) -> RememberingRunner:
        """Runs further trials, as far as their results are not known."""
        return self._runner

    def run(self) -> SearchResult:
        """Run the original program, search, and verify."""
        self._progress("running the original program")
        baseline = run_trial(self._runner, TrialRequest("reference", seconds=TRIAL_SECONDS))
        require_deterministic(baseline)
        self._budget.grow()
        # Verification need not repeat what the trials of a small program do at once.
        self._runs_varied = is_small(baseline)
        self._state = SearchState(baseline)
        verifier = Verifier(
            self._runner, baseline, self._backends, shares_traces=not self._runs_varied
        )
        results = self._search_and_verify(verifier)
        self._state.current = results.pop("eager")
        self._collect_refusals()
        return self._result(results)

    def _result(self, other_backends: dict[str, TrialResult]) -> SearchResult:
        return SearchResult(
            baseline=self._state.baseline,
            final=self._state.current,
            other_backends=other_backends,
            fixes=tuple(self._state.fixes),
            remaining=self._log.remaining(self._state),
            out_of_time=self._budget.is_spent,
            budget=self._budget.seconds,
        )

    def _search_and_verify(self, verifier: Verifier) -> dict[str, TrialResult]:
        """Search until the accepted fixes pass verification; return its results by backend."""
        state = self._state
        results, verified = {"eager": state.baseline}, combined_plan([])
        while True:
            state.restart()
            self._search()
            self._mitigate()
            self._drop_redundant()
            if state.plan == verified:
                return results
            results, all_passed = self._verify(verifier)
            if all_passed or self._budget.is_spent:
                return results
            # A fix that failed may have kept a better one from being tried.
            verified, state.current = state.plan, results["eager"]
            others = {name: result for name, result in results.items() if name != "eager"}
            self.verified = self._result(others) if state.fixes else None

    def _search(self) -> None:
        stages = (self._try_settings, self._try_rewrites, self._try_guards, self._try_escapes)
        while self._state.causes and not self._budget.is_spent:
            if not any(stage() for stage in stages):
                return

    # The stages. Each returns whether it has accepted a fix.

    def _try_settings(self) -> bool:
        """Try all settings that could help, together."""
        attempts = list(self._attempts(("setting",)))
        situation = repr(self._state.plan)
        if not attempts or situation in self._settings_tried:
            return False
        self._settings_tried.add(situation)
        return self._try_fixers(attempts)

    def _try_fixers(self, attempts: Sequence[Attempt]) -> bool:
        """Try settings together; where the outcome differs, try each half of them."""
        verdict = self._try_together(attempts)
        if verdict is None or verdict.is_correct or not _other_half(attempts):
            return verdict == Verdict()
        source, second = self._state.source, _other_half(attempts)
        accepted = self._try_fixers([each for each in attempts if each not in second])
        return self._try_fixers(carried_attempts(second, source, self._state)) or accepted

    def _try_rewrites(self) -> bool:
        return self._try_in_bundles(("rewrite", "move"))

    def _try_escapes(self) -> bool:
        """Try single settings, then escape hatches."""
        settings = one_per_fixer(list(self._attempts(("setting",))))
        if any(self._try_together([each]) == Verdict() for each in settings):
            return True
        return self._try_in_bundles(("escape",))

    def _mitigate(self) -> None:
        """Reduce the cost of the breaks that remain."""
        self._try_in_bundles(("mitigate",))

    def _try_in_bundles(self, kinds: tuple[Kind, ...]) -> bool:
        """Try candidates in bundles, as long as one is accepted or a new one is found.

        A candidate that has failed is tried again only when there is no other one.
        """
        accepted = False
        for retry in (False, True):
            while not self._budget.is_spent:
                tried = self._log.tried
                bundle = self._bundle(kinds, retry=retry)
                is_accepted = bool(bundle) and self._try_bundle(bundle)
                accepted = accepted or is_accepted
                if not is_accepted and self._log.tried == tried:
                    break
        return accepted

    def _bundle(self, kinds: tuple[Kind, ...], *, retry: bool) -> list[Attempt]:
        fixers = [each for each in self._fixers if each.kind in kinds]

        def propose(source: ProgramSource, cause: RootCause, met: RootCause) -> Iterator[Candidate]:
            key = self._state.source.break_key(met)
            for candidate in self._proposals(source, cause, key, fixers):
                is_known = self._log.was_tried(key, candidate) and not retry
                is_left = self._is_worth_trying(key, candidate)
                if is_left and not is_known and not self._is_in_plan(candidate):
                    yield candidate

        return build_bundle(self._state, propose)

    def _try_bundle(self, attempts: Sequence[Attempt]) -> bool:
        """Try candidates together; split them where something differs."""
        result = self._run_with(attempts)
        if result is None:
            return False
        state = self._state
        source = ProgramSource(state.plan_with(attempts).files)
        is_mitigation = all(candidate.kind == "mitigate" for _, candidate in attempts)
        verdict = (
            judge_mitigation(result, state)
            if is_mitigation
            else judge(result, state, source, attempts)
        )
        if not verdict.reason:
            state.accept(attempts, result, on_credit=verdict.gets_further)
            return True
        if len(attempts) == 1:
            self._log.reject(state, attempts, verdict.reason)
            return False
        if verdict.blamed:
            for index, reason in verdict.blamed.items():
                self._log.reject(state, [attempts[index]], reason)
            rest = [each for index, each in enumerate(attempts) if index not in verdict.blamed]
            fitting = carried_attempts(rest, state.source, state)
            return bool(fitting) and self._try_bundle(fitting)
        before = state.source
        middle = len(attempts) // 2
        accepted = self._try_bundle(carried_attempts(attempts[:middle], before, state))
        rest = carried_attempts(attempts[middle:], before, state)
        return (bool(rest) and self._try_bundle(rest)) or accepted

    def _try_guards(self) -> bool:
        """Try value guards; where some help, also with the settings that may have failed."""
        guards = one_per_fixer(list(self._attempts(("guard",))))
        if not guards:
            return False
        accepted = self._try_guards_and_settings(guards)
        return self._try_guards_instead_of_settings(guards[0]) or accepted

    def _try_guards_and_settings(self, guards: list[Attempt]) -> bool:
        settings = one_per_fixer(list(self._attempts(("setting",), retry=True)))
        alone = self._run_with(guards)
        # Without a single guard, the settings alone have said what they do.
        if alone is None or not alone.guards:
            return self._accept_best([(guards, alone)])
        # A setting does nothing for breaks that it is not proposed for.
        left = alone.report is None or self._is_any_for("setting", alone.report.causes)
        both = [*guards, *settings] if settings and left else []
        return self._accept_best([(guards, alone), (both, self._run_with(both) if both else None)])

    def _accept_best(self, bundles: Sequence[tuple[list[Attempt], TrialResult | None]]) -> bool:
        """Accept the best of some bundles that were tried, and of equal ones the first."""
        done = [(bundle, result) for bundle, result in bundles if result is not None]
        good = [each for each in done if not self._verdict_together(*each).reason]
        if good:
            self._state.accept(*min(good, key=lambda each: remaining_breaks(each[1])))
        return bool(good)

    def _try_guards_instead_of_settings(self, guard: Attempt) -> bool:
        """Try value guards without settings: a setting makes a symbol where a guard has a value."""
        state = self._state
        rest = [fix for fix in state.fixes if fix.candidate.kind != "setting"]
        if len(rest) == len(state.fixes) or self._budget.is_spent:
            return False
        if not self._is_any_for("guard", state.causes):
            return False
        if all(fix.candidate.kind != "guard" for fix in rest):
            rest.append(state.as_fix(*guard))
        result = self._run(rest)
        is_better = remaining_breaks(result) < remaining_breaks(state.current)
        if result.error or result.differences or not is_better:
            return False
        state.reset(rest, result)
        return True

    def _is_any_for(self, kind: Kind, causes: Iterable[RootCause]) -> bool:
        """Return whether a fixer of a kind proposes something for one of some breaks."""
        source = self._state.source
        fixers = [each for each in self._fixers if each.kind == kind]
        return any(
            next(self._proposals(source, cause, source.break_key(cause), fixers), None) is not None
            for cause in causes
        )

    def _collect_refusals(self) -> None:
        """Ask all fixers about the breaks that remain: a dropped fix may have hidden some.

        Where the budget is spent, also collect what was not tried.
        """
        for cause, candidate in self._attempts(get_args(Kind), retry=True):
            key = self._state.source.break_key(cause)
            if self._budget.is_spent and not self._log.was_tried(key, candidate):
                self._log.leave_untried(key, candidate)

    # Attempts.

    def _attempts(self, kinds: tuple[Kind, ...], *, retry: bool = False) -> Iterator[Attempt]:
        """Yield candidates that were not tried in vain yet; with `retry`, those as well."""
        fixers = [each for each in self._fixers if each.kind in kinds]
        state = self._state
        for cause in state.causes:
            key = state.source.break_key(cause)
            for candidate in self._proposals(state.source, cause, key, fixers):
                if retry or self._is_worth_trying(key, candidate):
                    yield cause, candidate

    def _proposals(
        self, source: ProgramSource, cause: RootCause, key: str, fixers: Sequence[Fixer]
    ) -> Iterator[Candidate]:
        """Yield the candidates for a break, and note the refusals."""
        context = source.context(cause)
        if not context.has_source:
            self._log.refuse(key, Refusal(_NO_SOURCE, cause.line))
        for proposal in (each for fixer in fixers for each in fixer.propose(context)):
            if isinstance(proposal, Refusal):
                file = source.open_file(cause.file)
                line = proposal.line if file is None else file.edited.original_line(proposal.line)
                self._log.refuse(key, Refusal(proposal.reason, line, proposal.fixer))
            elif not self._log.was_dropped(key, proposal):
                yield proposal

    def _is_worth_trying(self, key: str, candidate: Candidate) -> bool:
        return not self._log.has_failed(key, candidate, self._state.plan)

    def _is_in_plan(self, candidate: Candidate) -> bool:
        """Return whether a setting is accepted already, for another break."""
        plan = self._state.plan
        joined = combined_settings(plan.settings, candidate.settings)
        return (
            candidate.file is None and joined == plan.settings and candidate.guards <= plan.guards
        )

    def _try_together(self, attempts: Sequence[Attempt]) -> Verdict | None:
        """Try settings for all breaks; None if there is nothing to try or no budget left."""
        result = self._run_with(attempts)
        if result is None:
            return None
        verdict = self._verdict_together(attempts, result)
        if not verdict.reason:
            self._state.accept(attempts, result)
        return verdict

    def _verdict_together(self, attempts: Sequence[Attempt], result: TrialResult) -> Verdict:
        source = ProgramSource(self._state.plan_with(attempts).files)
        verdict = judge_together(result, self._state, source, attempts)
        if verdict.reason:
            self._log.reject(self._state, attempts, verdict.reason)
        return verdict

    # Trials.

    def _run_with(self, attempts: Sequence[Attempt]) -> TrialResult | None:
        """Run a trial; None if it would change nothing or if the budget is spent."""
        state = self._state
        plan = plan_or_none(state, attempts)
        if plan is None or plan == state.plan or self._budget.is_spent:
            return None
        candidates = [candidate for _, candidate in attempts]
        self._progress(self._describe(candidates))
        accepted = [fix.candidate for fix in state.fixes]
        return run_trial(self._runner, self._request(plan, least_safe([*accepted, *candidates])))

    def _describe(self, candidates: Sequence[Candidate]) -> str:
        titles = list(dict.fromkeys(each.title for each in candidates))
        more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
        number = f"{len(candidates)} candidates: " if len(candidates) > 1 else ""
        left, known = len(self._state.causes), self._state.baseline.report
        total = max(left, len(known.causes) if known is not None else 0)
        causes = "cause" if total == 1 else "causes"
        return (
            f"trying {number}{titles[0]}{more} · {left} of {total} root {causes} left · "
            f"{self._budget}"
        )

    def _run(self, fixes: Sequence[AcceptedFix]) -> TrialResult:
        """Run a trial of some fixes with the recorded calls."""
        plan = combined_plan(fix.candidate for fix in fixes)
        request = self._request(plan, least_safe_fix(fixes))
        state = self._state
        without_unused = replace(state.plan, settings=_used(state.plan, state.current))
        if plan == without_unused and request.safety == least_safe_fix(state.fixes):
            self._runner.remember(request, state.current)
        return run_trial(self._runner, request)

    def _request(self, plan: FixPlan, safety: Safety) -> TrialRequest:
        if not self._runs_varied:
            return self._plain_request(plan, safety)
        # The request that verification makes, so that its answer is known.
        return TrialRequest("trial", plan, safety=safety, all_calls=True, seconds=TRIAL_SECONDS)

    def _plain_request(self, plan: FixPlan, safety: Safety) -> TrialRequest:
        return TrialRequest("trial", plan, varied=False, safety=safety, seconds=TRIAL_SECONDS)

    # The end.

    def _drop_redundant(self) -> None:
        """Drop the fixes without which the result is as good."""
        self._progress(f"leaving out what is redundant · {self._budget}")
        check = RedundancyCheck(self._state, self._log, self._budget, self._run, self._is_for)
        check.run()

    def _is_for(self, fix: AcceptedFix, other: AcceptedFix) -> bool:
        """Return whether the fixer of a fix proposes something for the break of another one."""
        baseline = self._state.baseline.report
        if baseline is None or other.cause not in baseline.causes:
            # It was met under another plan, and the fixer may have seen it there.
            return True
        context = ProgramSource({}).context(other.cause)
        fixers = [each for each in self._fixers if each.name == fix.candidate.fixer]
        proposals = (each for fixer in fixers for each in fixer.propose(context))
        return any(isinstance(each, Candidate) for each in proposals)

    def _verify(self, verifier: Verifier) -> tuple[dict[str, TrialResult], bool]:
        """Drop fixes until the rest passes; return the results, and whether all passed at once."""
        state = self._state
        all_passed = True
        while state.fixes:
            self._progress(f"verifying {_fixes(len(state.fixes))} with varied inputs")
            results, failure = verifier.verify(state.fixes)
            if not failure:
                return results, all_passed
            all_passed = False
            # Where no single fix is to blame, the last one goes.
            culprit = verifier.culprit(state.fixes) or state.fixes[-1]
            self._log.drop(culprit, failure)
            state.reset(without_fix(state.fixes, culprit), state.baseline)
        return {"eager": state.baseline}, all_passed


def _other_half(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the settings to try after the others: those that are not exact, or the second half."""
    fixers = list(dict.fromkeys(candidate.fixer for _, candidate in attempts))
    inexact = [each for each in attempts if each[1].safety != "exact"]
    if 0 < len(inexact) < len(attempts):
        return inexact
    half = fixers[(len(fixers) + 1) // 2 :]
    return [each for each in attempts if each[1].fixer in half]


def _used(plan: FixPlan, result: TrialResult) -> dict[str, SettingValue]:
    """Return the settings of a plan that have had an effect."""
    return {name: plan.settings[name] for name in plan.settings if name not in result.unused}


def _fixes(count: int) -> str:
    return f"{count} {'fix' if count == 1 else 'fixes'}"


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
