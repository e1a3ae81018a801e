"""Independent trials run side by side, but not all at once."""

from __future__ import annotations

from fullgraph.fix.model import TrialRequest, TrialResult
from fullgraph.fix.trials.runner import run_trials


class Recorder:
    """A runner that notes how many trials wait for their result."""

    def __init__(self) -> None:
        self.waiting: list[int] = []
        self.most = 0
        self.submitted = 0

    def submit(self, request: TrialRequest) -> int:
        self.submitted += 1
        self.waiting.append(self.submitted)
        self.most = max(self.most, len(self.waiting))
        return self.submitted

    def result(self, number: int) -> TrialResult:
        self.waiting.remove(number)
        return TrialResult(number, None)


def test_two_trials_run_at_a_time_and_results_keep_their_order() -> None:
    runner = Recorder()
    results = run_trials(runner, [TrialRequest("probe")] * 5)
    assert [each.number for each in results] == [1, 2, 3, 4, 5]
    assert runner.most == 2
    assert not runner.waiting
