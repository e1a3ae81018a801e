"""A root cause without a run."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from fullgraph.model.report import RootCause

_CAUSE = RootCause(
    key="key",
    id="GB0170",
    type="a break",
    category="data-dependent",
    owner="yours",
    file="program.py",
    line=1,
    column=1,
    function="f",
    occurrences=1,
    resumed=1,
    cut=0,
    skipped=0,
    raised=0,
    frames=(),
    explanation="",
    hints=(),
    context="",
    via=None,
    cascade_of=None,
    because="",
    excerpt=(),
    end_line=None,
    end_column=None,
    stack=(),
    rank=1,
    cascades=(),
    skipped_frames=(),
    user_requested=False,
    advice="",
)


def root_cause(**facts: Any) -> RootCause:
    """Return a root cause with some facts of its own."""
    return replace(_CAUSE, **facts)
