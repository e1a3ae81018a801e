"""Value guards of a plan, in a thread that can have them and in one that cannot."""

from __future__ import annotations

import threading

import pytest
import torch

from fullgraph.fix.model import FixPlan
from fullgraph.fix.runtime.activate import ActivePlan, plan_active
from fullgraph.value_guards import ValueGuardError

PLAN = FixPlan(guards=True)


def test_a_trial_with_value_guards_is_an_error_where_a_program_runs_without_them() -> None:
    found: list[object] = []

    def in_second_thread() -> None:
        with pytest.raises(ValueGuardError, match="thread"), plan_active(PLAN):
            found.append("no error")
        found.append(ActivePlan(PLAN).wrap(lambda x: x + 1)(torch.ones(1)).item())

    with plan_active(PLAN) as log:
        assert log is not None
        second = threading.Thread(target=in_second_thread)
        second.start()
        second.join()
    assert found == [2.0]
