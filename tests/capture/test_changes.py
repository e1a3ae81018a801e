"""What changed, from the words of older releases of torch."""

from __future__ import annotations

import torch

from fullgraph.analysis.bounded_recompiles import is_bounded
from fullgraph.capture.changes import changes_of_entry
from fullgraph.capture.guard_sources import FrameFacts
from fullgraph.model.events import GuardChange

FRAME = FrameFacts((lambda: None).__code__, "module")


def test_the_state_that_only_the_reason_names_has_its_new_value() -> None:
    with torch.no_grad():
        reason = "GLOBAL_STATE changed: grad_mode num_threads autocast "
        changes = changes_of_entry((), reason, FRAME)
    assert [(change.kind, change.before, change.now) for change in changes] == [
        ("grad_mode", "True", "False"),
        ("num_threads", "", str(torch.get_num_threads())),
        ("autocast", "True", "False"),
    ]


def test_a_change_without_a_known_value_is_not_bounded() -> None:
    assert not is_bounded(GuardChange("other", "torch", "", "backend"), (), is_known=False)
    of_unknown_class = GuardChange("type", "argument", "L['o']", "o", now="Options")
    assert not is_bounded(of_unknown_class, ("Options",), is_known=False)
