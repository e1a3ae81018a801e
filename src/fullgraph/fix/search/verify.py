"""Stage 4: verifies all accepted fixes together, with varied inputs and every backend."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from fullgraph.fix.model import AcceptedFix, FixError, TrialRequest, TrialResult, combined_plan
from fullgraph.fix.search.accept import failure_of, least_safe_fix
from fullgraph.fix.search.state import that_fit, without_fix
from fullgraph.fix.trials.runner import TrialRunner, run_trial

# A trial that takes longer is ended. It is far more than a trial needs: how thoroughly fixes are
# verified must not depend on how busy the machine is.
TRIAL_SECONDS = 3600.0
# Every fix is verified with these.
BACKENDS = ("eager", "aot_eager")


class Verifier:
    """Runs the final trials of a list of fixes, and finds the fix that fails them."""

    def __init__(
        self,
        runner: TrialRunner,
        baseline: TrialResult,
        backends: Sequence[str] = (),
        *,
        shares_traces: bool = True,
    ) -> None:
        """`shares_traces`: eager and aot_eager run in one trial, unless one of them has run."""
        self._runner = runner
        self._baseline = baseline
        self._backends = (*BACKENDS, *backends)
        self._shares_traces = shares_traces
        # The break sites of the original program with varied inputs, and whether these are all.
        self._of_original = 0
        self._of_original_is_exact = False

    def verify(self, fixes: Sequence[AcceptedFix]) -> tuple[dict[str, TrialResult], str]:
        """Return the results by backend, and why the fixes fail; empty if they pass."""
        results = self._from_shared_traces(fixes)
        submitted = {
            backend: self._runner.submit(_request(fixes, backend))
            for backend in self._backends
            if backend not in results
        }
        results |= {backend: self._runner.result(number) for backend, number in submitted.items()}
        results = {backend: results[backend] for backend in self._backends}
        for backend, result in results.items():
            if result.error.startswith("InvalidBackend"):
                raise FixError(f"torch has no backend {backend!r}; check the name after --backend")
        failures = (self.failure(result) for result in results.values())
        return results, next(filter(None, failures), "")

    def _from_shared_traces(self, fixes: Sequence[AcceptedFix]) -> dict[str, TrialResult]:
        """Return the results that pass if both backends run the same traces.

        A backend that fails so is tried again by itself. Its calls were the second ones of their
        process, or the other backend is to blame.
        """
        if not self._shares_traces:
            return {}
        eager, aot_eager = BACKENDS
        first = run_trial(self._runner, replace(_request(fixes, eager), also=aot_eager))
        second = first.also
        if self.failure(first) or second is None:
            return {}
        found = {eager: first, aot_eager: second}
        return {backend: each for backend, each in found.items() if not self.failure(each)}

    def failure(self, result: TrialResult) -> str:
        """Return why a result fails verification; empty if it passes."""
        failure = failure_of(result)
        if failure:
            return failure
        if result.recompiled > self._baseline.recompiled:
            return f"repeated calls recompile {result.recompiled} times"
        known = self._baseline.report.summary.sites if self._baseline.report else 0
        met = result.varied_sites
        if met > known and (of_original := self._original_varied_sites(met)) < met:
            return f"varied inputs meet {met} break sites instead of {of_original}"
        return ""

    def _original_varied_sites(self, enough: int) -> int:
        """Return the break sites of the original program with varied inputs, or at least enough."""
        if self._of_original < enough and not self._of_original_is_exact:
            request = TrialRequest("trial", all_calls=True, enough_sites=enough)
            self._of_original = run_trial(self._runner, request).varied_sites
            self._of_original_is_exact = self._of_original < enough
        return self._of_original

    def culprit(self, fixes: Sequence[AcceptedFix]) -> AcceptedFix | None:
        """Return the fix to blame for a failure of all; None if no single one is.

        A half that fails by itself has it. If neither half does, each fix is left out in turn.
        """
        if len(fixes) == 1:
            return fixes[0]
        middle = len(fixes) // 2
        for half in (fixes[middle:], fixes[:middle]):
            fitting = that_fit(half)
            if fitting and self._fails(fitting):
                return self.culprit(fitting)
        for fix in reversed(fixes):
            if not self._fails(without_fix(fixes, fix)):
                return fix
        return None

    def _fails(self, fixes: Sequence[AcceptedFix]) -> bool:
        request = _request(fixes, "aot_eager")
        return bool(self.failure(run_trial(self._runner, request)))


def _request(fixes: Sequence[AcceptedFix], backend: str) -> TrialRequest:
    return TrialRequest(
        "trial",
        combined_plan(fix.candidate for fix in fixes),
        backend=backend,
        # Other backends take too long to compile for every varied input.
        varied=backend in BACKENDS,
        all_calls=True,
        safety=least_safe_fix(fixes),
        seconds=TRIAL_SECONDS,
    )
