"""Integer inputs whose values are read while tracing become guarded constants.

Where Dynamo would break because it needs a number from a tensor (`.item()`, a branch, `nonzero`, a
boolean mask, ...) and that tensor is computed from small integer inputs and constants alone, the
number is computed from the real inputs, and a guard computes it again at each call. Nothing is done
anywhere else, so a program that does not break is compiled as if this were not here.

    needs.py     what this takes from Dynamo, and the releases on which it was tried
    hooks.py     the places in Dynamo that ask
    trace.py     one frame being traced: what is known in it, and the guard it gets
    writes.py    which tensors have been written to, so that their first value is not theirs now
    targets.py   which operations may be run again
    real.py      running them: on real tensors, without effects
    forms.py     operators whose output has a size that depends on data, as ones with a given size
    guard.py     the guard
    log.py       what became of the guards
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fullgraph.mend.value_guards.log import GuardFact, GuardLog
from fullgraph.mend.value_guards.needs import ValueGuardError, why_not

if TYPE_CHECKING:
    from fullgraph.mend.value_guards.hooks import Hooks

__all__ = ["GuardFact", "GuardLog", "ValueGuardError", "supported", "value_guards"]

_lock = threading.Lock()
_hooks: Hooks | None = None


def supported() -> str | None:
    """None if value guards work on the installed torch, otherwise the reason in one sentence."""
    return why_not()


@contextmanager
def value_guards(*, largest: int = 4096, most_variants: int = 8) -> Iterator[GuardLog]:
    """Value guards for what is compiled in the block, by this thread; they stay afterwards.

    `largest` is the number of elements of the largest input that is looked at. After
    `most_variants` compiles of a function for different values, further values break as they
    would without this.
    """
    hooks = _ready()
    log = GuardLog()
    hooks.enter(log, largest, most_variants)
    try:
        yield log
    finally:
        hooks.leave()


def _ready() -> Hooks:
    global _hooks
    if _hooks is None:
        with _lock:
            if _hooks is None:
                reason = supported()
                if reason is not None:
                    raise ValueGuardError(reason)
                from fullgraph.mend.value_guards.hooks import Hooks

                _hooks = Hooks()
    return _hooks
