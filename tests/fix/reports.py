"""Fix reports for tests of what is done with them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from fullgraph.fix.model import GuardCost
from fullgraph.fix.report.model import (
    FIX_FORMAT,
    BeforeAfter,
    BreakLocation,
    Fix,
    FixReport,
    FixSummary,
    Verification,
)

LOCATION = BreakLocation("model.py", 7, "forward", "GB0170", "Data-dependent branching", "yours")
FIX = Fix(
    fixer="branch_to_where",
    title="`if` → `torch.where`",
    kind="rewrite",
    grade="safe",
    assumes=(),
    changes=(),
    location=LOCATION,
    diff="--- a/model.py\n+++ b/model.py\n@@ -7 +7 @@\n-    old\n+    new\n",
    settings=(),
    unreached=(),
)
GUARD_FIX = replace(FIX, fixer="value_guards", title="value guards", kind="guard", diff="")
VERIFICATION = Verification(
    recorded_calls=2,
    varied_calls=3,
    raising_calls=0,
    largest_difference=0.0,
    gradients=0,
    zero_gradients=0,
    recompilations=0,
    backends=("eager",),
    varied_sites=0,
    speedup=None,
    problems=(),
)


def guard(line: int, kind: str = "value") -> GuardCost:
    """Return a value guard on the input `n`."""
    return GuardCost("model.py", line, "n", kind, "3", 4, 5.0, 0)


def fix_report(*fixes: Fix, **fields: Any) -> FixReport:
    """Return a report of one root cause that these fixes remove."""
    none = BeforeAfter(0, 0)
    report = FixReport(
        format=FIX_FORMAT,
        summary=FixSummary(BeforeAfter(1, 0), BeforeAfter(1, 0), none, none, none, verified=True),
        fixes=fixes,
        remaining=(),
        settings={},
        guards=(),
        verification=VERIFICATION,
        diff="".join(fix.diff for fix in fixes),
        out_of_time=False,
        seconds=1.0,
    )
    return replace(report, **fields)
