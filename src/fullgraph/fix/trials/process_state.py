"""Restores what a trial in this process has changed, and says if that was not possible.

Only for processes that cannot be forked: there, one process runs all trials, one after the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

from fullgraph.fix.record.recorder import CallContext, CallRecorder
from fullgraph.fix.record.snapshot import Snapshot, named_values
from fullgraph.outcomes.compare import compare_outcomes
from fullgraph.outcomes.observe import CallOutcome, flattened, module_state

_DEEPEST = 4


class ProcessState:
    """The state of this process before its first trial."""

    def __init__(self, recorder: CallRecorder) -> None:
        self._recorder = recorder
        self._context = CallContext.current()
        targets = recorder.targets
        self._snapshot = Snapshot(
            [each.original for each in targets], [each.state for each in targets]
        )
        self._before = self._now()

    def isolate(self, function: Callable[[], None]) -> None:
        """Run a function and restore the state."""
        try:
            function()
        finally:
            self.restore()

    def restore(self) -> None:
        """Put everything back as far as that is possible."""
        self._snapshot.restore()
        torch.set_rng_state(self._context.rng)
        random.setstate(self._context.python_rng)

    def is_restored(self) -> bool:
        """Return whether everything is as it was when this object was made."""
        return not compare_outcomes(self._before, self._now(), exact=True).problems

    def _now(self) -> CallOutcome:
        found = CallOutcome()
        for number, target in enumerate(self._recorder.targets):
            found.state |= {
                f"{number}{path}": leaf for path, leaf in module_state(target.state).items()
            }
            for name, value in named_values(target.original):
                leaves = flattened(value, deepest=_DEEPEST)
                found.state |= {f"{number}.{name}{path}": leaf for path, leaf in leaves.items()}
        return found
