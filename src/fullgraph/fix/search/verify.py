"""Stage 4: verifies all accepted fixes together, with varied inputs and every backend."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

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
        self, runner: TrialRunner, baseline: TrialResult, backends: Sequence[str] = ()
    ) -> None:
        self._runner = runner
        self._baseline = baseline
        self._backends = (*BACKENDS, *backends)

    def verify(self, fixes: Sequence[AcceptedFix]) -> tuple[dict[str, TrialResult], str]:
        """Return the results by backend, and why the fixes fail; empty if they pass."""
        submitted = {
            backend: self._runner.submit(_request(fixes, backend)) for backend in self._backends
        }
        results = {backend: self._runner.result(number) for backend, number in submitted.items()}
        for backend, result in results.items():
            if result.error.startswith("InvalidBackend"):
                raise FixError(f"torch has no backend {backend!r}; check the name after --backend")
        failures = (self.failure(result) for result in results.values())
        return results, next(filter(None, failures), "")

    def failure(self, result: TrialResult) -> str:
        """Return why a result fails verification; empty if it passes."""
        failure = failure_of(result)
        if failure:
            return failure
        if result.recompiled > self._baseline.recompiled:
            return f"repeated calls recompile {result.recompiled} times"
        known = self._baseline.report.summary.sites if self._baseline.report else 0
        if result.varied_sites > known and result.varied_sites > self._original_varied_sites:
            return (
                f"varied inputs meet {result.varied_sites} break sites instead of "
                f"{self._original_varied_sites}"
            )
        return ""

    @cached_property
    def _original_varied_sites(self) -> int:
        """The break sites of the original program with varied inputs; rarely needed."""
        return run_trial(self._runner, TrialRequest("trial", all_calls=True)).varied_sites

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
