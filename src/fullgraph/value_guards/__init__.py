"""Value guards: numbers computed from integer inputs become guarded constants while Dynamo traces.

Dynamo breaks the graph where it needs a Python number that is stored in a tensor: `.item()`, a
branch, `nonzero`, a boolean mask. Often that tensor is computed from small integer inputs and
constants alone. Then the number is computed from the real inputs of the call that is being traced,
and tracing continues with it. A guard computes the number again before each later call. A program
that does not break is compiled as if value guards were not active.

In reading order:

    requirements.py      the names that the package needs from torch, and the tested releases
    dynamo_patches.py    the functions of Dynamo that are replaced while a block is active
    node_resolution.py   one graph node: Dynamo's result for it, or a node of known size instead
    static_sizes.py      operators with a data-dependent output size -> operators with a given size
    frame_values.py      one frame while it is traced: the values it reads, and its guard
    node_values.py       the values of graph nodes, computed from the frame's real inputs
    slices.py            the nodes that a value is computed from, mutations included
    frame_inputs.py      which inputs of a frame may be used, and how a guard finds them again
    replayable_ops.py    which operations may run again
    mutations.py         which tensors the traced frame has mutated, and by which node
    concrete_eval.py     running operations on real tensors without side effects
    guard.py             the guard
    guard_log.py         the record of all guards and refusals
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fullgraph.value_guards.guard_log import GuardLog, GuardRecord
from fullgraph.value_guards.requirements import ValueGuardError, unsupported_reason

if TYPE_CHECKING:
    from fullgraph.value_guards.dynamo_patches import DynamoPatches

__all__ = ["GuardLog", "GuardRecord", "ValueGuardError", "unsupported_reason", "value_guards"]

_lock = threading.Lock()
_patches: DynamoPatches | None = None


@contextmanager
def value_guards(*, max_elements: int = 4096, max_variants: int = 8) -> Iterator[GuardLog]:
    """Use value guards for everything that this thread compiles in the block; yield their log.

    The guards stay active after the block. Inputs with more than `max_elements` elements are not
    used. After `max_variants` compiled variants of one function for different values, the function
    breaks for further values as it does without value guards.

    Raises ValueGuardError if the installed torch is not supported, or if another thread uses value
    guards.
    """
    patches = _dynamo_patches()
    log = GuardLog()
    patches.open_scope(log, max_elements, max_variants)
    try:
        yield log
    finally:
        patches.close_scope()


def _dynamo_patches() -> DynamoPatches:
    """Return the patches of this process; the first call checks that torch is supported."""
    global _patches
    with _lock:
        if _patches is None:
            reason = unsupported_reason()
            if reason is not None:
                raise ValueGuardError(reason)
            # Not at the top: importing this package must not import torch.
            from fullgraph.value_guards.dynamo_patches import DynamoPatches

            _patches = DynamoPatches()
        return _patches
