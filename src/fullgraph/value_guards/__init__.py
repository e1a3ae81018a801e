"""Integer inputs whose values are read while tracing become guarded constants.

Where Dynamo would break because it needs a number from a tensor (`.item()`, a branch, `nonzero`, a
boolean mask, ...) and that tensor is computed from small integer inputs and constants alone, the
number is computed from the real inputs, and a guard computes it again at each call. Nothing is done
anywhere else, so a program that does not break is compiled as if this were not here.

    requirements.py    what this takes from Dynamo, and the releases on which it was tried
    dynamo_patches.py  the places in Dynamo that ask
    frame_values.py    one frame being traced: what is known in it, and the guard it gets
    mutations.py       which tensors have been written to, whose first value is not theirs now
    replayable_ops.py  which operations may be run again
    concrete_eval.py   running them: on real tensors, without effects
    static_sizes.py    operators whose output size depends on data, as ones with a given size
    guard.py           the guard
    guard_log.py       what became of the guards
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fullgraph.value_guards.guard_log import GuardFact, GuardLog
from fullgraph.value_guards.requirements import ValueGuardError, why_not

if TYPE_CHECKING:
    from fullgraph.value_guards.dynamo_patches import Hooks

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
                from fullgraph.value_guards.dynamo_patches import Hooks

                _hooks = Hooks()
    return _hooks
